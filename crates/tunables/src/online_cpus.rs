//! Which CPUs are online.

use contract::{
    Description, Error, Factor, Knob, KnownLimit, Requirement, Setting, SystemKnob, UndoCheck,
};
use model::{CpuList, Level};
use std::collections::BTreeMap;
use sys::{ControlFile, Machine, MachineError};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "online_cpus",
    summary: "which CPUs are online (hotplug)",
    doc: "The listed CPUs are brought online, all others are taken offline: the honest way to ask how a \
          workload scales, or what a smaller machine would do. Frequency, cache and memory bandwidth \
          of the missing cores go to the others.\n\n\
          `/sys/devices/system/cpu/cpuN/online`. The boot CPU usually has no such file and stays.\n\n\
          What moves with it, and when it lies: hotplug recomputes base_slice and the CFS latencies \
          from their defaults for the new number of CPUs, whatever was written; it is therefore set and \
          restored before them. Interrupts move and do not move back by themselves. Tasks pinned to a \
          CPU that goes are widened for good and v1 cpusets lose it for good, so both are refused. \
          A sched_ext scheduler without hotplug callbacks is ejected.\n\n\
          Sources: kernel/cpu.c, kernel/sched/core.c (select_fallback_rq), kernel/cgroup/cpuset.c \
          (6.12); Documentation/core-api/cpu_hotplug.rst.",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a list of CPUs such as 0-3,8"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["0", "0-3"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let cpus: CpuList = text.parse().map_err(|error| format!("{error}"))?;
        Ok(Level::canonical(cpus.to_string()))
    }

    /// Before the slices, which hotplug rescales.
    fn order(&self) -> u8 {
        10
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let level = level.clone();
        vec![Requirement::check(format!("have exactly the CPUs {level} online"), move |machine| {
            check(machine, &level)
        })]
    }

    /// `cpuplugd` of s390-tools switches CPUs by load.
    fn owners(&self) -> &'static [&'static str] {
        &["cpuplugd"]
    }

    fn conflict(&self, level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let online: CpuList = level.as_str().parse().ok()?;
        let affinity: CpuList = others.get("affinity")?.as_str().parse().ok()?;
        (!affinity.is_subset(&online)).then(|| {
            format!("affinity {affinity} names CPUs that online_cpus {online} takes offline")
        })
    }

    fn moves(&self, _machine: &Machine) -> Vec<String> {
        crate::hotplug::RESCALED.iter().map(|path| (*path).to_owned()).collect()
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(self)
    }

    /// device_online and device_offline do nothing for the state that is (drivers/base/core.c, 6.12).
    fn undo_check(&self) -> UndoCheck {
        UndoCheck::KnownLimit(KnownLimit {
            takes: "0 or 1",
            why_not_written: "writing the present state does nothing, and shows nothing",
            is_taken: |present| ["0", "1"].contains(&present),
        })
    }
}

impl SystemKnob for Entry {
    fn writes(&self) -> Vec<String> {
        vec![online_file("*")]
    }

    /// CPUs come online before others go: there is never none.
    fn settings(&self, machine: &Machine, level: &Level) -> contract::Result<Vec<Setting>> {
        let wanted = cpus_of(level)?;
        let mut settings = Vec::new();
        for value in ["1", "0"] {
            for cpu in
                machine.present_cpus()?.iter().filter(|cpu| wanted.contains(*cpu) == (value == "1"))
            {
                let path = online_file(cpu);
                if machine.exists(&path) {
                    settings
                        .push(Setting { file: ControlFile::plain(path), value: value.to_owned() });
                }
            }
        }
        Ok(settings)
    }

    fn read_back(&self, machine: &Machine, _wanted: &Level) -> contract::Result<Level> {
        self.current(machine)
    }

    fn current(&self, machine: &Machine) -> contract::Result<Level> {
        Ok(Level::canonical(machine.online_cpus()?.to_string()))
    }
}

fn online_file(cpu: impl std::fmt::Display) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/online")
}

fn cpus_of(level: &Level) -> contract::Result<CpuList> {
    level
        .as_str()
        .parse()
        .map_err(|error| Error::usage(format!("cannot use the level {level}"), error, ""))
}

