//! Kinds of rows that only a column tells apart which nobody named (docs/method.md#m-unnamed-mix): what
//! an execution measured is a mean over them, so that subjects which hold unlike shares of them differ
//! by the mix. A file may hold one subject, so that only all files together tell.

use crate::column_text::ColumnText;
use crate::table_row::TableRow;
use model::{Metric, PLAN_SUBJECTS, Sample, SampleData, SharedName, UnlikeMix};
use std::collections::{BTreeMap, BTreeSet};

/// A column with more levels than these tells no kinds apart.
const MOST_KINDS: usize = 64;
/// Columns of metrics and workloads that are held; a table has hundreds of thousands of rows.
const MOST_HELD: usize = 100_000;
/// Pairs of subjects that are looked at.
const MOST_PAIRS: usize = 1_000_000;
/// Pairs of subjects that are told one by one.
const MOST_TOLD: usize = 1_000;
/// A mix that may make less than this share of the margin withholds nothing.
const TOLERATED: f64 = 0.1;
/// A level whose mean is not as many standard errors of their distance from the middle of all may well
/// lie there.
const LEAST_ERRORS: f64 = 2.5;

/// Column, metric, and the levels of parameters that were named.
type KindPlace = (String, SharedName, Vec<SharedName>);

/// What the rows of each subject have in columns that nobody named.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct UnnamedKinds {
    of_places: BTreeMap<KindPlace, BTreeMap<SharedName, Kinds>>,
    /// All subjects of these.
    subjects: BTreeSet<SharedName>,
    /// Whether there are more places than are held, or more subjects than an import may have. Then
    /// nothing is held: no two subjects are compared.
    is_cut: bool,
}

/// The rows of one subject at one place.
#[derive(Debug, Clone, Default, PartialEq)]
struct Kinds {
    executions: f64,
    levels: BTreeMap<String, LevelRows>,
}

/// The rows of one level.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct LevelRows {
    /// Its share of the rows of an execution, added up over executions.
    shares: f64,
    rows: f64,
    /// Values and their squares, added up.
    values: f64,
    squares: f64,
}

/// One that was found: the largest effect that the mix may have, and both shares in words.
type FoundMix = (f64, String);

