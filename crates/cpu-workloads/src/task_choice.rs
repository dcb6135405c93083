//! Whether the tasks of a workload are processes or threads.

use contract::WordChoice;

/// What tasks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskChoice {
    Process,
    Thread,
}

impl WordChoice for TaskChoice {
    const WORDS: &'static [(&'static str, Self)] =
        &[("process", Self::Process), ("thread", Self::Thread)];
}
