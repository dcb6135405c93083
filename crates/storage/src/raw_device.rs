//! A whole device of the machine's, which its owner gave up by name. Whatever speaks against
//! it is a refusal: a mount, swap, a device made of it, partitions, a signature, a read-only
//! flag, what cannot be told, and above all that nobody gave it up. It is open for as long as
//! a trial has it, so that the kernel gives its number to no other device.

use contract::{Error, Held, Lost, NotHeld, Result};
use model::{DeviceIdentity, StorageKind, StorageTarget};
use rustix::fs::{Mode, OFlags};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use sys::Machine;

/// Its name for the kernel where it is a whole block device.
fn name(machine: &Machine, path: &Path) -> Result<(PathBuf, String), (String, String)> {
    let show = path.display();
    let real = std::fs::canonicalize(path).map_err(|error| {
        (format!("{show}: {error}"), "name a device, such as /dev/sdb".to_owned())
    })?;
    let data =
        std::fs::metadata(&real).map_err(|error| (format!("{show}: {error}"), String::new()))?;
    let whole = "name a whole block device, such as /dev/sdb".to_owned();
    if !data.file_type().is_block_device() {
        return Err((format!("{show} is no block device"), whole));
    }
    let partition = machine
        .path(&format!(
            "/sys/dev/block/{}:{}/partition",
            rustix::fs::major(data.rdev()),
            rustix::fs::minor(data.rdev())
        ))
        .exists();
    match sys::whole_device(machine, data.rdev()) {
        Some(_) if partition => Err((format!("{show} is a partition"), whole)),
        Some(name) => Ok((real, name)),
        None => Err((format!("the kernel knows no device {show}"), whole)),
    }
}

/// A device that nothing speaks against.
struct Inspected {
    /// Open, and not exclusively: the workload claims it.
    device: OwnedFd,
    real: PathBuf,
    name: String,
    identity: DeviceIdentity,
    bytes: u64,
}

/// Why it may not be written, and what to do; changes nothing.
pub(crate) fn refusal(machine: &Machine, path: &Path) -> Option<(String, String)> {
    inspect(machine, path).err()
}

/// The device that a path names.
///
/// # Errors
/// Why it may not be written, and what to do.
fn inspect(machine: &Machine, path: &Path) -> Result<Inspected, (String, String)> {
    let (real, name) = name(machine, path)?;
    let show = path.display();
    let no_use = || "choose a device that nobody uses, or target = \"loop:SIZE\"".to_owned();
    let unknown = |error: &dyn std::fmt::Display| {
        let remedy = "run as root where /proc and /sys can be read, or use target = \"loop:SIZE\"";
        (format!("cannot tell whether {show} is free: {error}"), remedy.to_owned())
    };
    match sys::user_of_device(machine, &name) {
        Ok(None) => {}
        Ok(Some(user)) => return Err((format!("{show} is in use: {user}"), no_use())),
        Err(error) => return Err(unknown(&error)),
    }
    if !machine.may_destroy(path) {
        let remedy = format!("if nothing on it is needed, say so: --destroy-data {show}");
        return Err((format!("everything on {show} would be lost, and nobody gave it up"), remedy));
    }
    let open = |flags: OFlags| {
        let opened = rustix::fs::open(&real, flags | OFlags::CLOEXEC, Mode::empty());
        opened.map_err(|error| (format!("cannot open {show} for ourselves: {error}"), no_use()))
    };
    // From here on it is one device that is looked at.
    let device = open(OFlags::RDONLY)?;
    let identity = sys::device_identity(&device).map_err(|error| unknown(&error))?;
    let parts = sys::partitions(machine, &name).map_err(|error| unknown(&error))?;
    if !parts.is_empty() {
        return Err((format!("{show} has partitions: {}", parts.join(", ")), no_use()));
    }
    let read_only = machine.read(&format!("/sys/block/{name}/ro"));
    if read_only.map_err(|error| unknown(&error))?.trim() != "0" {
        return Err((format!("{show} is read-only"), no_use()));
    }
    let bytes = sys::device_bytes(machine, &name).filter(|bytes| *bytes > 0);
    let bytes = bytes.ok_or_else(|| (format!("{show} is empty: no medium is in it"), no_use()))?;
    let claim = open(OFlags::RDWR | OFlags::EXCL)?;
    let claimed = sys::device_identity(&claim).map_err(|error| unknown(&error))?;
    let named = sys::named_identity(machine, &name).map_err(|error| unknown(&error))?;
    if [claimed, named] != [identity; 2] {
        return Err(unknown(&"another device took its name just now"));
    }
    match crate::signature::refusal(machine, &claim, &real) {
        Some(refusal) => Err(refusal),
        None => Ok(Inspected { device, real, name, identity, bytes }),
    }
}

