//! Grids: what a campaign found where its workloads span a table of rows and columns, for
//! each subject the values and for each comparison the effects.
//!
//! A plan spans a grid where its workloads differ in one parameter and ask several metrics
//! of one unit (rows are the parameter's values, columns the metrics), or where they differ
//! in two parameters (rows and columns are their values, one grid for each metric).
//!
//! Means over rows or columns summarise, and never decide: the verdicts are those of the
//! cells. The geometric mean gives each cell the same weight whatever its scale, and the
//! ratio of two of them is the geometric mean of the ratios; the arithmetic mean follows
//! the largest cells (Fleming and Wallace, CACM 29(3), 1986; docs/method.md#m-grid).

mod axis;
mod shape;

use crate::inputs::Inputs;
use model::{
    Direction, Finding, Findings, Interval, Plan, Question, Role, Strength, Unit, Verdict,
    round_significant as round,
};
use serde::{Deserialize, Serialize};
use shape::{Shape, shapes};
use stats::{exp, ln, mean};
use std::collections::BTreeMap;

/// Something for each cell: by row, then by column; absent where there is none.
pub type Cells<T> = Vec<Vec<Option<T>>>;

/// One table of workloads and metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// What the values are: the metric, or what the names of several have in common.
    pub measure: String,
    /// Unit of every value.
    pub unit: Unit,
    /// Which way is better, in every cell.
    pub direction: Direction,
    /// Down.
    pub rows: Axis,
    /// Across.
    pub columns: Axis,
    /// What each cell asks; absent where the plan has no such workload.
    pub questions: Cells<CellQuestion>,
    /// The values of each subject, in the plan's order.
    pub subjects: Vec<GridSubject>,
    /// The effects of each comparison, in the plan's order, those of controls last.
    pub comparisons: Vec<GridComparison>,
    /// Whether any of it rests on an emulated processor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_emulated: bool,
}

/// One side of a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Axis {
    /// What it spans: the parameter, `operation` or `metric`.
    pub name: String,
    /// Its steps as people read them; numbers by size, others in the plan's order.
    pub labels: Vec<String>,
    /// The steps as numbers in `unit`, for charts; empty where they are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<f64>,
    /// Unit of the numbers, of sizes and durations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub unit: Option<Unit>,
}

impl Axis {
    /// What one step of it is, in a word: `size` of bytes, else its name.
    pub fn noun(&self) -> &str {
        if self.unit == Some(Unit::Bytes) { "size" } else { &self.name }
    }
}

/// What a cell asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellQuestion {
    /// Workload label.
    pub workload: String,
    /// Metric id.
    pub metric: String,
}

/// The values of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridSubject {
    /// Subject id.
    pub subject: String,
    /// Whether it is the A/A control.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_control: bool,
    /// Its value in each cell; absent where no trial has a valid one.
    pub cells: Cells<GridValue>,
    /// Means over the columns, one for each row; absent where no cell has a value. Empty of
    /// quantiles and shares, which must not be averaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_means: Vec<Option<GridMean>>,
    /// Means over the rows, one for each column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub column_means: Vec<Option<GridMean>>,
}

/// A subject's value in one cell, in the grid's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridValue {
    /// Geometric mean of the runs, as verdicts take it; of shares the plain one.
    pub mean: f64,
    /// Arithmetic mean of the runs, as published tables often have it.
    pub arithmetic: f64,
    /// Every run, by block.
    pub runs: Vec<GridRun>,
}

/// One trial's value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GridRun {
    /// Index of its block; without blocks, of its execution.
    pub block: u32,
    /// Its value, in the grid's unit.
    pub value: f64,
}

/// Means over a row or column of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GridMean {
    /// Geometric mean of the cells' geometric means.
    pub geometric: f64,
    /// Arithmetic mean of the cells' arithmetic means: it follows the largest cells.
    pub arithmetic: f64,
    /// Cells with a value.
    pub cells: usize,
    /// Cells there are.
    pub of: usize,
}

impl GridMean {
    /// Whether cells are missing from it, so that it says little beside one that is complete.
    pub fn is_partial(&self) -> bool {
        self.cells < self.of
    }
}

