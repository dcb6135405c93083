//! Where a guest has what.

use std::path::{Path, PathBuf};

/// Directories of every guest, besides those of its /usr.
pub(crate) const DIRECTORIES: [&str; 9] =
    ["dev", "proc", "sys", "run", "tmp", "root", "etc", "mnt", "var/tmp"];
/// Where read-only disks are mounted; their /usr is laid over the guest's, and links lead to
/// the rest.
pub(crate) const FILES_PLACE: &str = "/schedlab/files";
pub(crate) const TOOLS_PLACE: &str = "/schedlab/tools";

/// The link to what lies at a place of a read-only disk, and where it leads; none where the disk
/// is laid over the guest's own.
pub(crate) fn way_into(disk: &str, place: &Path) -> Option<(PathBuf, PathBuf)> {
    let is_laid_over = place.starts_with("usr");
    (!is_laid_over).then(|| (Path::new("/").join(place), Path::new(disk).join(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_what_is_not_laid_over_the_guests_own() {
        let way = |place: &str| way_into(TOOLS_PLACE, Path::new(place));
        let java = "etc/java-17-openjdk/net.properties";
        let (from, to) = (format!("/{java}"), format!("/schedlab/tools/{java}"));
        assert_eq!(way(java), Some((from.into(), to.into())));
        assert_eq!(way("usr/bin/java"), None);
    }
}
