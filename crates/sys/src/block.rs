//! Block devices as the kernel shows them: which one serves a file, and what uses one.

use crate::{Machine, MachineError};
use model::{DeviceIdentity, StorageKind, StorageTarget};
use rustix::fs::{FileType, major, minor};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Magic numbers of file systems in memory (include/uapi/linux/magic.h, 6.12).
const MEMORY: [(i64, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs")];
/// `_IOR(0x12, 128, __u64)`, include/uapi/linux/fs.h (5.15).
const BLKGETDISKSEQ: libc::c_ulong = 0x8008_1280;

/// The kernel's name of the whole block device below the file system that a path lies on
/// (`vda` of a file on `vda1`); none where there is no such device (tmpfs, overlay, network).
///
/// # Errors
/// When the path cannot be read.
pub fn device_below(machine: &Machine, path: &Path) -> io::Result<Option<String>> {
    Ok(whole_device(machine, std::fs::metadata(path)?.dev()))
}

/// The kernel's name of the whole device with this number.
pub fn whole_device(machine: &Machine, number: u64) -> Option<String> {
    let link = machine.path(&format!("/sys/dev/block/{}:{}", major(number), minor(number)));
    let directory = std::fs::canonicalize(link).ok()?;
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    if directory.join("partition").exists() {
        return name(directory.parent()?);
    }
    name(&directory)
}

/// `MAJOR:MINOR` of a device by the kernel's name.
pub fn device_number(machine: &Machine, device: &str) -> Option<String> {
    let text = machine.read(&format!("/sys/block/{device}/dev")).ok()?;
    Some(text.trim().to_owned())
}

/// Its size in bytes; the file counts sectors of 512 bytes whatever the device's are
/// (Documentation/ABI/stable/sysfs-block).
pub fn device_bytes(machine: &Machine, device: &str) -> Option<u64> {
    let text = machine.read(&format!("/sys/block/{device}/size")).ok()?;
    text.trim().parse::<u64>().ok()?.checked_mul(512)
}

/// Whether it is a rotational disk, as far as the kernel is to be believed: loop, virtio and null
/// devices say that they turn, or say nothing.
pub fn is_rotating(machine: &Machine, device: &str) -> bool {
    let is_disk = device.starts_with("sd") || device.starts_with("hd");
    let path = format!("/sys/block/{device}/queue/rotational");
    is_disk && machine.read(&path).is_ok_and(|text| text.trim() == "1")
}

/// The name of the file system in memory that a path lies on, where it is one.
pub fn memory_file_system(path: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(path).ok()?.f_type;
    MEMORY.iter().find(|(magic, _)| *magic == kind).map(|(_, name)| *name)
}

/// New files in a directory, as what I/O trials read and write.
pub fn directory_target(machine: &Machine, directory: &Path) -> StorageTarget {
    let memory = memory_file_system(directory);
    StorageTarget {
        kind: StorageKind::Directory,
        path: directory.display().to_string(),
        // Without one there is no queue to speak of; what needs it says so.
        device: device_below(machine, directory).ok().flatten(),
        size_bytes: 0,
        is_made: false,
        cached_by: memory.map(|name| format!("the directory lies on {name}, which is memory")),
        identity: None,
    }
}

/// Bytes that a user of this file system may still write; none where it does not count them
/// (ramfs).
pub fn free_bytes(path: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(path).ok().filter(|space| space.f_blocks > 0)?;
    space.f_bavail.checked_mul(space.f_frsize)
}

/// Where a device or one of its partitions is mounted, or swapped to, in words.
///
/// # Errors
/// When that cannot be told: then nobody knows that it is free.
pub fn user_of_device(machine: &Machine, device: &str) -> Result<Option<String>, MachineError> {
    let directories = directories_of(machine, device)?;
    let of_each = |file: &str| {
        let read = |directory: &String| machine.read(&format!("{directory}/{file}"));
        directories.iter().map(read).collect::<Result<Vec<String>, _>>()
    };
    let numbers = of_each("dev")?;
    let mounts = machine.read("/proc/self/mountinfo")?;
    // Fields of proc_pid_mountinfo(5): id, parent, MAJOR:MINOR, root, mount point.
    let mounted = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let number = fields.nth(2)?;
        let point = fields.nth(1)?;
        let is_own = numbers.iter().any(|own| own.trim() == number);
        is_own.then(|| format!("it is mounted on {point}"))
    });
    if mounted.is_some() {
        return Ok(mounted);
    }
    if let Some(name) = swap_on(&swaps(machine)?, device) {
        return Ok(Some(format!("{name} is swap space")));
    }
    // Devices that are made of it: of dm, md, bcache.
    let mut holders = Vec::new();
    for directory in &directories {
        holders.extend(names_in(machine, &format!("{directory}/holders"))?);
    }
    Ok((!holders.is_empty()).then(|| format!("{} lies on it", holders.join(", "))))
}

