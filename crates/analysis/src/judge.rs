//! From a plan and its records to findings.

use crate::across;
use crate::claims::claims;
use crate::comparison::Comparison;
use crate::failures::{differential_failure, failures};
use crate::family::{Family, holm_of, q_values_of};
use crate::fragility::{Place, block_caveat, method_caveat, without_each};
use crate::observations::Observations;
use crate::pairs::{LEAST_BOOTS, Pairs};
use crate::quality::coarse_step;
use crate::questions::questions;
use crate::ranking::rankings;
use crate::use_cases::{self, use_cases};
use crate::verdict::{Decision, Evidence, LEAST_PAIRS, decide, drifted_in_order};
use model::{
    BlockEffect, Caveat, CaveatCode, DECLARED_FAMILY, FINDINGS_FORMAT, FailureCount, Finding,
    Findings, ImportedDesign, LeftOut, Plan, Record, Reduction, Role, Tail, Unit, Verdict,
    round_significant as round,
};
use std::collections::BTreeMap;

/// Judges a campaign; an adaptive one look by look, one without blocks by its samples.
pub fn judge(plan: &Plan, records: &[Record]) -> Findings {
    let design = plan.imported.as_ref().map(|imported| &imported.design);
    if let Some(ImportedDesign::Unblocked { dimensions, fixed }) = design {
        return crate::unblocked::judge(plan, records, dimensions, fixed);
    }
    let mut findings = if plan.looks.is_empty() {
        judge_at(plan, records, plan.alpha)
    } else {
        crate::looks::judge(plan, records)
    };
    crate::trends::add(plan, records, &mut findings);
    findings
}

/// Judges these records once, the whole family at this level.
pub(crate) fn judge_at(plan: &Plan, records: &[Record], alpha: f64) -> Findings {
    let plan = &Plan { alpha, ..plan.clone() };
    let observations = Observations::of(records);
    let counts = failures(plan, &observations);
    let comparisons: Vec<Comparison<'_>> = questions(plan)
        .into_iter()
        .map(|asked| Comparison::of(asked, &observations, plan.alpha))
        .collect();
    let (family, screen): (Vec<_>, Vec<_>) = comparisons
        .into_iter()
        .partition(|comparison| comparison.asked.question.role != Role::Screen);
    let mut findings = judge_family(plan, &family, &counts);
    findings.extend(judge_screen(plan, &screen));
    let mut findings = Findings {
        format: FINDINGS_FORMAT.to_owned(),
        plan_digest: plan.digest.clone(),
        seed: plan.seed,
        alpha: plan.alpha,
        families: BTreeMap::from([(DECLARED_FAMILY.to_owned(), family.len())]),
        rankings: Vec::new(),
        use_cases: use_cases(plan, &observations, &counts),
        claims: Vec::new(),
        trends: Vec::new(),
        findings,
        failures: counts.into_iter().map(rounded).collect(),
        caveats: campaign_caveats(plan, &observations),
    };
    conclude(plan, Some(records), &mut findings);
    findings
}

/// What follows from the findings once each has its answer: a failed control caps what
/// it guards, and ranks and claims are those of the answers that are shown. Claims across
/// workloads have answers of their own, from the records, where these allow a test.
pub(crate) fn conclude(plan: &Plan, records: Option<&[Record]>, findings: &mut Findings) {
    let failed = failed_controls(&findings.findings);
    cap_by_control(&mut findings.findings, &failed);
    use_cases::conclude(plan, &mut findings.use_cases, &failed);
    findings.rankings = rankings(plan, &findings.findings);
    let across = records.map(|records| across::findings(plan, records, &failed));
    findings.claims = claims(plan, &findings.findings, across.as_deref());
}

pub(crate) fn rounded(count: FailureCount) -> FailureCount {
    FailureCount {
        p_failure: count.p_failure.map(round),
        p_invalid: count.p_invalid.map(round),
        ..count
    }
}

