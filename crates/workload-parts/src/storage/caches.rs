//! The page cache: dropping it, and proving that it is empty.

use crate::instant::sleep_for;
use contract::{Error, Requirement, Result};
use rustix::fs::Advice;
use rustix::mm::{MapFlags, ProtFlags};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use sys::Machine;

/// Writing 1 drops clean pages and nothing else (Documentation/admin-guide/sysctl/vm.rst).
pub const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
/// Mapped at once while counting.
const WINDOW: u64 = 1 << 30;
const PAGE: u64 = 4096;
/// How often a range is given up, a millisecond apart.
const ATTEMPTS: u32 = 50;

/// Dropping the caches needs root.
pub fn requirement() -> Requirement {
    Requirement::check("drop the page cache", |machine| {
        machine.check_writable(DROP_CACHES).map_err(|error| {
            (error.to_string(), "run as root, or set drop_caches = \"no\"".to_owned())
        })
    })
}

/// Writes everything that is dirty to its device and drops the page cache.
///
/// # Errors
/// When the kernel refuses.
pub fn drop_all(machine: &Machine) -> Result<()> {
    rustix::fs::sync();
    machine.write(DROP_CACHES, "1").map_err(|error| {
        let mut error = Error::from(error);
        error.remedy = "run as root, or set drop_caches = \"no\"".to_owned();
        error
    })
}

/// Gives up the pages of a part of a file or device, untimed, until none is in memory.
///
/// The kernel passes over a page that somebody holds: another process that drops the caches, a
/// readahead under way, a processor that has not yet put the page on a list
/// (`mapping_evict_folio`). Such a page goes at a later attempt.
///
/// Returns how many pages were in memory after the last attempt.
///
/// # Errors
/// What the kernel answers.
pub fn evict(file: &OwnedFd, start: u64, length: u64) -> std::io::Result<u64> {
    evict_with_pauses(file, (start, length), || sleep_for(1_000_000))
}

/// The same with this between two attempts.
fn evict_with_pauses(
    file: &OwnedFd,
    (start, length): (u64, u64),
    mut pause: impl FnMut(),
) -> std::io::Result<u64> {
    let mut pages = resident_pages(file, start, length)?;
    for _ in 0..ATTEMPTS {
        if pages == 0 {
            break;
        }
        rustix::fs::fadvise(file, start, NonZeroU64::new(length), Advice::DontNeed)?;
        pages = resident_pages(file, start, length)?;
        if pages > 0 {
            pause();
        }
    }
    Ok(pages)
}

/// How many pages of a part of a file or device are in memory.
///
/// # Errors
/// What the kernel answers.
pub fn resident_pages(file: &OwnedFd, start: u64, length: u64) -> std::io::Result<u64> {
    let end = start + length;
    let mut pages = 0;
    let mut from = start / PAGE * PAGE;
    while from < end {
        let window = (end - from).min(WINDOW);
        pages += resident_in(file, from, usize::try_from(window).unwrap_or(0))?;
        from += window;
    }
    Ok(pages)
}

fn resident_in(file: &OwnedFd, from: u64, length: usize) -> std::io::Result<u64> {
    let mut states = vec![0_u8; length.div_ceil(PAGE as usize)];
    // SAFETY: a fresh mapping overlaps nothing and is only asked about, never read.
    unsafe {
        let address = rustix::mm::mmap(
            std::ptr::null_mut(),
            length,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            from,
        )?;
        let answer = libc::mincore(address, length, states.as_mut_ptr());
        let error = std::io::Error::last_os_error();
        rustix::mm::munmap(address, length)?;
        if answer != 0 {
            return Err(error);
        }
    }
    Ok(states.iter().map(|state| u64::from(state & 1)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Pages that are mapped stay (`mapping_evict_folio`); pages that are let go meanwhile go.
    #[test]
    fn held_pages_are_counted_and_released_ones_evicted() {
        let program = std::env::current_exe().unwrap();
        let mut file = tempfile::tempfile_in(program.parent().unwrap()).unwrap();
        file.write_all(&[1; 40_960]).unwrap();
        file.sync_all().unwrap();
        let file = OwnedFd::from(file);
        let (flags, access) = (MapFlags::SHARED | MapFlags::POPULATE, ProtFlags::READ);
        // SAFETY: a fresh mapping overlaps nothing.
        let address =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), 40_960, access, flags, &file, 0) };
        let address = address.unwrap().addr();
        assert_eq!(evict(&file, 0, 40_960).unwrap(), 10);
        let mut pauses = 0;
        let evicted = evict_with_pauses(&file, (0, 40_960), || {
            pauses += 1;
            if pauses == 10 {
                // SAFETY: nothing refers to the mapping.
                unsafe { rustix::mm::munmap(address as *mut _, 40_960) }.unwrap();
            }
            sleep_for(1_000_000);
        });
        assert_eq!(evicted.unwrap(), 0);
        assert!(pauses >= 10, "{pauses} pauses");
    }

    #[test]
    fn pages_in_memory_are_counted() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 40_000]).unwrap();
        let file = OwnedFd::from(file);
        assert_eq!(resident_pages(&file, 0, 40_000).unwrap(), 10);
        assert_eq!(resident_pages(&file, 4096, 8192).unwrap(), 2);
    }
}
