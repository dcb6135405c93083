//! A small plan and records for this crate's tests.

use model::{
    Fingerprint, Histogram, Invocation, Outcome, PLAN_FORMAT, Plan, RECORD_FORMAT, Record, Sample,
    Subject,
};
use std::collections::BTreeMap;

/// A plan with nothing to run: the store does not look inside.
pub fn plan(name: &str, digest: &str) -> Plan {
    Plan {
        format: PLAN_FORMAT.to_owned(),
        name: name.to_owned(),
        title: "Does it matter?".to_owned(),
        digest: digest.to_owned(),
        venue: "sim".to_owned(),
        seed: 42,
        is_seed_generated: true,
        alpha: 0.05,
        is_quick: false,
        is_pilot: false,
        subjects: vec![Subject {
            id: "baseline".to_owned(),
            levels: BTreeMap::new(),
            is_control: false,
        }],
        workloads: Vec::new(),
        blocks: Vec::new(),
        looks: Vec::new(),
        budget_ns: None,
        pace: None,
        comparisons: model::Comparisons::default(),
        use_cases: Vec::new(),
        claims: Vec::new(),
        imported: None,
        probes: Vec::new(),
        settle_ns: 0,
        setting_ns: BTreeMap::new(),
        sim: None,
        vm: None,
        venue_settings: model::VenueSettings::default(),
        options: Vec::new(),
        notes: Vec::new(),
    }
}

/// A record with values of every shape.
pub fn record(sequence: u64, values: Vec<f64>) -> Record {
    let mut histogram = Histogram::new();
    histogram.record_many(1_000 + sequence, 7);
    Record {
        format: RECORD_FORMAT.to_owned(),
        sequence,
        block: u32::try_from(sequence / 2).unwrap(),
        position: u32::try_from(sequence % 2).unwrap(),
        subject: "baseline".to_owned(),
        workload: "wakeup".to_owned(),
        started_unix_ns: 1_700_000_000_000_000_000 + sequence,
        duration_ns: 5,
        boot_id: "b".to_owned(),
        seed: 1,
        outcome: Outcome::Completed,
        invocations: vec![Invocation {
            samples: vec![
                Sample::values("time", values),
                Sample::quotient("rate", 10.0, 3.0),
                Sample::histogram("latency", histogram),
                Sample::proportion("success", 9, 10),
            ],
            run: None,
            failure: None,
        }],
        levels: BTreeMap::new(),
        fingerprint: "f".to_owned(),
        fingerprint_difference: BTreeMap::new(),
        caveats: Vec::new(),
    }
}

/// A fingerprint of a machine with this kernel.
pub fn fingerprint(release: &str) -> Fingerprint {
    Fingerprint(BTreeMap::from([("kernel.release".to_owned(), release.to_owned())]))
}
