//! Planning seen from outside: the catalogue is a small one of this test.

#![expect(clippy::unwrap_used, reason = "tests may unwrap, and so may what only they use")]

mod boots;
mod catalogue;
mod golden;
mod many_problems;
mod options;
mod orders;
mod pace;
mod variants;
mod venues;
mod within_factor;

use catalogue::{CATALOGUE, DEFAULT_PROBES};
use model::Plan;
use plan::{ExperimentProblem, PlanRequest};

/// An experiment that every test can vary.
pub(crate) const EXPERIMENT: &str = r#"
title = "Slices"
blocks = 10
margin = { default = "3%", wakeup_latency_p99 = "8%" }
nice = 5

[subjects.baseline]
[subjects.short]
base_slice = "0.75ms"
[subjects.batch]
policy = "batch"
nice = 0

[[workloads]]
use = "wakeup"
workers = 4
duration = "4s"
primary = ["wakeup_latency_p99", "requests_per_second"]

[[workloads]]
use = "messaging"
subjects = ["batch"]
load = { cpu = 2, session = "separate" }
margin = "7%"
"#;

pub(crate) fn plan(request: PlanRequest<'_>) -> Result<Plan, Vec<ExperimentProblem>> {
    plan::plan(&CATALOGUE, DEFAULT_PROBES, &request)
}

pub(crate) fn request(text: &str) -> PlanRequest<'_> {
    PlanRequest { text, name: "slices", drawn_seed: 7, resolve: &archive, ..PlanRequest::default() }
}

/// What an archive of these tests offers.
fn archive(factor: &str, text: &str) -> Option<Result<Vec<String>, String>> {
    let texts: &[&str] = match (factor, text) {
        ("kernel", "debian:6.12") => &["debian:6.12.117-1"],
        ("kernel", "debian:eevdf") => &["debian:6.12.117-1", "debian:6.18.15-1"],
        ("kernel", "debian:none") => &[],
        ("kernel", "debian:unreachable") => return Some(Err("no archive answers".to_owned())),
        _ => return None,
    };
    Some(Ok(texts.iter().map(|text| (*text).to_owned()).collect()))
}

#[test]
fn an_experiment_becomes_the_plan_it_describes() {
    let plan = plan(request(EXPERIMENT)).unwrap();
    let ids: Vec<&str> = plan.subjects.iter().map(|subject| subject.id.as_str()).collect();
    assert_eq!(ids, ["baseline", "baseline-again", "short", "batch"]);
    assert!(plan.subjects[1].is_control);
    assert_eq!(plan.subjects[1].levels, plan.subjects[0].levels);
    let level = |subject: &str, factor: &str| {
        let subject = plan.subject(subject).unwrap();
        subject.levels.get(factor).map(|level| level.as_str().to_owned())
    };
    assert_eq!(level("short", "base_slice").as_deref(), Some("750us"));
    assert_eq!(level("short", "nice").as_deref(), Some("5"));
    assert_eq!(level("batch", "nice").as_deref(), Some("0"));
    assert_eq!(plan.probes, ["rusage"]);
    assert_eq!(plan.blocks.len(), 10);
    assert!(plan.is_seed_generated);
    assert_eq!(plan.seed, 7);
    let messaging = plan.workload("messaging").unwrap();
    assert_eq!(messaging.subjects, ["baseline", "batch"], "the reference always runs");
    assert_eq!(messaging.primary, ["makespan"], "the first metric is the default");
    assert_eq!(messaging.invocations, 3);
    // Three subjects run wakeup with the control, two and the control messaging.
    assert_eq!(plan.trial_count(), 10 * (4 + 3));
    assert_eq!(plan::trials(&plan, &plan.blocks[0]).len(), 7);
}

#[test]
fn the_margin_that_names_the_metric_wins_then_the_nearest_default() {
    let plan = plan(request(EXPERIMENT)).unwrap();
    let margin = |workload: &str, metric: &str| {
        let metrics = &plan.workload(workload).unwrap().metrics;
        metrics.iter().find(|candidate| candidate.id == metric).unwrap().margin
    };
    assert_eq!(margin("wakeup", "wakeup_latency_p99"), 0.08);
    assert_eq!(margin("wakeup", "wakeup_latency_p50"), 0.03);
    assert_eq!(margin("messaging", "makespan"), 0.07);
    assert_eq!(margin("messaging", "voluntary_switches"), 0.02, "a probe keeps its own");
}