/// Takes it for a trial.
pub(crate) fn hold(machine: &Machine, path: &Path) -> Result<Box<dyn Held>, NotHeld> {
    let attempted = || format!("cannot use {}", path.display());
    let Inspected { device, real, name, identity, bytes } = inspect(machine, path)
        .map_err(|(why, remedy)| Error::unsupported(attempted(), why, remedy))?;
    // A disk of a guest of ours lies in its host's memory.
    let cached_by = (machine.is_throw_away() && name.starts_with("vd"))
        .then(|| format!("{name} lies in the memory of the guest's host"));
    let target = StorageTarget {
        kind: StorageKind::Device,
        path: real.display().to_string(),
        device: Some(name),
        size_bytes: bytes,
        is_made: false,
        cached_by,
        identity: Some(identity),
    };
    Ok(Box::new(RawDevice { machine: machine.clone(), _device: device, target }))
}

struct RawDevice {
    machine: Machine,
    /// While it is open no other device gets its number, even when it is unplugged.
    _device: OwnedFd,
    target: StorageTarget,
}

impl Held for RawDevice {
    fn check(&mut self) -> Result<(), Lost> {
        let device = self.target.device.clone().unwrap_or_default();
        let lost = |detail: String| Err(Lost { rule: crate::every_target::TARGET_LOST, detail });
        match sys::named_identity(&self.machine, &device) {
            Ok(identity) if Some(identity) == self.target.identity => {}
            Ok(_) => return lost(format!("{device} is another device, or has another medium")),
            Err(error) if error.is_absent() => return lost(format!("{device} is gone")),
            Err(error) => return lost(format!("cannot tell whether {device} is there: {error}")),
        }
        match sys::user_of_device(&self.machine, &device) {
            Ok(None) => Ok(()),
            Ok(Some(user)) => lost(format!("somebody else uses {device}: {user}")),
            Err(error) => lost(format!("cannot tell what uses {device}: {error}")),
        }
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        crate::every_target::facts(&self.target)
    }

    fn target(&self) -> Option<StorageTarget> {
        Some(self.target.clone())
    }

    fn release(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::ErrorKind;
    use std::os::unix::fs::FileExt;
    use std::process::Command;
    use std::sync::MutexGuard;

    fn host() -> Machine {
        Machine::host("/nonexistent").with_search_path("/usr/sbin:/sbin:/usr/bin:/bin")
    }

    #[test]
    fn what_is_no_whole_device_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (path, cause) in [
            (file.path(), "no block device"),
            (Path::new("/dev/null"), "no block device"),
            (Path::new("/dev/none-of-that-name"), "No such file"),
        ] {
            let (why, remedy) = refusal(&host(), path).unwrap();
            assert!(why.contains(cause), "{why}");
            assert!(remedy.contains("/dev/sdb"), "{remedy}");
        }
    }

    #[test]
    fn the_disk_below_the_root_is_refused_even_when_it_was_given_up() {
        let machine = host();
        let Some(device) = sys::device_below(&machine, Path::new("/")).unwrap() else {
            return testing::skip("the root lies on no block device");
        };
        let path = PathBuf::from(format!("/dev/{device}"));
        if !path.exists() {
            return testing::skip(&format!("there is no {}", path.display()));
        }
        let (why, _) =
            refusal(&machine.clone().with_destroyable(vec![path.clone()]), &path).unwrap();
        assert!(why.contains("mounted"), "{why}");
        assert!(hold(&machine, &path).is_err());
    }

    /// A loop device over a file of 4 MiB, detached when this is dropped.
    struct Loop {
        node: PathBuf,
        image: tempfile::NamedTempFile,
        _alone: MutexGuard<'static, ()>,
    }

    impl Loop {
        /// With something written into the file beforehand.
        fn attach(options: &[&str], contents: &[(u64, &[u8])]) -> Option<Self> {
            if host().program("blkid").is_none() {
                testing::skip("there is no blkid");
                return None;
            }
            let _alone = crate::alone();
            let image = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
            image.as_file().set_len(4 << 20).unwrap();
            for (place, bytes) in contents {
                image.as_file().write_all_at(bytes, *place).unwrap();
            }
            let mut command = Command::new("losetup");
            let output = command.args(["--find", "--show"]).args(options).arg(image.path());
            let output = output.output().ok().filter(|output| output.status.success());
            if output.is_none() {
                testing::skip("a loop device cannot be attached here (needs root and losetup)");
            }
            let node = String::from_utf8(output?.stdout).unwrap().trim().into();
            Some(Self { node, image, _alone })
        }

        /// A machine whose owner gave it up.
        fn given_up(&self) -> Machine {
            host().with_destroyable(vec![self.node.clone()])
        }

