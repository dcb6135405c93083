//! malloc_trim(3) and mallopt(3): memory that is free and was not returned.

/// Allocations of so many bytes are large.
#[cfg(target_env = "gnu")]
const LARGE_BYTES: libc::c_int = 1 << 20;

/// Returns to the kernel what this process freed: glibc keeps it for later, in an arena for each
/// thread, so that work on another thread would need as much again.
pub fn return_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes no pointer and touches nothing that is in use; it may be called by any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Makes large allocations pages of their own from now on, which the kernel has back as soon as they are
/// freed. glibc makes them so at first, and keeps those up to the largest one that was freed for later,
/// so that a process which needs one column after the other holds several.
pub fn return_large_memory_when_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes two numbers and leaves alone what is in use; it may be called by any thread.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 * LARGE_BYTES);
    }
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    /// Pages of this process that are in memory (proc_pid_statm(5)).
    fn resident_pages() -> Option<usize> {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    }

    #[test]
    fn what_is_free_between_what_is_in_use_is_returned() {
        let mut kept: Vec<Vec<u8>> = (0..16_384).map(|_| vec![1; 4_000]).collect();
        let mut number = 0;
        kept.retain(|_| {
            number += 1;
            number % 64 == 0
        });
        let before = resident_pages().unwrap_or_default();
        return_freed_memory();
        let after = resident_pages().unwrap_or(usize::MAX);
        assert!(after < before.saturating_sub(12_000), "{before} pages before, {after} after");
        assert!(kept.iter().all(|one| one.len() == 4_000));
    }

    #[test]
    fn what_is_large_is_returned_when_it_is_freed() {
        let large = || std::hint::black_box(vec![1_u8; 16 << 20]);
        // From here on glibc keeps what is no larger.
        drop(large());
        return_large_memory_when_freed();
        let (below, above) = (large(), large());
        let before = resident_pages().unwrap_or_default();
        drop(below);
        let after = resident_pages().unwrap_or(usize::MAX);
        assert!(after < before.saturating_sub(3_500), "{before} pages before, {after} after");
        assert_eq!(above.len(), 16 << 20);
    }
}
