//! Target 4: how often a difference as large as the margin is called equivalent.

use crate::CalibrationRequest;
use crate::campaigns::{Case, repeat, run};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::noise::{every_normal, fails_when_slow, felt_by_one, left_behind_by_one};
use crate::rate::Rate;
use crate::synthetic::{self, Noise, SIGMA, Shape, THETA};
use crate::table::Limit;
use contract::Result;
use model::Verdict;

/// Target 4 (docs/method.md#m-targets).
const MOST: f64 = 0.065;
/// The margin of the calibration's experiments.
const MARGIN_PERCENT: f64 = 2.0;
const SCENARIOS: [&str; 3] = ["S1", "S2", "S4"];
const BLOCKS: [u32; 2] = [10, 20];
/// Blocks, and how often equal subjects are shown to be equivalent at least: three points less than the
/// full calibration of docs/calibration.md counted.
const SHOWN: [(u32, f64); 2] = [(10, 0.859), (20, 0.929)];

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let of_scenario = |scenario| BLOCKS.map(|blocks| simulated(scenario, blocks));
    let cells = SCENARIOS.into_iter().flat_map(of_scenario);
    cells.chain(cases().into_iter().map(hidden)).chain(SHOWN.map(shown)).collect()
}

fn simulated(scenario: &'static str, blocks: u32) -> CalibrationCell {
    let name = format!("equivalent at the margin itself, {scenario}, {blocks} blocks");
    let row = PromisedRow::new(Some(4), name, Limit::AtMost(MOST));
    CalibrationCell::of_one(row, move |request| {
        let case = Case::pair(scenario, blocks, MARGIN_PERCENT);
        let wrong = repeat(request, |repetition| {
            let campaign = run(request, &case, repetition)?;
            Ok(campaign.primary().any(|finding| finding.verdict == Verdict::Equivalent))
        })?;
        Ok(Rate::of(wrong))
    })
}

/// A difference as large as the margin that something hides from the mean.
struct Hidden {
    by: &'static str,
    blocks: u32,
    limit: Limit,
    make: fn() -> Noise,
}

/// What sittings leave behind takes from the difference, and so does what is not measured of the slower
/// subject. Ten blocks hardly tell that one of the two alone feels what came before.
fn cases() -> Vec<Hidden> {
    let of = |by, blocks, make| Hidden { by, blocks, limit: Limit::AtMost(MOST), make };
    let of_one = "carry-over of 3 % that one arm feels";
    let of_failures = "the slowest fail in one arm";
    vec![
        of("carry-over of 1 %", 10, || apart_beside(left_behind_by_one(0.01), THETA)),
        of("carry-over of 2 %", 10, || apart_beside(left_behind_by_one(0.02), THETA)),
        of("carry-over of 3 %", 10, || apart_beside(left_behind_by_one(0.03), THETA)),
        of("carry-over of 3 %", 20, || apart_beside(left_behind_by_one(0.03), THETA)),
        Hidden { limit: Limit::None, ..of(of_one, 10, || apart_beside(felt_by_one(0.03), -THETA)) },
        of(of_one, 40, || apart_beside(felt_by_one(0.03), -THETA)),
        of(of_failures, 10, || apart_beside(fails_when_slow(SIGMA), THETA)),
        of(of_failures, 20, || apart_beside(fails_when_slow(SIGMA), THETA)),
    ]
}

fn hidden(Hidden { by, blocks, limit, make }: Hidden) -> CalibrationCell {
    let name = format!("equivalent at the margin: {by}, {blocks} blocks");
    let target = (limit != Limit::None).then_some(4);
    let row = PromisedRow::new(target, name, limit);
    let shape = Shape { blocks, ..Shape::PAIR };
    CalibrationCell::of_one(row, move |request| equivalent(request, &shape, make))
}

/// How often equal subjects are shown to be equivalent.
fn shown((blocks, least): (u32, f64)) -> CalibrationCell {
    let name = format!("shown to be equivalent: equal subjects, {blocks} blocks");
    let row = PromisedRow::new(Some(4), name, Limit::AtLeast(least));
    let shape = Shape { blocks, ..Shape::PAIR };
    CalibrationCell::of_one(row, move |request| {
        equivalent(request, &shape, || apart_beside(every_normal(), 0.0))
    })
}

/// The share of campaigns with such noise that find no difference that matters.
fn equivalent(
    request: &CalibrationRequest<'_>,
    shape: &Shape,
    make: fn() -> Noise,
) -> Result<Rate> {
    let counted = repeat(request, |repetition| {
        let noise = |_: &mut _| make();
        let campaign = synthetic::run(request, shape, &noise, repetition)?;
        Ok(campaign.primary().any(|finding| finding.verdict == Verdict::Equivalent))
    })?;
    Ok(Rate::of(counted))
}

/// The same noise, and subject 1 differs by so much, on the scale of logarithms.
fn apart_beside(mut noise: Noise, effect: f64) -> Noise {
    Box::new(move |moment, draws| {
        let effect = if moment.arm == 1 { effect } else { 0.0 };
        noise(moment, draws).map(|value| value + effect)
    })
}
