//! Three schedulers on one, two and four processors, compared within the processors; no
//! machine was measured.

use crate::campaigns::{Campaign, Draft, campaign};
use model::{
    Claim, ClaimFinding, ClaimOutcome, ClaimTally, Claimed, ClaimedEffect, Comparisons,
    FailureCount, Level, Role, Subject, Verdict,
};
use std::collections::BTreeMap;

const METRIC: &str = "latency_p50";
const CLIENTS: [u32; 5] = [2, 4, 8, 16, 32];

/// Ratios that grow with clients and fall with processors; one scheduler was ejected.
pub fn multicore() -> Campaign {
    let mut findings = Vec::new();
    for (place, cpus) in [1_u32, 2, 4].into_iter().enumerate() {
        for (column, clients) in CLIENTS.into_iter().enumerate() {
            for (scheduler, start) in [("bfs", 1.9), ("fair", 1.02)] {
                let ratio = start * (1.0 - 0.35 * place as f64) + 0.04 * column as f64;
                let (low, high) = (0.9 * ratio, 1.1 * ratio);
                let verdict = match (low > 1.05, high < 0.95) {
                    (true, _) => Verdict::Better,
                    (_, true) => Verdict::Worse,
                    _ => Verdict::Inconclusive,
                };
                let label = format!("clients-{clients}");
                let draft = Draft::new(&label, METRIC, &format!("{scheduler}-{cpus}"))
                    .against(&format!("cfs-{cpus}"));
                // The largest of one scheduler never ran.
                findings.push(if (scheduler, cpus, clients) == ("fair", 4, 32) {
                    draft.decided(Verdict::Invalid, false).finding()
                } else {
                    draft.decided(verdict, true).effect(52_300.0, ratio, low, high).finding()
                });
            }
        }
    }
    findings.push(
        Draft::new("clients-2", METRIC, "cfs-1-again")
            .against("cfs-1")
            .role(Role::Control)
            .decided(Verdict::Equivalent, false)
            .effect(52_300.0, 1.001, 0.97, 1.033)
            .finding(),
    );
    let mut campaign =
        campaign("How do response times grow with processors?", findings, failures());
    campaign.plan.comparisons = Comparisons::Within("vcpus".to_owned());
    campaign.plan.subjects = subjects();
    let like = campaign.plan.workloads[0].clone();
    let workload =
        |clients| model::WorkloadPlan { label: format!("clients-{clients}"), ..like.clone() };
    campaign.plan.workloads = CLIENTS.map(workload).into();
    campaign.findings.claims = vec![claim()];
    campaign
}

fn subjects() -> Vec<Subject> {
    let subject = |(name, cpus): (&str, u32)| {
        let scheduler = if name == "fair" { name.to_owned() } else { format!("lab:{name}") };
        let levels = [("scheduler", scheduler.as_str()), ("vcpus", &cpus.to_string())];
        fixtures::subject(&format!("{name}-{cpus}"), &levels)
    };
    // The factor's own order is not the plan's.
    let grid = [4, 1, 2].map(|cpus| ["cfs", "bfs", "fair"].map(|scheduler| (scheduler, cpus)));
    let mut subjects: Vec<Subject> = grid.into_iter().flatten().map(subject).collect();
    let control = Subject { id: "cfs-4-again".to_owned(), is_control: true, ..subjects[0].clone() };
    subjects.insert(1, control);
    subjects
}

fn failures() -> Vec<FailureCount> {
    let count = |label: &str, ejected: u64, reason: &str| FailureCount {
        subject: "bfs-4".to_owned(),
        workload: label.to_owned(),
        trials: 10,
        failed: 0,
        invalid: ejected,
        p_failure: Some(1.0),
        adjusted_failure: None,
        failure_verdict: None,
        p_invalid: Some(0.4),
        reasons: BTreeMap::from([(
            format!(
                "EJECTED: it was lab_bfs, now there is none: sched_ext: BPF scheduler \"lab_bfs\" disabled ({reason})"
            ),
            ejected,
        )]),
        rules: BTreeMap::from([("EJECTED".to_owned(), ejected)]),
    };
    vec![
        count("clients-2", 1, "runnable task stall"),
        count("clients-32", 2, "runnable task stall"),
    ]
}

fn claim() -> ClaimFinding {
    let levels =
        |level: &str| Claimed::Levels([("scheduler".to_owned(), Level::canonical(level))].into());
    let claim = Claim {
        says: "BFS answers sooner than CFS".to_owned(),
        source: Some("the study".to_owned()),
        workload: None,
        metric: METRIC.into(),
        subject: levels("lab:bfs"),
        reference: levels("lab:cfs"),
        ..fixtures::claim("", "", ClaimedEffect::Better)
    };
    let reason = "confirmed in 10 of 15 comparisons (vcpus 1, 2), refuted in 5 (vcpus 4); measured \
                  -51.5 % to +75.4 % of the value";
    let tally = Some(ClaimTally { confirmed: 10, refuted: 5, undecided: 0 });
    ClaimFinding { tally, ..fixtures::claim_finding(claim, ClaimOutcome::Refuted, reason) }
}
