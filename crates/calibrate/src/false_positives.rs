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
/// An interval that holds the truth more often is wider than it says.
pub(crate) const MOST_COVERAGE: f64 = 0.98;
pub(crate) const LEAST_COVERAGE: f64 = 0.94;
/// Campaigns without an interval, which coverage leaves out.
const MOST_WITHOUT: f64 = 0.01;

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
                let covers: Vec<Option<bool>> =
                    outcomes.iter().map(|(_, covers)| *covers).collect();
                let case = format!("{scenario}, {blocks} blocks");
                let names = [
                    format!("truth inside the 95 % interval, {case}"),
                    format!("without an interval, {case}"),
                ];
                let limit = Limit::Between(LEAST_COVERAGE, MOST_COVERAGE);
                rows.extend(coverage(1, names, &covers, limit));
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

/// Whether the first comparison's interval holds an improvement of so many percent; none of a
/// comparison without one, which claims nothing.
pub(crate) fn covers(campaign: &SimulatedCampaign, effect_percent: f64) -> Option<bool> {
    let truth = 1.0 + effect_percent / 100.0;
    let effect = campaign.primary().next().and_then(|finding| finding.effect.as_ref());
    effect.map(|effect| effect.interval.low <= truth && truth <= effect.interval.high)
}

/// How many of the intervals hold the truth, and how many campaigns have none, by these names.
pub(crate) fn coverage(
    target: u8,
    [inside, without]: [String; 2],
    covers: &[Option<bool>],
    limit: Limit,
) -> [CalibrationRow; 2] {
    let of_intervals = Rate::of(covers.iter().copied().flatten());
    let of_none = Rate::of(covers.iter().map(Option::is_none));
    [
        CalibrationRow::new(Some(target), inside, of_intervals, limit),
        CalibrationRow::new(Some(target), without, of_none, Limit::AtMost(MOST_WITHOUT)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_without_an_interval_is_counted_by_itself() {
        let covers = [Some(true), None, Some(false), Some(true)];
        let names = ["inside", "without"].map(str::to_owned);
        let [inside, without] = coverage(1, names, &covers, Limit::Between(0.94, 0.98));
        assert_eq!(inside.rate, Rate { hits: 2, tries: 3 });
        assert_eq!(without.rate, Rate { hits: 1, tries: 4 });
        assert!(!without.holds, "one in four is more than one in a hundred");
    }
}
