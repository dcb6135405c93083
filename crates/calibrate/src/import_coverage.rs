//! Target 13: intervals of imported numbers, and noise of them that Welch's t does not expect.

use crate::campaigns::repeat;
use crate::cell::{CalibrationCell, PromisedRow};
use crate::false_positives::{coverage, coverage_rows};
use crate::imported_tables::{RowOrder, TableNoise, TableNumbers, TableShape, imported};
use crate::rate::Rate;
use crate::synthetic::NO_SHELTER;
use crate::table::Limit;
use model::{Findings, Verdict};

/// Target 13 (docs/method.md#m-targets).
const COVERAGE: Limit = Limit::Between(0.94, 0.98);
const COVERAGE_OF_SPIKES: Limit = Limit::Between(0.92, 0.98);
const MOST: Limit = Limit::AtMost(0.055);
const MOST_OF_SPIKES: Limit = Limit::AtMost(0.08);

/// A table in which nothing differs.
struct NoiseOfTable {
    name: &'static str,
    shape: TableShape,
    /// Of *better* and *worse*; none where other rows count these.
    different: Option<Limit>,
    /// Of the interval; none where what it holds is known to be wrong.
    coverage: Option<Limit>,
}

fn cases() -> Vec<NoiseOfTable> {
    let in_turns = TableShape { margin: NO_SHELTER, ..TableShape::IN_TURNS };
    let blocks = TableShape { has_blocks: true, ..in_turns };
    let of_numbers = |numbers| TableShape { numbers, ..in_turns };
    let of_order = |order| TableShape { order, ..in_turns };
    let drawn = TableShape { order: RowOrder::DrawnInBlocks, ..blocks };
    let spiky = |shape| TableShape { noise: TableNoise::Spikes, ..shape };
    let follows = |rho, runs| TableShape { noise: TableNoise::Correlated(rho), runs, ..in_turns };
    let covered =
        |name, shape| NoiseOfTable { name, shape, different: None, coverage: Some(COVERAGE) };
    let with_spikes = |name, shape| NoiseOfTable {
        name,
        shape: spiky(shape),
        different: Some(MOST_OF_SPIKES),
        coverage: Some(COVERAGE_OF_SPIKES),
    };
    let different =
        |name, shape, limit| NoiseOfTable { name, shape, different: Some(limit), coverage: None };
    vec![
        covered("a table in turns", in_turns),
        covered("a shuffled table", of_order(RowOrder::Shuffled)),
        covered("a table with blocks", blocks),
        covered("blocks in a drawn order", drawn),
        covered("a table of 99th percentiles, in turns", of_numbers(TableNumbers::Percentiles)),
        covered("a table of shares of 20,000, in turns", of_numbers(TableNumbers::Shares)),
        with_spikes("a table in turns, one subject with spikes", in_turns),
        with_spikes("blocks in a drawn order, one subject with spikes", drawn),
        different("runs that follow the past, rho 0.5, 10 of each", follows(0.5, 10), Limit::None),
        different("runs that follow the past, rho 0.8, 10 of each", follows(0.8, 10), Limit::None),
        different("runs that follow the past, rho 0.5, 40 of each", follows(0.5, 40), MOST),
        different("runs that follow the past, rho 0.8, 40 of each", follows(0.8, 40), MOST),
    ]
}

pub(crate) fn cells() -> Vec<CalibrationCell> {
    cases().into_iter().map(cell).collect()
}

fn cell(case: NoiseOfTable) -> CalibrationCell {
    let mut rows = Vec::new();
    if let Some(limit) = case.different {
        let target = (limit != Limit::None).then_some(13);
        rows.push(PromisedRow::new(target, format!("different: {}", case.name), limit));
    }
    if let Some(limit) = case.coverage {
        let names =
            ["truth inside", "without an interval"].map(|what| format!("{what}: {}", case.name));
        rows.extend(coverage_rows(13, names, limit));
    }
    CalibrationCell::of(rows, move |request| {
        let outcomes = repeat(request, |repetition| {
            let findings = imported(&case.shape, repetition)?;
            Ok((is_different(&findings), has_one_inside(&findings)))
        })?;
        let mut rates = Vec::new();
        if case.different.is_some() {
            rates.push(Rate::of(outcomes.iter().map(|(different, _)| *different)));
        }
        if case.coverage.is_some() {
            let inside: Vec<Option<bool>> = outcomes.iter().map(|(_, inside)| *inside).collect();
            rates.extend(coverage(&inside));
        }
        Ok(rates)
    })
}

fn is_different(findings: &Findings) -> bool {
    let mut all = findings.findings.iter();
    all.any(|finding| matches!(finding.verdict, Verdict::Better | Verdict::Worse))
}

/// Whether the interval holds the ratio 1; none where there is no interval.
fn has_one_inside(findings: &Findings) -> Option<bool> {
    let effect = findings.findings.first()?.effect.as_ref()?;
    Some(effect.interval.low <= 1.0 && 1.0 <= effect.interval.high)
}
