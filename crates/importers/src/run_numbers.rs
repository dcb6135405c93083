//! Runs of which a table has numbers before and after, and not their own (docs/method.md#m-absent-runs):
//! which runs are absent may depend on what they would have measured.

use crate::column_text::ColumnText;
use crate::table_row::TableRow;
use model::{AbsentRuns, SharedName};
use std::collections::BTreeMap;

/// The numbers of runs of each subject.
type Numbers = BTreeMap<SharedName, Vec<u32>>;

/// Numbers that a column gives to runs, by the levels of parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RunNumbers {
    column: String,
    /// As rows have them: in any order, and some more than once.
    cells: BTreeMap<Vec<SharedName>, Numbers>,
    /// Whether some file does not number its runs, or in another column: nothing is known of holes.
    is_unknown: bool,
}

impl RunNumbers {
    /// Takes the numbers of a file's rows, which this column has.
    pub(crate) fn add(&mut self, column: Option<(&str, &ColumnText)>, rows: &[TableRow]) {
        let numbers = column.and_then(|(name, fields)| {
            let numbers: Option<Vec<u32>> = fields.iter().map(|field| field.parse().ok()).collect();
            Some((name, numbers?))
        });
        let Some((name, numbers)) = numbers else {
            self.is_unknown = true;
            return;
        };
        if self.cells.is_empty() {
            name.clone_into(&mut self.column);
        }
        self.is_unknown |= self.column != name;
        for (row, number) in rows.iter().zip(numbers) {
            let cell = self.cells.entry(row.levels.clone()).or_default();
            cell.entry(row.subject.clone()).or_default().push(number);
        }
    }

    /// How many numbers each subject lacks; empty where none lacks one.
    pub(crate) fn absent(&self) -> Vec<AbsentRuns> {
        if self.is_unknown {
            return Vec::new();
        }
        let mut gathered: BTreeMap<&SharedName, Vec<u32>> = BTreeMap::new();
        for (subject, numbers) in self.cells.values().flatten() {
            gathered.entry(subject).or_default().extend(numbers);
        }
        let of_subjects: Numbers = gathered
            .into_iter()
            .map(|(subject, numbers)| (subject.clone(), in_order(numbers)))
            .collect();
        let count: usize = of_subjects.values().map(Vec::len).sum();
        let all = union(&of_subjects);
        if !is_dense(&all) {
            return Vec::new();
        }
        let found = if all.len() == count {
            self.of_one_sequence(&of_subjects, &all)
        } else {
            self.of_own_sequences()
        };
        if found.iter().all(|one| one.absent == 0) { Vec::new() } else { found }
    }

    /// Where no two subjects share a number: all of them were counted together, and a number that is
    /// absent may be one of a subject that has fewer runs than another.
    fn of_one_sequence(&self, of_subjects: &Numbers, all: &[u32]) -> Vec<AbsentRuns> {
        let range = span(all);
        let holes = range - all.len();
        let most = of_subjects.values().map(Vec::len).max().unwrap_or(0);
        let one = |(subject, own): (&SharedName, &Vec<u32>)| {
            let absent = holes.min(most - own.len());
            AbsentRuns {
                subject: subject.to_string(),
                absent: absent as u32,
                expected: (own.len() + absent) as u32,
                told: format!(
                    "{subject} has {} of {range} numbers in {}, of which {holes} are absent",
                    own.len(),
                    self.column
                ),
            }
        };
        of_subjects.iter().map(one).collect()
    }

    /// Where subjects share numbers, each was counted for itself: a subject lacks those between its
    /// first and its last one that another subject has.
    fn of_own_sequences(&self) -> Vec<AbsentRuns> {
        let mut found: BTreeMap<&SharedName, [usize; 2]> = BTreeMap::new();
        for numbers in self.cells.values() {
            let all = union(numbers);
            for (subject, own) in numbers {
                let own = in_order(own.clone());
                let (Some(first), Some(last)) = (own.first(), own.last()) else { continue };
                let up_to_last = all.partition_point(|number| number <= last);
                let expected = up_to_last - all.partition_point(|number| number < first);
                let of_subject = found.entry(subject).or_default();
                of_subject[0] += expected - own.len();
                of_subject[1] += expected;
            }
        }
        let one = |(subject, [absent, expected]): (&SharedName, [usize; 2])| AbsentRuns {
            subject: subject.to_string(),
            absent: absent as u32,
            expected: expected as u32,
            told: format!("{subject} lacks {absent} of {expected} numbers in {}", self.column),
        };
        found.into_iter().map(one).collect()
    }
}

