//! One file for each command, and the machine that they all mean.

mod bench_self;
mod build;
mod bundle;
mod calibrate;
mod capacity;
mod compare;
mod dispatch;
mod doctor;
mod explain;
mod figures;
mod gate;
mod history;
mod import;
mod import_mapping;
mod kernels;
mod list;
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
#[cfg(feature = "top")]
mod top;
mod unpacked_bundle;
mod vm;
mod vs;

pub(crate) use dispatch::dispatch;
#[cfg(feature = "typescript")]
pub(crate) use history::visit_history;
pub(crate) use import::DEFAULT_ALPHA;
pub(crate) use reports::formats as report_formats;

use crate::cli::Common;
use crate::environment::{MachineChoice, agent, cache_directory};
use artefacts::Schedulers;
use assembly::{executable, machine_arguments};
use contract::{Result, Venue};
use model::StorageTarget;
use std::rc::Rc;
use sys::Machine;
use venues::{Host, HostSettings, Sim, Vm, VmHost};

/// The machine that the command line means.
fn machine(common: &Common) -> Result<Machine> {
    let choice = MachineChoice {
        root: common.root.clone(),
        runtime: common.runtime_dir.clone(),
        programs: cache_directory(common.cache.as_deref())
            .ok()
            .map(|cache| Schedulers::programs_of(&cache)),
    };
    Ok(choice.machine()?.with_destroyable(common.destroy_data.clone()))
}

/// The host venue of that machine.
fn host(common: &Common) -> Result<Host> {
    let machine = machine(common)?;
    let files = files_target(common, &machine);
    let machine = machine.with_target(files);
    Ok(Host::new(HostSettings {
        machine_arguments: machine_arguments(&machine),
        machine,
        catalogue: crate::catalogue(),
        executable: executable(),
    }))
}

/// What virtual machines are told of their surroundings.
fn vm_host(common: &Common) -> Result<VmHost> {
    let machine = machine(common)?;
    Ok(VmHost {
        host: HostSettings {
            machine_arguments: machine_arguments(&machine),
            machine,
            catalogue: crate::catalogue(),
            executable: executable(),
        },
        agent: agent(),
        cache: cache_directory(common.cache.as_deref())?,
        kernels: Rc::new(kernels::open(common)?),
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Where files of workloads would lie: below the directory of campaigns, or where that would
/// be made.
fn files_target(common: &Common, machine: &Machine) -> StorageTarget {
    let results = std::path::absolute(&common.results).unwrap_or_else(|_| common.results.clone());
    let existing = results.ancestors().find(|path| path.is_dir()).unwrap_or(&results);
    sys::directory_target(machine, existing)
}

/// The venue of a plan.
fn venue(common: &Common, id: &str) -> Result<Box<dyn Venue>> {
    match id {
        "sim" => Ok(Box::new(Sim::new(crate::catalogue()))),
        "vm" => Ok(Box::new(Vm::new(vm_host(common)?))),
        _ => Ok(Box::new(host(common)?)),
    }
}
