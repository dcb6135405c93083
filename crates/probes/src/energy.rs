//! Energy of the CPU packages and of memory.

use contract::{AttachedProbe, Cost, Description, Error, Probe, ProbeTarget, Requirement, Result};
use model::{Direction, Metric, Reduction, RunReport, Sample, Unit};
use std::collections::BTreeMap;
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "energy",
    summary: "energy of the CPU packages and of memory by RAPL",
    doc: "The running average power limit counters of Intel and AMD CPUs, through \
          `/sys/class/powercap/intel-rapl:*`: joules of all packages and of their memory controllers, \
          for each operation and for each second (watts).\n\n\
          What moves it, and when it lies: it is the whole package, with everything else that ran and \
          with idle power, so compare subjects over the same work, not over the same time. The counter \
          is updated about every millisecond and wraps; a window in which it could have wrapped twice \
          is left out. On client CPUs the `psys` zone overlaps the packages and is not added. Since \
          5.10 only root may read it.\n\n\
          Sources: Documentation/power/powercap/powercap.rst, drivers/powercap/intel_rapl_common.c \
          (6.12), CVE-2020-8694.",
};

const DIRECTORY: &str = "/sys/class/powercap";

/// No package draws more: bounds the time in which a counter wraps twice.
const HIGHEST_WATTS: u64 = 1_000;

struct Domain {
    /// What the zone's name begins with.
    zone: &'static str,
    per_operation: &'static str,
    per_second: &'static str,
    summary: &'static str,
}

const DOMAINS: [Domain; 2] = [
    Domain {
        zone: "package",
        per_operation: "package_energy_per_operation",
        per_second: "package_energy_per_second",
        summary: "energy of all CPU packages",
    },
    Domain {
        zone: "dram",
        per_operation: "memory_energy_per_operation",
        per_second: "memory_energy_per_second",
        summary: "energy of the memory",
    },
];

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        let metric = |id: &str, summary: String| {
            Metric::new(id, Unit::Joules, Direction::Lower, Reduction::Quotient, summary)
        };
        let of = |domain: &Domain| {
            [
                metric(domain.per_operation, format!("{} for each operation", domain.summary)),
                metric(domain.per_second, format!("{} in each second (watts)", domain.summary)),
            ]
        };
        DOMAINS.iter().flat_map(of).collect()
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        vec![Requirement::check("energy counters (RAPL)", |machine| {
            let readings = read_all(machine).map_err(|error| {
                let remedy = "run as root: energy counters are readable by root only".to_owned();
                (format!("{}: {}", error.attempted, error.cause), remedy)
            })?;
            if readings.is_empty() {
                return Err((
                    format!("{DIRECTORY} has no intel-rapl package zone"),
                    "use a machine of its own with the module intel_rapl_msr; guests have none"
                        .to_owned(),
                ));
            }
            Ok(())
        })]
    }

    fn attach(&self, machine: &Machine, _target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Metered { machine: machine.clone(), before: BTreeMap::new(), began_ns: 0 }))
    }
}

/// One counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    domain: usize,
    energy_uj: u64,
    range_uj: u64,
}

impl Reading {
    /// Joules since `earlier`; `None` where the counter could have wrapped twice.
    #[expect(clippy::cast_precision_loss, reason = "the range of a counter is exact in a double")]
    fn joules_since(&self, earlier: &Reading, window_ns: u64) -> Option<f64> {
        let safe_ns = u128::from(self.range_uj) * 1_000 / u128::from(HIGHEST_WATTS);
        if u128::from(window_ns) >= safe_ns {
            return None;
        }
        let spent = match self.energy_uj.checked_sub(earlier.energy_uj) {
            Some(spent) => spent,
            None => (self.range_uj + self.energy_uj).checked_sub(earlier.energy_uj)?,
        };
        Some(spent as f64 / 1e6)
    }
}

struct Metered {
    machine: Machine,
    before: BTreeMap<String, Reading>,
    began_ns: u64,
}

impl AttachedProbe for Metered {
    fn start(&mut self) -> Result<()> {
        self.before = read_all(&self.machine)?;
        self.began_ns = sys::monotonic_ns();
        Ok(())
    }

    fn stop(&mut self, report: &RunReport) -> Result<Vec<Sample>> {
        let window_ns = sys::monotonic_ns() - self.began_ns;
        let after = read_all(&self.machine)?;
        Ok(samples(&self.before, &after, window_ns, report))
    }
}

#[expect(clippy::cast_precision_loss, reason = "operations beyond 2^53 are not met")]
fn samples(
    before: &BTreeMap<String, Reading>,
    after: &BTreeMap<String, Reading>,
    window_ns: u64,
    report: &RunReport,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (number, domain) in DOMAINS.iter().enumerate() {
        let zones = before.iter().filter(|(_, reading)| reading.domain == number);
        // One zone that cannot be told makes the sum wrong.
        let joules: Option<Vec<f64>> =
            zones.map(|(zone, then)| after.get(zone)?.joules_since(then, window_ns)).collect();
        let Some(joules) = joules.filter(|joules| !joules.is_empty()) else { continue };
        let sum: f64 = joules.iter().sum();
        if let Some(operations) = report.operations.filter(|operations| *operations > 0) {
            samples.push(Sample::quotient(domain.per_operation, sum, operations as f64));
        }
        samples.extend(crate::rate::share(domain.per_second, sum, crate::rate::seconds(window_ns)));
    }
    samples
}

