//! One file for each command, and the machine that they all mean.

mod bench_self;
mod build;
mod bundle;
mod calibrate;
#[cfg(any(feature = "server", feature = "top"))]
mod campaign_loading;
mod capacity;
mod checkpoint;
mod compare;
mod context;
mod dispatch;
mod doctor;
mod evidence;
mod excerpts;
mod explain;
mod figures;
mod findings_differences;
mod gate;
mod history;
mod import;
mod import_evidence;
mod import_mapping;
mod kernels;
mod list;
mod manifest_fields;
mod net;
mod new;
mod pilot;
mod plan;
mod plan_description;
mod planning;
mod reports;
mod restore;
mod run;
mod save;
mod schedulers;
mod secrets;
#[cfg(feature = "server")]
mod serve;
mod signals;
mod signatures;
mod studies;
mod study_runs;
mod study_text;
mod suites;
#[cfg(feature = "top")]
mod top;
mod unpacked_bundle;
mod vm;
mod vs;

pub(crate) use dispatch::dispatch;
#[cfg(feature = "typescript")]
pub(crate) use history::visit_history;
pub(crate) use reports::formats as report_formats;

use crate::cli::Common;
use crate::environment::MachineChoice;
use crate::output::tell;
use crate::trusted_cache::trusted_cache;
use builds::Schedulers;
use contract::{Footprint, Result, Venue};
use model::{Plan, StorageTarget};
use std::sync::Once;
use sys::Machine;
use venues::{Host, VmHost};

/// The machine that the command line means.
fn machine(common: &Common) -> Result<Machine> {
    static TOLD: Once = Once::new();
    let choice = MachineChoice {
        root: common.root.clone(),
        runtime: common.runtime_dir.clone(),
        // A plan that needs one that is refused says so (`venue`); nothing else is looked for there.
        programs: trusted_cache(common.cache.as_deref())
            .ok()
            .map(|cache| Schedulers::programs_of(&cache)),
    };
    if let Some(what) = choice.passed_over() {
        TOLD.call_once(|| tell(&format!("warning: {what}")));
    }
    Ok(choice.machine()?.with_destroyable(common.destroy_data.clone()))
}

/// Refuses a runtime directory that the command line names and another user could put something
/// into, or in place of, before anything is written: campaigns are counted there, also those that
/// take no lock of the machine. Nothing is made or changed, so that a user who may read it still can.
fn refuse_foreign_runtime(common: &Common) -> Result<()> {
    if common.runtime_dir.is_none() {
        return Ok(());
    }
    executor::check_runtime_directory(&machine(common)?)
}

/// The host venue of that machine.
fn host(common: &Common) -> Result<Host> {
    Host::of(common)
}

/// The host under each runtime directory in which this user can have left a journal, that of a run
/// first; under the one alone that the command line names.
fn hosts_of_user(common: &Common) -> Result<Vec<Host>> {
    let mut hosts = vec![host(common)?];
    if common.runtime_dir.is_none() {
        for directory in executor::other_runtime_directories(&machine(common)?) {
            hosts.push(host(&Common { runtime_dir: Some(directory), ..common.clone() })?);
        }
    }
    Ok(hosts)
}

/// What virtual machines are told of their surroundings.
fn vm_host(common: &Common) -> Result<VmHost> {
    trusted_cache(common.cache.as_deref())?;
    VmHost::of(common)
}

/// Where files of workloads would lie: below the directory of campaigns, or where that would
/// be made.
fn files_target(common: &Common, machine: &Machine) -> StorageTarget {
    let results = std::path::absolute(&common.results).unwrap_or_else(|_| common.results.clone());
    let existing = results.ancestors().find(|path| path.is_dir()).unwrap_or(&results);
    sys::directory_target(machine, existing)
}

/// The venue of a plan. Where guests are booted or a scheduler of the cache is started, root has to be
/// able to trust the cache.
fn venue(common: &Common, plan: &Plan) -> Result<Box<dyn Venue>> {
    let catalogue = crate::catalogue();
    let entry = catalogue.venue_of(plan)?;
    let needs_cache = match entry.facts().footprint {
        Footprint::Nothing => false,
        Footprint::Processes => true,
        Footprint::Knobs => schedulers::starts_cached(plan),
    };
    if needs_cache {
        trusted_cache(common.cache.as_deref())?;
    }
    entry.venue(common)
}
