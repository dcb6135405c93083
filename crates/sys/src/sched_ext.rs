//! Which scheduler is in charge: the kernel's own classes, or a sched_ext program.

use crate::Machine;
use std::fmt;

/// The state of sched_ext (/sys/kernel/sched_ext, kernel/sched/ext.c, 6.12). Two
/// readings that are equal had the same scheduler in charge all the time between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchedExt {
    /// Name of the loaded scheduler.
    pub ops: Option<String>,
    /// How often one was loaded since boot.
    pub loads: Option<u64>,
    /// Tasks that the loaded one would not have.
    pub rejected: Option<u64>,
}

impl SchedExt {
    /// Whether this kernel can load schedulers.
    pub fn is_there(machine: &Machine) -> bool {
        machine.exists("/sys/kernel/sched_ext/state")
    }

    /// Whether a loaded scheduler is fully in charge: of every task of the fair class, and
    /// neither coming nor going (`switch_all`, `state`).
    pub fn is_in_charge(machine: &Machine) -> bool {
        let is = |name: &str, wanted: &str| {
            let text = machine.read(&format!("/sys/kernel/sched_ext/{name}"));
            text.is_ok_and(|text| text.trim() == wanted)
        };
        is("state", "enabled") && is("switch_all", "1")
    }

    /// Reads it; a kernel without sched_ext has none loaded.
    pub fn read(machine: &Machine) -> Self {
        let text = |name: &str| {
            let text = machine.read(&format!("/sys/kernel/sched_ext/{name}")).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        // `enabling` and `disabling` are in charge of some tasks already or still.
        let is_loaded = text("state").is_some_and(|state| state != "disabled");
        let ops = is_loaded.then(|| text("root/ops").unwrap_or_else(|| "of no name".to_owned()));
        let number = |name: &str| text(name).and_then(|text| text.parse().ok());
        Self { ops, loads: number("enable_seq"), rejected: number("nr_rejected") }
    }
}

impl fmt::Display for SchedExt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ops {
            Some(ops) => write!(formatter, "the sched_ext scheduler {ops}")?,
            None => formatter.write_str("no sched_ext scheduler")?,
        }
        match self.loads {
            Some(loads) => write!(formatter, " (load {loads} since boot)"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_scheduler_that_came_or_was_replaced_makes_another_reading() {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        assert_eq!(SchedExt::read(&machine), SchedExt::default());
        let own = directory.path().join("sys/kernel/sched_ext");
        fs::create_dir_all(own.join("root")).unwrap();
        let set = |state: &str, ops: &str, loads: &str| {
            fs::write(own.join("state"), state).unwrap();
            fs::write(own.join("root/ops"), ops).unwrap();
            fs::write(own.join("enable_seq"), loads).unwrap();
            SchedExt::read(&machine)
        };
        let none = set("disabled\n", "", "0\n");
        assert_eq!(none, SchedExt { ops: None, loads: Some(0), rejected: None });
        let rusty = set("enabled\n", "rusty_1.0\n", "1\n");
        assert_eq!(rusty.to_string(), "the sched_ext scheduler rusty_1.0 (load 1 since boot)");
        assert_ne!(set("enabled\n", "rusty_1.0\n", "2\n"), rusty, "the same one, loaded anew");
        assert_ne!(set("disabled\n", "", "1\n"), none, "it came and went");
    }
}
