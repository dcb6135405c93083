//! Plans and records for this crate's tests.

use model::{
    Block, Direction, Invocation, Metric, Outcome, PLAN_FORMAT, Parameters, Plan, RECORD_FORMAT,
    Record, Reduction, RunReport, Sample, Sitting, Subject, Unit, WorkloadPlan,
};
use std::collections::BTreeMap;

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
    let invocation =
        |samples| Invocation { samples, run: Some(RunReport::default()), failure: None };
    Record {
        format: RECORD_FORMAT.to_owned(),
        sequence: 0,
        block,
        position: 0,
        subject: subject.to_owned(),
        workload: workload.to_owned(),
        started_unix_ns: 0,
        duration_ns: 0,
        boot_id: format!("boot-{block}"),
        seed: 0,
        outcome: Outcome::Completed,
        invocations: invocations.into_iter().map(invocation).collect(),
        levels: BTreeMap::new(),
        fingerprint: String::new(),
        fingerprint_difference: BTreeMap::new(),
        caveats: Vec::new(),
    }
}

/// A plan of one workload `w` with these metrics, the first of them primary.
pub(crate) fn plan(subjects: &[&str], metrics: Vec<Metric>, blocks: u32) -> Plan {
    let subject = |id: &&str| Subject {
        id: (*id).to_owned(),
        levels: BTreeMap::new(),
        is_control: id.ends_with("-again"),
    };
    let sittings = |_: u32| -> Vec<Sitting> {
        let sitting = |id: &&str| Sitting {
            subject: (*id).to_owned(),
            workloads: vec!["w".to_owned()],
            boot: None,
        };
        subjects.iter().map(sitting).collect()
    };
    Plan {
        format: PLAN_FORMAT.to_owned(),
        name: "test".to_owned(),
        title: "test".to_owned(),
        digest: "digest".to_owned(),
        venue: "host".to_owned(),
        seed: 1,
        is_seed_generated: false,
        alpha: 0.05,
        is_quick: false,
        is_pilot: false,
        subjects: subjects.iter().map(subject).collect(),
        workloads: vec![WorkloadPlan {
            label: "w".to_owned(),
            uses: "w".to_owned(),
            parameters: Parameters::default(),
            variants: BTreeMap::new(),
            invocations: 1,
            primary: vec![metrics[0].id.clone()],
            pooled: Vec::new(),
            metrics,
            background: None,
            subjects: Vec::new(),
            expected_ns: 0,
            time_limit_ns: 0,
            is_closed_loop: false,
        }],
        blocks: (0..blocks).map(|index| Block { index, sittings: sittings(index) }).collect(),
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

/// One value of the metric `m` for each block.
pub(crate) fn records(subject: &str, values: &[f64]) -> Vec<Record> {
    let one = |(block, value): (usize, &f64)| {
        record(block as u32, subject, "w", vec![vec![Sample::values("m", vec![*value])]])
    };
    values.iter().enumerate().map(one).collect()
}
