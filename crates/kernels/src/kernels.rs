//! The cache of kernels, and the way from a name to a kernel.

use crate::Kernel;
use crate::archive::{Archive, Index};
use crate::boot_image::release_of_image;
use crate::cache_entry::{INCOMING, directory_name, read_stored};
use crate::debian_version::compare_versions;
use crate::kernel_name::{KernelName, Selection};
use crate::offer::Offer;
use artefacts::lock::CacheLock;
use artefacts::programs::{Programs, output_of};
use artefacts::{Error, ErrorKind, Result, digest, remove_tree};
use model::KernelVersion;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Kernels in the cache and in Debian's archive.
#[derive(Debug)]
pub struct Kernels {
    cache: PathBuf,
    pub(crate) archive: Archive,
    programs: Programs,
}

/// What the archive offers, and what a person should know about the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Every kernel, oldest first.
    pub offers: Vec<Offer>,
    /// Suites that the mirror lacks, an index that is old.
    pub notes: Vec<String>,
}

impl Kernels {
    /// The kernels of a cache directory, which need not exist yet; programs are
    /// looked for on the search path.
    pub fn open(cache: PathBuf, search_path: &str) -> Self {
        let programs = Programs::new(search_path);
        Self { archive: Archive::new(&cache, programs.clone()), cache, programs }
    }

    /// The cache, which other artefacts share.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The programs of this machine.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Puts a package of Debian's archive into a directory; apt verifies it against its index.
    ///
    /// # Errors
    /// When there is no index, or the package does not arrive.
    pub fn download_package(&self, package: &str, into: &Path, attempted: &str) -> Result<()> {
        self.archive.index(false)?;
        let mut download = self.archive.download(&[package.to_owned()], into)?;
        output_of(download.stdout(Stdio::piped()), attempted).map(drop)
    }

    /// Where kernels lie in the cache.
    pub fn directory(&self) -> PathBuf {
        self.cache.join("kernels")
    }

    /// Where a kernel of this name is put together.
    pub fn incoming(&self, name: &str) -> PathBuf {
        self.directory().join(format!("{INCOMING}{}", directory_name(name)))
    }

