//! The CPU frequency governor of every policy.

use contract::{Description, Error, Factor, Knob, Requirement, Setting, SystemKnob, UndoCheck};
use model::Level;
use std::collections::{BTreeMap, BTreeSet};
use sys::{ControlFile, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "governor",
    summary: "the CPU frequency governor of every CPU",
    doc: "Chooses the frequency each CPU asks for: `performance` the highest, `powersave` the lowest \
          (with intel_pstate or amd-pstate in active mode: a dynamic one of the driver's own), \
          `schedutil` one that follows utilisation, `ondemand` and `conservative` sampled load.\n\n\
          `/sys/devices/system/cpu/cpufreq/policy*/scaling_governor`, written for every policy.\n\n\
          What moves with it, and when it lies: the governor asks, firmware decides; a power or thermal \
          limit overrides it (see the probe `frequency`). The same word means different things in \
          different drivers, so the driver is part of the fingerprint. Guests usually have no cpufreq \
          at all, and then the host's governor acts unseen.\n\n\
          Sources: Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst (6.12).",
};

const DIRECTORY: &str = "/sys/devices/system/cpu/cpufreq";
/// The governors of the kernel tree (drivers/cpufreq, 6.12).
const GOVERNORS: [&str; 6] =
    ["performance", "powersave", "schedutil", "ondemand", "conservative", "userspace"];

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "performance, powersave, schedutil, ondemand, conservative or userspace"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["performance", "schedutil"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let text = text.trim();
        if GOVERNORS.contains(&text) {
            return Ok(Level::canonical(text));
        }
        Err(format!("`{text}` is not one of {}", GOVERNORS.join(", ")))
    }

    /// After hotplug, before the rest: a policy belongs to its online CPUs.
    fn order(&self) -> u8 {
        20
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let level = level.clone();
        vec![Requirement::check(format!("the governor {level} on every CPU"), move |machine| {
            check(machine, level.as_str())
        })]
    }

    fn owners(&self) -> &'static [&'static str] {
        &["tuned", "tuned-ppd", "power-profiles-daemon", "auto-cpufreq", "gamemoded"]
    }

    /// A policy and its file go with the last CPU of it, and come back with the default.
    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let other = ["online_cpus", "smt"].into_iter().find(|name| others.contains_key(*name))?;
        Some(format!(
            "governor and {other} at once: a CPU that goes takes its governor's file along"
        ))
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(self)
    }

    fn undo_check(&self) -> UndoCheck {
        UndoCheck::DryWriteBack
    }
}

impl SystemKnob for Entry {
    fn writes(&self) -> Vec<String> {
        vec![format!("{DIRECTORY}/policy*/scaling_governor")]
    }

    fn settings(&self, machine: &Machine, level: &Level) -> contract::Result<Vec<Setting>> {
        let setting = |path: String| Setting {
            file: ControlFile::plain(path),
            value: level.as_str().to_owned(),
        };
        Ok(governor_files(machine)?.into_iter().map(setting).collect())
    }

    fn read_back(&self, machine: &Machine, _wanted: &Level) -> contract::Result<Level> {
        self.current(machine)
    }

    /// Where policies differ, all governors in use, separated by commas.
    fn current(&self, machine: &Machine) -> contract::Result<Level> {
        let mut governors = BTreeSet::new();
        for path in governor_files(machine)? {
            governors.insert(ControlFile::plain(path).read(machine)?);
        }
        Ok(Level::canonical(governors.into_iter().collect::<Vec<_>>().join(",")))
    }
}

fn check(machine: &Machine, governor: &str) -> Result<(), (String, String)> {
    let files = governor_files(machine).map_err(|error| (error.cause, error.remedy))?;
    for path in files {
        let available = path.replace("scaling_governor", "scaling_available_governors");
        let offered =
            machine.read(&available).map_err(|error| (error.to_string(), String::new()))?;
        if !offered.split_whitespace().any(|word| word == governor) {
            return Err((
                format!("{available} offers {}", offered.trim()),
                format!("load its module (modprobe cpufreq_{governor}), or choose among these"),
            ));
        }
        Requirement::writable(vec![path])
            .met(machine)
            .map_err(|missing| (missing.why, missing.remedy))?;
    }
    Ok(())
}

fn governor_files(machine: &Machine) -> contract::Result<Vec<String>> {
    let names = machine.list(DIRECTORY)?;
    let policies = names.iter().filter(|name| {
        name.strip_prefix("policy").is_some_and(|number| number.parse::<u32>().is_ok())
    });
    let files: Vec<String> = policies
        .map(|name| format!("{DIRECTORY}/{name}/scaling_governor"))
        .filter(|path| machine.exists(path))
        .collect();
    if files.is_empty() {
        return Err(Error::unsupported(
            "cannot find a CPU frequency policy",
            format!("{DIRECTORY} holds none: this machine has no cpufreq driver"),
            "use a machine whose firmware lets the kernel choose frequencies; guests usually cannot",
        ));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    fn layout(governors: [&str; 2]) -> Layout {
        let policy = |number: usize, name: &str| format!("{DIRECTORY}/policy{number}/{name}");
        governors.into_iter().enumerate().fold(
            Layout::new("6.12.0"),
            |layout, (number, governor)| {
                layout
                    .file(&policy(number, "scaling_governor"), governor)
                    .file(&policy(number, "scaling_available_governors"), "performance schedutil ")
            },
        )
    }

    #[test]
    fn every_policy_is_set_and_put_back() {
        let machine = layout(["schedutil", "schedutil"]).machine();
        layouts::round_trip(&Entry, &machine, "performance");
        assert_eq!(layouts::set(&Entry, &machine, "performance").len(), 2);
    }

    #[test]
    fn one_policy_that_differs_is_seen() {
        let machine = layout(["performance", "schedutil"]).machine();
        let wanted = Level::canonical("performance");
        let read = layouts::system(&Entry).read_back(&machine, &wanted).unwrap();
        assert_eq!(read.as_str(), "performance,schedutil");
    }

    #[test]
    fn a_governor_that_is_not_loaded_is_refused_with_its_module() {
        let machine = layout(["schedutil", "schedutil"]).machine();
        let (why, remedy) = layouts::missing(&Entry, &machine, "ondemand").unwrap();
        assert!(why.contains("performance schedutil"), "{why}");
        assert!(remedy.contains("cpufreq_ondemand"), "{remedy}");
    }

    #[test]
    fn it_does_not_go_together_with_hotplug() {
        for other in ["online_cpus", "smt"] {
            let others = [(other.to_owned(), Level::canonical("0"))].into();
            assert!(Entry.conflict(&Level::canonical("performance"), &others).is_some());
        }
        assert_eq!(Entry.conflict(&Level::canonical("performance"), &BTreeMap::new()), None);
    }

    #[test]
    fn a_machine_without_cpufreq_says_so() {
        let machine = Layout::kernel("6.12").machine();
        let (why, _) = layouts::missing(&Entry, &machine, "performance").unwrap();
        assert!(why.contains("no cpufreq driver"), "{why}");
        assert!(layouts::system(&Entry).current(&machine).is_err());
    }
}