/// The effects of one subject against another: a heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridComparison {
    /// Subject id.
    pub subject: String,
    /// Reference id.
    pub reference: String,
    /// Whether the subject is the A/A control.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_control: bool,
    /// The effect in each cell; absent where it was not asked.
    pub cells: Cells<GridEffect>,
    /// Geometric means of the ratios over the columns, one for each row: a summary without a
    /// verdict. Empty of quantiles and shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_ratios: Vec<Option<GridRatio>>,
    /// Geometric means of the ratios over the rows, one for each column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub column_ratios: Vec<Option<GridRatio>>,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridEffect {
    /// The oriented ratio, above 1 is better; of a share that of the odds. Absent where
    /// there is no estimate.
    pub ratio: Option<f64>,
    /// Its interval as it is shown: of an equivalence that which decided it, else the unadjusted one.
    pub interval: Option<Interval>,
    /// p of no difference, adjusted by Holm over the family of its finding.
    pub adjusted_difference: Option<f64>,
    /// p of a difference as large as the margin, adjusted likewise.
    pub adjusted_equivalence: Option<f64>,
    /// The finding's verdict.
    pub verdict: Verdict,
    /// How strong a better or worse is.
    pub strength: Option<Strength>,
    /// Pairs of blocks, or replicates of the smaller sample.
    pub pairs: usize,
    /// Whether the ratio is that of odds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_odds: bool,
}

/// A geometric mean of oriented ratios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GridRatio {
    /// The mean.
    pub ratio: f64,
    /// Cells with an estimate.
    pub cells: usize,
    /// Cells there are.
    pub of: usize,
}

impl Grid {
    /// The values of a subject.
    pub fn subject(&self, id: &str) -> Option<&GridSubject> {
        self.subjects.iter().find(|subject| subject.subject == id)
    }

    /// The findings that stand in its cells.
    pub(crate) fn findings<'f>(
        &'f self,
        findings: &'f Findings,
    ) -> impl Iterator<Item = &'f Finding> {
        let places = places(&self.questions);
        findings.findings.iter().filter(move |finding| {
            let question = &finding.question;
            let key = (question.workload.as_str(), question.metric.as_str());
            question.role != Role::Screen && places.contains_key(&key)
        })
    }
}

/// Whether the workloads and metrics of a plan span a grid.
pub fn has_grid(plan: &Plan) -> bool {
    !shapes(plan).is_empty()
}

/// Every grid of a campaign.
pub(crate) fn grids(inputs: &Inputs<'_>) -> Vec<Grid> {
    let shapes = shapes(inputs.plan);
    if shapes.is_empty() {
        return Vec::new();
    }
    let mut runs: BTreeMap<[&str; 3], Vec<GridRun>> = BTreeMap::new();
    for one in inputs.values {
        let key = [one.subject.as_str(), &one.workload, &one.metric];
        runs.entry(key).or_default().push(GridRun { block: one.block, value: one.value });
    }
    shapes.into_iter().map(|shape| grid(inputs, shape, &runs)).collect()
}

fn grid(inputs: &Inputs<'_>, shape: Shape, runs: &BTreeMap<[&str; 3], Vec<GridRun>>) -> Grid {
    let Shape { measure, unit, direction, kind, rows, columns, questions } = shape;
    let subjects = inputs.plan.subjects.iter().map(|subject| {
        let cells = each(&questions, |cell| {
            let runs = runs.get(&[subject.id.as_str(), &cell.workload, &cell.metric])?;
            value(runs, kind)
        });
        let of = |cells: Vec<Option<&GridValue>>| grid_mean(&cells);
        GridSubject {
            subject: subject.id.clone(),
            is_control: subject.is_control,
            row_means: if kind.is_averaged() { by_row(&cells, of) } else { Vec::new() },
            column_means: if kind.is_averaged() { by_column(&cells, of) } else { Vec::new() },
            cells,
        }
    });
    let subjects = subjects.collect();
    let places = places(&questions);
    let asked: Vec<(&Finding, CellIndex)> = inputs
        .findings
        .findings
        .iter()
        .filter(|finding| finding.question.role != Role::Screen)
        .filter_map(|finding| {
            let question = &finding.question;
            let place = places.get(&(question.workload.as_str(), question.metric.as_str()))?;
            Some((finding, *place))
        })
        .collect();
    let comparisons = comparisons(&asked, &questions, kind);
    let is_emulated = asked.iter().any(|(finding, _)| finding.is_emulated);
    Grid { measure, unit, direction, rows, columns, questions, subjects, comparisons, is_emulated }
}

/// Row and column.
type CellIndex = (usize, usize);

/// Where each question is.
fn places(questions: &Cells<CellQuestion>) -> BTreeMap<(&str, &str), CellIndex> {
    let mut places = BTreeMap::new();
    for (row, cells) in questions.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell {
                places.insert((cell.workload.as_str(), cell.metric.as_str()), (row, column));
            }
        }
    }
    places
}

