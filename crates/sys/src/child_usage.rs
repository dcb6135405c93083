//! wait4(2): how a child ended, and how much memory it had.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

/// Waits for a child: how it ended, and the largest resident set in bytes that it, or any process
/// that it waited for, ever had.
///
/// The kernel counts what lay in memory before the child's exec(2), too, which is the caller's own
/// resident set (fs/exec.c, `exec_mmap`, 6.12): a caller that measures small children stays small.
///
/// # Errors
/// Where it is no child of this process any more.
pub fn wait_with_peak(mut child: Child) -> io::Result<(ExitStatus, u64)> {
    // A child that reads to the end of its input sees it.
    drop(child.stdin.take());
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    loop {
        // SAFETY: an all-zero rusage is valid, and the kernel fills status and usage, which both
        // live through the call.
        let (waited, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(pid, &raw mut status, 0, &raw mut usage), usage)
        };
        if waited == pid {
            let peak_bytes = usage.ru_maxrss.unsigned_abs() * 1024;
            return Ok((ExitStatus::from_raw(status), peak_bytes));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_peak_is_that_of_the_child_and_its_end_is_told() {
        let child = |program: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", program]).stdin(Stdio::piped());
            wait_with_peak(command.spawn().unwrap()).unwrap()
        };
        let (status, small) = child("cat; exit 7");
        assert_eq!(status.code(), Some(7));
        // A variable of 48 MB.
        let (status, large) = child("x=$(head -c 48000000 /dev/zero | tr '\\0' x); test -n \"$x\"");
        assert!(status.success());
        assert!(large >= small + (40 << 20), "{small} {large}");
        let (status, _) = child("kill -TERM $$");
        assert_eq!(status.signal(), Some(15));
    }
}
