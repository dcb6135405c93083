//! What every format is read into: rows of samples with their places.

use crate::counted_shares::CountedShares;
use crate::last_digits::LastDigits;
use crate::metrics::metric_id;
use crate::origins::{FileOrigins, SAID};
use crate::post_hoc::ImportChoices;
use crate::run_numbers::RunNumbers;
use crate::shared_levels::SharedLevels;
use crate::shown::both_ends;
use crate::started::{ExecutionTimes, StartedExecutions};
use crate::subject_columns::{REMEDY, SESSIONS_REMEDY, SubjectColumns};
use crate::table_row::TableRow;
use crate::time_order::ToolTimes;
use crate::tool_settings::ToolSettings;
use crate::unnamed_kinds::UnnamedKinds;
use model::{
    Caveat, CaveatCode, DecidingFact, DecidingFacts, Direction, IMPORT_EXPANSION,
    IMPORT_FREE_BYTES, IMPORT_HELD, IMPORT_LOOKUPS, IMPORT_METRICS, IMPORT_ROWS, IMPORT_VALUES,
    ImportFact, Metric, OverLimit, Reduction, Sample, SharedName, Unit,
};
use outputs::Trouble;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// Nobody reads more dimensions than these.
pub(crate) const MOST_DIMENSIONS: usize = 20;
/// A caveat names as many things as this.
const MOST_ITEMS: usize = 12;
/// A caveat names a thing with as many characters.
const LONGEST_ITEM: usize = 280;
/// What stands for the things that a caveat does not name.
const MORE: &str = "…";
/// Said of columns that may hold settings.
const UNLIKE_COLUMNS: &str =
    "columns that nobody named and that have another value for one subject than for another";
/// Said of columns of sessions.
const OWN_SESSIONS: &str = "subjects that were measured in sessions of their own, so that what changed between these \
                            looks like a difference between the subjects";
/// Said where there are too many of them.
const NOT_COMPARED: &str =
    "columns that nobody named were not compared between subjects: there are too many";
/// The same of columns of sessions.
const SESSIONS_NOT_COMPARED: &str =
    "columns of sessions were not compared between subjects: there are too many";
/// Bytes of a row until its import is reported, without its values: its record, which holds an only
/// value in place, and its place among all (reckoned from the sizes of the types; what a question is
/// judged in is freed before the values are made that reports show).
const ROW_BYTES: u64 = 112;
/// The same of a value: what it is reduced to while it is judged, and then twice what reports show of it.
const VALUE_BYTES: u64 = 144;
/// The same of a name that no row before it has.
const NAME_BYTES: u64 = 80;
/// Longest name of a subject or level.
const LONGEST_NAME: usize = 200;

/// What is said of a file of which there is more than a limit allows.
pub(crate) fn over(over: OverLimit) -> Trouble {
    Trouble::new(over.to_string(), over.limit.remedy)
}

