//! `/proc/PID/stat`: a name may hold blanks and parentheses.

use super::{OwnTarget, Reaction, on_text};
use sys::ProcessStat;

pub const TARGET: OwnTarget = OwnTarget {
    name: "process-stat",
    words: &["(", ")", ") S", "18446744073709551615", "-1", " "],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let stat = ProcessStat::parse(text);
        if let Some(stat) = &stat {
            assert!(text.contains(&stat.comm), "the name {:?} is not in the line", stat.comm);
        }
        Reaction::of(stat.as_ref())
    })
}