impl UnnamedKinds {
    /// Takes what the rows of a file have in these columns.
    pub(crate) fn add(&mut self, columns: &[(&str, &ColumnText)], rows: &[TableRow]) {
        let columns: Vec<(&str, &ColumnText)> =
            columns.iter().copied().filter(|(_, fields)| has_few_levels(fields)).collect();
        if columns.is_empty() || self.is_cut {
            return;
        }
        let cell = |at: usize| (&rows[at].levels, &rows[at].subject);
        let execution = |at: usize| (&rows[at].execution, &rows[at].block);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|one, other| {
            (cell(*one), execution(*one)).cmp(&(cell(*other), execution(*other)))
        });
        for of_cell in order.chunk_by(|one, other| cell(*one) == cell(*other)) {
            let (levels, subject) = cell(of_cell[0]);
            self.note_subject(subject);
            if self.is_cut {
                return;
            }
            // A row that names no execution is one of its own.
            let is_of_one = |one: &usize, other: &usize| {
                execution(*one) == execution(*other) && execution(*one) != (&None, &None)
            };
            // Column by column: fields of one lie side by side in memory, and those of a row do not.
            for (column, fields) in &columns {
                let mut found: BTreeMap<&SharedName, Kinds> = BTreeMap::new();
                for of_execution in of_cell.chunk_by(is_of_one) {
                    for (source, levels) in kinds(of_execution, fields, rows) {
                        found.entry(source).or_default().add_execution(levels);
                    }
                }
                for (source, kinds) in found {
                    let place = ((*column).to_owned(), source.clone(), levels.clone());
                    if self.of_places.len() == MOST_HELD && !self.of_places.contains_key(&place) {
                        self.cut();
                        return;
                    }
                    let of_subjects = self.of_places.entry(place).or_default();
                    of_subjects.entry(subject.clone()).or_default().add(kinds);
                }
            }
        }
    }

    /// Counts a subject. An import of more than a plan may have is refused once all of it is read.
    fn note_subject(&mut self, subject: &SharedName) {
        if self.subjects.contains(subject) {
            return;
        }
        if PLAN_SUBJECTS.check(self.subjects.len() as u64 + 1).is_err() {
            self.cut();
            return;
        }
        self.subjects.insert(subject.clone());
    }

    /// Lets go of everything.
    fn cut(&mut self) {
        *self = Self { is_cut: true, ..Self::default() };
    }

    /// Pairs of subjects whose mixes may make a tenth of the margin of a metric, each with the mix that
    /// may make most.
    pub(crate) fn unlike(&self, metrics: &[Metric]) -> Vec<UnlikeMix> {
        if self.is_cut {
            return metrics.iter().map(any_pair).collect();
        }
        let mut most: BTreeMap<(&SharedName, [&SharedName; 2]), FoundMix> = BTreeMap::new();
        let mut left = MOST_PAIRS;
        for ((column, source, _), subjects) in &self.of_places {
            let Some(metric) = metrics.iter().find(|metric| *source == metric.source) else {
                continue;
            };
            // Not larger than the logarithm of 1 + margin.
            let theta = metric.margin / (1.0 + metric.margin);
            let all: Vec<(&SharedName, &Kinds)> = subjects.iter().collect();
            for (index, one) in all.iter().enumerate() {
                for other in &all[index + 1..] {
                    if left == 0 {
                        return metrics.iter().map(any_pair).collect();
                    }
                    left -= 1;
                    let Some(found) = unlike(column, [*one, *other]) else { continue };
                    let known = most.get(&(source, [one.0, other.0]));
                    let is_more = known.is_none_or(|known| found.0 > known.0);
                    if found.0 >= TOLERATED * theta && is_more {
                        most.insert((source, [one.0, other.0]), found);
                    }
                }
            }
        }
        told(most, metrics)
    }
}

/// Whether a column may tell kinds apart.
fn has_few_levels(fields: &ColumnText) -> bool {
    let mut levels: BTreeSet<&str> = BTreeSet::new();
    fields.iter().all(|field| {
        levels.insert(field);
        levels.len() <= MOST_KINDS
    })
}

/// What is told of these: of each pair, or once where there are many.
fn told(
    found: BTreeMap<(&SharedName, [&SharedName; 2]), FoundMix>,
    metrics: &[Metric],
) -> Vec<UnlikeMix> {
    let mut told = Vec::new();
    for ((source, subjects), (_, detail)) in found {
        for metric in metrics.iter().filter(|metric| *source == metric.source) {
            if told.len() == MOST_TOLD {
                return metrics.iter().map(any_pair).collect();
            }
            told.push(UnlikeMix {
                metric: metric.id.clone(),
                subjects: subjects.map(ToString::to_string).into(),
                told: detail.clone(),
            });
        }
    }
    told
}

/// Stands for more pairs than are told.
fn any_pair(metric: &Metric) -> UnlikeMix {
    UnlikeMix {
        metric: metric.id.clone(),
        subjects: Vec::new(),
        told: "columns that nobody named may have unlike shares of their levels: there are too many cells and pairs \
               of subjects to compare each".to_owned(),
    }
}

/// The levels of a column in one execution: their texts are copied for a subject once, not for each row.
type LevelsOfExecution<'f> = BTreeMap<&'f str, LevelRows>;

