//! The findings of paired comparisons, a family at a time.

use crate::comparison::{Comparison, deciding, lacking};
use crate::family::{Family, holm_levels, holm_of, q_values_of};
use crate::fragility::block_caveat;
use crate::pairs::Pairs;
use crate::rulebook::{
    Basis, Evidence, LevelsLeft, Ruling, degenerate_caveat, further, infer, obstacles,
    owed_to_choice, rule,
};
use crate::without_each::{FamilyPosition, without_each};
use model::{
    BlockEffect, Caveat, CaveatCheck, CaveatCode, Finding, LeftOut, Strength, Tail, Verdict,
    round_significant as round,
};

/// Judges a family at one level: Holm's correction over all of it, then the rulebook.
pub(crate) fn judge_family(family: &[Comparison<'_>], alpha: f64) -> Vec<Finding> {
    judge_members(&family.iter().collect::<Vec<_>>(), alpha)
}

/// The same of a family whose members stand among other comparisons.
pub(crate) fn judge_members(family: &[&Comparison<'_>], alpha: f64) -> Vec<Finding> {
    let p_differences: Vec<_> = family.iter().map(|member| member.p_difference()).collect();
    let p_equivalences: Vec<_> = family.iter().map(|member| member.p_equivalence()).collect();
    let differences = holm_of(&p_differences);
    let equivalences = holm_of(&p_equivalences);
    let p_unchosen: Vec<_> = family.iter().map(|member| member.p_unchosen_equivalence()).collect();
    let unchosen = holm_of(&p_unchosen);
    let (of_differences, of_equivalences) =
        (Family::of(&p_differences), Family::of(&p_equivalences));
    let levels = holm_levels(&p_equivalences, alpha);
    let of_difference = holm_levels(&p_differences, alpha);
    let mut findings = Vec::with_capacity(family.len());
    for (index, comparison) in family.iter().enumerate() {
        let evidence = Evidence {
            test: comparison.test.as_ref(),
            difference: differences[index],
            equivalence: equivalences[index],
            theta: comparison.theta,
            alpha,
            family: family.len(),
        };
        let inference = infer(&evidence);
        let outcome = inference.verdict;
        let signals = &comparison.signals;
        let owed = owed_to_choice(&evidence, comparison.unchosen, unchosen[index]);
        let left = LevelsLeft { difference: of_difference[index], equivalence: levels[index] };
        // No test of another kind hears of a level that is looser by choice.
        let strict = comparison.unchosen.map_or(1.0, |usual| (usual.alpha / alpha).min(1.0));
        let mut raised = obstacles(signals, Basis::Tests, left.times(strict));
        raised.extend(owed.raised);
        let is_unclear = signals.is_unclear() || owed.is_unclear;
        let ruling = rule(inference, &raised).clear_unless(is_unclear);
        let mut left_out = Vec::new();
        if !ruling.is_forbidden() {
            let place = FamilyPosition {
                differences: of_differences.without(index),
                equivalences: of_equivalences.without(index),
            };
            let differences = &comparison.pairs.differences;
            left_out = without_each(differences, comparison.theta, alpha, &place);
        }
        let mut finding = finding(comparison, &ruling, alpha, family.len());
        finding.further_obstacles = further(&ruling, &raised);
        if let Some(caveat) = degenerate_caveat(signals, &ruling) {
            finding.note_caveat(caveat);
        }
        if !ruling.is_forbidden() {
            if let Some(caveat) = fragile(comparison, outcome, &left_out) {
                finding.note_caveat(caveat);
            }
            if let Some(caveat) = comparison.skewed(alpha) {
                // Its interval is that of the t: how far it lies beyond the margin is not sure.
                finding.strength = finding.strength.map(|_| Strength::Detectable);
                finding.note_caveat(caveat);
            }
        }
        if let Some(diagnostics) = &mut finding.diagnostics {
            diagnostics.left_out = left_out;
        }
        if let Some(effect) = &mut finding.effect {
            effect.adjusted_difference = differences[index].map(round);
            effect.adjusted_equivalence = equivalences[index].map(round);
            let test = comparison.test.filter(|test| !test.is_degenerate());
            let test = test.filter(|_| ruling.verdict == Verdict::Equivalent);
            effect.deciding = test.map(|test| deciding(&test, levels[index]));
        }
        findings.push(finding);
    }
    findings
}

/// Screens secondary metrics: false-discovery rates, and never a verdict.
pub(crate) fn judge_screen(screen: &[Comparison<'_>], alpha: f64) -> Vec<Finding> {
    let p_values: Vec<_> = screen.iter().map(Comparison::p_difference).collect();
    let q_values = q_values_of(&p_values);
    screen
        .iter()
        .zip(q_values)
        .map(|(comparison, q)| {
            let reason = "a secondary metric is screened and never gives a verdict".to_owned();
            let ruling = Ruling {
                verdict: Verdict::Inconclusive,
                strength: None,
                reason: Some(reason),
                obstacle: None,
                caveat: None,
            };
            let mut finding = finding(comparison, &ruling, alpha, screen.len());
            if let Some(effect) = &mut finding.effect {
                effect.adjusted_difference = q.map(round);
            }
            finding
        })
        .collect()
}

/// The block that a verdict hangs on; nothing is asked of a percentile of all blocks together.
fn fragile(comparison: &Comparison<'_>, outcome: Verdict, left_out: &[LeftOut]) -> Option<Caveat> {
    if comparison.test.is_none() || comparison.pooled.is_some() {
        return None;
    }
    let count = comparison.pairs.differences.len();
    let labels = replicate_labels(&comparison.pairs.blocks, count);
    block_caveat(left_out, &labels, outcome)
}

/// Numbers of the blocks, from 1, where they are the replicates.
fn replicate_labels(blocks: &[BlockEffect], count: usize) -> Vec<String> {
    if blocks.len() == count {
        return blocks.iter().map(|block| (block.block + 1).to_string()).collect();
    }
    (1..=count).map(|boot| format!("of boot {boot}")).collect()
}

fn finding(comparison: &Comparison<'_>, ruling: &Ruling, alpha: f64, family: usize) -> Finding {
    let (reference_value, subject_value) = comparison.values();
    let mut caveats = comparison.caveats.clone();
    caveats.extend(comparison.noise.iter().filter(|_| !is_quiet(ruling)).cloned());
    caveats.extend(left_out(&comparison.pairs));
    caveats.sort();
    caveats.extend(ruling.caveat.clone());
    Finding {
        question: comparison.asked.question.clone(),
        verdict: ruling.verdict,
        strength: ruling.strength,
        reason: ruling.reason.clone(),
        obstacle: ruling.obstacle,
        further_obstacles: Vec::new(),
        least_beside: comparison.signals.least_beside(),
        step: comparison.known_step,
        p_failure: None,
        is_odds: comparison.signals.is_odds,
        is_order_fixed: !comparison.signals.fixed_order.is_empty(),
        doubts: comparison.signals.doubts.clone(),
        is_emulated: comparison.signals.is_emulated,
        look: None,
        margin: comparison.asked.metric.margin,
        pairs: comparison.pairs.blocks.len(),
        reference_value,
        subject_value,
        effect: comparison.effect(alpha, family),
        companion: comparison.companion(alpha),
        planning: comparison.planning(alpha, family),
        tail: comparison
            .pairs
            .tail
            .as_ref()
            .map(|tail| Tail { beyond: round(tail.beyond), supported: tail.supported.map(round) }),
        diagnostics: comparison.diagnostics(),
        blocks: comparison.pairs.blocks.iter().map(rounded_block).collect(),
        against: CaveatCheck::of(&caveats),
        caveats,
    }
}

/// Whether noise would have made the verdict unlikely, and it was shown all the same.
fn is_quiet(ruling: &Ruling) -> bool {
    ruling.verdict == Verdict::Equivalent
}

/// Blocks that are not among the pairs, where some are.
fn left_out(pairs: &Pairs) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if pairs.failed > 0 && !pairs.blocks.is_empty() {
        let detail = lacking(pairs.failed);
        caveats.push(Caveat::new(CaveatCode::ConditionalSuccess, detail));
    }
    if pairs.absent > 0 {
        let detail = format!("in {}", model::counted(pairs.absent, "block"));
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
