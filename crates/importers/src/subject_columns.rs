//! Columns of tables that nobody named and that have one value for each subject
//! (docs/method.md#m-parts): a number of threads, a size, a mode. Where two subjects have unlike ones,
//! it may not be the same work. Versions and dates describe a subject, and are not compared. Columns of
//! sessions are held the same way: one for each subject is one with the difference between them.

use crate::column_text::ColumnText;
use crate::table_row::TableRow;
use crate::tool_settings::ToolSettings;
use model::SharedName;
use std::collections::BTreeMap;

/// What to do about columns that differ.
pub(crate) const REMEDY: &str = "; where such a column is what is compared, name the subjects by it (--subject COLUMN) \
                                 or remove it from the table; where it is not, compare only rows that have the same \
                                 value in it";
/// What to do about sessions of one subject each.
pub(crate) const SESSIONS_REMEDY: &str = "; measure every subject in every session";
/// A single row shows no setting: whatever was measured has one value in it, too.
const LEAST_ROWS: usize = 2;
/// Values that are held, one for each column and subject: no table that people read has as many.
const MOST_HELD: usize = 100_000;

/// What a column has in the rows of a subject.
#[derive(Debug, Clone, PartialEq)]
struct SubjectValue {
    /// The value of all of them; none where they differ or one is empty.
    value: Option<String>,
    /// The first of them as it is written, where that is another text.
    written: Option<String>,
    rows: usize,
}

/// Such columns, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SubjectColumns {
    columns: BTreeMap<String, BTreeMap<SharedName, SubjectValue>>,
    held: usize,
    is_cut: bool,
}

impl SubjectColumns {
    /// Takes what the rows of a file have in these columns.
    pub(crate) fn add(&mut self, columns: &[(&str, &ColumnText)], rows: &[TableRow]) {
        if columns.is_empty() {
            return;
        }
        let subject = |at: usize| &rows[at].subject;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|one, other| subject(*one).cmp(subject(*other)));
        for of_subject in order.chunk_by(|one, other| subject(*one) == subject(*other)) {
            for (column, fields) in columns {
                if self.is_cut {
                    return;
                }
                let found = SubjectValue::of(of_subject, fields);
                self.add_value(column, subject(of_subject[0]), found);
            }
        }
    }

    fn add_value(&mut self, column: &str, subject: &SharedName, found: SubjectValue) {
        let known = self.columns.get_mut(column).and_then(|subjects| subjects.get_mut(subject));
        if let Some(known) = known {
            known.rows += found.rows;
            if known.value != found.value {
                known.value = None;
            }
            return;
        }
        let known = self.columns.get(column).map_or(0, BTreeMap::len) as u64;
        // An import of more subjects is refused.
        if self.held == MOST_HELD || known > model::PLAN_SUBJECTS.most {
            self.is_cut = true;
            return;
        }
        self.held += 1;
        self.columns.entry(column.to_owned()).or_default().insert(subject.clone(), found);
    }

    /// Whether there was more than is held: nothing is compared.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Each column of which two subjects have unlike values, with both: neither versions and dates alone,
    /// nor values that all stand in the names of their subjects.
    pub(crate) fn differences(&self) -> Vec<String> {
        self.differences_of(|values| {
            !values.iter().all(|one| is_description(one.value))
                && !values.iter().all(SettledValue::is_in_name)
        })
    }

    /// The same of columns whose values all count.
    pub(crate) fn all_differences(&self) -> Vec<String> {
        self.differences_of(|_| true)
    }

    fn differences_of(&self, is_asked: impl Fn(&[SettledValue<'_>]) -> bool) -> Vec<String> {
        if self.is_cut {
            return Vec::new();
        }
        let of_column = |(column, subjects): (&String, &BTreeMap<SharedName, SubjectValue>)| {
            let values = settled(subjects);
            if is_asked(&values) { difference(column, &values) } else { Vec::new() }
        };
        self.columns.iter().flat_map(of_column).collect()
    }
}

/// A subject, and the value that all of its rows have.
struct SettledValue<'a> {
    subject: &'a str,
    value: &'a str,
    written: Option<&'a str>,
}

impl SettledValue<'_> {
    /// Whether the value, or as it is written, stands in the name of the subject.
    fn is_in_name(&self) -> bool {
        let mut texts = [self.value].into_iter().chain(self.written);
        texts.any(|text| is_in_name(self.subject, text))
    }
}

