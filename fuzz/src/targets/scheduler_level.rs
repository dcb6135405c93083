//! Levels of the factor `scheduler`, as a person writes them.

use super::{OwnTarget, Reaction, on_text};
use contract::Factor;

pub const TARGET: OwnTarget = OwnTarget {
    name: "scheduler-level",
    words: &[
        "fair",
        "lab:",
        "bfs",
        "fifo",
        "rr",
        "?",
        "&",
        "rr_interval=6ms",
        "without=sticky",
        "scx_rusty",
        "@1.1.4",
        " --slice-us 20",
        "/opt/x",
        "'",
        "\"",
        "\\",
        " ",
        "./",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let level = schedulers::Entry.parse(text).ok();
        if let Some(level) = &level {
            let again = schedulers::Entry.parse(&level.to_string());
            assert_eq!(again.as_ref(), Ok(level), "{level} does not read back");
        }
        Reaction::of(level.as_ref())
    })
}
