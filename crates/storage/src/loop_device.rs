//! A loop device over an unlinked file, with direct I/O. It lives as long as somebody has it
//! open: the kernel takes it apart and frees the file when the last descriptor is closed,
//! even by SIGKILL (LO_FLAGS_AUTOCLEAR, drivers/block/loop.c, 6.12).

use contract::{Error, Held, Lost, NotHeld, Result};
use model::{StorageKind, StorageTarget};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use sys::Machine;

const CONTROL: &str = "/dev/loop-control";
/// include/uapi/linux/loop.h (6.12).
const LOOP_CONFIGURE: libc::c_ulong = 0x4C0A;
const LOOP_CTL_REMOVE: libc::c_ulong = 0x4C81;
const LOOP_CTL_GET_FREE: libc::c_ulong = 0x4C82;
const AUTOCLEAR: u32 = 4;
const DIRECT_IO: u32 = 16;
/// Somebody else may take the free device first.
const ATTEMPTS: usize = 16;
/// How long the kernel may take to give a device up.
const PATIENCE: Duration = Duration::from_secs(5);

/// `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// Why no loop device can be made here, and what to do; changes nothing.
pub(crate) fn refusal(machine: &Machine) -> Option<(String, String)> {
    let error = machine.check_writable(CONTROL).err()?;
    let remedy = if error.is_refused() {
        "run as root, or use target = \"file\" or a virtual machine"
    } else {
        "load the module loop (modprobe loop), or use target = \"file\""
    };
    Some((error.to_string(), remedy.to_owned()))
}

/// Makes one over a new file of this size in a directory.
pub(crate) fn hold(
    machine: &Machine,
    bytes: u64,
    directory: &Path,
) -> Result<Box<dyn Held>, NotHeld> {
    let attempted = || {
        format!(
            "cannot make a loop device of {} in {}",
            model::format_size(bytes),
            directory.display()
        )
    };
    let file = backing(directory, bytes).map_err(|error| {
        let remedy = match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => "make space, or ask for less",
            _ => "name a directory that you may write: loop:SIZE:/DIRECTORY",
        };
        Error::new(contract::ErrorKind::Environment, attempted(), error, remedy)
    })?;
    let mut last = io::Error::from_raw_os_error(libc::EBUSY);
    for _ in 0..ATTEMPTS {
        match configure(machine, &file) {
            Ok((device, name, is_added)) => {
                let loop_device =
                    LoopDevice::new(machine, device, name, is_added, bytes, directory);
                return Ok(Box::new(loop_device));
            }
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => last = error,
            Err(error) => return Err(Error::environment(attempted(), error).into()),
        }
    }
    Err(Error::environment(attempted(), last).into())
}

/// A file without a name, with all its blocks, so that a full disk shows before a trial.
fn backing(directory: &Path, bytes: u64) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = match rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::ISDIR) => unlinked(directory)?,
        Err(error) => return Err(error.into()),
    };
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(bytes)?,
        outcome => outcome?,
    }
    Ok(file)
}

/// The same where the file system knows no files without a name.
fn unlinked(directory: &Path) -> io::Result<File> {
    let name = format!("schedlab-{}-{}", std::process::id(), sys::monotonic_ns());
    let path = directory.join(name);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// A free device, given this file; whether the device was not there before.
fn configure(machine: &Machine, file: &File) -> io::Result<(OwnedFd, String, bool)> {
    let control = OpenOptions::new().read(true).write(true).open(CONTROL)?;
    let known = machine.list("/sys/block").unwrap_or_default();
    // SAFETY: the request takes no argument and answers with a number.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as _) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    let name = format!("loop{number}");
    let is_added = !known.contains(&name);
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let device = rustix::fs::open(format!("/dev/{name}"), flags, Mode::empty())?;
    // SAFETY: all bytes zero are a valid configuration.
    let mut config: LoopConfig = unsafe { std::mem::zeroed() };
    config.fd = file.as_raw_fd().cast_unsigned();
    config.info.flags = AUTOCLEAR | DIRECT_IO;
    // SAFETY: the request reads one `loop_config`, which outlives the call.
    let outcome =
        unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as _, &raw const config) };
    if outcome < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((device, name, is_added))
}

struct LoopDevice {
    machine: Machine,
    device: Option<OwnedFd>,
    name: String,
    is_added: bool,
    backing: String,
    is_direct: bool,
    target: StorageTarget,
}

impl LoopDevice {
    fn new(
        machine: &Machine,
        device: OwnedFd,
        name: String,
        is_added: bool,
        bytes: u64,
        directory: &Path,
    ) -> Self {
        let read = |file: &str| {
            let text = machine.read(&format!("/sys/block/{name}/loop/{file}"));
            text.map(|text| text.trim().to_owned()).unwrap_or_default()
        };
        let is_direct = read("dio") == "1";
        let memory = sys::memory_file_system(directory);
        let cached_by = match (memory, is_direct) {
            (Some(name), _) => {
                Some(format!("the loop device's file lies on {name}, which is memory"))
            }
            (None, false) => Some(
                "the loop device's file system refuses direct I/O: the page cache answers"
                    .to_owned(),
            ),
            (None, true) => None,
        };
        let target = StorageTarget {
            kind: StorageKind::Device,
            path: format!("/dev/{name}"),
            device: Some(name.clone()),
            size_bytes: bytes,
            is_made: true,
            cached_by,
            // Where the kernel does not tell, the file behind it is what is checked.
            identity: sys::device_identity(&device).ok(),
        };
        let backing = read("backing_file");
        let machine = machine.clone();
        Self { machine, device: Some(device), name, is_added, backing, is_direct, target }
    }
}

