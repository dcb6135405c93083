//! Target 5: looking more than once.

use crate::CalibrationRequest;
use crate::answers::{failing_alike, gated};
use crate::campaigns::{Case, SimulatedCampaign, plan, records, repeat};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::draws::Draws;
use crate::quantities::apart;
use crate::rate::Rate;
use crate::synthetic::{self, Shape, THETA};
use crate::table::Limit;
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
/// Three points less than the full calibration of docs/calibration.md counted.
const LEAST_FOUND_EARLY: f64 = 0.97;
/// S2 never reaches equivalence, so that every look can go wrong.
const SCENARIOS: [&str; 2] = ["S1", "S2"];
/// The one in which most goes wrong: each of its campaigns is judged after each of its blocks.
const ENDED: &str = "S2";
/// Of the others so many rows are counted.
const JUDGED_ONCE: usize = 2;

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let mut cells: Vec<CalibrationCell> = SCENARIOS.into_iter().map(looked_at).collect();
    cells.extend([found_early(), gates(), failures()]);
    cells
}

/// Campaigns of the same thing, adaptive and fixed ones.
fn looked_at(scenario: &'static str) -> CalibrationCell {
    let are_ended = scenario == ENDED;
    let mut rows = counted(scenario);
    if !are_ended {
        rows.truncate(JUDGED_ONCE);
    }
    let count = rows.len();
    CalibrationCell::of(rows, move |request| {
        let case = Case::pair(scenario, MOST, 0.0);
        let outcomes = repeat(request, |repetition| {
            let SimulatedCampaign { plan, records, findings } = run(request, &case, repetition)?;
            let fixed = Plan { looks: Vec::new(), ..plan.clone() };
            let of_fixed = analysis::judge(&fixed, &records);
            let fixed_ends_well = are_ended && ends_well(&fixed, &records);
            Ok([
                differ(&findings),
                peeks(&of_fixed),
                are_ended && ends_well(&plan, &records),
                fixed_ends_well,
                fixed_ends_well || differ(&of_fixed),
            ])
        })?;
        Ok(Rate::of_each(count, &outcomes))
    })
}

fn found_early() -> CalibrationCell {
    let name = format!("adaptive, +{EFFECT_PERCENT} % found before the last look, S1");
    let row = PromisedRow::new(Some(5), name, Limit::AtLeast(LEAST_FOUND_EARLY));
    CalibrationCell::of_one(row, |request| {
        let case = Case::pair("S1", MOST, EFFECT_PERCENT);
        let early = repeat(request, |repetition| {
            let campaign = run(request, &case, repetition)?;
            let is_early = campaign.primary().all(|finding| {
                finding.verdict == Verdict::Better
                    && finding.look.is_some_and(|look| look.blocks < MOST)
            });
            Ok(is_early)
        })?;
        Ok(Rate::of(early))
    })
}

/// What is counted of each campaign, with its target; first what needs no campaign that is judged
/// after each of its blocks.
fn counted(scenario: &str) -> Vec<PromisedRow> {
    let most = Limit::AtMost(MOST_WRONG);
    let row = |name: &str, limit| PromisedRow::new(Some(5), format!("{name}, {scenario}"), limit);
    vec![
        row("adaptive, better or worse of the same thing", most),
        row("peeking after every block", Limit::AtLeast(LEAST_PEEKING)),
        row("adaptive, ended after the block that looks best", most),
        row("fixed, ended after the block that looks best", most),
        row("fixed, ended where it looks best, or else at its end", most),
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
fn gates() -> CalibrationCell {
    let rows = [
        "adaptive, gate breached at its limit, ended where it looks worst",
        "adaptive, gate kept at its limit, ended where it looks best",
        "adaptive, gate breached at its limit",
        "adaptive, gate kept at its limit",
    ]
    .map(at_most_wrong);
    let count = rows.len();
    CalibrationCell::of(rows, move |request| {
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
        Ok(Rate::of_each(count, &outcomes))
    })
}

/// Campaigns of a fixed number of blocks whose subjects fail alike, ended after whichever block says that
/// they do not.
fn failures() -> CalibrationCell {
    let rows = [
        "fixed, failures differ, ended after the block that looks best",
        "fixed, gate breached by failures, ended where it looks worst",
    ]
    .map(at_most_wrong);
    let count = rows.len();
    CalibrationCell::of(rows, move |request| {
        let shape = Shape { blocks: MOST, ..Shape::PAIR };
        let outcomes = repeat(request, |repetition| {
            let noise = |_: &mut Draws| failing_alike(0.0);
            let SimulatedCampaign { plan, records, .. } =
                synthetic::run(request, &shape, &noise, repetition)?;
            let [mut is_unlike, mut is_breached] = [false; 2];
            for findings in ended_after_each(&plan, &records) {
                let mut verdicts =
                    findings.failures.iter().filter_map(|count| count.failure_verdict);
                is_unlike |= verdicts.any(|verdict| verdict != Verdict::Inconclusive);
                is_breached |= gated(&findings, GateOutcome::Breached);
            }
            Ok([is_unlike, is_breached])
        })?;
        Ok(Rate::of_each(count, &outcomes))
    })
}

/// A row of which so many may be wrong.
fn at_most_wrong(name: &str) -> PromisedRow {
    PromisedRow::new(Some(5), name, Limit::AtMost(MOST_WRONG))
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
