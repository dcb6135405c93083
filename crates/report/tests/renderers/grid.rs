//! Four elevators over record sizes and operations, made up; no disk was measured.

use crate::campaigns::{Campaign, Draft, campaign};
use model::{
    BlockEffect, Direction, Imported, ImportedDesign, ImportedOrder, Metric, Outcome,
    ParameterValue, Parameters, Record, Reduction, Role, Sample, TrialValue, Unit, Verdict,
    WorkloadPlan,
};

pub const SUBJECTS: [&str; 5] = ["mq-deadline", "none", "bfq", "kyber", "mq-deadline-again"];
pub const OPERATIONS: [&str; 7] =
    ["write", "rewrite", "read", "reread", "reverse_read", "random_read", "random_write"];
pub const BLOCKS: u32 = 6;
/// The plan's order is not that of the sizes.
const ORDER: [u32; 9] = [4, 0, 8, 1, 7, 2, 6, 3, 5];

pub fn record_size(step: u32) -> u64 {
    // 8 KiB, doubled up to 64 KiB, then 256 KiB and on to 16 MiB.
    [8, 16, 32, 64, 256, 1024, 4096, 8192, 16384][step as usize] << 10
}

fn label(step: u32) -> String {
    let size = record_size(step);
    if size < 1 << 20 {
        format!("record-{}KiB", size >> 10)
    } else {
        format!("record-{}MiB", size >> 20)
    }
}

fn metric_id(operation: &str) -> String {
    format!("{operation}_throughput")
}

/// Bytes per second; operations differ by orders of magnitude, as they do on disks.
fn throughput(subject: usize, step: u32, operation: usize, block: u32) -> f64 {
    let base = [90e6, 110e6, 1.9e9, 2.4e9, 60e6, 12e6, 3.5e6][operation];
    let of_size = 1.0 + 0.45 * f64::from(step.min(7));
    let of_subject = match SUBJECTS[subject] {
        "none" => 1.0 + 0.012 * f64::from(step) - if operation > 4 { 0.08 } else { 0.0 },
        "bfq" => [0.8, 0.82, 1.0, 1.0, 1.31, 11.5, 0.55][operation],
        "kyber" => 0.97 - 0.004 * f64::from(step),
        _ => 1.0,
    };
    let turn = (block * 7 + step * 5 + operation as u32 * 3 + subject as u32 * 11) % 13;
    let shared = 1.0 + 0.02 * f64::from((block * 5 + step) % 4);
    base * of_size * of_subject * shared * (0.985 + 0.0025 * f64::from(turn))
}

/// One cell that a subject never finished, and one run that failed.
fn is_absent(subject: usize, step: u32, operation: usize, block: u32) -> bool {
    let id = SUBJECTS[subject];
    (id == "kyber" && step == 8 && operation == 6)
        || (id == "none" && step == 0 && operation == 0 && block == 3)
}

fn metrics() -> Vec<Metric> {
    let metric = |operation: &&str| {
        Metric::new(
            metric_id(operation),
            Unit::BytesPerSecond,
            Direction::Higher,
            Reduction::Quotient,
            "Bytes moved each second",
        )
    };
    OPERATIONS.iter().map(metric).collect()
}

fn each_value() -> impl Iterator<Item = (usize, u32, usize, u32)> {
    (0..BLOCKS).flat_map(|block| {
        (0..SUBJECTS.len()).flat_map(move |subject| {
            ORDER.into_iter().flat_map(move |step| {
                (0..OPERATIONS.len()).map(move |operation| (subject, step, operation, block))
            })
        })
    })
}

fn values() -> Vec<TrialValue> {
    each_value()
        .filter(|(subject, step, operation, block)| !is_absent(*subject, *step, *operation, *block))
        .map(|(subject, step, operation, block)| TrialValue {
            block,
            subject: SUBJECTS[subject].into(),
            workload: label(step).into(),
            metric: metric_id(OPERATIONS[operation]).into(),
            value: throughput(subject, step, operation, block),
        })
        .collect()
}

/// A subject against the reference in one cell, judged by its interval alone.
fn finding(subject: usize, step: u32, operation: usize) -> model::Finding {
    let role = if subject == 4 { Role::Control } else { Role::Primary };
    let draft = Draft::new(&label(step), &metric_id(OPERATIONS[operation]), SUBJECTS[subject])
        .against(SUBJECTS[0])
        .throughput()
        .margin(0.03)
        .role(role);
    let blocks: Vec<BlockEffect> = (0..BLOCKS)
        .filter(|block| !is_absent(subject, step, operation, *block))
        .map(|block| {
            let of = |subject| throughput(subject, step, operation, block);
            let (reference, own) = (of(0), of(subject));
            BlockEffect { block, reference, subject: own, log_difference: (own / reference).ln() }
        })
        .collect();
    let differences: Vec<f64> = blocks.iter().map(|block| block.log_difference).collect();
    let Some(test) = stats::TTest::of(&differences) else {
        return draft.decided(Verdict::Invalid, false).reason("No valid block.").finding();
    };
    let (low, high) = test.interval(0.05);
    let theta = 1.03_f64.ln();
    let verdict = match (low > 0.0, high < 0.0) {
        _ if low > -theta && high < theta => Verdict::Equivalent,
        (true, _) => Verdict::Better,
        (_, true) => Verdict::Worse,
        _ => Verdict::Inconclusive,
    };
    let logs: Vec<f64> = blocks.iter().map(|block| block.reference.ln()).collect();
    let reference = stats::mean(&logs).unwrap().exp();
    let mut finding = draft
        .decided(verdict, low > theta || high < -theta)
        .effect(reference, test.mean.exp(), low.exp(), high.exp())
        .finding();
    finding.pairs = blocks.len();
    finding.blocks = blocks;
    finding
}

