//! Columns of a table that nobody named: times tell the order of its rows, parts of an execution and
//! columns that rows of a subject are sorted by are refused, and all others are told.

use crate::column_names::{
    BATCHES, COUNTS, DESCRIPTIONS, EXCHANGED, EXECUTIONS, LETTERS, MACHINES, NAMED_PARTS, NUMBERED,
    PARTS, REPEATS, RUNS, SEQUENCES, SESSIONS, SUFFIXES, TIMES, VERSIONS,
};
use crate::column_text::ColumnText;
use crate::failed_rows::FailedRows;
use crate::level_places::Places;
use crate::mapping::Mapping;
use crate::metrics::metric_id;
use crate::mixing::{Clock, places_in_order};
use crate::run_numbers::count_all;
use crate::run_order::ToldByNumbers;
use crate::table::{ImportedTable, over};
use crate::table_row::TableRow;
use csv::StringRecord;
use model::{IMPORT_FIELDS, SharedName};
use outputs::Trouble;
use std::collections::{BTreeMap, BTreeSet};

/// Seconds since 1970 of the years 2008 to 2039.
const SECONDS: std::ops::Range<f64> = 1.2e9..2.2e9;
/// Seconds, and parts of them, that such times are written in.
const SCALES: [f64; 4] = [1.0, 1e3, 1e6, 1e9];
/// Columns told by name.
const TOLD_AT_MOST: usize = 12;

/// A column, and what each row has in it.
struct Column {
    place: usize,
    name: String,
    /// Whether the mapping says nothing of it; another one is part of an execution's or block's name.
    is_unnamed: bool,
    fields: ColumnText,
}

/// Columns without a name, and those that name executions and blocks.
pub(crate) struct UnnamedColumns {
    columns: Vec<Column>,
    /// Fields that were taken.
    fields: u64,
}

impl UnnamedColumns {
    /// Those of a header, of which the mapping names these.
    pub(crate) fn of(header: &StringRecord, named: &[usize], mapping: &Mapping) -> Self {
        let column = |(place, name): (usize, &str)| {
            let is_unnamed = !named.contains(&place);
            let mut of_executions = mapping.replicate.iter().chain(&mapping.block);
            let is_parameter = mapping.parameters.iter().any(|parameter| parameter == name);
            let identifies = !is_parameter && of_executions.any(|own| own == name);
            (is_unnamed || identifies).then(|| Column {
                place,
                name: name.to_owned(),
                is_unnamed,
                fields: ColumnText::default(),
            })
        };
        Self { columns: header.iter().enumerate().filter_map(column).collect(), fields: 0 }
    }

    /// Takes what a row has in them.
    ///
    /// # Errors
    /// When all rows together have too many fields.
    pub(crate) fn add(&mut self, record: &StringRecord) -> Result<(), Trouble> {
        self.fields += self.columns.len() as u64;
        IMPORT_FIELDS.check(self.fields).map_err(over)?;
        for column in &mut self.columns {
            column.fields.push(&record[column.place]);
        }
        Ok(())
    }

    /// Takes out the columns that nobody named and that tell which rows failed.
    pub(crate) fn take_failed(&mut self) -> Vec<FailedRows> {
        let mut taken = Vec::new();
        self.columns.retain(|column| {
            let of_column = || FailedRows::of(&column.name, &column.fields);
            let failed = column.is_unnamed.then(of_column).flatten();
            let stays = failed.is_none();
            taken.extend(failed);
            stays
        });
        taken
    }

    /// Refuses what would make replicates of the parts of an execution.
    ///
    /// # Errors
    /// The column, and what to name.
    pub(crate) fn refuse_parts(&self, mapping: &Mapping, rows: &[TableRow]) -> Result<(), Trouble> {
        if let Some(first) = self.columns.iter().find(|column| column.is_named_part(mapping)) {
            let may_be_stated = first.is_called(&EXCHANGED);
            let first = &first.name;
            let cause = format!(
                "the column `{first}` names parts of an execution, which are no replicates"
            );
            let remedy = format!(
                "name the columns that identify an execution alone (--replicate), of which its parts are averaged, \
                 or `{first}` as a parameter; where each was started for itself, rename the column{}",
                if may_be_stated { " or say so (--independent)" } else { "" }
            );
            return Err(Trouble::new(cause, remedy));
        }
        self.refuse_numbers(mapping, rows)?;
        // That there is nothing to compare is told elsewhere.
        let is_of_one = rows.windows(2).all(|pair| pair[0].subject == pair[1].subject);
        if is_of_one || !mapping.replicate.is_empty() || mapping.block.is_some() {
            return Ok(());
        }
        for column in &self.columns {
            let name = &column.name;
            let places = Places::of(rows, &column.fields);
            if column.is_called(&PARTS) && places.vary() {
                let cause =
                    format!("the column `{name}` tells rows apart as parts of an execution do");
                let remedy = format!(
                    "name the column that identifies an execution (--replicate), of which its parts are averaged, or \
                     `{name}` as a parameter; where each row was an execution, rename the column"
                );
                return Err(Trouble::new(cause, remedy));
            }
            if places.are_sorted_by_it() {
                let cause = format!(
                    "nobody said what the column `{name}` is, and each subject has rows of all its levels"
                );
                let remedy = format!(
                    "name it as a parameter (--parameter {name}), or with what identifies an execution (--replicate), \
                     or remove it"
                );
                return Err(Trouble::new(cause, remedy));
            }
        }
        Ok(())
    }