    /// Removes what interrupted fetches left, of an index, too, while the cache is locked.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn sweep(&self, lock: &CacheLock) -> Result<()> {
        self.archive.sweep(lock)?;
        artefacts::commit_entry::sweep(&self.directory(), INCOMING)
    }

    /// Every kernel of the cache, newest last.
    ///
    /// # Errors
    /// When the cache cannot be read.
    pub fn cached(&self) -> Result<Vec<Kernel>> {
        let directory = self.directory();
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::file("read", &directory, error)),
        };
        let mut kernels: Vec<Kernel> = entries
            .flatten()
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .filter_map(|entry| read_stored(&entry.path()))
            .collect();
        kernels.sort_by(|a, b| {
            let by_package = || compare_versions(own_version(a), own_version(b));
            a.version.cmp(&b.version).then_with(by_package).then_with(|| a.name.cmp(&b.name))
        });
        Ok(kernels)
    }

    /// A kernel that is here: from the cache, or the one a path or `host` names. Of
    /// several that the name fits, the newest.
    ///
    /// # Errors
    /// When it is not here; the error names the nearest one that is.
    pub fn find(&self, name: &KernelName) -> Result<Kernel> {
        match name {
            KernelName::Host => host(Path::new("/")),
            KernelName::Path { image, modules, config } => {
                let (image, modules) = (absolute(image)?, modules.as_deref().map(absolute));
                let (modules, config) =
                    (modules.transpose()?, config.as_deref().map(absolute).transpose()?);
                // Pinned: the name must mean the same in another working directory.
                let name = KernelName::Path {
                    image: image.clone(),
                    modules: modules.clone(),
                    config: config.clone(),
                };
                of_path(&name, &image, modules.as_deref(), config.as_deref())
            }
            KernelName::Debian(_) | KernelName::Build(_) => {
                let mut fitting = self.fitting(name)?;
                fitting.pop().ok_or_else(|| not_cached(name, &self.cached().unwrap_or_default()))
            }
        }
    }

    /// Every kernel that a name stands for and that is here: of a range or class the
    /// newest of each series, oldest series first.
    ///
    /// # Errors
    /// When there is none.
    pub fn resolve_cached(&self, name: &KernelName) -> Result<Vec<Kernel>> {
        if !name.is_plural() {
            return Ok(vec![self.find(name)?]);
        }
        let newest: BTreeMap<(u32, u32), Kernel> =
            self.fitting(name)?.into_iter().map(|kernel| (kernel.series(), kernel)).collect();
        if newest.is_empty() {
            return Err(not_cached(name, &self.cached()?));
        }
        Ok(newest.into_values().collect())
    }

    /// What the cache holds of a name, newest last.
    fn fitting(&self, name: &KernelName) -> Result<Vec<Kernel>> {
        let mut kernels = self.cached()?;
        kernels.retain(|kernel| match name {
            KernelName::Debian(selection) => {
                kernel.name.strip_prefix("debian:").is_some_and(|version| {
                    selection.fits(kernel.series(), version, &kernel.release)
                }) && match selection {
                    Selection::Class(class) => kernel.class().serves(*class),
                    _ => true,
                }
            }
            _ => kernel.name == name.to_string(),
        });
        Ok(kernels)
    }

    /// What the archive offers, oldest first.
    ///
    /// # Errors
    /// Without apt or a mirror of Debian; when the index can neither be fetched nor
    /// was fetched before.
    pub fn offered(&self, is_refreshed: bool) -> Result<Offered> {
        let index = self.index(is_refreshed, &mut |_| {})?;
        let mut offers = index.offers();
        let cached = self.cached()?;
        for offer in &mut offers {
            offer.is_cached = cached.iter().any(|kernel| kernel.name == offer.name);
        }
        Ok(Offered { offers, notes: index.notes })
    }

    fn index(&self, is_refreshed: bool, note: &mut dyn FnMut(String)) -> Result<Index> {
        let lock = CacheLock::acquire(&self.cache, note)?;
        self.archive.sweep(&lock)?;
        self.archive.index(is_refreshed)
    }

    /// What a name stands for in the archive today: of a range or class the newest of
    /// each series. A version that vanished is taken from the cache.
    ///
    /// # Errors
    /// When nothing fits; the error names the nearest.
    pub fn resolve(&self, name: &KernelName) -> Result<Vec<Offer>> {
        self.resolve_noting(name, &mut |_| {})
    }

    pub(crate) fn resolve_noting(
        &self,
        name: &KernelName,
        note: &mut dyn FnMut(String),
    ) -> Result<Vec<Offer>> {
        let KernelName::Debian(selection) = name else {
            return Err(Error::usage(
                format!("cannot fetch {name}"),
                "only kernels of Debian are fetched",
                "name one as debian:6.12; path: and host are used where they are",
            ));
        };
        let offered = match self.offered(false) {
            Ok(offered) => offered,
            Err(error) => {
                let Some(cached) = self.cached_offers(name) else { return Err(error) };
                note(format!("{}: {}", error.attempted, error.cause));
                return Ok(cached);
            }
        };
        offered.notes.iter().cloned().for_each(note);
        let fits = |offer: &&Offer| {
            offer.is_complete()
                && selection.fits(offer.series(), &offer.package_version, &offer.release)
                && match selection {
                    Selection::Class(class) => offer.class.serves(*class),
                    _ => true,
                }
        };
        // Offers come oldest first, so the newest of each series stays.
        let newest: BTreeMap<(u32, u32), &Offer> =
            offered.offers.iter().filter(fits).map(|offer| (offer.series(), offer)).collect();
        if newest.is_empty() {
            return self.cached_offers(name).ok_or_else(|| not_offered(name, &offered));
        }
        Ok(newest.into_values().cloned().collect())
    }

    /// Offers of what is cached, where the archive has nothing.
    fn cached_offers(&self, name: &KernelName) -> Option<Vec<Offer>> {
        let kernels = self.resolve_cached(name).ok()?;
        Some(kernels.iter().map(offer_of_cached).collect())
    }

    /// Takes a kernel out of the cache.
    ///
    /// # Errors
    /// When it is not there, or cannot be removed.
    pub fn remove(&self, name: &KernelName) -> Result<Kernel> {
        if !matches!(name, KernelName::Debian(_) | KernelName::Build(_)) || name.is_plural() {
            return Err(Error::usage(
                format!("cannot remove {name}"),
                "one cached kernel is removed at a time",
                "see `schedlab kernels list`",
            ));
        }
        let _lock = CacheLock::acquire(&self.cache, &mut |_| {})?;
        let kernel = self.find(name)?;
        let directory = kernel.image.parent().unwrap_or(&kernel.image).to_owned();
        // Renamed first: half a directory must not count as a kernel.
        let doomed = self.incoming(&kernel.name);
        fs::rename(&directory, &doomed)
            .and_then(|()| remove_tree(&doomed))
            .map_err(|error| Error::file("remove", &directory, error))?;
        Ok(kernel)
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Error::file("find", path, error))
}

