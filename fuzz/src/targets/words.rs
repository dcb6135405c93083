//! Command lines given as one text.

use super::{OwnTarget, Reaction, on_text};
use contract::{Parameter, ParameterKind};
use model::ParameterValue;

pub const TARGET: OwnTarget =
    OwnTarget { name: "words", words: &["'", "\"", "\\", " ", "\t", "make -j2", "''"], run };

const RUN: Parameter =
    Parameter { name: "run", kind: ParameterKind::Words, default: None, summary: "A command" };

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let value = RUN.parse(text).ok();
        if let Some(ParameterValue::Words(words)) = &value {
            let length: usize = words.iter().map(String::len).sum();
            assert!(length <= text.len(), "splitting made text longer");
        }
        Reaction::of(value.as_ref())
    })
}
