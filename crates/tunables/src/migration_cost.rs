//! How long a task counts as cache-hot and is not migrated.

use crate::number_file::{NumberFile, NumberUnit};
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "migration_cost",
    summary: "how long a task counts as cache-hot and is not migrated",
    doc: "A task that ran less than this ago is called cache-hot: the load balancer \
          prefers others. It is also the shortest idle time for which newly-idle balancing \
          looks for work. Larger values keep tasks where their caches are, smaller ones \
          spread them sooner.\n\n\
          Kept in debugfs `sched/migration_cost_ns` since 5.13 and in the sysctl \
          `kernel.sched_migration_cost_ns` before; the default is 0.5 ms.\n\n\
          What moves with it, and when it lies: wake-up placement (select_task_rq_fair) \
          ignores it, so workloads that sleep and wake barely react; it matters where more \
          runnable tasks than CPUs are balanced. With one CPU it does nothing. Each \
          scheduling domain keeps its own max_newidle_lb_cost, which adapts over seconds: \
          give it time to settle.\n\n\
          Sources: task_hot and sched_balance_newidle in kernel/sched/fair.c (6.12).",
};

static FILE: NumberFile = NumberFile {
    files: &[
        "/sys/kernel/debug/sched/migration_cost_ns",
        "/proc/sys/kernel/sched_migration_cost_ns",
    ],
    unit: NumberUnit::Nanoseconds,
    // An unsigned 32-bit number in debugfs; its highest value means always hot.
    lowest: 0,
    highest: 4_294_967_294,
    absent: "",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a duration up to 4.29s, such as 500us"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["100us", "5ms"]
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
            ("5.10", "/proc/sys/kernel/sched_migration_cost_ns"),
            ("6.1", "/sys/kernel/debug/sched/migration_cost_ns"),
            ("6.6", "/sys/kernel/debug/sched/migration_cost_ns"),
            ("6.12", "/sys/kernel/debug/sched/migration_cost_ns"),
            ("6.18", "/sys/kernel/debug/sched/migration_cost_ns"),
        ] {
            let machine = Layout::kernel(series).machine();
            assert_eq!(layouts::set(&Entry, &machine, "100us"), [file], "{series}");
            for level in ["100us", "0", "5ms"] {
                layouts::round_trip(&Entry, &machine, level);
            }
        }
    }
}
