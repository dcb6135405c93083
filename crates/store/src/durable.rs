//! Files that survive a crash: written beside, under a name that nobody can foresee, synced,
//! renamed, the directory synced; read with a limit, so that no stored size is trusted.

use crate::json_location::{told_in_line, told_with_place};
use contract::{Error, ErrorKind, Result};
use model::{OverLimit, ReaderLimit};
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::path::Path;
use sys::{FileAccess, Files, HostFiles};

/// What to do where something else has the place of a file.
const NOT_A_FILE: &str = "look who put it there; give a file, or bring it back from a copy";

/// What to do where something cannot be made or written because of the directory that it lies in.
const NO_DIRECTORY: &str = "make the directory that it is to lie in, or give another path";
/// What to do where a directory has the place of a file that is to be written.
const A_DIRECTORY: &str = "it is a directory: give the name of a file in it";

/// What to do about an I/O error, where its kind tells.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space on that file system, then give the same command: a run resumes"
        }
        io::ErrorKind::FileTooLarge => {
            "raise the file size limit (ulimit -f), then give the same command: a run resumes"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a results directory that you may write"
        }
        io::ErrorKind::AlreadyExists => "give another name, or remove that one first",
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory
            if error.raw_os_error().is_none() =>
        {
            NOT_A_FILE
        }
        _ => "",
    }
}

/// An I/O error with what was attempted on which path.
pub fn failed(action: &str, path: &Path, error: &io::Error) -> Error {
    let attempted = format!("cannot {action} {}", path.display());
    let remedy = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            if matches!(action, "create" | "write") =>
        {
            NO_DIRECTORY
        }
        io::ErrorKind::IsADirectory if action == "write" && error.raw_os_error().is_some() => {
            A_DIRECTORY
        }
        _ => remedy(error),
    };
    Error::new(ErrorKind::Environment, attempted, error, remedy)
}

/// The same of what is only read: no other place to write to would help.
pub fn unreadable(path: &Path, error: &io::Error) -> Error {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "read it as the user who ran the campaign, or have them let you read it"
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory
            if error.raw_os_error().is_none() =>
        {
            NOT_A_FILE
        }
        _ => "",
    };
    Error::new(ErrorKind::Environment, format!("cannot read {}", path.display()), error, remedy)
}

/// Makes a directory's entries durable.
pub fn sync_directory(files: &dyn Files, directory: &Path) -> Result<()> {
    files.sync_directory(directory).map_err(|error| failed("sync the directory", directory, &error))
}

/// Makes a directory with those above it that are not there; these and its own name are durable
/// when this returns. One that is there may have been made by a process that was killed before it
/// synced anything.
pub fn make_directories(files: &dyn Files, directory: &Path) -> Result<()> {
    let is_new = |above: &&Path| !above.as_os_str().is_empty() && !files.exists(above);
    let new = directory.ancestors().take_while(is_new).count();
    files.make_directories(directory).map_err(|error| failed("create", directory, &error))?;
    for made in directory.ancestors().take(new.max(1)) {
        let above = made.parent().filter(|above| !above.as_os_str().is_empty());
        let above = above.unwrap_or(Path::new("."));
        match files.sync_directory(above) {
            // Somebody else made it, in a directory that this user cannot open.
            Err(error) if new == 0 && error.kind() == io::ErrorKind::PermissionDenied => {}
            outcome => outcome.map_err(|error| failed("sync the directory", above, &error))?,
        }
    }
    Ok(())
}

/// Replaces `directory/name` in one step: readers see the old or the new file,
/// never a part of one. What a process leaves that is killed meanwhile goes when the campaign is
/// opened or judged the next time.
pub fn replace(directory: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    replace_on(&HostFiles, directory, name, bytes)
}

/// The same of these files.
pub fn replace_on(files: &dyn Files, directory: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    replace_with(files, directory, name, &mut |file| file.write_all(bytes))
}

/// The same of bytes that are written piece by piece, and need not be held together.
pub fn replace_with(
    files: &dyn Files,
    directory: &Path,
    name: &str,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let target = directory.join(name);
    let written = files.draft(&target).and_then(|mut draft| {
        write(&mut draft)?;
        draft.sync_all()?;
        draft.put()
    });
    written.map_err(|error| failed("write", &target, &error))?;
    sync_directory(files, directory)
}

/// Why a file is refused of which there is more than a limit allows.
pub fn too_much(path: &Path, over: OverLimit) -> Error {
    Error::new(
        ErrorKind::Environment,
        format!("cannot read {}", path.display()),
        over,
        over.limit.remedy,
    )
}

/// The bytes of a file that may not be longer than `limit`.
pub fn read_limited(path: &Path, limit: &'static ReaderLimit) -> Result<Vec<u8>> {
    read_limited_on(&HostFiles, path, limit)
}