    /// Refuses a column that names executions or blocks, and that has the shape of a number of rows.
    fn refuse_numbers(&self, mapping: &Mapping, rows: &[TableRow]) -> Result<(), Trouble> {
        let is_refused = |column: &&Column| {
            column.is_called(&NUMBERED)
                && !mapping.independent.contains(&column.name)
                && column.numbers_rows(rows)
        };
        let Some(first) = self.naming().find(is_refused) else { return Ok(()) };
        let first = &first.name;
        let cause = format!(
            "the column `{first}` has another number in each row of a subject, and nothing shows whether these are \
             executions or parts of one"
        );
        let remedy = format!(
            "where each was started for itself, say so (--independent {first}); else name what identifies an \
             execution instead of it, of which its parts are averaged, or `{first}` as a parameter alone"
        );
        Err(Trouble::new(cause, remedy))
    }

    /// Columns that are part of the name of an execution or block, are not called as executions are,
    /// and have the same levels wherever the others have one of theirs: they may tell parts of one
    /// apart. The others are those beside it in that name; where these do not vary, those that are called
    /// as executions are.
    pub(crate) fn crossed(&self, rows: &[TableRow]) -> Vec<&str> {
        let is_crossed = |column: &&Column| {
            let others = self.other_columns(column);
            let is_alone = others.iter().all(|other| other.is_unnamed);
            let counts_alone = is_alone && column.is_called_a_count();
            let is_asked = !column.is_called(&EXECUTIONS) && !counts_alone;
            is_asked && !others.is_empty() && column.is_crossed_with(&others, rows)
        };
        self.naming().filter(is_crossed).map(|column| column.name.as_str()).collect()
    }

    /// Columns that are part of the name of an execution or block, with what rows have in them, while
    /// nothing else tells executions apart, and that are called neither as executions are nor as a count
    /// of them.
    pub(crate) fn alone(&self) -> Vec<(&str, &ColumnText)> {
        let is_alone =
            |column: &&Column| !column.counts_executions() && self.other_columns(column).is_empty();
        self.naming().filter(is_alone).map(Column::named_fields).collect()
    }

    /// Columns that nobody named and of which each level stands once among the rows of a subject that
    /// measure the same, as parts of one execution do and each row's own execution would: none where a
    /// column of times, or one that is called as executions or a count of them are, tells these apart.
    pub(crate) fn nameless(&self, rows: &[TableRow]) -> Vec<(&str, &ColumnText)> {
        let tells_rows = |column: &&Column| {
            column.is_unnamed && Places::of(rows, &column.fields).has_each_level_once()
        };
        let telling: Vec<&Column> = self.columns.iter().filter(tells_rows).collect();
        let is_execution = |column: &&Column| {
            let is_of_parts = column.is_called(&EXCHANGED)
                || column.is_called(&NUMBERED) && column.numbers_rows(rows);
            (column.counts_executions() && !is_of_parts)
                || matches!(column.holds_times(rows), Ok(true))
        };
        if telling.iter().any(is_execution) {
            return Vec::new();
        }
        telling.into_iter().map(Column::named_fields).collect()
    }

    /// Columns that nobody named and that may tell kinds of rows apart, with what rows have in them: neither
    /// executions, nor times, nor measured numbers.
    pub(crate) fn kinds(&self, rows: &[TableRow]) -> Vec<(&str, &ColumnText)> {
        let is_one = |column: &&Column| {
            column.is_unnamed
                && !column.counts_executions()
                && matches!(column.holds_times(rows), Ok(false))
                && !column.is_measured(rows)
        };
        self.columns.iter().filter(is_one).map(Column::named_fields).collect()
    }

    /// Adds what subjects have in columns of settings and of sessions, in the rows from this one on. A
    /// table of ours has places and counts of attempts, and none of these.
    pub(crate) fn add_settings(&self, mapping: &Mapping, first: usize, table: &mut ImportedTable) {
        let rows = &table.rows[first..];
        table.columns.add(&self.settings(mapping), rows);
        table.sessions.add(&self.sessions(), rows);
    }

    /// Columns that nobody named and that may hold a setting: they are called neither as executions,
    /// times or their order are, nor as what describes a subject.
    fn settings(&self, mapping: &Mapping) -> Vec<(&str, &ColumnText)> {
        let subject = mapping.subject.as_deref().map(metric_id);
        let others = [&SESSIONS[..], &LETTERS, &TIMES, &SEQUENCES, &DESCRIPTIONS];
        let is_one = |column: &&Column| {
            column.is_unnamed
                && (!column.is_called(&EXECUTIONS) || column.is_called(&BATCHES))
                && !others.iter().any(|names| column.is_called(names))
                && !column.is_called_a_version()
                && !column.has_clock_times()
                && subject.as_deref().is_none_or(|subject| !column.is_called(&[subject]))
        };
        self.columns.iter().filter(is_one).map(Column::named_fields).collect()
    }

    /// Columns of sessions, whether they are part of the name of an execution or nobody named them, and
    /// those of batches that are: where nobody said so, these may be of a size.
    fn sessions(&self) -> Vec<(&str, &ColumnText)> {
        let is_one = |column: &&Column| {
            column.is_called(&SESSIONS) || !column.is_unnamed && column.is_called(&BATCHES)
        };
        self.columns.iter().filter(is_one).map(Column::named_fields).collect()
    }

    /// The column that numbers runs: the one that names executions, or where none does the first that
    /// nobody named and that is called as executions or their sequence are; none where there are blocks.
    pub(crate) fn numbering(&self, mapping: &Mapping) -> Option<(&str, &ColumnText)> {
        let counts = |column: &&Column| {
            column.is_unnamed && (column.is_called(&EXECUTIONS) || column.is_called(&SEQUENCES))
        };
        let column = match (&mapping.block, mapping.replicate.as_slice()) {
            (None, []) => self.columns.iter().find(counts),
            (None, [_]) => self.naming().next(),
            _ => None,
        };
        column.map(Column::named_fields)
    }

    /// Columns of machines, two at least, that are part of the name of an execution or block.
    pub(crate) fn machines(&self) -> Vec<&str> {
        let is_one = |column: &&Column| column.is_called(&MACHINES) && column.fields.varies();
        self.naming().filter(is_one).map(|column| column.name.as_str()).collect()
    }

