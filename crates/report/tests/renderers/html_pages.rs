//! What the page is given. `web/test` draws these files in a browser.

use super::{drawn, page};
use crate::campaigns::{Campaign, emulated, hostile, mixed, undecided};
use crate::divided::divided;
use crate::grid::grid;
use crate::multicore::multicore;
use crate::stored::{in_blocks, in_rows};
use expect_test::{ExpectFile, expect_file};
use model::{
    Claim, ClaimFinding, ClaimOutcome, ClaimedEffect, Histogram, Look, Outcome, Ranking, Record,
    Sample, SampleData, TrialValue, UseCaseFinding,
};
use phrases::Language;

const BEGIN: &str = "<script type=\"application/json\" id=\"schedlab-data\">";

/// The data in a page.
fn data(campaign: &Campaign) -> String {
    let text = drawn(campaign, "html", page(80));
    let (_, behind) = text.split_once(BEGIN).unwrap();
    let (json, _) = behind.split_once("</script>").unwrap();
    json.to_owned()
}

fn ranking(workload: &str, metric: &str) -> Ranking {
    let ranks = [("fifo", 1, 1), ("baseline", 2, 3), ("batch", 2, 3)];
    fixtures::ranking(workload, metric, &ranks)
}

fn use_case() -> UseCaseFinding {
    UseCaseFinding {
        weights: vec![fixtures::weight("cyclic", "latency_p50", 1.0)],
        ranking: ranking("desktop", ""),
        co_best: vec!["fifo".to_owned()],
        ..fixtures::use_case_finding("desktop")
    }
}

fn claim() -> ClaimFinding {
    let claim = Claim {
        says: "fifo wakes faster".to_owned(),
        source: Some("a study".to_owned()),
        workload: Some("cyclic".to_owned()),
        metric: "latency_p50".into(),
        ..fixtures::claim("fifo", "baseline", ClaimedEffect::Better)
    };
    fixtures::claim_finding(claim, ClaimOutcome::Confirmed, "clearly better")
}

/// The mixed campaign with runs whose latencies have a tail, ranks, a use case and a claim.
pub fn measured() -> Campaign {
    /// Everything was read, and nothing was there.
    fn quiet() -> model::Disturbance {
        model::Disturbance {
            foreign_share: Some(0.002),
            stolen_share: Some(0.0),
            throttles: Some(0),
            ..Default::default()
        }
    }

    let mut campaign = mixed();
    let first = campaign.records[0].clone();
    campaign.records.clear();
    for block in 0..6_u32 {
        for (place, subject) in ["baseline", "fifo", "batch"].into_iter().enumerate() {
            let mut latency = Histogram::new();
            let middle = 60_000.0 / (1.0 + place as f64) * (1.0 + 0.02 * f64::from(block % 3));
            for step in 1..=4_000_u32 {
                // A heavy tail: the quantile function of Pareto's distribution, alpha 3.
                let rest = 1.0 - f64::from(step) / 4_001.0;
                latency.record((middle / rest.cbrt()) as u64);
            }
            let median = latency.quantile(0.5).unwrap() as f64;
            let mut record = Record {
                sequence: u64::from(block) * 3 + place as u64,
                block,
                position: (place as u32 + block) % 3,
                invocations: vec![model::Invocation {
                    disturbance: Some(Box::new(quiet())),
                    ..fixtures::invocation(vec![Sample::histogram("latency", latency)])
                }]
                .into(),
                ..first.clone()
            };
            subject.clone_into(&mut record.subject);
            "cyclic".clone_into(&mut record.workload);
            record.outcome = Outcome::Completed;
            record.levels = readings(&campaign.plan, subject);
            campaign.records.push(record);
            campaign.values.push(TrialValue {
                block,
                subject: subject.into(),
                workload: "cyclic".into(),
                metric: "latency_p50".into(),
                value: median,
            });
        }
    }
    campaign.findings.rankings = vec![ranking("cyclic", "latency_p50")];
    campaign.findings.use_cases = vec![use_case()];
    campaign.findings.claims = vec![claim()];
    campaign
}

/// Each level of a subject as it was read back.
pub fn readings(
    plan: &model::Plan,
    subject: &str,
) -> std::collections::BTreeMap<String, model::LevelReading> {
    let reading = |level: &model::Level| model::LevelReading {
        before: level.clone(),
        during: Vec::new(),
        after: level.clone(),
    };
    let levels = &plan.subject(subject).unwrap().levels;
    levels.iter().map(|(factor, level)| (factor.clone(), reading(level))).collect()
}

/// An import with the value of each of its records, which is all that these hold.
pub fn with_values(mut campaign: Campaign) -> Campaign {
    for record in &campaign.records {
        let sample = &record.invocations[0].samples[0];
        let SampleData::Values(values) = &sample.data else { panic!("{sample:?}") };
        campaign.values.push(TrialValue {
            block: record.block,
            subject: record.subject.as_str().into(),
            workload: record.workload.as_str().into(),
            metric: sample.source.clone(),
            value: values[0],
        });
    }
    campaign
}

