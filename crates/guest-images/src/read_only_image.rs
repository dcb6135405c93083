//! A read-only file system of files of this machine (squashfs), for guests to mount: its root
//! is a part of theirs. The same files with the same times give the same bytes.

use artefacts::guest_path;
use artefacts::programs::{Programs, command, output_of};
use artefacts::{Error, Result, remove_tree};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// In the name of what is not finished yet.
const UNFINISHED: &str = ".unfinished-";
/// The part of a root that guests lay an image's own over.
const USR: &str = "usr";

/// Place below the root of a guest, and path of the file here.
pub(crate) type Files = BTreeMap<PathBuf, PathBuf>;

/// How much is done to make an image small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// For an image that is kept.
    Compressed,
    /// For one that is made anew each time.
    Plain,
}

impl Packing {
    fn words(self) -> &'static [&'static str] {
        match self {
            Packing::Compressed => &["-comp", "zstd"],
            // Neither inodes, data, fragments nor identifiers.
            Packing::Plain => &["-noI", "-noD", "-noF", "-noX"],
        }
    }
}

/// The program that makes images.
pub(crate) fn maker(programs: &Programs, attempted: &str) -> Result<PathBuf> {
    programs.need("mksquashfs", attempted, "apt-get install squashfs-tools")
}

/// Makes an image in this directory and passes its path to a function: it is gone when
/// that returns, moved or open. Nobody else may work in the directory meanwhile.
pub(crate) fn make<T>(
    files: &Files,
    directory: &Path,
    maker: &Path,
    packing: Packing,
    attempted: &str,
    keep: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    fs::create_dir_all(directory).map_err(|error| Error::file("make", directory, error))?;
    artefacts::commit_entry::sweep(directory, UNFINISHED)?;
    let draft = directory.join(format!("{UNFINISHED}{}", std::process::id()));
    let (root, image) = (draft.join("root"), draft.join("image"));
    let outcome = stage(files, &root)
        .and_then(|()| squash(maker, &root, &image, packing, attempted))
        .and_then(|()| keep(&image));
    // The outcome matters; a later image sweeps again.
    let _ = remove_tree(&draft);
    outcome
}

/// Whether a place is one of those that an image is laid over; links lead to all others.
pub(crate) fn is_below_usr(place: &Path) -> bool {
    place.starts_with(USR)
}

fn stage(files: &Files, root: &Path) -> Result<()> {
    // Guests lay it over their own whatever is in it.
    let usr = root.join(USR);
    fs::create_dir_all(&usr).map_err(|error| Error::file("make", &usr, error))?;
    for (place, host) in files {
        let to = root.join(place);
        let parent = to.parent().unwrap_or(root);
        fs::create_dir_all(parent).map_err(|error| Error::file("make", parent, error))?;
        let fail = |error| Error::file("copy", host, error);
        let metadata = host.symlink_metadata().map_err(fail)?;
        match kept_link(files, place, host) {
            Some(target) => symlink(&target, &to).map_err(fail)?,
            None => {
                fs::copy(host, &to).map_err(fail)?;
            }
        }
        set_time(&to, metadata.mtime())?;
    }
    forget_times(root)
}

/// What the link here says in the image; none where a file is copied, of a link to what the
/// image has not too: alternatives and configuration lie elsewhere.
fn kept_link(files: &Files, place: &Path, host: &Path) -> Option<PathBuf> {
    let target = fs::read_link(host).ok()?;
    let neighbour = place.with_file_name(&target);
    if target.components().count() == 1 && files.contains_key(&neighbour) {
        return Some(target);
    }
    match fs::canonicalize(host) {
        Ok(real) if files.contains_key(&guest_path(&real)) => {
            Some(Path::new("/").join(guest_path(&real)))
        }
        Ok(real) if real.is_file() => None,
        // A directory, or nothing.
        _ => Some(target),
    }
}

/// Directories have the time at which they were staged, which is nothing of the files'.
fn forget_times(directory: &Path) -> Result<()> {
    let fail = |error| Error::file("read the directory", directory, error);
    for entry in fs::read_dir(directory).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if entry.file_type().map_err(fail)?.is_dir() {
            forget_times(&entry.path())?;
        }
    }
    set_time(directory, 0)
}

/// A file keeps the time of its last change: programs compare it with what they remember of
/// the file, as a Java machine does with archives of classes.
fn set_time(path: &Path, time_s: i64) -> Result<()> {
    let time = Timespec { tv_sec: time_s, tv_nsec: 0 };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| Error::file("set the time of", path, error))
}

fn squash(
    maker: &Path,
    root: &Path,
    image: &Path,
    packing: Packing,
    attempted: &str,
) -> Result<()> {
    let mut squash = command(maker);
    // The same files give the same bytes: no owner, no time of its own.
    let words = [
        "-noappend",
        "-all-root",
        "-no-xattrs",
        "-no-exports",
        "-no-progress",
        "-quiet",
        "-reproducible",
        "-mkfs-time",
        "0",
    ];
    squash.arg(root).arg(image).args(words.iter().chain(packing.words()).map(OsStr::new));
    squash.env_remove("SOURCE_DATE_EPOCH");
    output_of(&mut squash, attempted).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staged_links_lead_to_something() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("usr")).unwrap();
        fs::write(at("tool-1"), "tool").unwrap();
        fs::write(at("conf"), "conf").unwrap();
        symlink("tool-1", at("tool")).unwrap();
        symlink(at("tool-1"), at("alternative")).unwrap();
        symlink(at("conf"), at("configuration")).unwrap();
        symlink("conf", at("lone-neighbour")).unwrap();
        symlink("/no/such/file", at("dangling")).unwrap();
        // The image has the program where it really is, and links to it elsewhere.
        let mut files: Files = ["tool", "alternative", "configuration", "lone-neighbour"]
            .map(|name| (Path::new("usr/bin").join(name), at(name)))
            .into();
        files.insert("usr/bin/tool-1".into(), at("tool-1"));
        files.insert("opt/dangling".into(), at("dangling"));
        let real = guest_path(&fs::canonicalize(at("tool-1")).unwrap());
        files.insert(real.clone(), at("tool-1"));
        stage(&files, &at("root")).unwrap();
        let link = |place: &str| fs::read_link(at("root").join(place)).ok();
        let text = |place: &str| fs::read_to_string(at("root").join(place)).unwrap();
        assert_eq!(link("usr/bin/tool"), Some("tool-1".into()));
        assert_eq!(text("usr/bin/tool"), "tool");
        assert_eq!(link("usr/bin/alternative"), Some(Path::new("/").join(real)));
        assert_eq!(
            (link("usr/bin/configuration"), text("usr/bin/configuration")),
            (None, "conf".into())
        );
        assert_eq!(
            (link("usr/bin/lone-neighbour"), text("usr/bin/lone-neighbour")),
            (None, "conf".into())
        );
        assert_eq!(link("opt/dangling"), Some("/no/such/file".into()));
    }

    #[test]
    fn files_keep_their_times_and_directories_have_none() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.jar");
        fs::write(&file, "PK").unwrap();
        set_time(&file, 1_700_000_000).unwrap();
        let root = directory.path().join("root");
        stage(&[("opt/a.jar".into(), file)].into(), &root).unwrap();
        let time = |place: &str| root.join(place).metadata().unwrap().mtime();
        assert_eq!(time("opt/a.jar"), 1_700_000_000);
        assert_eq!([time(""), time("opt"), time("usr")], [0; 3]);
    }
}