/// What one execution has in a column, by metric. Zeros and negative values have no verdict anyway.
fn kinds<'r, 'f>(
    execution: &[usize],
    fields: &'f ColumnText,
    rows: &'r [TableRow],
) -> BTreeMap<&'r SharedName, LevelsOfExecution<'f>> {
    let mut found: BTreeMap<&SharedName, LevelsOfExecution<'_>> = BTreeMap::new();
    for at in execution {
        for Sample { source, data } in &rows[*at].samples {
            let SampleData::Values(values) = data else { continue };
            let level = found.entry(source).or_default().entry(fields.at(*at)).or_default();
            for value in values.iter().filter(|value| **value > 0.0) {
                level.rows += 1.0;
                level.values += value;
                level.squares += value * value;
            }
        }
    }
    for levels in found.values_mut() {
        let count: f64 = levels.values().map(|level| level.rows).sum();
        for level in levels.values_mut().filter(|_| count > 0.0) {
            level.shares = level.rows / count;
        }
    }
    found
}

/// How two subjects hold unlike shares of what a column tells apart. A column of which they have no
/// level in common is one of theirs, as a version is, and tells nothing of a mix.
fn unlike(column: &str, both: [(&SharedName, &Kinds); 2]) -> Option<FoundMix> {
    let [(reference, of_reference), (subject, of_subject)] = both;
    if of_reference.levels.keys().all(|level| !of_subject.levels.contains_key(level)) {
        return None;
    }
    let all = of_reference.levels.keys().chain(of_subject.levels.keys());
    let all: BTreeSet<&String> = all.collect();
    let mut effect = 0.0;
    let mut most: Option<(f64, &str, [f64; 2])> = None;
    let distances = both.map(|(_, kinds)| kinds.distances());
    for level in all {
        let shares = [of_reference.share(level), of_subject.share(level)];
        let apart = (shares[1] - shares[0]).abs();
        let of_both = distances.each_ref().map(|of| of.get(level.as_str()));
        effect += apart * shown(of_both);
        // The first of two levels whose shares differ as much, but for their last digits.
        if most.is_none_or(|(known, ..)| apart > known + 1e-9) {
            most = Some((apart, level.as_str(), shares));
        }
    }
    let (_, level, shares) = most?;
    let [own, other] = shares.map(|share| (10_000.0 * share).round() / 100.0);
    let detail = format!(
        "{column} {level}: {own} % of the rows of {reference}, {other} % of those of {subject}; nobody named \
         the column (--parameter {column} compares each of its levels for itself)"
    );
    Some((effect, detail))
}

impl Kinds {
    fn add(&mut self, other: Self) {
        self.executions += other.executions;
        for (level, more) in other.levels {
            self.levels.entry(level).or_default().add(more);
        }
    }

    /// Adds what one execution has.
    fn add_execution(&mut self, levels: LevelsOfExecution<'_>) {
        self.executions += 1.0;
        for (level, more) in levels {
            match self.levels.get_mut(level) {
                Some(known) => known.add(more),
                None => {
                    self.levels.insert(level.to_owned(), more);
                }
            }
        }
    }

    /// The mean share of a level in the rows of an execution.
    fn share(&self, level: &str) -> f64 {
        self.levels.get(level).map_or(0.0, |kind| kind.shares / self.executions)
    }

    /// How far the mean of each level lies from the middle of all.
    fn distances(&self) -> BTreeMap<&str, Distance> {
        let with_rows = || self.levels.iter().filter(|(_, kind)| kind.rows > 0.0);
        let count = with_rows().count() as f64;
        let rows: f64 = with_rows().map(|(_, kind)| kind.rows).sum();
        let middle = with_rows().map(|(_, kind)| kind.mean()).sum::<f64>() / count;
        if rows <= count {
            return BTreeMap::new();
        }
        let within: f64 = with_rows().map(|(_, kind)| kind.squares_within()).sum();
        let variance = within / (rows - count);
        // Of a mean of means, each of which has its own rows, the error is that of the fewest.
        let all: f64 = with_rows().map(|(_, kind)| kind.rows.recip()).sum();
        let distance = |kind: &LevelRows| {
            let own = (1.0 - count.recip()).powi(2) / kind.rows;
            let of_others = (all - kind.rows.recip()) / (count * count);
            let apart = kind.mean() - middle;
            let share = apart.abs() / kind.mean().min(middle);
            Distance { apart, variance: variance * (own + of_others), share }
        };
        with_rows().map(|(level, kind)| (level.as_str(), distance(kind))).collect()
    }
}