/// `/proc/swaps`; a kernel without swap space has no such file (CONFIG_SWAP), and the rest of
/// /proc has been read.
fn swaps(machine: &Machine) -> Result<String, MachineError> {
    match machine.read("/proc/swaps") {
        Err(error) if error.is_absent() => Ok(String::new()),
        other => other,
    }
}

/// The name under which a device or one of its partitions is swap space.
fn swap_on<'s>(swaps: &'s str, device: &str) -> Option<&'s str> {
    let is_partition = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'p');
    let is_own = |name: &&str| {
        let rest = name.strip_prefix("/dev/").and_then(|name| name.strip_prefix(device));
        rest.is_some_and(is_partition)
    };
    swaps.lines().skip(1).filter_map(|line| line.split(' ').next()).find(is_own)
}

/// Names of a device's partitions.
///
/// # Errors
/// When they cannot be listed.
pub fn partitions(machine: &Machine, device: &str) -> Result<Vec<String>, MachineError> {
    let mut partitions = Vec::new();
    for name in names_in(machine, &format!("/sys/block/{device}"))? {
        match machine.read(&format!("/sys/block/{device}/{name}/partition")) {
            Ok(_) => partitions.push(name),
            // Any other directory of the device, or a file.
            Err(error) if error.is_absent() => {}
            Err(error) if error.source.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) => return Err(error),
        }
    }
    Ok(partitions)
}

/// The directories of a device and of its partitions.
fn directories_of(machine: &Machine, device: &str) -> Result<Vec<String>, MachineError> {
    let whole = format!("/sys/block/{device}");
    let parts = partitions(machine, device)?.into_iter().map(|part| format!("{whole}/{part}"));
    Ok(std::iter::once(whole.clone()).chain(parts).collect())
}

/// Names in a directory that must be there.
fn names_in(machine: &Machine, directory: &str) -> Result<Vec<String>, MachineError> {
    let names = machine.list(directory)?;
    if names.is_empty() && !machine.exists(directory) {
        let source = io::ErrorKind::NotFound.into();
        return Err(MachineError { action: "list", path: machine.path(directory), source });
    }
    Ok(names)
}

/// What tells an open device from another one that takes its name later.
///
/// # Errors
/// When it is no block device, or the kernel does not answer.
pub fn device_identity(device: impl AsFd) -> io::Result<DeviceIdentity> {
    let status = rustix::fs::fstat(&device)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::BlockDevice {
        return Err(io::Error::from_raw_os_error(libc::ENOTBLK));
    }
    let mut sequence = 0_u64;
    let descriptor = device.as_fd().as_raw_fd();
    // SAFETY: the request writes one u64, which outlives the call.
    let outcome = unsafe { libc::ioctl(descriptor, BLKGETDISKSEQ as _, &raw mut sequence) };
    let sequence = match outcome {
        0 => Some(sequence),
        _ => match io::Error::last_os_error() {
            // What drivers answer to a request that their kernel does not know.
            error if matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)) => None,
            error => return Err(error),
        },
    };
    Ok(DeviceIdentity { number: status.st_rdev, sequence })
}

