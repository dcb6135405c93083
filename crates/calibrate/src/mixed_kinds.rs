//! Target 8 of imported tables whose executions have rows of two kinds that nobody named: how often
//! their mixes are called unlike.

use crate::campaigns::repeat;
use crate::cell::{CalibrationCell, PromisedRow};
use crate::draws::Draws;
use crate::imported_tables::{RowOrder, SUBJECTS, TableShape, import, mapping};
use crate::rate::Rate;
use crate::synthetic::SIGMA;
use crate::table::Limit;
use crate::table_alarms::{MOST_FALSE_ALARMS, carries};
use contract::{Error, Result};
use importers::Mapping;
use model::{CaveatCode, Findings};
use std::fmt::Write;

/// Executions of each subject, in turns.
const RUNS: u32 = 10;
/// The kinds of rows, by the column that tells them apart.
const OPERATIONS: [&str; 2] = ["read", "write"];
/// Of mixes that make five times as much as is tolerated, or more, hardly any may be missed.
const LEAST_TOLD: f64 = 0.95;

/// A table of executions of several rows.
struct MixCase {
    name: &'static str,
    /// Reads and writes of an execution of each subject.
    mixes: [[u32; 2]; 2],
    /// How many times as long as a read a write takes.
    ratio: f64,
    has_blocks: bool,
    /// Whether the mix makes a difference between the subjects.
    is_fault: bool,
}

fn cases() -> Vec<MixCase> {
    let sound =
        |name, mixes, ratio| MixCase { name, mixes, ratio, has_blocks: false, is_fault: false };
    let fault = |name, mixes, ratio| MixCase { is_fault: true, ..sound(name, mixes, ratio) };
    let in_blocks = |case| MixCase { has_blocks: true, ..case };
    let (even, more, reversed) = ([[5, 5], [5, 5]], [[5, 5], [4, 6]], [[9, 1], [1, 9]]);
    vec![
        sound("one mix of kinds that differ threefold", even, 3.0),
        in_blocks(sound("blocks, one mix of kinds that differ threefold", even, 3.0)),
        sound("unlike mixes of kinds that do not differ", reversed, 1.0),
        in_blocks(sound("blocks, unlike mixes of kinds that do not differ", reversed, 1.0)),
        fault("a tenth more of a kind that takes threefold", more, 3.0),
        in_blocks(fault("blocks, a tenth more of a kind that takes threefold", more, 3.0)),
        fault("a tenth more of a kind that takes a tenth longer", more, 1.1),
    ]
}

pub(crate) fn cells() -> Vec<CalibrationCell> {
    cases().into_iter().map(cell).collect()
}

fn cell(case: MixCase) -> CalibrationCell {
    let (code, name) = (CaveatCode::UnequalMix, case.name);
    let (name, limit) = if case.is_fault {
        let name = format!("{code} told of: {name}, {RUNS} runs of each");
        (name, Limit::AtLeast(LEAST_TOLD))
    } else {
        let name = format!("false alarm {code}, {name}, {RUNS} runs of each");
        (name, Limit::AtMost(MOST_FALSE_ALARMS))
    };
    CalibrationCell::of_one(PromisedRow::new(Some(8), name, limit), move |request| {
        let told = repeat(request, |repetition| Ok(carries(&judged(&case, repetition)?, code)))?;
        Ok(Rate::of(told))
    })
}

/// The findings of one repetition.
fn judged(case: &MixCase, repetition: u32) -> Result<Findings> {
    let run = || "run".to_owned();
    let mapping = Mapping {
        replicate: if case.has_blocks { Vec::new() } else { vec![run()] },
        block: case.has_blocks.then(run),
        ..mapping()
    };
    let campaign = import(&[table(case, repetition)], &mapping, TableShape::IN_TURNS.margin)
        .map_err(|cause| Error::environment("cannot import a table of the calibration", cause))?;
    Ok(analysis::judge(&campaign.plan, &campaign.records))
}

fn table(case: &MixCase, repetition: u32) -> String {
    let mut draws = Draws::of(repetition);
    let mut text = "subject,run,op,time\n".to_owned();
    let mut runs = [0; 2];
    for arm in RowOrder::InTurns.arms(RUNS, &mut draws) {
        let ratios = [1.0, case.ratio];
        for ((op, count), ratio) in OPERATIONS.into_iter().zip(case.mixes[arm]).zip(ratios) {
            for _ in 0..count {
                let time = 100.0 * ratio * (SIGMA * draws.normal()).exp();
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{},{},{op},{time:.9}", SUBJECTS[arm], runs[arm]);
            }
        }
        runs[arm] += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_has_the_rows_of_its_mix() {
        for case in cases() {
            let text = table(&case, 0);
            for (arm, subject) in SUBJECTS.into_iter().enumerate() {
                for (op, expected) in OPERATIONS.into_iter().zip(case.mixes[arm]) {
                    for run in 0..RUNS {
                        let begins = format!("{subject},{run},{op},");
                        let counted = text.lines().filter(|line| line.starts_with(&begins));
                        assert_eq!(counted.count() as u32, expected, "{begins} of {}", case.name);
                    }
                }
            }
        }
    }

    #[test]
    fn a_mix_that_makes_a_difference_is_told_of_and_one_that_all_have_is_not() {
        for case in cases() {
            if case.is_fault || case.ratio > 1.0 {
                let told = carries(&judged(&case, 0).unwrap(), CaveatCode::UnequalMix);
                assert_eq!(told, case.is_fault, "{}", case.name);
            }
        }
    }
}