    /// Columns that are part of the name of an execution or block.
    fn naming(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.is_unnamed)
    }

    /// Columns beside this one that tell executions apart: part of their name, or else called as they
    /// are.
    fn other_columns(&self, column: &Column) -> Vec<&Column> {
        let varying = |is_unnamed: bool| -> Vec<&Column> {
            let is_it = |other: &&Column| {
                other.place != column.place
                    && other.is_unnamed == is_unnamed
                    && other.fields.varies()
            };
            self.columns.iter().filter(is_it).collect()
        };
        let named = varying(false);
        if !named.is_empty() {
            return named;
        }
        varying(true).into_iter().filter(|other| other.is_called(&EXECUTIONS)).collect()
    }

    /// The columns of times among these rows that can be put in order, or else that of the numbers of runs,
    /// where it tells another one than the file.
    pub(crate) fn clocks(&self, rows: &[TableRow]) -> Vec<Clock<'_>> {
        let times = self.columns.iter().filter(|one| matches!(one.holds_times(rows), Ok(true)));
        let times: Vec<Clock<'_>> = times.map(|column| column.clock(false)).collect();
        if !times.is_empty() {
            return times;
        }
        let is_told = |one: &&Column| ToldByNumbers::of(&one.fields, rows) == ToldByNumbers::Order;
        self.numbered().filter(is_told).map(|column| column.clock(true)).into_iter().collect()
    }

    /// What is told of the times, or the numbers of runs, of rows that were given in no order of their own,
    /// with those that tell it.
    ///
    /// # Errors
    /// Where times cannot be put in order, or two columns give two orders.
    pub(crate) fn times(
        &self,
        rows: &[TableRow],
    ) -> Result<Option<(String, Option<&ColumnText>)>, Trouble> {
        let mut found: Option<&Column> = None;
        for column in &self.columns {
            if !column.holds_times(rows)? {
                continue;
            }
            match found {
                None => found = Some(column),
                Some(first)
                    if places_in_order(&first.fields) != places_in_order(&column.fields) =>
                {
                    let cause = format!(
                        "the columns `{}` and `{}` hold times, and put the rows in different orders",
                        first.name, column.name
                    );
                    let remedy =
                        "name the one that tells in which order rows were measured (--order)";
                    return Err(Trouble::new(cause, remedy));
                }
                Some(_) => {}
            }
        }
        if let Some(Column { name, fields, .. }) = found {
            let told = format!(
                "rows are in the order of the times in {name}; --order names another column"
            );
            return Ok(Some((told, Some(fields))));
        }
        Ok(self.numbered().and_then(|column| column.told_by_numbers(rows)))
    }

    /// The column that numbers all rows, where these stand in another order; none where two columns
    /// number them in different ones.
    fn numbered(&self) -> Option<&Column> {
        let mut numbering = self.columns.iter().filter(|column| column.numbers_all());
        let first = numbering.next()?;
        let places = places_in_order(&first.fields);
        let is_one = numbering.all(|other| places_in_order(&other.fields) == places);
        (is_one && !places.is_sorted()).then_some(first)
    }

    /// Columns of numbers that nobody named and that look measured, of rows in the file's order.
    pub(crate) fn measured(&self, rows: &[TableRow]) -> Vec<&str> {
        let unnamed = self.columns.iter().filter(|column| column.is_unnamed);
        let measured = unnamed.filter(|column| column.is_measured(rows));
        measured.map(|column| column.name.as_str()).collect()
    }

    /// What is told of columns that were not used.
    pub(crate) fn told(&self, used: Option<&ColumnText>) -> Option<String> {
        let is_used = |column: &Column| used.is_some_and(|used| std::ptr::eq(used, &column.fields));
        let unused = self.columns.iter().filter(|column| column.is_unnamed && !is_used(column));
        let mut names: Vec<&str> = unused.map(|column| column.name.as_str()).collect();
        if names.is_empty() {
            return None;
        }
        if names.len() > TOLD_AT_MOST {
            names.truncate(TOLD_AT_MOST);
            names.push("…");
        }
        Some(format!(
            "nobody named these columns, and no value of them was judged: {}",
            names.join(", ")
        ))
    }
}

impl Column {
    fn named(name: &str, fields: &ColumnText) -> Self {
        Self { place: 0, name: name.to_owned(), is_unnamed: false, fields: fields.clone() }
    }

    /// Whether it has one of these names, whatever follows it.
    fn is_called(&self, names: &[&str]) -> bool {
        let id = metric_id(&self.name);
        let is_one = |name: &str| names.contains(&name);
        is_one(&id) || SUFFIXES.iter().filter_map(|end| id.strip_suffix(*end)).any(is_one)
    }

    /// Whether it was named as executions or blocks, and is called as parts of one execution are: of what
    /// one sends or does, no times of a clock (`epoch`), and nothing that the user says is independent.
    fn is_named_part(&self, mapping: &Mapping) -> bool {
        let names = [&PARTS[..], &NAMED_PARTS, &REPEATS];
        let is_exchanged = || {
            self.is_called(&EXCHANGED)
                && !mapping.independent.contains(&self.name)
                && !self.has_clock_times()
        };
        !self.is_unnamed && (names.iter().any(|names| self.is_called(names)) || is_exchanged())
    }

    /// Whether it tells which of something, as `go_version` does.
    fn is_called_a_version(&self) -> bool {
        let id = metric_id(&self.name);
        VERSIONS.iter().any(|end| id.ends_with(end))
    }

    /// Whether all that it has are dates or seconds since 1970.
    fn has_clock_times(&self) -> bool {
        let numbers: Option<Vec<f64>> =
            self.fields.iter().map(|field| field.parse().ok()).collect();
        let are_seconds = numbers.is_some_and(|numbers| are_seconds(&numbers));
        are_seconds || self.fields.iter().all(is_date)
    }

