//! Whether files can bypass the page cache where they will lie.

use contract::Requirement;
use model::StorageKind;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The file system of the target's directory, where that is known before a run, does O_DIRECT.
/// Asked with a file that never gets a name.
pub fn requirement() -> Requirement {
    Requirement::check("direct I/O (O_DIRECT) where files of workloads lie", |machine| {
        let directory = machine.target().filter(|target| target.kind == StorageKind::Directory);
        let Some(target) = directory else { return Ok(()) };
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::DIRECT;
        match rustix::fs::open(target.path.as_str(), flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::INVAL) => Err((
                format!("the file system of {} knows none", target.path),
                "set direct = false, or choose another target: target = \"loop:1G\"".to_owned(),
            )),
            // Whatever else is wrong with the directory is reported where it is used.
            _ => Ok(()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::StorageTarget;
    use sys::Machine;

    #[test]
    fn a_directory_of_a_disk_does_direct_io_and_procfs_is_somebody_elses_trouble() {
        for path in [env!("CARGO_MANIFEST_DIR"), "/proc"] {
            let target = StorageTarget {
                kind: StorageKind::Directory,
                path: path.to_owned(),
                device: None,
                size_bytes: 0,
                is_made: false,
                cached_by: None,
                identity: None,
            };
            let machine = Machine::host("/nonexistent").with_target(target);
            assert_eq!(requirement().met(&machine), Ok(()), "{path}");
        }
        assert_eq!(requirement().met(&Machine::host("/nonexistent")), Ok(()));
    }
}
