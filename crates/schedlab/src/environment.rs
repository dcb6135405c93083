//! What the environment says: which machine, which user, which terminal.

use builds::BuildVariables;
use contract::{Error, Result};
use executor::TemporaryRuntime;
use rustix::process::{geteuid, getuid};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use sys::Machine;

/// Root's runtime directory: cleared by a reboot, as what it describes is.
const ROOT_RUNTIME: &str = "/run/schedlab";

/// Numbers of people's accounts; those of services lie outside (login.defs(5)).
const PEOPLE: std::ops::Range<u32> = 1000..60_000;

/// UID and GID nobody on every Linux (the kernel's overflow ids).
pub(crate) const NOBODY: u32 = 65_534;

/// Where root's campaigns are counted: it outlives a reboot.
const ROOT_STATE: &str = "/var/lib/schedlab";

/// Root's cache where nothing else is said.
const ROOT_CACHE: &str = "/var/cache/schedlab";

/// Which machine the command line means.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineChoice {
    /// A machine of files, for tests.
    pub root: Option<PathBuf>,
    /// Another runtime directory than the user's.
    pub runtime: Option<PathBuf>,
    /// Where programs lie that the search path lacks: schedulers of the cache.
    pub programs: Option<PathBuf>,
}

impl MachineChoice {
    /// The machine.
    pub(crate) fn machine(&self) -> Result<Machine> {
        let runtime = match &self.runtime {
            Some(runtime) => absolute(runtime)?,
            None => runtime_directory(),
        };
        let machine = match &self.root {
            Some(root) => Machine::fake(absolute(root)?, runtime)?,
            None => Machine::host(runtime),
        };
        let directories: Vec<String> = std::iter::once(search_path())
            .chain(self.programs.iter().map(|path| path.display().to_string()))
            .collect();
        Ok(machine.with_search_path(directories.join(":")))
    }

    /// What has the name in `/tmp` that the runtime directory would have otherwise, where one does.
    pub(crate) fn passed_over(&self) -> Option<String> {
        if self.runtime.is_some() || geteuid().is_root() || session_runtime().is_some() {
            return None;
        }
        let chosen = temporary_runtime();
        let foreign = chosen.passed_over.as_ref()?;
        let (foreign, own) = (foreign.display(), chosen.path.display());
        Some(format!("{foreign} is no directory of yours, so {own} is your runtime directory"))
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Error::environment(format!("cannot find {}", path.display()), error))
}

/// `/run/schedlab` for root; for a user `$XDG_RUNTIME_DIR/schedlab`, or a directory of their own in
/// `/tmp`.
fn runtime_directory() -> PathBuf {
    if geteuid().is_root() {
        return PathBuf::from(ROOT_RUNTIME);
    }
    session_runtime().unwrap_or_else(|| temporary_runtime().path.clone())
}

fn session_runtime() -> Option<PathBuf> {
    let directory = std::env::var_os("XDG_RUNTIME_DIR").filter(|text| !text.is_empty())?;
    Some(PathBuf::from(directory).join("schedlab"))
}

/// The same one for all of this process, whatever others make or remove meanwhile.
fn temporary_runtime() -> &'static TemporaryRuntime {
    static CHOSEN: OnceLock<TemporaryRuntime> = OnceLock::new();
    CHOSEN.get_or_init(TemporaryRuntime::of_user)
}

/// Root's journal, where somebody else asks what is to be put back: that is not theirs to read.
pub(crate) fn unseen_journal() -> Option<String> {
    // Nobody else may look into that directory, so that it is there is all that can be known.
    let is_unseen = !geteuid().is_root() && Path::new(ROOT_RUNTIME).exists();
    is_unseen.then(|| format!("{ROOT_RUNTIME}/journal.jsonl"))
}

