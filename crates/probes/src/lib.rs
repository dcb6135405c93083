//! What is observed beside a workload, and what observing costs.
//!
//! This crate must not know workloads, factors or verdicts: a probe reads the
//! machine before and after the timed window and reports what it saw. Something
//! not seen is left out, never reported as zero.

mod own_cost;
mod perf_access;
mod rate;
mod system_time;

#[cfg(test)]
mod fixture;

pub use own_cost::cost_of;

contract::catalog!(dyn contract::Probe:
    counters,
    cpu_time,
    energy,
    foreign_cpu,
    frequency,
    hardware,
    load_average,
    pressure,
    run_delay,
    rusage,
    steal,
);

/// Probes attached when an experiment names none: they read before and after the
/// window only, and need no privilege and no kernel option.
pub const DEFAULT: &[&str] = &["rusage", "cpu_time", "steal", "foreign_cpu"];

/// The metric that the caveat `STEAL` is about.
pub const STEAL_METRIC: &str = "steal_share";

#[cfg(test)]
mod tests {
    use super::*;
    use contract::Cost;
    use model::SampleData;
    use std::collections::BTreeSet;

    #[test]
    fn ids_of_probes_and_metrics_are_unique_and_documented() {
        let (mut probes, mut metrics) = (BTreeSet::new(), BTreeSet::new());
        for probe in ENTRIES {
            let description = probe.describe();
            assert!(probes.insert(description.id), "{} is listed twice", description.id);
            assert!(description.doc.contains("Sources:"), "{} names no source", description.id);
            assert!(description.doc.contains("when it lies"), "{}", description.id);
            for metric in probe.metrics() {
                assert!(!metric.summary.is_empty(), "{}", metric.id);
                assert!(metrics.insert(metric.id.clone()), "{} is declared twice", metric.id);
            }
        }
    }

    #[test]
    fn the_default_probes_exist_read_only_before_and_after_and_need_nothing_here() {
        let machine = fixture::host();
        for id in DEFAULT {
            let probe = ENTRIES.iter().find(|probe| probe.describe().id == *id).unwrap();
            assert_eq!(probe.cost(), Cost::BeforeAfter, "{id}");
            for need in probe.requires() {
                assert_eq!(need.met(&machine), Ok(()), "{id}");
            }
        }
        assert!(steal::Entry.declares(STEAL_METRIC));
    }

    #[test]
    fn on_this_machine_every_supported_probe_emits_only_what_it_declares() {
        let machine = fixture::host();
        for probe in ENTRIES {
            let id = probe.describe().id;
            if let Some(missing) = probe.requires().iter().find_map(|need| need.met(&machine).err())
            {
                assert!(!missing.why.is_empty() && !missing.remedy.is_empty(), "{id}: {missing:?}");
                testing::unsupported(&format!("{id}: {missing}"));
                continue;
            }
            let samples = fixture::observe(*probe, &machine);
            let sources: BTreeSet<String> =
                probe.metrics().into_iter().map(|metric| metric.source).collect();
            for sample in &samples {
                assert!(sources.contains(sample.source.as_str()), "{id} emits {}", sample.source);
                if let SampleData::Quotient { numerator, denominator } = sample.data {
                    assert!(denominator > 0.0 && numerator >= 0.0, "{id}: {sample:?}");
                }
            }
        }
    }
}
