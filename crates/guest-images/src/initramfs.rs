//! An initial file system, in the format the kernel unpacks (newc cpio,
//! Documentation/driver-api/early-userspace/buffer-format.rst). The same content
//! gives the same bytes, in whatever order it was put in.

use artefacts::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

/// Builds an initial file system. Directories on the way are made; the last one to
/// put something at a path wins.
#[derive(Debug, Clone, Default)]
pub struct Initramfs {
    /// Sorted, so that a directory precedes what is in it.
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    mode: u32,
    device: (u32, u32),
    bytes: Vec<u8>,
}

impl Initramfs {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a directory, 0755.
    ///
    /// # Errors
    /// When the path cannot be one.
    pub fn directory(&mut self, path: &str) -> Result<&mut Self> {
        self.put(path, DIRECTORY | 0o755, (0, 0), Vec::new())
    }

    /// Puts a file with these permissions.
    ///
    /// # Errors
    /// When the path cannot be one, or the file is too large for the format.
    pub fn file(&mut self, path: &str, mode: u32, bytes: Vec<u8>) -> Result<&mut Self> {
        self.put(path, FILE | (mode & 0o7777), (0, 0), bytes)
    }

    /// Puts a copy of a file of this machine.
    ///
    /// # Errors
    /// As [`Initramfs::file`], and when it cannot be read.
    pub fn copy(&mut self, path: &str, mode: u32, from: &Path) -> Result<&mut Self> {
        let bytes = fs::read(from).map_err(|error| Error::file("read", from, error))?;
        self.file(path, mode, bytes)
    }

    /// Puts a copy of a file of this machine that may be read, changed and run as here.
    ///
    /// # Errors
    /// When the file cannot be read, or the path cannot be one.
    pub fn take(&mut self, path: &str, from: &Path) -> Result<&mut Self> {
        let metadata = fs::metadata(from).map_err(|error| Error::file("read", from, error))?;
        self.copy(path, metadata.permissions().mode() & 0o777, from)
    }

    /// Puts a symbolic link.
    ///
    /// # Errors
    /// When the path cannot be one.
    pub fn symlink(&mut self, path: &str, target: &str) -> Result<&mut Self> {
        self.put(path, SYMLINK | 0o777, (0, 0), target.as_bytes().to_vec())
    }

    /// Puts `/dev/console` (character device 5:1), where PID 1 has its output before
    /// devtmpfs is mounted.
    ///
    /// # Errors
    /// Never; the signature is that of the others.
    pub fn console(&mut self) -> Result<&mut Self> {
        self.put("dev/console", CHARACTER_DEVICE | 0o600, (5, 1), Vec::new())
    }

    /// Whether something is at this path.
    pub fn contains(&self, path: &str) -> bool {
        self.entries.contains_key(path.trim_matches('/'))
    }

    fn put(
        &mut self,
        path: &str,
        mode: u32,
        device: (u32, u32),
        bytes: Vec<u8>,
    ) -> Result<&mut Self> {
        let name = path.trim_matches('/');
        let refuse = |cause: &str| {
            Err(Error::usage(
                format!("cannot put `{path}` into the initial file system"),
                cause,
                "",
            ))
        };
        let is_path = !name.is_empty()
            && name.len() < 4096
            && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
            && !name.contains('\0')
            && name != "TRAILER!!!";
        if !is_path {
            return refuse("that is no path");
        }
        if u32::try_from(bytes.len()).is_err() {
            return refuse("the format holds files below 4 GiB");
        }
        for (at, _) in name.match_indices('/') {
            let parent = Entry { mode: DIRECTORY | 0o755, device: (0, 0), bytes: Vec::new() };
            let parent = self.entries.entry(name[..at].to_owned()).or_insert(parent);
            if parent.mode & 0o170_000 != DIRECTORY {
                return refuse("something on the way is no directory");
            }
        }
        let below = format!("{name}/");
        let holds_others = self
            .entries
            .range(below.clone()..)
            .next()
            .is_some_and(|(path, _)| path.starts_with(&below));
        if holds_others && mode & 0o170_000 != DIRECTORY {
            return refuse("it is a directory that holds something");
        }
        self.entries.insert(name.to_owned(), Entry { mode, device, bytes });
        Ok(self)
    }