/// What may be done with a grid's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    /// Means of them mean something.
    Averaged,
    /// Quantiles: percentiles are never averaged over cells.
    Quantile,
    /// Shares: they may be zero, and have no geometric mean.
    Share,
}

impl ValueKind {
    fn is_averaged(self) -> bool {
        self == Self::Averaged
    }
}

/// Something for each cell that is asked.
fn each<T>(questions: &Cells<CellQuestion>, of: impl Fn(&CellQuestion) -> Option<T>) -> Cells<T> {
    let row = |row: &Vec<Option<CellQuestion>>| {
        row.iter().map(|cell| cell.as_ref().and_then(&of)).collect()
    };
    questions.iter().map(row).collect()
}

fn by_row<T, M>(cells: &Cells<T>, of: impl Fn(Vec<Option<&T>>) -> M) -> Vec<M> {
    cells.iter().map(|row| of(row.iter().map(Option::as_ref).collect())).collect()
}

fn by_column<T, M>(cells: &Cells<T>, of: impl Fn(Vec<Option<&T>>) -> M) -> Vec<M> {
    let count = cells.first().map_or(0, Vec::len);
    (0..count).map(|column| of(cells.iter().map(|row| row[column].as_ref()).collect())).collect()
}

fn value(runs: &[GridRun], kind: ValueKind) -> Option<GridValue> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let arithmetic = mean(&values)?;
    let mean = if kind == ValueKind::Share { arithmetic } else { geometric(&values)? };
    let mut runs = runs.to_vec();
    runs.sort_by_key(|run| run.block);
    Some(GridValue { mean: round(mean), arithmetic: round(arithmetic), runs })
}

/// The exponential of the mean logarithm; none of nothing, nor where a value has none.
fn geometric(values: &[f64]) -> Option<f64> {
    let is_positive = values.iter().all(|value| *value > 0.0);
    let logs: Vec<f64> = values.iter().copied().map(ln).collect();
    mean(&logs).filter(|_| is_positive).map(exp)
}

fn grid_mean(cells: &[Option<&GridValue>]) -> Option<GridMean> {
    let known: Vec<&GridValue> = cells.iter().copied().flatten().collect();
    let of = |part: fn(&GridValue) -> f64| known.iter().map(|cell| part(cell)).collect::<Vec<_>>();
    Some(GridMean {
        geometric: round(geometric(&of(|cell| cell.mean))?),
        arithmetic: round(mean(&of(|cell| cell.arithmetic))?),
        cells: known.len(),
        of: cells.len(),
    })
}

fn grid_ratio(cells: &[Option<&GridEffect>]) -> Option<GridRatio> {
    let known: Vec<f64> = cells.iter().flatten().filter_map(|cell| cell.ratio).collect();
    let ratio = round(geometric(&known)?);
    Some(GridRatio { ratio, cells: known.len(), of: cells.len() })
}

fn comparisons(
    asked: &[(&Finding, CellIndex)],
    questions: &Cells<CellQuestion>,
    kind: ValueKind,
) -> Vec<GridComparison> {
    let mut comparisons: Vec<GridComparison> = Vec::new();
    let mut places = BTreeMap::new();
    for (finding, (row, column)) in asked {
        let Question { subject, reference, role, .. } = &finding.question;
        let is_control = *role == Role::Control;
        let key = (subject.as_str(), reference.as_str(), is_control);
        let place = *places.entry(key).or_insert_with(|| {
            comparisons.push(GridComparison {
                subject: subject.clone(),
                reference: reference.clone(),
                is_control,
                cells: each(questions, |_| None),
                row_ratios: Vec::new(),
                column_ratios: Vec::new(),
            });
            comparisons.len() - 1
        });
        comparisons[place].cells[*row][*column] = Some(effect(finding));
    }
    comparisons.sort_by_key(|one| one.is_control);
    for one in comparisons.iter_mut().filter(|_| kind.is_averaged()) {
        let of = |cells: Vec<Option<&GridEffect>>| grid_ratio(&cells);
        one.row_ratios = by_row(&one.cells, of);
        one.column_ratios = by_column(&one.cells, of);
    }
    comparisons
}

fn effect(finding: &Finding) -> GridEffect {
    let effect = finding.effect.as_ref();
    GridEffect {
        ratio: effect.map(|effect| effect.ratio),
        interval: finding.shown_interval(),
        adjusted_difference: effect.and_then(|effect| effect.adjusted_difference),
        adjusted_equivalence: effect.and_then(|effect| effect.adjusted_equivalence),
        verdict: finding.verdict,
        strength: finding.strength,
        pairs: finding.pairs,
        is_odds: finding.is_odds,
    }
}
