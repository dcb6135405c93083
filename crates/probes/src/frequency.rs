//! CPU frequency and throttling.

use contract::{AttachedProbe, Cost, Description, Error, Probe, ProbeTarget, Requirement, Result};
use model::{CpuList, Direction, Metric, Reduction, RunReport, Sample, Unit};
use std::collections::BTreeMap;
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "frequency",
    summary: "CPU frequency at the end of the run, and throttling events during it",
    doc: "The mean over CPUs of `cpufreq/scaling_cur_freq` right after the window, and how often the CPUs \
          were throttled for heat inside it (`thermal_throttle/*_throttle_count`). A subject that ran \
          at another frequency did not win by scheduling.\n\n\
          What moves it, and when it lies: on x86 since 4.13 the file shows the mean frequency over the \
          last ticks as counted by APERF/MPERF, elsewhere what the driver last asked for. It is one \
          reading at the end, and CPUs that are idle by then show an old value. Power limits \
          (RAPL, firmware) lower the frequency without a throttling event. Package events are counted \
          once per CPU of the package by the kernel; here each package counts once.\n\n\
          Sources: arch/x86/kernel/cpu/aperfmperf.c, drivers/thermal/intel/therm_throt.c (6.12).",
};

const FREQUENCY: &str = "cpu_frequency";
const THROTTLES: &str = "throttle_events";

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        let metric = |id, unit, direction, summary: &str| {
            Metric::new(id, unit, direction, Reduction::Mean, summary)
        };
        vec![
            metric(
                FREQUENCY,
                Unit::PerSecond,
                Direction::Higher,
                "mean frequency of the CPUs at the end of the run, in hertz",
            ),
            metric(
                THROTTLES,
                Unit::Count,
                Direction::Lower,
                "thermal throttling events during the run",
            ),
        ]
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        vec![Requirement::check("CPU frequency or throttling counters", |machine| {
            let failed = |error: Error| (error.cause, error.remedy);
            let cpus = machine.online_cpus().map_err(|error| (error.to_string(), String::new()))?;
            let has_any = mean_frequency(machine, &cpus).map_err(failed)?.is_some()
                || throttles(machine, &cpus).map_err(failed)?.is_some();
            if has_any {
                return Ok(());
            }
            Err((
                "no CPU has cpufreq/scaling_cur_freq or thermal_throttle".to_owned(),
                "use a machine whose firmware shows them; guests usually do not".to_owned(),
            ))
        })]
    }

    fn attach(&self, machine: &Machine, target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Clocked { machine: machine.clone(), cpus: target.cpus.clone(), before: None }))
    }
}

struct Clocked {
    machine: Machine,
    cpus: CpuList,
    before: Option<u64>,
}

impl AttachedProbe for Clocked {
    fn start(&mut self) -> Result<()> {
        self.before = throttles(&self.machine, &self.cpus)?;
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 are not met")]
    fn stop(&mut self, _report: &RunReport) -> Result<Vec<Sample>> {
        let mut samples = Vec::new();
        if let Some(frequency) = mean_frequency(&self.machine, &self.cpus)? {
            samples.push(Sample::values(FREQUENCY, vec![frequency]));
        }
        let after = throttles(&self.machine, &self.cpus)?;
        // A counter that ran backwards belongs to a CPU that was replugged.
        if let Some(events) =
            self.before.zip(after).and_then(|(before, after)| after.checked_sub(before))
        {
            samples.push(Sample::values(THROTTLES, vec![events as f64]));
        }
        Ok(samples)
    }
}

/// Hertz; `None` where no CPU shows a frequency.
#[expect(clippy::cast_precision_loss, reason = "frequencies are exact in a double")]
fn mean_frequency(machine: &Machine, cpus: &CpuList) -> Result<Option<f64>> {
    let mut sum_khz = 0.0;
    let mut count = 0.0;
    for cpu in cpus.iter() {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        if let Some(khz) = number(machine, &path)? {
            sum_khz += khz as f64;
            count += 1.0;
        }
    }
    Ok((count > 0.0).then(|| sum_khz / count * 1_000.0))
}

/// Events of all cores, and of each package once; `None` where no CPU counts them.
fn throttles(machine: &Machine, cpus: &CpuList) -> Result<Option<u64>> {
    let mut cores: BTreeMap<String, u64> = BTreeMap::new();
    for cpu in cpus.iter() {
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}");
        let id = |name: &str| {
            machine
                .read(&format!("{directory}/topology/{name}"))
                .unwrap_or_else(|_| format!("of {cpu}"))
        };
        let package = id("physical_package_id");
        let core = format!("{package}/{}", id("core_id"));
        for (name, key) in [("core", core), ("package", package)] {
            let path = format!("{directory}/thermal_throttle/{name}_throttle_count");
            if let Some(count) = number(machine, &path)? {
                let kept = cores.entry(format!("{name} {key}")).or_default();
                *kept = (*kept).max(count);
            }
        }
    }
    Ok((!cores.is_empty()).then(|| cores.values().sum()))
}

/// The number in a file; `None` where there is no such file.
fn number(machine: &Machine, path: &str) -> Result<Option<u64>> {
    let text = match machine.read(path) {
        Ok(text) => text,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    text.trim().parse().map(Some).map_err(|_| {
        Error::environment(
            format!("cannot understand {path}"),
            format!("`{}` is not a number", text.trim()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, FakeMachine};

    const CPU: &str = "/sys/devices/system/cpu/cpu";

    /// Two hardware threads of one core in one package.
    fn machine() -> FakeMachine {
        let machine = FakeMachine::new(&[("/sys/devices/system/cpu/online", "0-1\n")]);
        for cpu in 0..2 {
            let write = |name: &str, text: &str| machine.write(&format!("{CPU}{cpu}/{name}"), text);
            write("cpufreq/scaling_cur_freq", ["2600000\n", "3400000\n"][cpu]);
            write("topology/physical_package_id", "0\n");
            write("topology/core_id", "0\n");
            write("thermal_throttle/core_throttle_count", "5\n");
            write("thermal_throttle/package_throttle_count", "7\n");
        }
        machine
    }

    #[test]
    fn a_package_that_throttled_counts_once_however_many_cpus_tell() {
        let machine = machine();
        assert_eq!(Entry.requires()[0].met(&machine), Ok(()));
        let mut attached = Entry.attach(&machine, &fixture::target(1)).unwrap();
        attached.start().unwrap();
        for cpu in 0..2 {
            machine.write(&format!("{CPU}{cpu}/thermal_throttle/core_throttle_count"), "6\n");
            machine.write(&format!("{CPU}{cpu}/thermal_throttle/package_throttle_count"), "9\n");
        }
        let samples = attached.stop(&fixture::report()).unwrap();
        assert_eq!(
            samples,
            [Sample::values(FREQUENCY, vec![3e9]), Sample::values(THROTTLES, vec![3.0])]
        );
    }

    #[test]
    fn a_machine_that_shows_neither_is_unsupported_and_garbage_is_an_error() {
        let bare = FakeMachine::new(&[("/sys/devices/system/cpu/online", "0\n")]);
        assert!(Entry.requires()[0].met(&bare).unwrap_err().why.contains("scaling_cur_freq"));
        let machine = machine();
        machine.write(&format!("{CPU}0/cpufreq/scaling_cur_freq"), "<unknown>\n");
        let mut attached = Entry.attach(&machine, &fixture::target(1)).unwrap();
        attached.start().unwrap();
        assert!(attached.stop(&fixture::report()).is_err());
    }
}
