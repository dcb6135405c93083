//! The guest's scratch disk: ext4 in host memory, slow enough that waiting for it is waiting.
//! The initramfs is memory, on which nothing ever waits for a write.

use super::memfd::{new_memfd, reopened};
use contract::{Error, Result};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use sys::Machine;

/// From Debian's package e2fsprogs, which every installation has.
const PROGRAM: &str = "mke2fs";
/// More than any native workload writes.
const SIZE_BYTES: u64 = 128 << 20;
/// The same identity for every disk, so that equal runs have equal disks.
const IDENTITY: &str = "5ced1ab0-0000-4000-8000-000000000000";

/// Operations a second that the disk serves: between a spinning disk and a solid-state one,
/// and far from what a processor, emulated or not, is busy with.
pub(crate) const OPERATIONS_PER_SECOND: u32 = 1_000;

/// Whether scratch disks can be made here.
pub(crate) fn is_possible(machine: &Machine) -> bool {
    machine.program(PROGRAM).is_some()
}

/// A new disk with an empty file system; `None` where there is no program to make one.
///
/// # Errors
/// When there is no memory for it, or it cannot be formatted.
pub(crate) fn make(machine: &Machine) -> Result<Option<File>> {
    let Some(program) = machine.program(PROGRAM) else { return Ok(None) };
    let disk = new_memfd("schedlab-scratch", SIZE_BYTES)?;
    // Opened by the child through us: nothing of it is a file of the host's.
    let path = format!("/proc/{}/fd/{}", std::process::id(), disk.as_raw_fd());
    let failed = |why: String| Error::environment("cannot make the guest's scratch disk", why);
    let output = Command::new(program)
        .args(["-q", "-F", "-t", "ext4", "-U", IDENTITY, "-E"])
        .arg(format!("hash_seed={IDENTITY},lazy_itable_init=1,nodiscard"))
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(Some(disk));
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

/// Another disk with the same content: a saved guest goes on with the disk it had.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn copy(disk: &File) -> Result<File> {
    let mut from = reopened(disk)?;
    let mut to = new_memfd("schedlab-scratch", SIZE_BYTES)?;
    io::copy(&mut from, &mut to)
        .map_err(|error| Error::environment("cannot copy the guest's scratch disk", error))?;
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_disk_is_ext4_and_its_copy_the_same() {
        let machine = Machine::host("/nonexistent").with_search_path("/usr/sbin:/sbin:/usr/bin");
        if !is_possible(&machine) {
            return testing::skip("no mke2fs on this machine");
        }
        let disk = make(&machine).unwrap().unwrap();
        let magic = |disk: &File| {
            let mut bytes = [0; 2];
            // s_magic of the superblock (fs/ext4/ext4.h).
            disk.read_exact_at(&mut bytes, 1024 + 0x38).unwrap();
            bytes
        };
        assert_eq!(magic(&disk), [0x53, 0xef]);
        assert_eq!(magic(&copy(&disk).unwrap()), [0x53, 0xef]);
    }
}
