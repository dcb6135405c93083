//! The cache of published sched_ext schedulers: programs that cargo builds from the
//! registry, each in one version, static where that is possible.
//!
//! `<cache>/schedulers/bin` holds the programs as `NAME@VERSION`, so that a search path
//! finds them by that name; `<cache>/schedulers/NAME@VERSION` says where each came from.
//! A program without its page is none: the page is put down last of what is checked, and
//! the program after it.

mod cargo_output;
mod install;
mod registry;
mod toolchain;

pub use registry::SchedulerOffer;
pub use toolchain::Toolchain;

use crate::scheduler_name::{SchedulerName, compare};
use artefacts::lock::CacheLock;
use artefacts::programs::Programs;
use artefacts::{Error, ErrorKind, Result, digest, read_entry, remove_tree};
use build_user::BuildVariables;
use model::CACHE_DOCUMENT_BYTES;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FORMAT: &str = "schedlab.scheduler/1";
const STORED: &str = "scheduler.json";
const BIN: &str = "bin";
/// Directories that begin so are unfinished.
const INCOMING: &str = ".incoming-";
/// The first build compiles all that schedulers share: 22 minutes on a busy machine of two CPUs
/// (measured).
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// Published schedulers in the cache and on the registry.
#[derive(Debug)]
pub struct Schedulers {
    place: PathBuf,
    programs: Programs,
    clang: Option<String>,
    variables: BuildVariables,
}

/// A scheduler of the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduler {
    /// Its crate and its program: `scx_rusty`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of the program.
    pub digest: String,
    /// The licence that it declares.
    pub license: String,
    /// It needs no library of the machine it runs on.
    pub is_static: bool,
    /// What cargo, rustc and clang said of themselves.
    pub built_with: Vec<String>,
    /// How long the build took.
    pub build_seconds: u64,
    /// The program.
    #[serde(skip)]
    pub program: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    format: String,
    #[serde(flatten)]
    scheduler: Scheduler,
}

/// How far a fetch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerProgress {
    /// The registry is asked what a name stands for.
    Resolving {
        /// The name.
        name: String,
    },
    /// Cargo is at work.
    Building {
        /// On which scheduler.
        scheduler: String,
        /// Crates that are built.
        done: u32,
        /// Of so many; 0 where that is not known yet.
        total: u32,
        /// What it does.
        what: String,
    },
    /// A scheduler is in the cache now.
    Fetched {
        /// Which one.
        scheduler: String,
    },
    /// A scheduler was in the cache before.
    Cached {
        /// Which one.
        scheduler: String,
    },
    /// What a person should know.
    Note(String),
}

impl Scheduler {
    /// `scx_rusty@1.1.4`: also the name of its program.
    pub fn id(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// Insists that the program is the one that was built.
    ///
    /// # Errors
    /// When it cannot be read, or is another one.
    pub fn verify(&self) -> Result<()> {
        let (found, _) = digest::of_file(&self.program)?;
        if found == self.digest {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Environment,
            format!("cannot trust {}", self.program.display()),
            format!("its SHA-256 is {found}, and was {} when it was built", self.digest),
            format!("schedlab schedulers remove {0} && schedlab schedulers fetch {0}", self.id()),
        ))
    }
}

impl Schedulers {
    /// The schedulers of a cache directory, which need not exist yet. Programs are looked for
    /// on the search path; `clang` is the one that was chosen, where one was.
    pub fn open(cache: &Path, search_path: &str, clang: Option<String>) -> Self {
        Self {
            place: cache.join("schedulers"),
            programs: Programs::new(search_path),
            clang,
            variables: BuildVariables::default(),
        }
    }

    /// With variables of the caller that a build user gets, such as how registries are reached.
    #[must_use]
    pub fn with_variables(self, variables: BuildVariables) -> Self {
        Self { variables, ..self }
    }

    /// Where the programs of a cache are, for a search path.
    pub fn programs_of(cache: &Path) -> PathBuf {
        cache.join("schedulers").join(BIN)
    }

    fn page_of(&self, id: &str) -> PathBuf {
        self.place.join(id)
    }

    fn program_of(&self, id: &str) -> PathBuf {
        self.place.join(BIN).join(id)
    }

    fn log_of(&self, id: &str) -> PathBuf {
        self.place.join("logs").join(format!("{id}.log"))
    }

    fn cargo(&self, attempted: &str) -> Result<PathBuf> {
        toolchain::cargo(self, attempted)
    }

