//! Target 2: the same data without a design. It proves that the simulator holds
//! the boot effects that the design is for.

use crate::campaigns::{Case, SimulatedCampaign, iterations, repeat, run};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::false_positives::SCENARIOS;
use crate::rate::Rate;
use crate::table::Limit;

/// Target 2 (docs/method.md#m-targets).
const LEAST: f64 = 0.25;
/// Scenario whose spikes destroy the power of a pooled test, so that it seems right.
const EXCEPTION: &str = "S4";
const BLOCKS: u32 = 10;
const ALPHA: f64 = 0.05;

/// What a method makes of two subjects' iterations, by block.
type Method = fn(&[Vec<f64>], &[Vec<f64>]) -> bool;

const METHODS: [(&str, Method); 3] = [
    ("one boot, means differ by 2 %", means_differ),
    ("one boot, Welch on iterations", welch_on_one_boot),
    ("pooled iterations, Mann-Whitney", pooled_ranks),
];

/// The method that the target is about.
const POOLED: usize = 2;

pub(crate) fn cells() -> Vec<CalibrationCell> {
    SCENARIOS.into_iter().map(cell).collect()
}

fn cell(scenario: &'static str) -> CalibrationCell {
    let row = |(index, (method, _)): (usize, (&str, Method))| {
        let name = format!("naive: {method}, {scenario}");
        let is_target = index == POOLED && scenario != EXCEPTION;
        let (target, limit) =
            if is_target { (Some(2), Limit::AtLeast(LEAST)) } else { (None, Limit::None) };
        PromisedRow::new(target, name, limit)
    };
    CalibrationCell::of(METHODS.into_iter().enumerate().map(row), move |request| {
        let case = Case::pair(scenario, BLOCKS, 0.0);
        let outcomes = repeat(request, |repetition| {
            let campaign = run(request, &case, repetition)?;
            Ok(METHODS.map(|(_, method)| says_different(&campaign, method)))
        })?;
        Ok(Rate::of_each(METHODS.len(), &outcomes))
    })
}

/// Whether a method tells the first two subjects of a campaign apart.
pub(crate) fn says_different(campaign: &SimulatedCampaign, method: Method) -> bool {
    let of = |subject: usize| iterations(&campaign.records, &campaign.plan.subjects[subject].id);
    method(&of(0), &of(1))
}

fn means_differ(first: &[Vec<f64>], second: &[Vec<f64>]) -> bool {
    let mean = |blocks: &[Vec<f64>]| blocks.first().and_then(|block| stats::mean(block));
    match (mean(first), mean(second)) {
        (Some(first), Some(second)) => (second / first - 1.0).abs() > 0.02,
        _ => false,
    }
}

fn welch_on_one_boot(first: &[Vec<f64>], second: &[Vec<f64>]) -> bool {
    let block = |blocks: &[Vec<f64>]| blocks.first().cloned().unwrap_or_default();
    let test = stats::TTest::stratified(&[(&block(first), &block(second))]);
    test.and_then(|test| test.p_difference()).is_some_and(|p| p < ALPHA)
}

/// Every iteration taken for a replicate, by ranks.
pub(crate) fn pooled_ranks(first: &[Vec<f64>], second: &[Vec<f64>]) -> bool {
    stats::mann_whitney(&first.concat(), &second.concat()).is_some_and(|p| p < ALPHA)
}
