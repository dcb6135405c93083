//! Files that are written as a whole or not at all: what was there before stays until the new
//! one is complete.

use contract::{Error, Result};
use std::fs;
use std::path::Path;

/// Writes a file, or into what is no plain file (a pipe, a terminal, `/dev/null`).
///
/// # Errors
/// What the kernel answers, with what to do about it; a plain file is then as it was.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    // A link stays one, and what it leads to is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_special = fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file());
    let name = path.file_name().and_then(|name| name.to_str());
    match name.filter(|_| !is_special) {
        Some(name) => {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            store::replace(directory.unwrap_or(Path::new(".")), name, bytes)
        }
        None => fs::write(&path, bytes)
            .map_err(|error| Error::environment(format!("cannot write {}", path.display()), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_stays_where_the_new_one_cannot_be_completed() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("report.md");
        save(&file, b"old").unwrap();
        // Something else has the place of the unfinished file.
        fs::create_dir(directory.path().join(".report.md.partial")).unwrap();
        assert!(save(&file, b"new").is_err());
        assert_eq!(fs::read(&file).unwrap(), b"old");
        fs::remove_dir(directory.path().join(".report.md.partial")).unwrap();
        save(&file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        save(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        save(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(save(Path::new("/dev/full"), b"x").is_err());
    }
}
