//! Hardware counters: cycles, instructions and cache misses.

use crate::perf_access::{self, Counters};
use crate::rate::EventRate;
use contract::{AttachedProbe, Cost, Description, Probe, ProbeTarget, Requirement, Result};
use model::{Direction, Metric, Reduction, RunReport, Sample, Unit};
use sys::{Machine, PerfEvent};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "hardware",
    summary: "instructions per cycle and cache misses by hardware counters",
    doc: "Instructions per cycle fall and cache misses rise when tasks are moved away from their caches \
          or share them: the mechanism behind many scheduler effects. Opened on the workload's process \
          before it prepares and inherited by all it starts; kernel and user mode.\n\n\
          What moves it, and when it lies: with fewer counters than events the kernel multiplexes them \
          and the counts are extrapolated by enabled over running time, which assumes an even load. \
          \"Cache misses\" means what the CPU maker chose (usually the last level). Sibling hardware \
          threads share resources that these counters do not attribute. Guests see counters only where \
          the hypervisor passes them on. Switching tasks reprograms the counters, which costs about a \
          microsecond where tasks of different sets alternate.\n\n\
          Sources: perf_event_open(2), arch/x86/events (6.12).",
};

const EVENTS: &[PerfEvent] = &[
    PerfEvent::Cycles,
    PerfEvent::Instructions,
    PerfEvent::CacheReferences,
    PerfEvent::CacheMisses,
];

const CYCLES: EventRate = EventRate {
    per_operation: "cycles_per_operation",
    per_second: "cycles_per_second",
    events: "CPU cycles",
};
const INSTRUCTIONS: EventRate = EventRate {
    per_operation: "instructions_per_operation",
    per_second: "instructions_per_second",
    events: "instructions",
};
const MISSES: EventRate = EventRate {
    per_operation: "cache_misses_per_operation",
    per_second: "cache_misses_per_second",
    events: "misses of the last-level cache",
};

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        let mut metrics: Vec<Metric> =
            [CYCLES, INSTRUCTIONS, MISSES].iter().flat_map(EventRate::metrics).collect();
        metrics.push(Metric::new(
            "instructions_per_cycle",
            Unit::Plain,
            Direction::Higher,
            Reduction::Quotient,
            "instructions retired in each CPU cycle",
        ));
        metrics.push(crate::rate::share_metric(
            "cache_miss_ratio",
            "accesses of the last-level cache that missed",
        ));
        metrics
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        vec![perf_access::requirement("hardware performance counters", EVENTS)]
    }

    fn attach(&self, _machine: &Machine, target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Counting(Counters::open(EVENTS, target.pid)?)))
    }
}

struct Counting(Counters);

impl AttachedProbe for Counting {
    fn start(&mut self) -> Result<()> {
        self.0.enable()
    }

    fn stop(&mut self, report: &RunReport) -> Result<Vec<Sample>> {
        Ok(samples(&self.0.finish()?, report))
    }
}

/// Figures of the counts; one that is missing takes every ratio with it.
fn samples(counts: &[(PerfEvent, Option<f64>)], report: &RunReport) -> Vec<Sample> {
    let of =
        |event| counts.iter().find(|(counted, _)| *counted == event).and_then(|(_, count)| *count);
    let mut samples = Vec::new();
    let rates = [
        (PerfEvent::Cycles, CYCLES),
        (PerfEvent::Instructions, INSTRUCTIONS),
        (PerfEvent::CacheMisses, MISSES),
    ];
    for (event, rate) in &rates {
        if let Some(count) = of(*event) {
            samples.extend(rate.samples(count, report));
        }
    }
    let ratios = [
        ("instructions_per_cycle", PerfEvent::Instructions, PerfEvent::Cycles),
        ("cache_miss_ratio", PerfEvent::CacheMisses, PerfEvent::CacheReferences),
    ];
    for (source, part, whole) in ratios {
        if let (Some(part), Some(whole)) = (of(part), of(whole)) {
            samples.extend(crate::rate::share(source, part, whole));
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use sys::PerfReading;

    /// read(2) of a counter with PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING, little-endian.
    fn decoded(bytes: [u8; 24]) -> Option<f64> {
        PerfReading::decode(&bytes).unwrap().scaled()
    }

    #[test]
    fn readings_become_ratios_and_rates() {
        // 2_000_000 cycles, counted half of 1 ms: extrapolated to 4_000_000.
        let cycles = [
            0x80, 0x84, 0x1e, 0, 0, 0, 0, 0, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0, 0x20, 0xa1, 0x07, 0,
            0, 0, 0, 0,
        ];
        // 6_000_000 instructions, counted all the time.
        let instructions = [
            0x80, 0x8d, 0x5b, 0, 0, 0, 0, 0, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0, 0x40, 0x42, 0x0f, 0,
            0, 0, 0, 0,
        ];
        let counts = [
            (PerfEvent::Cycles, decoded(cycles)),
            (PerfEvent::Instructions, decoded(instructions)),
            (PerfEvent::CacheReferences, Some(1_000.0)),
            (PerfEvent::CacheMisses, Some(250.0)),
        ];
        let samples = samples(&counts, &fixture::report());
        let of = |source| fixture::quotient(&samples, source);
        assert_eq!(of("instructions_per_cycle"), Some(1.5));
        assert_eq!(of("cache_miss_ratio"), Some(0.25));
        assert_eq!(of("cycles_per_operation"), Some(40_000.0));
        assert_eq!(of("cache_misses_per_second"), Some(250.0));
    }

    #[test]
    fn a_counter_that_never_ran_leaves_its_ratios_out() {
        let counts = [
            (PerfEvent::Cycles, None),
            (PerfEvent::Instructions, Some(5.0)),
            (PerfEvent::CacheReferences, Some(0.0)),
            (PerfEvent::CacheMisses, Some(0.0)),
        ];
        let samples = samples(&counts, &fixture::report());
        for source in ["instructions_per_cycle", "cache_miss_ratio", "cycles_per_second"] {
            assert_eq!(fixture::quotient(&samples, source), None, "{source}");
        }
    }

    #[test]
    fn a_machine_without_counters_says_why() {
        if let Err(missing) = Entry.requires()[0].met(&fixture::host()) {
            assert!(missing.why.contains("perf_event_open"), "{missing:?}");
            assert!(!missing.remedy.is_empty());
        }
    }
}