/// Everything the files hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedTable {
    /// Names of the parameters that tell workloads apart, in order.
    pub dimensions: Vec<String>,
    /// Those of them that one execution fixes; the others it covers.
    pub fixed: Vec<String>,
    /// Metrics in order of appearance.
    pub metrics: Vec<Metric>,
    /// Ids of the metrics that are judged; all of them where empty.
    pub primary: Vec<String>,
    /// Rows in the order they were measured, as far as the file tells.
    pub rows: Vec<TableRow>,
    /// What the importer noticed.
    pub caveats: Vec<Caveat>,
    /// What of it decides something.
    pub(crate) facts: DecidingFacts<ImportFact>,
    /// Columns that count as executions and may tell parts of one apart.
    pub parts: Vec<String>,
    /// Units that are not ours, by metric: values are shown as they stand.
    pub units: BTreeMap<String, String>,
    /// Whether the load waited for each answer.
    pub is_closed_loop: bool,
    /// What the last digits of a metric's values are worth, where they are written.
    pub(crate) last_digits: BTreeMap<String, LastDigits>,
    /// What the format would have done of itself.
    pub(crate) choices: ImportChoices,
    /// What files that schedlab wrote say of where their numbers come from.
    pub(crate) origins: FileOrigins,
    /// What else is told of the files, for people.
    pub notes: Vec<String>,
    /// What the tool says of how it was run.
    settings: ToolSettings,
    /// For how much of the time it says that it counted.
    shares: CountedShares,
    /// What it says of when its executions began and how long they took.
    started: StartedExecutions,
    /// When it says that each execution began or was written.
    times: ToolTimes,
    /// Whether these times tell the order of the rows.
    pub(crate) has_time_order: bool,
    /// What files of one subject have in columns of which only all files tell whether they are parts.
    pub(crate) levels: SharedLevels,
    /// What subjects have in columns that nobody named and that may hold settings.
    pub(crate) columns: SubjectColumns,
    /// The sessions that subjects were measured in.
    pub(crate) sessions: SubjectColumns,
    /// What rows have in columns that nobody named and that may tell kinds of rows apart.
    pub(crate) kinds: UnnamedKinds,
    /// The numbers of the runs of tables without blocks.
    pub(crate) numbers: RunNumbers,
    /// The files that are tables, in the order of their rows.
    pub(crate) files: Vec<TableFile>,
    /// Names in rows, and of what they measure: hundreds of thousands, whose order nobody asks for.
    names: HashSet<SharedName>,
    /// Samples of all rows.
    values: u64,
    /// Bytes of all files that are read into it.
    file_bytes: u64,
    /// Bytes of the values of JSON from which rows are made.
    document_bytes: u64,
}

/// A file that is a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TableFile {
    /// Its first row among all.
    pub first: usize,
    /// Whether one of its columns tells in which order the subjects were measured.
    pub tells_order: bool,
}

/// What was measured at one place of one execution.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedRow {
    /// The subject.
    pub subject: String,
    /// A level of each dimension.
    pub levels: Vec<String>,
    /// The execution it belongs to; each row is its own where nobody knows.
    pub execution: Option<String>,
    /// The block, where there are blocks.
    pub block: Option<String>,
    /// What was measured; empty where it failed.
    pub samples: Vec<Sample>,
    /// Why it failed, where it did.
    pub failure: Option<String>,
}

/// The names of a row, where they stand.
pub(crate) struct RowNames<'a> {
    /// The subject.
    pub subject: &'a str,
    /// A level of each dimension.
    pub levels: Vec<&'a str>,
    /// The execution it belongs to.
    pub execution: Option<Cow<'a, str>>,
    /// The block.
    pub block: Option<&'a str>,
}

impl ImportedTable {
    /// An empty one, into which files of so many bytes together are read.
    pub(crate) fn of_files(file_bytes: u64) -> Self {
        Self { file_bytes, ..Self::default() }
    }

    /// Sets the dimensions, which every file of an import must share.
    ///
    /// # Errors
    /// When an earlier file has others.
    pub fn declare(&mut self, dimensions: &[&str], fixed: &[&str]) -> Result<(), Trouble> {
        let owned =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        if dimensions.len() >= MOST_DIMENSIONS {
            let cause = format!("{} parameters or more tell workloads apart", dimensions.len());
            return Err(Trouble::new(cause, "import a part with fewer of them"));
        }
        for (index, name) in dimensions.iter().enumerate() {
            if dimensions[..index].contains(name) {
                let cause = format!("two parameters are called {name}");
                return Err(Trouble::new(cause, "rename one of them"));
            }
        }
        if self.rows.is_empty() {
            self.dimensions = owned(dimensions);
            self.fixed = owned(fixed);
        } else if self.dimensions != dimensions {
            let cause = format!(
                "its parameters are {}, and those of the files before it {}",
                dimensions.join(", "),
                self.dimensions.join(", ")
            );
            return Err(Trouble::new(cause, "import files of one shape together"));
        }
        Ok(())
    }

