//! How metrics go over a soak campaign: slopes, changes of level, leaks.

use crate::{Caveat, Direction, Unit};
use serde::{Deserialize, Serialize};

/// How one metric of one subject went over a campaign, one number for each block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Workload label.
    pub workload: String,
    /// Metric id.
    pub metric: String,
    /// The metric's unit.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Subject id.
    pub subject: String,
    /// The change over the campaign that would matter, as a fraction.
    pub margin: f64,
    /// What can be said.
    pub outcome: TrendOutcome,
    /// Whether it rests on an emulated processor, so that its figures are those of no real one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_emulated: bool,
    /// Why nothing can be said, or what else to know, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Hours from the first trial to the last, without those that the campaign stood still.
    pub hours: f64,
    /// The slope; absent where it was not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<Slope>,
    /// Where the level changes; alerts to look closer, no verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LevelChange>,
    /// The values, in the order in which their trials began.
    pub points: Vec<TrendPoint>,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
}

/// What can be said of a trend. It is shown where its slope differs from none at the level of
/// all series of the campaign together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TrendOutcome {
    /// Memory that grows, by more than the margin.
    Leak,
    /// It gets worse, by more than the margin.
    Degradation,
    /// It gets better, by more than the margin.
    Improvement,
    /// It changes, by less than the margin.
    Slight,
    /// No trend was shown, which is not the same as none.
    Unshown,
    /// There was nothing to test, or no test is allowed.
    Untested,
}

impl TrendOutcome {
    /// Whether the service is the worse for running on.
    pub fn is_bad(self) -> bool {
        matches!(self, TrendOutcome::Leak | TrendOutcome::Degradation)
    }
}

/// The slope of a trend, in the metric's unit for each hour (Theil 1950, Sen 1968).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// The median over all pairs of blocks.
    pub per_hour: f64,
    /// Its interval at the campaign's level, for it alone.
    pub interval: SlopeInterval,
    /// Its interval at that level over the number of series.
    pub family_interval: SlopeInterval,
    /// The level at the beginning, on the line of the slope.
    pub start: f64,
    /// The change over all hours, as a fraction of that level; absent where it is not positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// Two-sided p of no trend (Mann 1945, Kendall 1975).
    pub p: f64,
    /// Holm-adjusted over all series.
    pub adjusted_p: f64,
}

/// An interval of a slope.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlopeInterval {
    /// Lower end; absent where unbounded.
    pub low: Option<f64>,
    /// Upper end; absent where unbounded.
    pub high: Option<f64>,
}

/// A place at which the level of a series changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LevelChange {
    /// Index of the first block with the new level.
    pub block: u32,
    /// The new level over the one before: above 1 is more, whatever is better; of a share, the
    /// ratio of odds.
    pub ratio: f64,
    /// Its 95 % interval, as if the place had been known.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// p of no change there, not corrected for the search.
    pub p: f64,
}

/// One block's value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrendPoint {
    /// Block index.
    pub block: u32,
    /// Hours from the campaign's first trial to the beginning of this one.
    pub hours: f64,
    /// In the metric's unit.
    pub value: f64,
    /// Grows by one where the campaign was interrupted or a trial of the workload failed: what
    /// outlives trials began anew there, and only values of one stretch are compared.
    pub stretch: u32,
}
