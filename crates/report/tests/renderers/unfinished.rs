//! Campaigns that did not reach the end of their plan: what ran is counted, and what decided is told.

use crate::campaigns::{Campaign, Draft, campaign, mixed};
use crate::checks::{of, quiet, spaced, texts};
use crate::grid::grid;
use crate::languages::korean;
use crate::multicore::multicore;
use crate::stored::{ended, measured, simulated, unfinished};
use crate::{drawn, is_for_programs, page, read_as_text};
use model::{CaveatCode, Obstacle, Role, UseCaseFinding, Verdict};
use report::{
    Comparison, ExplainContext, HAS_PAGE, Page, Provenance, compare, explain, page_json, view,
};

/// The measured campaign, as if more had been planned than the six blocks that it has.
fn of_four_hundred() -> Campaign {
    let mut campaign = measured();
    for index in 6..400 {
        let mut block = campaign.plan.blocks[0].clone();
        block.index = index;
        campaign.plan.blocks.push(block);
    }
    campaign
}

#[test]
fn every_format_counts_the_blocks_that_were_recorded() {
    for (origin, campaign, told, planned) in [
        ("ended", ended(), "10 of 20 planned", 20),
        ("unfinished", unfinished(), "10 of 20 planned", 20),
        ("measured", of_four_hundred(), "6 of 400 planned", 400),
    ] {
        for (id, text) in texts(origin, &campaign) {
            let text = spaced(&text);
            // What an effect would need is told in so many blocks too, after other words.
            for of_all in [
                format!(" {planned} blocks of"),
                format!(">{planned} blocks of"),
                format!(" {planned} randomised"),
                format!(" {planned} blocks, each"),
            ] {
                assert!(!text.contains(&of_all), "{origin}, {id}: {of_all}");
            }
            let has_no_count = is_for_programs(id) || id == "explain";
            if has_no_count || (id == "html" && !HAS_PAGE) {
                continue;
            }
            assert!(text.contains(told), "{origin}, {id} lacks {told}");
        }
        let page: serde_json::Value =
            serde_json::from_str(&page_json(&view(&campaign.inputs())).unwrap()).unwrap();
        let design = &page["design"];
        let counts =
            [&design["blocks"], &design["planned_blocks"]].map(|one| one.as_u64().unwrap());
        assert_eq!(told, format!("{} of {} planned", counts[0], counts[1]));
        let all = korean(campaign);
        let told = format!("계획한 {}개 중 {}개", counts[1], counts[0]);
        for format in read_as_text().map(|renderer| renderer.describe().id) {
            let text = spaced(&drawn(&all, format, page_of(4000)));
            assert!(text.contains(&told), "{format} lacks {told}: {text}");
        }
    }
    let whole = view(&measured().inputs()).design;
    assert_eq!((whole.blocks, whole.planned_blocks), (Some(6), None));
}

#[test]
fn an_adaptive_campaign_that_was_cut_says_how_many_of_its_blocks_it_has() {
    let counts = |campaign: &Campaign| {
        let design = view(&campaign.inputs()).design;
        (design.blocks, design.planned_blocks)
    };
    for (origin, mut campaign) in [("ended", ended()), ("unfinished", unfinished())] {
        // Even at a look: it was not its rule that ended it.
        campaign.plan.looks = vec![6, 10, 20];
        assert_eq!(counts(&campaign), (Some(10), Some(20)), "{origin}");
        campaign.plan.looks = vec![6, 20];
        assert_eq!(counts(&campaign), (Some(10), Some(20)), "{origin}");
        // Whatever its caveats say.
        campaign.plan.looks = vec![6, 10, 20];
        campaign.findings.caveats.clear();
        campaign.store_caveats.clear();
        assert_eq!(counts(&campaign), (Some(10), Some(20)), "{origin}");
    }
    let mut campaign = of_four_hundred();
    campaign.plan.looks = vec![6, 10, 400];
    assert_eq!(counts(&campaign), (Some(6), None));
    let note = |blocks: u32| format!("stopped at the look after {blocks} of at most 400 blocks: x");
    campaign.plan.notes = vec![note(6)];
    assert_eq!(counts(&campaign), (Some(6), None));
    campaign.plan.notes = vec![note(10)];
    assert_eq!(counts(&campaign), (Some(6), Some(400)), "it has not as many as its note says");
    campaign.plan.end_at_look(6);
    assert_eq!(counts(&campaign), (Some(6), None), "its notes do not decide");
    campaign.plan.notes.clear();
    campaign.plan.end_at_look(10);
    assert_eq!(counts(&campaign), (Some(6), Some(400)));
}