    /// Notes a unit that is not one of ours.
    ///
    /// # Errors
    /// When the metric came in another one before: nobody can convert between them.
    pub fn foreign_unit(&mut self, metric: &str, unit: &str) -> Result<(), Trouble> {
        let known = match self.units.get(metric) {
            Some(known) => known,
            None => self.units.entry(metric.to_owned()).or_insert_with(|| unit.to_owned()),
        };
        if known == unit {
            return Ok(());
        }
        let shown =
            |unit: &str| if unit.is_empty() { "no unit".to_owned() } else { format!("`{unit}`") };
        let cause = format!("`{metric}` is in {} here and in {} before", shown(unit), shown(known));
        Err(Trouble::new(cause, "give all its values in one unit"))
    }

    /// Takes out dimensions of which every row has the same level: they tell nothing
    /// apart, and would be margins that repeat the whole. What they were, in words.
    pub(crate) fn drop_constant_dimensions(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        for index in (0..self.dimensions.len()).rev() {
            let level = self.rows.first().map(|row| row.levels[index].clone());
            let is_constant =
                self.rows.iter().all(|row| Some(&row.levels[index]) == level.as_ref());
            if let (true, Some(level)) = (is_constant, level) {
                let name = self.dimensions.remove(index);
                self.fixed.retain(|fixed| *fixed != name);
                for row in &mut self.rows {
                    row.levels.remove(index);
                }
                said.push(format!("{name} is {level} everywhere"));
            }
        }
        said.reverse();
        said
    }

    /// Makes a metric known and returns its id. The name is turned into one.
    ///
    /// # Errors
    /// When it is known with another name, direction or unit.
    pub fn metric(
        &mut self,
        name: &str,
        unit: Unit,
        direction: Direction,
        reduction: Reduction,
    ) -> Result<String, Trouble> {
        self.know(Metric::new(metric_id(name), unit, direction, reduction, name))
    }

    /// Makes a metric known and returns its id.
    ///
    /// # Errors
    /// When it is known with another name, direction, unit or reduction.
    pub fn know(&mut self, metric: Metric) -> Result<String, Trouble> {
        let id = metric.id.clone();
        let Some(known) = self.metrics.iter().find(|known| known.id == id) else {
            IMPORT_METRICS.check(self.metrics.len() as u64 + 1).map_err(over)?;
            self.metrics.push(metric);
            return Ok(id);
        };
        let name = &metric.summary;
        if (known.unit, known.direction) != (metric.unit, metric.direction) {
            let cause = format!("`{name}` has another unit or direction than before");
            return Err(Trouble::new(cause, "give it one unit and one direction"));
        }
        if known.reduction != metric.reduction || known.source != metric.source {
            let cause = format!("`{name}` is summarised in another way than before");
            return Err(Trouble::new(cause, "import files of one shape together"));
        }
        if known.summary != *name {
            let cause = format!("`{name}` and `{}` would both be called {id}", known.summary);
            return Err(Trouble::new(cause, "rename one of them"));
        }
        Ok(id)
    }

    /// Makes a known metric one of those that are judged.
    pub fn judge(&mut self, id: &str) {
        if !self.primary.iter().any(|known| known == id) {
            self.primary.push(id.to_owned());
        }
    }

    /// A name that no execution before has, whichever file it came from.
    pub fn next_execution(&self) -> String {
        self.rows.len().to_string()
    }

    /// Says once for the whole table what happened to all of `items`.
    pub fn notice(&mut self, code: CaveatCode, what: &str, item: &str) {
        let item = both_ends(&item.replace(", ", ","), LONGEST_ITEM);
        let known = self.caveats.iter_mut().find(|caveat| {
            caveat.code == code
                && caveat.detail.strip_prefix(what).is_some_and(|rest| rest.starts_with(": "))
        });
        let Some(caveat) = known else {
            self.caveats.push(Caveat::new(code, format!("{what}: {item}")));
            return;
        };
        let items = caveat.detail[what.len() + 2..].split(", ");
        let (count, is_known) = items.fold((0, false), |(count, is_known), known| {
            (count + 1, is_known || known == item || known == MORE)
        });
        if !is_known {
            caveat.detail.push_str(", ");
            caveat.detail.push_str(if count < MOST_ITEMS { &item } else { MORE });
        }
    }