    /// Whether all that it has are whole numbers, no times of a clock, and no two rows of a subject that
    /// measure the same share one.
    fn numbers_rows(&self, rows: &[TableRow]) -> bool {
        let is_whole = |field: &str| {
            field.trim().parse::<f64>().is_ok_and(|number| number >= 0.0 && number.fract() == 0.0)
        };
        self.fields.iter().all(is_whole)
            && !self.has_clock_times()
            && Places::of(rows, &self.fields).has_each_level_once()
    }

    /// Whether it is called as runs are, and numbers all rows of the table.
    fn numbers_all(&self) -> bool {
        self.is_called(&RUNS) && count_all(&self.fields)
    }

    /// What tells an order by it.
    fn clock(&self, is_of_numbers: bool) -> Clock<'_> {
        Clock { name: &self.name, fields: &self.fields, is_of_numbers }
    }

    /// What its numbers of runs tell of the order of rows that stand in another one, in words, and they
    /// where these are put in theirs.
    fn told_by_numbers(&self, rows: &[TableRow]) -> Option<(String, Option<&ColumnText>)> {
        let Self { name, fields, .. } = self;
        let order = "rows are in the order of the numbers in";
        match ToldByNumbers::of(fields, rows) {
            ToldByNumbers::Order => {
                Some((format!("{order} {name}; --order names another column"), Some(fields)))
            }
            ToldByNumbers::Turns => {
                let turns = "numbers each subject in turn; rows are taken in the file's order";
                Some((format!("{name} {turns}"), None))
            }
            ToldByNumbers::Nothing => None,
        }
    }

    /// Its name, and what rows have in it.
    fn named_fields(&self) -> (&str, &ColumnText) {
        (&self.name, &self.fields)
    }

    /// Whether it is called as executions or a count of them are.
    fn counts_executions(&self) -> bool {
        self.is_called(&EXECUTIONS) || self.is_called_a_count()
    }

    /// Whether it is called as what counts executions, or tells when they were.
    fn is_called_a_count(&self) -> bool {
        let names = [&COUNTS[..], &LETTERS, &TIMES, &SEQUENCES];
        names.iter().any(|names| self.is_called(names))
    }

    /// Whether it has the same levels, two at least, wherever these others have one of theirs.
    fn is_crossed_with(&self, others: &[&Self], rows: &[TableRow]) -> bool {
        let mut levels: BTreeMap<Vec<&str>, BTreeSet<&str>> = BTreeMap::new();
        for (index, (row, field)) in rows.iter().zip(self.fields.iter()).enumerate() {
            let own = others.iter().map(|other| other.fields.at(index));
            let place = [row.subject.as_str()].into_iter();
            let place = place.chain(row.levels.iter().map(SharedName::as_str)).chain(own).collect();
            levels.entry(place).or_default().insert(field);
        }
        let mut all = levels.values();
        let Some(first) = all.next() else { return false };
        first.len() > 1 && all.all(|other| other == first)
    }

    /// Whether it has numbers, more different ones than half of the rows, which count nothing: those
    /// of some subject fall. What is called an order, an execution or a part is no measurement.
    fn is_measured(&self, rows: &[TableRow]) -> bool {
        let numbers: Option<Vec<f64>> = self
            .fields
            .iter()
            .map(|field| field.parse().ok().filter(|n: &f64| n.is_finite()))
            .collect();
        let Some(numbers) = numbers else { return false };
        let distinct: BTreeSet<u64> = numbers.iter().map(|number| number.to_bits()).collect();
        let is_of_rows =
            [&TIMES[..], &SEQUENCES, &PARTS, &NAMED_PARTS, &EXECUTIONS, &MACHINES, &["seed"]];
        2 * distinct.len() > numbers.len()
            && !rise(&numbers, rows)
            && !is_of_rows.iter().any(|names| self.is_called(names))
    }

    /// Whether it tells when each row was measured.
    fn holds_times(&self, rows: &[TableRow]) -> Result<bool, Trouble> {
        if !self.fields.varies() {
            return Ok(false);
        }
        if self.fields.iter().all(is_date) {
            return Ok(true);
        }
        let id = metric_id(&self.name);
        let is_called_so = TIMES.contains(&id.as_str());
        let numbers: Option<Vec<f64>> =
            self.fields.iter().map(|field| field.parse().ok()).collect();
        let Some(numbers) = numbers else {
            if !is_called_so || !self.is_unnamed {
                return Ok(false);
            }
            let cause = format!("the times in `{}` cannot be put in order", self.name);
            let remedy = "write all of them as 2026-01-31T10:00:00 or in seconds, name the column that tells in which \
                          order rows were measured (--order), or remove this one";
            return Err(Trouble::new(cause, remedy));
        };
        if are_seconds(&numbers) {
            return Ok(is_called_so || rise(&numbers, rows));
        }
        // What begins anew for each subject tells no order of them.
        let is_of_all =
            || self.fields.iter().collect::<BTreeSet<&str>>().len() == self.fields.len();
        Ok((is_called_so || SEQUENCES.contains(&id.as_str())) && is_of_all())
    }
}

/// Whether a column of this name holds times, or numbers the rows of the whole table.
pub(crate) fn holds_times(name: &str, fields: &ColumnText, rows: &[TableRow]) -> bool {
    matches!(Column::named(name, fields).holds_times(rows), Ok(true))
}

/// Whether a column of this name numbers the runs of the whole table.
pub(crate) fn numbers_runs(name: &str, fields: &ColumnText) -> bool {
    Column::named(name, fields).numbers_all()
}

/// `2026-01-31`, whatever follows.
fn is_date(text: &str) -> bool {
    let is_it = |(byte, pattern): (u8, u8)| match pattern {
        b'-' => matches!(byte, b'-' | b'/'),
        _ => byte.is_ascii_digit(),
    };
    text.len() >= 10 && text.bytes().zip(*b"0000-00-00").all(is_it)
}

