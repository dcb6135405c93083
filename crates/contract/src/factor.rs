//! What can be set.

use crate::{BootSpec, Description, HeldKnob, LaunchSpec, Requirement, Result, UndoCheck};
use model::{Fingerprint, Level, StorageTarget};
use std::collections::BTreeMap;
use std::path::PathBuf;
use sys::{ControlFile, Machine};

/// What is held and has a lower order is in force before any knob is set.
pub const FIRST_KNOB: u8 = 10;

/// Knobs of this order or a higher one lie in files that others make when they are set.
pub const ON_TOP: u8 = 100;

/// Something with levels: a knob of the machine or an attribute of a process.
pub trait Factor: Sync {
    /// Name and explanation.
    fn describe(&self) -> &'static Description;

    /// What levels look like, for help and errors: `a duration such as 3ms`.
    fn syntax(&self) -> &'static str;

    /// Two or three levels that parse.
    fn examples(&self) -> &'static [&'static str];

    /// Whether the errors of [`Self::parse`] tell by themselves which name may be meant;
    /// else the nearest of the examples is suggested.
    fn suggests(&self) -> bool {
        false
    }

    /// The level, canonical, that is in force where nobody sets one, on every machine, of what was itself
    /// started with none; `None` where that depends on the kernel, its configuration or the distribution. A subject with it differs
    /// from none without (docs/method.md#m-attempts).
    fn default_level(&self) -> Option<&'static str> {
        None
    }

    /// Text to canonical level.
    ///
    /// # Errors
    /// Why it is not a level of this factor, in one sentence.
    fn parse(&self, text: &str) -> Result<Level, String>;

    /// Position when several factors are set: lower first, when restoring too.
    /// Hotplug (10) comes before the slices (50): the kernel rescales those whenever a CPU goes
    /// online or offline, whatever was written. What is held and comes before
    /// [`FIRST_KNOB`] is there before any file is looked for; from
    /// [`ON_TOP`] on a knob's files are made by another knob, and gone again with it.
    fn order(&self) -> u8 {
        50
    }

    /// What this level needs of the machine.
    fn requires(&self, level: &Level) -> Vec<Requirement>;

    /// Files that the kernel rewrites when this is set; they are put back too. One that does
    /// not exist, or holds nothing that can be read, is passed over.
    fn moves(&self, machine: &Machine) -> Vec<String> {
        let _ = machine;
        Vec::new()
    }

    /// Where workloads' files would lie with this level, as far as it is known before it is in
    /// force: needs of other factors and of workloads are checked against it.
    fn target(&self, machine: &Machine, level: &Level) -> Option<StorageTarget> {
        let _ = (machine, level);
        None
    }

    /// Kernel modules that a guest must load for it, with their arguments: `null_blk
    /// nr_devices=0`. A `?` before one makes it optional: it may be built in, or not needed.
    fn modules(&self, level: &Level) -> Vec<String> {
        let _ = level;
        Vec::new()
    }

    /// What else this level changes, which may be the cause of an effect: one
    /// sentence for the report.
    fn brings_along(&self, level: &Level) -> Option<&'static str> {
        let _ = level;
        None
    }

    /// How long it takes, all in all, to bring this level into force for a trial and to take it
    /// back, in nanoseconds and on an emulated processor; for estimates only.
    fn setting_ns(&self, level: &Level) -> u64 {
        let _ = level;
        0
    }

    /// Files that decide what this level is: with other contents it is another one. What
    /// cannot be found is left out; [`Self::requires`] names it.
    fn programs(&self, machine: &Machine, level: &Level) -> Vec<PathBuf> {
        let _ = (machine, level);
        Vec::new()
    }

    /// Names (comm) of programs that manage this knob themselves.
    fn owners(&self) -> &'static [&'static str] {
        &[]
    }

    /// Why this level cannot be combined with the subject's other levels.
    fn conflict(&self, level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let _ = (level, others);
        None
    }

    /// Which process or function applies it.
    fn knob(&self) -> Knob<'_>;

    /// How it is known, before anything is changed, that its changes can be undone. A knob in
    /// files that does not say so changes nothing.
    fn undo_check(&self) -> UndoCheck {
        match self.knob() {
            Knob::System(_) => UndoCheck::Refused,
            Knob::Held(_) | Knob::Launch(_) | Knob::Boot(_) | Knob::Simulated => {
                UndoCheck::EndsByItself
            }
        }
    }
}

