//! Traces of schedulers: files of events that a guest wrote.

use super::{OwnTarget, Reaction};
use schedulers::own::trace::Trace;

pub const TARGET: OwnTarget = OwnTarget {
    name: "scheduler-trace",
    words: &["lab-trc1", "\0\0\0\0", "\u{1}\0\0\0", "bfs", "6.18.15", "\u{7f}\u{7f}\u{7f}\u{7f}"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let trace = Trace::decode(bytes).ok();
    if let Some(trace) = &trace {
        let mut written = Vec::new();
        assert!(trace.write(&mut written).is_ok(), "memory takes everything");
        assert_eq!(Trace::decode(&written).ok().as_ref(), Some(trace), "it does not read back");
    }
    Reaction::of(trace.as_ref().map(|trace| trace.events.len()).as_ref())
}
