//! wait4(2): how a child ended, how much memory it had, and how much processor time.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// What a child used, and every process that it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildUsage {
    /// The largest resident set that one of them ever had, in bytes.
    pub peak_bytes: u64,
    /// The processor time of all of them, their own and that of the kernel for them.
    pub cpu_time: Duration,
}

/// Waits for a child: how it ended, and what it used.
///
/// The kernel counts what lay in memory before the child's exec(2), too, which is the caller's own
/// resident set (fs/exec.c, `exec_mmap`, 6.12): a caller that measures small children stays small.
///
/// # Errors
/// Where it is no child of this process any more.
pub fn wait_with_usage(mut child: Child) -> io::Result<(ExitStatus, ChildUsage)> {
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
            let usage = ChildUsage {
                peak_bytes: usage.ru_maxrss.unsigned_abs() * 1024,
                cpu_time: duration(usage.ru_utime) + duration(usage.ru_stime),
            };
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_micros(time.tv_usec.unsigned_abs())
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
            wait_with_usage(command.spawn().unwrap()).unwrap()
        };
        let (status, small) = child("cat; exit 7");
        assert_eq!(status.code(), Some(7));
        // A variable of 48 MB.
        let (status, large) = child("x=$(head -c 48000000 /dev/zero | tr '\\0' x); test -n \"$x\"");
        assert!(status.success());
        assert!(large.peak_bytes >= small.peak_bytes + (40 << 20), "{small:?} {large:?}");
        let (status, _) = child("kill -TERM $$");
        assert_eq!(status.signal(), Some(15));
    }

    #[test]
    fn the_processor_time_is_that_of_the_child_and_not_the_time_that_it_waits() {
        let used = |program: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", program]);
            wait_with_usage(command.spawn().unwrap()).unwrap().1.cpu_time
        };
        // What it waits for counts with it.
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let (busy, waiting) = (used(&format!("sh -c '{busy}'")), used("sleep 0.3"));
        assert!(busy > waiting, "{busy:?} {waiting:?}");
        assert!(waiting < Duration::from_millis(300), "{waiting:?}");
    }
}