impl SubjectValue {
    /// What a column has in these rows of a subject.
    fn of(rows: &[usize], fields: &ColumnText) -> Self {
        let value = one_value(rows, fields);
        let written = rows.first().map(|at| fields.at(*at).trim());
        let written = written.filter(|text| value.as_deref().is_some_and(|value| value != *text));
        Self { written: written.map(str::to_owned), value, rows: rows.len() }
    }
}

/// The values of a column of which a subject has one in several rows.
fn settled(subjects: &BTreeMap<SharedName, SubjectValue>) -> Vec<SettledValue<'_>> {
    let mut values = Vec::new();
    for (subject, found) in subjects {
        let value = found.value.as_deref().filter(|_| found.rows >= LEAST_ROWS);
        let written = found.written.as_deref();
        let subject = subject.as_str();
        values.extend(value.map(|value| SettledValue { subject, value, written }));
    }
    values
}

/// The difference of one column, where there is one.
fn difference(column: &str, values: &[SettledValue<'_>]) -> Vec<String> {
    let mut settings = ToolSettings::default();
    for SettledValue { subject, value, .. } in values {
        settings.add(subject, &BTreeMap::from([(column.to_owned(), (*value).to_owned())]));
    }
    settings.differences()
}

/// The value that a column has in all of these rows: none where they differ, or where it is empty.
fn one_value(rows: &[usize], fields: &ColumnText) -> Option<String> {
    let mut values = rows.iter().map(|at| fields.at(*at).trim());
    let first = values.next().filter(|first| !first.is_empty())?;
    let is_alike = values.all(|other| other == first || plain(other) == plain(first));
    is_alike.then(|| plain(first))
}

/// A number as all others of its value are written: `4.0` is `4`.
fn plain(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => text.to_owned(),
    }
}

/// Whether this is a number, whatever unit follows it (`4`, `64k`, `10 ms`), and no date, nor a version
/// of three numbers.
fn is_amount(value: &str) -> bool {
    let end = value.rfind(|character: char| character.is_ascii_digit()).map_or(0, |last| last + 1);
    let (number, unit) = value.split_at(end);
    let is_of_unit = |character: char| character.is_alphabetic() || " %/".contains(character);
    number.parse::<f64>().is_ok_and(f64::is_finite) && unit.chars().all(is_of_unit)
}

/// Whether this is a date or a version, which describes a subject: it begins as a number, and is none.
fn is_description(value: &str) -> bool {
    let number = value.strip_prefix(['v', 'V']).unwrap_or(value);
    number.starts_with(|first: char| first.is_ascii_digit()) && !is_amount(value)
}

/// Whether a value stands in the name of a subject as a word or number of its own: the name says what
/// the column says.
fn is_in_name(subject: &str, value: &str) -> bool {
    let (subject, value) = (subject.to_lowercase(), value.to_lowercase());
    subject.match_indices(&value).any(|(at, found)| {
        let before = subject[..at].chars().next_back();
        let mut rest = subject[at + found.len()..].chars();
        let behind = rest.next();
        // A point without a digit behind it ends a word, and is of no number.
        let is_end = behind == Some('.') && !rest.next().is_some_and(|next| next.is_ascii_digit());
        !go_on(before, value.chars().next())
            && (is_end || !go_on(value.chars().next_back(), behind))
    })
}