/// The same of these files.
pub fn read_limited_on(
    files: &dyn Files,
    path: &Path,
    limit: &'static ReaderLimit,
) -> Result<Vec<u8>> {
    let broken = |error: io::Error| unreadable(path, &error);
    let check = |bytes: u64| limit.check(bytes).map_err(|over| too_much(path, over));
    let file = files.open(path, FileAccess::Read).map_err(broken)?;
    // Of a longer one not even a part is held; it may have grown by the time it is read.
    check(file.length().map_err(broken)?)?;
    let mut bytes = Vec::new();
    file.take(limit.most + 1).read_to_end(&mut bytes).map_err(broken)?;
    check(bytes.len() as u64)?;
    Ok(bytes)
}

/// A versioned JSON document. A version this program does not know is said to
/// be one, rather than reported as whatever field it trips over.
pub fn read_document<T: DeserializeOwned>(
    files: &dyn Files,
    path: &Path,
    limit: &'static ReaderLimit,
    known: &[&str],
) -> Result<T> {
    let bytes = read_limited_on(files, path, limit)?;
    parse_document(&bytes, &path.display().to_string(), known)
}

/// The same for text in memory; `place` names it in errors, which also name the field.
pub fn parse_document<T: DeserializeOwned>(bytes: &[u8], place: &str, known: &[&str]) -> Result<T> {
    let parsed = serde_json::from_slice(bytes);
    check_format(bytes, place, known)?;
    parsed.map_err(|error| broken(place, told_with_place(bytes, &error)))
}

/// The same for one line of a file, which `place` names with its number.
pub fn parse_line<T: DeserializeOwned>(line: &[u8], place: &str, known: &[&str]) -> Result<T> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let parsed = serde_json::from_slice(line);
    check_format(line, place, known)?;
    parsed.map_err(|error| broken(place, told_in_line(line, &error)))
}

/// Refuses a document that says of itself that it has a format which is not known.
fn check_format(bytes: &[u8], place: &str, known: &[&str]) -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        format: String,
    }
    match serde_json::from_slice::<Versioned>(bytes) {
        Ok(found) if !known.contains(&found.format.as_str()) => Err(Error::new(
            ErrorKind::Environment,
            not_understood(place),
            format!(
                "its format is `{}`, this program reads `{}`",
                found.format,
                known.join("`, `")
            ),
            "read it with the version of schedlab that wrote it",
        )),
        _ => Ok(()),
    }
}

fn broken(place: &str, why: String) -> Error {
    Error::environment(not_understood(place), why)
}

fn not_understood(place: &str) -> String {
    format!("cannot understand {place}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    /// What a draft of a document had for a name.
    const FORMER_DRAFT: &str = ".state.json.partial";

    static FOUR_BYTES: ReaderLimit =
        ReaderLimit { name: "FOUR_BYTES", most: 4, unit: "bytes", remedy: "give less" };

    #[test]
    fn a_file_is_read_up_to_its_limit_and_refused_beyond_by_the_name_of_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_limited(&path, &FOUR_BYTES).unwrap(), b"four");
        fs::write(&path, "fifth").unwrap();
        let error = read_limited(&path, &FOUR_BYTES).unwrap_err();
        assert_eq!(error.cause, "more than 4 bytes (limit FOUR_BYTES): 5 were found");
        assert_eq!(error.remedy, "give less");
    }

    #[test]
    fn a_directory_or_file_with_the_former_name_of_a_draft_stops_no_replacement_and_stays() {
        let home = tempfile::tempdir().unwrap();
        let (document, beside) = (home.path().join("state.json"), home.path().join(FORMER_DRAFT));
        fs::create_dir(&beside).unwrap();
        replace(home.path(), "state.json", b"one").unwrap();
        assert_eq!(fs::read(&document).unwrap(), b"one");
        fs::remove_dir(&beside).unwrap();
        fs::write(&beside, "theirs").unwrap();
        fs::set_permissions(&beside, Permissions::from_mode(0o666)).unwrap();
        replace(home.path(), "state.json", b"two").unwrap();
        assert_eq!(fs::read(&document).unwrap(), b"two");
        assert_eq!(fs::metadata(&document).unwrap().permissions().mode() & 0o022, 0);
        assert_eq!(fs::read(&beside).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "no draft is left");
    }

    #[test]
    fn what_cannot_be_written_where_it_was_asked_for_says_what_to_do() {
        let home = tempfile::tempdir().unwrap();
        let absent = replace(&home.path().join("absent"), "state.json", b"one").unwrap_err();
        assert_eq!(absent.remedy, NO_DIRECTORY);
        fs::write(home.path().join("file"), "one").unwrap();
        let below = make_directories(&HostFiles, &home.path().join("file/results")).unwrap_err();
        assert_eq!(below.remedy, NO_DIRECTORY);
        fs::create_dir(home.path().join("directory")).unwrap();
        let taken = replace(home.path(), "directory", b"one").unwrap_err();
        assert_eq!(taken.remedy, A_DIRECTORY);
        let kernel = make_directories(&HostFiles, Path::new("/proc/results")).unwrap_err();
        assert!(!kernel.remedy.is_empty(), "{kernel}");
    }

    #[test]
    fn a_document_that_cannot_get_its_name_leaves_no_draft() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("state.json")).unwrap();
        let error = replace(home.path(), "state.json", b"one").unwrap_err();
        assert!(error.attempted.contains("cannot write"), "{error}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