#[test]
fn the_page_is_given_what_its_figures_are_drawn_from() {
    let check = |campaign: &Campaign, expected: ExpectFile| {
        let value: serde_json::Value = serde_json::from_str(&data(campaign)).unwrap();
        expected.assert_eq(&format!("{}\n", serde_json::to_string_pretty(&value).unwrap()));
    };
    check(&mixed(), expect_file!["../golden/page-mixed.json"]);
    check(&measured(), expect_file!["../golden/page-measured.json"]);
    check(&grid(), expect_file!["../golden/page-grid.json"]);
    check(&multicore(), expect_file!["../golden/page-multicore.json"]);
    check(&divided(), expect_file!["../golden/page-divided.json"]);
    check(&hostile(), expect_file!["../golden/page-hostile.json"]);
    check(&emulated(), expect_file!["../golden/page-emulated.json"]);
    let blocks = with_values(in_blocks());
    check(&blocks, expect_file!["../golden/page-imported-blocks.json"]);
    check(&with_values(in_rows()), expect_file!["../golden/page-imported-rows.json"]);
}

#[test]
fn each_interval_has_its_own_level_and_says_whether_it_holds_at_every_look() {
    let mut campaign = mixed();
    campaign.findings.alpha = 0.1;
    let [first, second, ..] = campaign.findings.findings.as_mut_slice() else { unreachable!() };
    first.look = Some(Look { number: 1, of: 2, blocks: 6, alpha: 0.0125 });
    // As of a campaign that was ended early.
    let effect = second.effect.as_mut().unwrap();
    (effect.p_difference, effect.is_sequence) = (None, true);
    let value: serde_json::Value = serde_json::from_str(&data(&campaign)).unwrap();
    let told = |place: usize| {
        let finding = &value["findings"][place];
        (finding["alpha"].as_f64().unwrap(), finding["is_sequence"] == true)
    };
    assert_eq!([told(0), told(1), told(2)], [(0.0125, false), (0.1, true), (0.1, false)]);
}

#[test]
fn the_page_knows_which_effects_are_ratios_of_odds() {
    let mut campaign = mixed();
    campaign.findings.findings[1].is_odds = true;
    let value: serde_json::Value = serde_json::from_str(&data(&campaign)).unwrap();
    let told = |place: usize| value["findings"][place]["is_odds"] == true;
    assert_eq!([0, 1, 2].map(told), [false, true, false]);
    let mut campaign = grid();
    campaign.findings.findings.iter_mut().for_each(|finding| finding.is_odds = true);
    let value: serde_json::Value = serde_json::from_str(&data(&campaign)).unwrap();
    let comparisons = value["grids"][0]["comparisons"].as_array().unwrap();
    let cells = comparisons.iter().flat_map(|one| one["cells"].as_array().unwrap());
    let mut cells = cells.flat_map(|row| row.as_array().unwrap()).filter(|cell| !cell.is_null());
    assert!(cells.clone().count() > 0 && cells.all(|cell| cell["is_odds"] == true));
}

#[test]
fn the_page_knows_of_which_comparisons_nothing_may_be_said() {
    let told = |campaign: &Campaign| -> Vec<bool> {
        let value: serde_json::Value = serde_json::from_str(&data(campaign)).unwrap();
        let findings = value["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["is_forbidden"] == true).collect()
    };
    assert_eq!(told(&undecided()), [true], "fewer than five pairs");
    assert!(told(&mixed()).iter().all(|is_forbidden| !is_forbidden));
}

#[test]
fn intervals_of_a_campaign_that_was_ended_early_hold_at_every_look_in_text_too() {
    let mut campaign = mixed();
    for finding in &mut campaign.findings.findings {
        finding.effect.iter_mut().for_each(|effect| {
            (effect.p_difference, effect.is_sequence) = (None, true);
        });
    }
    let text = drawn(&campaign, "markdown", page(80));
    assert!(text.contains("95 % at every look together"), "{text}");
    let finding = &campaign.findings.findings[0];
    let told = crate::explained(finding, &campaign.findings, false, Language::default()).join("\n");
    assert!(told.contains("ended before its plan did: after 6 pairs there is no p"), "{told}");
}

#[test]
fn no_text_of_a_campaign_ends_the_element_that_holds_it() {
    assert!(!data(&hostile()).contains('<'));
}

#[test]
fn the_page_shows_no_value_of_an_emulated_processor() {
    let value: serde_json::Value = serde_json::from_str(&data(&emulated())).unwrap();
    assert_eq!(value["curves"], serde_json::Value::Null);
    assert_eq!(value["series"], serde_json::json!([]));
    for finding in value["findings"].as_array().unwrap() {
        assert_eq!(finding["subject_value"], serde_json::Value::Null);
        assert_eq!(finding["reference_value"], serde_json::Value::Null);
    }
}