/// Whether two characters beside each other are of one word or number.
fn go_on(one: Option<char>, other: Option<char>) -> bool {
    let is_of_number = |character: char| character.is_ascii_digit() || character == '.';
    let (Some(one), Some(other)) = (one, other) else { return false };
    (is_of_number(one) && is_of_number(other)) || (one.is_alphabetic() && other.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::imported;
    use crate::tidy::CSV;
    use crate::{ImportedTable, Mapping};
    use model::CaveatCode;

    /// What is told of the column of files of one subject each, whose rows have these values of it.
    fn told_of_files(column: &str, files: &[(&str, &[&str])], mapping: &Mapping) -> Vec<String> {
        let texts: Vec<(&str, String)> = files
            .iter()
            .enumerate()
            .map(|(file, (subject, values))| {
                let rows = values.iter().enumerate();
                let row =
                    |(at, value): (usize, &&str)| format!("{subject},{file}-{at},{value},1{at}\n");
                let rows: String = rows.map(row).collect();
                (*subject, format!("s,run,{column},v\n{rows}"))
            })
            .collect();
        let files: Vec<(&str, &[u8])> =
            texts.iter().map(|(subject, text)| (*subject, text.as_bytes())).collect();
        let caveats = imported(&CSV, &files, mapping).unwrap().plan.imported.unwrap().caveats;
        let differ = caveats.into_iter().filter(|one| one.code == CaveatCode::SettingsDiffer);
        differ.map(|caveat| caveat.detail).collect()
    }

    fn mapping() -> Mapping {
        Mapping {
            subject: Some("s".to_owned()),
            replicate: vec!["run".to_owned()],
            values: vec![Mapping::value("v:lower").unwrap()],
            ..Mapping::default()
        }
    }

    fn told(column: &str, a: &[&str], b: &[&str]) -> Vec<String> {
        told_of_files(column, &[("a", a), ("b", b)], &mapping())
    }

    #[test]
    fn a_number_that_differs_with_the_subject_is_told_with_both_values() {
        for (column, one, other, shown) in [
            ("threads", "4", "8", "threads (a: 4; b: 8)"),
            ("size", "64k", "128k", "size (a: 64k; b: 128k)"),
            ("depth", "1.0", "32", "depth (a: 1; b: 32)"),
            ("time", "10 s", "20 s", "time (a: 10 s; b: 20 s)"),
            ("threads", "auto", "8", "threads (a: auto; b: 8)"),
            ("iterations", "1000", "2000", "iterations (a: 1000; b: 2000)"),
            ("slice_us", "3000", "100", "slice_us (a: 3000; b: 100)"),
            ("mode", "sync", "async", "mode (a: sync; b: async)"),
            ("policy", "fifo", "other", "policy (a: fifo; b: other)"),
            ("batch", "32", "64", "batch (a: 32; b: 64)"),
        ] {
            let expected = format!(
                "columns that nobody named and that have another value for one subject than for another: {shown}{REMEDY}"
            );
            assert_eq!(told(column, &[one; 3], &[other; 3]), [expected]);
        }
    }

    #[test]
    fn what_subjects_share_or_what_describes_them_is_not_told() {
        for (column, a, b) in [
            ("threads", ["4"; 3], ["4"; 3]),
            ("threads", ["4"; 3], ["4.0"; 3]),
            // The rows of a subject differ: a measured number has this shape.
            ("threads", ["4", "4", "2"], ["8"; 3]),
            ("threads", [""; 3], ["8"; 3]),
            // Text that is the same or not one in all rows, versions and dates.
            ("policy", ["fifo"; 3], ["fifo"; 3]),
            ("policy", ["fifo", "other", "fifo"], ["other"; 3]),
            ("image", ["6.12.1"; 3], ["6.6.9"; 3]),
            ("image", ["v6.12.1"; 3], ["v6.6.9-rc1"; 3]),
            ("comment", ["warm"; 3], ["rainy"; 3]),
            ("kernel", ["6.1"; 3], ["6.6"; 3]),
            ("built", ["2026-01-01"; 3], ["2026-01-02"; 3]),
            ("go_version", ["1.21"; 3], ["1.22"; 3]),
            ("boot_at", ["1700000000"; 3], ["1700086400"; 3]),
            // The number of a subject, and when it ran.
            ("s_id", ["1"; 3], ["2"; 3]),
            ("variant", ["1"; 3], ["2"; 3]),
            ("block", ["1"; 3], ["2"; 3]),
            ("started", ["1700000000"; 3], ["1700000060"; 3]),
        ] {
            assert_eq!(told(column, &a, &b), [""; 0], "{column} {a:?} {b:?}");
        }
        assert_eq!(told("threads", &["4"], &["8"]), [""; 0], "one row each");
    }

    #[test]
    fn a_column_whose_values_stand_in_the_names_of_the_subjects_is_what_is_compared() {
        let told = |one: &str, other: &str| {
            let files: [(&str, &[&str]); 2] = [(one, &["3000"; 3]), (other, &["100"; 3])];
            told_of_files("slice_us", &files, &mapping()).len()
        };
        assert_eq!(told("eevdf-3000us", "eevdf-100us"), 0);
        assert_eq!(told("3000", "100"), 0);
        // Another number, and one name that lacks its value.
        assert_eq!(told("eevdf-13000", "eevdf-1000"), 1);
        assert_eq!(told("eevdf-3000", "eevdf"), 1);
        assert!(is_in_name("Async-io", "async") && !is_in_name("async-io", "sync"));
        assert!(is_in_name("slice of 4.", "4") && is_in_name("4.rc", "4"));
        assert!(!is_in_name("eevdf-4.5", "4") && !is_in_name("eevdf-1.4", "4"));
        // As it is written, and as the number that it is.
        for (names, values) in
            [(["x-4.0", "x-8.0"], ["4.0", "8.0"]), (["x-4", "x-8"], ["4.0", "8.0"])]
        {
            let files: [(&str, &[&str]); 2] =
                [(names[0], &[values[0]; 3]), (names[1], &[values[1]; 3])];
            assert_eq!(told_of_files("slice_us", &files, &mapping()), [""; 0]);
        }
    }

    #[test]
    fn subjects_of_sessions_of_their_own_are_told_named_or_not() {
        let named = |column: &str| {
            let replicate = vec!["run".to_owned(), column.to_owned()];
            Mapping { replicate, ..mapping() }
        };
        for (column, mapping) in [
            ("session", mapping()),
            ("session", named("session")),
            ("Boot ID", mapping()),
            ("Boot ID", named("Boot ID")),
            ("batch", named("batch")),
        ] {
            let told = |one: [&str; 3], other: [&str; 3]| {
                let files: [(&str, &[&str]); 2] = [("a", &one), ("b", &other)];
                told_of_files(column, &files, &mapping)
            };
            let expected = format!(
                "subjects that were measured in sessions of their own, so that what changed between these looks like \
                 a difference between the subjects: {column} (a: monday; b: tuesday){SESSIONS_REMEDY}"
            );
            assert_eq!(told(["monday"; 3], ["tuesday"; 3]), [expected]);
            assert_eq!(told(["monday"; 3], ["monday"; 3]), [""; 0]);
            let both = ["monday", "tuesday", "monday"];
            assert_eq!(told(both, ["tuesday"; 3]), [""; 0], "several of one subject");
        }
        // The names of the subjects say in which session each was, and make the difference no smaller.
        let files: [(&str, &[&str]); 2] = [("monday", &["monday"; 3]), ("friday", &["friday"; 3])];
        assert_eq!(told_of_files("session", &files, &mapping()).len(), 1);
    }

    #[test]
    fn all_files_of_a_subject_have_one_value_between_them() {
        let of = |last: &[&str]| {
            let files: [(&str, &[&str]); 3] = [("a", &["4"; 2]), ("b", &["8"; 2]), ("b", last)];
            told_of_files("threads", &files, &mapping()).len()
        };
        assert_eq!(of(&["8"; 2]), 1);
        assert_eq!(of(&["4"; 2]), 0);
    }

    #[test]
    fn a_column_that_was_named_is_not_asked() {
        let named = Mapping { parameters: vec!["threads".to_owned()], ..mapping() };
        let files: [(&str, &[&str]); 2] = [("a", &["4"; 3]), ("b", &["8"; 3])];
        assert_eq!(told_of_files("threads", &files, &named), [""; 0]);
        assert_eq!(told_of_files("threads", &files, &mapping()).len(), 1);
    }

    #[test]
    fn more_than_is_held_is_not_compared() {
        let mut columns = SubjectColumns { held: MOST_HELD, ..SubjectColumns::default() };
        let found = || SubjectValue { value: Some("4".to_owned()), written: None, rows: 2 };
        columns.add_value("threads", &SharedName::from("a"), found());
        assert!(columns.is_cut() && columns.differences().is_empty());
        let sessions = columns.clone();
        let mut table = ImportedTable::default();
        (table.columns, table.sessions) = (columns, sessions);
        table.compare_settings();
        assert_eq!(
            table.notes,
            ["columns that nobody named", "columns of sessions"].map(|what| format!(
                "{what} were not compared between subjects: there are too many"
            ))
        );
        // Nor are more subjects than an import may have.
        let mut columns = SubjectColumns::default();
        for subject in 0..model::PLAN_SUBJECTS.most + 2 {
            columns.add_value("threads", &SharedName::from(subject.to_string().as_str()), found());
        }
        assert!(columns.is_cut());
    }
}
