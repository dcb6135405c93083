//! Target 13: numbers that were imported, through the importer that users run.

use crate::CalibrationRequest;
use crate::campaigns::repeat;
use crate::draws::Draws;
use crate::rate::Rate;
use crate::synthetic::{NO_SHELTER, SIGMA, THETA};
use crate::table::{CalibrationRow, Limit};
use contract::{Error, Result};
use importers::{IMPORTERS, ImportFile, ImportSettings, Mapping, MappingDirection, ValueColumn};
use model::{Comparisons, Findings, Verdict};
use std::fmt::Write;

/// Target 13 (docs/method.md#m-targets).
const MOST: f64 = 0.055;
const MOST_EQUIVALENT: f64 = 0.065;
const MARGIN: f64 = 0.02;
/// Runs of each of two subjects.
const RUNS: u32 = 10;

/// The order of a table's rows.
#[derive(Clone, Copy, PartialEq)]
enum RowOrder {
    /// A subject and then the other.
    OneAfterTheOther,
    /// In turns.
    InTurns,
}

/// A table.
struct TableCase {
    name: &'static str,
    has_blocks: bool,
    order: RowOrder,
    /// From one row to the next, on the scale of logarithms.
    drift: f64,
    /// Logarithm of the true ratio.
    effect: f64,
    /// Of the clock that gave the numbers, of which each is about 100; 0 of an exact one.
    step: f64,
    /// Whether each is the 99th percentile of so many exponential events.
    is_percentile: bool,
    is_wrong: fn(Verdict) -> bool,
    limit: f64,
}

impl TableCase {
    fn steps(self, step: f64) -> Self {
        Self { step, ..self }
    }

    fn percentiles(self) -> Self {
        Self { is_percentile: true, ..self }
    }
}

fn cases() -> Vec<TableCase> {
    let different = |verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
    let equivalent = |verdict| verdict == Verdict::Equivalent;
    let of = |name, has_blocks, order, drift, effect| {
        let (is_wrong, limit): (fn(Verdict) -> bool, f64) =
            if effect > 0.0 { (equivalent, MOST_EQUIVALENT) } else { (different, MOST) };
        TableCase {
            name,
            has_blocks,
            order,
            drift,
            effect,
            step: 0.0,
            is_percentile: false,
            is_wrong,
            limit,
        }
    };
    let (in_turns, in_a_row) = (RowOrder::InTurns, RowOrder::OneAfterTheOther);
    // ln 1.02: a difference of the margin itself.
    let (margin, twice) = (THETA, 2.0 * THETA);
    vec![
        of("different: a table in turns", false, in_turns, 0.0, 0.0),
        of("different: a table in turns, drift of 3 %", false, in_turns, 0.0015, 0.0),
        of("different: a table, one after the other", false, in_a_row, 0.0, 0.0),
        of("different: a table, one after the other, drift of 3 %", false, in_a_row, 0.0015, 0.0),
        of("different: a table with blocks", true, in_turns, 0.0, 0.0),
        of("equivalent at the margin itself: a table in turns", false, in_turns, 0.0, margin),
        of("equivalent at the margin itself: a table with blocks", true, in_turns, 0.0, margin),
        of("different: a table of 99th percentiles, in turns", false, in_turns, 0.0, 0.0)
            .percentiles(),
        of("different: a table of 99th percentiles, blocks", true, in_turns, 0.0, 0.0)
            .percentiles(),
        of("different: a table of whole numbers, in turns", false, in_turns, 0.0, 0.0).steps(1.0),
        of("different: a table of whole numbers with blocks", true, in_turns, 0.0, 0.0).steps(1.0),
        of("equivalent at twice the margin: a table of ten steps", false, in_turns, 0.0, twice)
            .steps(10.0),
        of("equivalent at twice the margin: ten steps, blocks", true, in_turns, 0.0, twice)
            .steps(10.0),
    ]
}

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for case in cases() {
        if !case.name.contains(request.only) {
            continue;
        }
        let wrong = repeat(request, |repetition| {
            let findings = imported(&case, repetition)?;
            Ok(findings.findings.iter().any(|finding| (case.is_wrong)(finding.verdict)))
        })?;
        let limit = Limit::AtMost(case.limit);
        rows.push(CalibrationRow::new(Some(13), case.name, Rate::of(wrong), limit));
    }
    Ok(rows)
}

fn imported(case: &TableCase, repetition: u32) -> Result<Findings> {
    let text = table(case, repetition);
    let source = ImportFile { subject: "table", execution: 1, bytes: text.as_bytes() };
    let time = ValueColumn {
        column: "time".to_owned(),
        direction: Some(MappingDirection::Lower),
        unit: Some("ms".to_owned()),
    };
    let run = || "run".to_owned();
    let mapping = Mapping {
        subject: Some("subject".to_owned()),
        replicate: if case.has_blocks { Vec::new() } else { vec![run()] },
        block: case.has_blocks.then(run),
        values: vec![time],
        ..Mapping::default()
    };
    let settings = ImportSettings {
        name: "calibration".to_owned(),
        title: "calibration".to_owned(),
        files: "table".to_owned(),
        reference: None,
        comparisons: Comparisons::Reference,
        margin: Some(if case.effect > 0.0 { MARGIN } else { NO_SHELTER }),
        alpha: 0.05,
    };
    let attempted = "cannot import a table of the calibration";
    let csv = IMPORTERS
        .iter()
        .find(|importer| importer.describe().id == "csv")
        .ok_or_else(|| Error::environment(attempted, "there is no importer of tables"))?;
    let campaign = importers::import(*csv, &[source], &mapping, &settings)
        .map_err(|(_, trouble)| Error::environment(attempted, trouble.cause))?;
    Ok(analysis::judge(&campaign.plan, &campaign.records))
}

fn table(case: &TableCase, repetition: u32) -> String {
    let mut draws = Draws::of(repetition);
    let mut text = "subject,run,time\n".to_owned();
    for row in 0..2 * RUNS {
        let (arm, run) = match case.order {
            // The first of a pair changes, as in a table that somebody randomised.
            RowOrder::InTurns => ((row + row / 2) % 2, row / 2),
            RowOrder::OneAfterTheOther => (row / RUNS, row % RUNS),
        };
        let effect = f64::from(arm) * case.effect;
        let log = SIGMA * draws.normal() + case.drift * f64::from(row) + effect;
        let unit = if case.is_percentile { percentile(&mut draws) } else { 100.0 };
        let exact = unit * log.exp();
        let value = if case.step > 0.0 { (exact / case.step).round() * case.step } else { exact };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{run},{value:.9}", ["a", "b"][arm as usize]);
    }
    text
}

/// The 20th largest of 2,000 exponential events: a sum of independent ones of the means 1/2000 to 1/20
/// (Rényi 1953).
fn percentile(draws: &mut Draws) -> f64 {
    (20..=2_000_u32).map(|left| draws.exponential() / f64::from(left)).sum()
}