/// Whether the numbers of each subject never fall, as those of a clock do not.
fn rise(numbers: &[f64], rows: &[TableRow]) -> bool {
    let mut last: BTreeMap<&str, f64> = BTreeMap::new();
    numbers.iter().zip(rows).all(|(number, row)| {
        let before = last.insert(&row.subject, *number);
        before.is_none_or(|before| before <= *number)
    })
}

/// Whether all of these are seconds since 1970, or the same part of one.
fn are_seconds(numbers: &[f64]) -> bool {
    let are_of = |scale: f64| numbers.iter().all(|number| SECONDS.contains(&(number / scale)));
    SCALES.into_iter().any(are_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{read, refusal};
    use crate::tidy::CSV;
    use std::fmt::Write;

    fn mapping(order: Option<&str>, replicate: &[&str], block: Option<&str>) -> Mapping {
        Mapping {
            subject: Some("s".to_owned()),
            values: vec![Mapping::value("v:lower").unwrap()],
            order: order.map(str::to_owned),
            replicate: replicate.iter().map(|name| (*name).to_owned()).collect(),
            block: block.map(str::to_owned),
            ..Mapping::default()
        }
    }

    /// The subjects in order of the rows, and what was noted.
    fn order(text: &str, mapping: &Mapping) -> (String, Vec<String>) {
        let table = read(&CSV, &[("x", text.as_bytes())], mapping).unwrap();
        (table.rows.iter().map(|row| row.subject.as_str()).collect(), table.notes)
    }

    #[test]
    fn a_column_of_times_is_the_order_though_nobody_named_it() {
        let unnamed = mapping(None, &[], None);
        for (name, times) in [
            ("timestamp", ["1700000000", "1700000600", "1700000060", "1700000660"]),
            (
                "at",
                ["2026-01-01 10:00", "2026-01-01 10:10", "2026-01-01 10:01", "2026-01-01 10:11"],
            ),
            ("noticed", ["1700000000.5", "1700000600.5", "1700000060.5", "1700000660.5"]),
            ("x", ["1700000000000", "1700000600000", "1700000060000", "1700000660000"]),
            ("start", ["0", "10.5", "1", "11.5"]),
            ("seq", ["1", "3", "2", "4"]),
        ] {
            let [a, b, c, d] = times;
            let text = format!("s,{name},v\na,{a},1\nb,{b},2\na,{c},3\nb,{d},4\n");
            let (subjects, notes) = order(&text, &unnamed);
            assert_eq!(subjects, "aabb", "{name}");
            let told = format!(
                "rows are in the order of the times in {name}; --order names another column"
            );
            assert_eq!(notes, [told]);
            // What is named is what counts.
            assert_eq!(order(&text, &mapping(Some("v"), &[], None)).0, "abab", "{name}");
        }
        for (name, values) in [
            // A number that a metric may have, in no order.
            ("cpu_ns", ["1700000000", "1690000600", "1680000060", "1710000660"]),
            // What begins anew for each subject, and what is a duration.
            ("start", ["0", "0", "1", "1"]),
            ("time", ["0.5", "0.9", "0.2", "0.1"]),
            ("run", ["1", "1", "2", "2"]),
        ] {
            let [a, b, c, d] = values;
            let text = format!("s,{name},v\na,{a},1\nb,{b},2\na,{c},3\nb,{d},4\n");
            let (subjects, notes) = order(&text, &unnamed);
            assert_eq!(subjects, "abab", "{name}");
            let told =
                format!("nobody named these columns, and no value of them was judged: {name}");
            assert_eq!(notes, [told]);
        }
        let blocks = "s,day,v\nb,2026-01-02,1\na,2026-01-02,2\na,2026-01-01,3\nb,2026-01-01,4\n";
        assert_eq!(order(blocks, &mapping(None, &[], Some("day"))).0, "abba");
    }

    #[test]
    fn numbers_of_runs_that_no_two_rows_share_are_the_order_of_shuffled_rows() {
        let text = |name: &str, numbers: [&str; 6]| {
            let rows = ["a", "b", "a", "b", "a", "b"].into_iter().zip(numbers).enumerate();
            let row = |(at, (s, number)): (usize, (&str, &str))| format!("{s},{number},1{at}\n");
            format!("s,{name},v\n{}", rows.map(row).collect::<String>())
        };
        let unnamed = mapping(None, &[], None);
        let shuffled = ["2", "5", "1", "6", "3", "4"];
        for name in ["run", "Trial", "iteration", "run_id"] {
            let (subjects, notes) = order(&text(name, shuffled), &unnamed);
            assert_eq!(subjects, "aaabbb", "{name}");
            let told = format!(
                "rows are in the order of the numbers in {name}; --order names another column"
            );
            assert_eq!(notes, [told]);
        }
        // Named as executions, too, and not where it is no number of all rows, or already the order.
        let named = mapping(None, &["run"], None);
        assert_eq!(order(&text("run", shuffled), &named).0, "aaabbb");
        for (name, numbers) in [
            ("run", ["3", "3", "1", "1", "2", "2"]),
            ("run", ["200", "500", "100", "600", "300", "400"]),
            ("run", ["r2", "r5", "r1", "r6", "r3", "r4"]),
            ("run", ["1", "2", "3", "4", "5", "6"]),
            ("run", ["3", "6", "2", "7", "4", "5"]),
            ("measurement", shuffled),
            ("seed", shuffled),
        ] {
            assert_eq!(order(&text(name, numbers), &unnamed).0, "ababab", "{name} {numbers:?}");
        }
        // Two columns that number the rows unlike tell nothing.
        let both = "s,run,trial,v\na,3,1,1\nb,1,3,2\na,4,2,3\nb,2,4,4\n";
        assert_eq!(order(both, &unnamed).0, "abab");
    }

    #[test]
    fn times_without_an_order_are_refused() {
        let unnamed = mapping(None, &[], None);
        let refused = |text: &str| refusal(&CSV, text.as_bytes(), &unnamed);
        assert_eq!(
            refused("s,started,v\na,noon,1\nb,one,2\n"),
            "the times in `started` cannot be put in order"
        );
        let two = "s,first,last,v\na,2026-01-01,2026-01-04,1\nb,2026-01-02,2026-01-03,2\n";
        assert_eq!(
            refused(two),
            "the columns `first` and `last` hold times, and put the rows in different orders"
        );
        // Two that agree are one.
        let alike = two.replace("-04", "-02");
        assert_eq!(order(&alike, &unnamed).0, "ab");
    }

    /// Ten rows of each of two subjects.
    fn table(name: &str, of_row: impl Fn(u32) -> u32) -> String {
        let mut text = format!("s,{name},run,v\n");
        for row in 0..10 {
            for subject in ["a", "b"] {
                writeln!(text, "{subject},{},{},{}", of_row(row), row / 5, 100 + row).unwrap();
            }
        }
        text
    }

    #[test]
    fn parts_of_an_execution_are_no_replicates() {
        for name in ["thread", "CPU", "cgroup", "part"] {
            let text = table(name, |row| row);
            let refused = |mapping: &Mapping| refusal(&CSV, text.as_bytes(), mapping);
            assert_eq!(
                refused(&mapping(None, &[], None)),
                format!("the column `{name}` tells rows apart as parts of an execution do")
            );
            let parts =
                format!("the column `{name}` names parts of an execution, which are no replicates");
            assert_eq!(refused(&mapping(None, &[name], None)), parts);
            assert_eq!(refused(&mapping(None, &[], Some(name))), parts);
            // Beside an execution they are none either; of one that is named they are averaged.
            assert_eq!(refused(&mapping(None, &["run", name], None)), parts);
            order(&text, &mapping(None, &["run"], None));
            let parameter =
                Mapping { parameters: vec![name.to_owned()], ..mapping(None, &[], None) };
            order(&text, &parameter);
            // One CPU for all is no part.
            let refused = refusal(&CSV, table(name, |_| 3).as_bytes(), &mapping(None, &[], None));
            assert!(refused.contains("`run`"), "{refused}");
        }
    }

    #[test]
    fn parts_are_known_by_what_they_are_called_with_a_number_or_without() {
        for name in
            ["thread_id", "ThreadId", "CPU no", "core-nr", "pid", "process", "NUMA node", "queue"]
        {
            let text = table(name, |row| row % 2);
            let found = refusal(&CSV, text.as_bytes(), &mapping(None, &["run", name], None));
            assert!(found.contains("names parts of an execution"), "{name}: {found}");
        }
        // An execution has a process of its own, and nobody said that it names one.
        let text = "s,pid,v\na,101,1\nb,102,2\na,103,3\nb,104,4\n";
        assert_eq!(order(text, &mapping(None, &[], None)).0, "abab");
    }

    #[test]
    fn what_one_execution_sends_is_no_replicate_though_it_is_numbered_on() {
        let names = EXCHANGED.into_iter().chain(["Packet ID", "request_nr", "conn_id", "seq-no"]);
        for name in names {
            for is_numbered_on in [false, true] {
                let text = clients(name, is_numbered_on);
                for mapping in [
                    mapping(None, &[name], None),
                    mapping(None, &["run", name], None),
                    mapping(None, &[], Some(name)),
                ] {
                    let told = format!(
                        "the column `{name}` names parts of an execution, which are no replicates"
                    );
                    assert_eq!(refusal(&CSV, text.as_bytes(), &mapping), told);
                    let stated = Mapping { independent: vec![name.to_owned()], ..mapping };
                    let table = read(&CSV, &[("x", text.as_bytes())], &stated).unwrap();
                    assert!(table.parts.is_empty(), "{name}: the user's word");
                }
            }
            // Where nobody named anything, what begins anew for each subject counts no executions.
            let alone = clients(name, false).replacen(",run,", ",x,", 1);
            let unnamed = mapping(None, &[], None);
            assert_eq!(read(&CSV, &[("x", alone.as_bytes())], &unnamed).unwrap().parts, [name]);
        }
        // Times of a clock are no parts.
        let text = "s,epoch,v\na,1700000000,1\nb,1700000060,2\na,1700000120,3\nb,1700000180,4\n";
        order(text, &mapping(None, &["epoch"], None));
    }

    #[test]
    fn a_number_of_rows_is_one_with_blanks_or_a_point_too() {
        for text in [
            "s,index,v\na, 1,1\nb, 1,2\na, 2,3\nb, 2,4\n",
            "s,index,v\na,1.0,1\nb,1.0,2\na,2.0,3\nb,2.0,4\n",
        ] {
            let told = refusal(&CSV, text.as_bytes(), &mapping(None, &["index"], None));
            assert!(told.contains("another number in each row"), "{told}");
        }
    }

    #[test]
    fn a_number_of_rows_is_no_replicate_and_no_block() {
        let names = NUMBERED.into_iter().chain(["Client ID", "session_no", "batch-nr"]);
        for name in names {
            for is_numbered_on in [false, true] {
                let text = clients(name, is_numbered_on);
                for mapping in [
                    mapping(None, &[name], None),
                    mapping(None, &["run", name], None),
                    mapping(None, &[], Some(name)),
                ] {
                    let told = format!(
                        "the column `{name}` has another number in each row of a subject, and nothing shows \
                         whether these are executions or parts of one"
                    );
                    assert_eq!(refusal(&CSV, text.as_bytes(), &mapping), told);
                    let stated = Mapping { independent: vec![name.to_owned()], ..mapping };
                    let table = read(&CSV, &[("x", text.as_bytes())], &stated).unwrap();
                    assert!(table.parts.is_empty(), "{name}: the user's word");
                }
                // Of an execution that is named they are averaged.
                order(&text, &mapping(None, &["run"], None));
            }
            // Where nobody named anything, what begins anew for each subject counts no executions.
            let alone = clients(name, false).replacen(",run,", ",x,", 1);
            let unnamed = mapping(None, &[], None);
            assert_eq!(read(&CSV, &[("x", alone.as_bytes())], &unnamed).unwrap().parts, [name]);
        }
    }

    #[test]
    fn a_column_of_that_name_that_numbers_no_rows_may_tell_executions_apart() {
        for name in ["index", "session", "batch"] {
            // Several rows of each, names instead of numbers, and times of a clock.
            let several = table(name, |row| row / 2);
            order(&several, &mapping(None, &[name], None));
            let named = format!("s,{name},v\na,x,1\nb,x,2\na,y,3\nb,y,4\n");
            order(&named, &mapping(None, &[name], None));
            order(&named, &mapping(None, &[], Some(name)));
            let times = format!("s,{name},v\na,1700000000,1\nb,1700000060,2\na,1700000120,3\n");
            order(&times, &mapping(None, &[name], None));
        }
        // What is called as executions are may have a number in each row.
        for name in ["run", "rep", "repetition", "trial", "block", "boot"] {
            for is_numbered_on in [false, true] {
                let text = clients(name, is_numbered_on).replacen(",run,", ",x,", 1);
                order(&text, &mapping(None, &[name], None));
                order(&text, &mapping(None, &[], Some(name)));
            }
        }
    }

    #[test]
    fn what_one_execution_repeats_is_no_replicate_and_no_block() {
        for name in
            ["iteration", "Iterations", "iter", "iter_no", "invocation", "sample", "warm-up"]
        {
            let text = table(name, |row| row);
            for mapping in [
                mapping(None, &[name], None),
                mapping(None, &["run", name], None),
                mapping(None, &[], Some(name)),
            ] {
                assert_eq!(
                    refusal(&CSV, text.as_bytes(), &mapping),
                    format!(
                        "the column `{name}` names parts of an execution, which are no replicates"
                    )
                );
            }
            // Of an execution that is named they are averaged.
            order(&text, &mapping(None, &["run"], None));
            // Where nobody named anything, rows that it alone tells apart may be parts of one.
            let alone = clients(name, false).replacen(",run,", ",x,", 1);
            let unnamed = mapping(None, &[], None);
            assert_eq!(read(&CSV, &[("x", alone.as_bytes())], &unnamed).unwrap().parts, [name]);
        }
    }

    #[test]
    fn a_machine_is_no_execution_but_by_the_users_word() {
        let told = |text: &str, mapping: &Mapping| {
            let table = read(&CSV, &[("x", text.as_bytes())], mapping).unwrap();
            let of_level =
                |caveat: &&model::Caveat| caveat.code == model::CaveatCode::ReplicateLevelUnknown;
            let details = table.caveats.iter().filter(of_level).map(|caveat| caveat.detail.clone());
            (details.collect::<Vec<String>>(), table.parts)
        };
        for name in ["host", "Hostname", "machine_id"] {
            let machines = format!(
                "columns of machines, which may be unlike each other whatever they ran: {name}"
            );
            let shared = format!(
                "columns whose levels every subject has, and which nothing shows to be executions: {name}"
            );
            for mapping in [
                mapping(None, &[name], None),
                mapping(None, &["run", name], None),
                mapping(None, &[], Some(name)),
            ] {
                // On the same machines, and on machines of their own, which may be the difference.
                let (details, parts) = told(&clients(name, false), &mapping);
                assert_eq!(details, [machines.clone(), shared.clone()]);
                assert_eq!(parts, [name]);
                let (details, parts) = told(&clients(name, true), &mapping);
                assert_eq!(details, std::slice::from_ref(&machines));
                assert_eq!(parts, [""; 0]);
                let stated = Mapping { independent: vec![name.to_owned()], ..mapping };
                for is_unlike in [false, true] {
                    assert_eq!(told(&clients(name, is_unlike), &stated).0, [""; 0]);
                }
            }
            let (details, _) = told(&clients(name, true), &mapping(None, &["run"], None));
            assert_eq!(details, [""; 0], "nobody said that it tells executions apart");
        }
    }

    #[test]
    fn a_column_that_is_crossed_with_executions_may_tell_their_parts_apart() {
        let doubts = |name: &str, of_row: fn(u32) -> u32| -> Vec<String> {
            let text = table(name, of_row);
            let mapping = mapping(None, &["run", name], None);
            let table = read(&CSV, &[("x", text.as_bytes())], &mapping).unwrap();
            table.caveats.into_iter().map(|caveat| caveat.detail).collect()
        };
        // Rows 0 to 4 are one run, and 5 to 9 another.
        assert_eq!(
            doubts("lane", |row| row % 5),
            ["columns that have the same levels in every execution, as its parts do: lane"]
        );
        assert_eq!(doubts("day", |row| row % 5), [""; 0], "a name of executions");
        assert_eq!(doubts("lane", |row| row), [""; 0], "each has its own");
        assert_eq!(doubts("lane", |_| 1), [""; 0], "it tells nothing apart");
    }

    /// One run of two subjects with ten clients each, the last of which may be another one.
    fn clients(name: &str, is_unlike: bool) -> String {
        let mut text = format!("s,run,{name},v\n");
        for client in 0..10 {
            let of_b = if is_unlike { client + 100 } else { client };
            writeln!(text, "a,1,{client},{}\nb,1,{of_b},{}", 100 + client, 103 + client).unwrap();
        }
        text
    }

    #[test]
    fn a_column_that_alone_names_executions_and_has_the_same_levels_for_all_may_be_parts_of_one() {
        let read =
            |text: &str, mapping: &Mapping| read(&CSV, &[("x", text.as_bytes())], mapping).unwrap();
        let doubts = |text: &str, mapping: &Mapping| -> Vec<String> {
            let of_level =
                |caveat: &model::Caveat| caveat.code == model::CaveatCode::ReplicateLevelUnknown;
            let caveats = read(text, mapping).caveats.into_iter().filter(of_level);
            caveats.map(|caveat| caveat.detail).collect()
        };
        let told = "columns whose levels every subject has, and which nothing shows to be executions: lane";
        let text = clients("lane", false);
        for mapping in [
            mapping(None, &["run", "lane"], None),
            mapping(None, &["lane"], None),
            mapping(None, &[], Some("lane")),
        ] {
            assert_eq!(doubts(&text, &mapping), [told]);
            assert_eq!(read(&text, &mapping).parts, ["lane"]);
            let stated = Mapping { independent: vec!["lane".to_owned()], ..mapping };
            assert_eq!(doubts(&text, &stated), [""; 0]);
            assert!(read(&text, &stated).parts.is_empty());
            let notes = read(&text, &stated).notes;
            let stated = "by the user's word, each lane is an execution of its own".to_owned();
            assert!(notes.contains(&stated), "{notes:?}");
        }
        // One that is missing for a subject makes executions of no others.
        let without_one = text.replace("b,1,9,112\n", "");
        assert_eq!(doubts(&without_one, &mapping(None, &["lane"], None)), [told]);
        // Of several runs that nobody named, each has all clients.
        let runs = format!("{text}{}", text.replace(",1,", ",2,").split_once('\n').unwrap().1);
        assert_eq!(
            doubts(&runs, &mapping(None, &["lane"], None)),
            ["columns that have the same levels in every execution, as its parts do: lane"]
        );
        for name in ["run_id", "rep", "launch", "seed", "time", "boot", "b", "trial nr", "id"] {
            for mapping in [mapping(None, &[name], None), mapping(None, &[], Some(name))] {
                let text = clients(name, false).replacen(",run,", ",x,", 1);
                assert_eq!(doubts(&text, &mapping), [""; 0], "{name}");
            }
        }
        let own = clients("lane", true);
        assert_eq!(doubts(&own, &mapping(None, &["lane"], None)), [""; 0], "each has its own");
    }

    #[test]
    fn a_column_that_nobody_named_and_that_each_subject_has_once_may_be_parts_of_an_execution() {
        let parts = |text: &str, mapping: &Mapping| {
            let table = read(&CSV, &[("x", text.as_bytes())], mapping).unwrap();
            let is_told = table.caveats.iter().any(|caveat| caveat.detail.ends_with(": client"));
            assert_eq!(is_told, !table.parts.is_empty());
            table.parts
        };
        let unnamed = mapping(None, &[], None);
        let text = clients("client", false);
        assert_eq!(parts(&text, &unnamed), ["client"]);
        // A workload that nobody named as a parameter has the same shape, and is no replicate either.
        let parameter =
            Mapping { parameters: vec!["client".to_owned()], ..mapping(None, &[], None) };
        assert_eq!(parts(&text, &parameter), [""; 0]);
        assert_eq!(parts(&text, &mapping(None, &["run"], None)), [""; 0], "its parts are averaged");
        for name in ["run_id", "launch", "seed", "started", "id"] {
            let text = clients(name, false).replacen(",run,", ",x,", 1);
            assert_eq!(parts(&text, &unnamed), [""; 0], "{name}");
        }
        assert_eq!(parts(&clients("client", true), &unnamed), [""; 0], "each has its own");
        // Each row is an execution by what another column is called.
        let runs = "s,run,client,v\na,1,x,1\nb,1,x,2\na,2,y,1\nb,2,y,2\na,3,z,1\nb,3,z,2\n";
        assert_eq!(parts(runs, &unnamed), [""; 0]);
    }

    #[test]
    fn what_files_of_one_subject_each_share_is_told_when_all_are_read() {
        let text = |first: u32| {
            let rows: String =
                (0..6).map(|row| format!("{},{}\n", first + row, 100 + row)).collect();
            format!("lane,v\n{rows}")
        };
        let parts = |of_a: &str, of_b: &str, replicate: &[&str]| {
            let mapping = Mapping { subject: None, ..mapping(None, replicate, None) };
            let files = [("a", of_a.as_bytes()), ("b", of_b.as_bytes())];
            let mut table = read(&CSV, &files, &mapping).unwrap();
            assert!(table.parts.is_empty(), "one file tells nothing");
            table.notice_shared_levels();
            table.parts
        };
        for replicate in [["lane"].as_slice(), &[]] {
            assert_eq!(parts(&text(0), &text(0), replicate), ["lane"]);
            assert_eq!(parts(&text(0), &text(100), replicate), [""; 0], "each has its own");
        }
    }

    #[test]
    fn what_is_said_to_be_independent_must_identify_executions() {
        let stated =
            Mapping { independent: vec!["run".to_owned()], ..mapping(None, &["client"], None) };
        let text = clients("client", false);
        assert_eq!(
            refusal(&CSV, text.as_bytes(), &stated),
            "`run` is said to be independent and identifies no execution or block"
        );
    }

    #[test]
    fn a_column_that_rows_are_sorted_by_must_be_named() {
        let text = table("size", |row| row % 2);
        let refused = refusal(&CSV, text.as_bytes(), &mapping(None, &[], None));
        let cause =
            "nobody said what the column `size` is, and each subject has rows of all its levels";
        assert_eq!(refused, cause);
        // A number of runs, of which each stands once, and a count that was measured are none.
        let counted = "s,run,errors,v\na,1,0,1\na,2,0,2\na,3,1,3\nb,1,0,1\nb,2,0,2\nb,3,0,3\n";
        let (_, notes) = order(counted, &mapping(None, &[], None));
        assert_eq!(
            notes,
            ["nobody named these columns, and no value of them was judged: run, errors"]
        );
    }
}
