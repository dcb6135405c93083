//! Target 11: how often *clearly* is said of a difference that is no larger than the margin.

use crate::CalibrationRequest;
use crate::campaigns::repeat;
use crate::quantities::apart;
use crate::rate::Rate;
use crate::synthetic::{Shape, THETA, run};
use crate::table::{CalibrationRow, Limit};
use contract::Result;
use model::Strength;

/// Target 11 (docs/method.md#m-targets).
const MOST: f64 = 0.05;
/// Comparisons, subjects and workloads.
const FAMILIES: [(usize, usize, usize); 3] = [(1, 2, 1), (10, 3, 5), (63, 8, 9)];

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for (comparisons, arms, workloads) in FAMILIES {
        let name = format!("any \"clearly\" at the margin itself, {comparisons} comparisons");
        if !name.contains(request.only) {
            continue;
        }
        let shape = Shape { arms, workloads, ..Shape::PAIR };
        let wrong = repeat(request, |repetition| {
            let campaign = run(request, &shape, &|_| apart(THETA), repetition)?;
            Ok(campaign.primary().any(|one| one.strength == Some(Strength::Clearly)))
        })?;
        rows.push(CalibrationRow::new(Some(11), name, Rate::of(wrong), Limit::AtMost(MOST)));
    }
    Ok(rows)
}
