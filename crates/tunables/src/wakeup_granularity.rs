//! How far behind a waking task must be to preempt under CFS.

use crate::number_file::{NumberFile, NumberUnit};
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;
use std::collections::BTreeMap;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "wakeup_granularity",
    summary: "how far behind a waking task must be to preempt under CFS",
    doc: "A waking task preempts the running one only when its virtual run time is behind \
          by more than this. Smaller values cut wake-up latency and cause more \
          preemptions; larger ones favour throughput.\n\n\
          Kept in debugfs `sched/wakeup_granularity_ns` from 5.13 to 6.5 and in the sysctl \
          `kernel.sched_wakeup_granularity_ns` before; EEVDF (6.6) removed it. The default \
          is 1 ms times 1+ilog2(CPUs, at most 8).\n\n\
          What moves with it, and when it lies: above half of sched_latency a waking task \
          practically never preempts. The feature WAKEUP_PREEMPTION off, or SCHED_BATCH \
          tasks, make it irrelevant. Hotplug recomputes it from the default.\n\n\
          Sources: wakeup_preempt_entity and wakeup_gran in kernel/sched/fair.c (5.10).",
};

static FILE: NumberFile = NumberFile {
    files: &[
        "/sys/kernel/debug/sched/wakeup_granularity_ns",
        "/proc/sys/kernel/sched_wakeup_granularity_ns",
    ],
    unit: NumberUnit::Nanoseconds,
    // Zero to max_wakeup_granularity_ns (kernel/sysctl.c, 5.10).
    lowest: 0,
    highest: 1_000_000_000,
    absent: "kernels from 6.6 on schedule by EEVDF: use base_slice, or choose a CFS kernel (in a virtual machine)",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a duration up to 1s, such as 1ms"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["1ms", "4ms"]
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
            "base_slice belongs to EEVDF kernels (6.6 and later), wakeup_granularity to CFS kernels before".to_owned()
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
            ("5.10", "/proc/sys/kernel/sched_wakeup_granularity_ns"),
            ("6.1", "/sys/kernel/debug/sched/wakeup_granularity_ns"),
        ] {
            let machine = Layout::kernel(series).machine();
            assert_eq!(layouts::set(&Entry, &machine, "1ms"), [file], "{series}");
            for level in ["1ms", "0", "4ms"] {
                layouts::round_trip(&Entry, &machine, level);
            }
        }
    }

    #[test]
    fn an_eevdf_kernel_lacks_it_and_the_remedy_says_what_to_use() {
        for series in ["6.6", "6.12", "6.18"] {
            let machine = Layout::kernel(series).machine();
            let (_, remedy) = layouts::missing(&Entry, &machine, "1ms").unwrap();
            assert!(remedy.contains("base_slice"), "{series}: {remedy}");
        }
    }

    #[test]
    fn it_does_not_go_together_with_base_slice() {
        let others = [("base_slice".to_owned(), Level::canonical("3ms"))].into();
        assert!(Entry.conflict(&Level::canonical("1ms"), &others).is_some());
    }
}