/// What applies a level.
#[derive(Clone, Copy)]
pub enum Knob<'a> {
    /// The executor, in files of the kernel, journalled.
    System(&'a dyn SystemKnob),
    /// A process that the executor starts and ends.
    Held(&'a dyn HeldKnob),
    /// The workload's own process, before it prepares.
    Launch(&'a dyn LaunchKnob),
    /// The venue, when it boots a machine.
    Boot(&'a dyn BootKnob),
    /// The simulator only.
    Simulated,
}

/// Something that is decided when a machine boots.
pub trait BootKnob: Sync {
    /// Writes the level into the boot's specification.
    ///
    /// # Errors
    /// When it cannot be expressed.
    fn contribute(&self, level: &Level, boot: &mut BootSpec) -> Result<()>;

    /// The level in force, in the terms of `wanted`, from what the booted machine says
    /// of itself.
    fn read_back(&self, guest: &Fingerprint, boot: &BootSpec, wanted: &Level) -> Level;
}

/// One file and the value it should hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The file.
    pub file: ControlFile,
    /// The value in the file's own form.
    pub value: String,
}

/// A knob in files. All that the author of a plain knob writes.
pub trait SystemKnob: Sync {
    /// Every file that any of its levels may lie in, on any machine: absolute paths, with `*` for
    /// whatever part of one name. The executor journals no other, and restoring writes no other
    /// ([`is_file_of`]).
    fn writes(&self) -> Vec<String>;

    /// The files and values of a level, in the order they are written.
    ///
    /// # Errors
    /// When this kernel has no such file.
    fn settings(&self, machine: &Machine, level: &Level) -> Result<Vec<Setting>>;

    /// The level in force, in the terms of `wanted` (a list of flags reads back
    /// the same flags).
    ///
    /// # Errors
    /// When it cannot be read.
    fn read_back(&self, machine: &Machine, wanted: &Level) -> Result<Level>;

    /// The whole current setting, for the fingerprint.
    ///
    /// # Errors
    /// When it cannot be read.
    fn current(&self, machine: &Machine) -> Result<Level>;
}

/// Whether a path is one of those that a pattern of [`SystemKnob::writes`] means: name by name,
/// each with at most one `*`. No path with an empty name, `.` or `..` is.
#[must_use]
pub fn is_file_of(pattern: &str, path: &str) -> bool {
    let [wanted, names] = [pattern, path].map(|text| text.split('/').skip(1));
    path.starts_with('/')
        && wanted.clone().count() == names.clone().count()
        && wanted.zip(names).all(|(wanted, name)| is_name_of(wanted, name))
}

/// Whether a name is one that a pattern with at most one `*` means; never empty, `.` or `..`.
#[must_use]
pub fn is_name_of(pattern: &str, name: &str) -> bool {
    if ["", ".", ".."].contains(&name) || name.contains(['/', '\0']) {
        return false;
    }
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
    }
}

/// An attribute of the workload's process.
pub trait LaunchKnob: Sync {
    /// Writes the level into the launch specification.
    ///
    /// # Errors
    /// When it cannot be expressed on this machine.
    fn contribute(&self, machine: &Machine, level: &Level, launch: &mut LaunchSpec) -> Result<()>;

    /// The level in force for these threads, in the terms of `wanted`: `wanted`
    /// itself when every thread has it, else the first other level found.
    ///
    /// # Errors
    /// When it cannot be read; threads that ended meanwhile are passed over.
    fn read_back(&self, machine: &Machine, threads: &[i32], wanted: &Level) -> Result<Level>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_no_path_but_those_of_its_names() {
        let pattern = "/sys/devices/system/cpu/cpu*/online";
        assert!(is_file_of(pattern, "/sys/devices/system/cpu/cpu12/online"));
        for path in [
            "/sys/devices/system/cpu/cpu1/../online",
            "/sys/devices/system/cpu/cpu1/x/online",
            "/sys/devices/system/cpu/cp/online",
            "/sys/devices/system/cpu//online",
            "sys/devices/system/cpu/cpu1/online",
            "x/sys/devices/system/cpu/cpu1/online",
            "/etc/shadow",
            "",
        ] {
            assert!(!is_file_of(pattern, path), "{path}");
        }
        assert!(is_file_of("/sys/block/*/queue/wbt_lat_usec", "/sys/block/sda/queue/wbt_lat_usec"));
        assert!(!is_file_of("/sys/block/*/queue/x", "/sys/block/../queue/x"));
        assert!(!is_file_of("/sys/block/*/queue/x", "/sys/block//queue/x"));
        assert!(is_name_of("schedlab-*", "schedlab-7") && !is_name_of("schedlab-*", "schedlab"));
    }
}
