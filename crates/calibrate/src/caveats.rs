//! Target 8: how often a statistical caveat is raised of data that do not have its fault.

use crate::CalibrationRequest;
use crate::campaigns::{Case, repeat, run};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::rate::Rate;
use crate::table::Limit;
use contract::Result;
use model::CaveatCode;

/// Target 8 (docs/method.md#m-targets).
const MOST_FALSE_ALARMS: f64 = 0.05;
/// Blocks of S1 are independent, alike and without a trend.
const WITHOUT_FAULT: &str = "S1";
const BLOCKS: [u32; 3] = [6, 10, 20];
const CODES: [CaveatCode; 5] = [
    CaveatCode::Drift,
    CaveatCode::Autocorr,
    CaveatCode::OrderEffect,
    CaveatCode::Outlier,
    CaveatCode::Bimodal,
];
/// S5 drifts by more than the margin in its blocks.
const DRIFTING: (&str, u32) = ("S5", 20);
/// Three points less than the full calibration of docs/calibration.md counted.
const LEAST_TOLD: f64 = 0.87;

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let mut cells: Vec<CalibrationCell> = BLOCKS.into_iter().map(without_fault).collect();
    cells.push(drifting());
    cells
}

fn without_fault(blocks: u32) -> CalibrationCell {
    let rows = CODES.map(|code| {
        let name = format!("false alarm {code}, {WITHOUT_FAULT}, {blocks} blocks");
        PromisedRow::new(Some(8), name, Limit::AtMost(MOST_FALSE_ALARMS))
    });
    CalibrationCell::of(rows, move |request| {
        let raised = raised(request, &Case::pair(WITHOUT_FAULT, blocks, 0.0))?;
        Ok(Rate::of_each(CODES.len(), &raised))
    })
}

fn drifting() -> CalibrationCell {
    let (scenario, blocks) = DRIFTING;
    let name = format!("DRIFT told of a drift, {scenario}, {blocks} blocks");
    let row = PromisedRow::new(Some(8), name, Limit::AtLeast(LEAST_TOLD));
    CalibrationCell::of_one(row, move |request| {
        let raised = raised(request, &Case::pair(scenario, blocks, 0.0))?;
        Ok(Rate::of(raised.iter().map(|codes| codes[0])))
    })
}

/// Which of [`CODES`] each campaign's finding carries.
fn raised(request: &CalibrationRequest<'_>, case: &Case) -> Result<Vec<[bool; CODES.len()]>> {
    repeat(request, |repetition| {
        let campaign = run(request, case, repetition)?;
        Ok(CODES.map(|code| {
            let is_it = |caveat: &model::Caveat| caveat.code == code;
            campaign.primary().any(|finding| finding.caveats.iter().any(is_it))
        }))
    })
}
