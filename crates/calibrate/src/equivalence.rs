//! Target 4: how often a difference as large as the margin is called equivalent.

use crate::CalibrationRequest;
use crate::campaigns::{Case, repeat, run};
use crate::rate::Rate;
use crate::table::{CalibrationRow, Limit};
use contract::Result;
use model::Verdict;

/// Target 4 (docs/method.md#m-targets).
const MOST: f64 = 0.065;
/// The margin of the calibration's experiments.
const MARGIN_PERCENT: f64 = 2.0;
const SCENARIOS: [&str; 3] = ["S1", "S2", "S4"];
const BLOCKS: [u32; 2] = [10, 20];

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for scenario in SCENARIOS {
        for blocks in BLOCKS {
            let name = format!("equivalent at the margin itself, {scenario}, {blocks} blocks");
            if !name.contains(request.only) {
                continue;
            }
            let case = Case::pair(scenario, blocks, MARGIN_PERCENT);
            let wrong = repeat(request, |repetition| {
                let campaign = run(request, &case, repetition)?;
                Ok(campaign.primary().any(|finding| finding.verdict == Verdict::Equivalent))
            })?;
            rows.push(CalibrationRow::new(Some(4), name, Rate::of(wrong), Limit::AtMost(MOST)));
        }
    }
    Ok(rows)
}
