//! Target 11: how often *clearly* is said of a difference that is no larger than the margin.

use crate::campaigns::repeat;
use crate::cell::{CalibrationCell, PromisedRow};
use crate::quantities::apart;
use crate::rate::Rate;
use crate::synthetic::{Shape, THETA, run};
use crate::table::Limit;
use model::Strength;

/// Target 11 (docs/method.md#m-targets).
const MOST: f64 = 0.05;
/// Comparisons, subjects and workloads.
const FAMILIES: [(usize, usize, usize); 3] = [(1, 2, 1), (10, 3, 5), (63, 8, 9)];

pub(crate) fn cells() -> Vec<CalibrationCell> {
    FAMILIES.map(|(comparisons, arms, workloads)| cell(comparisons, arms, workloads)).into()
}

fn cell(comparisons: usize, arms: usize, workloads: usize) -> CalibrationCell {
    let name = format!("any \"clearly\" at the margin itself, {comparisons} comparisons");
    let row = PromisedRow::new(Some(11), name, Limit::AtMost(MOST));
    CalibrationCell::of_one(row, move |request| {
        let shape = Shape { arms, workloads, ..Shape::PAIR };
        let wrong = repeat(request, |repetition| {
            let campaign = run(request, &shape, &|_| apart(THETA), repetition)?;
            Ok(campaign.primary().any(|one| one.strength == Some(Strength::Clearly)))
        })?;
        Ok(Rate::of(wrong))
    })
}
