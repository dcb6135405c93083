//! Target 6: any false answer among many questions.

use crate::campaigns::{Case, repeat, run};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::rate::Rate;
use crate::table::Limit;

/// 63 comparisons: seven subjects against the reference on nine workloads.
const CASE: Case =
    Case { scenario: "S1", blocks: 10, effect_percent: 0.0, subjects: 8, workloads: 9 };
/// Target 6 (docs/method.md#m-targets).
const MOST_CORRECTED: f64 = 0.055;
const LEAST_UNCORRECTED: f64 = 0.90;
const ALPHA: f64 = 0.05;

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let row = |name: &str, limit| PromisedRow::new(Some(6), name, limit);
    let rows = [
        row("any of 63 comparisons wrong, Holm", Limit::AtMost(MOST_CORRECTED)),
        row("any of 63 comparisons wrong, uncorrected", Limit::AtLeast(LEAST_UNCORRECTED)),
    ];
    let count = rows.len();
    vec![CalibrationCell::of(rows, move |request| {
        let outcomes = repeat(request, |repetition| {
            let campaign = run(request, &CASE, repetition)?;
            let any = |p: fn(&model::Effect) -> Option<f64>| {
                let effects = campaign.primary().filter_map(|finding| finding.effect.as_ref());
                effects.filter_map(p).any(|p| p < ALPHA)
            };
            Ok([any(|effect| effect.adjusted_difference), any(|effect| effect.p_difference)])
        })?;
        Ok(Rate::of_each(count, &outcomes))
    })]
}
