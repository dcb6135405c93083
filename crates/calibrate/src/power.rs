//! Target 3: how often a true difference is found.

use crate::CalibrationRequest;
use crate::campaigns::{Case, repeat, run};
use crate::false_positives::differs;
use crate::rate::Rate;
use crate::table::{CalibrationRow, Limit};
use contract::Result;

/// Scenario, improvement in percent, least power with ten blocks: target 3
/// (docs/method.md#m-targets), three points below what the first calibration found.
const CELLS: [(&str, f64, f64); 4] =
    [("S1", 2.0, 0.863), ("S1", 3.0, 0.964), ("S4", 2.0, 0.891), ("S4", 3.0, 0.958)];
const BLOCKS: u32 = 10;

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for (scenario, effect_percent, least) in CELLS {
        let name = format!("power at +{effect_percent} %, {scenario}, {BLOCKS} blocks");
        if !name.contains(request.only) {
            continue;
        }
        let case = Case::pair(scenario, BLOCKS, effect_percent);
        let found = repeat(request, |repetition| {
            let campaign = run(request, &case, repetition)?;
            let is_improved = campaign
                .primary()
                .filter_map(|finding| finding.effect.as_ref())
                .all(|effect| effect.log_mean > 0.0);
            Ok(is_improved && differs(&campaign, 0.05))
        })?;
        rows.push(CalibrationRow::new(Some(3), name, Rate::of(found), Limit::AtLeast(least)));
    }
    Ok(rows)
}
