//! What lies below a directory.

use crate::{Error, ErrorKind, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of one directory that is taken along whole; a service with all that it is built of has
/// some ten thousand.
const MOST_FILES: usize = 200_000;

/// Every file and link below a directory, by its path from there. Links are not followed;
/// what is neither file nor link is left out.
///
/// # Errors
/// When a directory cannot be read, or there is far too much.
pub fn files_below(directory: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut work = vec![PathBuf::new()];
    while let Some(inside) = work.pop() {
        let path = directory.join(&inside);
        let fail = |error| Error::file("read the directory", &path, error);
        for entry in fs::read_dir(&path).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let kind = entry.file_type().map_err(fail)?;
            let inside = inside.join(entry.file_name());
            if kind.is_dir() {
                work.push(inside);
            } else if kind.is_file() || kind.is_symlink() {
                found.insert(inside);
            }
        }
        if found.len() > MOST_FILES {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("cannot take {} along", directory.display()),
                format!("it holds more than {MOST_FILES} files"),
                "name the part of it that is needed",
            ));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_listed_and_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("lib/deep")).unwrap();
        fs::create_dir(at("empty")).unwrap();
        fs::write(at("lib/deep/a.jar"), "").unwrap();
        fs::write(at("b"), "").unwrap();
        symlink("lib", at("link")).unwrap();
        symlink("/nowhere", at("dangling")).unwrap();
        let found = files_below(directory.path()).unwrap();
        let found: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
        assert_eq!(found, ["b", "dangling", "lib/deep/a.jar", "link"]);
        assert!(files_below(&at("b")).is_err());
    }
}
