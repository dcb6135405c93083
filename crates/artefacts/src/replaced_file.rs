//! Files of a cache that are written anew.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Puts a file with these bytes there in one step. Nothing is written through a link, nor into a file
/// that has another name, too: what had the name before is replaced.
///
/// # Errors
/// When it cannot be written; what was there stays.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // apt passes over names that begin with a dot. Another process writes a draft of its own.
    let mut draft = OsString::from(".");
    draft.push(name);
    draft.push(format!(".{}", std::process::id()));
    let draft = path.with_file_name(draft);
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = File::create_new(&draft)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_written_through_a_link_or_into_a_file_with_another_name() {
        let home = tempfile::tempdir().unwrap();
        let (path, other) = (home.path().join("file"), home.path().join("other"));
        fs::write(&other, "as it was").unwrap();
        let draft = home.path().join(format!(".file.{}", std::process::id()));
        for link in [&path, &draft] {
            symlink(&other, link).unwrap();
            replace(&path, b"new").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert!(!path.is_symlink() && !draft.is_symlink());
        }
        fs::remove_file(&path).unwrap();
        fs::hard_link(&other, &path).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "as it was");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "no draft is left");
        assert!(replace(&home.path().join("absent/file"), b"new").is_err());
    }
}