        /// Why it is refused, and that nothing of it was changed by asking or by trying.
        fn refused(&self) -> String {
            let before = std::fs::read(self.image.path()).unwrap();
            let (why, remedy) = refusal(&self.given_up(), &self.node).unwrap();
            assert!(!remedy.is_empty());
            let Err(NotHeld::Stopped(error)) = hold(&self.given_up(), &self.node) else {
                panic!("refused and held: {why}")
            };
            assert_eq!((error.kind, &error.cause), (ErrorKind::Unsupported, &why));
            assert!(before == std::fs::read(self.image.path()).unwrap(), "it was written to");
            why
        }
    }

    impl Drop for Loop {
        fn drop(&mut self) {
            let status = Command::new("losetup").arg("--detach").arg(&self.node).status();
            assert!(status.is_ok_and(|status| status.success()), "{:?} is left", self.node);
        }
    }

    #[test]
    fn an_empty_device_that_was_given_up_is_held_and_can_be_claimed_by_the_load() {
        let Some(device) = Loop::attach(&[], &[]) else { return };
        let (why, remedy) = refusal(&host(), &device.node).unwrap();
        assert!(why.contains("nobody gave it up"), "{why}");
        assert!(remedy.contains("--destroy-data"), "{remedy}");
        let machine = device.given_up();
        assert_eq!(refusal(&machine, &device.node), None);
        let Ok(mut held) = hold(&machine, &device.node) else { panic!("not held") };
        let target = held.target().unwrap();
        let name = target.device.clone().unwrap();
        assert_eq!(target.size_bytes, 4 << 20);
        assert_eq!(target.identity, Some(sys::named_identity(&machine, &name).unwrap()));
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
        let claim = rustix::fs::open(&device.node, flags, Mode::empty()).unwrap();
        held.check().unwrap();
        drop(claim);
        held.release().unwrap();
    }

    #[test]
    fn a_held_device_that_is_another_one_or_gone_is_lost() {
        let Some(device) = Loop::attach(&[], &[]) else { return };
        let machine = device.given_up();
        let Inspected { device: open, name, identity, .. } =
            inspect(&machine, &device.node).unwrap();
        let target = StorageTarget {
            kind: StorageKind::Device,
            path: device.node.display().to_string(),
            device: Some(name),
            size_bytes: 4 << 20,
            is_made: false,
            cached_by: None,
            identity: Some(identity),
        };
        let mut held = RawDevice { machine, _device: open, target };
        held.check().unwrap();
        held.target.identity =
            Some(DeviceIdentity { sequence: Some(identity.sequence.unwrap_or(0) + 1), ..identity });
        let lost = held.check().unwrap_err();
        assert!(lost.detail.contains("another device"), "{}", lost.detail);
        held.target.device = Some("none-of-that-name".to_owned());
        let lost = held.check().unwrap_err();
        assert!(lost.detail.contains("is gone"), "{}", lost.detail);
    }

    /// Version 1, 1023 pages, and the magic number at the end of the first page
    /// (include/linux/swap.h).
    const SWAP: [(u64, &[u8]); 3] =
        [(1024, &[1, 0, 0, 0]), (1028, &[0xff, 3, 0, 0]), (4086, b"SWAPSPACE2")];
    /// One partition, of 1 MiB at 1 MiB.
    const PARTITIONS: [(u64, &[u8]); 2] =
        [(446, &[0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0]), (510, &[0x55, 0xaa])];

    #[test]
    fn a_device_with_a_signature_is_refused_although_it_was_given_up() {
        let Some(device) = Loop::attach(&[], &SWAP) else { return };
        let why = device.refused();
        assert!(why.contains("carries a signature: swap"), "{why}");
    }

    #[test]
    fn a_device_with_partitions_is_refused_although_it_was_given_up() {
        let Some(device) = Loop::attach(&["--partscan"], &PARTITIONS) else { return };
        let name = device.node.file_name().unwrap().to_str().unwrap();
        let why = device.refused();
        if sys::partitions(&host(), name).unwrap().is_empty() {
            testing::unsupported("partitions of loop devices: their table is what is refused");
            assert!(why.contains("carries a signature: dos"), "{why}");
        } else {
            assert!(why.contains(&format!("has partitions: {name}p1")), "{why}");
        }
    }

    #[test]
    fn a_read_only_device_is_refused_although_it_was_given_up() {
        let Some(device) = Loop::attach(&["--read-only"], &[]) else { return };
        let why = device.refused();
        assert!(why.contains("is read-only"), "{why}");
    }

    #[test]
    fn a_device_that_somebody_else_claimed_is_refused_although_it_was_given_up() {
        let Some(device) = Loop::attach(&[], &[]) else { return };
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
        let claim = rustix::fs::open(&device.node, flags, Mode::empty()).unwrap();
        let why = device.refused();
        assert!(why.contains("for ourselves") && why.contains("busy"), "{why}");
        drop(claim);
        assert_eq!(refusal(&device.given_up(), &device.node), None);
    }
}
