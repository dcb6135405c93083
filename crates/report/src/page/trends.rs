//! How a metric went over a soak campaign, with what its figure and its line say.

use crate::over_time::{is_hidden, words};
use crate::quantities::short;
use crate::view::Report;
use model::{Direction, LevelChange, Trend, TrendOutcome, Unit};
use serde::Serialize;

/// One trend; a column for each fact of its values. Of an emulated processor it has none, for
/// they would be those of no real one.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Trend"))]
pub(super) struct Course<'r> {
    workload: &'r str,
    metric: &'r str,
    unit: Unit,
    direction: Direction,
    subject: &'r str,
    outcome: TrendOutcome,
    /// In words.
    #[serde(rename = "said")]
    sentence: String,
    /// In the unit for each hour, and the level at the beginning on its line.
    slope: Option<(f64, f64)>,
    changes: &'r [LevelChange],
    hours: Vec<f64>,
    /// Indices of blocks.
    block: Vec<u32>,
    /// Grows where what outlives trials began anew.
    stretch: Vec<u32>,
    value: Vec<f64>,
}

pub(super) fn course<'r>(trend: &'r Trend, report: &Report) -> Course<'r> {
    let is_shown = !is_hidden(trend, report.hides_absolute);
    let points = if is_shown { trend.points.as_slice() } else { &[] };
    let slope = trend.slope.as_ref().filter(|_| is_shown);
    Course {
        workload: &trend.workload,
        metric: &trend.metric,
        unit: trend.unit,
        direction: trend.direction,
        subject: &trend.subject,
        outcome: trend.outcome,
        sentence: words(trend, report.hides_absolute, report.language),
        slope: slope.map(|slope| (short(slope.per_hour), short(slope.start))),
        changes: &trend.changes,
        hours: points.iter().map(|point| short(point.hours)).collect(),
        block: points.iter().map(|point| point.block).collect(),
        stretch: points.iter().map(|point| point.stretch).collect(),
        value: points.iter().map(|point| short(point.value)).collect(),
    }
}
