//! How long a fair task may run before another is preferred (EEVDF).

use crate::number_file::{NumberFile, NumberUnit};
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;
use std::collections::BTreeMap;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "base_slice",
    summary: "how long a fair task may run before another is preferred (EEVDF)",
    doc: "The request size of EEVDF: the CPU time a fair task asks for before its virtual \
          deadline passes. Shorter slices let others in sooner at the price of more \
          context switches; longer ones keep caches warm. The kernel's default is 0.7 ms \
          (0.75 ms in older kernels) times 1+ilog2(CPUs, at most 8).\n\n\
          The kernel keeps it in debugfs `sched/base_slice_ns` since 6.6. What was renamed \
          is the CFS minimum granularity: `sched/min_granularity_ns` from 5.13 to 6.5, the \
          sysctl `kernel.sched_min_granularity_ns` before. The file that exists is used. \
          On such kernels the value bounds slices from below, it is not the slice itself: \
          compare across 6.6 with care.\n\n\
          What moves with it, and when it lies: hotplug recomputes it from the default, \
          whatever was written (update_sysctl in kernel/sched/fair.c), so `online_cpus` \
          and `smt` are set first and everything is read back. With HRTICK off a slice \
          ends at the next tick (4 ms at HZ=250), so slices below a tick differ only \
          through wake-up preemption. Tasks with a custom `slice`, real-time tasks and \
          tasks of sched_ext do not see it.\n\n\
          Sources: kernel/sched/fair.c and kernel/sched/debug.c (5.10, 6.1, 6.6, 6.12); \
          Stoica and Abdel-Wahab 1995.",
};

static FILE: NumberFile = NumberFile {
    files: &[
        "/sys/kernel/debug/sched/base_slice_ns",
        "/sys/kernel/debug/sched/min_granularity_ns",
        "/proc/sys/kernel/sched_min_granularity_ns",
    ],
    unit: NumberUnit::Nanoseconds,
    // min_sched_granularity_ns and max_sched_granularity_ns (kernel/sysctl.c, 5.10).
    lowest: 100_000,
    highest: 1_000_000_000,
    absent: "",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a duration from 0.1ms to 1s, such as 3ms"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["3ms", "0.75ms"]
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
        let names = ["sched_latency", "min_granularity", "wakeup_granularity"];
        let other = names.into_iter().find(|name| others.contains_key(*name))?;
        Some(format!(
            "base_slice belongs to EEVDF kernels (6.6 and later), {other} to CFS kernels before"
        ))
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
            ("5.10", "/proc/sys/kernel/sched_min_granularity_ns"),
            ("6.1", "/sys/kernel/debug/sched/min_granularity_ns"),
            ("6.6", "/sys/kernel/debug/sched/base_slice_ns"),
            ("6.12", "/sys/kernel/debug/sched/base_slice_ns"),
            ("6.18", "/sys/kernel/debug/sched/base_slice_ns"),
        ] {
            let machine = Layout::kernel(series).machine();
            assert_eq!(layouts::set(&Entry, &machine, "0.75ms"), [file], "{series}");
            for level in ["0.75ms", "3ms", "1s"] {
                layouts::round_trip(&Entry, &machine, level);
            }
        }
    }

    #[test]
    fn a_locked_down_debugfs_is_a_refusal_with_a_remedy_even_for_root() {
        let path = "/sys/kernel/debug/sched/base_slice_ns";
        let machine = Layout::kernel("6.18").rule(path, sys::FakeRule::Refuse).machine();
        let (why, remedy) = layouts::missing(&Entry, &machine, "3ms").unwrap();
        assert!(why.contains("base_slice_ns") && why.contains("not permitted"), "{why}");
        assert!(remedy.contains("virtual machine"), "{remedy}");
        let level = Entry.parse("3ms").unwrap();
        assert!(layouts::system(&Entry).settings(&machine, &level).is_err());
    }

    #[test]
    fn a_silent_clamp_is_seen_on_reading_back() {
        let path = "/sys/kernel/debug/sched/base_slice_ns";
        let clamp = sys::FakeRule::Clamp { low: 1_000_000, high: 2_000_000 };
        let machine = Layout::kernel("6.18").rule(path, clamp).machine();
        layouts::set(&Entry, &machine, "3ms");
        let wanted = Entry.parse("3ms").unwrap();
        let read = layouts::system(&Entry).read_back(&machine, &wanted).unwrap();
        assert_eq!(read.as_str(), "2ms");
    }

    #[test]
    fn levels_are_canonical_and_bounded() {
        assert_eq!(Entry.parse("0.75ms").unwrap().as_str(), "750us");
        for text in ["50us", "2s", "3", "-1ms"] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_not_a_number_is_an_error_not_zero() {
        let path = "/sys/kernel/debug/sched/base_slice_ns";
        let machine = Layout::kernel("6.18").file(path, "garbage").machine();
        assert!(layouts::system(&Entry).current(&machine).is_err());
    }

    #[test]
    fn the_cfs_names_do_not_go_together_with_it() {
        let others = [("min_granularity".to_owned(), Level::canonical("1ms"))].into();
        assert!(Entry.conflict(&Level::canonical("3ms"), &others).is_some());
        assert_eq!(Entry.conflict(&Level::canonical("3ms"), &BTreeMap::new()), None);
    }
}
