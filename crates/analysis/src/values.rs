//! The numbers behind the verdicts, one for each trial and metric, to be shown beside them.

use crate::observations::latest;
use crate::pairs::{LEAST_SHOWN, tail};
use crate::reduce::reduce;
use model::{Metric, Outcome, Plan, Record, SharedName, TrialValue, round_significant as round};
use std::collections::{BTreeMap, BTreeSet};

/// What every completed trial reduces to, by block, subject and workload, metrics in the
/// plan's order. The latest record of a trial counts, as it does for verdicts, and a
/// quantile with too few events beyond it is left out, as it is there.
pub fn values(plan: &Plan, records: &[Record]) -> Vec<TrialValue> {
    let mut names = Names::default();
    let mut workloads: BTreeMap<&str, Measured<'_>> = BTreeMap::new();
    for workload in &plan.workloads {
        workloads.entry(&workload.label).or_insert_with(|| {
            let metrics = workload.metrics.iter().map(|metric| (names.shared(&metric.id), metric));
            let metrics = metrics.collect();
            Measured { label: names.shared(&workload.label), metrics }
        });
    }
    let latest = latest(records);
    let mut values = Vec::with_capacity(latest.len());
    for record in latest.into_iter().filter(|record| record.outcome == Outcome::Completed) {
        let Some(workload) = workloads.get(record.workload.as_str()) else { continue };
        let subject = names.shared(&record.subject);
        for (id, metric) in &workload.metrics {
            let Some(value) = value(record, metric) else { continue };
            values.push(TrialValue {
                block: record.block,
                subject: subject.clone(),
                workload: workload.label.clone(),
                metric: id.clone(),
                value: round(value),
            });
        }
    }
    values
}

/// The names of a workload and of its metrics, with these.
struct Measured<'a> {
    label: SharedName,
    metrics: Vec<(SharedName, &'a Metric)>,
}

/// Names of subjects, workloads and metrics, each of which is held once.
#[derive(Default)]
struct Names(BTreeSet<SharedName>);

impl Names {
    fn shared(&mut self, name: &str) -> SharedName {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }
        let name = SharedName::from(name);
        self.0.insert(name.clone());
        name
    }
}

fn value(record: &Record, metric: &Metric) -> Option<f64> {
    let reduced = reduce(record, metric).ok()?;
    let tail = reduced.events.and_then(|events| tail(metric.reduction, events));
    let is_shown = tail.is_none_or(|tail| tail.beyond >= LEAST_SHOWN);
    is_shown.then_some(reduced.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record, records};
    use model::{Direction, Histogram, Reduction, Sample};

    #[test]
    fn each_completed_trial_has_the_number_that_verdicts_use() {
        let plan = plan(&["a", "b"], vec![metric("m", Direction::Lower, Reduction::Median)], 2);
        let mut all = records("a", &[1.0, 2.0]);
        all.extend(records("b", &[3.0, 4.0]));
        all[3].outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
        // A later record of the same trial replaces the first.
        let mut again = record(0, "a", "w", vec![vec![Sample::values("m", vec![9.0])]]);
        again.sequence = 7;
        all.push(again);
        let found = values(&plan, &all);
        let told: Vec<(u32, &str, f64)> =
            found.iter().map(|one| (one.block, one.subject.as_str(), one.value)).collect();
        assert_eq!(told, [(0, "a", 9.0), (0, "b", 3.0), (1, "a", 2.0)]);
        all.reverse();
        assert_eq!(values(&plan, &all), found, "the order of records does not matter");
    }

    #[test]
    fn a_quantile_without_events_beyond_it_is_no_value() {
        let p99 = metric("m", Direction::Lower, Reduction::Quantile(0.99));
        let plan = plan(&["a", "b"], vec![p99], 1);
        let with = |events: u64| {
            let mut histogram = Histogram::new();
            histogram.record_many(1_000, events);
            let all = [record(0, "a", "w", vec![vec![Sample::histogram("m", histogram)]])];
            values(&plan, &all).len()
        };
        assert_eq!([with(100), with(300)], [0, 1]);
    }
}
