//! Target 8 of numbers that were imported: caveats of tables without and with their fault.

use crate::CalibrationRequest;
use crate::campaigns::repeat;
use crate::imported_tables::{Drift, RowOrder, TableNoise, TableShape, imported};
use crate::rate::Rate;
use crate::table::{CalibrationRow, Limit};
use contract::Result;
use model::{CaveatCode, Findings};

/// Target 8 (docs/method.md#m-targets).
const MOST_FALSE_ALARMS: f64 = 0.05;
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
const CODES_OF_BLOCKS: [CaveatCode; 8] = [
    CaveatCode::Drift,
    CaveatCode::Autocorr,
    CaveatCode::CarryOver,
    CaveatCode::OrderEffect,
    CaveatCode::OrderConfounded,
    CaveatCode::Outlier,
    CaveatCode::Skewed,
    CaveatCode::Quantised,
];

/// Tables without any fault.
const WITHOUT_FAULT: [(&str, TableShape, &[CaveatCode]); 6] = [
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
];
const DRAWN: TableShape =
    TableShape { order: RowOrder::DrawnInBlocks, has_blocks: true, ..TableShape::IN_TURNS };
const SHUFFLED: TableShape = TableShape { order: RowOrder::Shuffled, ..TableShape::IN_TURNS };

/// A fault, and the caveat that tells it.
struct TableFault {
    code: CaveatCode,
    name: &'static str,
    shape: TableShape,
}

fn faults() -> Vec<TableFault> {
    let of = |code, name, shape| TableFault { code, name, shape };
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
        of(CaveatCode::Autocorr, "runs that follow the past, rho 0.8", related),
        of(CaveatCode::Outlier, "one run takes half as long again", noisy(TableNoise::OneFar)),
        of(CaveatCode::Skewed, "one subject with spikes", noisy(TableNoise::Spikes)),
        of(CaveatCode::OrderConfounded, "a table, one row out of place", nearly_sorted),
        of(CaveatCode::OrderConfounded, "b always after a", always_second),
        of(CaveatCode::OrderConfounded, "blocks, b always after a", second_block),
        of(CaveatCode::CarryOver, "blocks, carry-over of 5 %", carried),
        of(CaveatCode::OrderEffect, "blocks, the second is slower by 4 %", second_is_slower),
        of(CaveatCode::Copied, "the values of the other, shuffled", noisy(TableNoise::Copied)),
        of(CaveatCode::Quantised, "a table of ten steps", coarse),
        of(CaveatCode::Quantised, "a table of ten steps of one", one_coarse),
    ]
}

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for (name, shape, codes) in WITHOUT_FAULT {
        let runs = shape.runs;
        let row = |code: &CaveatCode| format!("false alarm {code}, {name}, {runs} runs of each");
        let named: Vec<String> = codes.iter().map(row).collect();
        if !named.iter().any(|name| name.contains(request.only)) {
            continue;
        }
        let raised = repeat(request, |repetition| {
            let findings = imported(&shape, repetition)?;
            Ok(codes.iter().map(|code| carries(&findings, *code)).collect::<Vec<bool>>())
        })?;
        for (index, name) in named.into_iter().enumerate() {
            let rate = Rate::of(raised.iter().map(|codes| codes[index]));
            let limit = Limit::AtMost(MOST_FALSE_ALARMS);
            rows.push(CalibrationRow::new(Some(8), name, rate, limit));
        }
    }
    for TableFault { code, name, shape } in faults() {
        let name = format!("{code} told of: {name}, {} runs of each", shape.runs);
        if !name.contains(request.only) {
            continue;
        }
        let told = repeat(request, |repetition| Ok(carries(&imported(&shape, repetition)?, code)))?;
        rows.push(CalibrationRow::new(None, name, Rate::of(told), Limit::None));
    }
    Ok(rows)
}

/// Whether a finding, or the campaign itself, carries this caveat.
fn carries(findings: &Findings, code: CaveatCode) -> bool {
    let of_findings = findings.findings.iter().flat_map(|finding| &finding.caveats);
    of_findings.chain(&findings.caveats).any(|caveat| caveat.code == code)
}
