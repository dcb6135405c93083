//! `/proc/PID/schedstat`: three numbers, no more and no less.

use super::{OwnTarget, Reaction, on_text};
use sys::TaskSchedstat;

pub const TARGET: OwnTarget = OwnTarget {
    name: "task-schedstat",
    words: &["0", "18446744073709551615", " ", "\n", "-1"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let stat = TaskSchedstat::parse(text);
        if let Some(stat) = &stat {
            assert_eq!(text.split_whitespace().count(), 3);
            assert_eq!(stat.since(stat), Some(TaskSchedstat::default()));
        }
        Reaction::of(stat.as_ref())
    })
}
