//! Files of the host that guests get at the same path: small ones lie in their memory, large
//! ones and directories on a read-only disk, where they take none of it.

use super::guest_layout::{DIRECTORIES, FILES_PLACE, way_into};
use super::vm_host::VmHost;
use crate::errors::artefact_error;
use artefacts::guest_path;
use contract::{Error, Result};
use guest_images::{Content, NeededFile};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A file in a guest's root takes its size of memory as long as the guest runs, and once more
/// while it boots; programs are smaller than this, and guests have 512 MiB where nothing is said.
const MOST_IN_MEMORY_BYTES: u64 = 32 << 20;

/// What a guest's root holds of the host's.
#[derive(Debug, Default)]
pub(crate) struct GuestFiles {
    /// Copies: path in the guest, path on the host.
    pub copies: Vec<(PathBuf, PathBuf)>,
    /// Links: path in the guest, and where it leads there.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// The disk with all that is large.
    pub disk: Option<File>,
    /// Where programs begin: where ours did, if anything below it was taken along. What a plan
    /// names by a relative path is so found by the same one.
    pub directory: Option<PathBuf>,
}

impl GuestFiles {
    /// The files and directories at these paths, programs with their libraries.
    ///
    /// # Errors
    /// When one cannot be taken along, or a disk is needed and cannot be made.
    pub(crate) fn at(host: &VmHost, paths: &[PathBuf]) -> Result<Self> {
        Self::of(host, with_libraries(host, paths)?, None)
    }

    /// What was collected, for programs that begin in this directory here.
    ///
    /// # Errors
    /// As of [`Self::at`].
    pub(crate) fn of(host: &VmHost, needed: Vec<NeededFile>, here: Option<&Path>) -> Result<Self> {
        let is_taken = |here: &&Path| needed.iter().any(|file| file.guest.starts_with(here));
        let is_root = |here: &Path| here.parent().is_none();
        let directory = here.filter(|here| !is_root(here)).filter(is_taken).map(Path::to_owned);
        let Parts { mut files, large } = part(needed, is_large)?;
        files.directory = directory;
        if !large.is_empty() {
            let search_path = host.host.machine.search_path();
            let disk = guest_images::files_image(&large, &host.cache, search_path);
            files.disk = Some(disk.map_err(artefact_error)?);
        }
        Ok(files)
    }
}

/// Host files and, of programs, the libraries they need.
///
/// # Errors
/// When a file cannot be read, or a library is nowhere.
pub(crate) fn with_libraries(host: &VmHost, paths: &[PathBuf]) -> Result<Vec<NeededFile>> {
    let search_path = host.host.machine.search_path();
    let mut needed = Vec::new();
    for path in paths {
        needed.extend(guest_images::with_libraries(path, search_path).map_err(artefact_error)?);
    }
    Ok(needed)
}

/// Whether this is for the disk; what is not there is for nothing.
pub(crate) fn is_large(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_dir() || found.len() > MOST_IN_MEMORY_BYTES)
}

#[derive(Default)]
struct Parts {
    files: GuestFiles,
    /// For the disk: path in the guest, path on the host.
    large: Vec<(PathBuf, PathBuf)>,
}

/// Parts what is large from the rest, and links what of it guests do not lay over their /usr.
fn part(needed: Vec<NeededFile>, is_large: impl Fn(&Path) -> bool) -> Result<Parts> {
    let of_directory = |file: &NeededFile| match &file.content {
        Content::Directory(_) => Some(file.guest.clone()),
        Content::File(_) | Content::Link(_) => None,
    };
    let whole: Vec<PathBuf> = needed.iter().filter_map(of_directory).collect();
    let mut parts = Parts::default();
    for NeededFile { guest, content } in needed {
        if whole.iter().any(|directory| guest != *directory && guest.starts_with(directory)) {
            continue;
        }
        match content {
            Content::Link(target) => parts.files.links.push((guest, target)),
            Content::File(host) if !is_large(&host) => parts.files.copies.push((guest, host)),
            Content::File(host) => parts.large.push((guest, host)),
            Content::Directory(host) => {
                refuse_own(&guest)?;
                parts.large.push((guest, host));
            }
        }
    }
    for (guest, _) in &parts.large {
        parts.files.links.extend(way_into(FILES_PLACE, &guest_path(guest)));
    }
    Ok(parts)
}

/// A directory that every guest has cannot be one of the host's as well.
fn refuse_own(guest: &Path) -> Result<()> {
    let place = guest_path(guest);
    if DIRECTORIES.iter().any(|own| Path::new(own).starts_with(&place)) {
        let attempted = format!("cannot take {} into the guest", guest.display());
        return Err(Error::usage(attempted, "the guest has its own", "name what is needed of it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> NeededFile {
        NeededFile { guest: path.into(), content: Content::File(path.into()) }
    }

    fn directory(path: &str) -> NeededFile {
        NeededFile { guest: path.into(), content: Content::Directory(path.into()) }
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(PathBuf, PathBuf)> {
        pairs.iter().map(|(from, to)| (from.into(), to.into())).collect()
    }

    #[test]
    fn what_is_large_lies_on_the_disk_and_is_found_where_it_was() {
        let java = NeededFile {
            guest: "/usr/bin/java".into(),
            content: Content::Link("/usr/lib/jvm/bin/java".into()),
        };
        let needed = vec![
            java,
            file("/usr/lib/jvm/bin/java"),
            file("/srv/bank.jar"),
            file("/lib/x86_64-linux-gnu/libLLVM.so"),
            directory("/srv/broker/lib"),
            // It comes with the directory.
            file("/srv/broker/lib/a.jar"),
            file("/srv/broker/library"),
        ];
        let is_large = |path: &Path| path.ends_with("bank.jar") || path.ends_with("libLLVM.so");
        let Parts { files, large } = part(needed, is_large).unwrap();
        let own = |paths: &[&str]| pairs(&paths.iter().map(|it| (*it, *it)).collect::<Vec<_>>());
        assert_eq!(files.copies, own(&["/usr/lib/jvm/bin/java", "/srv/broker/library"]));
        let on_disk = ["/srv/bank.jar", "/lib/x86_64-linux-gnu/libLLVM.so", "/srv/broker/lib"];
        assert_eq!(large, own(&on_disk));
        // Below /usr the disk is laid over what is there.
        assert_eq!(
            files.links,
            pairs(&[
                ("/usr/bin/java", "/usr/lib/jvm/bin/java"),
                ("/srv/bank.jar", "/schedlab/files/srv/bank.jar"),
                ("/srv/broker/lib", "/schedlab/files/srv/broker/lib"),
            ])
        );
    }

    #[test]
    fn directories_that_every_guest_has_are_refused() {
        for own in ["/", "/etc", "/tmp/", "/var"] {
            assert!(part(vec![directory(own)], |_| false).is_err(), "{own}");
        }
        for fine in ["/etc/java", "/tmp/bank", "/var/lib/x", "/usr/lib/jvm", "/opt"] {
            part(vec![directory(fine)], |_| false).unwrap();
        }
    }
}
