//! Cells of the calibration: which rows there are is known before anything is counted.

use crate::CalibrationRequest;
use crate::rate::Rate;
use crate::table::{CalibrationRow, Limit};
use contract::Result;

/// A row but for its count.
#[derive(Debug, Clone)]
pub(crate) struct PromisedRow {
    target: Option<u8>,
    name: String,
    limit: Limit,
}

impl PromisedRow {
    pub(crate) fn new(target: Option<u8>, name: impl Into<String>, limit: Limit) -> Self {
        Self { target, name: name.into(), limit }
    }
}

/// Runs the campaigns of a cell and gives the rate of each of its rows, in their order.
type CountOfCell = dyn Fn(&CalibrationRequest<'_>) -> Result<Vec<Rate>>;

/// Simulated campaigns of one kind, and the rows that are counted of them.
pub struct CalibrationCell {
    rows: Vec<PromisedRow>,
    count: Box<CountOfCell>,
}

impl CalibrationCell {
    /// A cell of these rows; `count` gives the rate of each, in their order.
    pub(crate) fn of(
        rows: impl IntoIterator<Item = PromisedRow>,
        count: impl Fn(&CalibrationRequest<'_>) -> Result<Vec<Rate>> + 'static,
    ) -> Self {
        Self { rows: rows.into_iter().collect(), count: Box::new(count) }
    }

    /// A cell of one row.
    pub(crate) fn of_one(
        row: PromisedRow,
        count: impl Fn(&CalibrationRequest<'_>) -> Result<Rate> + 'static,
    ) -> Self {
        Self::of([row], move |request| Ok(vec![count(request)?]))
    }

    /// The names of its rows; no other row of the calibration has one of them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.name.as_str())
    }

    /// Runs its campaigns and counts each row, in the order of the rows.
    ///
    /// # Errors
    /// When the planner refuses one of the calibration's own experiments, and of kind
    /// [`contract::ErrorKind::Interrupted`] once the request was interrupted.
    pub fn count(&self, request: &CalibrationRequest<'_>) -> Result<Vec<Rate>> {
        (self.count)(request)
    }

    /// The rows with these counts, which are those of [`Self::count`].
    pub fn rows(&self, counts: &[Rate]) -> Vec<CalibrationRow> {
        let counted = |(row, rate): (&PromisedRow, &Rate)| {
            CalibrationRow::new(row.target, row.name.as_str(), *rate, row.limit)
        };
        self.rows.iter().zip(counts).map(counted).collect()
    }
}
