//! The sheets of values: for each subject its runs side by side, and all of them one below
//! the other.

use super::sheet::{Cell, Rows, value};
use super::why_hidden;
use crate::grid::{Grid, GridRun, GridSubject};
use crate::observed::places_are_known;
use crate::quantities::stored_unit;
use crate::trial_codes::TrialCodes;
use crate::view::{Report, SubjectView};
use model::{Outcome, Unit};
use phrases::{Language, noted, say};
use rust_xlsxwriter::{Worksheet, XlsxError};
use stats::{exp, ln, mean};
use std::collections::{BTreeMap, BTreeSet};

/// The columns of runs: a block has the same one on every sheet. Replicates without blocks
/// stand in the order of their numbers.
struct RunColumns {
    blocks: Option<Vec<u32>>,
    count: usize,
    language: Language,
}

impl RunColumns {
    fn of(report: &Report) -> Self {
        if report.design.is_unblocked() {
            let mut counts: BTreeMap<[&str; 3], usize> = BTreeMap::new();
            for one in &report.values {
                *counts.entry([&one.subject, &one.workload, &one.metric]).or_default() += 1;
            }
            let count = counts.into_values().max().unwrap_or(0);
            return Self { blocks: None, count, language: report.language };
        }
        let blocks: BTreeSet<u32> = report.values.iter().map(|one| one.block).collect();
        let count = blocks.len();
        let blocks = Some(blocks.into_iter().collect());
        Self { count, blocks, language: report.language }
    }

    fn titles(&self) -> impl Iterator<Item = String> {
        (1..=self.count).map(|number| say!(self.language, "run {number}", number))
    }

    /// The cells of these runs, empty where there is none.
    fn cells(&self, runs: &[GridRun], unit: Unit) -> Vec<Cell> {
        let mut cells = vec![Cell::Empty; self.count];
        for (index, run) in runs.iter().enumerate() {
            let place = match &self.blocks {
                Some(blocks) => blocks.binary_search(&run.block).ok(),
                None => Some(index),
            };
            if let Some(cell) = place.and_then(|place| cells.get_mut(place)) {
                *cell = value(run.value, unit);
            }
        }
        cells
    }
}

/// Units by workload and metric, of all that is known.
fn units(report: &Report) -> BTreeMap<(&str, &str), Unit> {
    let sources = report.units.iter().flat_map(|(workload, of_sources)| {
        of_sources.iter().map(move |(source, unit)| ((workload.as_str(), source.as_str()), *unit))
    });
    let questions = report.findings.findings.iter().map(|finding| {
        let question = &finding.question;
        ((question.workload.as_str(), question.metric.as_str()), question.unit)
    });
    sources.chain(questions).collect()
}

/// The sheet of one subject.
pub(super) fn write(
    report: &Report,
    subject: &SubjectView,
    sheet: &mut Worksheet,
) -> Result<(), XlsxError> {
    let mut rows = Rows::of(sheet, report.language);
    if let Some(why) = why_hidden(report) {
        return rows.note(why);
    }
    let columns = RunColumns::of(report);
    let mut in_grids: BTreeSet<(&str, &str)> = BTreeSet::new();
    for grid in &report.grids {
        let Some(values) = grid.subject(&subject.id) else { continue };
        let cells = grid.questions.iter().flatten().flatten();
        in_grids.extend(cells.map(|cell| (cell.workload.as_str(), cell.metric.as_str())));
        if report.grids.len() > 1 {
            rows.heading(&grid.measure)?;
        }
        of_grid(grid, values, &columns, &mut rows)?;
        rows.skip();
    }
    others(report, &subject.id, &columns, &in_grids, &mut rows)?;
    let runs = vec![14; columns.count + 3];
    rows.widths(&[&[16, 16][..], &runs].concat())
}

fn titles(first: [&str; 2], columns: &RunColumns) -> Vec<String> {
    let mut titles: Vec<String> = first.map(str::to_owned).into();
    titles.extend(columns.titles());
    let language = columns.language;
    let further = [
        language.word("mean (geometric)"),
        language.word("mean (arithmetic)"),
        language.word("unit"),
    ];
    titles.extend(further.map(str::to_owned));
    titles
}

/// Every cell of a grid, row by row within each column; cells without a value keep their
/// row.
fn of_grid(
    grid: &Grid,
    values: &GridSubject,
    columns: &RunColumns,
    rows: &mut Rows<'_>,
) -> Result<(), XlsxError> {
    rows.titles(titles([&grid.columns.name, &grid.rows.name], columns))?;
    for (column, operation) in grid.columns.labels.iter().enumerate() {
        for (row, step) in grid.rows.labels.iter().enumerate() {
            if grid.questions[row][column].is_none() {
                continue;
            }
            let found = values.cells[row][column].as_ref();
            let mut cells: Vec<Cell> = vec![operation.into(), step.into()];
            cells.extend(columns.cells(found.map_or(&[], |cell| &cell.runs), grid.unit));
            let runs: Vec<f64> =
                found.iter().flat_map(|cell| &cell.runs).map(|run| run.value).collect();
            cells.extend(means(&runs, grid.unit));
            cells.push(stored_unit(grid.unit).into());
            rows.row(cells)?;
        }
    }
    Ok(())
}

