//! A draft becomes an entry of the cache, in one step.

use crate::lock::CacheLock;
use crate::{Error, Result};
use std::fs::{self, File};
use std::path::Path;

/// Syncs the file system and gives the directory its name: from here on it counts. The
/// cache that it is in is locked.
///
/// # Errors
/// When a file cannot be synced or renamed.
pub fn put(draft: &Path, target: &Path, _: &CacheLock) -> Result<()> {
    let fail = |error: std::io::Error| Error::file("put into the cache", target, error);
    let directory = File::open(draft).map_err(fail)?;
    // Thousands of modules: one sync of the file system costs less than one for each.
    rustix::fs::syncfs(&directory).map_err(|error| fail(error.into()))?;
    if target.exists() {
        // Not a kernel, or it would have been used: an older format, a torn file.
        fs::remove_dir_all(target).map_err(fail)?;
    }
    fs::rename(draft, target).map_err(fail)?;
    let parent = target.parent().unwrap_or(target);
    File::open(parent).and_then(|parent| parent.sync_all()).map_err(fail)
}
