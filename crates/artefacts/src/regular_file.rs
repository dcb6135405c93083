//! Files of a cache in which others may put anything: nothing but a regular file is read, no open
//! waits, and no more is held than a limit allows. A cache is listed although others may write it.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file, or a link to one, to read it. It never waits for a writer of a FIFO.
///
/// # Errors
/// What open(2) answers, and where it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_as(path, OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// The bytes of a regular file, or of one that a link leads to, unless there are more than `most`.
///
/// # Errors
/// As [`open_regular`], when it cannot be read, and when it is longer.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_within(open_regular(path)?, most)
}

/// The bytes of a regular file, unless there are more than `most`. A link is refused: caches have none
/// in place of what says what an entry is.
///
/// # Errors
/// As [`read_regular`].
pub fn read_entry(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_within(open_as(path, OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW)?, most)
}

/// Regular files of disks pass over the flag not to wait (open(2)).
fn open_as(path: &Path, flags: OFlags) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

fn read_within(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let cause = format!("it is longer than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, cause));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn a_fifo_a_device_and_a_long_file_are_refused_and_no_open_waits() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        symlink("/dev/zero", at("zeros")).unwrap();
        // Sparse: it reads as zeros and takes no room.
        File::create(at("long")).unwrap().set_len(3 << 30).unwrap();
        fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        let paths = ["fifo", "zeros", "long", "file", "link"].map(at);
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let read =
                |path: &std::path::PathBuf| [read_regular(path, 4).ok(), read_entry(path, 4).ok()];
            sender.send(paths.each_ref().map(read)).unwrap();
        });
        let text = Some(b"text".to_vec());
        let found = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        let none = [None, None];
        let expected =
            [none.clone(), none.clone(), none, [text.clone(), text.clone()], [text, None]];
        assert_eq!(found, expected);
        assert!(read_entry(&at("file"), 3).is_err());
    }
}
