//! How many tasks one balancing pass may move.

use crate::number_file::{NumberFile, NumberUnit};
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "nr_migrate",
    summary: "how many tasks one balancing pass may move",
    doc: "The most tasks that load balancing looks at while it holds a run queue's lock. \
          More tasks even out the queues faster; fewer keep interrupts-off sections short.\n\n\
          Kept in debugfs `sched/nr_migrate` since 5.13 and in the sysctl \
          `kernel.sched_nr_migrate` before; the default is 32, and 8 on PREEMPT_RT.\n\n\
          What moves with it, and when it lies: with fewer runnable tasks than this on \
          each queue any value does the same. The pass also pauses every 32 tasks \
          (SCHED_NR_MIGRATE_BREAK), so values above that act through repeated passes.\n\n\
          Sources: sysctl_sched_nr_migrate in kernel/sched/core.c and detach_tasks in \
          kernel/sched/fair.c (6.12).",
};

static FILE: NumberFile = NumberFile {
    files: &["/sys/kernel/debug/sched/nr_migrate", "/proc/sys/kernel/sched_nr_migrate"],
    unit: NumberUnit::Count,
    // More tasks than this are never on one queue (threads-max of common machines).
    lowest: 1,
    highest: 65_536,
    absent: "",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a whole number from 1 to 65536"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["64", "8"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        FILE.parse(text)
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        FILE.requires()
    }

    fn owners(&self) -> &'static [&'static str] {
        crate::FAIR_OWNERS
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(&FILE)
    }

    fn undo_check(&self) -> UndoCheck {
        UndoCheck::DryWriteBack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    #[test]
    fn each_kernel_has_it_under_its_own_name_and_it_is_put_back() {
        for (series, file) in [
            ("5.10", "/proc/sys/kernel/sched_nr_migrate"),
            ("6.1", "/sys/kernel/debug/sched/nr_migrate"),
            ("6.6", "/sys/kernel/debug/sched/nr_migrate"),
            ("6.12", "/sys/kernel/debug/sched/nr_migrate"),
            ("6.18", "/sys/kernel/debug/sched/nr_migrate"),
        ] {
            let machine = Layout::kernel(series).machine();
            assert_eq!(layouts::set(&Entry, &machine, "64"), [file], "{series}");
            for level in ["64", "1", "8"] {
                layouts::round_trip(&Entry, &machine, level);
            }
        }
    }
}
