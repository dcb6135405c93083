//! What observing costs on this machine, measured rather than claimed.

use contract::{Error, Probe, ProbeTarget, Result};
use model::RunReport;
use std::process::{Child, Command, Stdio};
use sys::Machine;

/// Odd, so that the median is one of the values; few enough to take well under a
/// second for the slowest probe.
const REPETITIONS: usize = 21;

/// The median time in nanoseconds of attaching to an idle process, starting and
/// stopping.
///
/// # Errors
/// When the probe cannot be attached here.
pub fn cost_of(entry: &dyn Probe, machine: &Machine) -> Result<u64> {
    let idle = IdleChild::start()?;
    let target = ProbeTarget {
        pid: idle.pid(),
        group: idle.pid(),
        cgroups: Vec::new(),
        background: Vec::new(),
        cpus: machine.online_cpus()?,
    };
    let report = RunReport { wall_ns: 1, operations: Some(1), ..RunReport::default() };
    let mut costs_ns = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let begin_ns = sys::monotonic_ns();
        let mut attached = entry.attach(machine, &target)?;
        attached.start()?;
        attached.stop(&report)?;
        drop(attached);
        costs_ns.push(sys::monotonic_ns() - begin_ns);
    }
    costs_ns.sort_unstable();
    Ok(costs_ns[REPETITIONS / 2])
}

/// A process that waits for the end of its input, so it ends with us whatever happens.
struct IdleChild(Child);

impl IdleChild {
    fn start() -> Result<Self> {
        use std::os::unix::process::CommandExt;
        Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map(Self)
            .map_err(|error| {
                Error::new(
                    contract::ErrorKind::Environment,
                    "cannot start an idle process to observe (cat)",
                    error,
                    "install coreutils, or check PATH",
                )
            })
    }

    fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }
}

impl Drop for IdleChild {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // It ends by itself; a status that is gone is no loss.
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_every_supported_probe_is_measured() {
        let machine = crate::fixture::host();
        for probe in crate::ENTRIES {
            let is_supported = probe.requires().iter().all(|need| need.met(&machine).is_ok());
            if is_supported {
                assert!(cost_of(*probe, &machine).unwrap() > 0, "{}", probe.describe().id);
            }
        }
    }
}
