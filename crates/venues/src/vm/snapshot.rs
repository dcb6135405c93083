//! Machines that are kept: saved after their boot, restored in a fraction of a second.

use super::accelerator;
use super::boot::{Booted, Booter, NotBooted, Saved, find_kernel};
use super::files::GuestFiles;
use super::qemu::Engine;
use super::vm_host::{VmHost, tools_image};
use contract::{BootSpec, Error, ErrorKind, Event, Interrupt, Result, Topology};
use model::{Accelerator, VmSettings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const FORMAT: &str = "schedlab.snapshot/2";
const DOCUMENT: &str = "snapshot.json";
const STATE: &str = "state";
/// Its disk of files, where it has one.
const FILES: &str = "files";
/// No campaign's processes carry it; the machine dies with the thread that started it.
const MARK: &str = "SCHEDLAB_MARK=vm-snapshot";
const NAME_LIMIT: usize = 64;

/// A saved machine, as it is described beside its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    format: String,
    /// Its name.
    pub name: String,
    /// The kernel that it booted.
    pub kernel: String,
    kernel_digest: String,
    command_line: Vec<String>,
    topology: (u32, u32, u32, u32),
    settings: VmSettings,
    is_kvm: bool,
    facts: BTreeMap<String, String>,
    /// Size of its state.
    #[serde(default)]
    pub state_bytes: u64,
}

impl Snapshot {
    /// What executes its instructions: what did when it was saved.
    pub(crate) fn engine(&self) -> Engine {
        if self.is_kvm { Engine::Kvm } else { Engine::Tcg }
    }
}

fn directory(host: &VmHost, name: &str) -> PathBuf {
    host.cache.join("snapshots").join(name)
}

/// Boots a machine and keeps it under a name.
///
/// # Errors
/// When the name is taken or is none, the guest does not boot, or there is no room.
pub fn create(
    host: &VmHost,
    name: &str,
    spec: &BootSpec,
    settings: &VmSettings,
    files: &[PathBuf],
    interrupt: &Interrupt,
    on_event: &mut dyn FnMut(Event),
) -> Result<Snapshot> {
    check_name(name)?;
    // What the name stands for now, whatever is fetched later.
    let spec = &BootSpec { kernel: find_kernel(host, &spec.kernel)?.name, ..spec.clone() };
    let place = directory(host, name);
    if place.exists() {
        let remedy = format!("schedlab vm snapshot remove {name}, or choose another name");
        return Err(Error::usage(format!("cannot create {name}"), "it exists already", remedy));
    }
    let mut booter = booter(host, settings, &spec.kernel, interrupt)?;
    booter.files = GuestFiles::at(host, files)?;
    let booted = booter.boot(spec, on_event).map_err(NotBooted::into_error)?;
    let facts = booted.facts.clone();
    let saved = booter.save(booted)?;
    let snapshot = Snapshot {
        format: FORMAT.to_owned(),
        name: name.to_owned(),
        kernel: spec.kernel.clone(),
        kernel_digest: find_kernel(host, &spec.kernel)?.digest,
        command_line: spec.command_line.clone(),
        topology: {
            let Topology { sockets, cores, threads, nodes } = spec.topology;
            (sockets, cores, threads, nodes)
        },
        settings: settings.clone(),
        is_kvm: booter.engine == Engine::Kvm,
        facts,
        state_bytes: saved.file.metadata().map_or(0, |metadata| metadata.len()),
    };
    keep(&place, &snapshot, [(STATE, Some(&saved.file)), (FILES, booter.files.disk.as_ref())])?;
    Ok(snapshot)
}

/// Writes a snapshot beside its place and moves it there whole.
fn keep(place: &Path, snapshot: &Snapshot, parts: [(&str, Option<&File>); 2]) -> Result<()> {
    let beside = place.with_file_name(format!(".{}-{}", snapshot.name, std::process::id()));
    let write = || -> io::Result<()> {
        fs::create_dir_all(&beside)?;
        for (name, part) in parts {
            let Some(part) = part else { continue };
            let mut part = super::memfd::reopened(part).map_err(io::Error::other)?;
            let mut file = File::create_new(beside.join(name))?;
            io::copy(&mut part, &mut file)?;
            file.sync_all()?;
        }
        fs::write(beside.join(DOCUMENT), serde_json::to_vec_pretty(snapshot)?)?;
        fs::rename(&beside, place)
    };
    write().map_err(|error| {
        // What was half written counts for nothing.
        let _ = sys::remove_tree(&beside);
        Error::environment(format!("cannot keep the snapshot in {}", place.display()), error)
    })
}