/// The user's cache of kernels and images: `$SCHEDLAB_CACHE`, else
/// `$XDG_CACHE_HOME/schedlab`, else `$HOME/.cache/schedlab`; root without any of
/// them, as in a bare container, has one of the system.
pub(crate) fn cache_directory(chosen: Option<&Path>) -> Result<PathBuf> {
    if let Some(chosen) = chosen {
        return absolute(chosen);
    }
    let named = |name: &str| std::env::var_os(name).filter(|text| !text.is_empty());
    if let Some(directory) = named("SCHEDLAB_CACHE") {
        return absolute(Path::new(&directory));
    }
    // Relative paths are to be ignored (XDG Base Directory Specification).
    let base = named("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(named("HOME")?)).filter(|path| path.is_absolute());
    let base = base.or_else(|| Some(home()?.join(".cache")));
    match base {
        Some(base) => Ok(base.join("schedlab")),
        None if geteuid().is_root() => Ok(PathBuf::from(ROOT_CACHE)),
        None => Err(Error::usage(
            "cannot tell where kernels are kept",
            "neither SCHEDLAB_CACHE, XDG_CACHE_HOME nor HOME is set",
            "set SCHEDLAB_CACHE, or give --cache DIR",
        )),
    }
}

/// The user whom sudo(8) started this program for, as root: they become root as they like, so what is
/// theirs is obeyed as root's own.
pub(crate) fn invoking_user() -> Option<u32> {
    std::env::var("SUDO_UID").ok()?.parse().ok()
}

/// Where campaigns of this machine or this user are counted: `/var/lib/schedlab` for root; for a user
/// `$XDG_STATE_HOME/schedlab`, else `$HOME/.local/state/schedlab`; nowhere without either. Another
/// runtime directory stands for another machine, which counts its own.
pub(crate) fn state_directory(runtime: Option<&Path>) -> Option<PathBuf> {
    if let Some(runtime) = runtime {
        return Some(runtime.to_owned());
    }
    if geteuid().is_root() {
        return Some(PathBuf::from(ROOT_STATE));
    }
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let named = |name: &str| named(name).filter(|path| path.is_absolute());
    let base = named("XDG_STATE_HOME").or_else(|| Some(named("HOME")?.join(".local/state")));
    Some(base?.join("schedlab"))
}

/// Which crates tell what they decide, where that is asked for.
pub(crate) fn log_filter() -> Option<String> {
    std::env::var_os(contract::LOG_VARIABLE).map(|text| text.to_string_lossy().into_owned())
}

/// Where fonts of this machine lie (Filesystem Hierarchy Standard 3.0, 4.11).
pub(crate) const FONTS: &[&str] = &["/usr/share/fonts", "/usr/local/share/fonts"];

/// Where programs are looked for.
pub(crate) fn search_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// Whether a developer asked what led to a panic.
pub(crate) fn wants_backtrace() -> bool {
    std::env::var_os("RUST_BACKTRACE").is_some()
}

/// The clang that the user chose to build BPF programs with.
pub(crate) fn bpf_clang() -> Option<String> {
    std::env::var("BPF_CLANG").ok()
}

/// What a build user gets of the environment.
pub(crate) fn build_variables() -> BuildVariables {
    BuildVariables::of(std::env::vars_os())
}

/// The binary that goes into guests, beside this one.
pub(crate) fn agent() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| assembly::executable());
    own.with_file_name("schedlab-agent")
}

/// Random bits for a seed or a name.
pub(crate) fn random_u64() -> Result<u64> {
    let mut bytes = [0_u8; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::environment("cannot draw a seed", error))?;
    Ok(u64::from_le_bytes(bytes))
}

/// Names of this host and its people, as far as anybody can read them.
pub(crate) fn names(machine: &Machine) -> (Vec<String>, Vec<String>) {
    let mut hosts = Vec::new();
    for path in ["/proc/sys/kernel/hostname", "/etc/hostname", "/proc/sys/kernel/domainname"] {
        hosts.extend(machine.read(path).ok().map(|name| name.trim().to_owned()));
    }
    let of_variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let mut users: Vec<String> =
        ["USER", "LOGNAME", "SUDO_USER", "DOAS_USER"].into_iter().filter_map(of_variable).collect();
    let home = of_variable("HOME").unwrap_or_default();
    users.extend(Path::new(&home).file_name().map(|name| name.to_string_lossy().into_owned()));
    let own = getuid().as_raw();
    for line in machine.read("/etc/passwd").unwrap_or_default().lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let (Some(name), Some(Ok(uid))) =
            (fields.first(), fields.get(2).map(|uid| uid.parse::<u32>()))
        else {
            continue;
        };
        if uid == own || PEOPLE.contains(&uid) {
            users.push((*name).to_owned());
        }
    }
    (hosts, users)
}
