//! New files in a directory: a subdirectory of our own, which the executor journals, makes
//! and removes.

use contract::{Error, Held, Lost, NotHeld, Result};
use model::StorageTarget;
use std::path::{Path, PathBuf};
use sys::Machine;

/// What its names look like; the `*` stands for the number of a process and a time.
pub(crate) const NAMES: &str = "schedlab-*";

/// Why no files can be made there, and what to do.
pub(crate) fn refusal(directory: &Path) -> Option<(String, String)> {
    let show = directory.display();
    match std::fs::metadata(directory) {
        Err(error) => Some((format!("{show}: {error}"), "name a directory that exists".to_owned())),
        Ok(data) if !data.is_dir() => {
            Some((format!("{show} is no directory"), "name a directory".to_owned()))
        }
        Ok(_) => {
            let wanted = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
            let error = rustix::fs::access(directory, wanted).err()?;
            let remedy =
                "name a directory that you may write, on a file system that is not read-only";
            Some((format!("{show}: {error}"), remedy.to_owned()))
        }
    }
}

/// A directory below `parent` that nobody has.
pub(crate) fn hold(machine: &Machine, parent: &Path) -> Result<Box<dyn Held>, NotHeld> {
    if let Some((why, remedy)) = refusal(parent) {
        let attempted = format!("cannot make files in {}", parent.display());
        return Err(Error::unsupported(attempted, why, remedy).into());
    }
    // Restoring removes nothing through a link.
    let parent = &std::fs::canonicalize(parent).map_err(|error| {
        Error::environment(format!("cannot find out where {} is", parent.display()), error)
    })?;
    let name = format!("schedlab-{}-{}", std::process::id(), sys::monotonic_ns());
    let own = parent.join(name);
    let path = own.display().to_string();
    Ok(Box::new(Directory {
        target: StorageTarget { path, ..sys::directory_target(machine, parent) },
        own,
    }))
}

struct Directory {
    target: StorageTarget,
    own: PathBuf,
}

impl Held for Directory {
    fn check(&mut self) -> Result<(), Lost> {
        if self.own.is_dir() {
            return Ok(());
        }
        let detail = format!("somebody removed {}", self.own.display());
        Err(Lost { rule: crate::every_target::TARGET_LOST, detail })
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        crate::every_target::facts(&self.target)
    }

    fn target(&self) -> Option<StorageTarget> {
        Some(self.target.clone())
    }

    fn release(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_cannot_take_files_is_refused_with_a_remedy() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(refusal(&file).unwrap().0.contains("no directory"));
        assert!(refusal(&place.path().join("none")).unwrap().1.contains("exists"));
        assert_eq!(refusal(place.path()), None);
        assert!(refusal(Path::new("/proc/self")).is_some(), "a read-only file system");
    }

    #[test]
    fn memory_is_told_and_not_where_the_directory_is() {
        let machine = Machine::host("/nonexistent");
        let target = sys::directory_target(&machine, Path::new("/dev/shm"));
        let why = target.cached_by.unwrap();
        assert!(why.contains("memory") && !why.contains("/dev/shm"), "{why}");
        assert_eq!(target.device, None);
    }
}