fn own_version(kernel: &Kernel) -> &str {
    kernel.name.split_once(':').map_or("", |(_, version)| version)
}

fn of_path(
    name: &KernelName,
    image: &Path,
    modules: Option<&Path>,
    config: Option<&Path>,
) -> Result<Kernel> {
    let release = release_of_image(image)?;
    if let Some(modules) = modules
        && !modules.join("modules.builtin").is_file()
    {
        return Err(Error::usage(
            format!("cannot use the modules in {}", modules.display()),
            "it holds no modules.builtin",
            format!("name the directory of one release, as in modules=/lib/modules/{release}"),
        ));
    }
    if let Some(config) = config
        && !config.is_file()
    {
        return Err(Error::usage(
            format!("cannot use the configuration {}", config.display()),
            "there is no such file",
            "",
        ));
    }
    let version = release.parse().map_err(|error| {
        Error::usage(format!("cannot use {} as a kernel", image.display()), error, "")
    })?;
    Ok(Kernel {
        name: name.to_string(),
        version,
        release,
        image: image.to_owned(),
        modules: modules.map(Path::to_owned),
        config: config.map(Path::to_owned),
        digest: digest::of_file(image)?.0,
        modules_digest: None,
        packages: Vec::new(),
        origin: None,
    })
}

/// The kernel that this machine runs, from where distributions keep it.
fn host(root: &Path) -> Result<Kernel> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let images: Vec<PathBuf> = [
        format!("boot/vmlinuz-{release}"),
        format!("lib/modules/{release}/vmlinuz"),
        format!("usr/lib/modules/{release}/vmlinuz"),
    ]
    .iter()
    .map(|path| root.join(path))
    .collect();
    let Some(image) = images.iter().find(|path| path.is_file()) else {
        let tried: Vec<String> = images.iter().map(|path| path.display().to_string()).collect();
        return Err(Error::unsupported(
            format!("cannot find the image of the running kernel {release}"),
            format!("there is none at {}", tried.join(", ")),
            "name it as path:IMAGE,modules=DIR,config=FILE, or take one of Debian, as debian:6.12",
        ));
    };
    let first =
        |paths: &[String]| paths.iter().map(|path| root.join(path)).find(|path| path.exists());
    let modules = first(&[
        format!("lib/modules/{release}/modules.builtin"),
        format!("usr/lib/modules/{release}/modules.builtin"),
    ]);
    let modules = modules.and_then(|file| file.parent().map(Path::to_owned));
    let config = first(&[
        format!("boot/config-{release}"),
        format!("lib/modules/{release}/config"),
        format!("usr/lib/modules/{release}/config"),
    ]);
    of_path(&KernelName::Host, image, modules.as_deref(), config.as_deref())
}

