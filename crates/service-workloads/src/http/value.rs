//! What changes from request to request: numbers that are drawn, texts that come once, rows of a
//! file.

use rand::Rng;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Decimals that a 64-bit number can have.
const MOST_DECIMALS: u32 = 18;
/// The longest file of values that is read.
const LONGEST_FILE: u64 = 256 << 20;

/// A value as a scenario declares it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Declared {
    from: Option<i64>,
    to: Option<i64>,
    decimals: Option<u32>,
    differs_from: Option<String>,
    unique: Option<bool>,
    pub(super) csv: Option<PathBuf>,
    column: Option<String>,
}

/// Where the text of a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// A number, each of them as likely as another; shown with so many decimals.
    Range { from: i64, to: i64, decimals: u32, differs_from: Option<usize> },
    /// A text that no other request has, of this run or of another one.
    Unique,
    /// A row, each as likely as another. Every run of a search has the same ones.
    Rows(Arc<[String]>),
}

/// The values of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Values {
    names: Vec<String>,
    sources: Vec<Source>,
}

/// What was drawn for one request; its buffers serve all requests.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    texts: Vec<String>,
    numbers: Vec<i64>,
}

impl Values {
    /// Reads what was declared; paths are relative to `directory`.
    ///
    /// # Errors
    /// Each thing that cannot be meant, and files that cannot be read, in one sentence.
    pub(super) fn of(
        declared: &BTreeMap<String, Declared>,
        directory: &Path,
    ) -> Result<Self, Vec<String>> {
        let mut wrong = Vec::new();
        // Those that others differ from are drawn first.
        let (first, second): (Vec<_>, Vec<_>) =
            declared.iter().partition(|(_, value)| value.differs_from.is_none());
        let mut values = Self::default();
        for (name, value) in first.into_iter().chain(second) {
            match value.source(&values, directory) {
                Ok(source) => {
                    values.names.push(name.clone());
                    values.sources.push(source);
                }
                Err(why) => wrong.push(format!("values.{name}: {why}")),
            }
        }
        if wrong.is_empty() { Ok(values) } else { Err(wrong) }
    }

    /// The place of the value of that name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// What the value at that place is called.
    pub(super) fn name(&self, position: usize) -> &str {
        &self.names[position]
    }

    /// Whether every text of this value may stand in a request line or a header.
    pub(super) fn is_fit_for_head(&self, position: usize) -> bool {
        match &self.sources[position] {
            Source::Range { .. } | Source::Unique => true,
            Source::Rows(rows) => {
                rows.iter().all(|row| !row.is_empty() && row.bytes().all(|b| b.is_ascii_graphic()))
            }
        }
    }

    /// These values, and before each the one that it differs from.
    pub(super) fn with_what_they_need(&self, used: &[usize]) -> Vec<usize> {
        let mut all = Vec::new();
        for position in used {
            if let Source::Range { differs_from: Some(other), .. } = self.sources[*position] {
                all.push(other);
            }
            all.push(*position);
        }
        // One that others differ from has a lower place than they.
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Room for what is drawn.
    pub(super) fn drawn(&self) -> Drawn {
        Drawn {
            texts: vec![String::new(); self.sources.len()],
            numbers: vec![0; self.sources.len()],
        }
    }

    /// Draws these values anew. `run` and `number` make texts that come once.
    pub(super) fn draw(
        &self,
        positions: &[usize],
        random: &mut impl Rng,
        (run, number): (u64, u64),
        drawn: &mut Drawn,
    ) {
        for position in positions {
            let mut text = std::mem::take(&mut drawn.texts[*position]);
            text.clear();
            match &self.sources[*position] {
                Source::Range { from, to, decimals, differs_from } => {
                    let other = differs_from.map(|other| drawn.numbers[other]);
                    let drawn_number = in_range((*from, *to), other, random);
                    drawn.numbers[*position] = drawn_number;
                    show(drawn_number, *decimals, &mut text);
                }
                Source::Unique => {
                    let _ = write!(text, "{run:016x}-{number}");
                }
                Source::Rows(rows) => text.push_str(&rows[below(rows.len() as u64, random)]),
            }
            drawn.texts[*position] = text;
        }
    }
}

impl Drawn {
    /// The text that was drawn for a value.
    pub(super) fn text(&self, position: usize) -> &str {
        &self.texts[position]
    }
}

impl Declared {
    fn source(&self, others: &Values, directory: &Path) -> Result<Source, String> {
        let has_range = self.from.is_some() || self.to.is_some();
        let is_unique = self.unique == Some(true);
        match (has_range, is_unique, &self.csv) {
            (true, false, None) => self.range(others),
            (false, true, None) => self.alone(Source::Unique),
            (false, false, Some(path)) => {
                let column = self.column.as_deref().ok_or("a csv needs the name of a column")?;
                self.alone(Source::Rows(rows(&directory.join(path), column)?.into()))
            }
            _ => Err("expected exactly one of from and to, unique = true, csv and column".into()),
        }
    }

