//! What the rows of a table measured, and the records that are made of it. A table has hundreds of
//! thousands of rows, so that nothing of them is held longer than their places are asked.

use crate::table_row::TableRow;
use model::{Circumstances, Few, Invocation, Outcome, Record, Sample, SharedName, SharedParts};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is left of a row once its place is known.
struct MeasuredRow {
    samples: Few<Sample>,
    failure: Option<Box<str>>,
}

/// The numbers of a subject and a label, and why their records failed.
type SaidOf = ([u32; 2], Option<Box<str>>);

/// What all rows measured, in their order.
pub(crate) struct MeasuredRows {
    rows: Vec<MeasuredRow>,
    /// Names of the subjects by their numbers.
    subjects: Vec<SharedName>,
    /// What records of a subject and a label say alike that failed for one reason or for none.
    said: BTreeMap<SaidOf, Arc<Circumstances>>,
    parts: SharedParts,
}

impl MeasuredRows {
    /// Those of a table, whose other parts are freed. Subjects have these names by their numbers.
    pub(crate) fn of(rows: Vec<TableRow>, subjects: Vec<SharedName>) -> Self {
        let measured = |row: TableRow| MeasuredRow {
            samples: row.samples,
            failure: row.failure.map(String::into_boxed_str),
        };
        // Collected in the place of the table, of which this returns what is left.
        let mut rows: Vec<MeasuredRow> = rows.into_iter().map(measured).collect();
        rows.shrink_to_fit();
        Self { rows, subjects, said: BTreeMap::new(), parts: SharedParts::default() }
    }

    /// The record of these rows, which takes what they measured. Subject and label have these numbers.
    pub(crate) fn record(
        &mut self,
        of_record: &[u32],
        [subject, label]: [u32; 2],
        workload: &str,
    ) -> Record {
        let reason = of_record.iter().find_map(|row| self.rows[*row as usize].failure.clone());
        let said = self.said.entry(([subject, label], reason));
        let said = said.or_insert_with_key(|(_, reason)| {
            let mut said = Circumstances::of(&self.subjects[subject as usize], workload);
            if let Some(reason) = reason {
                said.outcome = Outcome::Failed { reason: reason.to_string() };
            }
            Arc::new(said)
        });
        let circumstances = Arc::clone(said);
        let invocations = of_record.iter().map(|row| {
            let row = &mut self.rows[*row as usize];
            Invocation {
                samples: std::mem::take(&mut row.samples),
                run: None,
                failure: row.failure.take(),
                disturbance: None,
            }
        });
        let mut record = Record {
            sequence: u64::from(of_record[0]),
            block: 0,
            position: 0,
            circumstances,
            invocations: invocations.collect(),
            chain: None,
        };
        self.parts.share(&mut record);
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(subject: &SharedName, value: f64, failure: Option<&str>) -> TableRow {
        TableRow {
            subject: subject.clone(),
            levels: Vec::new(),
            execution: None,
            block: None,
            samples: vec![Sample::values("ms", vec![value])].into(),
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn records_of_a_subject_and_a_label_hold_once_what_they_say_alike() {
        let subjects = ["a", "b"].map(SharedName::from);
        let [a, b] = &subjects;
        let rows = vec![row(a, 1.0, None), row(b, 2.0, None), row(a, 3.0, None), row(a, 4.0, None)];
        let mut measured = MeasuredRows::of(rows, subjects.to_vec());
        let first = measured.record(&[0, 3], [0, 0], "all");
        let second = measured.record(&[2], [0, 0], "all");
        let other = measured.record(&[1], [1, 0], "all");
        assert!(Arc::ptr_eq(&first.circumstances, &second.circumstances));
        assert!(!Arc::ptr_eq(&first.circumstances, &other.circumstances));
        assert_eq!((first.sequence, second.sequence, other.sequence), (0, 2, 1));
        assert_eq!((other.subject.as_str(), other.workload.as_str()), ("b", "all"));
        let values: Vec<_> = first.invocations.iter().map(|one| one.samples.clone()).collect();
        let expected = [1.0, 4.0].map(|value| Few::from(vec![Sample::values("ms", vec![value])]));
        assert_eq!(values, expected);
    }

    #[test]
    fn a_row_that_failed_makes_a_failure_of_its_record_alone() {
        let subjects = vec![SharedName::from("a")];
        let one = &subjects[0];
        let why = Some("exit_code 1");
        let rows = vec![row(one, 1.0, why), row(one, 2.0, None), row(one, 3.0, why)];
        let mut measured = MeasuredRows::of(rows, subjects);
        let failed = measured.record(&[0], [0, 0], "all");
        let completed = measured.record(&[1], [0, 0], "all");
        let again = measured.record(&[2], [0, 0], "all");
        assert!(Arc::ptr_eq(&failed.circumstances, &again.circumstances));
        assert_eq!(failed.outcome, Outcome::Failed { reason: "exit_code 1".to_owned() });
        assert_eq!(failed.invocations[0].failure.as_deref(), Some("exit_code 1"));
        assert_eq!(completed.outcome, Outcome::Completed);
        assert_eq!(completed.invocations[0].failure, None);
    }
}
