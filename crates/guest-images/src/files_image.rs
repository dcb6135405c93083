//! A read-only image of the user's own files and directories, for what is too large for a
//! guest's memory. It is made anew each time, because files that are built change often, and
//! it has no name: it is gone when the last process closes it.

use crate::read_only_image::{Files, Packing, make, maker};
use artefacts::files_below;
use artefacts::guest_path;
use artefacts::lock::CacheLock;
use artefacts::programs::Programs;
use artefacts::{Error, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The image of files and directories: path in the guest, path here.
///
/// # Errors
/// When one cannot be read, there is no room, or no mksquashfs.
pub fn files_image(wanted: &[(PathBuf, PathBuf)], cache: &Path, search_path: &str) -> Result<File> {
    let attempted = "cannot make an image of files for guests";
    let mksquashfs = maker(&Programs::new(search_path), attempted)?;
    let mut files = Files::new();
    for (guest, host) in wanted {
        if host.is_dir() {
            for inside in files_below(host)? {
                files.insert(guest_path(&guest.join(&inside)), host.join(inside));
            }
        } else {
            // What a link leads to: the image has it at no other place.
            let host = fs::canonicalize(host).map_err(|error| Error::file("find", host, error))?;
            files.insert(guest_path(guest), host);
        }
    }
    let _lock = CacheLock::acquire(cache, &mut |_| {})?;
    make(&files, &cache.join("tools"), &mksquashfs, Packing::Plain, attempted, |made| {
        File::open(made).map_err(|error| Error::file("open", made, error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::process::Command;

    fn bytes(mut file: File) -> Vec<u8> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_same_files_give_the_same_bytes_and_leave_nothing() {
        let search_path = "/usr/bin:/bin";
        if Programs::new(search_path).find("mksquashfs").is_none() {
            testing::skip("an image of files needs mksquashfs: ./setup --tools");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let (lib, jar) = (directory.path().join("lib"), directory.path().join("bank.jar"));
        fs::create_dir_all(lib.join("deep")).unwrap();
        fs::write(lib.join("deep/a.jar"), vec![1; 10_000]).unwrap();
        fs::write(&jar, "PK").unwrap();
        let cache = directory.path().join("cache");
        let wanted = [("/opt/lib".into(), lib), ("/bin/bank.jar".into(), jar)];
        let image = || files_image(&wanted, &cache, search_path).unwrap();
        let (first, second) = (image(), image());
        let left = fs::read_dir(cache.join("tools")).unwrap().count();
        assert_eq!(left, 0);
        let path = format!("/proc/{}/fd/{}", std::process::id(), first.as_raw_fd());
        if let Ok(output) = Command::new("unsquashfs").args(["-lc", "-d", "", &path]).output() {
            let listed = String::from_utf8(output.stdout).unwrap();
            let names: Vec<&str> = listed.lines().filter(|line| line.ends_with(".jar")).collect();
            assert_eq!(names, ["/opt/lib/deep/a.jar", "/usr/bin/bank.jar"]);
        }
        assert_eq!(bytes(first), bytes(second));
    }
}