/// How far the mean of a level lies from the middle of all levels' means.
#[derive(Debug, Clone, Copy)]
struct Distance {
    apart: f64,
    /// The square of its standard error.
    variance: f64,
    /// As a share of the smaller of both, which is no less than the logarithm of their ratio.
    share: f64,
}

/// The larger share by which two subjects have a level lie away from its middle; 0 where neither the rows
/// of one of them nor those of both together show that it does.
fn shown(of_both: [Option<&Distance>; 2]) -> f64 {
    let is_shown = |apart: f64, variance: f64| apart.abs() > LEAST_ERRORS * variance.sqrt();
    let together = match of_both {
        [Some(one), Some(other)] if one.variance > 0.0 && other.variance > 0.0 => {
            let weights = [one.variance.recip(), other.variance.recip()];
            let sum = weights[0] + weights[1];
            is_shown((one.apart * weights[0] + other.apart * weights[1]) / sum, sum.recip())
        }
        _ => false,
    };
    let found = || of_both.into_iter().flatten();
    let is_any = together || found().any(|one| is_shown(one.apart, one.variance));
    if is_any { found().map(|one| one.share).fold(0.0, f64::max) } else { 0.0 }
}

impl LevelRows {
    fn add(&mut self, more: Self) {
        self.shares += more.shares;
        self.rows += more.rows;
        self.values += more.values;
        self.squares += more.squares;
    }

    fn mean(&self) -> f64 {
        self.values / self.rows
    }

