//! The factor: what I/O trials read and write.

use crate::level::{SYNTAX, TargetLevel};
use crate::{directory, loop_device, null_block, raw_device, scsi_debug};
use contract::{
    Description, Factor, Held, HeldKnob, Knob, NotHeld, Requirement, Result, Supervisor,
};
use model::{Level, StorageKind, StorageTarget};
use std::path::{Path, PathBuf};
use sys::Machine;

/// The factor `target`.
pub struct Entry;

static DESCRIPTION: Description = Description {
    id: "target",
    summary: "where the files and devices of I/O workloads lie",
    doc: "`file` makes new files in the campaign's directory, `file:/DIRECTORY` in that one. `loop:2G` \
          is a loop device over a file of that size there, with direct I/O; the file has no name and \
          goes with the device, whatever happens. `null:1G:1ms` is the kernel's null block device with \
          memory that keeps what is written; each request takes that time, and it takes 64 of them at once, or \
          `:DEPTH`. `scsi:256M:1ms` is \
          its simulated SCSI disk. Both are for virtual machines only: on a host they would be left \
          behind when schedlab is killed, and simulated disks share one memory and one time. \
          `device:/dev/sdb` is a whole disk, and everything on it is lost: it is used only if \
          `--destroy-data /dev/sdb` was said, nobody uses it and it carries no signature.\n\n\
          The factors of a device's queue (`elevator`, `nr_requests`, …) act on the device that is below \
          this target.\n\n\
          What moves with it, and when it lies: memory is no disk. Files on tmpfs, a loop device \
          without direct I/O and the disk of a guest are answered by the memory of some host, and \
          records say HOST_CACHE_SUSPECTED. A loop device has the cost of the file system below it and \
          of its worker threads; its own elevator acts before the one of the disk below. A null device \
          has no head that an elevator could spare a way, and serves as many requests at once as its depth: an \
          elevator has something to order only where more are waiting.\n\n\
          Sources: drivers/block/loop.c, Documentation/block/null_blk.rst, drivers/scsi/scsi_debug.c \
          (6.12); loop(4).",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        SYNTAX
    }

    fn examples(&self) -> &'static [&'static str] {
        &["file", "loop:1G", "null:512M:1ms"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        TargetLevel::parse(text).map(|target| Level::canonical(target.to_string()))
    }

    /// Before every knob of its queue.
    fn order(&self) -> u8 {
        1
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let level = level.clone();
        vec![Requirement::check(format!("the target {level}"), move |machine| {
            let target = TargetLevel::parse(level.as_str()).map_err(|why| (why, String::new()))?;
            refusal(machine, &target).map_or(Ok(()), Err)
        })]
    }

    fn target(&self, machine: &Machine, level: &Level) -> Option<StorageTarget> {
        let disk = |device: Option<String>, size_bytes, is_made| StorageTarget {
            kind: StorageKind::Device,
            path: String::new(),
            device,
            size_bytes,
            is_made,
            cached_by: None,
            identity: None,
        };
        match TargetLevel::parse(level.as_str()).ok()? {
            TargetLevel::File(Some(path)) => Some(sys::directory_target(machine, &path)),
            TargetLevel::File(None) => None,
            // All loop devices of a kernel are alike: the first speaks for the one to come.
            TargetLevel::Loop(bytes, _) => {
                let first = "loop0".to_owned();
                let is_there = machine.exists(&format!("/sys/block/{first}"));
                Some(disk(is_there.then_some(first), bytes, true))
            }
            TargetLevel::Null(bytes, ..) | TargetLevel::Scsi(bytes, _) => {
                Some(disk(None, bytes, true))
            }
            TargetLevel::Device(path) => {
                let real = std::fs::canonicalize(path).ok()?;
                let name = real.file_name()?.to_string_lossy().into_owned();
                let bytes = sys::device_bytes(machine, &name)?;
                Some(disk(Some(name), bytes, false))
            }
        }
    }

    fn modules(&self, level: &Level) -> Vec<String> {
        match TargetLevel::parse(level.as_str()) {
            Ok(TargetLevel::Loop(..)) => vec!["?loop".to_owned()],
            Ok(TargetLevel::Null(..)) => {
                vec!["?configfs".to_owned(), "null_blk nr_devices=0".to_owned()]
            }
            Ok(TargetLevel::Scsi(bytes, _)) => {
                vec!["sd_mod".to_owned(), scsi_debug::arguments(bytes)]
            }
            Ok(TargetLevel::Device(_)) => vec!["virtio_blk".to_owned()],
            Ok(TargetLevel::File(_)) | Err(_) => Vec::new(),
        }
    }

    fn setting_ns(&self, level: &Level) -> u64 {
        match TargetLevel::parse(level.as_str()) {
            Ok(TargetLevel::Loop(..) | TargetLevel::Null(..)) => 50_000_000,
            Ok(TargetLevel::Scsi(..)) => 500_000_000,
            _ => 0,
        }
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Held(self)
    }
}

