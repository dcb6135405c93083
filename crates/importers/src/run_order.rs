//! What the numbers of runs tell of the order of a table's rows (docs/method.md#m-import-order): numbers that
//! people give to runs are no clock.

use crate::column_text::ColumnText;
use crate::mixing::{Mixing, mixing, places_in_order};
use crate::table_row::TableRow;
use std::collections::BTreeSet;

/// What numbers of which each row has its own tell of rows in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToldByNumbers {
    /// In which order they were measured.
    Order,
    /// Nothing: the runs of each subject were counted for themselves, and numbered on from one to the next.
    Turns,
    /// Nothing that counts: the subjects stand less mixed in the file.
    Nothing,
}

impl ToldByNumbers {
    /// What such numbers tell of these rows.
    pub(crate) fn of(numbers: &ColumnText, rows: &[TableRow]) -> Self {
        let places = places_in_order(numbers);
        let of_rows: Vec<usize> = (0..rows.len()).collect();
        let of_file = mixing(rows, &of_rows);
        if of_file == Mixing::Mixed && are_in_turn(rows, &places) {
            Self::Turns
        } else if of_file > mixing(rows, &places) {
            Self::Nothing
        } else {
            Self::Order
        }
    }
}

/// Whether in this order one of several subjects comes after the other, and the rows of each stand as
/// they do in the file: those that were shuffled do not.
fn are_in_turn(rows: &[TableRow], places: &[usize]) -> bool {
    let mut turns = places.chunk_by(|one, other| rows[*one].subject == rows[*other].subject);
    let mut seen = BTreeSet::new();
    turns.all(|turn| turn.is_sorted() && seen.insert(&rows[turn[0]].subject)) && seen.len() > 1
}

#[cfg(test)]
mod tests {
    use crate::mapping::Mapping;
    use crate::picture::read;
    use crate::tidy::CSV;

    const MIXED: &str = "abbaabbabaabbaabbaababba";

    /// The subjects in order of the rows, and what is noted, of rows of these subjects with such numbers.
    fn order(
        subjects: &str,
        named: Option<&str>,
        number: impl Fn(usize) -> usize,
    ) -> (String, String) {
        let row = |(at, subject): (usize, char)| format!("{subject},{},{at},1{at}\n", number(at));
        let rows: String = subjects.chars().enumerate().map(row).collect();
        let mapping = Mapping {
            subject: Some("s".to_owned()),
            order: named.map(str::to_owned),
            values: vec![Mapping::value("v:lower").unwrap()],
            ..Mapping::default()
        };
        let text = format!("s,run,shuffled_id,v\n{rows}");
        let table = read(&CSV, &[("x", text.as_bytes())], &mapping).unwrap();
        let subjects = table.rows.iter().map(|row| row.subject.as_str()).collect();
        (subjects, table.notes.join("; "))
    }

    /// The number of a row where those of `a` come first, in the order of the file or backwards.
    fn in_turn(at: usize, is_backwards: bool) -> usize {
        let own = MIXED.as_bytes()[at];
        let before = MIXED.bytes().take(at).filter(|one| *one == own).count();
        let of_subject = if is_backwards { 12 - before } else { 1 + before };
        of_subject + if own == b'a' { 0 } else { 12 }
    }

    #[test]
    fn numbers_of_each_subject_in_turn_are_no_order_of_mixed_rows() {
        let (subjects, told) = order(MIXED, None, |at| in_turn(at, false));
        assert_eq!(subjects, MIXED);
        let note = "run numbers each subject in turn; rows are taken in the file's order";
        assert!(told.contains(note), "{told}");
        // Rows that were shuffled have numbers that do not rise.
        let (subjects, told) = order(MIXED, None, |at| in_turn(at, true));
        assert_eq!(subjects, format!("{}{}", "a".repeat(12), "b".repeat(12)));
        assert!(told.contains("rows are in the order of the numbers in run"), "{told}");
    }

    #[test]
    fn numbers_do_not_hide_that_one_subject_stands_after_the_other() {
        let apart = "aaaabbbb";
        for named in [None, Some("run")] {
            let (subjects, told) = order(apart, named, |at| 1 + 2 * (at % 4) + at / 4);
            assert_eq!(subjects, apart);
            let note = "nothing shows that run tells when a row was measured";
            assert_eq!(told.contains(note), named.is_some(), "{told}");
        }
    }

    #[test]
    fn a_named_order_does_not_hide_that_of_the_numbers_of_runs() {
        let apart = format!("{}{}", "a".repeat(12), "b".repeat(12));
        let (subjects, told) = order(MIXED, Some("shuffled_id"), |at| in_turn(at, true));
        assert_eq!(subjects, apart);
        let note = "rows are in the order of the numbers of runs in run, in which the subjects are not mixed; the \
                    order of shuffled_id contradicts these numbers";
        assert!(told.contains(note), "{told}");
        let (subjects, _) = order(MIXED, Some("shuffled_id"), |at| in_turn(at, false));
        assert_eq!(subjects, MIXED, "numbers of each subject in turn");
    }
}
