//! The calibration's table: what was counted against what is promised.

use crate::rate::Rate;
use serde::Serialize;
use std::fmt::Write;

/// What is promised of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It is at most this.
    AtMost(f64),
    /// It is at least this.
    AtLeast(f64),
    /// Nothing: shown for comparison.
    None,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationRow {
    /// Number of the target (docs/method.md#m-targets); none of what is for comparison.
    pub target: Option<u8>,
    /// What is counted, and in which case.
    pub name: String,
    /// The count.
    pub rate: Rate,
    /// What is promised.
    pub limit: Limit,
    /// Whether it holds.
    pub holds: bool,
}

impl CalibrationRow {
    /// A row holds unless its count contradicts the limit: the one-sided 99 % limit of its rate lies
    /// beyond it. The more campaigns, the less is left to chance.
    pub(crate) fn new(
        target: Option<u8>,
        name: impl Into<String>,
        rate: Rate,
        limit: Limit,
    ) -> Self {
        let (low, high) = rate.one_sided();
        let holds = match limit {
            Limit::AtMost(most) => low <= most,
            Limit::AtLeast(least) => high >= least,
            Limit::None => true,
        };
        Self { target, name: name.into(), rate, limit, holds }
    }
}

/// The whole table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Simulated campaigns in each cell.
    pub repetitions: u32,
    /// Whether it was a quick one, with its wider bounds.
    pub is_quick: bool,
    /// Every row.
    pub rows: Vec<CalibrationRow>,
}

impl Calibration {
    /// Whether every target holds.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.holds)
    }
}

/// One row for a terminal or a file.
pub fn text(row: &CalibrationRow) -> String {
    let limit = match row.limit {
        Limit::AtMost(most) => format!("at most {:.1} %", 100.0 * most),
        Limit::AtLeast(least) => format!("at least {:.1} %", 100.0 * least),
        Limit::None => "for comparison".to_owned(),
    };
    let (low, high) = row.rate.interval();
    let target = row.target.map_or(String::new(), |target| target.to_string());
    let verdict = match (row.holds, row.limit) {
        (_, Limit::None) => "",
        (true, _) => "holds",
        (false, _) => "MISSED",
    };
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        line,
        "{target:>2}  {:<72} {:>6.1} %  [{:>5.1}, {:>5.1}]  {limit:<17} {verdict}",
        row.name,
        100.0 * row.rate.share(),
        100.0 * low,
        100.0 * high
    );
    line.trim_end().to_owned()
}
