//! Numbers that forked processes of one workload share.

use contract::{Error, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// A slice of counters in memory shared with every process forked later.
pub struct SharedCounters {
    start: NonNull<AtomicU64>,
    count: usize,
}

// SAFETY: the memory is only reached as atomics.
unsafe impl Send for SharedCounters {}
// SAFETY: as above.
unsafe impl Sync for SharedCounters {}

impl SharedCounters {
    /// `count` counters, all zero and touched.
    ///
    /// # Errors
    /// When the memory cannot be mapped.
    pub fn new(count: usize) -> Result<Self> {
        let count = count.max(1);
        let bytes = count.checked_mul(size_of::<AtomicU64>()).ok_or_else(|| {
            Error::environment(format!("cannot map {count} counters"), "they are too many")
        })?;
        // SAFETY: a fresh anonymous mapping overlaps nothing.
        let address = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
            )
        }
        .map_err(|error| Error::environment(format!("cannot map {bytes} shared bytes"), error))?;
        let start = NonNull::new(address.cast())
            .ok_or_else(|| Error::environment("cannot map shared memory", "null address"))?;
        Ok(Self { start, count })
    }
}

impl std::ops::Deref for SharedCounters {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is page-aligned, zeroed, `count` long and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

impl Drop for SharedCounters {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and is not used again.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.count * size_of::<AtomicU64>()) };
    }
}
