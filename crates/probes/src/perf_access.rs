//! Opening counters: the need, and errors in words.

use contract::{Error, Requirement, Result};
use std::io;
use sys::{PerfCounter, PerfEvent};

/// These counters can be opened; tried on this thread, disabled, and closed again.
pub(crate) fn requirement(what: &'static str, events: &'static [PerfEvent]) -> Requirement {
    Requirement::check(what, move |_machine| {
        for event in events {
            if let Err(error) = PerfCounter::open(*event, 0) {
                return Err((
                    format!("perf_event_open({event:?}): {error}"),
                    remedy(&error).to_owned(),
                ));
            }
        }
        Ok(())
    })
}

fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "run as root or with CAP_PERFMON, or sysctl kernel.perf_event_paranoid=1"
        }
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "use a machine that shows its performance counters; guests need them passed on by the hypervisor"
        }
        Some(libc::ENOSYS) => "choose a kernel built with CONFIG_PERF_EVENTS=y",
        _ => "see perf_event_open(2)",
    }
}

/// Counters on one process, each with its event.
pub(crate) struct Counters(Vec<(PerfEvent, PerfCounter)>);

impl Counters {
    pub(crate) fn open(events: &[PerfEvent], pid: i32) -> Result<Self> {
        let mut counters = Vec::with_capacity(events.len());
        for event in events {
            let counter = PerfCounter::open(*event, pid).map_err(|error| {
                let remedy = remedy(&error);
                Error::unsupported(
                    format!("cannot count {event:?} of process {pid}"),
                    error,
                    remedy,
                )
            })?;
            counters.push((*event, counter));
        }
        Ok(Self(counters))
    }

    pub(crate) fn enable(&self) -> Result<()> {
        for (event, counter) in &self.0 {
            counter.enable().map_err(|error| {
                Error::environment(format!("cannot start to count {event:?}"), error)
            })?;
        }
        Ok(())
    }

    /// Stops all, then reads all: one count per event, `None` where the counter
    /// never ran.
    pub(crate) fn finish(&self) -> Result<Vec<(PerfEvent, Option<f64>)>> {
        for (event, counter) in &self.0 {
            counter.disable().map_err(|error| {
                Error::environment(format!("cannot stop counting {event:?}"), error)
            })?;
        }
        let mut counts = Vec::with_capacity(self.0.len());
        for (event, counter) in &self.0 {
            let reading = counter.read().map_err(|error| {
                Error::environment(format!("cannot read the count of {event:?}"), error)
            })?;
            counts.push((*event, reading.scaled()));
        }
        Ok(counts)
    }
}
