//! What a build user leaves, taken over as bytes: a link in its place would lead root to a file
//! that the user cannot reach.

use artefacts::{Error, Result, replace_by};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Opens a regular file below a directory; nothing on the way there is a link.
///
/// # Errors
/// When it is not there, or no regular file.
pub(crate) fn open_below(directory: &Path, inside: &Path) -> Result<File> {
    let path = directory.join(inside);
    let fail = |error: io::Error| Error::file("take over", &path, error);
    let base = File::open(directory).map_err(fail)?;
    // A pipe must not keep us waiting.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let opened = openat2(&base, inside, flags, Mode::empty(), resolve);
    let file = File::from(opened.map_err(|error| fail(error.into()))?);
    if !file.metadata().map_err(fail)?.is_file() {
        return Err(fail(io::Error::other("it is no regular file")));
    }
    Ok(file)
}

/// Copies a file that a build user left below `directory` to a place of ours, with this mode. It
/// appears there in one step.
///
/// # Errors
/// When it is not there, is no regular file or is reached by a link; or cannot be written.
pub fn take_file(directory: &Path, inside: &Path, to: &Path, mode: u32) -> Result<()> {
    let mut from = open_below(directory, inside)?;
    let fail = |error: io::Error| Error::file("write", to, error);
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    let copied = replace_by(to, |file| {
        io::copy(&mut from, file)?;
        file.set_permissions(Permissions::from_mode(mode))
    });
    copied.map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_taken_over_and_a_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let left = place.path().join("left");
        fs::create_dir_all(left.join("bin")).unwrap();
        fs::write(left.join("bin/program"), "bytes").unwrap();
        fs::write(place.path().join("secret"), "secret").unwrap();
        symlink("../../secret", left.join("bin/link")).unwrap();
        symlink("bin", left.join("other")).unwrap();
        let to = place.path().join("ours/program");
        take_file(&left, Path::new("bin/program"), &to, 0o755).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "bytes");
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o755);
        let elsewhere = place.path().join("ours/elsewhere");
        for inside in ["bin/link", "other/program", "../secret", "bin", "absent"] {
            assert!(take_file(&left, Path::new(inside), &elsewhere, 0o644).is_err(), "{inside}");
        }
        assert!(!elsewhere.exists());
    }

    #[test]
    fn nothing_beside_what_is_taken_over_is_written_or_removed() {
        let place = tempfile::tempdir().unwrap();
        let (left, to) = (place.path().join("left"), place.path().join("program"));
        let (victim, beside) = (place.path().join("victim"), place.path().join("program.part"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("program"), "bytes").unwrap();
        fs::write(&victim, "as it was").unwrap();
        symlink(&victim, &beside).unwrap();
        take_file(&left, Path::new("program"), &to, 0o755).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "bytes");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "as it was");
        assert!(beside.is_symlink());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 4);
    }
}
