//! Download, check, unpack, and put into the cache in one step.

use crate::archive::ROOM;
use crate::cache_entry::{
    CONFIG, FORMAT, IMAGE, MODULES, Stored, directory_name, read_stored, write_stored,
};
use crate::kernel_name::{KernelName, Selection};
use crate::kernels::Kernels;
use crate::offer::Offer;
use crate::{Kernel, Package, SchedulerClass};
use artefacts::commit_entry::put;
use artefacts::lock::CacheLock;
use artefacts::programs::{command, last_lines, output_of};
use artefacts::{Error, ErrorKind, Result, digest, remove_tree};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// With less than this a failed fetch is put down to the disk: modules have up to
/// some megabytes, and the one that did not fit is not written.
const LEAST_FREE: u64 = 8 << 20;

/// How far a fetch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchProgress {
    /// The archive is asked what a name stands for.
    Resolving {
        /// The name.
        name: String,
    },
    /// Bytes of a kernel have arrived.
    Downloading {
        /// Which one.
        kernel: String,
        /// So many.
        done: u64,
        /// Of so many.
        total: u64,
    },
    /// The packages are unpacked.
    Unpacking {
        /// Of which kernel.
        kernel: String,
    },
    /// A kernel is built.
    Building {
        /// Which one.
        kernel: String,
        /// The last line of the build.
        step: String,
    },
    /// A kernel is in the cache now.
    Fetched {
        /// Which one.
        kernel: String,
    },
    /// A kernel was in the cache before.
    Cached {
        /// Which one.
        kernel: String,
    },
    /// What a person should know.
    Note(String),
}

impl Kernels {
    /// Brings kernels into the cache; what is there already is not fetched again.
    ///
    /// # Errors
    /// When a name fits nothing, or a download fails; what was fetched before stays.
    pub fn fetch(
        &self,
        name: &KernelName,
        progress: &mut dyn FnMut(FetchProgress),
    ) -> Result<Vec<Kernel>> {
        // An exact package version is never another one tomorrow.
        if let KernelName::Debian(Selection::Version(_)) = name
            && let Ok(kernel) = self.find(name)
            && kernel.name == name.to_string()
        {
            progress(FetchProgress::Cached { kernel: kernel.name.clone() });
            return Ok(vec![kernel]);
        }
        progress(FetchProgress::Resolving { name: name.to_string() });
        let offers = self.resolve_noting(name, &mut |text| progress(FetchProgress::Note(text)))?;
        offers.iter().map(|offer| fetch(self, offer, progress)).collect()
    }
}

/// Brings one kernel into the cache.
fn fetch(
    kernels: &Kernels,
    offer: &Offer,
    progress: &mut dyn FnMut(FetchProgress),
) -> Result<Kernel> {
    let lock =
        CacheLock::acquire(kernels.cache(), &mut |note| progress(FetchProgress::Note(note)))?;
    kernels.sweep(&lock)?;
    let target = kernels.directory().join(directory_name(&offer.name));
    if let Some(kernel) = read_stored(&target) {
        progress(FetchProgress::Cached { kernel: offer.name.clone() });
        return Ok(kernel);
    }
    let attempted = format!("cannot fetch {}", offer.name);
    let needed = "on a system without dpkg name a kernel of your own: path:IMAGE,modules=DIR";
    let unpacker = kernels.programs().need("dpkg-deb", &attempted, needed)?;
    let draft = kernels.incoming(&offer.name);
    let outcome = check_space(&kernels.directory(), needed_bytes(offer), &attempted)
        .and_then(|()| download(kernels, offer, &draft, progress))
        .and_then(|files| {
            progress(FetchProgress::Unpacking { kernel: offer.name.clone() });
            unpack(&unpacker, &files, &draft.join("tree"))
        })
        .and_then(|()| keep(&draft, offer))
        .and_then(|()| put(&draft, &target, &lock));
    if let Err(error) = outcome {
        let error = if is_full(kernels) { full(&attempted, &error) } else { error };
        // The error that matters is the first one; a later fetch sweeps again.
        let _ = remove_tree(&draft);
        return Err(error);
    }
    let kernel = read_stored(&target)
        .ok_or_else(|| Error::environment(&attempted, "what was unpacked is no kernel"))?;
    if offer.class == SchedulerClass::EevdfScx && kernel.class() != SchedulerClass::EevdfScx {
        progress(FetchProgress::Note(format!(
            "{} was expected to have sched_ext, and its configuration says otherwise",
            offer.name
        )));
    }
    progress(FetchProgress::Fetched { kernel: offer.name.clone() });
    Ok(kernel)
}

/// Packages and the unpacked tree must fit.
fn needed_bytes(offer: &Offer) -> u64 {
    let installed = offer.packages.iter().map(|package| package.installed_size);
    installed.fold(offer.download_bytes(), u64::saturating_add)
}

fn check_space(directory: &Path, needed: u64, attempted: &str) -> Result<()> {
    fs::create_dir_all(directory).map_err(|error| Error::file("make", directory, error))?;
    let Ok(space) = rustix::fs::statvfs(directory) else { return Ok(()) };
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if free >= needed {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Environment,
        attempted,
        format!("it needs {} MB, and {} has {} MB free", mb(needed), directory.display(), mb(free)),
        ROOM,
    ))
}

/// Whether the disk is full now: not every program says so when it fails for it.
fn is_full(kernels: &Kernels) -> bool {
    let space = rustix::fs::statvfs(kernels.directory());
    space.is_ok_and(|space| space.f_bavail.saturating_mul(space.f_frsize) < LEAST_FREE)
}

