//! Columns of tables that nobody named and that have one value for each subject
//! (docs/method.md#m-parts): a number of threads, a size, a depth. Where two subjects have unlike
//! ones, it may not be the same work. Text describes a subject, as a version does, and is not compared.

use crate::column_text::ColumnText;
use crate::table_row::TableRow;
use crate::tool_settings::ToolSettings;
use model::SharedName;
use std::collections::BTreeMap;

/// A single row shows no setting: whatever was measured has one value in it, too.
const LEAST_ROWS: usize = 2;
/// Values that are held, one for each column and subject: no table that people read has as many.
const MOST_HELD: usize = 100_000;

/// What a column has in the rows of a subject.
#[derive(Debug, Clone, PartialEq)]
struct SubjectValue {
    /// The value of all of them; none where they differ or one is empty.
    value: Option<String>,
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
                let found =
                    SubjectValue { value: one_value(of_subject, fields), rows: of_subject.len() };
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

    /// Each column of which two subjects have unlike values, a number among them, with both.
    pub(crate) fn differences(&self) -> Vec<String> {
        if self.is_cut {
            return Vec::new();
        }
        self.columns.iter().flat_map(|(column, subjects)| difference(column, subjects)).collect()
    }
}

/// The difference of one column, where there is one.
fn difference(column: &str, subjects: &BTreeMap<SharedName, SubjectValue>) -> Vec<String> {
    let mut settings = ToolSettings::default();
    let mut has_amount = false;
    for (subject, SubjectValue { value, rows }) in subjects {
        let Some(value) = value.as_ref().filter(|_| *rows >= LEAST_ROWS) else { continue };
        has_amount |= is_amount(value);
        settings.add(subject, &BTreeMap::from([(column.to_owned(), value.clone())]));
    }
    if has_amount { settings.differences() } else { Vec::new() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mapping;
    use crate::picture::imported;
    use crate::tidy::CSV;
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
        ] {
            let expected = format!(
                "columns that nobody named and that have another value for one subject than for another: {shown}"
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
            // Text, versions and dates.
            ("policy", ["fifo"; 3], ["other"; 3]),
            ("image", ["6.12.1"; 3], ["6.6.9"; 3]),
            ("kernel", ["6.1"; 3], ["6.6"; 3]),
            ("built", ["2026-01-01"; 3], ["2026-01-02"; 3]),
            ("go_version", ["1.21"; 3], ["1.22"; 3]),
            ("boot_at", ["1700000000"; 3], ["1700086400"; 3]),
            // The number of a subject, and when it ran.
            ("s_id", ["1"; 3], ["2"; 3]),
            ("variant", ["1"; 3], ["2"; 3]),
            ("boot", ["1"; 3], ["2"; 3]),
            ("started", ["1700000000"; 3], ["1700000060"; 3]),
        ] {
            assert_eq!(told(column, &a, &b), [""; 0], "{column} {a:?} {b:?}");
        }
        assert_eq!(told("threads", &["4"], &["8"]), [""; 0], "one row each");
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
        let found = SubjectValue { value: Some("4".to_owned()), rows: 2 };
        columns.add_value("threads", &SharedName::from("a"), found);
        assert!(columns.is_cut() && columns.differences().is_empty());
        // Nor are more subjects than an import may have.
        let mut columns = SubjectColumns::default();
        for subject in 0..model::PLAN_SUBJECTS.most + 2 {
            let found = SubjectValue { value: Some("4".to_owned()), rows: 2 };
            columns.add_value("threads", &SharedName::from(subject.to_string().as_str()), found);
        }
        assert!(columns.is_cut());
    }
}
