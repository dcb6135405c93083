//! Reading the machine's CPU time, for the probes that divide it.

use contract::{Error, Result};
use sys::{CpuTime, Machine};

/// CPU time per mode since boot.
pub(crate) fn read(machine: &Machine) -> Result<CpuTime> {
    let text = machine.read("/proc/stat")?;
    CpuTime::parse(&text).ok_or_else(|| {
        Error::environment(
            "cannot understand /proc/stat",
            "its first line does not show eight modes of CPU time",
        )
    })
}

/// What was spent between two readings.
pub(crate) struct Window {
    machine: Machine,
    before: CpuTime,
}

impl Window {
    pub(crate) fn new(machine: &Machine) -> Self {
        Self { machine: machine.clone(), before: CpuTime::default() }
    }

    pub(crate) fn start(&mut self) -> Result<()> {
        self.before = read(&self.machine)?;
        Ok(())
    }

    pub(crate) fn stop(&self) -> Result<CpuTime> {
        Ok(read(&self.machine)?.since(&self.before))
    }
}
