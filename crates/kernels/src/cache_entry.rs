//! A kernel's directory in the cache: its files, its name, and how one is put together.

use crate::{Kernel, Package};
use artefacts::{Error, Result, read_entry};
use model::{CACHE_DOCUMENT_BYTES, KernelVersion};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The format of `kernel.json`.
pub const FORMAT: &str = "schedlab.kernel/1";
/// What is known of a kernel.
pub const STORED: &str = "kernel.json";
/// Its bootable image.
pub const IMAGE: &str = "vmlinuz";
/// Its configuration.
pub const CONFIG: &str = "config";
/// Its modules.
pub const MODULES: &str = "modules";
/// Directories that begin so are unfinished, and no kernels.
pub const INCOMING: &str = ".incoming-";

/// `kernel.json`: what is known of a cached kernel; its files lie beside it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stored {
    /// [`FORMAT`].
    pub format: String,
    /// `debian:6.12.38-1`, `build:NAME`.
    pub name: String,
    /// As `uname -r` says it.
    pub release: String,
    /// Its version.
    pub version: KernelVersion,
    /// SHA-256 of its image.
    pub digest: String,
    /// The digest of its modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modules_digest: Option<String>,
    /// The packages it came in.
    #[serde(default)]
    pub packages: Vec<Package>,
    /// What it was built from, of a build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A kernel's directory: its name, without the colon.
pub fn directory_name(name: &str) -> String {
    name.replace([':', '/'], "-")
}

/// A kernel of the cache; nothing where the directory holds no whole one. A user who lists a cache need
/// not trust those who may write it.
pub fn read_stored(directory: &Path) -> Option<Kernel> {
    let text = read_entry(&directory.join(STORED), CACHE_DOCUMENT_BYTES.most).ok()?;
    let stored: Stored = serde_json::from_slice(&text).ok()?;
    let image = directory.join(IMAGE);
    if stored.format != FORMAT || !image.is_file() {
        return None;
    }
    Some(Kernel {
        name: stored.name,
        release: stored.release,
        version: stored.version,
        image,
        modules: Some(directory.join(MODULES)).filter(|path| path.is_dir()),
        config: Some(directory.join(CONFIG)).filter(|path| path.is_file()),
        digest: stored.digest,
        modules_digest: stored.modules_digest,
        packages: stored.packages,
        origin: stored.origin,
    })
}

/// Writes what is known of a kernel.
///
/// # Errors
/// When the file cannot be written.
pub fn write_stored(directory: &Path, stored: &Stored) -> Result<()> {
    let path = directory.join(STORED);
    let fail = |error: std::io::Error| Error::file("write", &path, error);
    let mut text = serde_json::to_vec_pretty(stored).map_err(|error| fail(error.into()))?;
    text.push(b'\n');
    fs::write(&path, text).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_kernel_is_read_up_to_its_limit_and_a_longer_file_is_none() {
        let home = tempfile::tempdir().unwrap();
        let stored = Stored {
            format: FORMAT.to_owned(),
            name: "build:small".to_owned(),
            release: "6.12.1".to_owned(),
            version: "6.12.1".parse().unwrap(),
            digest: String::new(),
            modules_digest: None,
            packages: Vec::new(),
            origin: None,
        };
        write_stored(home.path(), &stored).unwrap();
        fs::write(home.path().join(IMAGE), "image").unwrap();
        let page = home.path().join(STORED);
        let mut text = fs::read(&page).unwrap();
        // Blanks behind it belong to no value.
        text.resize(usize::try_from(CACHE_DOCUMENT_BYTES.most).unwrap(), b' ');
        fs::write(&page, &text).unwrap();
        assert!(read_stored(home.path()).is_some());
        text.push(b' ');
        fs::write(&page, &text).unwrap();
        assert!(read_stored(home.path()).is_none());
    }
}