/// Every snapshot, by name.
///
/// # Errors
/// When they cannot be listed.
pub fn list(host: &VmHost) -> Result<Vec<Snapshot>> {
    let place = host.cache.join("snapshots");
    let entries = match fs::read_dir(&place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Error::environment(format!("cannot list {}", place.display()), error));
        }
    };
    let mut snapshots: Vec<Snapshot> = entries
        .flatten()
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .filter_map(|entry| read(&entry.path()).ok())
        .collect();
    snapshots.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(snapshots)
}

/// A snapshot by its name.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn find(host: &VmHost, name: &str) -> Result<Snapshot> {
    check_name(name)?;
    let place = directory(host, name);
    read(&place).map_err(|error| {
        let remedy = "schedlab vm snapshot list shows which there are";
        Error::usage(format!("cannot read the snapshot {name}"), error, remedy)
    })
}

fn read(place: &Path) -> io::Result<Snapshot> {
    let snapshot: Snapshot = serde_json::from_slice(&sys::read_regular(&place.join(DOCUMENT))?)?;
    if snapshot.format == FORMAT {
        return Ok(snapshot);
    }
    Err(io::Error::other(format!("it is of the format {}, not {FORMAT}", snapshot.format)))
}

/// Removes a snapshot.
///
/// # Errors
/// When there is none, or it cannot be removed.
pub fn remove(host: &VmHost, name: &str) -> Result<Snapshot> {
    let snapshot = find(host, name)?;
    let place = directory(host, name);
    sys::remove_tree(&place)
        .map_err(|error| Error::environment(format!("cannot remove {}", place.display()), error))?;
    Ok(snapshot)
}

/// Starts a machine from a snapshot.
pub(crate) fn restore(host: &VmHost, snapshot: &Snapshot, interrupt: &Interrupt) -> Result<Booted> {
    let kernel = find_kernel(host, &snapshot.kernel)?;
    if kernel.digest != snapshot.kernel_digest {
        return Err(Error::new(
            ErrorKind::Environment,
            format!("cannot restore {}", snapshot.name),
            format!("{} is another one now", snapshot.kernel),
            format!("schedlab vm snapshot remove {0}, then create it again", snapshot.name),
        ));
    }
    let mut booter = booter(host, &snapshot.settings, &snapshot.kernel, interrupt)?;
    // A state of one accelerator is none of the other's.
    booter.engine = snapshot.engine();
    let part = |name: &str| {
        let path = directory(host, &snapshot.name).join(name);
        sys::open_regular(&path).map_err(|error| (path, error))
    };
    let unopened = |(path, error): (PathBuf, io::Error)| {
        Error::environment(format!("cannot open {}", path.display()), error)
    };
    let file = part(STATE).map_err(unopened)?;
    booter.files.disk = match part(FILES) {
        Ok(disk) => Some(disk),
        Err((_, error)) if error.kind() == io::ErrorKind::NotFound => None,
        Err(failed) => return Err(unopened(failed)),
    };
    let (sockets, cores, threads, nodes) = snapshot.topology;
    let saved = Saved {
        file,
        scratch: None,
        spec: BootSpec {
            kernel: snapshot.kernel.clone(),
            command_line: snapshot.command_line.clone(),
            topology: Topology { sockets, cores, threads, nodes },
        },
        facts: snapshot.facts.clone(),
    };
    booter.restore(&saved).map_err(NotBooted::into_error)
}

fn booter(
    host: &VmHost,
    settings: &VmSettings,
    kernel: &str,
    interrupt: &Interrupt,
) -> Result<Booter> {
    let plain = VmSettings { accelerator: Accelerator::Auto, ..settings.clone() };
    let engine = accelerator::choose(host, &plain, 0, kernel, interrupt)?;
    let mut booter =
        Booter::new(host.clone(), settings.clone(), engine, MARK.to_owned(), interrupt.clone());
    booter.tools = tools_image(host, &settings.tools)?;
    Ok(booter)
}

/// A name is one part of a path and nothing else.
fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty()
        && name.len() <= NAME_LIMIT
        && name.chars().all(is_plain)
        && !name.starts_with('.')
    {
        return Ok(());
    }
    let cause = format!("a name has letters, digits, dashes and dots, at most {NAME_LIMIT}");
    Err(Error::usage(format!("cannot use the name {name:?}"), cause, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leaves_its_directory() {
        for name in ["", "..", ".hidden", "a/b", "a b", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name}");
        }
        check_name("debian-6.12_quiet").unwrap();
    }
}