/// The geometric mean, where there is one, and the arithmetic.
fn means(runs: &[f64], unit: Unit) -> [Cell; 2] {
    let has_logs = runs.iter().all(|run| *run > 0.0);
    let logs: Vec<f64> = runs.iter().copied().map(ln).collect();
    let geometric = mean(&logs).filter(|_| has_logs).map(exp);
    [geometric, mean(runs)].map(|known| {
        known.map_or(Cell::Empty, |known| value(model::round_significant(known), unit))
    })
}

/// What is in no grid: metrics by workload.
fn others(
    report: &Report,
    subject: &str,
    columns: &RunColumns,
    in_grids: &BTreeSet<(&str, &str)>,
    rows: &mut Rows<'_>,
) -> Result<(), XlsxError> {
    // In the order in which the plan has workloads and reports have metrics.
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut runs: BTreeMap<(&str, &str), Vec<GridRun>> = BTreeMap::new();
    for one in report.values.iter().filter(|one| one.subject == subject) {
        let key = (one.workload.as_str(), one.metric.as_str());
        if in_grids.contains(&key) {
            continue;
        }
        let own = runs.entry(key).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        own.push(GridRun { block: one.block, value: one.value });
    }
    let workloads = report.design.workloads.iter().map(String::as_str);
    let places: BTreeMap<&str, usize> = workloads.zip(0..).collect();
    order.sort_by_key(|(workload, _)| places.get(workload).copied());
    if order.is_empty() && !rows.is_empty() {
        return Ok(());
    }
    let language = report.language;
    rows.titles(titles([language.word("workload"), language.word("metric")], columns))?;
    let units = units(report);
    for key in order {
        let own = &runs[&key];
        let unit = units.get(&key).copied().unwrap_or(Unit::Plain);
        let mut cells: Vec<Cell> = vec![key.0.into(), key.1.into()];
        cells.extend(columns.cells(own, unit));
        let values: Vec<f64> = own.iter().map(|run| run.value).collect();
        cells.extend(means(&values, unit));
        cells.push(stored_unit(unit).into());
        rows.row(cells)?;
    }
    Ok(())
}

/// Where a trial stands: what blocks have, and what an import without blocks has.
const IN_BLOCKS: [&str; 2] = [noted!("block"), noted!("position")];
const WITHOUT_BLOCKS: [&str; 1] = [noted!("execution")];

const RAW: [&str; 8] = [
    noted!("subject"),
    noted!("workload"),
    noted!("metric"),
    noted!("value"),
    noted!("unit"),
    noted!("outcome"),
    noted!("caveats"),
    noted!("detail"),
];

/// Block, subject and workload.
type TrialKey<'a> = (u32, &'a str, &'a str);

/// A row for each trial and metric; a trial without a value has one row that says why.
pub(super) fn write_raw(report: &Report, sheet: &mut Worksheet) -> Result<(), XlsxError> {
    let mut rows = Rows::of(sheet, report.language);
    let language = report.language;
    let is_unblocked = report.design.is_unblocked();
    let place = if is_unblocked { &WITHOUT_BLOCKS[..] } else { &IN_BLOCKS };
    let titles = place.iter().chain(&RAW).map(|title| language.word(title).to_owned());
    rows.titles(titles.collect())?;
    let mut values: BTreeMap<TrialKey<'_>, Vec<(&str, f64)>> = BTreeMap::new();
    for one in &report.values {
        let of_trial = values.entry((one.block, &one.subject, &one.workload)).or_default();
        of_trial.push((&one.metric, one.value));
    }
    // Of trials that ran again the last one has the values.
    let mut last: BTreeMap<TrialKey<'_>, u64> = BTreeMap::new();
    for record in &report.records {
        let number = last
            .entry((record.block, &record.subject, &record.workload))
            .or_insert(record.sequence);
        *number = record.sequence.max(*number);
    }
    let (units, all_codes) = (units(report), TrialCodes::of(report));
    for record in &report.records {
        let key = (record.block, record.subject.as_str(), record.workload.as_str());
        let is_counted = record.outcome == Outcome::Completed && last[&key] == record.sequence;
        let (outcome, detail) = match &record.outcome {
            Outcome::Completed => (language.word("completed"), String::new()),
            Outcome::Failed { reason } => (language.word("failed"), reason.clone()),
            Outcome::Invalid { rule, detail } => {
                (language.word("invalid"), format!("{rule}: {detail}"))
            }
        };
        let codes = all_codes.of_trial(record);
        let own = values.get(&key).filter(|_| is_counted).map_or(&[][..], Vec::as_slice);
        let mut put = |metric: Cell, number: Cell, unit: &str| {
            let mut cells: Vec<Cell> = vec![(record.block + 1).into()];
            if !is_unblocked {
                cells.push(places_are_known(report).then_some(record.position + 1).into());
            }
            let others: [Cell; RAW.len()] = [
                key.1.into(),
                key.2.into(),
                metric,
                number,
                unit.into(),
                outcome.into(),
                codes.as_str().into(),
                detail.as_str().into(),
            ];
            cells.extend(others);
            rows.row(cells)
        };
        if own.is_empty() {
            put(Cell::Empty, Cell::Empty, "")?;
        }
        for (metric, number) in own {
            let unit = units.get(&(key.2, *metric)).map_or("", |unit| stored_unit(*unit));
            put((*metric).into(), (*number).into(), unit)?;
        }
    }
    let widths: &[usize] = if is_unblocked {
        &[10, 20, 20, 28, 18, 8, 10, 16, 40]
    } else {
        &[6, 8, 20, 20, 28, 18, 8, 10, 16, 40]
    };
    rows.widths(widths)
}