impl Held for LoopDevice {
    fn check(&mut self) -> Result<(), Lost> {
        let path = format!("/sys/block/{}/loop/backing_file", self.name);
        let now = self.machine.read(&path).map(|text| text.trim().to_owned());
        if now.as_ref().is_ok_and(|now| *now == self.backing) {
            return Ok(());
        }
        let now = now.unwrap_or_else(|error| error.to_string());
        let detail = format!("{} is no longer ours: {now}", self.name);
        Err(Lost { rule: crate::every_target::TARGET_LOST, detail })
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = crate::every_target::facts(&self.target);
        facts.push(("is_direct".to_owned(), self.is_direct.to_string()));
        facts
    }

    fn target(&self) -> Option<StorageTarget> {
        Some(self.target.clone())
    }

    fn release(mut self: Box<Self>) -> Result<()> {
        self.device = None;
        let deadline = Instant::now() + PATIENCE;
        while is_ours(&self.machine, &self.name, &self.backing) {
            if Instant::now() >= deadline {
                return Err(Error::new(
                    contract::ErrorKind::RestoreIncomplete,
                    format!("cannot give {} back", self.name),
                    "somebody else has it open",
                    format!(
                        "see which process (fuser /dev/{}); it vanishes with the last of them",
                        self.name
                    ),
                ));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        if self.is_added {
            remove(&self.name);
        }
        Ok(())
    }
}

/// Whether a device still has our file. The freed number may be somebody else's at once; while
/// the kernel takes a device apart its file has no name.
fn is_ours(machine: &Machine, name: &str, backing: &str) -> bool {
    match machine.read(&format!("/sys/block/{name}/loop/backing_file")) {
        Ok(now) => now.trim() == backing || now.trim().is_empty(),
        Err(_) => machine.exists(&format!("/sys/block/{name}/loop")),
    }
}

/// Takes a device away that the kernel made for us; an idle one that stays harms nobody.
fn remove(name: &str) {
    let number = name.trim_start_matches("loop").parse::<libc::c_long>();
    if let (Ok(control), Ok(number)) = (OpenOptions::new().write(true).open(CONTROL), number) {
        // SAFETY: the request takes a number by value.
        unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_REMOVE as _, number) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_kernels_sizes() {
        assert_eq!(size_of::<LoopInfo>(), 232);
        assert_eq!(size_of::<LoopConfig>(), 304);
    }

    #[test]
    fn a_loop_device_comes_and_goes_and_leaves_nothing() {
        let machine = Machine::host("/nonexistent");
        if let Some((why, _)) = refusal(&machine) {
            return testing::skip(&format!("loop devices: {why}"));
        }
        let place = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let mut held = match hold(&machine, 4 << 20, place.path()) {
            Ok(held) => held,
            Err(error) => panic!("{error:?}"),
        };
        let target = held.target().unwrap();
        assert_eq!(target.size_bytes, 4 << 20);
        let name = target.device.clone().unwrap();
        assert_eq!(sys::device_bytes(&machine, &name), Some(4 << 20));
        held.check().unwrap();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "the file has no name");
        let backing = format!("/sys/block/{name}/loop/backing_file");
        let ours = machine.read(&backing).unwrap();
        let directory = place.path().canonicalize().unwrap();
        assert!(Path::new(&ours).starts_with(directory), "{ours}");
        held.release().unwrap();
        // Others attach loop devices meanwhile, and may have its number at once: its file tells.
        assert_ne!(machine.read(&backing).ok(), Some(ours));
    }

    #[test]
    fn a_number_that_somebody_else_has_taken_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("kernel-rules.json"), "{}").unwrap();
        let machine = Machine::fake(root.path(), root.path().join("run")).unwrap();
        let bound = root.path().join("sys/block/loop7/loop");
        let ours = "/data/#131 (deleted)";
        assert!(!is_ours(&machine, "loop7", ours), "nothing is bound");
        std::fs::create_dir_all(&bound).unwrap();
        assert!(is_ours(&machine, "loop7", ours), "it is being taken apart");
        for (file, expected) in [(ours, true), ("", true), ("/images/disk.img", false)] {
            std::fs::write(bound.join("backing_file"), format!("{file}\n")).unwrap();
            assert_eq!(is_ours(&machine, "loop7", ours), expected, "`{file}`");
        }
    }

    #[test]
    fn a_disk_without_space_is_an_error_that_says_so_and_nothing_is_left() {
        let machine = Machine::host("/nonexistent");
        let place = tempfile::tempdir().unwrap();
        let Err(NotHeld::Stopped(error)) = hold(&machine, 1 << 44, place.path()) else {
            panic!("16 TiB were found")
        };
        assert!(error.remedy.contains("less"), "{error}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