#[test]
fn crossing_makes_every_combination_and_the_first_is_the_reference() {
    let text = "[factors]\nbase_slice = [\"3ms\", \"0.75ms\"]\nnice = [0, -5]\n\
                [[workloads]]\nuse = \"wakeup\"\n";
    let plan = plan(request(text)).unwrap();
    let ids: Vec<&str> = plan.subjects.iter().map(|subject| subject.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "base-slice-3ms--nice-0",
            "base-slice-3ms--nice-0-again",
            "base-slice-3ms--nice-minus-5",
            "base-slice-750us--nice-0",
            "base-slice-750us--nice-minus-5",
        ]
    );
    let both = "[subjects.plain]\n[subjects.batch]\npolicy = \"batch\"\n".to_owned() + text;
    let plan = crate::plan(request(&both)).unwrap();
    assert_eq!(plan.subjects.len(), 2 * 4 + 1);
    assert_eq!(plan.subjects[8].id, "batch--base-slice-750us--nice-minus-5");
    assert_eq!(plan.subjects[8].levels.len(), 3);
}

#[test]
fn one_subject_with_its_control_is_an_aa_campaign() {
    let text = "[subjects.only]\n[[workloads]]\nuse = \"wakeup\"\n";
    let plan = plan(request(text)).unwrap();
    assert_eq!(plan.subjects.len(), 2);
    assert!(plan.subjects[1].is_control);
}

#[test]
fn the_template_plans_without_problems() {
    let text = plan::template(&CATALOGUE);
    let plan = plan(request(&text)).unwrap_or_else(|problems| {
        panic!("{}\n{text}", plan::render_problems(&problems, "new.toml", &text))
    });
    assert_eq!(plan.workloads[0].uses, "wakeup");
    assert!(plan.subjects.iter().any(|subject| subject.levels.contains_key("policy")));
}

#[test]
fn every_commented_assignment_of_the_template_is_valid_when_uncommented() {
    let template = plan::template(&CATALOGUE);
    for (index, line) in template.lines().enumerate() {
        let Some(assignment) = line.strip_prefix("# ") else { continue };
        let is_assignment = assignment.split(" = ").next().is_some_and(|key| {
            assignment.contains(" = ")
                && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        });
        let is_example = ["margin = ", "use = "].iter().any(|key| assignment.starts_with(key));
        if !is_assignment
            || is_example
            || template.lines().nth(index.wrapping_sub(1)) == Some("# [factors]")
        {
            continue;
        }
        // The level that the second subject sets already may not be set twice.
        let is_duplicate = assignment.starts_with("policy = ") && line.contains("\"other\"");
        let uncommented: Vec<&str> = template
            .lines()
            .enumerate()
            .filter(|(other, line)| {
                !(is_duplicate && *other != index && line.starts_with("policy"))
            })
            .map(|(other, line)| if other == index { assignment } else { line })
            .collect();
        let text = uncommented.join("\n");
        if let Err(problems) = plan(request(&text)) {
            let is_known = problems.iter().all(|problem| problem.cause.contains("same levels"));
            assert!(is_known, "{}", plan::render_problems(&problems, "new.toml", &text));
        }
    }
}

#[test]
fn the_schema_knows_every_name_of_the_catalogue() {
    let schema = plan::schema(&CATALOGUE);
    let levels = schema["$defs"]["level"]["properties"].as_object().unwrap();
    assert_eq!(levels.len(), CATALOGUE.factors.len() + CATALOGUE.workloads.len());
    let own = levels["wakeup"]["properties"].as_object().unwrap();
    assert!(own.contains_key("workers") && !own.contains_key("label"));
    // A list of words and a table are no levels.
    assert_eq!(levels["command"]["properties"].as_object().unwrap().keys().len(), 1);
    assert!(schema["properties"].as_object().unwrap().contains_key("base_slice"));
    let workloads = schema["$defs"]["workload"]["oneOf"].as_array().unwrap();
    assert_eq!(workloads.len(), CATALOGUE.workloads.len());
    assert_eq!(workloads[0]["properties"]["workers"]["default"], 2);
    assert_eq!(workloads[2]["required"], serde_json::json!(["use", "run"]));
}
