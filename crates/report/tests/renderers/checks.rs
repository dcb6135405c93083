//! What is checked before a campaign is believed, as its page says it.

use crate::campaigns::{Campaign, Draft, campaign, mixed};
use model::{Caveat, CaveatCode, Finding, Obstacle, Role, Verdict};
use report::{page_json, view};

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
fn a_control_passes_only_where_it_could_have_failed() {
    let undecided = || twin("latency_p50").effect(5e4, 1.01, 0.96, 1.07);
    let too_little = "too little data to tell a twin apart in any of 1 comparisons";
    let few = |draft: Draft| {
        draft.forbidden(Obstacle::FewPairs, CaveatCode::FewBlocks, "1 complete pairs").finding()
    };
    for (finding, state, detail) in [
        (undecided().finding(), "passed", "not told apart from its twin in 1 comparisons"),
        (few(twin("latency_p50")), "warned", too_little),
        (twin("latency_p50").finding(), "warned", too_little),
        (few(undecided()), "warned", too_little),
        (twin("latency_p50").effect(5e4, 1.0, 0.0, f64::INFINITY).finding(), "warned", too_little),
        (twin("latency_p50").effect(5e4, 1.0, 0.6, 1.6).finding(), "warned", too_little),
        (undecided().decided(Verdict::Invalid, false).finding(), "warned", too_little),
        (
            undecided().decided(Verdict::Worse, true).finding(),
            "failed",
            "told apart from its twin in 1 of 1 comparisons",
        ),
    ] {
        assert_eq!(of_twins(vec![finding]), (state.to_owned(), detail.to_owned()));
    }
    let mixture = vec![undecided().finding(), few(twin("latency_p99"))];
    let (state, detail) = of_twins(mixture);
    assert_eq!(state, "passed");
    assert!(detail.contains("in 1 comparisons; 1 have too little data"), "{detail}");
}

#[test]
fn a_control_of_an_unfinished_campaign_has_passed_nothing() {
    let mut campaign = mixed();
    assert_eq!(control(&campaign).0, "passed");
    campaign.findings.caveats.push(Caveat::new(CaveatCode::Unfinished, "3 trials so far"));
    assert_eq!(control(&campaign).0, "warned");
}
