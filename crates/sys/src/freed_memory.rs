//! malloc_trim(3): memory that is free and was not returned.

/// Returns to the kernel what this process freed: glibc keeps it for later, in an arena for each
/// thread, so that work on another thread would need as much again.
pub fn return_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes no pointer and touches nothing that is in use; it may be called by any thread.
    unsafe {
        libc::malloc_trim(0);
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
}
