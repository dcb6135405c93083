//! The table of iozone's normal and automatic modes: numbers below the ends of headings.
//! A test that did not run leaves its column blank, so that only places tell numbers apart.

use super::{KILOBYTE, Operation, plain_number, rate, shown, size_bytes};

/// How far a number may end from the end of its heading; headings end at least 7 apart.
const TOLERANCE: usize = 3;
/// What follows `kB` and `reclen`. Older versions lack the last four.
const HEADINGS: [(&str, Operation); 13] = [
    ("write", Operation::Write),
    ("rewrite", Operation::Rewrite),
    ("read", Operation::Read),
    ("reread", Operation::Reread),
    ("read", Operation::RandomRead),
    ("write", Operation::RandomWrite),
    ("read", Operation::ReverseRead),
    ("rewrite", Operation::RecordRewrite),
    ("read", Operation::StrideRead),
    ("fwrite", Operation::Fwrite),
    ("frewrite", Operation::Refwrite),
    ("fread", Operation::Fread),
    ("freread", Operation::Refread),
];
const FEWEST: usize = 9;
/// Words of a line that are held: one more than a row has. A line may have millions.
const MOST_WORDS: usize = 2 + HEADINGS.len() + 1;

/// Where the columns end.
pub(super) struct Columns {
    ends: Vec<(usize, Operation)>,
    /// The operations of the first row, which all rows share.
    filled: Option<Vec<Operation>>,
}

/// A row of numbers.
pub(super) struct Row {
    pub(super) file_bytes: u64,
    pub(super) record_bytes: u64,
    /// In kilobytes or operations in a second.
    pub(super) rates: Vec<(Operation, f64)>,
}

impl Columns {
    /// The columns, where this line is the table's heading.
    pub(super) fn of(line: &str) -> Option<Self> {
        let words = words(line);
        let (first, others) = words.split_at_checked(2)?;
        let is = |word: &(usize, &str), wanted: &str| word.1.eq_ignore_ascii_case(wanted);
        if !is(&first[0], "kb") || !is(&first[1], "reclen") {
            return None;
        }
        let is_known = (FEWEST..=HEADINGS.len()).contains(&others.len());
        let mut pairs = others.iter().zip(HEADINGS);
        if !is_known || !pairs.all(|(word, (heading, _))| is(word, heading)) {
            return None;
        }
        let ends = others.iter().zip(HEADINGS).map(|((end, _), (_, operation))| (*end, operation));
        Some(Self { ends: ends.collect(), filled: None })
    }

    /// The numbers of a row; what is wrong with it.
    pub(super) fn row(&mut self, line: &str, is_kilobytes: bool) -> Result<Row, String> {
        let words = words(line);
        let [(_, file), (_, record), numbers @ ..] = words.as_slice() else {
            return Err("the row is cut off".to_owned());
        };
        let (file_bytes, record_bytes) = (size_bytes(file)?, size_bytes(record)?);
        let scale = if is_kilobytes { KILOBYTE as f64 } else { 1.0 };
        let mut rates: Vec<(Operation, f64)> = Vec::new();
        let mut from = 0;
        for (end, text) in numbers {
            let place =
                self.ends[from..].iter().position(|(known, _)| known.abs_diff(*end) <= TOLERANCE);
            let place = place.ok_or_else(|| format!("`{}` is below no heading", shown(text)))?;
            let (_, operation) = self.ends[from + place];
            from += place + 1;
            let number = plain_number(text);
            let number = number.ok_or_else(|| format!("`{}` is no number", shown(text)))?;
            rates.push((operation, rate(number)? * scale));
        }
        let operations: Vec<Operation> = rates.iter().map(|(operation, _)| *operation).collect();
        if operations.is_empty() {
            return Err("the row has no numbers".to_owned());
        }
        if *self.filled.get_or_insert_with(|| operations.clone()) != operations {
            return Err("the row has numbers below other headings than the first".to_owned());
        }
        Ok(Row { file_bytes, record_bytes, rates })
    }
}

/// The first words, each with the place after its last byte.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut end = 0;
    for word in line.split(char::is_whitespace) {
        if words.len() == MOST_WORDS {
            break;
        }
        let next = end + word.len();
        if !word.is_empty() {
            words.push((next, word));
        }
        // Every blank of a table is one byte; others only move numbers from their headings.
        end = next + 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "              kB  reclen   write rewrite    read    reread    read   write    read  rewrite     read";

    #[test]
    fn a_test_that_did_not_run_leaves_its_column_blank() {
        let mut columns = Columns::of(HEADING).unwrap();
        let line = "            8192       8 2760304 3901055                    1470199 4126896";
        let row = columns.row(line, true).unwrap();
        let found: Vec<_> = row.rates.iter().map(|(operation, _)| operation.id()).collect();
        assert_eq!(found, ["write", "rewrite", "random_read", "random_write"]);
        assert_eq!((row.file_bytes, row.record_bytes), (8192 << 10, 8 << 10));
        assert_eq!(row.rates[0].1, 2_760_304.0 * 1024.0);
    }

    #[test]
    fn what_a_row_lacks_is_told() {
        for (line, cause) in [
            ("            8192", "the row is cut off"),
            ("            8192       8", "the row has no numbers"),
            ("            8192       8       0", "0 is no rate of a machine that did something"),
            ("            8192       8     nan", "`nan` is no number"),
            ("            8192       0      10", "`0` is no size in kilobytes"),
            ("            8192       8 2760304          39", "`39` is below no heading"),
        ] {
            let found = Columns::of(HEADING).unwrap().row(line, true).err();
            assert_eq!(found.as_deref(), Some(cause), "{line}");
        }
        assert!(Columns::of("kB reclen write").is_none());
        let many = format!("{HEADING} fwrite frewrite fread freread");
        assert!(Columns::of(&many).is_some());
        assert!(Columns::of(&format!("{many} write")).is_none());
    }
}
