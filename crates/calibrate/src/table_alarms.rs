//! Target 8 of numbers that were imported: caveats of tables without and with their fault.

use crate::alarms::LEAST_TOLD;
use crate::campaigns::repeat;
use crate::cell::{CalibrationCell, PromisedRow};
use crate::imported_tables::{Drift, RowOrder, TableNoise, TableNumbers, TableShape, imported};
use crate::rate::Rate;
use crate::table::Limit;
use model::{CaveatCode, Findings};

/// Target 8 (docs/method.md#m-targets).
pub(crate) const MOST_FALSE_ALARMS: f64 = 0.05;
/// Copies are exact, so that hardly any may be missed.
const LEAST_COPIES: f64 = 0.95;
/// What is asked of every table without blocks.
const CODES: [CaveatCode; 7] = [
    CaveatCode::Drift,
    CaveatCode::Autocorr,
    CaveatCode::Outlier,
    CaveatCode::Skewed,
    CaveatCode::OrderConfounded,
    CaveatCode::Copied,
    CaveatCode::Quantised,
];

/// What is asked of every table with blocks.
const CODES_OF_BLOCKS: [CaveatCode; 9] = [
    CaveatCode::Drift,
    CaveatCode::Autocorr,
    CaveatCode::CarryOver,
    CaveatCode::OrderEffect,
    CaveatCode::OrderConfounded,
    CaveatCode::Outlier,
    CaveatCode::Skewed,
    CaveatCode::Copied,
    CaveatCode::Quantised,
];

/// What is asked of tables whose values are coarse, so that many of them are equal by chance.
const CODES_OF_COARSE: [CaveatCode; 1] = [CaveatCode::Copied];

/// Tables without any fault.
const WITHOUT_FAULT: [(&str, TableShape, &[CaveatCode]); 10] = [
    ("a table in turns", TableShape::IN_TURNS, &CODES),
    ("a shuffled table", SHUFFLED, &CODES),
    ("a shuffled table", TableShape { runs: 20, ..SHUFFLED }, &CODES),
    (
        "turns in a drawn order",
        TableShape { order: RowOrder::DrawnInBlocks, ..TableShape::IN_TURNS },
        &CODES,
    ),
    ("blocks in a drawn order", DRAWN, &CODES_OF_BLOCKS),
    ("blocks in a drawn order", TableShape { runs: 20, ..DRAWN }, &CODES_OF_BLOCKS),
    (
        "a shuffled table of whole numbers",
        TableShape { step: 1.0, runs: 20, ..SHUFFLED },
        &CODES_OF_COARSE,
    ),
    (
        "a shuffled table of ten steps",
        TableShape { step: 10.0, runs: 20, ..SHUFFLED },
        &CODES_OF_COARSE,
    ),
    ("blocks of whole numbers of four digits", FOUR_DIGITS, &CODES_OF_COARSE),
    (
        "blocks of whole numbers of four digits",
        TableShape { runs: 20, ..FOUR_DIGITS },
        &CODES_OF_COARSE,
    ),
];
const FOUR_DIGITS: TableShape = TableShape { numbers: TableNumbers::LongTimes, step: 1.0, ..DRAWN };
const DRAWN: TableShape =
    TableShape { order: RowOrder::DrawnInBlocks, has_blocks: true, ..TableShape::IN_TURNS };
const SHUFFLED: TableShape = TableShape { order: RowOrder::Shuffled, ..TableShape::IN_TURNS };

/// A fault, and the caveat that tells it.
struct TableFault {
    code: CaveatCode,
    name: &'static str,
    shape: TableShape,
    /// How often it is told at least.
    least: f64,
}

impl TableFault {
    /// Some points less than the full calibration of docs/calibration.md counted.
    fn told_at_least(self, least: f64) -> Self {
        Self { least, ..self }
    }
}