fn check(machine: &Machine, level: &Level) -> Result<(), (String, String)> {
    let failed = |error: MachineError| (error.to_string(), String::new());
    let wanted = cpus_of(level).map_err(|error| (error.cause, error.remedy))?;
    let present = machine.present_cpus().map_err(failed)?;
    let online = machine.online_cpus().map_err(failed)?;
    if !wanted.is_subset(&present) {
        return Err((
            format!("this machine has CPUs {present}"),
            "name only these, or use a larger machine".to_owned(),
        ));
    }
    let going: CpuList = online.iter().filter(|cpu| !wanted.contains(*cpu)).collect();
    for cpu in present.iter().filter(|cpu| wanted.contains(*cpu) != online.contains(*cpu)) {
        let path = online_file(cpu);
        if !machine.exists(&path) {
            return Err((
                format!("CPU {cpu} cannot be switched: {path} does not exist"),
                format!("keep CPU {cpu} as it is, or use a virtual machine"),
            ));
        }
        Requirement::writable(vec![path])
            .met(machine)
            .map_err(|missing| (missing.why, missing.remedy))?;
    }
    crate::hotplug::check(machine, &going)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};
    use sys::FakeRule;

    const FILE: &str = "/sys/devices/system/cpu/cpu1/online";

    /// Hotplug rewrites the list of CPUs and rescales the base slice.
    fn layout() -> Layout {
        let by_value = |texts: [(&str, &str); 2]| -> BTreeMap<String, String> {
            texts.into_iter().map(|(value, text)| (value.to_owned(), text.to_owned())).collect()
        };
        Layout::kernel("6.12").rule(
            FILE,
            FakeRule::Rescale {
                others: BTreeMap::from([
                    (
                        "/sys/devices/system/cpu/online".to_owned(),
                        by_value([("0", "0"), ("1", "0-1")]),
                    ),
                    (
                        "/sys/kernel/debug/sched/base_slice_ns".to_owned(),
                        by_value([("0", "700000"), ("1", "1400000")]),
                    ),
                ]),
            },
        )
    }

    #[test]
    fn a_cpu_goes_and_comes_back() {
        let machine = layout().machine();
        layouts::round_trip(&Entry, &machine, "0");
        assert_eq!(layouts::set(&Entry, &machine, "0"), [FILE]);
        assert_eq!(layouts::set(&Entry, &machine, "0-1"), [FILE]);
        assert_eq!(machine.online_cpus().unwrap().to_string(), "0-1");
    }

    #[test]
    fn what_cannot_be_switched_is_refused_before_anything_is_written() {
        let machine = layout().machine();
        let (why, _) = layouts::missing(&Entry, &machine, "1").unwrap();
        assert!(why.contains("CPU 0 cannot be switched"), "{why}");
        let (why, _) = layouts::missing(&Entry, &machine, "0-7").unwrap();
        assert!(why.contains("has CPUs 0-1"), "{why}");
        let refused = layout().rule(FILE, FakeRule::Refuse).machine();
        assert!(layouts::missing(&Entry, &refused, "0").is_some());
        assert_eq!(layouts::missing(&Entry, &refused, "0-1"), None, "nothing to switch");
    }

    #[test]
    fn a_pinned_task_of_somebody_else_is_named() {
        // Beyond the highest number that the machine which runs this can give a process.
        let pid = (1 << 22) + 1;
        let task = format!("/proc/{pid}/task/{pid}");
        let machine = layout()
            .file(&format!("{task}/stat"), &format!("{pid} (nginx) S 1 {pid} {pid} 0 -1 0 0 0"))
            .file(&format!("{task}/status"), "Name:\tnginx\nCpus_allowed_list:\t1\n")
            .machine();
        let (why, _) = layouts::missing(&Entry, &machine, "0").unwrap();
        assert!(why.contains("nginx (4194305, CPUs 1)"), "{why}");
    }

    #[test]
    fn affinity_outside_is_a_conflict() {
        let others = |cpus: &str| [("affinity".to_owned(), Level::canonical(cpus))].into();
        assert!(Entry.conflict(&Level::canonical("0"), &others("1")).is_some());
        assert!(Entry.conflict(&Level::canonical("0"), &others("0-1")).is_some());
        assert_eq!(Entry.conflict(&Level::canonical("0-1"), &others("1")), None);
    }
}
