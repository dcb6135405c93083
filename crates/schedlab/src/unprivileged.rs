//! A process that shows a run must not disturb it: it takes the lowest priority there is, and no
//! privileges that it does not need.

use contract::{Error, ErrorKind, Result};
use rustix::process::{Gid, Uid};
use rustix::thread;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::{Policy, SchedulingAttributes};

/// UID and GID nobody on every Linux (the kernel's overflow ids).
const NOBODY: u32 = 65_534;
/// The lowest priority of ordinary tasks.
const LOWEST_NICE: i32 = 19;

/// The calling thread runs when a CPU has nothing else to do, and so do threads that it starts.
/// Where that is refused it has the priority that its user has.
pub(crate) fn take_lowest_priority() {
    let _ = set_policy(0, Policy::Idle);
}

/// From the idle policy to the lowest priority of ordinary tasks, which anybody may do.
pub(crate) fn leave_idle_policy() {
    for entry in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let thread = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let _ = thread.map(|thread| set_policy(thread, Policy::Other));
    }
}

fn set_policy(thread: i32, policy: Policy) -> std::io::Result<()> {
    let now = sys::scheduling_attributes(thread)?;
    let wanted = SchedulingAttributes { policy, nice: LOWEST_NICE, ..now };
    sys::set_scheduling_attributes(thread, &wanted)
}

/// Drops root's privileges and takes the lowest priority. Campaigns are then reached from the
/// working directory: those above it may be root's alone.
pub(crate) fn drop_privileges(results: &Path) -> Result<PathBuf> {
    let attempted = || format!("cannot serve {}", results.display());
    let owner = std::fs::metadata(results).map_err(|error| {
        Error::new(
            ErrorKind::Usage,
            attempted(),
            error.to_string(),
            "give the directory of campaigns: --results DIR",
        )
    })?;
    let refused = |error: std::io::Error| Error::environment(attempted(), error);
    take_lowest_priority();
    if !rustix::process::geteuid().is_root() {
        return Ok(results.to_owned());
    }
    let (uid, gid) = match (owner.uid(), owner.gid()) {
        (0, _) => (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY)),
        (uid, gid) => (Uid::from_raw(uid), Gid::from_raw(gid)),
    };
    std::env::set_current_dir(results).map_err(refused)?;
    thread::set_thread_groups(&[]).map_err(|error| refused(error.into()))?;
    thread::set_thread_res_gid(gid, gid, gid).map_err(|error| refused(error.into()))?;
    thread::set_thread_res_uid(uid, uid, uid).map_err(|error| refused(error.into()))?;
    thread::set_no_new_privs(true).map_err(|error| refused(error.into()))?;
    std::fs::read_dir(".").map_err(|error| {
        Error::new(
            ErrorKind::Environment,
            attempted(),
            format!("without root's rights: {error}"),
            "let others read it, or give it to the user who is to look: chown, chmod",
        )
    })?;
    Ok(PathBuf::from("."))
}