    /// Every scheduler of the cache, by name, newest last.
    ///
    /// # Errors
    /// When the cache cannot be read.
    pub fn cached(&self) -> Result<Vec<Scheduler>> {
        let entries = match fs::read_dir(&self.place) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::file("read", &self.place, error)),
        };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut found: Vec<Scheduler> = names.filter_map(|name| self.read(&name)).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| compare(&a.version, &b.version)));
        Ok(found)
    }

    /// A scheduler whose page and program are both there.
    fn read(&self, id: &str) -> Option<Scheduler> {
        let page = self.page_of(id).join(STORED);
        let text = read_entry(&page, CACHE_DOCUMENT_BYTES.most).ok()?;
        let stored: Stored = serde_json::from_slice(&text).ok()?;
        let program = self.program_of(id);
        let is_whole = stored.format == FORMAT && stored.scheduler.id() == id && program.is_file();
        is_whole.then_some(Scheduler { program, ..stored.scheduler })
    }

    /// The newest of the cache that a name fits.
    ///
    /// # Errors
    /// When there is none; the error says what is there and how to get it.
    pub fn find(&self, name: &SchedulerName) -> Result<Scheduler> {
        let own = self.cached()?.into_iter().filter(|scheduler| scheduler.name == name.name);
        let mut own: Vec<Scheduler> = own.collect();
        let fits = |scheduler: &&Scheduler| {
            name.version.as_ref().is_none_or(|version| *version == scheduler.version)
        };
        if let Some(found) = own.iter().rev().find(fits) {
            return Ok(found.clone());
        }
        let cause = match own.pop() {
            Some(other) => format!("it is not in the cache, which has {}", other.id()),
            None => "it is not in the cache".to_owned(),
        };
        Err(Error::unsupported(
            format!("cannot find the scheduler {name}"),
            cause,
            format!("schedlab schedulers fetch {name}"),
        ))
    }

    /// The scheduler that a name stands for here, whose program is the one that was built.
    /// Nobody is asked: an experiment never downloads.
    ///
    /// # Errors
    /// When it is not in the cache, or changed there.
    pub fn resolve(&self, name: &SchedulerName) -> Result<Scheduler> {
        let scheduler = self.find(name)?;
        scheduler.verify()?;
        Ok(scheduler)
    }

    /// A program of that name on the search path: another source than the cache.
    pub fn on_path(&self, name: &SchedulerName) -> Option<PathBuf> {
        self.programs.find(&name.name)
    }

    /// What the registry has of a name.
    ///
    /// # Errors
    /// Without cargo or the registry, and when it has no such scheduler.
    pub fn offered(&self, name: &SchedulerName) -> Result<SchedulerOffer> {
        // A directory without a project above it, and never the caller's.
        let mut offer = registry::ask(self, name, Path::new("/"))?;
        offer.is_cached = self.find(&offer.exact()).is_ok();
        Ok(offer)
    }

    /// What schedulers would be built with.
    ///
    /// # Errors
    /// Everything that is missing, at once.
    pub fn toolchain(&self) -> Result<Toolchain> {
        let attempted = "cannot build schedulers";
        let toolchain = toolchain::find(self, attempted)?;
        toolchain.check(&self.programs, "", None, attempted)?;
        Ok(toolchain)
    }

    /// Brings a scheduler into the cache; what is there already is not built again. A build
    /// ends, and leaves nothing, soon after it is to stop.
    ///
    /// # Errors
    /// When the registry lacks it, something that builds need is missing, or the build fails.
    pub fn fetch(
        &self,
        name: &SchedulerName,
        is_to_stop: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(SchedulerProgress),
    ) -> Result<Scheduler> {
        // A version never means another program tomorrow.
        if name.version.is_some()
            && let Ok(scheduler) = self.resolve(name)
        {
            progress(SchedulerProgress::Cached { scheduler: scheduler.id() });
            return Ok(scheduler);
        }
        progress(SchedulerProgress::Resolving { name: name.to_string() });
        let offer = match (self.offered(name), self.resolve(name)) {
            (Ok(offer), _) => offer,
            (Err(error), Ok(scheduler)) => {
                progress(SchedulerProgress::Note(format!("{}: {}", error.attempted, error.cause)));
                progress(SchedulerProgress::Cached { scheduler: scheduler.id() });
                return Ok(scheduler);
            }
            (Err(error), Err(_)) => return Err(error),
        };
        install::install(self, &offer, is_to_stop, progress)
    }

    /// Takes a scheduler out of the cache.
    ///
    /// # Errors
    /// When it is not there, or cannot be removed.
    pub fn remove(&self, name: &SchedulerName) -> Result<Scheduler> {
        if name.version.is_none() {
            return Err(Error::usage(
                format!("cannot remove {name}"),
                "one version is removed at a time",
                format!("write {name}@VERSION; see `schedlab schedulers list`"),
            ));
        }
        // An empty cache gets no lock.
        self.find(name)?;
        let _lock = self.lock(&mut |_| {})?;
        let scheduler = self.find(name)?;
        let fail = |path: &Path, error| Error::file("remove", path, error);
        // The program first: without it the page says nothing.
        fs::remove_file(&scheduler.program).map_err(|error| fail(&scheduler.program, error))?;
        let page = self.page_of(&scheduler.id());
        remove_tree(&page).map_err(|error| fail(&page, error))?;
        let log = self.log_of(&scheduler.id());
        match fs::remove_file(&log) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(fail(&log, error)),
            _ => Ok(scheduler),
        }
    }

    /// One build at a time; kernels are fetched beside it.
    fn lock(&self, note: &mut dyn FnMut(String)) -> Result<CacheLock> {
        CacheLock::acquire_within(&self.place, PATIENCE, note)
    }
}