/// Why this machine cannot have it, and what to do; changes nothing.
fn refusal(machine: &Machine, target: &TargetLevel) -> Option<(String, String)> {
    match target {
        TargetLevel::File(None) => None,
        TargetLevel::File(Some(path)) => directory::refusal(path),
        TargetLevel::Loop(bytes, path) => loop_device::refusal(machine).or_else(|| {
            let path = path.clone().or_else(|| scratch(machine))?;
            directory::refusal(&path).or_else(|| no_space(&path, *bytes))
        }),
        TargetLevel::Null(..) => null_block::refusal(machine),
        TargetLevel::Scsi(..) => scsi_debug::refusal(machine),
        TargetLevel::Device(path) => raw_device::refusal(machine, path),
    }
}

/// Where files lie that no level places: the executor says it, and the check before a run.
fn scratch(machine: &Machine) -> Option<PathBuf> {
    let target = machine.target().filter(|target| target.kind == StorageKind::Directory)?;
    Some(PathBuf::from(&target.path))
}

fn no_space(path: &Path, bytes: u64) -> Option<(String, String)> {
    let free = sys::free_bytes(path)?;
    (free < bytes).then(|| {
        let [free, bytes] = [free, bytes].map(|bytes| model::format_size(bytes >> 20 << 20));
        (
            format!("{} has {free} left, and it needs {bytes}", path.display()),
            "make space, or ask for less".to_owned(),
        )
    })
}

impl HeldKnob for Entry {
    fn makes(&self) -> &'static [&'static str] {
        &[directory::NAMES]
    }

    fn acquire(
        &self,
        machine: &Machine,
        level: &Level,
        _holder: &mut dyn Supervisor,
    ) -> Result<Box<dyn Held>, NotHeld> {
        let target = TargetLevel::parse(level.as_str()).map_err(NotHeld::Refused)?;
        let or_scratch = |path: Option<PathBuf>| {
            let nowhere = || NotHeld::Refused("there is no scratch directory".to_owned());
            path.or_else(|| scratch(machine)).ok_or_else(nowhere)
        };
        match target {
            TargetLevel::File(path) => directory::hold(machine, &or_scratch(path)?),
            TargetLevel::Loop(bytes, path) => loop_device::hold(machine, bytes, &or_scratch(path)?),
            TargetLevel::Null(bytes, time_ns, depth) => {
                null_block::hold(machine, bytes, time_ns, depth)
            }
            TargetLevel::Scsi(bytes, time_ns) => scsi_debug::hold(machine, bytes, time_ns),
            TargetLevel::Device(path) => raw_device::hold(machine, &path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_parse_to_themselves() {
        for example in Entry.examples() {
            let level = Entry.parse(example).unwrap();
            assert_eq!(level.as_str(), *example);
        }
    }

    #[test]
    fn a_device_that_nobody_gave_up_is_no_target() {
        let machine = Machine::host("/nonexistent");
        let level = Entry.parse("device:/dev/loop7").unwrap();
        let missing = Entry.requires(&level)[0].met(&machine).unwrap_err();
        assert!(!missing.remedy.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_directory_without_space_for_a_loop_device_is_told_beforehand() {
        let place = tempfile::tempdir().unwrap();
        let (why, remedy) = no_space(place.path(), 1 << 60).unwrap();
        assert!(why.contains("needs 1073741824G"), "{why}");
        assert!(remedy.contains("less"));
        assert_eq!(no_space(place.path(), 1 << 20), None);
    }

    #[test]
    fn a_loop_device_that_no_level_places_needs_the_space_of_the_campaigns_directory() {
        let machine = Machine::host("/nonexistent");
        if let Some((why, _)) = loop_device::refusal(&machine) {
            return testing::skip(&format!("loop devices: {why}"));
        }
        let place = tempfile::tempdir().unwrap();
        let machine = machine.clone().with_target(sys::directory_target(&machine, place.path()));
        let missing = |level: &str| Entry.requires(&Entry.parse(level).unwrap())[0].met(&machine);
        let lack = missing("loop:16384G").unwrap_err();
        assert!(lack.why.contains("needs 16384G"), "{lack:?}");
        assert!(lack.why.contains(&place.path().display().to_string()), "{lack:?}");
        missing("loop:1M").unwrap();
    }
}