    fn alone(&self, source: Source) -> Result<Source, String> {
        match (self.decimals, &self.differs_from, &self.column, &source) {
            (None, None, None, _) | (None, None, Some(_), Source::Rows(_)) => Ok(source),
            _ => Err("decimals and differs_from belong to from and to, column to csv".into()),
        }
    }

    fn range(&self, others: &Values) -> Result<Source, String> {
        let (Some(from), Some(to)) = (self.from, self.to) else {
            return Err("expected both from and to".into());
        };
        if self.column.is_some() {
            return Err("column belongs to csv".into());
        }
        if from > to || to.checked_sub(from).is_none_or(|span| span == i64::MAX) {
            return Err(format!("from {from} to {to} is no range"));
        }
        let decimals = self.decimals.unwrap_or(0);
        if decimals > MOST_DECIMALS {
            return Err(format!("decimals = {decimals}: {MOST_DECIMALS} at most"));
        }
        let differs_from = match &self.differs_from {
            None => None,
            Some(name) => {
                let position = others.position(name).ok_or_else(|| {
                    format!(
                        "differs_from = {name:?}: no value that differs from none has this name"
                    )
                })?;
                let limits = (from, to);
                let is_alike = matches!(&others.sources[position],
                    Source::Range { from, to, .. } if (*from, *to) == limits);
                if !is_alike || from == to {
                    return Err(format!(
                        "differs_from = {name:?} needs the same limits, and two numbers within them"
                    ));
                }
                Some(position)
            }
        };
        Ok(Source::Range { from, to, decimals, differs_from })
    }
}

/// A number of the range, each as likely as another, other than `other`.
fn in_range((from, to): (i64, i64), other: Option<i64>, random: &mut impl Rng) -> i64 {
    let span = to.abs_diff(from) + 1 - u64::from(other.is_some());
    let number = from.saturating_add_unsigned(below(span, random) as u64);
    if other.is_some_and(|other| number >= other) { number + 1 } else { number }
}

/// A number below `limit`, each as likely as another but for 2^-64 of `limit` (the multiplication
/// of Lemire, ACM TOMACS 29(1), 2019, without its rejection).
pub(super) fn below(limit: u64, random: &mut impl Rng) -> usize {
    let product = u128::from(random.next_u64()) * u128::from(limit);
    usize::try_from(product >> 64).unwrap_or(usize::MAX)
}

/// A number as text, its last digits behind a point.
fn show(number: i64, decimals: u32, text: &mut String) {
    if decimals == 0 {
        let _ = write!(text, "{number}");
        return;
    }
    let (unit, magnitude) = (10_u64.pow(decimals), number.unsigned_abs());
    let sign = if number < 0 { "-" } else { "" };
    let width = decimals as usize;
    let _ = write!(text, "{sign}{}.{:0width$}", magnitude / unit, magnitude % unit);
}

/// The texts of a column.
fn rows(path: &Path, column: &str) -> Result<Vec<String>, String> {
    let shown = path.display();
    let unreadable = |error: &dyn std::fmt::Display| format!("cannot read {shown}: {error}");
    check_file(path, LONGEST_FILE).map_err(|error| unreadable(&error))?;
    let mut reader = csv::Reader::from_path(path).map_err(|error| unreadable(&error))?;
    let headers = reader.headers().map_err(|error| unreadable(&error))?;
    let Some(index) = headers.iter().position(|header| header == column) else {
        let known: Vec<&str> = headers.iter().collect();
        return Err(format!("{shown} has no column {column:?}, but {}", known.join(", ")));
    };
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| unreadable(&error))?;
        rows.push(record.get(index).unwrap_or_default().to_owned());
    }
    if rows.is_empty() { Err(format!("{shown} has no rows")) } else { Ok(rows) }
}

