//! A small plan and records for this crate's tests.

use fixtures::{invocation, subjects, workload};
use model::{Fingerprint, Histogram, Plan, Record, Sample};
use std::collections::BTreeMap;

/// A plan for the records below; nothing of it was measured.
pub fn plan(name: &str, digest: &str) -> Plan {
    let (name, digest) = (name.to_owned(), digest.to_owned());
    Plan {
        name,
        digest,
        ..fixtures::plan(subjects(&["baseline"]), vec![workload("wakeup", Vec::new())], 3)
    }
}

/// A record with values of every shape.
pub fn record(sequence: u64, values: Vec<f64>) -> Record {
    let mut histogram = Histogram::new();
    histogram.record_many(1_000 + sequence, 7);
    let samples = vec![
        Sample::values("time", values),
        Sample::quotient("rate", 10.0, 3.0),
        Sample::histogram("latency", histogram),
        Sample::proportion("success", 9, 10),
    ];
    let mut record = fixtures::record("baseline", "wakeup");
    record.sequence = sequence;
    record.block = u32::try_from(sequence / 2).unwrap();
    record.position = u32::try_from(sequence % 2).unwrap();
    record.started_unix_ns = 1_700_000_000_000_000_000 + sequence;
    record.invocations = vec![invocation(samples)].into();
    record
}

/// A fingerprint of a machine with this kernel.
pub fn fingerprint(release: &str) -> Fingerprint {
    Fingerprint(BTreeMap::from([("kernel.release".to_owned(), release.to_owned())]))
}
