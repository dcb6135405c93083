//! Plans and records for this crate's tests.

use fixtures::{imported, subjects, workload};
use model::{
    Caveat, DecidingFacts, Direction, Imported, ImportedDesign, ImportedOrder, Invocation, Metric,
    Plan, Record, Reduction, Sample, Unit,
};

pub(crate) fn metric(id: &str, direction: Direction, reduction: Reduction) -> Metric {
    Metric::new(id, Unit::Nanoseconds, direction, reduction, "for tests")
}

pub(crate) fn record_with(invocations: Vec<Vec<Sample>>) -> Record {
    record(0, "a", "w", invocations)
}

/// A completed trial.
pub(crate) fn record(
    block: u32,
    subject: &str,
    workload: &str,
    invocations: Vec<Vec<Sample>>,
) -> Record {
    let invocation = |samples: Vec<Sample>| Invocation {
        samples: samples.into(),
        run: Some(Box::default()),
        failure: None,
        disturbance: None,
    };
    let mut record = fixtures::record(subject, workload);
    record.block = block;
    record.boot_id = format!("boot-{block}");
    record.invocations = invocations.into_iter().map(invocation).collect();
    record
}

/// A plan of one workload `w` with these metrics, the first of them primary.
pub(crate) fn plan(ids: &[&str], metrics: Vec<Metric>, blocks: u32) -> Plan {
    fixtures::plan(subjects(ids), vec![workload("w", metrics)], blocks)
}

/// So many values that are nearly the same, as a clock of many digits has them.
pub(crate) fn steady(value: f64, count: usize) -> Vec<f64> {
    (0..count).map(|place| value * (1.0 + 1e-10 * (place * 7 % 5) as f64)).collect()
}

/// One value of the metric `m` for each block.
pub(crate) fn records(subject: &str, values: &[f64]) -> Vec<Record> {
    let one = |(block, value): (usize, &f64)| {
        record(block as u32, subject, "w", vec![vec![Sample::values("m", vec![*value])]])
    };
    values.iter().enumerate().map(one).collect()
}

/// The same, with what importers establish where they say this.
pub(crate) fn noticing(caveats: Vec<Caveat>, order: ImportedOrder) -> Imported {
    Imported { facts: DecidingFacts::of_caveats(&caveats), caveats, ..in_blocks(order) }
}

/// An import with blocks whose order is known in this way.
pub(crate) fn in_blocks(order: ImportedOrder) -> Imported {
    imported(ImportedDesign::Blocked, order)
}
