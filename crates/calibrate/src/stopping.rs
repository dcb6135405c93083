//! Target 5: looking more than once.

use crate::CalibrationRequest;
use crate::answers::{failing_alike, gated};
use crate::campaigns::{Case, SimulatedCampaign, plan, records, repeat};
use crate::draws::Draws;
use crate::quantities::apart;
use crate::rate::Rate;
use crate::synthetic::{self, Shape, THETA};
use crate::table::{CalibrationRow, Limit};
use analysis::GateOutcome;
use contract::Result;
use model::{Findings, Plan, Record, Role, Verdict};
use stats::TTest;

/// The looks of docs/method.md#m-looks.
const LOOKS: [u32; 5] = [6, 10, 16, 24, 32];
const MOST: u32 = 32;
/// Target 5 (docs/method.md#m-targets).
const MOST_WRONG: f64 = 0.055;
const LEAST_PEEKING: f64 = 0.15;
const ALPHA: f64 = 0.05;
/// Of a difference of 5 % most campaigns are stopped long before the last look.
const EFFECT_PERCENT: f64 = 5.0;
/// S2 never reaches equivalence, so that every look can go wrong.
const SCENARIOS: [&str; 2] = ["S1", "S2"];
/// The one in which most goes wrong: each of its campaigns is judged after each of its blocks.
const ENDED: &str = "S2";
/// Of the others so many rows are counted.
const JUDGED_ONCE: usize = 2;

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for scenario in SCENARIOS {
        let mut counted = counted(scenario);
        if !counted.iter().any(|(name, ..)| name.contains(request.only)) {
            continue;
        }
        let case = Case::pair(scenario, MOST, 0.0);
        let outcomes = repeat(request, |repetition| {
            let SimulatedCampaign { plan, records, findings } = run(request, &case, repetition)?;
            let fixed = Plan { looks: Vec::new(), ..plan.clone() };
            let of_fixed = analysis::judge(&fixed, &records);
            let are_ended = scenario == ENDED;
            let fixed_ends_well = are_ended && ends_well(&fixed, &records);
            Ok([
                differ(&findings),
                peeks(&of_fixed),
                are_ended && ends_well(&plan, &records),
                fixed_ends_well,
                fixed_ends_well || differ(&of_fixed),
            ])
        })?;
        if scenario != ENDED {
            counted.truncate(JUDGED_ONCE);
        }
        for (index, (name, target, limit)) in counted.into_iter().enumerate() {
            let rate = Rate::of(outcomes.iter().map(|outcome| outcome[index]));
            rows.push(CalibrationRow::new(target, name, rate, limit));
        }
    }
    let name = format!("adaptive, +{EFFECT_PERCENT} % found before the last look, S1");
    if name.contains(request.only) {
        let case = Case::pair("S1", MOST, EFFECT_PERCENT);
        let early = repeat(request, |repetition| {
            let campaign = run(request, &case, repetition)?;
            let is_early = campaign.primary().all(|finding| {
                finding.verdict == Verdict::Better
                    && finding.look.is_some_and(|look| look.blocks < MOST)
            });
            Ok(is_early)
        })?;
        rows.push(CalibrationRow::new(None, name, Rate::of(early), Limit::None));
    }
    rows.extend(gates(request)?);
    rows.extend(failures(request)?);
    Ok(rows)
}

/// What is counted of each campaign, with its target; first what needs no campaign that is judged
/// after each of its blocks.
fn counted(scenario: &str) -> Vec<(String, Option<u8>, Limit)> {
    let most = Limit::AtMost(MOST_WRONG);
    vec![
        (format!("adaptive, better or worse of the same thing, {scenario}"), Some(5), most),
        (format!("peeking after every block, {scenario}"), Some(5), Limit::AtLeast(LEAST_PEEKING)),
        (format!("adaptive, ended after the block that looks best, {scenario}"), Some(5), most),
        (format!("fixed, ended after the block that looks best, {scenario}"), Some(5), most),
        (
            format!("fixed, ended where it looks best, or else at its end, {scenario}"),
            Some(5),
            most,
        ),
    ]
}

/// A campaign to its last block, judged look by look: a question keeps the answer
/// of the look at which the campaign would have stopped.
fn run(
    request: &CalibrationRequest<'_>,
    case: &Case,
    repetition: u32,
) -> Result<SimulatedCampaign> {
    let plan = Plan { looks: LOOKS.to_vec(), ..plan(request, case, repetition)? };
    let records = records(request, &plan)?;
    let findings = analysis::judge(&plan, &records);
    Ok(SimulatedCampaign { plan, records, findings })
}

