//! A kernel that is here: its image, modules and configuration.

use artefacts::{Error, Result, digest, read_regular};
use model::{CACHE_DOCUMENT_BYTES, KernelVersion};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// The first series whose fair scheduler is EEVDF (kernel/sched/fair.c of 6.6).
const FIRST_EEVDF: KernelVersion = KernelVersion::series(6, 6);
/// The first series of Debian that is known to switch sched_ext on; 6.12 leaves it
/// off (measured). The configuration decides once the kernel is here.
const FIRST_DEBIAN_SCX: KernelVersion = KernelVersion::series(6, 18);

/// What schedules ordinary tasks in a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulerClass {
    /// The completely fair scheduler, before 6.6.
    Cfs,
    /// Earliest eligible virtual deadline first, from 6.6.
    Eevdf,
    /// EEVDF, and schedulers may be loaded as BPF programs.
    EevdfScx,
}

impl SchedulerClass {
    /// The class of a word in a kernel's name.
    pub(crate) fn by_word(word: &str) -> Option<Self> {
        [Self::Cfs, Self::Eevdf, Self::EevdfScx].into_iter().find(|class| class.word() == word)
    }

    /// The word in a kernel's name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Cfs => "cfs",
            Self::Eevdf => "eevdf",
            Self::EevdfScx => "scx",
        }
    }

    /// Whether a kernel of class `self` is meant by the word of class `wanted`:
    /// one with sched_ext runs EEVDF as long as nothing is loaded.
    pub fn serves(self, wanted: SchedulerClass) -> bool {
        self == wanted || (self == Self::EevdfScx && wanted == Self::Eevdf)
    }

    /// What is known of a Debian kernel before it is here.
    pub(crate) fn of_debian(version: KernelVersion) -> Self {
        match version {
            version if version < FIRST_EEVDF => Self::Cfs,
            version if version < FIRST_DEBIAN_SCX => Self::Eevdf,
            _ => Self::EevdfScx,
        }
    }
}

impl fmt::Display for SchedulerClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cfs => "CFS",
            Self::Eevdf => "EEVDF",
            Self::EevdfScx => "EEVDF+scx",
        })
    }
}

/// A package a kernel came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Digest of the .deb, as the signed index tells it.
    pub sha256: String,
    /// Size of the .deb in bytes.
    pub size: u64,
    /// Bytes it takes unpacked; an estimate of the archive.
    #[serde(default)]
    pub installed_size: u64,
    /// The suite whose index names it.
    pub suite: String,
}

/// A kernel that can be booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Pinned: `debian:6.12.117-1~deb12u1`, `path:/boot/vmlinuz`, `host`, `build:mine`.
    pub name: String,
    /// What `uname -r` says in it.
    pub release: String,
    /// Upstream's version.
    pub version: KernelVersion,
    /// The bootable image.
    pub image: PathBuf,
    /// The directory that holds `kernel/` and `modules.builtin`.
    pub modules: Option<PathBuf>,
    /// The configuration it was built with.
    pub config: Option<PathBuf>,
    /// SHA-256 of the image.
    pub digest: String,
    /// The digest of its modules when it came ([`artefacts::digest::of_tree`]); unknown of what
    /// earlier versions put into the cache, and of what is no part of it.
    pub modules_digest: Option<String>,
    /// The packages it came in; none for `path:`, `host` and `build:`.
    pub packages: Vec<Package>,
    /// What it was built from, of `build:`.
    pub origin: Option<String>,
}

impl Kernel {
    /// A value of the configuration: `config_value("CONFIG_HZ")` is `250`; strings
    /// keep their quotes, and what is not set is absent.
    pub fn config_value(&self, key: &str) -> Option<String> {
        value_of(&String::from_utf8(self.config_text()?).ok()?, key)
    }

    /// What schedules ordinary tasks: by the configuration, or by the version where
    /// there is none.
    pub fn class(&self) -> SchedulerClass {
        if self.version < FIRST_EEVDF {
            return SchedulerClass::Cfs;
        }
        match &self.config {
            Some(_) if self.config_value("CONFIG_SCHED_CLASS_EXT").as_deref() == Some("y") => {
                let package_version = self.name.strip_prefix("debian:").unwrap_or_default();
                match trouble(self.version, package_version) {
                    Some(_) => SchedulerClass::Eevdf,
                    None => SchedulerClass::EevdfScx,
                }
            }
            None if self.name.starts_with("debian:") => SchedulerClass::of_debian(self.version),
            _ => SchedulerClass::Eevdf,
        }
    }

    /// SHA-256 of the configuration.
    pub fn config_digest(&self) -> Option<String> {
        self.config_text().map(|bytes| digest::of_bytes(&bytes))
    }

    fn config_text(&self) -> Option<Vec<u8>> {
        read_regular(self.config.as_ref()?, CACHE_DOCUMENT_BYTES.most).ok()
    }

    /// Whether the image still is what it was when it came.
    ///
    /// # Errors
    /// When it cannot be read, or is another one.
    pub fn verify(&self) -> Result<()> {
        let (found, _) = digest::of_file(&self.image)?;
        self.hold(&self.image, &found, &self.digest)
    }

    /// Whether the image and, where it is known what they were, the modules still are what they
    /// were when it came. Reads all of them.
    ///
    /// # Errors
    /// When one cannot be read, or is another one.
    pub fn verify_all(&self) -> Result<()> {
        self.verify()?;
        match (&self.modules, &self.modules_digest) {
            (Some(modules), Some(digest)) => self.hold(modules, &digest::of_tree(modules)?, digest),
            _ => Ok(()),
        }
    }

    fn hold(&self, path: &Path, found: &str, expected: &str) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(Error::new(
            artefacts::ErrorKind::Environment,
            format!("cannot trust {}", path.display()),
            format!(
                "the SHA-256 of {} is {found}, and was {expected} when it came",
                path.display()
            ),
            format!("schedlab kernels remove {0} && schedlab kernels fetch {0}", self.name),
        ))
    }

    /// `major.minor`.
    pub fn series(&self) -> (u32, u32) {
        (self.version.major, self.version.minor)
    }
}

/// Kernels that were measured not to work as their configuration promises.
pub(crate) fn trouble(version: KernelVersion, package_version: &str) -> Option<String> {
    let is_that_backport = version == KernelVersion { major: 7, minor: 2, patch: 12 }
        && package_version.contains("~bpo13");
    is_that_backport.then(|| {
        "cannot load sched_ext schedulers: its BTF carries implicit kfunc arguments (measured)"
            .to_owned()
    })
}

fn value_of(config: &str, key: &str) -> Option<String> {
    config
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
        .map(|value| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_that_of_the_whole_key() {
        let config = "# CONFIG_A is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n";
        assert_eq!(value_of(config, "CONFIG_HZ").as_deref(), Some("250"));
        assert_eq!(value_of(config, "CONFIG_A"), None);
    }

    #[test]
    fn the_class_of_a_debian_kernel_is_known_before_it_is_here() {
        let class = |text: &str| SchedulerClass::of_debian(text.parse().unwrap()).to_string();
        assert_eq!(class("5.10.262"), "CFS");
        assert_eq!(class("6.12.117"), "EEVDF");
        assert_eq!(class("6.18.15"), "EEVDF+scx");
        assert!(SchedulerClass::EevdfScx.serves(SchedulerClass::Eevdf));
        assert!(!SchedulerClass::Eevdf.serves(SchedulerClass::EevdfScx));
    }
}
