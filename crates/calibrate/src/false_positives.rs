//! Target 1: how often a thing that is compared with itself differs, and how often
//! the interval holds the truth.

use crate::campaigns::{Case, SimulatedCampaign, repeat, run};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::rate::Rate;
use crate::table::Limit;

/// Every scenario of the simulator.
pub(crate) const SCENARIOS: [&str; 6] = ["S1", "S2", "S3", "S4", "S5", "S6"];
const BLOCKS: [u32; 4] = [5, 6, 10, 20];
/// Target 1 (docs/method.md#m-targets).
const MOST: f64 = 0.055;
/// An interval that holds the truth more often is wider than it says.
pub(crate) const MOST_COVERAGE: f64 = 0.98;
pub(crate) const LEAST_COVERAGE: f64 = 0.94;
/// Campaigns without an interval, which coverage leaves out.
const MOST_WITHOUT: f64 = 0.01;

/// How many blocks a campaign has whose intervals are counted, too.
const BLOCKS_OF_INTERVALS: u32 = 10;

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let of_scenario = |scenario| BLOCKS.map(|blocks| cell(scenario, blocks));
    SCENARIOS.into_iter().flat_map(of_scenario).collect()
}

fn cell(scenario: &'static str, blocks: u32) -> CalibrationCell {
    let has_coverage = blocks == BLOCKS_OF_INTERVALS;
    let name = format!("false positives, {scenario}, {blocks} blocks");
    let mut rows = vec![PromisedRow::new(Some(1), name, Limit::AtMost(MOST))];
    if has_coverage {
        let names = [
            format!("truth inside the 95 % interval, {scenario}, {blocks} blocks"),
            format!("without an interval, {scenario}, {blocks} blocks"),
        ];
        rows.extend(coverage_rows(1, names, Limit::Between(LEAST_COVERAGE, MOST_COVERAGE)));
    }
    CalibrationCell::of(rows, move |request| {
        let case = Case::pair(scenario, blocks, 0.0);
        let outcomes = repeat(request, |repetition| {
            let campaign = run(request, &case, repetition)?;
            Ok((differs(&campaign, 0.05), covers(&campaign, 0.0)))
        })?;
        let mut rates = vec![Rate::of(outcomes.iter().map(|(differs, _)| *differs))];
        if has_coverage {
            let covers: Vec<Option<bool>> = outcomes.iter().map(|(_, covers)| *covers).collect();
            rates.extend(coverage(&covers));
        }
        Ok(rates)
    })
}

/// Whether the first comparison's own test rejects "no difference" at this level.
pub(crate) fn differs(campaign: &SimulatedCampaign, alpha: f64) -> bool {
    let effect = campaign.primary().next().and_then(|finding| finding.effect.as_ref());
    effect.and_then(|effect| effect.p_difference).is_some_and(|p| p < alpha)
}

/// Whether the first comparison's interval holds an improvement of so many percent; none of a
/// comparison without one, which claims nothing.
pub(crate) fn covers(campaign: &SimulatedCampaign, effect_percent: f64) -> Option<bool> {
    let truth = 1.0 + effect_percent / 100.0;
    let effect = campaign.primary().next().and_then(|finding| finding.effect.as_ref());
    effect.map(|effect| effect.interval.low <= truth && truth <= effect.interval.high)
}

/// The rows of [`coverage`], by these names.
pub(crate) fn coverage_rows(
    target: u8,
    [inside, without]: [String; 2],
    limit: Limit,
) -> [PromisedRow; 2] {
    [
        PromisedRow::new(Some(target), inside, limit),
        PromisedRow::new(Some(target), without, Limit::AtMost(MOST_WITHOUT)),
    ]
}

/// How many of the intervals hold the truth, and how many campaigns have none.
pub(crate) fn coverage(covers: &[Option<bool>]) -> [Rate; 2] {
    let of_intervals = Rate::of(covers.iter().copied().flatten());
    let of_none = Rate::of(covers.iter().map(Option::is_none));
    [of_intervals, of_none]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_without_an_interval_is_counted_by_itself() {
        let covers = [Some(true), None, Some(false), Some(true)];
        let names = ["inside", "without"].map(str::to_owned);
        let rows = coverage_rows(1, names, Limit::Between(0.94, 0.98));
        let cell = CalibrationCell::of(rows, |_| Ok(Vec::new()));
        let rows = cell.rows(&coverage(&covers));
        let [inside, without] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!(inside.rate, Rate { hits: 2, tries: 3 });
        assert_eq!(without.rate, Rate { hits: 1, tries: 4 });
        assert!(!without.holds, "one in four is more than one in a hundred");
    }
}
