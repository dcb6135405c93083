//! Where the tasks of a workload may run, within the affinity of its launch.

use contract::{Error, LaunchSpec, Result};
use model::CpuList;

/// The CPUs this workload may use: the launch's affinity as far as the kernel
/// has applied it.
///
/// # Errors
/// When the kernel cannot be asked.
pub fn allowed_cpus(launch: &LaunchSpec) -> Result<CpuList> {
    let actual = sys::affinity(0)
        .map_err(|error| Error::environment("cannot read the affinity of the workload", error))?;
    match &launch.affinity {
        Some(wanted) => Ok(actual.iter().filter(|cpu| wanted.contains(*cpu)).collect()),
        None => Ok(actual),
    }
}

/// Pins the calling thread to the nth of these CPUs, counting around.
///
/// # Errors
/// What the kernel answers, in one sentence.
pub fn pin_to_nth(cpus: &CpuList, index: usize) -> Result<(), String> {
    let cpu = cpus
        .iter()
        .nth(index % cpus.len().max(1))
        .ok_or_else(|| "the workload may use no CPU".to_owned())?;
    sys::set_affinity(0, &std::iter::once(cpu).collect())
        .map_err(|error| format!("cannot pin a task to CPU {cpu}: {error}"))
}
