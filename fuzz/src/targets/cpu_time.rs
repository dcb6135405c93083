//! `/proc/stat`: its sums never overflow.

use super::{OwnTarget, Reaction, on_text};
use sys::CpuTime;

pub const TARGET: OwnTarget = OwnTarget {
    name: "cpu-time",
    words: &["cpu ", "cpu0 ", "18446744073709551615", "-1", "\n", "intr 5"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let time = CpuTime::parse(text);
        if let Some(time) = &time {
            assert!(time.busy() <= time.total(), "more busy than all time");
            assert_eq!(time.since(time), CpuTime::default(), "time passed between equal readings");
        }
        Reaction::of(time.as_ref())
    })
}