fn offer_of_cached(kernel: &Kernel) -> Offer {
    Offer {
        name: kernel.name.clone(),
        release: kernel.release.clone(),
        version: kernel.version,
        package_version: own_version(kernel).to_owned(),
        class: kernel.class(),
        packages: kernel.packages.clone(),
        missing: Vec::new(),
        trouble: None,
        is_cached: true,
    }
}

fn not_cached(name: &KernelName, cached: &[Kernel]) -> Error {
    let names = cached.iter().map(|kernel| (kernel.version, kernel.name.as_str()));
    let cause = match nearest(name, names) {
        Some(near) => format!("it is not in the cache; the nearest there is {near}"),
        None => "it is not in the cache, which is empty".to_owned(),
    };
    let remedy = match name {
        KernelName::Build(name) => format!("schedlab kernels build --name {name} SOURCE"),
        _ => format!("schedlab kernels fetch {name}"),
    };
    Error::new(ErrorKind::Unsupported, format!("cannot find the kernel {name}"), cause, remedy)
}

fn not_offered(name: &KernelName, offered: &Offered) -> Error {
    let complete = offered.offers.iter().filter(|offer| offer.is_complete());
    let near = nearest(name, complete.map(|offer| (offer.version, offer.name.as_str())));
    let mut cause = "the archive does not offer it today, and it is not in the cache".to_owned();
    if !offered.notes.is_empty() {
        cause.push_str(&format!(" (asked {})", offered.notes.join("; ")));
    }
    let remedy = near.map_or_else(
        || "see `schedlab kernels list --offered`".to_owned(),
        |near| format!("the nearest is {near}; see `schedlab kernels list --offered`"),
    );
    Error::new(ErrorKind::Unsupported, format!("cannot fetch the kernel {name}"), cause, remedy)
}

