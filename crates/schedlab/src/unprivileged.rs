//! A process that shows a run has no privileges that it does not need.

use crate::environment::NOBODY;
use crate::priority::take_lowest_priority;
use contract::{Error, ErrorKind, Result};
use rustix::process::{Gid, Uid};
use rustix::thread;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
