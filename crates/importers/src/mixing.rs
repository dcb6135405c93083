//! The order of a table's rows, and how it mixes the subjects (docs/method.md#m-import-order).

use crate::column_text::ColumnText;
use crate::table_row::TableRow;
use model::SharedName;
use std::collections::BTreeMap;

/// Executions change their subject less than half as often as in a random order: they are not mixed.
const LEAST_CHANGES: f64 = 0.5;
/// They change it nearly whenever they can, by this share of what lies above a random order: they
/// alternate.
const MOST_CHANGES: f64 = 0.8;

/// A column that tells in which order rows were measured.
pub(crate) struct Clock<'a> {
    pub name: &'a str,
    pub fields: &'a ColumnText,
    /// Whether it numbers runs, and holds no times.
    pub is_of_numbers: bool,
}

/// Where rows stand in the order of a column, by number where all are numbers.
pub(crate) fn places_in_order(orders: &ColumnText) -> Vec<usize> {
    let numbers: Option<Vec<f64>> = orders.iter().map(|text| text.parse().ok()).collect();
    let mut places: Vec<usize> = (0..orders.len()).collect();
    match &numbers {
        Some(numbers) => places.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b])),
        None => places.sort_by(|a, b| orders.at(*a).cmp(orders.at(*b))),
    }
    places
}

/// Puts rows in the order of a column. Whether that tells the order of the subjects: no two of them
/// have the same place.
pub(crate) fn sort_rows(rows: &mut [TableRow], orders: &ColumnText) -> bool {
    let mut places = places_in_order(orders);
    let is_tied = |two: &[usize]| {
        orders.at(two[0]) == orders.at(two[1]) && rows[two[0]].subject != rows[two[1]].subject
    };
    let tells_order = !places.windows(2).any(is_tied);
    // Along each circle of rows that change places, without a copy of any.
    for start in 0..places.len() {
        let mut row = start;
        loop {
            let from = std::mem::replace(&mut places[row], row);
            if from == start || from == row {
                break;
            }
            rows.swap(row, from);
            row = from;
        }
    }
    tells_order
}

/// How the subjects stand in an order; where they stand apart, the most is one with the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mixing {
    /// As in a random one.
    Mixed,
    /// By turns.
    Alternating,
    /// One after the other.
    Apart,
}

/// Whether executions in this order change their subject much more seldom or more often than in a
/// random one, within each combination of levels and summed over them.
pub(crate) fn mixing(rows: &[TableRow], places: &[usize]) -> Mixing {
    let mut by_levels: BTreeMap<&[SharedName], Vec<&TableRow>> = BTreeMap::new();
    for place in places {
        let row = &rows[*place];
        let before = by_levels.entry(&row.levels).or_default();
        if before.last().is_none_or(|last| !is_of_one(last, row)) {
            before.push(row);
        }
    }
    let (mut counted, mut expected, mut most) = (0.0, 0.0, 0.0);
    for executions in by_levels.values() {
        let mut of_subjects: BTreeMap<&str, f64> = BTreeMap::new();
        for one in executions {
            *of_subjects.entry(&one.subject).or_default() += 1.0;
        }
        let count = executions.len() as f64;
        let squares: f64 = of_subjects.values().map(|number| number * number).sum();
        counted +=
            executions.windows(2).filter(|two| two[0].subject != two[1].subject).count() as f64;
        expected += (count * count - squares) / count;
        most += count - 1.0;
    }
    if counted < LEAST_CHANGES * expected {
        Mixing::Apart
    } else if counted - expected > MOST_CHANGES * (most - expected) {
        Mixing::Alternating
    } else {
        Mixing::Mixed
    }
}

/// Whether two rows are what one execution measured.
fn is_of_one(one: &TableRow, other: &TableRow) -> bool {
    let is_named = one.execution.is_some() || one.block.is_some();
    is_named
        && one.subject == other.subject
        && one.execution == other.execution
        && one.block == other.block
}