/// The kernel whose version is nearest to what a name says, the newer one of two.
fn nearest<'a>(
    name: &KernelName,
    all: impl Iterator<Item = (KernelVersion, &'a str)>,
) -> Option<&'a str> {
    let place = |version: KernelVersion| {
        (i64::from(version.major) << 40)
            + (i64::from(version.minor.min(0xfff)) << 20)
            + i64::from(version.patch.min(0xf_ffff))
    };
    let wanted = match name {
        KernelName::Debian(Selection::Version(text)) => text.parse().ok().map(place),
        KernelName::Debian(Selection::Series(major, minor)) => {
            Some(place(KernelVersion::series(*major, *minor)))
        }
        KernelName::Debian(Selection::Range(first, _)) => {
            Some(place(KernelVersion::series(first.0, first.1)))
        }
        _ => None,
    };
    let distance =
        |version: KernelVersion| wanted.map_or(0, |wanted| (place(version) - wanted).abs());
    let mut best: Option<(i64, &str)> = None;
    for (version, name) in all {
        if best.is_none_or(|(least, _)| distance(version) <= least) {
            best = Some((distance(version), name));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache_entry::{CONFIG, FORMAT, IMAGE, MODULES, STORED, Stored};

    fn put(cache: &Path, name: &str, release: &str, version: &str, config: &str) {
        let directory = cache.join("kernels").join(name.replace(':', "-"));
        fs::create_dir_all(directory.join(MODULES)).unwrap();
        fs::write(directory.join(IMAGE), "image").unwrap();
        fs::write(directory.join(CONFIG), config).unwrap();
        let stored = Stored {
            format: FORMAT.to_owned(),
            name: name.to_owned(),
            release: release.to_owned(),
            version: version.parse().unwrap(),
            digest: digest::of_bytes(b"image"),
            modules_digest: Some(digest::of_tree(&directory.join(MODULES)).unwrap()),
            packages: Vec::new(),
            origin: None,
        };
        fs::write(directory.join(STORED), serde_json::to_vec(&stored).unwrap()).unwrap();
    }

    #[test]
    fn a_file_with_the_name_of_a_draft_stops_no_fetch() {
        let cache = tempfile::tempdir().unwrap();
        let kernels = Kernels::open(cache.path().to_owned(), "");
        let left = kernels.incoming("build:mine");
        fs::create_dir_all(kernels.directory()).unwrap();
        fs::write(&left, "").unwrap();
        let lock = CacheLock::acquire(cache.path(), &mut |_| {}).unwrap();
        kernels.sweep(&lock).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn what_a_killed_process_left_of_the_archives_files_goes_when_the_index_is_asked_for() {
        let cache = tempfile::tempdir().unwrap();
        let kernels = Kernels::open(cache.path().to_owned(), "");
        let archive = cache.path().join("archive");
        fs::create_dir_all(archive.join("sources.d")).unwrap();
        let left = [
            ".kernels.json.00000000000000ab",
            ".apt.conf.00000000000000ab",
            ".status.00000000000000ab",
            "sources.d/.debian.sources.00000000000000ab",
        ];
        left.iter().for_each(|name| fs::write(archive.join(name), "").unwrap());
        // There is no apt on this search path, and no index.
        assert!(kernels.offered(false).is_err());
        assert!(left.iter().all(|name| !archive.join(name).exists()));
        fs::write(archive.join(left[0]), "").unwrap();
        let lock = CacheLock::acquire(cache.path(), &mut |_| {}).unwrap();
        kernels.sweep(&lock).unwrap();
        assert!(!archive.join(left[0]).exists());
    }

    fn some() -> (tempfile::TempDir, Kernels) {
        let cache = tempfile::tempdir().unwrap();
        let scx = "CONFIG_SCHED_CLASS_EXT=y\n";
        for (name, release, version, config) in [
            ("debian:6.18.15-1~bpo13+1", "6.18.15+deb13-cloud-amd64", "6.18.15", scx),
            ("debian:6.1.192-2", "6.1.0-56-cloud-amd64", "6.1.192", ""),
            ("debian:6.12.117-1", "6.12.117+deb13-cloud-amd64", "6.12.117", ""),
            ("debian:6.12.117-1~deb12u1", "6.12.117+deb12-cloud-amd64", "6.12.117", ""),
            ("build:mine", "6.12.0", "6.12.0", scx),
        ] {
            put(cache.path(), name, release, version, config);
        }
        let kernels = Kernels::open(cache.path().to_owned(), "");
        (cache, kernels)
    }

    fn names(kernels: &[Kernel]) -> Vec<&str> {
        kernels.iter().map(|kernel| kernel.name.as_str()).collect()
    }

    #[test]
    fn the_cache_is_listed_oldest_first() {
        let (cache, kernels) = some();
        fs::create_dir_all(cache.path().join("kernels/.incoming-x")).unwrap();
        fs::create_dir_all(cache.path().join("kernels/torn")).unwrap();
        assert_eq!(
            names(&kernels.cached().unwrap()),
            [
                "debian:6.1.192-2",
                "build:mine",
                "debian:6.12.117-1~deb12u1",
                "debian:6.12.117-1",
                "debian:6.18.15-1~bpo13+1"
            ]
        );
    }

    #[test]
    fn names_find_the_newest_that_fits() {
        let (_cache, kernels) = some();
        let found = |name: &str| kernels.find(&name.parse().unwrap()).unwrap().name;
        assert_eq!(found("debian:6.12"), "debian:6.12.117-1");
        assert_eq!(found("debian:6.12.117+deb12"), "debian:6.12.117-1~deb12u1");
        assert_eq!(found("debian:cfs"), "debian:6.1.192-2");
        assert_eq!(found("build:mine"), "build:mine");
        let all = |name: &str| kernels.resolve_cached(&name.parse().unwrap()).unwrap();
        assert_eq!(
            names(&all("6.1..6.18")),
            ["debian:6.1.192-2", "debian:6.12.117-1", "debian:6.18.15-1~bpo13+1"]
        );
        assert_eq!(names(&all("debian:scx")), ["debian:6.18.15-1~bpo13+1"]);
        assert_eq!(names(&all("debian:eevdf")).len(), 2);
    }

    #[test]
    fn what_is_not_here_is_told_with_the_nearest_and_the_command() {
        let (_cache, kernels) = some();
        let error = kernels.find(&"debian:6.13".parse().unwrap()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert!(error.cause.contains("debian:6.12.117-1"), "{error}");
        assert_eq!(error.remedy, "schedlab kernels fetch debian:6.13");
    }

    #[test]
    fn a_removed_kernel_is_gone_and_nothing_else() {
        let (cache, kernels) = some();
        kernels.remove(&"debian:6.1".parse().unwrap()).unwrap();
        assert_eq!(kernels.cached().unwrap().len(), 4);
        assert_eq!(fs::read_dir(cache.path().join("kernels")).unwrap().count(), 4);
        assert!(kernels.remove(&"debian:6.1".parse().unwrap()).is_err());
        assert!(kernels.remove(&"debian:eevdf".parse().unwrap()).is_err());
    }

    #[test]
    fn an_image_that_changed_is_not_trusted() {
        let (_cache, kernels) = some();
        let kernel = kernels.find(&"debian:6.1".parse().unwrap()).unwrap();
        kernel.verify().unwrap();
        fs::write(&kernel.image, "other").unwrap();
        assert!(kernel.verify().unwrap_err().cause.contains("SHA-256"));
    }

    #[test]
    fn modules_that_changed_are_not_trusted_either() {
        let (_cache, kernels) = some();
        let kernel = kernels.find(&"debian:6.1".parse().unwrap()).unwrap();
        kernel.verify_all().unwrap();
        fs::write(kernel.modules.as_ref().unwrap().join("other.ko"), "module").unwrap();
        kernel.verify().unwrap();
        let error = kernel.verify_all().unwrap_err();
        assert!(error.attempted.contains(MODULES) && error.cause.contains("SHA-256"), "{error}");
        // What an earlier version fetched does not say what its modules were.
        Kernel { modules_digest: None, ..kernel }.verify_all().unwrap();
    }

    #[test]
    fn a_machine_without_apt_is_told_what_to_provide() {
        let (_cache, kernels) = some();
        let error = kernels.offered(false).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert!(error.remedy.contains("path:IMAGE,modules=DIR"), "{error}");
        // What is cached still serves.
        assert_eq!(kernels.resolve(&"debian:6.12".parse().unwrap()).unwrap().len(), 1);
    }

    #[test]
    fn the_host_kernel_names_every_place_that_was_tried() {
        let root = tempfile::tempdir().unwrap();
        let error = host(root.path()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert_eq!(error.cause.matches("vmlinuz").count(), 3);
    }

    #[test]
    fn a_kernel_of_a_path_is_pinned_by_its_whole_path() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let mut image = vec![0_u8; 0x400];
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x20e..0x210].copy_from_slice(&0x100_u16.to_le_bytes());
        image[0x300..0x308].copy_from_slice(b"6.12.1-x");
        fs::write(at("image"), image).unwrap();
        fs::write(at("config"), "CONFIG_SCHED_CLASS_EXT=y\n").unwrap();
        let kernels = Kernels::open(at("cache"), "");
        let find = |more: &str| {
            let name = format!("path:{}{more}", at("image").display());
            kernels.find(&name.parse().unwrap())
        };
        let kernel = find(&format!(",config={}", at("config").display())).unwrap();
        assert_eq!(kernel.release, "6.12.1-x");
        assert_eq!(kernel.class(), crate::SchedulerClass::EevdfScx);
        assert_eq!(kernels.find(&kernel.name.parse().unwrap()).unwrap(), kernel);
        let error = find(&format!(",modules={}", directory.path().display())).unwrap_err();
        assert!(error.cause.contains("modules.builtin"), "{error}");
        assert!(find(",config=/no/such").is_err());
        assert!(kernels.find(&"path:no-such-image".parse().unwrap()).is_err());
        let Ok(here) = std::env::current_dir() else { return };
        let error = kernels.find(&"path:no-such-image".parse().unwrap()).unwrap_err();
        assert!(error.attempted.contains(&here.display().to_string()), "{error}");
    }
}
