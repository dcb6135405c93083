//! Versions of everything stored. A field added or changed bumps its format; what an
//! earlier version means unchanged is read on.

/// `plan.json`.
pub const PLAN_FORMAT: &str = "schedlab.plan/3";
/// `plan.json` of a soak campaign: it has a pace. A reader of the version before would run its
/// blocks without pauses, so it must refuse them; all other plans are what they were to it.
pub const PACED_PLAN_FORMAT: &str = "schedlab.plan/4";
/// `plan.json` of a venue whose settings have no field of their own, paced or not. A reader of the
/// versions before would leave them out, and with them that numbers are simulated.
pub const VENUE_PLAN_FORMAT: &str = "schedlab.plan/5";
/// `plan.json` with a rest between sittings, with boots that its blocks are spread over, a metric that follows the latency, or a claim of a
/// turn, an order, most cells or all of them together; of whatever pace and venue. A reader of the
/// versions before would neither rest nor boot, would take late cycles for less work, and would read such a
/// claim as one about each comparison for itself.
pub const RESTED_PLAN_FORMAT: &str = "schedlab.plan/6";
/// `plan.json` of an import with blocks of which it is known in which order their subjects were measured. A
/// reader of the versions before would not ask whether their difference is one of that order.
pub const ORDERED_PLAN_FORMAT: &str = "schedlab.plan/7";
/// `plan.json` of an import whose replicates may be parts of one execution, in blocks or not. A reader of the
/// versions before would give a verdict of them.
pub const PARTS_PLAN_FORMAT: &str = "schedlab.plan/8";
/// `plan.json` of an import of which a margin, a direction, or what is judged was given together with its
/// numbers. A reader of the versions before would give a verdict that rests on that choice alone.
pub const GIVEN_PLAN_FORMAT: &str = "schedlab.plan/9";
/// `plan.json` of an import with facts that decide. A reader of the versions before would not read them,
/// and would take the digest that records name for that of another plan.
pub const FACTS_PLAN_FORMAT: &str = "schedlab.plan/10";
/// `plan.json` of an adaptive campaign that a look ended before its last one. A reader of the
/// versions before would not read which, and would take the digest of the end for that of another
/// end.
pub const LOOK_PLAN_FORMAT: &str = "schedlab.plan/11";
/// `plan.json` with blocks that run others again. A reader of the versions before would not read
/// which, and would take the digest of the end for that of another end.
pub const REPEATED_PLAN_FORMAT: &str = "schedlab.plan/12";
/// Those that say nothing which the third does not. No version that wrote them bound records
/// ([`UNBOUND_RECORD_FORMATS`]).
pub const PLANS_BEFORE_BINDING: [&str; 2] = ["schedlab.plan/2", "schedlab.plan/1"];
/// Versions of it that are read. Before the twelfth, notes alone told which blocks run again
/// ([`crate::Plan::blocks_run_again`]). Before the eleventh, a note alone told which look ended a
/// campaign ([`crate::Plan::ending_look`]). Before the tenth, caveats alone told what the importer
/// had established ([`crate::DecidingFacts`]). Before the ninth, what was given together with
/// numbers was told by a caveat alone, and decided. Before the eighth, parts were told by a caveat
/// alone, and had a verdict. Before the seventh, nobody recorded the order of an import. The third
/// has no pace. The second has claims about one metric each and none across workloads; the first
/// has no comparisons within a factor, and claims about one comparison each.
pub const PLAN_FORMATS: [&str; 12] = [
    PLAN_FORMAT,
    PLANS_BEFORE_BINDING[0],
    PLANS_BEFORE_BINDING[1],
    PACED_PLAN_FORMAT,
    VENUE_PLAN_FORMAT,
    RESTED_PLAN_FORMAT,
    ORDERED_PLAN_FORMAT,
    PARTS_PLAN_FORMAT,
    GIVEN_PLAN_FORMAT,
    FACTS_PLAN_FORMAT,
    LOOK_PLAN_FORMAT,
    REPEATED_PLAN_FORMAT,
];
/// A line of `records.jsonl`.
pub const RECORD_FORMAT: &str = "schedlab.record/5";
/// Versions of it that are read. In each, caveats alone may tell what a trial met
/// ([`crate::DecidingFacts`]); facts beside them are passed over by readers that know none, which decide the
/// same by these caveats. The fourth does not tell what stood still during an invocation: a
/// reader of it would take a later one for one of which nobody looked. The third says neither that a run went on with its campaign nor that
/// the campaign's end is bound; a reader of it would take an end that was unbound later for one of
/// its own. Those in [`UNBOUND_RECORD_FORMATS`] are bound to nothing.
pub const RECORD_FORMATS: [&str; 5] = [
    RECORD_FORMAT,
    "schedlab.record/4",
    "schedlab.record/3",
    "schedlab.record/2",
    "schedlab.record/1",
];
/// Those whose records are bound neither to their plan nor to the record before them
/// ([`crate::Chain`]); the first does not tell how much else a machine did, either.
pub const UNBOUND_RECORD_FORMATS: [&str; 2] = ["schedlab.record/2", "schedlab.record/1"];
/// `findings.json`.
pub const FINDINGS_FORMAT: &str = "schedlab.findings/16";
/// `findings.json` of a soak campaign: it has trends.
pub const TREND_FINDINGS_FORMAT: &str = "schedlab.findings/17";
/// Versions of it that are read. Before the sixteenth, caveats alone told what speaks against a check
/// of a report; of the fourteenth and the fifteenth, the fifteenth has trends. Before the fourteenth,
/// no interval allowed for skewness, and no finding said what is not sure of imported numbers; of the
/// twelfth and the thirteenth, the thirteenth has trends. Before the twelfth, a finding did not say
/// that all of one subject was measured before the other; of the tenth and the eleventh, the eleventh
/// has trends. Before the tenth, failures had no verdict of their own; of the eighth and the ninth,
/// the ninth has trends. Before the eighth, claims had three outcomes, and a size was confirmed by
/// equivalence; of the sixth and the seventh, the seventh has trends. The fifth and those before tell
/// obstacles, odds and emulation by caveats alone ([`crate::Findings::with_facts_of_caveats`]), as
/// every format may tell that a campaign is unfinished, its evidence changed or a trend emulated; of
/// these the fifth has trends. The third has claims as the second format of plans; the second has
/// claims about one comparison each, and does not count broken rules.
pub const FINDINGS_FORMATS: [&str; 16] = [
    FINDINGS_FORMAT,
    "schedlab.findings/15",
    "schedlab.findings/14",
    "schedlab.findings/13",
    "schedlab.findings/12",
    "schedlab.findings/11",
    "schedlab.findings/10",
    "schedlab.findings/9",
    "schedlab.findings/8",
    "schedlab.findings/7",
    "schedlab.findings/6",
    "schedlab.findings/5",
    "schedlab.findings/4",
    "schedlab.findings/3",
    "schedlab.findings/2",
    TREND_FINDINGS_FORMAT,
];
/// Those that say what speaks against a check; of all others caveats say it.
pub const FINDINGS_WITH_CHECKS: [&str; 2] = [FINDINGS_FORMAT, TREND_FINDINGS_FORMAT];
/// Those of which caveats tell what later ones have fields for.
pub const FINDINGS_BEFORE_OBSTACLES: [&str; 4] =
    ["schedlab.findings/5", "schedlab.findings/4", "schedlab.findings/3", "schedlab.findings/2"];
