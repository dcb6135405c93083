//! Comparisons inside the levels of a factor, and claims about all of them.

use crate::{plan, request};
use model::{Claimed, Comparisons, Plan};
use plan::PlanRequest;

const GRID: &str = r#"
venue = "vm"
blocks = 5
comparisons = "within kernel"

[quick]
subjects = [
    "kernel-debian-6-1--nice-0", "kernel-debian-6-1--nice-5", "kernel-debian-6-6--nice-0", "kernel-debian-6-6--nice-5",
]

[factors]
kernel = ["debian:6.1", "debian:6.6", "debian:6.18"]
nice = [0, 5]

[[workloads]]
use = "messaging"
subjects = ["kernel-debian-6-6--nice-5"]

[[workloads]]
use = "messaging"
label = "storm"

[[claims]]
says = "kind processes wait"
metric = "makespan"
subject = { nice = "+5" }
effect = "worse"

[[claims]]
says = "on 6.6 by half"
metric = "makespan"
workload = "storm"
subject = { nice = 5, kernel = "debian:6.6" }
reference = { nice = 0 }
effect = "+50%"

[[claims]]
says = "one pair"
metric = "makespan"
workload = "storm"
subject = "kernel-debian-6-6--nice-5"
effect = "same"
"#;

fn pairs(plan: &Plan) -> Vec<(&str, &str)> {
    let pairs = plan.comparisons.pairs(&plan.subjects);
    pairs.iter().map(|(a, b)| (a.id.as_str(), b.id.as_str())).collect()
}

#[test]
fn a_crossing_is_compared_level_by_level_and_its_pairs_share_their_boots() {
    let plan = plan(request(GRID)).unwrap();
    assert_eq!(plan.comparisons, Comparisons::Within("kernel".to_owned()));
    assert_eq!(
        pairs(&plan),
        [
            ("kernel-debian-6-1--nice-0", "kernel-debian-6-1--nice-5"),
            ("kernel-debian-6-6--nice-0", "kernel-debian-6-6--nice-5"),
            ("kernel-debian-6-18--nice-0", "kernel-debian-6-18--nice-5"),
        ]
    );
    for block in &plan.blocks {
        assert_eq!(block.boot_count(), 3, "the control sits in its twin's boot");
        let boot = |id: &str| {
            block.sittings.iter().find(|sitting| sitting.subject == id).and_then(|one| one.boot)
        };
        assert_eq!(boot("kernel-debian-6-1--nice-0-again"), boot("kernel-debian-6-1--nice-0"));
        for (reference, subject) in pairs(&plan) {
            assert_eq!(boot(reference), boot(subject));
        }
    }
    // A workload of one subject runs for what that is compared with.
    assert_eq!(
        plan.workloads[0].subjects,
        ["kernel-debian-6-1--nice-0", "kernel-debian-6-6--nice-0", "kernel-debian-6-6--nice-5"]
    );
}

#[test]
fn quick_keeps_whole_groups() {
    let plan = plan(PlanRequest { is_quick: true, ..request(GRID) }).unwrap();
    assert_eq!(pairs(&plan).len(), 2);
    assert_eq!(plan.workloads.len(), 2);
}