    /// Establishes a fact, and says of what it is one.
    pub(crate) fn establish(&mut self, fact: ImportFact, what: &str, item: &str) {
        self.notice(fact.caveat_code(), what, item);
        self.facts.establish(fact);
    }

    /// Says of a column that counts as executions that it may tell parts of one apart, which leaves no
    /// verdict.
    pub(crate) fn notice_parts(&mut self, what: &str, column: &str) {
        self.establish(ImportFact::UnknownReplicates, what, column);
        let column = both_ends(column, LONGEST_ITEM);
        if self.parts.len() < MOST_ITEMS && !self.parts.contains(&column) {
            self.parts.push(column);
        }
    }

    /// The same of the columns of which all files together tell it.
    pub(crate) fn notice_shared_levels(&mut self) {
        let levels = std::mem::take(&mut self.levels);
        levels.found().for_each(|(what, column)| self.notice_parts(what, column));
    }

    /// Notes what the last digit of a value is worth.
    pub(crate) fn last_digit(&mut self, metric: &str, digit: f64) {
        match self.last_digits.get_mut(metric) {
            Some(digits) => digits.add(digit),
            None => self.last_digits.entry(metric.to_owned()).or_default().add(digit),
        }
    }

    /// Tells something once, whichever files it is true of.
    pub(crate) fn note(&mut self, told: String) {
        if !self.notes.contains(&told) {
            self.notes.push(told);
        }
    }

    /// Notes how a tool says that it was run in one execution of a subject.
    pub fn settings(&mut self, subject: &str, settings: &BTreeMap<String, String>) {
        self.settings.add(subject, settings);
    }

    /// Says which settings differ between subjects of which the tool states any, and which columns that
    /// nobody named do.
    pub fn compare_settings(&mut self) {
        for difference in std::mem::take(&mut self.settings).differences() {
            self.establish(ImportFact::UnlikeSettings, "by the tool's own words", &difference);
        }
        let columns = std::mem::take(&mut self.columns);
        self.notice_differences(UNLIKE_COLUMNS, columns.differences(), REMEDY);
        let sessions = std::mem::take(&mut self.sessions);
        self.notice_differences(OWN_SESSIONS, sessions.all_differences(), SESSIONS_REMEDY);
        for (compared, told) in [(&columns, NOT_COMPARED), (&sessions, SESSIONS_NOT_COMPARED)] {
            if compared.is_cut() {
                self.note(told.to_owned());
            }
        }
    }

    /// Says of all columns that differ what they are, and what to do about them.
    fn notice_differences(&mut self, what: &str, differences: Vec<String>, remedy: &str) {
        for difference in &differences {
            self.establish(ImportFact::UnlikeSettings, what, difference);
        }
        let told = self.caveats.iter_mut().find(|one| one.detail.starts_with(what));
        if let Some(caveat) = told.filter(|_| !differences.is_empty()) {
            caveat.detail.push_str(remedy);
        }
    }

    /// Notes for what share of the time, in percent, a metric was counted in one execution.
    pub(crate) fn counted_share(&mut self, metric: &str, percent: f64) {
        self.shares.add(metric, percent);
    }

    /// Tells which metrics were counted for a part of the time only.
    pub(crate) fn note_counted_shares(&mut self) {
        if let Some(told) = std::mem::take(&mut self.shares).told() {
            self.note(told);
        }
    }

    /// Notes what a tool says of the times of an execution of a subject.
    ///
    /// # Errors
    /// Why it is evidently no execution of its own.
    pub(crate) fn note_times(
        &mut self,
        subject: &str,
        times: ExecutionTimes,
    ) -> Result<(), String> {
        self.started.add(subject, times)
    }

    /// Notes when a tool says that an execution began, or that it wrote what it measured, in milliseconds
    /// since 1970 by one clock: this is asked before its rows are appended.
    pub(crate) fn note_time(&mut self, execution: &str, at_ms: Option<i64>) {
        self.times.note(execution, at_ms);
    }

