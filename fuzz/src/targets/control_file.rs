//! Kernel files that hold a setting: what is shown is part of the text.

use super::{OwnTarget, Reaction, on_text};
use sys::ControlFile;

pub const TARGET: OwnTarget = OwnTarget {
    name: "control-file",
    words: &["[", "]", "(", ")", "NO_", "RUN_TO_PARITY", "always", "madvise", "full", "\n", " "],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let forms = [
            ControlFile::plain("/file"),
            ControlFile::bracketed("/file"),
            ControlFile::flag("/file", "RUN_TO_PARITY"),
        ];
        for file in &forms {
            if let Some(value) = file.value_in(text) {
                assert!(text.contains(&value), "{value:?} is not in the file");
            }
        }
        Reaction::of(forms[1].value_in(text).or(forms[2].value_in(text)).as_ref())
    })
}
