//! Target 10: the kinds of numbers that workloads report.

use crate::campaigns::repeat;
use crate::cell::{CalibrationCell, PromisedRow};
use crate::rate::Rate;
use crate::reported::Reported;
use crate::synthetic::{NO_SHELTER, Noise, SIGMA, Shape, THETA, run};
use crate::table::Limit;
use model::Verdict;

/// Target 10 (docs/method.md#m-targets).
const MOST_DIFFERENT: f64 = 0.055;
const MOST_EQUIVALENT: f64 = 0.065;
const BLOCKS: u32 = 10;

/// What is reported, and the difference at which *equivalent* is counted, in margins.
const KINDS: [(&str, Reported, f64); 7] = [
    ("a time", Reported::Time, 1.0),
    ("a median of 400 events", Reported::Percentile(0.5, 400), 1.0),
    ("a p99 of 2,000 events", Reported::Percentile(0.99, 2_000), 1.0),
    ("a share of 20,000 attempts", Reported::Share(20_000), 1.0),
    ("a count of 40,000", Reported::Count(40_000), 1.0),
    ("a clock of ten steps", Reported::TenSteps, 2.0),
    ("one clock of ten steps", Reported::TenStepsOfOne, 2.0),
];

pub(crate) fn cells() -> Vec<CalibrationCell> {
    KINDS
        .into_iter()
        .flat_map(|(name, reported, margins)| of_kind(name, reported, margins))
        .collect()
}

fn of_kind(name: &str, reported: Reported, margins: f64) -> [CalibrationCell; 2] {
    let different = format!("different: {name}, nothing differs, {BLOCKS} blocks");
    let at = if margins > 1.0 { "twice the margin" } else { "the margin itself" };
    let equivalent = format!("equivalent at {at}: {name}, {BLOCKS} blocks");
    [
        cell(PromisedRow::new(Some(10), different, Limit::AtMost(MOST_DIFFERENT)), reported, 0.0),
        cell(
            PromisedRow::new(Some(10), equivalent, Limit::AtMost(MOST_EQUIVALENT)),
            reported,
            margins,
        ),
    ]
}

/// Subjects that differ by so many margins: where by none *different* is counted, else
/// *equivalent*.
fn cell(row: PromisedRow, reported: Reported, of_margin: f64) -> CalibrationCell {
    let margin = if of_margin > 0.0 { Shape::PAIR.margin } else { NO_SHELTER };
    let shape = Shape { blocks: BLOCKS, reported, margin, ..Shape::PAIR };
    CalibrationCell::of_one(row, move |request| {
        let wrong = repeat(request, |repetition| {
            let noise = |_: &mut _| apart(of_margin * THETA);
            let campaign = run(request, &shape, &noise, repetition)?;
            Ok(if of_margin > 0.0 {
                campaign.primary().any(|one| one.verdict == Verdict::Equivalent)
            } else {
                campaign.says_different()
            })
        })?;
        Ok(Rate::of(wrong))
    })
}

/// Every subject but the reference differs by so much, on the scale of logarithms.
pub(crate) fn apart(effect: f64) -> Noise {
    Box::new(move |moment, draws| {
        let effect = if moment.arm == 0 { 0.0 } else { effect };
        Some(SIGMA * draws.normal() + effect)
    })
}
