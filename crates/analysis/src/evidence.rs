//! Evidence that is not as it was written (docs/method.md#m-evidence): no verdict rests on it.

use crate::ranking::{ranking, rankings};
use crate::rulebook::{Raised, impose};
use crate::trial_facts::changed_evidence;
use model::{
    Caveat, CaveatCode, ClaimOutcome, Finding, Findings, Obstacle, Plan, TrendOutcome, Verdict,
    bounded_to,
};

/// Characters of a flaw that stand in each finding, of which there may be a hundred thousand: it may
/// quote a value of megabytes.
const LONGEST_FLAW: usize = 1_000;

/// Takes every answer from findings whose evidence has such flaws, or was imported from a campaign
/// that had some; findings without flaws stay as they are.
pub fn withhold(findings: &mut Findings, plan: &Plan, flaws: &[Caveat]) {
    let of_flaws = flaws.first().map(|first| first.detail.as_str());
    let Some(first) = of_flaws.or_else(|| changed_evidence(plan)) else { return };
    let first = bounded_to(first, LONGEST_FLAW);
    let reason = format!("the evidence is not as it was written: {first}");
    let raised = Raised::with_caveat(
        Obstacle::ChangedEvidence,
        reason.clone(),
        CaveatCode::EvidenceChanged,
        first.into_owned(),
    );
    for finding in &mut findings.findings {
        impose(finding, &raised);
        finding.p_failure = None;
    }
    for count in &mut findings.failures {
        (count.p_failure, count.adjusted_failure, count.p_invalid) = (None, None, None);
        count.failure_verdict = count.failure_verdict.map(|_| Verdict::Inconclusive);
    }
    for case in &mut findings.use_cases {
        for comparison in &mut case.comparisons {
            impose(comparison, &raised);
        }
        let comparisons: Vec<&Finding> = case.comparisons.iter().collect();
        case.ranking = ranking(plan, &case.use_case, "", &comparisons);
        case.co_best.clear();
    }
    // A campaign that goes on has no ranks yet.
    if !findings.rankings.is_empty() {
        findings.rankings = rankings(plan, &findings.findings);
    }
    for claim in &mut findings.claims {
        claim.outcome = ClaimOutcome::Undecided;
        claim.reason.clone_from(&reason);
        claim.tally = None;
    }
    for trend in &mut findings.trends {
        trend.outcome = TrendOutcome::Untested;
        trend.reason = Some(reason.clone());
    }
    findings.is_evidence_changed = true;
    for flaw in flaws {
        let detail = bounded_to(&flaw.detail, LONGEST_FLAW);
        findings.note_caveat(Caveat::new(flaw.code, detail));
    }
    findings.caveats.sort();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, noticing, plan, records};
    use crate::{GateLimit, GateOutcome, gate, judge};
    use model::{ClaimedEffect, Comparisons, Direction, ImportedOrder, Outcome, Reduction};

    #[test]
    fn changed_evidence_leaves_no_verdict_no_rank_and_no_answer_to_a_claim() {
        let values = |centre: f64| -> Vec<f64> {
            (0..10).map(|block| centre + 0.3 * f64::from(block * 7 % 5)).collect()
        };
        let mut plan =
            plan(&["a", "b"], vec![metric("m", Direction::Lower, Reduction::Median)], 10);
        plan.comparisons = Comparisons::All;
        plan.use_cases = vec![fixtures::use_case("use", &[("m", 1.0)])];
        plan.claims = vec![fixtures::claim("b", "a", ClaimedEffect::Better)];
        let mut all = records("a", &values(100.0));
        all.extend(records("b", &values(80.0)));
        let judged = judge(&plan, &all);
        assert_eq!(judged.findings[0].verdict, Verdict::Better);
        assert_eq!(judged.claims[0].outcome, ClaimOutcome::Confirmed);

        let mut untouched = judged.clone();
        withhold(&mut untouched, &plan, &[]);
        assert_eq!(untouched, judged);

        let flaw = Caveat::new(CaveatCode::EvidenceChanged, "one record is missing");
        let mut withheld = judged;
        withhold(&mut withheld, &plan, std::slice::from_ref(&flaw));
        let of_case = &withheld.use_cases[0];
        for finding in withheld.findings.iter().chain(&of_case.comparisons) {
            assert_eq!(finding.verdict, Verdict::Inconclusive);
            assert_eq!(finding.obstacle, Some(Obstacle::ChangedEvidence));
            assert!(finding.caveats.contains(&flaw), "{finding:?}");
        }
        assert_eq!(withheld.claims[0].outcome, ClaimOutcome::Undecided);
        let mut ranks = withheld.rankings[0].ranks.iter().chain(&of_case.ranking.ranks);
        assert!(ranks.all(|rank| (rank.rank, rank.worst) == (1, 2)), "nobody is ahead");
        assert!(of_case.co_best.is_empty());
        assert!(withheld.caveats.contains(&flaw));
        assert_eq!([&untouched, &withheld].map(|one| one.is_evidence_changed), [false, true]);
    }

    #[test]
    fn a_flaw_that_quotes_megabytes_is_not_held_once_for_each_finding() {
        let plan = plan(&["a", "b"], vec![metric("m", Direction::Lower, Reduction::Median)], 10);
        let noise = [0.0, 0.3, -0.2, 0.1, -0.1, 0.2, 0.4, -0.3, 0.25, -0.15];
        let mut all = records("a", &noise.map(|one| 100.0 + one));
        all.extend(records("b", &noise.map(|one| 80.0 + one)));
        let long = format!("title is {}", "x".repeat(1_000_000));
        let flaw = Caveat::new(CaveatCode::EvidenceChanged, long);
        let mut withheld = judge(&plan, &all);
        withhold(&mut withheld, &plan, &[flaw]);
        let details = withheld.findings.iter().flat_map(|finding| &finding.caveats);
        let changed = details
            .chain(&withheld.caveats)
            .filter(|caveat| caveat.code == CaveatCode::EvidenceChanged);
        let lengths: Vec<usize> = changed.map(|caveat| caveat.detail.len()).collect();
        assert!(lengths.len() > 1 && lengths.iter().all(|length| *length < 1_100), "{lengths:?}");
        let reason = withheld.findings[0].reason.as_ref().unwrap();
        assert!(reason.len() < 1_200 && reason.ends_with("more characters)"), "{reason}");
    }

    #[test]
    fn an_import_of_changed_evidence_gives_no_verdict_and_says_so_once() {
        let noise = [0.0, 0.3, -0.2, 0.1, -0.1, 0.2, 0.4, -0.3, 0.25, -0.15];
        let values = |centre: f64| noise.map(|one| centre + one);
        let mut all = records("a", &values(100.0));
        all.extend(records("b", &values(80.0)));
        let flaw = Caveat::new(CaveatCode::EvidenceChanged, "by the caveats in the file: a, b");
        let loose = Caveat::new(CaveatCode::EvidenceUnbound, "by the caveats in the file: a, b");
        for (caveat, is_withheld) in [(&flaw, true), (&loose, false)] {
            let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
            let mut plan = plan(&["a", "b"], metrics, 10);
            plan.imported = Some(noticing(vec![caveat.clone()], ImportedOrder::Unknown));
            let mut findings = judge(&plan, &all);
            assert_ne!(findings.findings[0].obstacle, Some(Obstacle::ChangedEvidence));
            withhold(&mut findings, &plan, &[]);
            let finding = &findings.findings[0];
            assert_eq!(finding.obstacle == Some(Obstacle::ChangedEvidence), is_withheld);
            assert_eq!(findings.is_evidence_changed, is_withheld);
            let told = findings.caveats.iter().filter(|one| *one == caveat).count();
            assert_eq!(told, 1, "{:?}", findings.caveats);
        }
    }

    #[test]
    fn changed_evidence_says_nothing_of_failures_and_decides_no_gate() {
        let values = [100.0, 100.3, 99.8, 100.1, 99.9, 100.2, 100.4, 99.7];
        let plan = plan(&["a", "b"], vec![metric("m", Direction::Lower, Reduction::Median)], 8);
        let mut all = records("a", &values);
        all.extend(records("b", &values));
        for record in all.iter_mut().filter(|record| record.subject == "b") {
            record.outcome = Outcome::Failed { reason: "edited".to_owned() };
        }
        let mut findings = judge(&plan, &all);
        let limit = GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.03 };
        let gated = |findings: &Findings| {
            let results = gate(findings, std::slice::from_ref(&limit)).unwrap();
            (results[0].outcome, results[0].reason.clone())
        };
        assert_eq!(findings.failures[1].failure_verdict, Some(Verdict::Worse));
        assert_eq!(gated(&findings).0, GateOutcome::Breached);

        let flaw = Caveat::new(CaveatCode::EvidenceChanged, "record 9 was changed");
        withhold(&mut findings, &plan, &[flaw]);
        let count = &findings.failures[1];
        assert_eq!(count.failure_verdict, Some(Verdict::Inconclusive));
        assert_eq!((count.p_failure, count.adjusted_failure), (None, None));
        assert_eq!((count.failed, count.trials), (8, 8), "what the records say is told");
        let (outcome, reason) = gated(&findings);
        assert_eq!(outcome, GateOutcome::Inconclusive);
        assert!(reason.contains("not as it was written"), "{reason}");
    }
}
