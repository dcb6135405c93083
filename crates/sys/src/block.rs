//! Block devices as the kernel shows them: which one serves a file, and who uses one.

use crate::Machine;
use model::{StorageKind, StorageTarget};
use rustix::fs::{major, minor};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Magic numbers of file systems in memory (include/uapi/linux/magic.h, 6.12).
const MEMORY: [(i64, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs")];

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

/// Whether it is a disk that turns, as far as the kernel is to be believed: loop, virtio and null
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
        // Without one there is no queue to speak of; whoever needs it tells.
        device: device_below(machine, directory).ok().flatten(),
        size_bytes: 0,
        is_made: false,
        cached_by: memory.map(|name| format!("{} is {name}, which is memory", directory.display())),
    }
}

/// Bytes that a user of this file system may still write.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(path).ok()?;
    space.f_bavail.checked_mul(space.f_frsize)
}

/// Where a device or one of its partitions is mounted, or swapped to, in words.
pub fn user_of_device(machine: &Machine, device: &str) -> Option<String> {
    let numbers = numbers_of(machine, device);
    let mounts = machine.read("/proc/self/mountinfo").unwrap_or_default();
    // Fields of proc_pid_mountinfo(5): id, parent, MAJOR:MINOR, root, mount point.
    let mounted = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let number = fields.nth(2)?;
        let point = fields.nth(1)?;
        numbers.iter().any(|own| own == number).then(|| format!("it is mounted on {point}"))
    });
    let swaps = machine.read("/proc/swaps").unwrap_or_default();
    let swapped = || {
        let names: Vec<&str> = swaps.lines().skip(1).filter_map(|l| l.split(' ').next()).collect();
        let is_own = |name: &&str| {
            let is_partition = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'p');
            name.strip_prefix("/dev/")
                .and_then(|name| name.strip_prefix(device))
                .is_some_and(is_partition)
        };
        names.into_iter().find(is_own).map(|name| format!("{name} is swap space"))
    };
    let held = || {
        let holders = holders_of(machine, device);
        (!holders.is_empty()).then(|| format!("{} lies on it", holders.join(", ")))
    };
    mounted.or_else(swapped).or_else(held)
}

/// Names of a device's partitions.
pub fn partitions(machine: &Machine, device: &str) -> Vec<String> {
    let names = machine.list(&format!("/sys/block/{device}")).unwrap_or_default();
    let is_partition =
        |name: &String| machine.exists(&format!("/sys/block/{device}/{name}/partition"));
    names.into_iter().filter(is_partition).collect()
}

fn numbers_of(machine: &Machine, device: &str) -> Vec<String> {
    let parts = partitions(machine, device).into_iter();
    let files = parts.map(|part| format!("/sys/block/{device}/{part}/dev"));
    let all = std::iter::once(format!("/sys/block/{device}/dev")).chain(files);
    all.filter_map(|file| machine.read(&file).ok()).map(|text| text.trim().to_owned()).collect()
}

/// Devices that are made of it: of dm, md, bcache.
fn holders_of(machine: &Machine, device: &str) -> Vec<String> {
    let parts = partitions(machine, device).into_iter();
    let places = parts.map(|part| format!("/sys/block/{device}/{part}/holders"));
    let all = std::iter::once(format!("/sys/block/{device}/holders")).chain(places);
    all.flat_map(|place| machine.list(&place).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(files: &[(&str, &str)]) -> (Machine, tempfile::TempDir) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(root.path().join("kernel-rules.json"), "{}").unwrap();
        (Machine::fake(root.path(), root.path().join("run")).unwrap(), root)
    }

    #[test]
    fn a_partition_that_is_mounted_or_swapped_to_or_held_is_a_use_of_its_device() {
        let disk = [
            ("/sys/block/sdb/dev", "8:16\n"),
            ("/sys/block/sdb/size", "2048\n"),
            ("/sys/block/sdb/sdb1/dev", "8:17\n"),
            ("/sys/block/sdb/sdb1/partition", "1\n"),
        ];
        let with = |more: &[(&str, &str)]| fake(&[&disk[..], more].concat());
        let use_of = |more: &[(&str, &str)]| {
            let (machine, _root) = with(more);
            user_of_device(&machine, "sdb")
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
        let (machine, _root) = with(&[]);
        assert_eq!(device_bytes(&machine, "sdb"), Some(1 << 20));
        assert_eq!(partitions(&machine, "sdb"), ["sdb1"]);
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
