//! Target 6: any false answer among many questions.

use crate::CalibrationRequest;
use crate::campaigns::{Case, repeat, run};
use crate::rate::Rate;
use crate::table::{CalibrationRow, Limit};
use contract::Result;

/// 63 comparisons: seven subjects against the reference on nine workloads.
const CASE: Case =
    Case { scenario: "S1", blocks: 10, effect_percent: 0.0, subjects: 8, workloads: 9 };
/// Target 6 (docs/method.md#m-targets).
const MOST_CORRECTED: f64 = 0.055;
const LEAST_UNCORRECTED: f64 = 0.90;
const ALPHA: f64 = 0.05;

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let names = ["any of 63 comparisons wrong, Holm", "any of 63 comparisons wrong, uncorrected"];
    if !names.iter().any(|name| name.contains(request.only)) {
        return Ok(Vec::new());
    }
    let outcomes = repeat(request, |repetition| {
        let campaign = run(request, &CASE, repetition)?;
        let any = |p: fn(&model::Effect) -> Option<f64>| {
            let effects = campaign.primary().filter_map(|finding| finding.effect.as_ref());
            effects.filter_map(p).any(|p| p < ALPHA)
        };
        Ok([any(|effect| effect.adjusted_difference), any(|effect| effect.p_difference)])
    })?;
    let rate = |index: usize| Rate::of(outcomes.iter().map(|outcome| outcome[index]));
    Ok(vec![
        CalibrationRow::new(Some(6), names[0], rate(0), Limit::AtMost(MOST_CORRECTED)),
        CalibrationRow::new(Some(6), names[1], rate(1), Limit::AtLeast(LEAST_UNCORRECTED)),
    ])
}