    /// Puts all rows in the order of these times, where they tell it.
    pub(crate) fn put_in_time_order(&mut self) {
        let times = std::mem::take(&mut self.times);
        self.has_time_order = times.put_in_order(&mut self.rows);
        if self.has_time_order {
            self.note("executions are in the order of the times that the files hold".to_owned());
        }
    }

    /// Says of which subjects files may be parts of one execution.
    pub(crate) fn notice_simultaneous(&mut self) {
        let started = std::mem::take(&mut self.started);
        for (what, subjects) in [
            (
                "files that began in the same second and may be parts of one execution",
                started.unsure(),
            ),
            (
                "files that do not say when they began and may be parts of one execution",
                started.without_beginning(),
            ),
        ] {
            for subject in subjects {
                self.establish(ImportFact::UnknownReplicates, what, &subject);
            }
        }
    }

    /// Says of which subjects values were not measured on a real processor or device.
    pub(crate) fn notice_origins(&mut self) {
        let origins = std::mem::take(&mut self.origins);
        let before = self.caveats.len();
        origins.of_import().for_each(|(code, subject)| self.notice(code, SAID, subject));
        // The caveats of the file are what it says; those of it that decide are facts from here on.
        let said = self.caveats.iter().skip(before);
        let said: Vec<ImportFact> = said.filter_map(ImportFact::said_by).collect();
        said.into_iter().for_each(|fact| self.facts.establish(fact));
        self.origins = origins;
    }

    /// Appends a row.
    ///
    /// # Errors
    /// When there are too many, or a name is empty, too long or no text.
    pub fn push(&mut self, line: Option<u64>, row: ImportedRow) -> Result<(), Trouble> {
        let ImportedRow { subject, levels, execution, block, mut samples, failure } = row;
        for sample in &mut samples {
            sample.source = self.shared(&sample.source);
        }
        let names = RowNames {
            subject: &subject,
            levels: levels.iter().map(String::as_str).collect(),
            execution: execution.as_deref().map(Cow::Borrowed),
            block: block.as_deref(),
        };
        self.push_named(line, &names, samples)?;
        if let Some(row) = self.rows.last_mut() {
            row.failure = failure;
        }
        Ok(())
    }

    /// Appends a row that did not fail, and whose samples have sources of this table
    /// ([`Self::shared`]).
    ///
    /// # Errors
    /// Like [`Self::push`].
    pub(crate) fn push_named(
        &mut self,
        line: Option<u64>,
        names: &RowNames<'_>,
        samples: Vec<Sample>,
    ) -> Result<(), Trouble> {
        let trouble =
            |cause: String, remedy: &str| Trouble { line, cause, remedy: remedy.to_owned() };
        IMPORT_ROWS
            .check(self.rows.len() as u64 + 1)
            .and_then(|()| self.check_values(samples.len() as u64))
            .and_then(|()| self.check_expansion(samples.len() as u64))
            .map_err(|over| trouble(over.to_string(), over.limit.remedy))?;
        let all = [names.subject].into_iter().chain(names.levels.iter().copied());
        let mut all = all.chain(names.execution.as_deref()).chain(names.block);
        if let Some(name) = all.find(|name| !is_name(name)) {
            let shown: String = name.chars().take(40).collect();
            let cause = format!("{shown:?} is no name of a subject, level or execution");
            return Err(trouble(cause, "names are one line of 1 to 200 characters"));
        }
        let row = TableRow {
            subject: self.shared(names.subject),
            levels: names.levels.iter().map(|level| self.shared(level)).collect(),
            execution: names.execution.as_deref().map(|execution| self.shared(execution)),
            block: names.block.map(|block| self.shared(block)),
            samples: samples.into(),
            failure: None,
        };
        self.values += row.samples.len() as u64;
        self.rows.push(row);
        Ok(())
    }

    /// Whether there may be so many values more. The metrics are those that are known by now.
    fn check_values(&self, more: u64) -> Result<(), OverLimit> {
        let values = self.values.saturating_add(more);
        IMPORT_VALUES.check(values)?;
        IMPORT_LOOKUPS.check(values.saturating_mul(self.metrics.len() as u64))
    }