/// Whether it can be read to its end: a device or a pipe may have none.
///
/// # Errors
/// That it is no file, or longer than that.
pub(super) fn check_file(path: &Path, longest: u64) -> io::Result<()> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if found.len() > longest {
        let limit = format!("it is longer than {}", model::format_size(longest));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, limit));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn of(text: &str) -> Result<Values, Vec<String>> {
        let declared: BTreeMap<String, Declared> = toml::from_str(text).unwrap();
        Values::of(&declared, Path::new("/nonexistent"))
    }

    fn drawn(values: &Values, names: &[&str], seed: u64) -> Vec<String> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let used: Vec<usize> = names.iter().map(|name| values.position(name).unwrap()).collect();
        let mut drawn = values.drawn();
        values.draw(&values.with_what_they_need(&used), &mut random, (7, seed), &mut drawn);
        used.iter().map(|position| drawn.text(*position).to_owned()).collect()
    }

    #[test]
    fn two_accounts_are_never_the_same_and_all_pairs_occur() {
        let values = of(r#"
            a = { from = 1, to = 3 }
            b = { from = 1, to = 3, differs_from = "a" }
        "#)
        .unwrap();
        let pairs: std::collections::BTreeSet<Vec<String>> =
            (0..500).map(|seed| drawn(&values, &["b", "a"], seed)).collect();
        assert_eq!(pairs.len(), 6);
        assert!(pairs.iter().all(|pair| pair[0] != pair[1]), "{pairs:?}");
    }

    #[test]
    fn unique_texts_carry_the_run_and_the_request() {
        let values = of("key = { unique = true }").unwrap();
        assert_eq!(drawn(&values, &["key"], 3), ["0000000000000007-3"]);
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for (text, word) in [
            ("a = {}", "exactly one of"),
            ("a = { from = 1 }", "both from and to"),
            ("a = { from = 3, to = 1 }", "no range"),
            ("a = { from = -9223372036854775808, to = 9223372036854775807 }", "no range"),
            ("a = { from = 1, to = 2, unique = true }", "exactly one of"),
            ("a = { from = 1, to = 2, decimals = 19 }", "18 at most"),
            ("a = { from = 1, to = 2, column = 'x' }", "column belongs"),
            ("a = { unique = true, decimals = 2 }", "belong to from and to"),
            ("a = { from = 1, to = 2, differs_from = 'b' }", "has this name"),
            ("a = { from = 1, to = 2, differs_from = 'a' }", "has this name"),
            (
                "a = { from = 1, to = 2 }\nb = { from = 1, to = 3, differs_from = 'a' }",
                "same limits",
            ),
            (
                "a = { from = 1, to = 1 }\nb = { from = 1, to = 1, differs_from = 'a' }",
                "two numbers",
            ),
            ("a = { csv = 'x.csv' }", "name of a column"),
            ("a = { csv = 'x.csv', column = 'y' }", "cannot read /nonexistent/x.csv"),
        ] {
            let wrong = of(text).unwrap_err();
            assert!(wrong.len() == 1 && wrong[0].contains(word), "{text}: {wrong:?}");
        }
    }

    #[test]
    fn rows_come_from_a_column_and_some_fit_no_head() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("x.csv"), "id,name\n7,two words\n8,b\n").unwrap();
        let read = |text: &str| {
            let declared: BTreeMap<String, Declared> = toml::from_str(text).unwrap();
            Values::of(&declared, directory.path())
        };
        let values = read(
            "id = { csv = 'x.csv', column = 'id' }\nname = { csv = 'x.csv', column = 'name' }",
        )
        .unwrap();
        let ids: std::collections::BTreeSet<String> =
            (0..50).map(|seed| drawn(&values, &["id"], seed).remove(0)).collect();
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), ["7", "8"]);
        assert!(values.is_fit_for_head(values.position("id").unwrap()));
        assert!(!values.is_fit_for_head(values.position("name").unwrap()));
        let wrong = read("a = { csv = 'x.csv', column = 'y' }").unwrap_err();
        assert!(wrong[0].contains("no column \"y\", but id, name"), "{wrong:?}");
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        let values = of("a = { csv = '/dev/zero', column = 'x' }");
        assert!(values.unwrap_err()[0].contains("not a regular file"));
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("x");
        std::fs::write(&file, "12345").unwrap();
        check_file(&file, 5).unwrap();
        assert!(check_file(&file, 4).unwrap_err().to_string().contains("longer than 4"));
    }

    proptest! {
        #[test]
        fn numbers_lie_in_their_range(from: i32, span in 1_u32.., seed: u64) {
            let (from, to) = (i64::from(from), i64::from(from) + i64::from(span));
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let other = in_range((from, to), None, &mut random);
            let number = in_range((from, to), Some(other), &mut random);
            prop_assert!((from..=to).contains(&other) && (from..=to).contains(&number));
            prop_assert_ne!(number, other);
        }

        #[test]
        fn decimals_are_shown_exactly(number: i64, decimals in 0_u32..=18) {
            let mut text = String::new();
            show(number, decimals, &mut text);
            let digits: String = text.chars().filter(|c| *c != '.').collect();
            prop_assert_eq!(digits.parse::<i128>().unwrap(), i128::from(number));
            let behind = text.split_once('.').map_or(0, |(_, behind)| behind.len());
            prop_assert_eq!(behind, decimals as usize);
        }
    }
}