fn faults() -> Vec<TableFault> {
    let of = |code, name, shape| TableFault { code, name, shape, least: LEAST_TOLD };
    let noisy = |noise| TableShape { noise, ..SHUFFLED };
    let drifting = TableShape { drift: Drift::Line(0.06), ..SHUFFLED };
    let related = TableShape { runs: 20, ..noisy(TableNoise::Correlated(0.8)) };
    let nearly_sorted = TableShape { order: RowOrder::OneOutOfPlace, ..SHUFFLED };
    let always_second =
        TableShape { order: RowOrder::Alternating, left_behind: 0.03, ..TableShape::IN_TURNS };
    let carried = TableShape { left_behind: 0.05, runs: 40, ..DRAWN };
    let second_is_slower = TableShape { second_is_slower: 0.04, ..DRAWN };
    let second_block = TableShape { order: RowOrder::Alternating, ..DRAWN };
    let coarse = TableShape { step: 10.0, ..SHUFFLED };
    let one_coarse = TableShape { has_one_clock: true, ..coarse };
    vec![
        of(CaveatCode::Drift, "a shuffled table, drift of 6 %", drifting),
        of(CaveatCode::Autocorr, "runs that follow the past, rho 0.8", related).told_at_least(0.94),
        of(CaveatCode::Outlier, "one run takes half as long again", noisy(TableNoise::OneFar)),
        of(CaveatCode::Skewed, "one subject with spikes", noisy(TableNoise::Spikes))
            .told_at_least(0.06),
        of(CaveatCode::OrderConfounded, "a table, one row out of place", nearly_sorted),
        of(CaveatCode::OrderConfounded, "b always after a", always_second),
        of(CaveatCode::OrderConfounded, "blocks, b always after a", second_block),
        of(CaveatCode::CarryOver, "blocks, carry-over of 5 %", carried),
        of(CaveatCode::OrderEffect, "blocks, the second is slower by 4 %", second_is_slower)
            .told_at_least(0.87),
        of(CaveatCode::Quantised, "a table of ten steps", coarse),
        of(CaveatCode::Quantised, "a table of ten steps of one", one_coarse),
    ]
}

/// Copies, each of which another rule tells (docs/method.md#m-copies).
fn copies() -> Vec<TableFault> {
    let of = |name, shape, noise| {
        let shape = TableShape { noise, ..shape };
        TableFault { code: CaveatCode::Copied, name, shape, least: LEAST_COPIES }
    };
    let twenty = TableShape { runs: 20, ..SHUFFLED };
    let blocks = TableShape { runs: 20, ..DRAWN };
    let (once, changing) = (TableNoise::Scaled([1.03; 2]), TableNoise::Scaled([1.03, 0.98]));
    vec![
        of("the values of the other, shuffled", SHUFFLED, TableNoise::Copied),
        of("the values of the other times 1.03", SHUFFLED, once),
        of("the values of the other times two factors", twenty, changing),
        of("the first half of its runs once more", twenty, TableNoise::Repeated),
        of("a block once more", DRAWN, TableNoise::BlockOnceMore),
        of("seven values of the other", blocks, TableNoise::CopiedInPart),
    ]
}

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let without = WITHOUT_FAULT.into_iter().map(|(name, shape, codes)| sound(name, shape, codes));
    without.chain(faults().into_iter().chain(copies()).map(faulty)).collect()
}

fn sound(name: &str, shape: TableShape, codes: &'static [CaveatCode]) -> CalibrationCell {
    let runs = shape.runs;
    let row = |code: &CaveatCode| {
        let name = format!("false alarm {code}, {name}, {runs} runs of each");
        PromisedRow::new(Some(8), name, Limit::AtMost(MOST_FALSE_ALARMS))
    };
    CalibrationCell::of(codes.iter().map(row), move |request| {
        let raised = repeat(request, |repetition| {
            let findings = imported(&shape, repetition)?;
            Ok(codes.iter().map(|code| carries(&findings, *code)).collect::<Vec<bool>>())
        })?;
        Ok(Rate::of_each(codes.len(), &raised))
    })
}

fn faulty(TableFault { code, name, shape, least }: TableFault) -> CalibrationCell {
    let name = format!("{code} told of: {name}, {} runs of each", shape.runs);
    let row = PromisedRow::new(Some(8), name, Limit::AtLeast(least));
    CalibrationCell::of_one(row, move |request| {
        let told = repeat(request, |repetition| Ok(carries(&imported(&shape, repetition)?, code)))?;
        Ok(Rate::of(told))
    })
}

/// Whether a finding, or the campaign itself, carries this caveat.
pub(crate) fn carries(findings: &Findings, code: CaveatCode) -> bool {
    let of_findings = findings.findings.iter().flat_map(|finding| &finding.caveats);
    of_findings.chain(&findings.caveats).any(|caveat| caveat.code == code)
}