/// Whether a column numbers all rows, in whatever order they stand: each has a whole number of its own
/// from 0 or 1 on, and at least half of the numbers between are there. What begins anew for each subject
/// does not, and a number that was measured seldom begins there.
pub(crate) fn count_all(fields: &ColumnText) -> bool {
    let numbers: Option<Vec<u32>> = fields.iter().map(|field| field.parse().ok()).collect();
    numbers.map(in_order).is_some_and(|all| {
        all.len() == fields.len() && all.first().is_some_and(|first| *first <= 1) && is_dense(&all)
    })
}

/// Each number once, the least first. A column that counts is in order already, or in pieces that are,
/// which takes a stable sort little time.
fn in_order(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort();
    numbers.dedup();
    numbers
}

/// The numbers of all subjects, in order.
fn union(numbers: &Numbers) -> Vec<u32> {
    in_order(numbers.values().flatten().copied().collect())
}

/// How many numbers there are from the first to the last one, of those in order.
fn span(numbers: &[u32]) -> usize {
    let ends = numbers.first().zip(numbers.last());
    ends.map_or(0, |(first, last)| (last - first) as usize + 1)
}

/// Whether at least half of the numbers from the first to the last are there: seeds and identifiers
/// count nothing.
fn is_dense(numbers: &[u32]) -> bool {
    2 * numbers.len() >= span(numbers)
}

#[cfg(test)]
mod tests {
    use crate::Mapping;
    use crate::picture::imported;
    use crate::tidy::CSV;

    /// What is told of the runs that are absent in a table of rows `subject number`.
    fn told(rows: &[(&str, u32)], replicate: &[&str]) -> Vec<String> {
        let lines = rows.iter().map(|(subject, number)| format!("{subject},{number},{number}.5\n"));
        let text = format!("s,run,v\n{}", lines.collect::<String>());
        let mapping = Mapping {
            subject: Some("s".to_owned()),
            replicate: replicate.iter().map(|name| (*name).to_owned()).collect(),
            values: vec![Mapping::value("v:lower:ms").unwrap()],
            ..Mapping::default()
        };
        let plan = imported(&CSV, &[("x", text.as_bytes())], &mapping).unwrap().plan;
        let absent = plan.imported.unwrap().absent_runs.into_iter();
        absent.map(|one| format!("{}/{}: {}", one.absent, one.expected, one.told)).collect()
    }

    #[test]
    fn numbers_that_one_subject_lacks_and_the_other_has_are_absent_runs() {
        let of = |subject: &'static str, lacks: &'static [u32]| {
            let numbers = (1..=20_u32).filter(move |number| !lacks.contains(number));
            numbers.map(move |run| (subject, run))
        };
        let rows: Vec<_> = of("a", &[]).chain(of("b", &[3, 8, 15])).collect();
        for replicate in [&["run"][..], &[]] {
            let expected =
                ["0/20: a lacks 0 of 20 numbers in run", "3/20: b lacks 3 of 20 numbers in run"];
            assert_eq!(told(&rows, replicate), expected);
        }
        // What both lack, and what lies beyond the last one, is no hole.
        let rows: Vec<_> = of("a", &[3, 8]).chain(of("b", &[3, 8, 19, 20])).collect();
        assert_eq!(told(&rows, &["run"]), [""; 0]);
    }

    #[test]
    fn numbers_that_count_all_runs_and_are_absent_may_be_those_of_the_subject_with_fewer() {
        let all = |lacks: &'static [u32]| -> Vec<(&'static str, u32)> {
            let numbers = (0..40_u32).filter(|number| !lacks.contains(number));
            numbers.map(|run| (if run % 2 == 0 { "a" } else { "b" }, run)).collect()
        };
        for replicate in [&["run"][..], &[]] {
            let expected = [
                "0/20: a has 20 of 40 numbers in run, of which 3 are absent",
                "3/20: b has 17 of 40 numbers in run, of which 3 are absent",
            ];
            assert_eq!(told(&all(&[3, 11, 25]), replicate), expected);
        }
        assert_eq!(told(&all(&[2, 3, 24, 25]), &["run"]), [""; 0], "as many of both");
        assert_eq!(told(&all(&[]), &["run"]), [""; 0]);
        let sparse: Vec<(&str, u32)> =
            all(&[3, 11]).into_iter().map(|(subject, run)| (subject, run * 97)).collect();
        assert_eq!(told(&sparse, &["run"]), [""; 0], "identifiers count nothing");
    }
}