    /// Notes that a file is held as values of JSON, of so many bytes, while its rows are appended.
    ///
    /// # Errors
    /// When that is too much beside the files and the rows before.
    pub(crate) fn hold_document(&mut self, bytes: u64) -> Result<(), Trouble> {
        self.document_bytes = bytes;
        self.check_held(self.needed(0, 0)).map_err(over)
    }

    /// Notes that rows are all that is held of the files read so far.
    pub(crate) fn release_document(&mut self) {
        self.document_bytes = 0;
    }

    /// The bytes reckoned for what is held beside a file of so many: the other files, and the rows so far.
    pub(crate) fn held_beside(&self, file_bytes: usize) -> u64 {
        self.file_bytes.saturating_sub(file_bytes as u64).saturating_add(self.needed(0, 0))
    }

    /// Whether rows that need so much may be held beside the values that they are made from.
    fn check_held(&self, needed: u64) -> Result<(), OverLimit> {
        if self.document_bytes == 0 {
            return Ok(());
        }
        let read = self.file_bytes.saturating_add(self.document_bytes);
        IMPORT_HELD.check(read.saturating_add(needed))
    }

    /// The bytes that are reckoned for all rows and so many more, of so many values.
    fn needed(&self, rows: u64, values: u64) -> u64 {
        let rows = rows.saturating_add(self.rows.len() as u64);
        // A row without a value says why it failed, and takes as much while its record is stored.
        let values = VALUE_BYTES.saturating_mul(self.values.saturating_add(values).max(rows));
        let rows = ROW_BYTES.saturating_mul(rows);
        let names = NAME_BYTES.saturating_mul(self.names.len() as u64);
        rows.saturating_add(values).saturating_add(names)
    }

    /// Whether there may be one row more, of so many values, for the size of the files.
    fn check_expansion(&self, values: u64) -> Result<(), OverLimit> {
        let needed = self.needed(1, values);
        self.check_held(needed)?;
        let beyond = needed.saturating_sub(IMPORT_FREE_BYTES);
        IMPORT_EXPANSION.check(beyond.div_ceil(self.file_bytes.max(1)))
    }

    /// Takes the rows. Names are held by them alone from then on, since no row follows.
    pub(crate) fn take_rows(&mut self) -> Vec<TableRow> {
        self.names = HashSet::new();
        std::mem::take(&mut self.rows)
    }

    /// A name, held once.
    pub(crate) fn shared(&mut self, name: &str) -> SharedName {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name = SharedName::from(name);
        self.names.insert(name.clone());
        name
    }
}