fn page_of(width: usize) -> Page {
    Page { is_verbose: true, ..page(width) }
}

#[test]
fn two_campaigns_are_compared_by_the_blocks_that_were_recorded() {
    let reports = [view(&ended().inputs()), view(&simulated().inputs())];
    let compared: Comparison<'_> = compare(&reports[0], &reports[1]);
    let fact = compared.design.differing.iter().find(|fact| fact.name == "blocks").unwrap();
    assert_eq!(fact.values, [Some("10 of 20 planned".to_owned()), Some("6".to_owned())]);
    let mut bytes = Vec::new();
    compared.draw(&page_of(200), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    for told in [
        "A: Intervals are 97.5 % at every look together, unadjusted, each for its row alone; one that",
        "Verdicts are corrected for 2 comparisons (Bonferroni).",
        "B: Intervals are 95 %, unadjusted, each for its row alone. Verdicts are corrected for 1",
    ] {
        assert!(spaced(&text).contains(told), "{told}: {text}");
    }
}

/// What a report says that has no planned blocks, as that of an earlier version.
#[test]
fn a_report_of_an_earlier_format_is_read() {
    let text = drawn(&ended(), "json", page(80));
    let mut report: serde_json::Value = serde_json::from_str(&text).unwrap();
    report["format"] = "schedlab.report/14".into();
    let planned = report["design"].as_object_mut().unwrap().remove("planned_blocks").unwrap();
    report["design"]["blocks"] = planned;
    let report: report::Report = serde_json::from_value(report).unwrap();
    assert_eq!((report.design.blocks, report.design.planned_blocks), (Some(20), None));
}

#[test]
fn an_ended_campaign_is_explained_by_the_interval_that_decided_it() {
    let mut campaign = ended();
    for finding in &mut campaign.findings.findings {
        // As findings of earlier versions have it.
        finding.effect.as_mut().unwrap().skew = 0.2;
    }
    let all = texts("ended", &campaign);
    let told = of(&all, "explain");
    assert!(told.contains("there is no p"), "{told}");
    for wrong in ["first p", "second p", "allows for it", "neither p"] {
        assert!(!told.contains(wrong), "{wrong}: {told}");
    }
    for right in [
        "because ended on purpose after 9 pairs: judged by the interval of the family that holds at \
         every look; 16.3 to 23.6 % better (98.75 %) lies on one side of no difference, and even its \
         near end beyond 3 %",
        "2.8 % worse to 2.1 % better (98.75 %) lies within the margin of 3 %",
    ] {
        assert!(told.contains(right), "{right}: {told}");
    }
    for format in ["terminal", "markdown", "mail", "pull-request", "xlsx", "pptx"] {
        if format == "pptx" && !HAS_PAGE {
            continue;
        }
        let text = spaced(&of(&all, format));
        assert!(text.contains("(Bonferroni)") && !text.contains("Holm"), "{format}: {text}");
    }
}

#[test]
fn no_verdict_of_an_unfinished_campaign_is_called_corrected() {
    for (id, text) in texts("unfinished", &unfinished()) {
        let text = spaced(&text);
        assert!(!text.contains("erdicts are corrected") && !text.contains("(Holm)"), "{id}");
    }
}

/// As in an import with too few values: nothing has a p, so nothing was corrected.
#[test]
fn no_verdict_is_called_corrected_where_nothing_was_tested() {
    let few = || {
        Draft::new("cyclic", "latency_p50", "fifo")
            .forbidden(Obstacle::FewPairs, CaveatCode::FewBlocks, "1 complete pair")
            .finding()
    };
    let mut untested = campaign("Which?", vec![few()], Vec::new());
    untested.findings.use_cases = vec![UseCaseFinding {
        comparisons: vec![few()],
        worst: vec![None],
        ..fixtures::use_case_finding("serving")
    }];
    for (id, text) in texts("rows", &untested) {
        let text = spaced(&text);
        assert!(!text.contains("erdicts are corrected") && !text.contains("Holm"), "{id}: {text}");
    }
    let terminal = spaced(&drawn(&untested, "terminal", page(80)));
    assert!(terminal.contains("+ and × are better."), "{terminal}");
    let reports = [view(&untested.inputs()), view(&mixed().inputs())];
    for (other, has_test) in [(&reports[0], false), (&reports[1], true)] {
        let mut bytes = Vec::new();
        compare(&reports[0], other).draw(&page(80), &mut bytes).unwrap();
        let text = spaced(&String::from_utf8(bytes).unwrap());
        assert_eq!(text.contains("Verdicts are corrected"), has_test, "{text}");
        assert!(!text.contains("A: Verdicts"), "{text}");
    }
    let untested = korean(untested);
    for format in read_as_text().map(|renderer| renderer.describe().id) {
        let text = spaced(&drawn(&untested, format, page(80)));
        assert!(!text.contains("보정했습니다") && !text.contains("Holm"), "{format}: {text}");
    }
}

/// The same comparisons, as if no test had been made of any.
fn untested(mut campaign: Campaign) -> Campaign {
    for effect in campaign.findings.findings.iter_mut().filter_map(|one| one.effect.as_mut()) {
        (effect.p_difference, effect.p_equivalence) = (None, None);
        (effect.adjusted_difference, effect.adjusted_equivalence) = (None, None);
    }
    campaign
}

#[test]
fn legends_of_grids_and_ladders_call_verdicts_corrected_only_where_something_was_tested() {
    for (campaign, with_colours) in [(grid(), true), (multicore(), false)] {
        let told = |campaign: &Campaign| {
            let texts = texts("rows", campaign).into_iter();
            // The page's script holds each of its sentences.
            let texts = texts.filter(|(id, _)| ["terminal", "markdown", "xlsx"].contains(id));
            texts.map(|(id, text)| (id, spaced(&text))).collect::<Vec<_>>()
        };
        for (id, text) in told(&campaign) {
            let is_told = id != "xlsx" || with_colours;
            assert_eq!(text.contains("the verdict, corrected for all"), is_told, "{id}: {text}");
        }
        for (id, text) in told(&untested(campaign.clone())) {
            assert!(!text.contains("corrected for"), "{id}: {text}");
            let sign = if id == "xlsx" { "The colour" } else { "The symbol" };
            let is_told = id != "xlsx" || with_colours;
            let sentence = format!("{sign} is the verdict.");
            assert_eq!(text.contains(&sentence), is_told, "{id}: {text}");
        }
        let mut unfinished = campaign;
        unfinished.findings.is_unfinished = true;
        for (id, text) in told(&unfinished) {
            for sign in ["The colour is", "The symbol is"] {
                assert!(!text.contains(sign), "{id}: {text}");
            }
        }
    }
}

/// A screened metric that never varies has no p either, for another reason.
#[test]
fn a_campaign_of_a_fixed_number_of_blocks_is_not_called_sequential_by_what_never_varies() {
    let mut campaign = mixed();
    let findings = &mut campaign.findings.findings;
    let screened = findings.iter_mut().find(|one| one.question.role == Role::Screen).unwrap();
    let effect = screened.effect.as_mut().unwrap();
    (effect.log_sd, effect.standard_error) = (0.0, 0.0);
    (effect.p_difference, effect.p_equivalence) = (None, None);
    (effect.adjusted_difference, effect.adjusted_equivalence) = (None, None);
    assert!(effect.does_not_vary());
    for format in read_as_text().map(|renderer| renderer.describe().id).chain(["json"]) {
        let text = spaced(&drawn(&campaign, format, page_of(4000)));
        for words in ["every look", "however often", "confidence sequence", "Bonferroni"] {
            assert!(!text.contains(words), "{format}: {words}: {text}");
        }
        assert!(!text.contains("is_sequence"), "{format}: {text}");
    }
    let markdown = spaced(&drawn(&campaign, "markdown", page_of(4000)));
    assert!(markdown.contains("Intervals are 95 %, unadjusted"), "{markdown}");
    let page: serde_json::Value =
        serde_json::from_str(&page_json(&view(&campaign.inputs())).unwrap()).unwrap();
    for finding in page["findings"].as_array().unwrap() {
        assert_ne!(finding["is_sequence"], true, "{finding}");
    }
}

/// A difference without any p that does not vary has no level and no sequence.
#[test]
fn what_does_not_vary_is_explained_by_its_reason() {
    let mut campaign = quiet();
    let finding = &mut campaign.findings.findings[0];
    finding.verdict = Verdict::Equivalent;
    finding.reason = Some("the replicates do not vary, and their difference is inside".to_owned());
    finding.effect.as_mut().unwrap().p_difference = None;
    finding.effect.as_mut().unwrap().p_equivalence = None;
    let context = ExplainContext {
        findings: &campaign.findings,
        few_boots: None,
        provenance: Provenance::Ran,
        is_given_with_numbers: false,
        binding: campaign.binding,
        store_caveats: &[],
        is_absolute: true,
        language: campaign.language,
    };
    let told = explain(&campaign.findings.findings[0], &context).join("\n");
    assert!(told.contains("because the replicates do not vary") && !told.contains("second p"));
}
