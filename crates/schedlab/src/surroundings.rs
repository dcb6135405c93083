//! What the environment says: which machine, which user, which terminal.

use contract::{Error, Result};
use rustix::process::getuid;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::Machine;

/// Root's runtime directory: cleared by a reboot, as what it describes is.
const ROOT_RUNTIME: &str = "/run/schedlab";

/// Which machine the command line means.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineChoice {
    /// A machine of files, for tests.
    pub root: Option<PathBuf>,
    /// Another runtime directory than the user's.
    pub runtime: Option<PathBuf>,
}

impl MachineChoice {
    /// The machine.
    pub(crate) fn machine(&self) -> Result<Machine> {
        let runtime = match &self.runtime {
            Some(runtime) => absolute(runtime)?,
            None => runtime_directory()?,
        };
        let machine = match &self.root {
            Some(root) => Machine::fake(absolute(root)?, runtime)?,
            None => Machine::host(runtime),
        };
        Ok(machine.with_search_path(std::env::var("PATH").unwrap_or_default()))
    }
}

/// The arguments that tell the guardian the same machine.
pub(crate) fn machine_arguments(machine: &Machine) -> Vec<String> {
    let mut arguments = vec![machine.runtime().display().to_string()];
    if machine.is_fake() {
        arguments.push(machine.root().display().to_string());
    }
    arguments
}

/// The machine of [`machine_arguments`].
pub(crate) fn machine_of_arguments(arguments: &[OsString]) -> Result<Machine> {
    match arguments {
        [runtime] => Ok(Machine::host(runtime)),
        [runtime, root] => Ok(Machine::fake(root, runtime)?),
        _ => Err(Error::usage("cannot serve as guardian", "expected a runtime directory", "")),
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Error::environment(format!("cannot find {}", path.display()), error))
}

/// `/run/schedlab` for root; for a user `$XDG_RUNTIME_DIR/schedlab`, or a
/// directory of their own in the temporary directory.
fn runtime_directory() -> Result<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from(ROOT_RUNTIME));
    }
    if let Some(directory) = std::env::var_os("XDG_RUNTIME_DIR").filter(|text| !text.is_empty()) {
        return Ok(PathBuf::from(directory).join("schedlab"));
    }
    let directory = std::env::temp_dir().join(format!("schedlab-{}", getuid().as_raw()));
    refuse_foreign(&directory)?;
    Ok(directory)
}

/// Somebody else's directory of that name could feed us a journal.
fn refuse_foreign(directory: &Path) -> Result<()> {
    match std::fs::symlink_metadata(directory) {
        Ok(metadata) if !metadata.is_dir() || metadata.uid() != getuid().as_raw() => {
            Err(Error::new(
                contract::ErrorKind::Environment,
                format!("cannot use {} for the journal", directory.display()),
                "it belongs to somebody else",
                "set XDG_RUNTIME_DIR to a directory of your own",
            ))
        }
        _ => Ok(()),
    }
}

/// This binary, for its roles. The link works even when the file was replaced.
pub(crate) fn executable() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// Random bits for a seed or a name.
pub(crate) fn random_u64() -> Result<u64> {
    let mut bytes = [0_u8; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::environment("cannot draw a seed", error))?;
    Ok(u64::from_le_bytes(bytes))
}
