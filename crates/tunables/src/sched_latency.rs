//! The period in which CFS runs every task once.

use crate::number_file::{NumberFile, NumberUnit};
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;
use std::collections::BTreeMap;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "sched_latency",
    summary: "the period in which CFS runs every task once",
    doc: "CFS divides this period among the runnable tasks by weight; with more than \
          latency/min_granularity tasks the period stretches to min_granularity for each.\n\n\
          Kept in debugfs `sched/latency_ns` from 5.13 to 6.5 and in the sysctl \
          `kernel.sched_latency_ns` before; EEVDF (6.6) removed it. The default is 6 ms \
          times 1+ilog2(CPUs, at most 8).\n\n\
          What moves with it, and when it lies: half of it is the bonus of a sleeper \
          (GENTLE_FAIR_SLEEPERS), so wake-up latency moves too. Hotplug recomputes it from \
          the default. Writing it before 5.13 also recomputes sched_nr_latency. On one \
          runnable task it does nothing.\n\n\
          Sources: __sched_period and place_entity in kernel/sched/fair.c (5.10).",
};

static FILE: NumberFile = NumberFile {
    files: &["/sys/kernel/debug/sched/latency_ns", "/proc/sys/kernel/sched_latency_ns"],
    unit: NumberUnit::Nanoseconds,
    // min_sched_granularity_ns and max_sched_granularity_ns (kernel/sysctl.c, 5.10).
    lowest: 100_000,
    highest: 1_000_000_000,
    absent: "kernels from 6.6 on schedule by EEVDF: use base_slice, or choose a CFS kernel (in a virtual machine)",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a duration up to 1s, such as 12ms"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["12ms", "6ms"]
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

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        others.contains_key("base_slice").then(|| {
            "base_slice belongs to EEVDF kernels (6.6 and later), sched_latency to CFS kernels before".to_owned()
        })
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
    fn each_cfs_kernel_has_it_under_its_own_name_and_it_is_put_back() {
        for (series, file) in [
            ("5.10", "/proc/sys/kernel/sched_latency_ns"),
            ("6.1", "/sys/kernel/debug/sched/latency_ns"),
        ] {
            let machine = Layout::kernel(series).machine();
            assert_eq!(layouts::set(&Entry, &machine, "6ms"), [file], "{series}");
            for level in ["6ms", "24ms"] {
                layouts::round_trip(&Entry, &machine, level);
            }
        }
    }

    #[test]
    fn an_eevdf_kernel_lacks_it_and_the_remedy_says_what_to_use() {
        for series in ["6.6", "6.12", "6.18"] {
            let machine = Layout::kernel(series).machine();
            let (_, remedy) = layouts::missing(&Entry, &machine, "6ms").unwrap();
            assert!(remedy.contains("base_slice"), "{series}: {remedy}");
        }
    }

    #[test]
    fn it_does_not_go_together_with_base_slice() {
        let others = [("base_slice".to_owned(), Level::canonical("3ms"))].into();
        assert!(Entry.conflict(&Level::canonical("1ms"), &others).is_some());
    }
}