/// Every zone of a known domain; `intel-rapl-mmio` shows the same package again.
fn read_all(machine: &Machine) -> Result<BTreeMap<String, Reading>> {
    let mut readings = BTreeMap::new();
    for zone in machine.list(DIRECTORY)?.into_iter().filter(|zone| zone.starts_with("intel-rapl:"))
    {
        let file = |name: &str| format!("{DIRECTORY}/{zone}/{name}");
        let name = machine.read(&file("name"))?;
        let Some(domain) = DOMAINS.iter().position(|domain| name.trim().starts_with(domain.zone))
        else {
            continue;
        };
        let number = |name: &str| -> Result<u64> {
            let text = machine.read(&file(name))?;
            text.trim().parse().map_err(|_| {
                Error::environment(
                    format!("cannot understand {}", file(name)),
                    format!("`{}` is not a number", text.trim()),
                )
            })
        };
        let reading = Reading {
            domain,
            energy_uj: number("energy_uj")?,
            range_uj: number("max_energy_range_uj")?,
        };
        readings.insert(zone, reading);
    }
    Ok(readings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, FakeMachine};

    const RANGE_UJ: u64 = 262_143_328_850;

    fn machine(zones: &[(&str, &str, u64)]) -> FakeMachine {
        let machine = FakeMachine::new(&[]);
        for (zone, name, energy_uj) in zones {
            let write = |file: &str, text: String| {
                machine.write(&format!("{DIRECTORY}/{zone}/{file}"), &text)
            };
            write("name", format!("{name}\n"));
            write("energy_uj", format!("{energy_uj}\n"));
            write("max_energy_range_uj", format!("{RANGE_UJ}\n"));
        }
        machine
    }

    fn joules(
        before: &[(&str, &str, u64)],
        after: &[(&str, &str, u64)],
        window_ns: u64,
    ) -> Vec<Sample> {
        let read = |zones| read_all(&machine(zones)).unwrap();
        samples(&read(before), &read(after), window_ns, &fixture::report())
    }

    #[test]
    fn packages_are_summed_and_a_counter_may_wrap_once() {
        let samples = joules(
            &[
                ("intel-rapl:0", "package-0", 1_000_000),
                ("intel-rapl:1", "package-1", RANGE_UJ - 1_000_000),
                ("intel-rapl:0:0", "core", 5),
                ("intel-rapl:2", "psys", 5),
                ("intel-rapl-mmio:0", "package-0", 1_000_000),
            ],
            &[
                ("intel-rapl:0", "package-0", 31_000_000),
                ("intel-rapl:1", "package-1", 9_000_000),
                ("intel-rapl:0:0", "core", 500_000_000),
                ("intel-rapl:2", "psys", 900_000_000),
                ("intel-rapl-mmio:0", "package-0", 31_000_000),
            ],
            2_000_000_000,
        );
        let of = |source| fixture::quotient(&samples, source);
        assert_eq!(of("package_energy_per_operation"), Some(0.4));
        assert_eq!(of("package_energy_per_second"), Some(20.0));
        assert_eq!(of("memory_energy_per_second"), None, "there is no such zone");
    }

    #[test]
    fn memory_is_a_domain_of_its_own() {
        let zone = |energy_uj| [("intel-rapl:0:1", "dram", energy_uj)];
        let samples = joules(&zone(0), &zone(3_000_000), 1_000_000_000);
        assert_eq!(fixture::quotient(&samples, "memory_energy_per_second"), Some(3.0));
    }

    #[test]
    fn a_window_in_which_it_may_have_wrapped_twice_and_a_zone_that_vanished_leave_no_figure() {
        let zone = |energy_uj| [("intel-rapl:0", "package-0", energy_uj)];
        assert_eq!(joules(&zone(0), &zone(5), 300_000_000_000), []);
        assert_eq!(joules(&zone(0), &[], 1_000_000_000), []);
    }

    #[test]
    fn a_machine_without_counters_says_so_and_garbage_is_an_error() {
        let missing = Entry.requires()[0].met(&machine(&[])).unwrap_err();
        assert!(missing.why.contains("no intel-rapl"), "{missing:?}");
        let machine = machine(&[("intel-rapl:0", "package-0", 1)]);
        machine.write(&format!("{DIRECTORY}/intel-rapl:0/energy_uj"), "-1\n");
        assert!(read_all(&machine).is_err());
        assert!(Entry.requires()[0].met(&machine).is_err());
    }
}
