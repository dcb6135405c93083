//! Levels of every factor: the canonical text of a level is its own level.

use super::{OwnTarget, Reaction, on_text};

pub const TARGET: OwnTarget = OwnTarget {
    name: "level",
    words: &[
        "fifo:10",
        "rr:1",
        "deadline:1ms/5ms/5ms",
        "other",
        "batch",
        "0-3",
        ",",
        ":",
        "/",
        "%",
        "ms",
        "NO_",
        "RUN_TO_PARITY",
        "max",
        "always",
        "performance",
        "on",
        "off",
        "loop:1G",
        "null:64M:1ms:1",
        "device:/dev/sdb",
        "file:/data",
        "rbps=1M",
        "wiops=5",
        "be:7",
        "idle",
        "=",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let mut reaction = Reaction::Refused;
        let target: &dyn contract::Factor = &storage::Entry;
        for factor in tunables::ENTRIES.iter().copied().chain([target]) {
            if let Ok(level) = factor.parse(text) {
                let again = factor.parse(level.as_str());
                assert_eq!(again.as_ref(), Ok(&level), "{}", factor.describe().id);
                reaction = Reaction::Accepted;
            }
        }
        reaction
    })
}
