//! Target 1: how often a thing that is compared with itself differs, and how often
//! the interval holds the truth.

use crate::campaigns::{Case, repeat, run};
use crate::rate::Rate;
use crate::table::{CalibrationRow, Limit};
use crate::{CalibrationRequest, campaigns::SimulatedCampaign};
use contract::Result;

/// Every scenario of the simulator.
pub(crate) const SCENARIOS: [&str; 6] = ["S1", "S2", "S3", "S4", "S5", "S6"];
const BLOCKS: [u32; 4] = [5, 6, 10, 20];
/// Target 1 (docs/method.md#m-targets).
const MOST: f64 = 0.055;
const LEAST_COVERAGE: f64 = 0.94;

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for scenario in SCENARIOS {
        for blocks in BLOCKS {
            let name = format!("false positives, {scenario}, {blocks} blocks");
            if !name.contains(request.only) {
                continue;
            }
            let case = Case::pair(scenario, blocks, 0.0);
            let outcomes = repeat(request, |repetition| {
                let campaign = run(request, &case, repetition)?;
                Ok((differs(&campaign, 0.05), covers(&campaign, 0.0)))
            })?;
            let rate = Rate::of(outcomes.iter().map(|(differs, _)| *differs));
            rows.push(CalibrationRow::new(Some(1), name, rate, Limit::AtMost(MOST)));
            if blocks == 10 {
                let rate = Rate::of(outcomes.iter().map(|(_, covers)| *covers));
                let name = format!("truth inside the 95 % interval, {scenario}, {blocks} blocks");
                rows.push(CalibrationRow::new(Some(1), name, rate, Limit::AtLeast(LEAST_COVERAGE)));
            }
        }
    }
    Ok(rows)
}

/// Whether the first comparison's own test rejects "no difference" at this level.
pub(crate) fn differs(campaign: &SimulatedCampaign, alpha: f64) -> bool {
    let effect = campaign.primary().next().and_then(|finding| finding.effect.as_ref());
    effect.and_then(|effect| effect.p_difference).is_some_and(|p| p < alpha)
}

/// Whether the first comparison's interval holds an improvement of so many percent.
/// No interval claims nothing, and so is not wrong.
pub(crate) fn covers(campaign: &SimulatedCampaign, effect_percent: f64) -> bool {
    let truth = 1.0 + effect_percent / 100.0;
    let effect = campaign.primary().next().and_then(|finding| finding.effect.as_ref());
    effect.is_none_or(|effect| effect.interval.low <= truth && truth <= effect.interval.high)
}
