//! Whether each session competes as one group.

use crate::choice_file::ChoiceFile;
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;
use std::collections::BTreeMap;
use sys::FileForm;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "autogroup",
    summary: "whether each session competes as one group",
    doc: "With autogroup each session (setsid) is a task group of its own: CPU time is \
          first divided between sessions, then inside them. A build with 40 compilers in \
          one terminal then weighs as much as one player in another.\n\n\
          The sysctl `kernel.sched_autogroup_enabled` (since 2.6.38, \
          CONFIG_SCHED_AUTOGROUP). Distributions differ: Debian's 5.10 and 6.1 cloud \
          kernels default to off, 6.12 and later to on.\n\n\
          What moves with it, and when it lies: it acts at once on existing tasks, but \
          only on those in the root cpu cgroup; with systemd or in a container the cgroups \
          decide and this does nothing. `nice` acts only inside a group: between sessions \
          the nice value of `/proc/PID/autogroup` does. Any cpu cgroup (`cpu_max`, \
          `cpu_weight`) takes the workload out of its autogroup.\n\n\
          Sources: kernel/sched/autogroup.c (6.12), sched(7).",
};

static FILE: ChoiceFile = ChoiceFile {
    files: &["/proc/sys/kernel/sched_autogroup_enabled"],
    form: FileForm::Plain,
    words: &[("on", "1"), ("off", "0")],
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "on or off"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["on", "off"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        FILE.parse(text)
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        FILE.requires(level)
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let other =
            ["cpu_max", "cpu_weight"].into_iter().find(|name| others.contains_key(*name))?;
        Some(format!("{other} puts the workload into a cpu cgroup, where autogroup has no effect"))
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
    fn every_kernel_takes_it_and_it_is_put_back() {
        for series in ["5.10", "6.1", "6.6", "6.12", "6.18"] {
            let machine = Layout::kernel(series).machine();
            layouts::round_trip(&Entry, &machine, "off");
            layouts::round_trip(&Entry, &machine, "on");
        }
    }

    #[test]
    fn a_kernel_without_it_says_so() {
        let machine =
            Layout::kernel("6.12").without("/proc/sys/kernel/sched_autogroup_enabled").machine();
        let (why, remedy) = layouts::missing(&Entry, &machine, "off").unwrap();
        assert!(why.contains("sched_autogroup_enabled"), "{why}");
        assert!(remedy.contains("kernel"), "{remedy}");
    }

    #[test]
    fn in_a_cpu_cgroup_it_has_no_effect() {
        let others = [("cpu_max".to_owned(), Level::canonical("max"))].into();
        assert!(Entry.conflict(&Level::canonical("on"), &others).is_some());
        assert!(Entry.conflict(&Level::canonical("off"), &BTreeMap::new()).is_none());
    }
}