    /// Squares of the distances from its mean, added up.
    fn squares_within(&self) -> f64 {
        (self.squares - self.values * self.mean()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mapping;
    use crate::picture::imported;
    use crate::tidy::CSV;
    use std::fmt::Write;

    /// Five runs of a subject with so many reads and writes each, of which a write takes `ratio` as long.
    fn rows(subject: &str, [reads, writes]: [usize; 2], ratio: f64) -> String {
        let mut text = String::new();
        let mut number = if subject == "a" { 0.0 } else { 0.4 };
        for run in 1..=5 {
            for row in 0..reads + writes {
                number += 1.7;
                let (op, factor) = if row < reads { ("read", 1.0) } else { ("write", ratio) };
                let value = 100.0 * factor * (1.0 + 0.01 * f64::sin(number));
                let _ = writeln!(text, "{subject},{run},{op},{subject} {op},{value:.4}");
            }
        }
        text
    }

    /// What is told of the files of a table, of which nobody named `op`.
    fn told(files: &[String], column: &str) -> Vec<UnlikeMix> {
        let files: Vec<(&str, String)> =
            files.iter().map(|rows| (&rows[..1], format!("s,run,op,version,v\n{rows}"))).collect();
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(subject, text)| (*subject, text.as_bytes())).collect();
        let own = |name: &str| (column == name).then(|| "run".to_owned());
        let mapping = Mapping {
            subject: Some("s".to_owned()),
            replicate: own("replicate").into_iter().collect(),
            block: own("block"),
            values: vec![Mapping::value("v:lower").unwrap()],
            ..Mapping::default()
        };
        imported(&CSV, &files, &mapping).unwrap().plan.imported.unwrap().mixes
    }

    /// Of 200 rows with an error of 1 one is of the second kind: the middle of both kinds is known half as
    /// well as that row, not as well as 199.
    #[test]
    fn the_error_of_a_middle_is_that_of_the_level_with_the_fewest_rows() {
        let of = |rows: f64, mean: f64| LevelRows {
            shares: rows / 200.0,
            rows,
            values: rows * mean,
            squares: rows * mean * mean + (rows - 1.0),
        };
        let kinds = |mean: f64| {
            let levels =
                [("read".to_owned(), of(199.0, 100.0)), ("write".to_owned(), of(1.0, mean))];
            Kinds { executions: 1.0, levels: BTreeMap::from(levels) }
        };
        let told = |one: f64, other: Option<f64>| {
            let (one, other) = (kinds(one), other.map(kinds));
            let read = |kinds: &Kinds| kinds.distances()["read"];
            let other = other.as_ref().map(read);
            shown([Some(&read(&one)), other.as_ref()]) > 0.0
        };
        assert!(!told(102.0, None), "two standard errors");
        assert!(told(103.0, None), "three");
        assert!(told(102.0, Some(102.0)), "twice two, in one direction");
        assert!(!told(102.0, Some(98.0)), "in two directions");
    }

    #[test]
    fn nothing_is_held_of_more_subjects_than_an_import_may_have() {
        let row = |number: u64| TableRow {
            subject: number.to_string().into(),
            levels: Vec::new(),
            execution: None,
            block: None,
            samples: vec![Sample::value("v".into(), 1.0)].into(),
            failure: None,
        };
        let rows: Vec<TableRow> = (0..=PLAN_SUBJECTS.most).map(row).collect();
        let mut fields = ColumnText::default();
        rows.iter().for_each(|_| fields.push("x"));
        let mut kinds = UnnamedKinds::default();
        kinds.add(&[("op", &fields)], &rows[1..]);
        assert_eq!((kinds.subjects.len(), kinds.is_cut), (rows.len() - 1, false));
        // A subject of a file before it is none more.
        kinds.add(&[("op", &fields)], &rows[1..]);
        assert!(!kinds.is_cut);
        kinds.add(&[("op", &fields)], &rows);
        let cut = UnnamedKinds { is_cut: true, ..UnnamedKinds::default() };
        assert_eq!(kinds, cut);
        kinds.add(&[("op", &fields)], &rows[..1]);
        assert_eq!(kinds, cut);
    }

    #[test]
    fn a_column_of_many_levels_tells_no_kinds_apart() {
        let mut fields = ColumnText::default();
        (0..MOST_KINDS).for_each(|level| fields.push(&level.to_string()));
        fields.push("0");
        assert!(has_few_levels(&fields));
        fields.push("one more");
        assert!(!has_few_levels(&fields));
    }

    #[test]
    fn unlike_shares_of_what_nobody_named_are_told_where_they_may_make_a_tenth_of_the_margin() {
        for (a, b, ratio, expected) in [
            ([9, 1], [1, 9], 3.0, "op read: 90 % of the rows of a, 10 % of those of b; nobody"),
            ([3, 3], [6, 0], 3.0, "op read: 50 % of the rows of a, 100 % of those of b; nobody"),
            ([9, 1], [9, 1], 3.0, ""),
            ([9, 1], [18, 2], 3.0, ""),
            // One row in a hundred of kinds that hardly differ, and kinds that do not differ at all.
            ([90, 10], [89, 11], 1.1, ""),
            ([9, 1], [1, 9], 1.0, ""),
        ] {
            let [a, b] = [rows("a", a, ratio), rows("b", b, ratio)];
            for (files, column) in [
                (vec![format!("{a}{b}")], "replicate"),
                (vec![format!("{a}{b}")], "block"),
                (vec![a, b], "replicate"),
            ] {
                let found = told(&files, column);
                assert_eq!(found.len(), usize::from(!expected.is_empty()), "{column} {found:?}");
                for mix in found {
                    assert_eq!([mix.metric, mix.subjects.join(" ")], ["v", "a b"]);
                    assert!(mix.told.starts_with(expected), "{}", mix.told);
                }
            }
        }
    }
}
