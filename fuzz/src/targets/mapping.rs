//! Mappings of imports: what is read is written so that it reads the same.

use super::{OwnTarget, Reaction, on_text};
use importers::Mapping;

pub const TARGET: OwnTarget = OwnTarget {
    name: "mapping",
    words: &[
        "subject = ",
        "parameters = [",
        "replicate = [",
        "[[values]]",
        "column = ",
        "[better]",
        "\"higher\"",
        "'lower'",
        "\"\"\"",
        "\"",
        "=",
        "\n",
        "[",
        "]",
        "#",
        "\\u00e9",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let mapping = Mapping::from_toml(text);
        match &mapping {
            Ok(mapping) => {
                let written = mapping.to_toml().unwrap_or_default();
                assert_eq!(Mapping::from_toml(&written).as_ref(), Ok(mapping));
            }
            Err(trouble) => {
                let lines = text.matches('\n').count() as u64 + 1;
                assert!(trouble.line.is_none_or(|line| (1..=lines).contains(&line)), "{trouble}");
            }
        }
        Reaction::of(mapping.ok().as_ref())
    })
}
