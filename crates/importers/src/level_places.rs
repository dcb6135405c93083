//! How often the levels of a column stand in the rows of each subject that measure the same.

use crate::column_text::ColumnText;
use crate::table_row::TableRow;
use model::SharedName;
use std::collections::BTreeMap;

/// A column that rows are sorted by has each of its levels as often as this.
const LEAST_ROWS: usize = 2;

/// How often each level of a column stands in the rows of a subject.
type LevelCounts<'a> = BTreeMap<&'a str, usize>;

/// The levels of rows, and what the rows measure.
type MeasuredCell<'a> = (&'a [SharedName], Vec<&'a str>);

/// These of all subjects, by cell.
pub(crate) struct Places<'a> {
    by_place: BTreeMap<MeasuredCell<'a>, BTreeMap<&'a str, LevelCounts<'a>>>,
}

impl<'a> Places<'a> {
    pub(crate) fn of(rows: &'a [TableRow], fields: &'a ColumnText) -> Self {
        let mut places = Self { by_place: BTreeMap::new() };
        for (row, field) in rows.iter().zip(fields.iter()) {
            let sources: Vec<&str> =
                row.samples.iter().map(|sample| sample.source.as_str()).collect();
            let subjects = places.by_place.entry((row.levels.as_slice(), sources)).or_default();
            *subjects.entry(&row.subject).or_default().entry(field).or_default() += 1;
        }
        places
    }

    /// Whether rows of one subject at one place differ in it.
    pub(crate) fn vary(&self) -> bool {
        self.by_place.values().flat_map(BTreeMap::values).any(|levels| levels.len() > 1)
    }

    /// Whether rows of a subject at one place differ in it, and no two of them share a level.
    pub(crate) fn has_each_level_once(&self) -> bool {
        let mut counts =
            self.by_place.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values);
        self.vary() && counts.all(|count| *count == 1)
    }

    /// Whether every subject has several rows of each of several levels, as often as all others have:
    /// nothing that is measured is so even.
    pub(crate) fn are_sorted_by_it(&self) -> bool {
        self.by_place.values().all(|subjects| {
            let Some(first) = subjects.values().next() else { return false };
            let are_alike = subjects.len() > 1 && subjects.values().all(|levels| levels == first);
            let most = first.values().max();
            let are_even = subjects.len() == 1 && first.values().all(|count| Some(count) == most);
            first.len() > 1
                && first.values().all(|count| *count >= LEAST_ROWS)
                && (are_alike || are_even)
        })
    }
}
