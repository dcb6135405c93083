//! Which task ran when on which CPU. The page draws it; no campaign records one yet.

use serde::Serialize;

/// Which task ran when on which CPU in one recorded trial. Times are in 0.1 µs since it began.
/// `columns` is base64 of gzip of five columns, one after the other, little-endian, with a value
/// for each slice: u32 the start, as the difference to the start of the slice before on the same
/// CPU (of its first, to the beginning); u32 how long it ran; u32 how long the task had been
/// runnable before; u16 the task's place among `tasks`; u8 the CPU's place among `cpus`. Slices are
/// in the order of CPUs, and of each CPU in the order of time; those of one CPU do not overlap.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(super) struct Timeline {
    workload: String,
    subject: String,
    span: u32,
    /// Their numbers.
    cpus: Vec<u32>,
    /// Kinds of tasks, at most five.
    classes: Vec<String>,
    tasks: Vec<TimelineTask>,
    /// How many.
    slices: u32,
    columns: String,
}

/// A task of a timeline.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct TimelineTask {
    name: String,
    /// Its place among the classes.
    class: u32,
}
