//! Target 3: how often a true difference is found.

use crate::campaigns::{Case, repeat, run};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::false_positives::differs;
use crate::rate::Rate;
use crate::table::Limit;

/// Scenario, improvement in percent, least power with ten blocks: target 3
/// (docs/method.md#m-targets), three points below what the first calibration found.
const CELLS: [(&str, f64, f64); 4] =
    [("S1", 2.0, 0.863), ("S1", 3.0, 0.964), ("S4", 2.0, 0.891), ("S4", 3.0, 0.958)];
const BLOCKS: u32 = 10;

pub(crate) fn cells() -> Vec<CalibrationCell> {
    CELLS.map(|(scenario, effect_percent, least)| cell(scenario, effect_percent, least)).into()
}

fn cell(scenario: &'static str, effect_percent: f64, least: f64) -> CalibrationCell {
    let name = format!("power at +{effect_percent} %, {scenario}, {BLOCKS} blocks");
    let row = PromisedRow::new(Some(3), name, Limit::AtLeast(least));
    CalibrationCell::of_one(row, move |request| {
        let case = Case::pair(scenario, BLOCKS, effect_percent);
        let found = repeat(request, |repetition| {
            let campaign = run(request, &case, repetition)?;
            let is_improved = campaign
                .primary()
                .filter_map(|finding| finding.effect.as_ref())
                .all(|effect| effect.log_mean > 0.0);
            Ok(is_improved && differs(&campaign, 0.05))
        })?;
        Ok(Rate::of(found))
    })
}