#[test]
fn claims_name_levels_in_their_one_spelling() {
    let plan = plan(request(GRID)).unwrap();
    let [all, narrow, single] = plan.claims.as_slice() else { panic!("{:?}", plan.claims) };
    assert_eq!(all.workload, None, "two workloads ask it");
    assert_eq!(
        (all.subject.to_string(), all.reference.to_string()),
        ("nice 5".into(), "nice 0".into())
    );
    assert_eq!(narrow.subject.to_string(), "kernel debian:6.6, nice 5");
    assert_eq!(narrow.workload.as_deref(), Some("storm"));
    assert_eq!(
        single.reference,
        Claimed::Subject("kernel-debian-6-6--nice-0".to_owned()),
        "its level's"
    );
    assert!(single.is_single());
    let text = serde_json::to_string(&plan).unwrap();
    assert!(
        text.contains(r#""format":"schedlab.plan/3""#) && text.contains(r#"{"within":"kernel"}"#)
    );
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

#[test]
fn a_claim_says_how_its_comparisons_are_put_together() {
    let claims = r#"
[[claims]]
says = "the gap turns with the kernel"
metric = "makespan"
subject = { nice = "+5" }
reference = { nice = 0 }
turns = { kernel = ["debian:6.1", "debian:6.18"] }
effect = "worse"
[[claims]]
says = "the same overall"
metric = "makespan"
subject = { nice = 5 }
over = "overall"
effect = "same"
[[claims]]
says = "one after the other"
metric = "makespan"
order = ["kernel-debian-6-6--nice-0", "kernel-debian-6-1--nice-5"]
over = "most"
effect = "better"
"#;
    let grid = GRID.split("[[claims]]").next().unwrap();
    let plan = plan(request(&format!("{grid}{claims}"))).unwrap();
    let [turns, overall, order] = plan.claims.as_slice() else { panic!("{:?}", plan.claims) };
    let turn = turns.shape.turns.as_ref().unwrap();
    assert_eq!((turn.of.as_str(), turn.levels[1].as_str()), ("kernel", "debian:6.18"));
    assert!(turns.is_combined() && overall.is_combined() && !order.is_combined());
    assert_eq!(order.shape.order.len(), 2);
    assert!(!order.is_single());
    let text = serde_json::to_string(&plan).unwrap();
    assert!(text.contains(r#""over":"overall""#), "{text}");
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

/// Each side keeps its own levels, and the cell's are those of both.
#[test]
fn a_claim_in_a_cell_compares_its_two_sides_there_and_nowhere_else() {
    let claim = r#"
[[claims]]
says = "kind processes wait on 6.6"
metric = "makespan"
workload = "storm"
subject = { nice = "+5" }
reference = { nice = 0 }
where = { kernel = "debian:6.6" }
effect = "worse"
"#;
    let grid = GRID.split("[[claims]]").next().unwrap();
    let plan = plan(request(&format!("{grid}{claim}"))).unwrap();
    let [claim] = plan.claims.as_slice() else { panic!("{:?}", plan.claims) };
    assert_eq!(
        (claim.subject.to_string(), claim.reference.to_string()),
        ("kernel debian:6.6, nice 5".into(), "kernel debian:6.6, nice 0".into())
    );
    let pairs = claim.pairs(&plan.subjects);
    let ids: Vec<(&str, &str)> =
        pairs.iter().map(|(a, b)| (a.id.as_str(), b.id.as_str())).collect();
    assert_eq!(ids, [("kernel-debian-6-6--nice-0", "kernel-debian-6-6--nice-5")]);
}

#[test]
fn how_subjects_are_compared_is_part_of_what_a_plan_is() {
    let digest = |comparisons: &str| {
        let text = GRID.replace("within kernel", comparisons);
        let without_claims = text.split("[[claims]]").next().unwrap_or_default().to_owned();
        plan(request(&without_claims)).unwrap().digest
    };
    let digests = ["within kernel", "within nice", "all", "reference"].map(digest);
    for (index, digest) in digests.iter().enumerate() {
        assert!(!digests[..index].contains(digest));
    }
}

#[test]
fn a_claim_may_compare_workloads_inside_each_subject() {
    let text = r#"
[subjects.baseline]
[subjects.fast]
base_slice = "1ms"

[[workloads]]
use = "wakeup"
label = "small"
workers = 2

[[workloads]]
use = "wakeup"
label = "large"
workers = 8

[[claims]]
says = "more workers wait longer"
workloads = ["small", "large"]
metric = "wakeup_latency_p50"
effect = "worse"

[[claims]]
says = "but not under the fast one"
workloads = ["small", "large"]
metric = ["wakeup_latency_p50"]
subject = "fast"
effect = "same"

[[claims]]
says = "a subject over workloads"
metric = "wakeup_latency_p50"
subject = "fast"
effect = "better"
"#;
    let found = plan(request(text)).unwrap();
    let [each, one, subjects] = found.claims.as_slice() else { panic!("{:?}", found.claims) };
    assert_eq!(each.workloads, ["small", "large"]);
    assert!(found.subjects.iter().all(|one| one.is_control || each.subject.includes(one)));
    assert_eq!(one.subject, Claimed::Subject("fast".to_owned()));
    assert_eq!(one.metric.ids(), ["wakeup_latency_p50"]);
    assert!(one.is_across_workloads() && !one.is_single());
    assert!(!subjects.is_across_workloads());
    let stored = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), found);
    // What an earlier format had is stored as it was.
    assert!(stored.contains(r#"{"says":"a subject over workloads","metric":"wakeup_latency_p50""#));
}