    /// The archive: uncompressed, owned by root, without times.
    pub fn finish(&self) -> Vec<u8> {
        let size: usize =
            self.entries.iter().map(|(name, entry)| 120 + name.len() + entry.bytes.len()).sum();
        let mut archive = Vec::with_capacity(size + 124);
        for (index, (name, entry)) in self.entries.iter().enumerate() {
            write_entry(&mut archive, index as u64 + 1, name, entry);
        }
        let trailer = Entry { mode: 0, device: (0, 0), bytes: Vec::new() };
        write_entry(&mut archive, 0, "TRAILER!!!", &trailer);
        archive
    }
}

fn write_entry(archive: &mut Vec<u8>, inode: u64, name: &str, entry: &Entry) {
    let fields = [
        inode,
        u64::from(entry.mode),
        0, // owner
        0, // group
        1, // links
        0, // time
        entry.bytes.len() as u64,
        0, // device the file is on
        0,
        u64::from(entry.device.0),
        u64::from(entry.device.1),
        name.len() as u64 + 1,
        0, // checksum, unused in this format
    ];
    archive.extend_from_slice(b"070701");
    for field in fields {
        archive.extend_from_slice(format!("{field:08X}").as_bytes());
    }
    archive.extend_from_slice(name.as_bytes());
    archive.push(0);
    pad(archive);
    archive.extend_from_slice(&entry.bytes);
    pad(archive);
}

fn pad(archive: &mut Vec<u8>) {
    archive.resize(archive.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    fn some() -> Initramfs {
        let mut initramfs = Initramfs::new();
        initramfs.file("/init", 0o755, b"#!".to_vec()).unwrap();
        initramfs.directory("proc").unwrap().console().unwrap();
        initramfs.symlink("bin/sh", "../init").unwrap();
        initramfs.file("lib/m/a.ko", 0o644, vec![1; 5]).unwrap();
        initramfs
    }

    #[test]
    fn the_order_of_putting_does_not_reach_the_bytes() {
        let mut other = Initramfs::new();
        other.file("lib/m/a.ko", 0o644, vec![1; 5]).unwrap();
        other.symlink("bin/sh", "../init").unwrap();
        other.file("init", 0o644, b"replaced".to_vec()).unwrap();
        other.console().unwrap().directory("/proc/").unwrap();
        other.file("init", 0o755, b"#!".to_vec()).unwrap();
        assert_eq!(some().finish(), other.finish());
        assert!(other.contains("/init") && !other.contains("etc"));
    }

    #[test]
    fn the_header_is_the_kernels() {
        let archive = some().finish();
        assert!(archive.starts_with(b"07070100000001000041ED"));
        assert_eq!(archive.len() % 4, 0);
        let text = String::from_utf8_lossy(&archive);
        let order = ["bin\0", "bin/sh\0", "dev\0", "dev/console\0", "lib/m\0", "proc\0"];
        let places: Vec<usize> = order.iter().map(|name| text.find(name).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}");
        // 5:1, and a name of 12 bytes.
        assert!(text.contains("00000005000000010000000C00000000dev/console\0"));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let mut initramfs = some();
        for path in ["", "/", "a//b", "../x", "a/./b", "TRAILER!!!", "a\0b", "init/x"] {
            assert!(initramfs.file(path, 0o644, Vec::new()).is_err(), "{path}");
        }
        assert!(initramfs.file("lib", 0o644, Vec::new()).is_err());
    }

    #[test]
    fn cpio_reads_it_where_there_is_one() {
        let Ok(mut child) = Command::new("cpio")
            .args(["-it", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
        else {
            testing::skip("reading an initial file system needs cpio: ./setup --tools");
            return;
        };
        child.stdin.take().unwrap().write_all(&some().finish()).unwrap();
        let output = child.wait_with_output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            listed.lines().collect::<Vec<_>>(),
            ["bin", "bin/sh", "dev", "dev/console", "init", "lib", "lib/m", "lib/m/a.ko", "proc"]
        );
    }
}
