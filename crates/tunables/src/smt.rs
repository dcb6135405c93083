//! Whether sibling hardware threads are used.

use crate::choice_file::ChoiceFile;
use contract::{Description, Factor, Knob, KnownLimit, Requirement, UndoCheck};
use model::{CpuList, Level};
use std::collections::BTreeMap;
use sys::{FileForm, Machine, MachineError};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "smt",
    summary: "whether sibling hardware threads are used",
    doc: "`off` takes all but one hardware thread of each core offline. Each remaining \
          thread then has the core to itself; the machine has fewer CPUs.\n\n\
          `/sys/devices/system/cpu/smt/control` (since 4.19): reads `on`, `off`, \
          `forceoff`, `notsupported` or `notimplemented`, and takes `on` and `off`.\n\n\
          What moves with it, and when it lies: it is hotplug, so it recomputes base_slice \
          and the CFS latencies from their defaults and is therefore set before them. `on` \
          brings every sibling online, also one that was offline before: such machines are \
          refused. A guest sees the topology its hypervisor shows, not the host's.\n\n\
          Sources: kernel/cpu.c (cpuhp_smt_disable, 6.12); \
          Documentation/ABI/testing/sysfs-devices-system-cpu.",
};

static FILE: ChoiceFile = ChoiceFile {
    files: &["/sys/devices/system/cpu/smt/control"],
    form: FileForm::Plain,
    words: &[("on", "on"), ("off", "off")],
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

    fn order(&self) -> u8 {
        10
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let level = level.clone();
        let mut needs = FILE.requires(&level);
        needs.push(Requirement::check(
            format!("switch sibling hardware threads {level}"),
            move |machine| check(machine, &level),
        ));
        needs
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        others.contains_key("online_cpus").then(|| {
            "smt and online_cpus both take CPUs offline: name the CPUs in online_cpus".to_owned()
        })
    }

    fn moves(&self, _machine: &Machine) -> Vec<String> {
        crate::hotplug::RESCALED.iter().map(|path| (*path).to_owned()).collect()
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(&FILE)
    }

    /// __store_smt_control does nothing for the state that is (kernel/cpu.c, 6.12).
    fn undo_check(&self) -> UndoCheck {
        UndoCheck::KnownLimit(KnownLimit {
            takes: "on or off",
            why_not_written: "writing the present state does nothing, and shows nothing",
            is_taken: |present| ["on", "off"].contains(&present),
        })
    }
}

fn check(machine: &Machine, level: &Level) -> Result<(), (String, String)> {
    let failed = |error: MachineError| (error.to_string(), String::new());
    // A missing file is reported by the other need.
    let Ok(control) = machine.read(FILE.files[0]) else { return Ok(()) };
    let control = control.trim();
    if !["on", "off"].contains(&control) {
        return Err((
            format!("{} reads {control}", FILE.files[0]),
            "use a machine whose cores have several hardware threads, switched on in its firmware and command line".to_owned(),
        ));
    }
    if control == level.as_str() {
        return Ok(());
    }
    if control == "on" {
        let online = machine.online_cpus().map_err(failed)?;
        let present = machine.present_cpus().map_err(failed)?;
        let offline: CpuList = present.iter().filter(|cpu| !online.contains(*cpu)).collect();
        if !offline.is_empty() {
            return Err((
                format!("switching smt on again would also bring CPUs {offline} online"),
                "bring them online first, or use online_cpus".to_owned(),
            ));
        }
        return crate::hotplug::check(machine, &secondary_threads(machine).map_err(failed)?);
    }
    Ok(())
}

/// Every online CPU that is not the first hardware thread of its core.
fn secondary_threads(machine: &Machine) -> Result<CpuList, MachineError> {
    let mut secondary = Vec::new();
    for cpu in machine.online_cpus()?.iter() {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let siblings: CpuList = machine.read(&path)?.parse().map_err(|error| MachineError {
            action: "understand",
            path: machine.path(&path),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, format!("{error}")),
        })?;
        if siblings.iter().next() != Some(cpu) {
            secondary.push(cpu);
        }
    }
    Ok(secondary.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    const CONTROL: &str = "/sys/devices/system/cpu/smt/control";

    fn machine_with_siblings(control: &str) -> Layout {
        let siblings =
            |cpu: usize| format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let layout = Layout::new("6.12.0").file(CONTROL, control);
        ["0,2", "1,3", "0,2", "1,3"]
            .into_iter()
            .enumerate()
            .fold(layout, |layout, (cpu, list)| layout.file(&siblings(cpu), list))
            .file("/sys/devices/system/cpu/online", "0-3")
            .file("/sys/devices/system/cpu/present", "0-3")
    }

    #[test]
    fn it_is_set_read_back_and_put_back() {
        let machine = machine_with_siblings("on").machine();
        layouts::round_trip(&Entry, &machine, "off");
        layouts::round_trip(&Entry, &machine, "on");
    }

    #[test]
    fn siblings_are_all_but_the_first_of_each_core() {
        let machine = machine_with_siblings("on").machine();
        assert_eq!(secondary_threads(&machine).unwrap().to_string(), "2-3");
    }

    #[test]
    fn a_machine_without_siblings_says_so() {
        for control in ["notsupported", "notimplemented", "forceoff"] {
            let machine = machine_with_siblings(control).machine();
            let (why, _) = layouts::missing(&Entry, &machine, "off").unwrap();
            assert!(why.contains(control), "{why}");
        }
    }

    #[test]
    fn an_offline_cpu_could_not_be_put_back() {
        let machine =
            machine_with_siblings("on").file("/sys/devices/system/cpu/online", "0-2").machine();
        let (why, _) = layouts::missing(&Entry, &machine, "off").unwrap();
        assert!(why.contains('3'), "{why}");
    }

    #[test]
    fn it_does_not_go_together_with_online_cpus() {
        let others = [("online_cpus".to_owned(), Level::canonical("0"))].into();
        assert!(Entry.conflict(&Level::canonical("off"), &others).is_some());
    }
}