/// Those that do not say which intervals are those of a confidence sequence.
pub const FINDINGS_BEFORE_SEQUENCES: [&str; 6] = [
    "schedlab.findings/7",
    "schedlab.findings/6",
    FINDINGS_BEFORE_OBSTACLES[0],
    FINDINGS_BEFORE_OBSTACLES[1],
    FINDINGS_BEFORE_OBSTACLES[2],
    FINDINGS_BEFORE_OBSTACLES[3],
];
/// The view model that every renderer draws.
pub const REPORT_FORMAT: &str = "schedlab.report/18";
/// The view model of a soak campaign: its findings have trends.
pub const TREND_REPORT_FORMAT: &str = "schedlab.report/19";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::PLAN;
    use crate::{
        Caveat, CaveatCheck, CaveatCode, Claim, ClaimedOver, Doubt, Finding, Findings,
        GivenChoices, ImportFact, Imported, ImportedDesign, ImportedOrder, Obstacle, Pace, Plan,
        STOPPED_AT_LOOK, VmSettings,
    };

    const FINDINGS: &str = r#"{"format":"schedlab.findings/14","plan_digest":"d","seed":1,"alpha":0.05,"families":{},"findings":[],"failures":[],"caveats":[]}"#;

    #[test]
    fn what_has_no_pace_and_no_trends_is_written_as_before() {
        let plan: Plan = serde_json::from_str(PLAN).unwrap();
        assert_eq!(plan.pace, None);
        assert_eq!(serde_json::to_string(&plan).unwrap(), PLAN);
        let findings: Findings = serde_json::from_str(FINDINGS).unwrap();
        assert_eq!(serde_json::to_string(&findings).unwrap(), FINDINGS);
    }

    #[test]
    fn a_pace_is_read_again_and_refused_by_readers_that_know_none() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        plan.pace = Some(Pace { duration_ns: 24, every_ns: 1 });
        PACED_PLAN_FORMAT.clone_into(&mut plan.format);
        let text = serde_json::to_string(&plan).unwrap();
        assert!(text.contains(r#""pace":{"duration_ns":24,"every_ns":1}"#), "{text}");
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        let known_before = ["schedlab.plan/3", "schedlab.plan/2", "schedlab.plan/1"];
        assert!(!known_before.contains(&PACED_PLAN_FORMAT));
        assert!(known_before.iter().all(|known| PLAN_FORMATS.contains(known)));
        assert!(PLAN_FORMATS.contains(&PACED_PLAN_FORMAT));
        assert!(FINDINGS_FORMATS.contains(&TREND_FINDINGS_FORMAT));
    }

    #[test]
    fn settings_of_another_venue_are_read_again_and_refused_by_readers_that_know_none() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        assert!(plan.venue_settings.is_empty() && plan.is_simulated() && !plan.boots_guests());
        plan.venue.clear();
        assert!(!plan.is_simulated());
        "moon".clone_into(&mut plan.venue);
        plan.venue_settings.is_simulated = true;
        plan.venue_settings.values.insert("gravity".to_owned(), "1.6".to_owned());
        VENUE_PLAN_FORMAT.clone_into(&mut plan.format);
        let text = serde_json::to_string(&plan).unwrap();
        let stored = r#""venue_settings":{"is_simulated":true,"values":{"gravity":"1.6"}}"#;
        assert!(text.contains(stored), "{text}");
        let back: Plan = serde_json::from_str(&text).unwrap();
        assert_eq!(back, plan);
        assert!(back.is_simulated());
        assert!(PLAN_FORMATS.contains(&VENUE_PLAN_FORMAT));
    }

    #[test]
    fn a_plan_boots_guests_by_the_settings_of_its_venue_and_one_of_vm_by_its_machines_alone() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        "moon".clone_into(&mut plan.venue);
        plan.venue_settings.values.insert("gravity".to_owned(), "1.6".to_owned());
        assert!(!plan.boots_guests());
        let text = serde_json::to_string(&plan).unwrap();
        assert!(text.contains(r#""venue_settings":{"values":{"gravity":"1.6"}}"#), "{text}");
        plan.venue_settings.boots_guests = true;
        let text = serde_json::to_string(&plan).unwrap();
        assert!(text.contains(r#""venue_settings":{"boots_guests":true,"values""#), "{text}");
        let back: Plan = serde_json::from_str(&text).unwrap();
        assert_eq!(back, plan);
        assert!(back.boots_guests() && !back.has_peer());

        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        plan.vm = Some(VmSettings::default());
        assert!(plan.boots_guests() && !plan.has_peer() && plan.venue_settings.is_empty());
        plan.vm = Some(VmSettings { has_peer: true, ..VmSettings::default() });
        assert!(plan.boots_guests() && plan.has_peer());
    }

    #[test]
    fn a_rest_and_a_shaped_claim_are_refused_by_readers_that_know_none() {
        let plan: Plan = serde_json::from_str(PLAN).unwrap();
        assert_eq!(plan.oldest_format(), PLAN_FORMAT);
        let paced = Plan { pace: Some(Pace { duration_ns: 24, every_ns: 1 }), ..plan.clone() };
        assert_eq!(paced.oldest_format(), PACED_PLAN_FORMAT);
        assert_eq!(Plan { rest_ns: 1, ..paced }.oldest_format(), RESTED_PLAN_FORMAT);
        let claim = r#"{"says":"s","metric":"m","subject":"b","reference":"a","effect":"better"}"#;
        let mut claim: Claim = serde_json::from_str(claim).unwrap();
        let claiming = Plan { claims: vec![claim.clone()], ..plan.clone() };
        assert_eq!(claiming.oldest_format(), PLAN_FORMAT);
        claim.shape.over = ClaimedOver::Overall;
        let claiming = Plan { claims: vec![claim.clone()], ..plan.clone() };
        assert_eq!(claiming.oldest_format(), RESTED_PLAN_FORMAT);
        // A plan that has its format already, as an import has, gets that of its claims.
        let mut imported = plan;
        imported.claim(vec![claim]);
        assert_eq!(imported, Plan { format: RESTED_PLAN_FORMAT.to_owned(), ..claiming });
        assert!(PLAN_FORMATS.contains(&RESTED_PLAN_FORMAT));
    }

    #[test]
    fn the_order_of_imported_blocks_is_read_again_and_refused_by_readers_that_know_none() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        // As it was stored before.
        let stored = r#"{"format":"csv","file":"f","digest":"d","design":"blocked"}"#;
        let before: Imported = serde_json::from_str(stored).unwrap();
        assert_eq!(before.order, ImportedOrder::Unknown);
        assert_eq!(serde_json::to_string(&before).unwrap(), stored);
        plan.imported = Some(before.clone());
        assert_eq!(plan.oldest_format(), PLAN_FORMAT);
        for (order, word) in [(ImportedOrder::Column, "column"), (ImportedOrder::Rows, "rows")] {
            let blocks = Imported { order, ..before.clone() };
            plan.imported = Some(blocks.clone());
            assert_eq!(plan.oldest_format(), ORDERED_PLAN_FORMAT);
            let text = serde_json::to_string(&plan).unwrap();
            assert!(text.contains(&format!(r#""design":"blocked","order":"{word}""#)), "{text}");
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
            // Without blocks readers of the versions before ask the same of it.
            let design = ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
            plan.imported = Some(Imported { design, ..blocks });
            assert_eq!(plan.oldest_format(), PLAN_FORMAT);
        }
        assert!(PLAN_FORMATS.contains(&ORDERED_PLAN_FORMAT));
    }

    #[test]
    fn parts_of_executions_are_read_again_and_refused_by_readers_that_know_none() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        let stored = r#"{"format":"csv","file":"f","digest":"d","design":"blocked"}"#;
        let before: Imported = serde_json::from_str(stored).unwrap();
        assert!(before.parts.is_empty(), "earlier ones name none");
        for order in [ImportedOrder::Unknown, ImportedOrder::Column] {
            let parts = vec!["client".to_owned()];
            plan.imported = Some(Imported { order, parts, ..before.clone() });
            assert_eq!(plan.oldest_format(), PARTS_PLAN_FORMAT);
            let text = serde_json::to_string(&plan).unwrap();
            assert!(text.contains(r#""parts":["client"]"#), "{text}");
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        }
        assert!(PLAN_FORMATS.contains(&PARTS_PLAN_FORMAT));
        assert_ne!(PARTS_PLAN_FORMAT, ORDERED_PLAN_FORMAT);
    }

    #[test]
    fn what_was_given_with_the_numbers_is_bound_and_refused_by_readers_that_know_none() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        let stored = r#"{"format":"csv","file":"f","digest":"d","design":"blocked"}"#;
        let before: Imported = serde_json::from_str(stored).unwrap();
        assert!(before.given.is_empty(), "earlier ones have none");
        plan.imported = Some(before.clone());
        let usual = plan.decisive("", None, 0);
        let given = GivenChoices {
            usual_margins: [("ms".to_owned(), 0.02)].into(),
            ..GivenChoices::default()
        };
        plan.imported = Some(Imported { given, parts: vec!["client".to_owned()], ..before });
        assert_eq!(plan.oldest_format(), GIVEN_PLAN_FORMAT);
        assert!(PLAN_FORMATS.contains(&GIVEN_PLAN_FORMAT));
        let text = serde_json::to_string(&plan).unwrap();
        assert!(text.contains(r#""given":{"usual_margins":{"ms":0.02}}"#), "{text}");
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        assert_ne!(plan.decisive("", None, 0), usual, "an edit of it is seen");
    }

    #[test]
    fn facts_of_an_import_are_refused_by_readers_that_know_none_and_caveats_are_not() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        let stored = r#"{"format":"csv","file":"f","digest":"d","design":"blocked","caveats":[{"code":"COPIED","detail":"told"}]}"#;
        let before: Imported = serde_json::from_str(stored).unwrap();
        plan.imported = Some(before.clone());
        assert_eq!(plan.oldest_format(), PLAN_FORMAT);
        let mut later = before;
        later.facts.establish(ImportFact::CopiedValues);
        plan.imported = Some(later);
        assert_eq!(plan.oldest_format(), FACTS_PLAN_FORMAT);
        assert!(PLAN_FORMATS.contains(&FACTS_PLAN_FORMAT));
        let text = serde_json::to_string(&plan).unwrap();
        assert!(text.contains(r#""facts":["copied_values"]"#), "{text}");
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }

    #[test]
    fn the_look_that_ended_a_campaign_is_told_by_a_note_in_earlier_plans_alone() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        assert_eq!(plan.ending_look(), None);
        // As it was stored before.
        plan.looks = vec![6, 10, 16];
        let note = |blocks: u32| format!("{STOPPED_AT_LOOK}{blocks} of at most 16 blocks: told");
        plan.notes = vec!["seed drawn: 4".to_owned(), note(6), note(10)];
        let before = plan.clone();
        assert_eq!((before.ending_look(), before.oldest_format()), (Some(10), PLAN_FORMAT));
        assert!(!serde_json::to_string(&before).unwrap().contains("ended_at_look"));
        plan.end_at_look(6);
        assert_eq!(plan.format, LOOK_PLAN_FORMAT);
        assert!(PLAN_FORMATS.contains(&LOOK_PLAN_FORMAT));
        for notes in [plan.notes.clone(), Vec::new()] {
            plan.notes = notes;
            let text = serde_json::to_string(&plan).unwrap();
            assert!(text.contains(r#""ended_at_look":6"#), "{text}");
            let back: Plan = serde_json::from_str(&text).unwrap();
            assert_eq!((back.ending_look(), &back), (Some(6), &plan));
        }
    }

    #[test]
    fn an_order_that_decides_no_gate_is_refused_by_readers_that_know_none() {
        let mut findings = earlier("better", &[]);
        findings.findings[0].is_order_fixed = true;
        FINDINGS_FORMAT.clone_into(&mut findings.format);
        let text = serde_json::to_string(&findings).unwrap();
        assert!(text.contains(r#""is_order_fixed":true"#), "{text}");
        assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), findings);
        let known_before = ["schedlab.findings/10", "schedlab.findings/11"];
        assert!(known_before.iter().all(|known| FINDINGS_FORMATS.contains(known)));
        for format in [FINDINGS_FORMAT, TREND_FINDINGS_FORMAT] {
            assert!(!known_before.contains(&format) && FINDINGS_FORMATS.contains(&format));
        }
    }

    #[test]
    fn doubts_are_read_again_and_refused_by_readers_that_know_none() {
        let mut findings = earlier("better", &[]);
        assert!(findings.findings[0].doubts.is_empty(), "earlier ones have none");
        findings.findings[0].doubts = vec![Doubt::UnlikeSettings, Doubt::UnknownReplicates];
        FINDINGS_FORMAT.clone_into(&mut findings.format);
        let text = serde_json::to_string(&findings).unwrap();
        let stored = r#""doubts":["unlike_settings","unknown_replicates"]"#;
        assert!(text.contains(stored), "{text}");
        assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), findings);
        let known_before = ["schedlab.findings/12", "schedlab.findings/13"];
        assert!(known_before.iter().all(|known| FINDINGS_FORMATS.contains(known)));
        for format in [FINDINGS_FORMAT, TREND_FINDINGS_FORMAT] {
            assert!(!known_before.contains(&format) && FINDINGS_FORMATS.contains(&format));
        }
    }

    /// Findings of the fourth format with one finding of this verdict and these caveats.
    fn earlier(verdict: &str, codes: &[CaveatCode]) -> Findings {
        let caveats: Vec<Caveat> = codes.iter().map(|code| Caveat::new(*code, "")).collect();
        let caveats = serde_json::to_string(&caveats).unwrap();
        let finding = format!(
            r#"{{"question":{{"workload":"w","metric":"m","unit":"nanoseconds","direction":"lower","subject":"b","reference":"a","role":"primary","family":"declared"}},"verdict":"{verdict}","strength":null,"reason":null,"margin":0.02,"pairs":0,"reference_value":null,"subject_value":null,"effect":null,"companion":null,"planning":null,"tail":null,"blocks":[],"caveats":{caveats}}}"#
        );
        let text = FINDINGS
            .replace("findings/14", "findings/4")
            .replace(r#""findings":[]"#, &format!(r#""findings":[{finding}]"#));
        let findings: Findings = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&findings).unwrap(), text, "as it was stored");
        findings
    }

    #[test]
    fn what_earlier_findings_told_by_caveats_alone_is_read_from_these() {
        let facts = |verdict: &str, codes: &[CaveatCode]| {
            let finding = earlier(verdict, codes).with_facts_of_caveats().findings.remove(0);
            (finding.obstacle, finding.is_odds, finding.is_emulated)
        };
        assert_eq!(facts("better", &[]), (None, false, false));
        assert_eq!(facts("better", &[CaveatCode::OddsRatio]), (None, true, false));
        assert_eq!(facts("worse", &[CaveatCode::Tcg]), (None, false, true));
        for (verdict, codes, obstacle) in [
            ("inconclusive", &[][..], None),
            ("inconclusive", &[CaveatCode::Noisy, CaveatCode::Drift], None),
            ("inconclusive", &[CaveatCode::AaFail], Some(Obstacle::FailedControl)),
            ("inconclusive", &[CaveatCode::FewBlocks], Some(Obstacle::FewPairs)),
            (
                "inconclusive",
                &[CaveatCode::Drift, CaveatCode::OrderConfounded],
                Some(Obstacle::DriftInOrder),
            ),
            (
                "inconclusive",
                &[CaveatCode::AaFail, CaveatCode::DifferentialFailure],
                Some(Obstacle::FailedControl),
            ),
            ("invalid", &[CaveatCode::ObserverCost], Some(Obstacle::ObservedLatency)),
            ("invalid", &[], Some(Obstacle::NoValidBlock)),
        ] {
            assert_eq!(facts(verdict, codes).0, obstacle, "{verdict} {codes:?}");
        }
    }

    #[test]
    fn an_unfinished_campaign_and_an_emulated_trend_are_facts_that_earlier_ones_told_by_caveats() {
        let caveats = |code| serde_json::to_string(&[Caveat::new(code, "told")]).unwrap();
        let trend = format!(
            r#"{{"workload":"w","metric":"m","unit":"nanoseconds","direction":"lower","subject":"b","margin":0.02,"outcome":"untested","hours":1.0,"points":[],"caveats":{}}}"#,
            caveats(CaveatCode::Tcg)
        );
        let unfinished = caveats(CaveatCode::Unfinished);
        let told = format!(r#""trends":[{trend}],"failures":[],"caveats":{unfinished}"#);
        let text = FINDINGS
            .replace("findings/14", "findings/15")
            .replace(r#""failures":[],"caveats":[]"#, &told);
        let stored: Findings = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&stored).unwrap(), text, "as it was stored");
        assert!(!stored.is_unfinished && !stored.trends[0].is_emulated);
        let mut known = stored.with_facts_of_caveats();
        assert!(known.is_unfinished && known.trends[0].is_emulated);

        // What a caveat says changes nothing of what has the facts.
        known.caveats.clear();
        known.trends[0].caveats.clear();
        let text = serde_json::to_string(&known).unwrap();
        let is_stored = |field: &str| text.contains(&format!(r#""{field}":true"#));
        assert!(is_stored("is_unfinished") && is_stored("is_emulated"), "{text}");
        let back: Findings = serde_json::from_str(&text).unwrap();
        assert_eq!(back.with_facts_of_caveats(), known);

        let none: Findings = serde_json::from_str(FINDINGS).unwrap();
        let none = none.with_facts_of_caveats();
        assert!(!none.is_unfinished && !none.is_evidence_changed);
    }

    #[test]
    fn what_speaks_against_a_check_is_told_by_caveats_in_earlier_findings_alone() {
        let of = |findings: &Findings| {
            let of_finding = findings.findings[0].against.iter();
            findings.against.iter().chain(of_finding).copied().collect::<Vec<CaveatCheck>>()
        };
        let mut stored = earlier("better", &[CaveatCode::Noisy, CaveatCode::OddsRatio]);
        stored.caveats.push(Caveat::new(CaveatCode::Copied, "all of b"));
        for format in ["schedlab.findings/14", "schedlab.findings/15", "schedlab.findings/4"] {
            format.clone_into(&mut stored.format);
            let known = stored.clone().with_facts_of_caveats();
            assert_eq!(of(&known), [CaveatCheck::Design, CaveatCheck::EnoughData]);
        }
        for format in FINDINGS_WITH_CHECKS {
            assert!(FINDINGS_FORMATS.contains(&format));
            format.clone_into(&mut stored.format);
            assert_eq!(of(&stored.clone().with_facts_of_caveats()), [], "no caveat decides");
            let mut noted = stored.clone();
            noted.note_caveat(Caveat::new(CaveatCode::SingleBoot, "told"));
            noted.findings[0].note_caveat(Caveat::new(CaveatCode::Fragile, "told"));
            noted.caveats.clear();
            noted.findings[0].caveats.clear();
            let text = serde_json::to_string(&noted).unwrap();
            assert!(text.contains(r#""against":["robust_verdicts"],"caveats":[]"#), "{text}");
            let back: Findings = serde_json::from_str(&text).unwrap();
            assert_eq!(back.with_facts_of_caveats(), noted);
            assert!(noted.speak_against(CaveatCheck::EnoughData));
            assert!(noted.speak_against(CaveatCheck::RobustVerdicts));
            assert!(!noted.speak_against(CaveatCheck::SameWork));
        }
    }

    #[test]
    fn changed_evidence_is_a_fact_that_earlier_findings_told_by_a_caveat() {
        let told = serde_json::to_string(&[Caveat::new(CaveatCode::EvidenceChanged, "told")]);
        let told = format!(r#""failures":[],"caveats":{}"#, told.unwrap());
        let text = FINDINGS.replace(r#""failures":[],"caveats":[]"#, &told);
        let stored: Findings = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&stored).unwrap(), text, "as it was stored");
        assert!(!stored.is_evidence_changed);
        let mut known = stored.with_facts_of_caveats();
        assert!(known.is_evidence_changed);

        // What a caveat says changes nothing of what has the fact.
        known.caveats.clear();
        let text = serde_json::to_string(&known).unwrap();
        assert!(text.contains(r#""is_evidence_changed":true"#), "{text}");
        let back: Findings = serde_json::from_str(&text).unwrap();
        assert_eq!(back.with_facts_of_caveats(), known);
    }

    #[test]
    fn obstacles_and_flags_are_read_again_and_refused_by_readers_that_know_none() {
        let mut findings = earlier("inconclusive", &[CaveatCode::FewBlocks]);
        FINDINGS_FORMAT.clone_into(&mut findings.format);
        let finding = &mut findings.findings[0];
        *finding = Finding {
            obstacle: Some(Obstacle::FewPairs),
            is_odds: true,
            is_emulated: true,
            ..finding.clone()
        };
        let text = serde_json::to_string(&findings).unwrap();
        let fields = r#""obstacle":"few_pairs","is_odds":true,"is_emulated":true"#;
        assert!(text.contains(fields), "{text}");
        assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), findings);
        // What a caveat says changes nothing of what is read.
        findings.findings[0].caveats.clear();
        assert!(findings.findings[0].is_forbidden() && findings.findings[0].is_emulated);
        let known_before = ["schedlab.findings/5", "schedlab.findings/4", "schedlab.findings/3"];
        assert!(known_before.iter().all(|known| FINDINGS_FORMATS.contains(known)));
        for format in [FINDINGS_FORMAT, TREND_FINDINGS_FORMAT] {
            assert!(FINDINGS_FORMATS.contains(&format) && !known_before.contains(&format));
        }
    }
}
