//! A table of figures, and the rows of it that a check means.

use crate::row_selector::RowSelector;
use serde::Deserialize;

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Better {
    /// Throughputs, shares of what succeeded.
    Higher,
    /// Times.
    Lower,
}

/// A table as a study prints it.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// The place of the figures.
    value: Option<usize>,
    /// Which way is better, where no column says so.
    better: Option<Better>,
    /// The places of what tells its cells apart.
    keys: Vec<usize>,
}

/// Rows of a table.
#[derive(Debug, Clone)]
pub(crate) struct Cells<'t> {
    pub(crate) table: &'t Table,
    pub(crate) rows: Vec<&'t [String]>,
}

impl Table {
    /// Reads a table, whose figures stand in this column.
    pub(crate) fn read(
        name: &'static str,
        text: &str,
        value: Option<&str>,
        better: Option<Better>,
        keys: &[String],
    ) -> Result<Self, String> {
        let failed = |error: csv::Error| format!("{name}.csv: {error}");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns: Vec<String> =
            reader.headers().map_err(failed)?.iter().map(str::to_owned).collect();
        let mut rows = Vec::new();
        for row in reader.records() {
            rows.push(row.map_err(failed)?.iter().map(str::to_owned).collect());
        }
        let place = |column: &str| {
            let place = columns.iter().position(|name| name == column);
            place.ok_or_else(|| format!("{name}.csv: there is no column {column}"))
        };
        let value = value.map(place).transpose()?;
        let keys = keys.iter().map(|key| place(key)).collect::<Result<_, _>>()?;
        Ok(Self { name, columns, rows, value, better, keys })
    }

    pub(crate) fn column(&self, column: &str) -> Result<usize, String> {
        let place = self.columns.iter().position(|name| name == column);
        place.ok_or_else(|| format!("{} has no column {column}", self.name))
    }

    /// The rows that a selector means; at least one.
    pub(crate) fn cells(&self, selector: &RowSelector<'_>) -> Result<Cells<'_>, String> {
        let mut rows: Vec<&[String]> = self.rows.iter().map(Vec::as_slice).collect();
        for condition in &selector.conditions {
            let column = self.column(condition.column)?;
            rows.retain(|row| (row[column] == condition.value) == condition.is_equal);
        }
        if rows.is_empty() {
            return Err(format!("{} has no row of {selector}", self.name));
        }
        Ok(Cells { table: self, rows })
    }

    fn figure(&self, row: &[String]) -> Result<f64, String> {
        let value = self.value.ok_or_else(|| format!("{} has no figures", self.name))?;
        row[value].parse().map_err(|_| format!("{}: `{}` is no number", self.name, row[value]))
    }

    /// What tells a row's cell apart, without this column.
    pub(crate) fn cell_without<'r>(&self, row: &'r [String], column: usize) -> Vec<&'r str> {
        let keys = self.keys.iter().filter(|key| **key != column);
        keys.map(|key| row[*key].as_str()).collect()
    }
}

impl Cells<'_> {
    /// The mean of their figures; of one row its figure.
    pub(crate) fn mean(&self) -> Result<f64, String> {
        let figures = self.figures()?;
        Ok(figures.iter().sum::<f64>() / figures.len() as f64)
    }

    pub(crate) fn figures(&self) -> Result<Vec<f64>, String> {
        self.rows.iter().map(|row| self.table.figure(row)).collect()
    }

    /// Whether the first figure is better than the second.
    pub(crate) fn is_better(&self, one: f64, other: f64) -> Result<bool, String> {
        let better = match self.table.column("better") {
            Ok(column) => match self.rows[0][column].as_str() {
                "higher" => Some(Better::Higher),
                "lower" => Some(Better::Lower),
                _ => None,
            },
            Err(_) => self.table.better,
        };
        match better {
            Some(Better::Higher) => Ok(one > other),
            Some(Better::Lower) => Ok(one < other),
            None => Err(format!("{} does not say which way is better", self.table.name)),
        }
    }
}