/// Whether this is one line of text that may name something.
fn is_name(name: &str) -> bool {
    // What most names are made of has one byte each.
    let is_plain = name.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_short = name.len() <= LONGEST_NAME && is_plain;
    !name.is_empty()
        && (is_short || name.chars().count() <= LONGEST_NAME && !name.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_that_would_become_one_id_are_refused() {
        let mut table = ImportedTable::default();
        let mut metric = |name| table.metric(name, Unit::Count, Direction::Lower, Reduction::Mean);
        assert_eq!(metric("page-faults"), Ok("page_faults".to_owned()));
        assert_eq!(metric("page-faults"), Ok("page_faults".to_owned()));
        assert!(metric("page faults").unwrap_err().cause.contains("page_faults"));
    }

    #[test]
    fn values_times_metrics_are_refused_by_the_name_of_the_limit() {
        let mut table = ImportedTable::default();
        assert_eq!(table.check_values(IMPORT_VALUES.most), Ok(()));
        let over = table.check_values(IMPORT_VALUES.most + 1).unwrap_err();
        assert!(over.to_string().contains("limit IMPORT_VALUES"), "{over}");
        for number in 0..990 {
            let metric =
                table.metric(&format!("m{number}"), Unit::Count, Direction::Lower, Reduction::Mean);
            assert!(metric.is_ok(), "{metric:?}");
        }
        assert_eq!(table.check_values(990 * 100), Ok(()));
        assert_eq!(table.check_values(990 * 590).unwrap_err().limit, &IMPORT_LOOKUPS);
    }

    #[test]
    fn rows_and_the_json_that_they_are_made_from_are_refused_together_by_the_name_of_the_limit() {
        let files = IMPORT_HELD.most / 4;
        let mut table = ImportedTable::of_files(files);
        let held = 3 * files - ROW_BYTES - VALUE_BYTES;
        assert!(table.hold_document(held).is_ok());
        assert_eq!(table.check_expansion(1), Ok(()));
        assert!(table.hold_document(held + 1).is_ok());
        assert_eq!(table.check_expansion(1).unwrap_err().limit, &IMPORT_HELD);
        let cause = table.hold_document(3 * files + 1).unwrap_err().cause;
        assert!(cause.contains("limit IMPORT_HELD"), "{cause}");
        // What is in no file of JSON is held as its text alone.
        table.release_document();
        assert_eq!(table.check_expansion(1), Ok(()));
        assert_eq!(table.held_beside(1), files - 1);
    }

    #[test]
    fn more_metrics_than_an_import_may_have_are_refused_by_the_name_of_the_limit() {
        let mut table = ImportedTable::default();
        let mut metric = |number: u64| {
            table.metric(&format!("m{number}"), Unit::Count, Direction::Lower, Reduction::Mean)
        };
        for number in 0..IMPORT_METRICS.most {
            assert_eq!(metric(number), Ok(format!("m{number}")));
        }
        let cause = metric(IMPORT_METRICS.most).unwrap_err().cause;
        assert_eq!(cause, "more than 1000 metrics (limit IMPORT_METRICS): 1001 were found");
        assert!(metric(0).is_ok(), "it is known");
    }

    #[test]
    fn rows_values_and_names_are_refused_where_they_need_more_than_their_files_allow() {
        let refused = |bytes: u64, values: u64, names: u32| {
            let mut table = ImportedTable::of_files(bytes);
            (0..names).for_each(|name| drop(table.shared(&name.to_string())));
            table.check_expansion(values).is_err_and(|over| over.limit == &IMPORT_EXPANSION)
        };
        let free = (IMPORT_FREE_BYTES - ROW_BYTES) / VALUE_BYTES;
        assert!(!refused(0, free, 0), "free whatever the size");
        assert!(refused(0, free + 1, 0));
        assert!(!refused(1 << 20, free + (20 << 20) / VALUE_BYTES, 0), "20 for each byte");
        assert!(refused(1 << 20, free + (20 << 20) / VALUE_BYTES + 1, 0));
        assert!(refused(0, free, 2), "names count, too");
        let row = TableRow {
            subject: "a".into(),
            levels: Vec::new(),
            execution: None,
            block: None,
            samples: Vec::new().into(),
            failure: Some("exit_code 1".to_owned()),
        };
        let free = IMPORT_FREE_BYTES / (ROW_BYTES + VALUE_BYTES);
        let rows = vec![row.clone(); free as usize - 1];
        let mut table = ImportedTable { rows, ..ImportedTable::default() };
        assert_eq!(table.check_expansion(0), Ok(()));
        table.rows.push(row);
        let over = table.check_expansion(0).unwrap_err();
        assert_eq!(over.limit, &IMPORT_EXPANSION, "each row counts as one with a value");
    }

    #[test]
    fn a_notice_names_each_thing_once_and_not_too_many() {
        let mut table = ImportedTable::default();
        for _ in 0..2 {
            for index in 0..100 {
                table.notice(CaveatCode::AbsentValues, "left out", &format!("p{index}"));
            }
        }
        assert_eq!(
            table.caveats[0].detail,
            "left out: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, …"
        );
        assert_eq!(table.caveats.len(), 1);
    }

    #[test]
    fn a_notice_shows_both_ends_of_a_long_thing() {
        let mut table = ImportedTable::default();
        table.notice(CaveatCode::AbsentValues, "left out", &format!("{}-1", "p".repeat(400)));
        let detail = &table.caveats[0].detail;
        assert!(detail.ends_with("p-1") && detail.chars().count() < 300, "{detail}");
    }
}
