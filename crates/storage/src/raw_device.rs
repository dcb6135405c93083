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
use std::process::{Command, Stdio};
use sys::Machine;

/// blkid(8) says with it that it found nothing.
const NOTHING_FOUND: i32 = 2;

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
    let claim = open(OFlags::RDWR | OFlags::EXCL)?;
    let claimed = sys::device_identity(&claim).map_err(|error| unknown(&error))?;
    let named = sys::named_identity(machine, &name).map_err(|error| unknown(&error))?;
    if [claimed, named] != [identity; 2] {
        return Err(unknown(&"another device took its name just now"));
    }
    if let Some(found) = signature(machine, &real) {
        let remedy = format!("if nothing on it is needed, remove it: wipefs --all {show}");
        return Err((format!("{show} carries {found}"), remedy));
    }
    Ok(Inspected { device, real, name, identity })
}

/// What lies on a device, as libblkid sees it. A guest of ours has no such program, and
/// nothing that anybody needs.
fn signature(machine: &Machine, device: &Path) -> Option<String> {
    if machine.is_throw_away() {
        return None;
    }
    let Some(program) = machine.program("blkid") else {
        return Some("nobody knows what: there is no blkid (package util-linux)".to_owned());
    };
    let output = Command::new(program)
        .args(["--probe", "--output", "export"])
        .arg(device)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.code() == Some(NOTHING_FOUND) => None,
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let kinds = text.lines().filter_map(|line| {
                line.strip_prefix("TYPE=").or_else(|| line.strip_prefix("PTTYPE="))
            });
            let kinds: Vec<&str> = kinds.collect();
            Some(match kinds.as_slice() {
                [] => "signatures that contradict each other".to_owned(),
                kinds => format!("a signature: {}", kinds.join(", ")),
            })
        }
        Err(error) => Some(format!("nobody knows what: blkid: {error}")),
    }
}

/// Takes it for a trial.
pub(crate) fn hold(machine: &Machine, path: &Path) -> Result<Box<dyn Held>, NotHeld> {
    let attempted = || format!("cannot use {}", path.display());
    let Inspected { device, real, name, identity } = inspect(machine, path)
        .map_err(|(why, remedy)| Error::unsupported(attempted(), why, remedy))?;
    let bytes = sys::device_bytes(machine, &name).filter(|bytes| *bytes > 0).ok_or_else(|| {
        Error::environment(attempted(), format!("the kernel tells no size of {name}"))
    })?;
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
        let lost = |detail: String| Err(Lost { rule: crate::target::TARGET_LOST, detail });
        match sys::named_identity(&self.machine, &device) {
            Ok(identity) if Some(identity) == self.target.identity => {}
            Ok(_) => return lost(format!("{device} is another device, or has another medium")),
            Err(error) if error.is_absent() => return lost(format!("{device} is gone")),
            Err(error) => return lost(format!("cannot tell whether {device} is there: {error}")),
        }
        match sys::user_of_device(&self.machine, &device) {
            Ok(None) => Ok(()),
            Ok(Some(user)) => lost(format!("somebody else uses {device}: {user}")),
            Err(error) => lost(format!("cannot tell who uses {device}: {error}")),
        }
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        crate::target::facts(&self.target)
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
}
