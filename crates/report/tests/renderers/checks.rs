//! What is checked before a campaign is believed, as its page says it.

use crate::campaigns::{Campaign, Draft, campaign};
use crate::html_pages::measured;
use crate::page;
use model::{
    Caveat, CaveatCode, Finding, Imported, ImportedDesign, Obstacle, Record, Role, Verdict,
};
use report::{HAS_PAGE, RENDERERS, page_json, view};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

/// State and detail of the check of the A/A control.
fn control(campaign: &Campaign) -> (String, String) {
    let text = page_json(&view(&campaign.inputs())).unwrap();
    let page: serde_json::Value = serde_json::from_str(&text).unwrap();
    let checks = page["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "A/A control").unwrap();
    let word = |key: &str| check[key].as_str().unwrap().to_owned();
    (word("state"), word("detail"))
}

fn twin(metric: &str) -> Draft {
    Draft::new("cyclic", metric, "baseline-again").role(Role::Control)
}

fn of_twins(findings: Vec<Finding>) -> (String, String) {
    control(&campaign("Is it the same?", findings, Vec::new()))
}

#[test]
fn a_control_passes_only_where_it_was_shown_to_be_alike() {
    let undecided = || twin("latency_p50").effect(5e4, 1.01, 0.96, 1.07);
    let alike = || undecided().decided(Verdict::Equivalent, false).finding();
    let nothing = "neither told apart from its twin nor shown to be like it: 1 comparison";
    let few = |draft: Draft| {
        draft.forbidden(Obstacle::FewPairs, CaveatCode::FewBlocks, "1 complete pairs").finding()
    };
    for (finding, state, detail) in [
        (alike(), "passed", "shown to be like its twin: 1 comparison"),
        (undecided().finding(), "not_observed", nothing),
        (few(twin("latency_p50")), "not_observed", nothing),
        (twin("latency_p50").finding(), "not_observed", nothing),
        (undecided().decided(Verdict::Invalid, false).finding(), "not_observed", nothing),
        (
            undecided().decided(Verdict::Worse, true).finding(),
            "failed",
            "told apart from its twin in 1 of 1 comparisons",
        ),
    ] {
        assert_eq!(of_twins(vec![finding]), (state.to_owned(), detail.to_owned()));
    }
    let (state, detail) = of_twins(vec![alike(), few(twin("latency_p99"))]);
    assert_eq!(state, "passed");
    let told = "shown to be like its twin in 1 of 2 comparisons, undecided in the others";
    assert_eq!(detail, told);
}

/// States by the names of checks.
fn states(campaign: &Campaign) -> BTreeMap<String, String> {
    let text = page_json(&view(&campaign.inputs())).unwrap();
    let page: serde_json::Value = serde_json::from_str(&text).unwrap();
    let pair = |check: &serde_json::Value| {
        (check["name"].as_str().unwrap().to_owned(), check["state"].as_str().unwrap().to_owned())
    };
    page["checks"].as_array().unwrap().iter().map(pair).collect()
}

/// A campaign of which everything was read, without failures and without warnings.
pub fn clean() -> Campaign {
    let mut campaign = measured();
    campaign.findings.caveats.clear();
    campaign.store_caveats.clear();
    campaign.findings.failures.clear();
    for subject in ["baseline", "fifo", "batch"] {
        campaign.findings.failures.push(model::FailureCount {
            subject: subject.to_owned(),
            workload: "cyclic".to_owned(),
            trials: 6,
            failed: 0,
            invalid: 0,
            p_failure: None,
            adjusted_failure: None,
            failure_verdict: None,
            p_invalid: None,
            reasons: BTreeMap::new(),
            rules: BTreeMap::new(),
        });
    }
    for finding in &mut campaign.findings.findings {
        finding.caveats.clear();
    }
    campaign
}

/// Simulated, imported in blocks, imported without.
pub fn of_others() -> [(&'static str, Campaign); 3] {
    let mut simulated = clean();
    simulated.findings.caveats.push(Caveat::new(CaveatCode::Simulated, "nothing ran"));
    let imported = |design: ImportedDesign| {
        let mut campaign = clean();
        campaign.plan.imported = Some(Imported {
            format: "csv".to_owned(),
            file: "runs.csv".to_owned(),
            digest: String::new(),
            design,
            caveats: Vec::new(),
        });
        campaign.plan.venue = "import".to_owned();
        campaign.plan.notes.clear();
        campaign.plan.seed = 0;
        campaign.plan.is_seed_generated = false;
        campaign.environment = model::Fingerprint::default();
        campaign.plan.subjects.retain(|subject| !subject.is_control);
        campaign.plan.subjects.iter_mut().for_each(|subject| subject.levels.clear());
        campaign.findings.findings.retain(|finding| finding.question.role != Role::Control);
        campaign.records.retain(|record| !record.subject.ends_with("-again"));
        if campaign
            .plan
            .imported
            .as_ref()
            .is_some_and(|imported| matches!(imported.design, ImportedDesign::Unblocked { .. }))
        {
            campaign.plan.blocks.clear();
            for finding in &mut campaign.findings.findings {
                finding.blocks.clear();
                (finding.planning, finding.companion, finding.diagnostics) = (None, None, None);
            }
        }
        for record in &mut campaign.records {
            record.levels.clear();
            for invocation in &mut record.invocations {
                invocation.disturbance = None;
            }
        }
        campaign
    };
    let rows = ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
    [
        ("simulated", simulated),
        ("blocks", imported(ImportedDesign::Blocked)),
        ("rows", imported(rows)),
    ]
}

#[test]
fn a_step_passes_only_where_its_field_is_in_the_records() {
    let all = states(&clean());
    for check in ["trials", "design", "order and drift", "quiet machine"] {
        assert_eq!(all[check], "passed", "{check}: {all:?}");
    }
    assert_eq!(all["real device and processor"], "passed");
    let without = |change: fn(&mut Record)| {
        let mut campaign = clean();
        campaign.records.iter_mut().take(1).for_each(change);
        states(&campaign)
    };
    let unread = without(|record| record.levels.clear());
    assert_eq!((&*unread["trials"], &*unread["quiet machine"]), ("not_observed", "passed"));
    let unwatched = without(|record| record.invocations[0].disturbance = None);
    assert_eq!((&*unwatched["trials"], &*unwatched["quiet machine"]), ("passed", "not_observed"));
    let no_throttles = without(|record| {
        record.invocations[0].disturbance.as_mut().unwrap().throttles = None;
    });
    assert_eq!(no_throttles["quiet machine"], "passed", "what was read is told apart");
    let mut none = clean();
    none.records.clear();
    let none = states(&none);
    for check in ["trials", "design", "order and drift", "quiet machine"] {
        assert_eq!(none[check], "not_observed", "{check}: {none:?}");
    }
}

#[test]
fn nothing_of_a_machine_passes_where_none_was_observed() {
    for (origin, campaign) in of_others() {
        let states = states(&campaign);
        for check in ["trials", "quiet machine"] {
            assert_eq!(states[check], "not_observed", "{origin}: {check}: {states:?}");
        }
        assert_ne!(states["real device and processor"], "passed", "{origin}");
        if origin != "simulated" {
            for check in ["same work", "design", "order and drift"] {
                assert_eq!(states[check], "not_observed", "{origin}: {check}: {states:?}");
            }
        }
    }
}

/// What only trials that ran can bear, in any format.
const STEPS: [&str; 7] = [
    "was read back",
    "were read back",
    "no foreign load",
    "emulated processor, and none",
    "order drawn anew",
    "in random order",
    "blocks of random order",
];

#[test]
fn no_format_states_a_step_that_nobody_observed() {
    for (origin, campaign) in of_others() {
        // The simulator's order is the plan's own.
        let forbidden = if origin == "simulated" { &STEPS[..4] } else { &STEPS[..] };
        let report = view(&campaign.inputs());
        for renderer in RENDERERS {
            let id = renderer.describe().id;
            if id == "pptx" && !HAS_PAGE {
                continue;
            }
            let mut bytes = Vec::new();
            if let Err(error) = renderer.render(&report, &page(100), &mut bytes) {
                // The one that needs a value for each block has none of rows.
                assert_eq!((origin, id), ("rows", "benchfmt"), "{error}");
                continue;
            }
            let text = readable(&bytes);
            for step in forbidden {
                assert!(!text.contains(step), "{origin}, {id}: {step}");
            }
        }
    }
}

/// All text of a file, of an archive that of its parts.
fn readable(bytes: &[u8]) -> String {
    if !bytes.starts_with(b"PK") {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut text = String::new();
    for index in 0..archive.len() {
        let mut part = Vec::new();
        archive.by_index(index).unwrap().read_to_end(&mut part).unwrap();
        text.push_str(&String::from_utf8_lossy(&part));
    }
    text
}