/// Whether a user who may end the campaign after any block, from the fifth on, finds one after
/// which it says "better" or "worse".
fn ends_well(plan: &Plan, records: &[Record]) -> bool {
    ended_after_each(plan, records).any(|findings| differ(&findings))
}

/// What is found where a user ends the campaign after a block, from the fifth on.
fn ended_after_each(plan: &Plan, records: &[Record]) -> impl Iterator<Item = Findings> {
    (5..=MOST as usize).map(move |count| {
        let ran: Vec<u32> = plan.blocks.iter().take(count).map(|block| block.index).collect();
        let is_of_them = |record: &&Record| ran.contains(&record.block);
        let records: Vec<Record> = records.iter().filter(is_of_them).cloned().collect();
        analysis::ended(plan, &records)
    })
}

/// Gates of adaptive campaigns whose subject is worse by the limit itself, so that both outcomes are
/// false: ended after any block, and run to their last look.
fn gates(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let names = [
        "adaptive, gate breached at its limit, ended where it looks worst",
        "adaptive, gate kept at its limit, ended where it looks best",
        "adaptive, gate breached at its limit",
        "adaptive, gate kept at its limit",
    ];
    if !names.iter().any(|name| name.contains(request.only)) {
        return Ok(Vec::new());
    }
    let shape = Shape { blocks: MOST, ..Shape::PAIR };
    let noise = |_: &mut Draws| apart(THETA);
    let outcomes = repeat(request, |repetition| {
        let SimulatedCampaign { plan, records, .. } =
            synthetic::run(request, &shape, &noise, repetition)?;
        let plan = Plan { looks: LOOKS.to_vec(), ..plan };
        let [mut is_breached, mut is_kept] = [false; 2];
        for findings in ended_after_each(&plan, &records) {
            is_breached |= gated(&findings, GateOutcome::Breached);
            is_kept |= gated(&findings, GateOutcome::Kept);
        }
        let at_its_end = analysis::judge(&plan, &records);
        Ok([
            is_breached,
            is_kept,
            gated(&at_its_end, GateOutcome::Breached),
            gated(&at_its_end, GateOutcome::Kept),
        ])
    })?;
    let row = |(index, name): (usize, &str)| {
        let rate = Rate::of(outcomes.iter().map(|outcome| outcome[index]));
        CalibrationRow::new(Some(5), name, rate, Limit::AtMost(MOST_WRONG))
    };
    Ok(names.into_iter().enumerate().map(row).collect())
}

/// Campaigns of a fixed number of blocks whose subjects fail alike, ended after whichever block says that
/// they do not.
fn failures(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let names = [
        "fixed, failures differ, ended after the block that looks best",
        "fixed, gate breached by failures, ended where it looks worst",
    ];
    if !names.iter().any(|name| name.contains(request.only)) {
        return Ok(Vec::new());
    }
    let shape = Shape { blocks: MOST, ..Shape::PAIR };
    let outcomes = repeat(request, |repetition| {
        let noise = |_: &mut Draws| failing_alike(0.0);
        let SimulatedCampaign { plan, records, .. } =
            synthetic::run(request, &shape, &noise, repetition)?;
        let [mut is_unlike, mut is_breached] = [false; 2];
        for findings in ended_after_each(&plan, &records) {
            let mut verdicts = findings.failures.iter().filter_map(|count| count.failure_verdict);
            is_unlike |= verdicts.any(|verdict| verdict != Verdict::Inconclusive);
            is_breached |= gated(&findings, GateOutcome::Breached);
        }
        Ok([is_unlike, is_breached])
    })?;
    let row = |(index, name): (usize, &str)| {
        let rate = Rate::of(outcomes.iter().map(|outcome| outcome[index]));
        CalibrationRow::new(Some(5), name, rate, Limit::AtMost(MOST_WRONG))
    };
    Ok(names.into_iter().enumerate().map(row).collect())
}

/// Whether any primary finding says "better" or "worse".
fn differ(findings: &Findings) -> bool {
    let mut primary = findings.findings.iter().filter(|one| one.question.role == Role::Primary);
    primary.any(|one| matches!(one.verdict, Verdict::Better | Verdict::Worse))
}

/// Whether testing after every block, from the fifth on, would ever have said
/// "different".
fn peeks(findings: &Findings) -> bool {
    let primary = findings.findings.iter().find(|finding| finding.question.role == Role::Primary);
    let Some(primary) = primary else { return false };
    let differences: Vec<f64> = primary.blocks.iter().map(|block| block.log_difference).collect();
    (5..=differences.len()).any(|count| {
        let test = TTest::of(&differences[..count]);
        test.and_then(|test| test.p_difference()).is_some_and(|p| p < ALPHA)
    })
}