pub(crate) fn judge_family(
    plan: &Plan,
    family: &[Comparison<'_>],
    counts: &[FailureCount],
) -> Vec<Finding> {
    let p_differences: Vec<_> = family.iter().map(Comparison::p_difference).collect();
    let p_equivalences: Vec<_> = family.iter().map(Comparison::p_equivalence).collect();
    let differences = holm_of(&p_differences);
    let equivalences = holm_of(&p_equivalences);
    let (of_differences, of_equivalences) =
        (Family::of(&p_differences), Family::of(&p_equivalences));
    let mut findings = Vec::with_capacity(family.len());
    for (index, comparison) in family.iter().enumerate() {
        let evidence = Evidence {
            count: comparison.pairs.differences.len(),
            test: comparison.test.as_ref(),
            difference: differences[index],
            equivalence: equivalences[index],
            theta: comparison.theta,
            alpha: plan.alpha,
        };
        let mut finding = finding(plan, comparison, family.len());
        let place = Place { differences: &of_differences, equivalences: &of_equivalences, index };
        let decision = match obstacle(comparison, counts, &mut finding.caveats) {
            Some(decision) => decision,
            None => {
                let differences = &comparison.pairs.differences;
                let left_out = without_each(differences, comparison.theta, plan.alpha, &place);
                let decision =
                    unobstructed(plan, comparison, &evidence, &left_out, &mut finding.caveats);
                if let Some(diagnostics) = &mut finding.diagnostics {
                    diagnostics.left_out = left_out;
                }
                decision
            }
        };
        if decision.verdict == Verdict::Equivalent {
            // The noise would have made that unlikely; it was shown all the same.
            finding.caveats.retain(|caveat| caveat.code != CaveatCode::Noisy);
        }
        finding.verdict = decision.verdict;
        finding.strength = decision.strength;
        finding.reason = decision.reason;
        if let Some(effect) = &mut finding.effect {
            effect.adjusted_difference = differences[index].map(round);
            effect.adjusted_equivalence = equivalences[index].map(round);
        }
        findings.push(finding);
    }
    findings
}

/// The verdict of pairs that broke no rule, with what it hangs on.
fn unobstructed(
    plan: &Plan,
    comparison: &Comparison<'_>,
    evidence: &Evidence<'_>,
    left_out: &[LeftOut],
    caveats: &mut Vec<Caveat>,
) -> Decision {
    let mut decision = decide(evidence);
    let count = comparison.pairs.differences.len();
    if count < LEAST_PAIRS {
        caveats.push(Caveat::new(CaveatCode::FewBlocks, format!("{count} complete pairs")));
        return decision;
    }
    let Some(test) = comparison.test.as_ref().filter(|_| comparison.pooled.is_none()) else {
        return decision;
    };
    if test.is_degenerate() {
        caveats.push(Caveat::new(CaveatCode::Degenerate, "every block gave the same difference"));
    }
    let labels = replicate_labels(&comparison.pairs.blocks, count);
    let theta = comparison.theta;
    caveats.extend(block_caveat(left_out, &labels, decision.verdict));
    if let Some(ranks) = comparison.ranks(plan.alpha) {
        caveats.extend(method_caveat(test, &ranks, count, plan.alpha));
    }
    let is_coarse = coarse_step(&comparison.pairs, &comparison.asked, theta).is_some();
    if decision.verdict == Verdict::Equivalent && is_coarse {
        decision = Decision::inconclusive("the metric's steps are too coarse to claim equivalence");
    }
    decision
}

/// Numbers of the blocks, from 1, where they are the replicates.
fn replicate_labels(blocks: &[BlockEffect], count: usize) -> Vec<String> {
    if blocks.len() == count {
        return blocks.iter().map(|block| (block.block + 1).to_string()).collect();
    }
    (1..=count).map(|boot| format!("of boot {boot}")).collect()
}

/// What forbids a verdict, whatever the numbers.
pub(crate) fn obstacle(
    comparison: &Comparison<'_>,
    counts: &[FailureCount],
    caveats: &mut Vec<Caveat>,
) -> Option<Decision> {
    let question = &comparison.asked.question;
    let pairs = &comparison.pairs;
    let is_latency = matches!(comparison.asked.metric.reduction, Reduction::Quantile(_))
        && comparison.asked.metric.unit == Unit::Nanoseconds;
    if is_latency && caveats.iter().any(|caveat| caveat.code == CaveatCode::ObserverCost) {
        let reason = Some("a probe that acts on every event was attached".to_owned());
        return Some(Decision { verdict: Verdict::Invalid, strength: None, reason });
    }
    if pairs.blocks.is_empty() && pairs.invalid > 0 {
        return Some(nothing_to_pair(comparison));
    }
    let failure =
        differential_failure(counts, &question.workload, &question.subject, &question.reference);
    if let Some(caveat) = failure {
        let reason = format!("failures come first: {}", caveat.detail);
        caveats.push(caveat);
        return Some(Decision::inconclusive(reason));
    }
    if pairs.zeros > 0 {
        let detail = format!("in {} blocks a value was zero", pairs.zeros);
        caveats.push(Caveat::new(CaveatCode::ZeroValue, detail.clone()));
        return Some(Decision::inconclusive(format!("{detail}: a ratio is not defined")));
    }
    if pairs.blocks.is_empty() {
        return Some(nothing_to_pair(comparison));
    }
    if comparison.pooled.is_some() && pairs.blocks.len() < crate::pooled::LEAST_BLOCKS {
        let detail = format!(
            "{} blocks; a percentile of all blocks together needs {}",
            pairs.blocks.len(),
            crate::pooled::LEAST_BLOCKS
        );
        caveats.push(Caveat::new(CaveatCode::FewBlocks, detail.clone()));
        return Some(Decision::inconclusive(detail));
    }
    if drifted_in_order(caveats) {
        let reason = "the order was not randomised and the reference drifted: the drift may be the difference";
        return Some(Decision::inconclusive(reason));
    }
    let unlike = caveats.iter().find(|caveat| caveat.code == CaveatCode::NotComparable);
    if let Some(caveat) = unlike {
        return Some(Decision::inconclusive(format!("not the same work: {}", caveat.detail)));
    }
    if pairs.lacks_tail() {
        let beyond = pairs.tail.as_ref().map_or(0.0, |tail| tail.beyond);
        let supported = pairs.tail.as_ref().and_then(|tail| tail.supported);
        let advice = supported.map_or(String::new(), |quantile| {
            format!("; these samples support up to the {:.4}th percentile", 100.0 * quantile)
        });
        let detail =
            format!("{beyond:.1} samples beyond it in the smallest trial, 10 are needed{advice}");
        caveats.push(Caveat::new(CaveatCode::InsufficientTail, detail.clone()));
        return Some(Decision::inconclusive(detail));
    }
    None
}

fn nothing_to_pair(comparison: &Comparison<'_>) -> Decision {
    let pairs = &comparison.pairs;
    if pairs.invalid > 0 {
        let reason =
            Some(format!("{} blocks broke a validity rule and none is left", pairs.invalid));
        return Decision { verdict: Verdict::Invalid, strength: None, reason };
    }
    if pairs.absent > 0 {
        return Decision::inconclusive("the metric was not reported");
    }
    Decision::inconclusive("no block has both subjects")
}

/// Workloads and metrics whose control was judged better or worse.
fn failed_controls(findings: &[Finding]) -> Vec<(String, String)> {
    findings
        .iter()
        .filter(|finding| {
            finding.question.role == Role::Control
                && matches!(finding.verdict, Verdict::Better | Verdict::Worse)
        })
        .map(|finding| (finding.question.workload.clone(), finding.question.metric.clone()))
        .collect()
}

/// A failed control caps its workload and metric, and no other.
fn cap_by_control(findings: &mut [Finding], failed: &[(String, String)]) {
    for finding in findings.iter_mut().filter(|finding| finding.question.role == Role::Primary) {
        let key = (finding.question.workload.clone(), finding.question.metric.clone());
        if failed.contains(&key) && finding.verdict != Verdict::Invalid {
            finding.verdict = Verdict::Inconclusive;
            finding.strength = None;
            finding.reason = Some("the A/A control differs from its twin here".to_owned());
            finding.caveats.push(Caveat::new(
                CaveatCode::AaFail,
                "the control of this workload and metric failed",
            ));
            finding.caveats.sort();
        }
    }
}

fn judge_screen(plan: &Plan, screen: &[Comparison<'_>]) -> Vec<Finding> {
    let p_values: Vec<_> = screen.iter().map(Comparison::p_difference).collect();
    let q_values = q_values_of(&p_values);
    screen
        .iter()
        .zip(q_values)
        .map(|(comparison, q)| {
            let mut finding = finding(plan, comparison, screen.len());
            finding.reason =
                Some("a secondary metric is screened and never gives a verdict".to_owned());
            if let Some(effect) = &mut finding.effect {
                effect.adjusted_difference = q.map(round);
            }
            finding
        })
        .collect()
}

fn finding(plan: &Plan, comparison: &Comparison<'_>, family_size: usize) -> Finding {
    let (reference_value, subject_value) = comparison.values();
    let mut caveats = comparison.caveats.clone();
    caveats.extend(left_out(&comparison.pairs));
    let of_import = plan.imported.iter().flat_map(|imported| &imported.caveats);
    caveats.extend(of_import.filter(|c| c.code == CaveatCode::OrderConfounded).cloned());
    caveats.sort();
    Finding {
        question: comparison.asked.question.clone(),
        verdict: Verdict::Inconclusive,
        strength: None,
        reason: None,
        look: None,
        margin: comparison.asked.metric.margin,
        pairs: comparison.pairs.blocks.len(),
        reference_value,
        subject_value,
        effect: comparison.effect(plan.alpha, family_size),
        companion: comparison.companion(plan.alpha),
        planning: comparison.planning(plan.alpha, family_size),
        tail: comparison
            .pairs
            .tail
            .as_ref()
            .map(|tail| Tail { beyond: round(tail.beyond), supported: tail.supported.map(round) }),
        diagnostics: comparison.diagnostics(),
        blocks: comparison.pairs.blocks.iter().map(rounded_block).collect(),
        caveats,
    }
}

/// Blocks that are not among the pairs, where some are.
fn left_out(pairs: &Pairs) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if pairs.failed > 0 && !pairs.blocks.is_empty() {
        let detail = format!("{} blocks lack a trial that failed", pairs.failed);
        caveats.push(Caveat::new(CaveatCode::ConditionalSuccess, detail));
    }
    if pairs.absent > 0 {
        let detail = format!("in {} blocks", pairs.absent);
        caveats.push(Caveat::new(CaveatCode::AbsentValues, detail));
    }
    caveats
}

fn rounded_block(block: &BlockEffect) -> BlockEffect {
    BlockEffect {
        block: block.block,
        reference: round(block.reference),
        subject: round(block.subject),
        log_difference: round(block.log_difference),
    }
}

fn campaign_caveats(plan: &Plan, observations: &Observations<'_>) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let (blocks, boots) = observations.blocks_and_boots(&plan.reference().id);
    caveats.extend(plan.imported.iter().flat_map(|imported| imported.caveats.clone()));
    if plan.venue == "sim" {
        caveats.push(Caveat::new(CaveatCode::Simulated, "nothing ran"));
    } else if plan.imported.is_some() {
        // Nobody said how often the machine was booted.
    } else if boots == 1 && blocks > 1 {
        caveats.push(Caveat::new(CaveatCode::SingleBoot, "all blocks ran in one boot"));
    } else if boots < LEAST_BOOTS && boots < blocks {
        let detail = format!("{blocks} blocks ran in {boots} boots");
        caveats.push(Caveat::new(CaveatCode::FewBoots, detail));
    }
    if plan.is_quick {
        caveats.push(Caveat::new(CaveatCode::Quick, "run with --quick"));
    }
    caveats.sort();
    caveats
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record, records};
    use model::{Direction, Histogram, Outcome, Sample, Strength};
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Noise of about 0.5 %, shared by all that use the same block.
    const NOISE: [f64; 10] = [0.2, -0.4, 0.5, -0.1, 0.3, -0.5, 0.1, -0.3, 0.4, -0.2];

    fn around(centre: f64, scale: f64) -> Vec<f64> {
        let wobble = |(block, noise): (usize, &f64)| {
            let other = NOISE[(block * 7 + 3) % 10];
            centre * (1.0 + 0.01 * scale * (noise + 0.3 * other * f64::from(centre as i32 % 7)))
        };
        NOISE.iter().enumerate().map(wobble).collect()
    }

    fn makespan(direction: Direction) -> Vec<model::Metric> {
        vec![metric("m", direction, Reduction::Median)]
    }

    fn judged(subjects: &[(&str, Vec<f64>)], direction: Direction) -> Findings {
        let names: Vec<&str> = subjects.iter().map(|(name, _)| *name).collect();
        let all: Vec<Record> =
            subjects.iter().flat_map(|(name, values)| records(name, values)).collect();
        judge(&plan(&names, makespan(direction), 10), &all)
    }

    fn codes(finding: &Finding) -> Vec<CaveatCode> {
        finding.caveats.iter().map(|caveat| caveat.code).collect()
    }

    #[test]
    fn effects_are_oriented_so_that_more_than_one_is_better() {
        let values = [("a", around(100.0, 1.0)), ("b", around(80.0, 1.0))];
        let lower = judged(&values, Direction::Lower);
        let higher = judged(&values, Direction::Higher);
        assert_eq!(lower.findings[0].verdict, Verdict::Better);
        assert_eq!(lower.findings[0].strength, Some(Strength::Clearly));
        assert_eq!(higher.findings[0].verdict, Verdict::Worse);
        let ratio = |findings: &Findings| findings.findings[0].effect.clone().unwrap();
        assert!((ratio(&lower).ratio * ratio(&higher).ratio - 1.0).abs() < 1e-9);
        assert_eq!(ratio(&lower).raw_ratio, ratio(&higher).raw_ratio);
    }

    #[test]
    fn whatever_rests_on_an_emulated_processor_says_so() {
        let mut plan = plan(&["a", "b"], makespan(Direction::Lower), 10);
        plan.comparisons = model::Comparisons::All;
        let weight =
            |weight| model::Weight { workload: "w".to_owned(), metric: "m".to_owned(), weight };
        plan.use_cases = vec![model::UseCase { id: "u".to_owned(), weights: vec![weight(1.0)] }];
        plan.claims = vec![model::Claim {
            says: "b is better".to_owned(),
            source: None,
            workload: Some("w".to_owned()),
            workloads: Vec::new(),
            metric: "m".into(),
            subject: "b".into(),
            reference: "a".into(),
            effect: model::ClaimedEffect::Better,
        }];
        let flags = |change: fn(&mut Record)| {
            let mut all = records("a", &around(100.0, 1.0));
            all.extend(records("b", &around(80.0, 1.0)));
            all.iter_mut().for_each(change);
            let found = judge(&plan, &all);
            [
                found.findings.iter().all(Finding::is_emulated),
                found.rankings[0].is_emulated,
                found.claims[0].is_emulated,
                found.use_cases[0].comparisons[0].is_emulated(),
                found.use_cases[0].ranking.is_emulated,
            ]
        };
        assert_eq!(flags(|_| ()), [false; 5]);
        // One emulated trial is enough, and so is one that failed.
        let one = |record: &mut Record| {
            if record.block == 3 && record.subject == "b" {
                record.caveats.push(Caveat::new(CaveatCode::Tcg, "TCG"));
            }
        };
        assert_eq!(flags(one), [true; 5]);
        let failed = |record: &mut Record| {
            record.caveats.push(Caveat::new(CaveatCode::Tcg, "TCG"));
            record.outcome = Outcome::Failed { reason: "panic".to_owned() };
        };
        assert_eq!(flags(failed), [true; 5]);
    }

    #[test]
    fn fresh_boots_for_each_kernel_and_block_are_enough_and_shared_ones_are_told() {
        let mut plan = plan(&["a", "b", "c"], makespan(Direction::Lower), 10);
        plan.venue = "vm".to_owned();
        let codes = |boot_of: fn(&Record) -> String| {
            let mut all: Vec<Record> =
                ["a", "b", "c"].iter().flat_map(|id| records(id, &around(100.0, 1.0))).collect();
            for record in &mut all {
                record.boot_id = boot_of(record);
            }
            let caveats = judge(&plan, &all).caveats;
            caveats.into_iter().map(|caveat| caveat.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(|record| format!("{}-{}", record.block, record.subject)), []);
        // Three kernels make six boots, and each of them was booted twice.
        let twice = |record: &Record| format!("{}-{}", record.block % 2, record.subject);
        assert_eq!(codes(twice), [CaveatCode::FewBoots]);
        assert_eq!(codes(|record| record.subject.clone()), [CaveatCode::SingleBoot]);
    }

    #[test]
    fn blocks_that_follow_each_other_too_closely_give_no_verdict() {
        // A slow change of the effect, 10 to 20 %: clear to a t that thinks blocks independent.
        let slow: Vec<f64> =
            (0..10).map(|block| 100.0 / (1.10 + 0.01 * f64::from(block))).collect();
        let findings = judged(&[("a", vec![100.0; 10]), ("b", slow)], Direction::Lower);
        let finding = &findings.findings[0];
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(codes(finding).contains(&CaveatCode::Autocorr));
        assert_eq!(finding.effect, None, "no interval that claims what it cannot know");
    }

    #[test]
    fn rules_that_one_subject_breaks_more_often_suppress_the_verdict() {
        let mut all = records("a", &[100.0; 12]);
        let mut of_subject = records("b", &[100.0; 12]);
        for record in &mut of_subject[..5] {
            let (rule, detail) = ("LEVEL_CHANGED".to_owned(), "for tests".to_owned());
            record.outcome = Outcome::Invalid { rule, detail };
        }
        all.extend(of_subject);
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let findings = judge(&plan(&["a", "b"], metrics, 12), &all);
        let finding = &findings.findings[0];
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(codes(finding).contains(&CaveatCode::DifferentialFailure), "{finding:?}");
        // scipy.stats.fisher_exact([[5, 7], [0, 12]]).
        let p = findings.failures[1].p_invalid.unwrap();
        assert!((p - 0.037_267_080_745).abs() < 1e-9, "{p}");
    }

    #[test]
    fn shares_are_compared_by_their_odds_and_none_at_all_is_no_obstacle() {
        let misses = |subject: &str, counts: [u64; 8]| -> Vec<Record> {
            let one = |(block, count): (usize, &u64)| {
                let samples = vec![vec![Sample::proportion("m", *count, 1000)]];
                record(block as u32, subject, "w", samples)
            };
            counts.iter().enumerate().map(one).collect()
        };
        let metrics = vec![metric("m", Direction::Lower, Reduction::Proportion)];
        let mut all = misses("a", [100, 104, 97, 101, 99, 103, 98, 102]);
        all.extend(misses("b", [0, 3, 1, 0, 2, 0, 1, 4]));
        let findings = judge(&plan(&["a", "b"], metrics, 8), &all);
        let finding = &findings.findings[0];
        assert_eq!(finding.verdict, Verdict::Better);
        assert!(codes(finding).contains(&CaveatCode::OddsRatio));
        assert_eq!(finding.reference_value, Some(0.1005));
        assert_eq!(finding.subject_value, Some(0.001375));
    }

    #[test]
    fn no_difference_seen_is_not_equal() {
        let quiet =
            judged(&[("a", around(100.0, 1.0)), ("b", around(100.1, 1.0))], Direction::Lower);
        assert_eq!(quiet.findings[0].verdict, Verdict::Equivalent);
        let wild: Vec<f64> = NOISE.iter().map(|noise| 100.0 * (1.0 + 0.4 * noise)).collect();
        let noisy = judged(&[("a", around(100.0, 1.0)), ("b", wild)], Direction::Lower);
        assert_eq!(noisy.findings[0].verdict, Verdict::Inconclusive);
        assert!(codes(&noisy.findings[0]).contains(&CaveatCode::Noisy));
        assert!(noisy.findings[0].planning.as_ref().unwrap().blocks_for_equivalence.unwrap() > 10);
    }

    #[test]
    fn one_wild_block_is_kept_and_makes_the_finding_fragile() {
        let mut subject: Vec<f64> = around(103.0, 0.1);
        subject[9] = 75.0;
        let findings = judged(&[("a", around(100.0, 0.1)), ("b", subject)], Direction::Higher);
        let finding = &findings.findings[0];
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert_eq!(finding.pairs, 10);
        assert!(codes(finding).contains(&CaveatCode::Fragile), "{:?}", finding.caveats);
        assert!(codes(finding).contains(&CaveatCode::Outlier));
    }

    #[test]
    fn the_order_of_records_does_not_matter() {
        let subjects = [("a", around(100.0, 1.0)), ("b", around(90.0, 1.0))];
        let mut all: Vec<Record> =
            subjects.iter().flat_map(|(name, values)| records(name, values)).collect();
        let plan = plan(&["a", "b"], makespan(Direction::Lower), 10);
        let forward = judge(&plan, &all);
        all.reverse();
        assert_eq!(judge(&plan, &all), forward);
    }

    #[test]
    fn failures_are_counted_and_never_averaged() {
        let plan = plan(&["a", "b"], makespan(Direction::Lower), 10);
        let mut all = records("a", &around(100.0, 1.0));
        all.extend(records("b", &around(50.0, 1.0)));
        for record in all.iter_mut().filter(|record| record.subject == "b" && record.block < 3) {
            record.outcome = Outcome::Failed { reason: "exit code 1".to_owned() };
            record.invocations.clear();
        }
        let findings = judge(&plan, &all);
        assert_eq!(findings.findings[0].verdict, Verdict::Inconclusive);
        assert!(codes(&findings.findings[0]).contains(&CaveatCode::DifferentialFailure));
        let failed = findings.failures.iter().find(|count| count.subject == "b").unwrap();
        assert_eq!((failed.trials, failed.failed), (10, 3));
        assert_eq!(failed.reasons["exit code 1"], 3);
    }

    #[test]
    fn an_invalid_sitting_costs_its_pairs_and_a_repeated_block_gives_one_back() {
        let plan = plan(&["a", "b"], makespan(Direction::Lower), 10);
        let mut all = records("a", &around(100.0, 1.0));
        all.extend(records("b", &around(80.0, 1.0)));
        let invalid = |record: &mut Record| {
            record.outcome =
                Outcome::Invalid { rule: "LEVEL_CHANGED".to_owned(), detail: String::new() };
        };
        all.iter_mut()
            .filter(|record| record.subject == "b" && record.block == 4)
            .for_each(invalid);
        assert_eq!(judge(&plan, &all).findings[0].pairs, 9);
        all.push(record(10, "a", "w", vec![vec![Sample::values("m", vec![100.0])]]));
        all.push(record(10, "b", "w", vec![vec![Sample::values("m", vec![80.0])]]));
        let findings = judge(&plan, &all);
        assert_eq!(findings.findings[0].pairs, 10);
        assert_eq!(findings.failures.iter().map(|count| count.invalid).sum::<u64>(), 1);
    }

    #[test]
    fn a_control_that_differs_caps_its_metric() {
        let values =
            [("a", around(100.0, 1.0)), ("a-again", around(90.0, 1.0)), ("b", around(80.0, 1.0))];
        let findings = judged(&values, Direction::Lower);
        let primary =
            findings.findings.iter().find(|finding| finding.question.subject == "b").unwrap();
        assert_eq!(primary.verdict, Verdict::Inconclusive);
        assert!(codes(primary).contains(&CaveatCode::AaFail));
        assert_eq!(findings.comparison_count(), 2);
    }

    #[test]
    fn a_percentile_without_its_tail_gives_no_verdict_and_names_one_that_would() {
        let metrics = vec![metric("m_p999", Direction::Lower, Reduction::Quantile(0.999))];
        let mut metrics = metrics;
        metrics[0].source = "m".to_owned();
        let plan = plan(&["a", "b"], metrics, 6);
        let histogram = |shift: u64| {
            let mut histogram = Histogram::new();
            (1..=1_000).for_each(|value| histogram.record(value * shift));
            histogram
        };
        let mut all = Vec::new();
        for block in 0..6 {
            for (subject, shift) in [("a", 10), ("b", 20)] {
                all.push(record(
                    block,
                    subject,
                    "w",
                    vec![vec![Sample::histogram("m", histogram(shift))]],
                ));
            }
        }
        let finding = judge(&plan, &all).findings.remove(0);
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(codes(&finding).contains(&CaveatCode::InsufficientTail));
        assert_eq!(finding.reference_value, None, "one event beyond is not shown at all");
        assert_eq!(finding.tail.unwrap().supported, Some(0.99));
    }

    #[test]
    fn fewer_than_five_pairs_and_zero_values_give_no_verdict() {
        let four = judged(
            &[("a", vec![1.0, 1.01, 1.02, 0.99]), ("b", vec![2.0, 2.01, 2.03, 2.0])],
            Direction::Lower,
        );
        assert_eq!(four.findings[0].verdict, Verdict::Inconclusive);
        assert!(codes(&four.findings[0]).contains(&CaveatCode::FewBlocks));
        let mut zero = around(100.0, 1.0);
        zero[3] = 0.0;
        let findings = judged(&[("a", around(100.0, 1.0)), ("b", zero)], Direction::Lower);
        assert_eq!(findings.findings[0].verdict, Verdict::Inconclusive);
        assert!(codes(&findings.findings[0]).contains(&CaveatCode::ZeroValue));
    }

    #[test]
    fn a_screened_metric_never_gives_a_verdict() {
        let metrics = vec![
            metric("m", Direction::Lower, Reduction::Median),
            metric("n", Direction::Lower, Reduction::Median),
        ];
        let plan = plan(&["a", "b"], metrics, 10);
        let both = |block: usize, subject: &str, value: f64| {
            record(
                block as u32,
                subject,
                "w",
                vec![vec![
                    Sample::values("m", vec![1.0 + NOISE[block]]),
                    Sample::values("n", vec![value + NOISE[block]]),
                ]],
            )
        };
        let all: Vec<Record> = (0..10)
            .flat_map(|block| {
                [both(block, "a", 100.0), both(block, "b", 50.0 + block as f64 * 0.01)]
            })
            .collect();
        let findings = judge(&plan, &all);
        let screen =
            findings.findings.iter().find(|finding| finding.question.metric == "n").unwrap();
        assert_eq!((screen.question.role, screen.verdict), (Role::Screen, Verdict::Inconclusive));
        assert!(screen.effect.as_ref().unwrap().adjusted_difference.unwrap() < 1e-6);
    }

    /// Scenario S1 of docs/method.md#m-scenarios, reduced to sitting values: a boot effect
    /// of 2 %, an interaction of 1 %, and what processes and iterations leave.
    fn quiet_campaign(seed: u64, effect: f64) -> Findings {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        let (mut reference, mut subject) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            let boot = 0.02 * normal();
            let mut arm = || {
                0.01 * normal()
                    + 0.01 * normal() / 3.0_f64.sqrt()
                    + 0.02 * normal() / 30.0_f64.sqrt()
            };
            reference.push(stats::exp(boot + arm()));
            subject.push(stats::exp(boot + arm() + effect));
        }
        judged(&[("a", reference), ("b", subject)], Direction::Higher)
    }

    #[test]
    fn a_thing_compared_with_itself_seldom_differs_and_a_real_effect_is_found() {
        let share = |effect: f64, is_wanted: fn(Verdict) -> bool| {
            let wanted = (0..400)
                .filter(|seed| is_wanted(quiet_campaign(*seed, effect).findings[0].verdict));
            wanted.count() as f64 / 400.0
        };
        let differs = |verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
        let wrong = share(0.0, differs);
        assert!(wrong <= 0.07, "{wrong}");
        let found = share(1.03_f64.ln(), |verdict| verdict == Verdict::Better);
        assert!(found >= 0.95, "{found}");
        let falsely_equal = share(1.02_f64.ln(), |verdict| verdict == Verdict::Equivalent);
        assert!(falsely_equal <= 0.09, "{falsely_equal}");
    }
}
