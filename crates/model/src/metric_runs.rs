//! Every run of a metric in the order in which the runs were made, to be drawn.

use crate::{Record, TrialValue, round_significant as round};
use std::collections::{BTreeMap, BTreeSet};

/// Workload and metric.
type AskedMetric<'a> = (&'a str, &'a str);

/// The runs of one metric; a column for each fact.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricRuns {
    /// Numbers in the campaign as it ran.
    pub order: Vec<u64>,
    /// Indices of blocks.
    pub block: Vec<u32>,
    /// Places among the subjects.
    pub subject: Vec<usize>,
    /// What each run reduces to.
    pub value: Vec<f64>,
}

/// One of them.
struct MetricRun {
    order: u64,
    block: u32,
    subject: u32,
    value: f64,
}

/// The runs of each metric that is asked and has a value. What has no record, or is of none of these
/// subjects, is left out.
pub fn metric_runs<'a>(
    asked: &BTreeSet<AskedMetric<'a>>,
    subjects: &[&'a str],
    values: &'a [TrialValue],
    records: &'a [Record],
) -> BTreeMap<AskedMetric<'a>, MetricRuns> {
    let mut orders = TrialOrders::of(subjects, records);
    let mut found: BTreeMap<AskedMetric<'a>, Vec<MetricRun>> = BTreeMap::new();
    for one in values {
        let Some(metric) = asked.get(&(one.workload.as_str(), one.metric.as_str())) else {
            continue;
        };
        let of_metric = found.entry(*metric).or_default();
        if let Some((subject, order)) = orders.get(one) {
            of_metric.push(MetricRun { order, block: one.block, subject, value: round(one.value) });
        }
    }
    drop(orders);
    found.into_iter().map(|(metric, runs)| (metric, columns(runs))).collect()
}

/// Runs in their order, by column.
fn columns(mut runs: Vec<MetricRun>) -> MetricRuns {
    runs.sort_by_key(|run| run.order);
    MetricRuns {
        order: runs.iter().map(|run| run.order).collect(),
        block: runs.iter().map(|run| run.block).collect(),
        subject: runs.iter().map(|run| run.subject as usize).collect(),
        value: runs.iter().map(|run| run.value).collect(),
    }
}

/// Block, subject and workload of a trial, the names by number.
type TrialPlace = [u32; 3];

/// The number of each trial in the campaign as it ran. An import has hundreds of thousands, of which a
/// map by names would be several times as large.
struct TrialOrders<'a> {
    /// The place of each subject among all by their names, and as it was given.
    subjects: BTreeMap<&'a str, [u32; 2]>,
    workloads: BTreeMap<&'a str, u32>,
    /// Places of trials in order, each once, with the number of the trial.
    sorted: Vec<(TrialPlace, u64)>,
    /// Where the last one stands that was asked. Values are in nearly the same order.
    at: usize,
}

impl<'a> TrialOrders<'a> {
    fn of(subjects: &[&'a str], records: &'a [Record]) -> Self {
        let given: BTreeMap<&str, u32> = subjects.iter().copied().zip(0..).collect();
        // In the order of their names, as values are.
        let subjects: BTreeMap<&str, [u32; 2]> = given
            .into_iter()
            .zip(0..)
            .map(|((id, given), by_name)| (id, [by_name, given]))
            .collect();
        // One by one: collecting would sort a list of all records' names.
        let mut names: BTreeSet<&str> = BTreeSet::new();
        names.extend(records.iter().map(|record| record.workload.as_str()));
        let workloads: BTreeMap<&str, u32> = names.into_iter().zip(0..).collect();
        let mut sorted = Vec::with_capacity(records.len());
        for record in records {
            let Some([subject, _]) = subjects.get(record.subject.as_str()) else { continue };
            let workload = workloads[record.workload.as_str()];
            sorted.push(([record.block, *subject, workload], record.sequence));
        }
        // Of a trial that ran again the last record counts, and comes first.
        sorted.reverse();
        sorted.sort_by_key(|(trial, _)| *trial);
        sorted.dedup_by_key(|(trial, _)| *trial);
        Self { subjects, workloads, sorted, at: 0 }
    }

    /// The number of a value's subject, and that of its trial.
    fn get(&mut self, value: &TrialValue) -> Option<(u32, u64)> {
        let [subject, given] = *self.subjects.get(value.subject.as_str())?;
        let trial = [value.block, subject, *self.workloads.get(value.workload.as_str())?];
        // Most values are of the trial of the one before, or of the next one.
        let is_it = |at: &usize| self.sorted.get(*at).is_some_and(|(known, _)| *known == trial);
        let near = [self.at, self.at + 1].into_iter().find(is_it);
        let search = || self.sorted.binary_search_by_key(&trial, |(known, _)| *known).ok();
        self.at = near.or_else(search)?;
        Some((given, self.sorted[self.at].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Circumstances;

    fn record(sequence: u64, block: u32, subject: &str, workload: &str) -> Record {
        Record { sequence, block, ..Record::from(Circumstances::of(subject, workload)) }
    }

    fn value(block: u32, [subject, workload, metric]: [&str; 3], value: f64) -> TrialValue {
        let [subject, workload, metric] = [subject, workload, metric].map(Into::into);
        TrialValue { block, subject, workload, metric, value }
    }

    #[test]
    fn runs_are_those_of_the_metrics_that_are_asked_in_the_order_in_which_they_were_made() {
        let records = [
            record(0, 0, "b", "w"),
            record(1, 0, "a", "w"),
            record(2, 0, "a", "x"),
            record(3, 1, "a", "w"),
            record(4, 1, "b", "w"),
            // It ran again, and one of a subject that nobody asks.
            record(5, 0, "b", "w"),
            record(6, 0, "c", "w"),
        ];
        let mut values = vec![
            value(0, ["a", "w", "m"], 1.234_567_890_123_456),
            value(0, ["a", "w", "n"], 9.0),
            value(0, ["a", "x", "m"], 2.0),
            value(0, ["b", "w", "m"], 3.0),
            value(0, ["c", "w", "m"], 4.0),
            value(1, ["a", "w", "m"], 5.0),
            value(1, ["b", "w", "m"], 6.0),
            // Without a record.
            value(2, ["b", "w", "m"], 7.0),
            value(2, ["b", "y", "m"], 8.0),
        ];
        let asked = BTreeSet::from([("w", "m"), ("x", "m"), ("y", "m"), ("z", "m")]);
        let columns = |order: &[u64], block: &[u32], subject: &[usize], value: &[f64]| MetricRuns {
            order: order.to_vec(),
            block: block.to_vec(),
            subject: subject.to_vec(),
            value: value.to_vec(),
        };
        let expected = BTreeMap::from([
            (
                ("w", "m"),
                columns(
                    &[1, 3, 4, 5],
                    &[0, 1, 1, 0],
                    &[1, 1, 0, 0],
                    &[1.234_567_890_12, 5.0, 6.0, 3.0],
                ),
            ),
            (("x", "m"), columns(&[2], &[0], &[1], &[2.0])),
            (("y", "m"), MetricRuns::default()),
        ]);
        assert_eq!(metric_runs(&asked, &["b", "a"], &values, &records), expected);
        values.reverse();
        let found = metric_runs(&asked, &["b", "a"], &values, &records);
        assert_eq!(found, expected, "whatever the order of the values");
    }
}
