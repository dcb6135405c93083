//! Regular files by names that lead to something else where others can put it there. An open of a
//! FIFO waits for a writer, one of a terminal or tape changes it, and what is read of a device never
//! ends: nothing but a regular file is read, and no open waits.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a regular file, or a link to one, to read it. It never waits for a writer of a FIFO.
///
/// # Errors
/// What open(2) answers, and what it is instead where it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_regular_as(OpenOptions::new().read(true), 0, path)
}

/// The bytes of a regular file.
///
/// # Errors
/// As [`open_regular`], and when it cannot be read.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file with these options and flags of open(2).
///
/// # Errors
/// As [`open_regular`].
pub(crate) fn open_regular_as(
    options: &mut OpenOptions,
    flags: i32,
    path: &Path,
) -> io::Result<File> {
    let file = match options.custom_flags(flags | libc::O_NONBLOCK | libc::O_NOCTTY).open(path) {
        Ok(file) => file,
        // Of a socket, and to write into a FIFO that nobody reads (open(2)).
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
            return Err(fs::metadata(path).map_or(error, |found| irregular(found.file_type())));
        }
        Err(error) => return Err(error),
    };
    let kind = file.metadata()?.file_type();
    if !kind.is_file() {
        return Err(irregular(kind));
    }
    // Regular files pass over the flag, but for some of the kernel's: these wait again.
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags.difference(OFlags::NONBLOCK))?;
    Ok(file)
}

fn irregular(kind: FileType) -> io::Error {
    let (error, name) = if kind.is_dir() {
        (io::ErrorKind::IsADirectory, "directory")
    } else if kind.is_fifo() {
        (io::ErrorKind::InvalidInput, "FIFO")
    } else if kind.is_socket() {
        (io::ErrorKind::InvalidInput, "socket")
    } else {
        (io::ErrorKind::InvalidInput, "device")
    };
    io::Error::new(error, format!("it is a {name}, not a file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileAccess, Files, HostFiles, append_to};
    use rustix::fs::{CWD, Mode, mknodat};
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// What it answers, unless it waits.
    fn without_waiting<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = channel();
        std::thread::spawn(move || sender.send(act()));
        receiver.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    fn refusals(path: PathBuf) -> Vec<String> {
        without_waiting(move || {
            let open = |access| HostFiles.open(&path, access).err().unwrap();
            let errors = [
                open_regular(&path).unwrap_err(),
                read_regular(&path).unwrap_err(),
                append_to(&path).unwrap_err(),
                open(FileAccess::Read),
                open(FileAccess::Append),
                open(FileAccess::Overwrite),
                open(FileAccess::Replace),
            ];
            errors.iter().map(ToString::to_string).collect()
        })
    }

    #[test]
    fn a_fifo_a_socket_and_a_device_are_refused_by_name_and_no_open_waits() {
        let home = tempfile::tempdir().unwrap();
        let (fifo, socket) = (home.path().join("fifo"), home.path().join("socket"));
        mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        let cases = [(fifo, "FIFO"), (socket, "socket"), ("/dev/zero".into(), "device")];
        for (path, name) in cases {
            for told in refusals(path) {
                assert!(told.contains(&format!("it is a {name}, not a file")), "{told}");
            }
        }
        let error = open_regular(home.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory, "{error}");
    }

    #[test]
    fn a_link_to_a_file_is_read_and_one_to_a_fifo_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::write(at("file"), "text").unwrap();
        mknodat(CWD, at("fifo"), rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .unwrap();
        for name in ["file", "fifo"] {
            std::os::unix::fs::symlink(at(name), at(&format!("link-to-{name}"))).unwrap();
        }
        assert_eq!(read_regular(&at("link-to-file")).unwrap(), b"text");
        let link = at("link-to-fifo");
        let error = without_waiting(move || open_regular(&link)).unwrap_err();
        assert!(error.to_string().contains("FIFO"), "{error}");
    }

    #[test]
    fn what_is_open_waits_as_any_file_and_keeps_how_it_is_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let appended = append_to(&path).unwrap();
        let flags = fcntl_getfl(&appended).unwrap();
        assert!(flags.contains(OFlags::APPEND) && !flags.contains(OFlags::NONBLOCK), "{flags:?}");
        assert!(!fcntl_getfl(open_regular(&path).unwrap()).unwrap().contains(OFlags::NONBLOCK));
    }
}