fn parameters(pairs: &[(&str, ParameterValue)]) -> Parameters {
    Parameters(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn records() -> Vec<Record> {
    let mut all = Vec::new();
    for block in 0..BLOCKS {
        for (subject, id) in SUBJECTS.iter().enumerate() {
            for step in ORDER {
                let present = (0..OPERATIONS.len())
                    .filter(|operation| !is_absent(subject, step, *operation, block));
                let samples: Vec<Sample> = present
                    .map(|operation| {
                        let rate = throughput(subject, step, operation, block);
                        Sample::quotient(&metric_id(OPERATIONS[operation]), rate, 1.0)
                    })
                    .collect();
                let mut record = fixtures::record(id, &label(step));
                record.sequence = all.len() as u64;
                record.block = block;
                record.position = subject as u32;
                record.duration_ns = 1_000_000_000;
                "b".clone_into(&mut record.boot_id);
                record.invocations = vec![fixtures::invocation(samples)].into();
                all.push(record);
            }
        }
    }
    let failed = Outcome::Failed { reason: "=cmd|' /C calc'!A0: exit status 1".to_owned() };
    let (block, sequence) = (BLOCKS, all.len() as u64);
    let mut again = Record { block, sequence, ..all[0].clone() };
    again.invocations.clear();
    again.outcome = failed;
    all.push(again);
    all
}

/// Workloads that differ in their record size and ask seven throughputs each.
pub fn grid() -> Campaign {
    let findings = (1..SUBJECTS.len())
        .flat_map(|subject| {
            ORDER.into_iter().flat_map(move |step| {
                (0..OPERATIONS.len()).map(move |operation| finding(subject, step, operation))
            })
        })
        .collect();
    let mut campaign = campaign("Which I/O elevator serves this disk best?", findings, Vec::new());
    campaign.plan.subjects = SUBJECTS
        .map(|id| fixtures::subject(id, &[("elevator", id.trim_end_matches("-again"))]))
        .into();
    let like = campaign.plan.workloads[0].clone();
    campaign.plan.workloads = ORDER
        .map(|step| WorkloadPlan {
            label: label(step),
            uses: "io".to_owned(),
            parameters: parameters(&[
                ("record", ParameterValue::Size(record_size(step))),
                ("file", ParameterValue::Size(1 << 30)),
            ]),
            metrics: metrics(),
            primary: OPERATIONS.map(metric_id).into(),
            ..like.clone()
        })
        .into();
    campaign.values = values().into();
    campaign.records = records().into();
    campaign
}

/// The same numbers as somebody else's file has them: two dimensions, one metric.
pub fn imported_grid() -> Campaign {
    let mut campaign = grid();
    let to_label = |workload: &str, metric: &str| {
        let record = workload.trim_start_matches("record-");
        format!("operation:{},record:{record}", metric.trim_end_matches("_throughput"))
    };
    let like = campaign.plan.workloads[0].clone();
    let mut throughput = metrics().remove(0);
    throughput.id = "throughput".to_owned();
    throughput.source = "throughput".to_owned();
    let workload = |step: u32, operation: &str| WorkloadPlan {
        label: to_label(&label(step), &metric_id(operation)),
        uses: "iozone".to_owned(),
        parameters: parameters(&[
            ("operation", ParameterValue::Text(operation.to_owned())),
            ("record", ParameterValue::Text(label(step).trim_start_matches("record-").to_owned())),
        ]),
        metrics: vec![throughput.clone()],
        primary: vec!["throughput".to_owned()],
        ..like.clone()
    };
    campaign.plan.workloads = ORDER
        .into_iter()
        .flat_map(|step| OPERATIONS.map(|operation| workload(step, operation)))
        .collect();
    let design = ImportedDesign::Unblocked {
        dimensions: vec!["operation".to_owned(), "record".to_owned()],
        fixed: Vec::new(),
    };
    campaign.plan.imported = Some(Imported {
        format: "iozone".to_owned(),
        file: "a.txt".to_owned(),
        digest: "0f".to_owned(),
        ..fixtures::imported(design, ImportedOrder::Unknown)
    });
    for value in &mut campaign.values {
        value.workload = to_label(&value.workload, &value.metric).into();
        value.metric = "throughput".into();
    }
    for finding in &mut campaign.findings.findings {
        let question = &mut finding.question;
        question.workload = to_label(&question.workload, &question.metric);
        question.metric = "throughput".to_owned();
        question.family = "cells".to_owned();
    }
    campaign
}
