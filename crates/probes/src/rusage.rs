//! What the workload's own process accounts for: switches, faults and CPU time.

use crate::rate::{EventRate, TimeRate};
use contract::{AttachedProbe, Cost, Description, Probe, ProbeTarget, Requirement, Result};
use model::{Metric, RunReport, Sample};
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "rusage",
    summary: "context switches, page faults and CPU time by getrusage",
    doc: "A voluntary switch is a task that went to sleep, an involuntary one was preempted; their \
          number for each operation tells why a latency is what it is. The workload's process reads \
          getrusage(2) at both ends of the window, for itself and for the children it has waited for.\n\n\
          What moves it, and when it lies: a child that is still running, or that ended before without \
          having been waited for, is missing (the probe `counters` sees it). A child that was started \
          before the window but waited for inside it counts with all it ever did. CPU time is exact \
          where the kernel accounts precisely (VIRT_CPU_ACCOUNTING_GEN) and otherwise split between \
          user and system by ticks, of which only the sum is used here.\n\n\
          Sources: getrusage(2), kernel/sys.c (6.12).",
};

const VOLUNTARY: EventRate = EventRate {
    per_operation: "voluntary_switches_per_operation",
    per_second: "voluntary_switches_per_second",
    events: "voluntary context switches",
};
const INVOLUNTARY: EventRate = EventRate {
    per_operation: "involuntary_switches_per_operation",
    per_second: "involuntary_switches_per_second",
    events: "involuntary context switches",
};
const MINOR: EventRate = EventRate {
    per_operation: "minor_faults_per_operation",
    per_second: "minor_faults_per_second",
    events: "page faults without I/O",
};
const MAJOR: EventRate = EventRate {
    per_operation: "major_faults_per_operation",
    per_second: "major_faults_per_second",
    events: "page faults with I/O",
};
const CPU: TimeRate = TimeRate {
    per_operation: "cpu_time_per_operation",
    share: "cpu_time_share",
    time: "user and system time of the workload",
};

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        let events = [VOLUNTARY, INVOLUNTARY, MINOR, MAJOR];
        events.iter().flat_map(EventRate::metrics).chain(CPU.metrics()).collect()
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        Vec::new()
    }

    fn attach(&self, _machine: &Machine, _target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Reported))
    }
}

/// Everything is in the workload's report.
struct Reported;

impl AttachedProbe for Reported {
    fn start(&mut self) -> Result<()> {
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 are not met")]
    fn stop(&mut self, report: &RunReport) -> Result<Vec<Sample>> {
        let usage = &report.usage;
        let events = [
            (VOLUNTARY, usage.voluntary_switches),
            (INVOLUNTARY, usage.involuntary_switches),
            (MINOR, usage.minor_faults),
            (MAJOR, usage.major_faults),
        ];
        let mut samples: Vec<Sample> =
            events.iter().flat_map(|(rate, count)| rate.samples(*count as f64, report)).collect();
        samples.extend(CPU.samples((usage.user_ns + usage.system_ns) as f64, report));
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::Usage;

    #[test]
    fn figures_are_those_of_the_report() {
        let usage = Usage {
            user_ns: 300_000_000,
            system_ns: 200_000_000,
            voluntary_switches: 200,
            involuntary_switches: 50,
            minor_faults: 10,
            ..Usage::default()
        };
        let report = RunReport { usage, ..fixture::report() };
        let samples = Reported.stop(&report).unwrap();
        let of = |source| fixture::quotient(&samples, source);
        assert_eq!(of("voluntary_switches_per_operation"), Some(2.0));
        assert_eq!(of("involuntary_switches_per_second"), Some(50.0));
        assert_eq!(of("minor_faults_per_operation"), Some(0.1));
        assert_eq!(of("cpu_time_per_operation"), Some(5_000_000.0));
        assert_eq!(of("cpu_time_share"), Some(0.5));
    }
}