fn full(attempted: &str, error: &Error) -> Error {
    let cause = format!("the disk became full ({}: {})", error.attempted, error.cause);
    Error::new(ErrorKind::Environment, attempted, cause, ROOM)
}

fn mb(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

/// Downloads and checks every package; gives their files.
fn download(
    kernels: &Kernels,
    offer: &Offer,
    draft: &Path,
    progress: &mut dyn FnMut(FetchProgress),
) -> Result<Vec<PathBuf>> {
    let into = draft.join("packages");
    fs::create_dir_all(&into).map_err(|error| Error::file("make", &into, error))?;
    let attempted = format!("cannot download {}", offer.name);
    let log_path = draft.join("log");
    let log = File::create(&log_path).map_err(|error| Error::file("write", &log_path, error))?;
    let wanted: Vec<String> =
        offer.packages.iter().map(|one| format!("{}={}", one.name, one.version)).collect();
    let mut child =
        kernels.archive.download(&wanted, &into)?.stderr(Stdio::from(log)).spawn().map_err(
            |error| Error::environment(&attempted, format!("cannot run apt-get: {error}")),
        )?;
    let total = offer.download_bytes();
    let status = loop {
        let done = arrived(&into).min(total);
        progress(FetchProgress::Downloading { kernel: offer.name.clone(), done, total });
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => std::thread::sleep(Duration::from_millis(100)),
            Err(error) => return Err(Error::environment(&attempted, error)),
        }
    };
    if !status.success() {
        let told = fs::read_to_string(&log_path).unwrap_or_default();
        return Err(Error::new(
            ErrorKind::Environment,
            attempted,
            format!("apt-get: {}", last_lines(&told)),
            "schedlab kernels list --offered --refresh tells what the archive has now",
        ));
    }
    offer.packages.iter().map(|package| check(package, &into)).collect()
}

fn arrived(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// The file of a package, whose size and digest are those of the signed index.
fn check(package: &Package, directory: &Path) -> Result<PathBuf> {
    let attempted = format!("cannot trust the package {}", package.name);
    let prefix = format!("{}_", package.name);
    let found = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let Some(found) = found else {
        return Err(Error::environment(attempted, "it did not arrive"));
    };
    let path = found.path();
    let (sha256, size) = digest::of_file(&path)?;
    if size != package.size || sha256 != package.sha256 {
        return Err(Error::environment(
            attempted,
            format!(
                "it has {size} bytes and the SHA-256 {sha256}; the index says {} and {}",
                package.size, package.sha256
            ),
        ));
    }
    Ok(path)
}

/// Unpacks packages one after the other and drops each at once: disks are small.
fn unpack(unpacker: &Path, files: &[PathBuf], tree: &Path) -> Result<()> {
    for file in files {
        let attempted = format!("cannot unpack {}", file.display());
        output_of(command(unpacker).arg("-x").arg(file).arg(tree), &attempted)?;
        fs::remove_file(file).map_err(|error| Error::file("remove", file, error))?;
    }
    Ok(())
}

/// Moves what is needed out of the unpacked tree and writes `kernel.json` last.
fn keep(draft: &Path, offer: &Offer) -> Result<()> {
    let tree = draft.join("tree");
    let release = &offer.release;
    let attempted = format!("cannot find the parts of {}", offer.name);
    let first =
        |paths: &[String]| paths.iter().map(|path| tree.join(path)).find(|path| path.exists());
    let modules = [format!("usr/lib/modules/{release}"), format!("lib/modules/{release}")];
    let image = first(&[
        format!("boot/vmlinuz-{release}"),
        format!("{}/vmlinuz", modules[0]),
        format!("{}/vmlinuz", modules[1]),
    ]);
    let config = first(&[
        format!("boot/config-{release}"),
        format!("{}/config", modules[0]),
        format!("{}/config", modules[1]),
    ]);
    let (Some(image), Some(modules)) = (image, first(&modules)) else {
        return Err(Error::environment(
            attempted,
            "its packages hold no image or no modules where Debian puts them",
        ));
    };
    move_to(&image, &draft.join(IMAGE))?;
    if let Some(config) = config {
        move_to(&config, &draft.join(CONFIG))?;
    }
    move_to(&modules, &draft.join(MODULES))?;
    for rest in [tree, draft.join("packages")] {
        remove_tree(&rest).map_err(|error| Error::file("remove", &rest, error))?;
    }
    let log = draft.join("log");
    fs::remove_file(&log).map_err(|error| Error::file("remove", &log, error))?;
    write_stored(
        draft,
        &Stored {
            format: FORMAT.to_owned(),
            name: offer.name.clone(),
            release: release.clone(),
            version: offer.version,
            digest: digest::of_file(&draft.join(IMAGE))?.0,
            modules_digest: Some(digest::of_tree(&draft.join(MODULES))?),
            packages: offer.packages.clone(),
            origin: None,
        },
    )
}

fn move_to(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::file("move", from, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_sizes_before_it_is_fetched() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("kernels");
        check_space(&directory, 1, "cannot fetch it").unwrap();
        let error = check_space(&directory, u64::MAX, "cannot fetch it").unwrap_err();
        assert_eq!((error.kind, &*error.remedy), (ErrorKind::Environment, ROOM));
        assert!(error.cause.starts_with("it needs 18446744073710 MB, and "), "{error}");
        assert!(error.cause.contains(&directory.display().to_string()), "{error}");
    }
}
