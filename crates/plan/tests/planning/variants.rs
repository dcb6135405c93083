//! Subjects that differ in parameters of workloads.

use crate::catalogue::{DURATION, MODE, Mode, WORKERS};
use crate::{plan, request};
use model::{ParameterValue, Plan, Subject, WorkloadPlan};
use plan::PlanRequest;

const DESIGNS: &str = r#"
blocks = 5

[subjects.two]
[subjects.eight]
wakeup.workers = 8
wakeup.duration = "8s"
[subjects.arriving]
wakeup = { mode = "open", rate = "100" }
nice = 5

[[workloads]]
use = "wakeup"

[[workloads]]
use = "wakeup"
label = "long"
duration = "16s"

[[workloads]]
use = "messaging"
"#;

fn subject<'p>(plan: &'p Plan, id: &str) -> &'p Subject {
    plan.subject(id).unwrap()
}

fn workers(workload: &WorkloadPlan, subject: &Subject) -> u64 {
    WORKERS.of(workload.parameters_for(subject))
}

#[test]
fn a_parameter_of_a_subject_is_that_of_its_trials_alone() {
    let plan = plan(request(DESIGNS)).unwrap();
    let [wakeup, long, messaging] = plan.workloads.as_slice() else { panic!("three workloads") };
    for (id, expected) in [("two", 2), ("two-again", 2), ("eight", 8), ("arriving", 2)] {
        assert_eq!(workers(wakeup, subject(&plan, id)), expected, "{id}");
        assert_eq!(workers(long, subject(&plan, id)), expected, "{id}");
    }
    assert_eq!(WORKERS.of(&wakeup.parameters), 2, "those of the reference");
    assert!(messaging.variants.is_empty());
    assert_eq!(subject(&plan, "eight").levels["wakeup.workers"].as_str(), "8");
    for trial in plan.blocks.iter().flat_map(|block| plan::trials(&plan, block)) {
        assert!(trial.workload.variants.is_empty());
        if trial.workload.uses == "wakeup" {
            let is_open = trial.subject.id == "arriving";
            let mode = if is_open { Mode::Open } else { Mode::Closed };
            assert!(MODE.of(&trial.workload.parameters) == mode);
            let has_lateness = trial.workload.metrics.iter().any(|one| one.id == "lateness");
            assert_eq!(has_lateness, is_open);
        }
    }
}

#[test]
fn the_time_of_a_campaign_is_that_of_each_subjects_parameters() {
    let plan = plan(request(DESIGNS)).unwrap();
    let [wakeup, long, _] = plan.workloads.as_slice() else { panic!("three workloads") };
    let seconds = |workload: &WorkloadPlan, id| workload.trial_expected_ns(id) / 1_000_000_000;
    assert_eq!([seconds(wakeup, "two"), seconds(wakeup, "eight")], [12, 24]);
    // What a subject sets it has in every workload of that kind.
    assert_eq!([seconds(long, "two"), seconds(long, "eight")], [48, 24]);
    assert_eq!(wakeup.expected_ns, 8_000_000_000, "the longest of them");
}

#[test]
fn what_only_some_subjects_measure_is_asked_of_no_other() {
    let plan = plan(request(DESIGNS)).unwrap();
    let wakeup = &plan.workloads[0];
    assert!(wakeup.metrics.iter().any(|metric| metric.id == "lateness"));
    for (id, expected) in [("two", false), ("two-again", false), ("arriving", true)] {
        assert_eq!(wakeup.measures("lateness", subject(&plan, id)), expected, "{id}");
        assert!(wakeup.measures("wakeup_latency_p99", subject(&plan, id)), "{id}");
    }
}

#[test]
fn quick_halves_the_duration_of_every_subject() {
    let plan = plan(PlanRequest { is_quick: true, ..request(DESIGNS) }).unwrap();
    let wakeup = &plan.workloads[0];
    let duration = |id| DURATION.of(wakeup.parameters_for(subject(&plan, id)));
    assert_eq!(["two", "two-again", "eight"].map(duration), [2, 2, 4].map(|s| s * 1_000_000_000));
}

#[test]
fn parameters_are_crossed_and_set_as_factors_are() {
    let text = r#"
[factors]
wakeup.workers = [1, 2, 4]
nice = [0, 5]

[[workloads]]
use = "wakeup"

[[claims]]
says = "four are slower"
metric = "wakeup_latency_p50"
subject = { wakeup = { workers = 4 } }
effect = "worse"
"#;
    let crossed = plan(request(text)).unwrap();
    let ids: Vec<&str> = crossed.subjects.iter().map(|one| one.id.as_str()).collect();
    assert!(ids.contains(&"wakeup-workers-4--nice-5"), "{ids:?}");
    let of = |id| workers(&crossed.workloads[0], subject(&crossed, id));
    assert_eq!(of("wakeup-workers-1--nice-0"), 1);
    assert_eq!(of("wakeup-workers-4--nice-0"), 4);
    let overrides = [("subjects.eight.wakeup.workers".to_owned(), "16".to_owned())];
    let set = plan(PlanRequest { overrides: &overrides, ..request(DESIGNS) }).unwrap();
    assert_eq!(workers(&set.workloads[0], subject(&set, "eight")), 16);
}

#[test]
fn a_plan_without_such_subjects_is_written_as_it_always_was() {
    let plan = plan(request(crate::EXPERIMENT)).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert!(!text.contains("variants"));
    let value = plan.workloads[0].parameters.0.get("workers");
    assert_eq!(value, Some(&ParameterValue::Count(4)));
}