/// The same of the device that has this name.
///
/// # Errors
/// When there is none, or the kernel does not tell.
pub fn named_identity(machine: &Machine, device: &str) -> Result<DeviceIdentity, MachineError> {
    let not_understood = |path: &str, text: &str| MachineError {
        action: "understand",
        path: machine.path(path),
        source: io::Error::new(io::ErrorKind::InvalidData, format!("`{}`", text.trim())),
    };
    let path = format!("/sys/block/{device}/dev");
    let text = machine.read(&path)?;
    let number = text.trim().split_once(':').and_then(|(major, minor)| {
        Some(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
    });
    let number = number.ok_or_else(|| not_understood(&path, &text))?;
    let path = format!("/sys/block/{device}/diskseq");
    let sequence = match machine.read(&path) {
        Ok(text) => Some(text.trim().parse().map_err(|_| not_understood(&path, &text))?),
        Err(error) if error.is_absent() => None,
        Err(error) => return Err(error),
    };
    Ok(DeviceIdentity { number, sequence })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(files: &[(&str, &str)]) -> (Machine, tempfile::TempDir) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let full = root.path().join(path.trim_start_matches('/'));
            if path.ends_with('/') {
                std::fs::create_dir_all(full).unwrap();
                continue;
            }
            std::fs::create_dir_all(full.parent().unwrap()).unwrap();
            std::fs::write(full, text).unwrap();
        }
        std::fs::write(root.path().join("kernel-rules.json"), "{}").unwrap();
        (Machine::fake(root.path(), root.path().join("run")).unwrap(), root)
    }

    /// A disk with one partition that nobody uses.
    const DISK: [(&str, &str); 8] = [
        ("/proc/self/mountinfo", "21 1 254:0 / / rw - ext4 /dev/vda rw\n"),
        ("/sys/block/sdb/dev", "8:16\n"),
        ("/sys/block/sdb/diskseq", "12\n"),
        ("/sys/block/sdb/size", "2048\n"),
        ("/sys/block/sdb/holders/", ""),
        ("/sys/block/sdb/sdb1/dev", "8:17\n"),
        ("/sys/block/sdb/sdb1/partition", "1\n"),
        ("/sys/block/sdb/sdb1/holders/", ""),
    ];

    #[test]
    fn a_partition_that_is_mounted_or_swapped_to_or_held_is_a_use_of_its_device() {
        let use_of = |more: &[(&str, &str)]| {
            let (machine, _root) = fake(&[&DISK[..], more].concat());
            user_of_device(&machine, "sdb").unwrap()
        };
        let mounted = "36 35 8:17 / /data rw - ext4 /dev/sdb1 rw\n";
        let swap = "Filename\tType\n/dev/sdb1 partition 1 0 -2\n";
        let other = "Filename\tType\n/dev/sdba partition 1 0 -2\n";
        assert_eq!(use_of(&[]), None);
        assert_eq!(
            use_of(&[("/proc/self/mountinfo", mounted)]).as_deref(),
            Some("it is mounted on /data")
        );
        assert_eq!(use_of(&[("/proc/swaps", swap)]).as_deref(), Some("/dev/sdb1 is swap space"));
        assert_eq!(use_of(&[("/proc/swaps", other)]), None);
        assert_eq!(
            use_of(&[("/sys/block/sdb/sdb1/holders/dm-0", "")]).as_deref(),
            Some("dm-0 lies on it")
        );
        let (machine, _root) = fake(&DISK);
        assert_eq!(device_bytes(&machine, "sdb"), Some(1 << 20));
        assert_eq!(partitions(&machine, "sdb").unwrap(), ["sdb1"]);
    }

    #[test]
    fn what_cannot_be_read_does_not_mean_that_nobody_uses_it() {
        for gone in [
            "/proc/self/mountinfo",
            "/sys/block/sdb/dev",
            "/sys/block/sdb/holders/",
            "/sys/block/sdb/sdb1/dev",
            "/sys/block/sdb/sdb1/holders/",
        ] {
            let files: Vec<_> = DISK.into_iter().filter(|(path, _)| *path != gone).collect();
            let (machine, _root) = fake(&files);
            let error = user_of_device(&machine, "sdb").unwrap_err();
            assert!(error.to_string().contains(gone.trim_end_matches('/')), "{gone}: {error}");
        }
        // Directories where files should be: root, too, cannot read them.
        for odd in ["/proc/swaps/", "/sys/block/sdb/sdb1/partition/"] {
            let path = odd.trim_end_matches('/');
            let mut files: Vec<_> = DISK.into_iter().filter(|(other, _)| *other != path).collect();
            files.push((odd, ""));
            let (machine, _root) = fake(&files);
            let error = user_of_device(&machine, "sdb").unwrap_err();
            assert!(error.to_string().contains(path), "{odd}: {error}");
        }
        let (machine, _root) = fake(&DISK);
        assert!(user_of_device(&machine, "sdc").unwrap_err().is_absent());
        assert!(partitions(&machine, "sdc").unwrap_err().is_absent());
    }

    #[test]
    fn a_device_is_told_from_another_one_of_its_name() {
        let (machine, root) = fake(&DISK);
        let identity = named_identity(&machine, "sdb").unwrap();
        assert_eq!(identity, DeviceIdentity { number: 0x810, sequence: Some(12) });
        let file = root.path().join("sys/block/sdb/diskseq");
        std::fs::write(&file, "13\n").unwrap();
        assert_ne!(named_identity(&machine, "sdb").unwrap(), identity);
        std::fs::write(&file, "x\n").unwrap();
        assert!(named_identity(&machine, "sdb").unwrap_err().to_string().contains("`x`"));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(named_identity(&machine, "sdb").unwrap().sequence, None);
        assert!(named_identity(&machine, "sdc").unwrap_err().is_absent());
        let plain = std::fs::File::open(root.path().join("sys/block/sdb/dev")).unwrap();
        assert_eq!(device_identity(&plain).unwrap_err().raw_os_error(), Some(libc::ENOTBLK));
    }

    #[test]
    fn an_open_device_is_the_one_that_sysfs_names() {
        let machine = Machine::host("/nonexistent");
        let devices = machine.list("/sys/block").unwrap();
        // Loop devices are attached and detached by other tests meanwhile.
        let lasting = devices.iter().filter(|name| !name.starts_with("loop"));
        let opened = { lasting }.find_map(|name| {
            let file = std::fs::File::open(format!("/dev/{name}")).ok()?;
            Some((named_identity(&machine, name).unwrap(), device_identity(&file).unwrap()))
        });
        let Some((named, opened)) = opened else {
            return testing::skip("no block device can be opened");
        };
        assert_eq!(named, opened);
    }

    #[test]
    fn the_device_below_this_directory_has_a_queue_or_there_is_none() {
        let machine = Machine::host("/nonexistent");
        if let Some(device) = device_below(&machine, Path::new("/")).unwrap() {
            assert!(machine.exists(&format!("/sys/block/{device}/queue")), "{device}");
        }
        assert_eq!(device_below(&machine, Path::new("/proc")).unwrap(), None);
    }
}
