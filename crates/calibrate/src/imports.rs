//! Target 13: numbers that were imported, through the importer that users run.

use crate::campaigns::repeat;
use crate::cell::{CalibrationCell, PromisedRow};
use crate::imported_tables::{
    Drift, RowOrder, TableNumbers, TableShape, import, imported, imported_with, mapping,
};
use crate::rate::Rate;
use crate::synthetic::{NO_SHELTER, THETA};
use crate::table::Limit;
use importers::Mapping;
use model::{
    Claim, ClaimOutcome, ClaimShape, ClaimedEffect, ClaimedOver, Findings, Plan, UseCase, Verdict,
    Weight, WorkloadPlan,
};
use std::fmt::Write;

/// Target 13 (docs/method.md#m-targets).
const MOST: f64 = 0.055;
const MOST_EQUIVALENT: f64 = 0.065;
/// From the first row of a table to the last, on the scale of logarithms.
const DRIFT: f64 = 0.03;
/// A difference that is found most of the time, but not always, on the scale of logarithms.
const FINDABLE: f64 = 0.015;

/// A table, and what is counted of it.
struct TableCase {
    name: &'static str,
    shape: TableShape,
    is_counted: fn(Verdict) -> bool,
    limit: Limit,
}

impl TableCase {
    /// Nothing differs, and no margin hides what is said all the same.
    fn different(name: &'static str, shape: TableShape) -> Self {
        let shape = TableShape { margin: NO_SHELTER, ..shape };
        Self { name, shape, is_counted: is_different, limit: Limit::AtMost(MOST) }
    }

    /// The values differ by so much, and that is said not to matter.
    fn equivalent(name: &'static str, shape: TableShape, effect: f64) -> Self {
        let shape = TableShape { effect, ..shape };
        Self { name, shape, is_counted: is_equivalent, limit: Limit::AtMost(MOST_EQUIVALENT) }
    }

    /// The values differ, and that is found: three points less than the full calibration of
    /// docs/calibration.md counted, as of all that is found or shown here.
    fn found(name: &'static str, shape: TableShape, least: f64) -> Self {
        let shape = TableShape { effect: FINDABLE, margin: NO_SHELTER, ..shape };
        Self { name, shape, is_counted: is_different, limit: Limit::AtLeast(least) }
    }
}

fn is_different(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

fn is_equivalent(verdict: Verdict) -> bool {
    verdict == Verdict::Equivalent
}

/// Tables in this order, with this drift.
fn ordered(order: RowOrder, drift: Drift) -> TableShape {
    TableShape { order, drift, ..TableShape::IN_TURNS }
}

/// Orders and drifts.
fn orders() -> Vec<TableCase> {
    use RowOrder::{InHalves, InTheMiddle, InTurns, OneAfterTheOther, OneOutOfPlace, Shuffled};
    let of = TableCase::different;
    let drifting = |order| ordered(order, Drift::Line(DRIFT));
    let steady = |order| ordered(order, Drift::Line(0.0));
    let with_hump = ordered(InTheMiddle, Drift::Hump(DRIFT));
    vec![
        of("different: a table in turns", steady(InTurns)),
        of("different: a table in turns, drift of 3 %", drifting(InTurns)),
        of("different: a table, one after the other", steady(OneAfterTheOther)),
        of("different: a table, one after the other, drift of 3 %", drifting(OneAfterTheOther)),
        of("different: a table, one row out of place, drift of 3 %", drifting(OneOutOfPlace)),
        of("different: a table, one in the middle (a5 b10 a5), hump of 3 %", with_hump),
        of("different: a table in halves (a5 b5 a5 b5), drift of 3 %", drifting(InHalves)),
        of("different: a shuffled table", steady(Shuffled)),
        of("different: a shuffled table, drift of 3 %", drifting(Shuffled)),
        TableCase::found("power at +1.5 %: a table in turns", steady(InTurns), 0.834),
        TableCase::found("power at +1.5 %: a shuffled table", steady(Shuffled), 0.805),
    ]
}

/// All runs of one subject and then all of the other, while the machine drifts: what the blocks are
/// called does not mend it, and in two files no order of the subjects is known.
fn apart() -> Vec<TableCase> {
    let of = TableCase::different;
    let table = ordered(RowOrder::OneAfterTheOther, Drift::Line(DRIFT));
    let blocks = TableShape { has_blocks: true, ..table };
    let in_two = |shape| TableShape { has_two_files: true, ..shape };
    vec![
        of("different: blocks, one after the other, drift of 3 %", blocks),
        of("different: blocks of two files, one after the other, drift of 3 %", in_two(blocks)),
        of("different: a table of two files, one after the other, drift of 3 %", in_two(table)),
    ]
}

/// Blocks, margins, percentiles, clocks.
fn kinds() -> Vec<TableCase> {
    let in_turns = TableShape::IN_TURNS;
    let blocks = TableShape { has_blocks: true, ..in_turns };
    let of = |numbers, shape| TableShape { numbers, ..shape };
    let (percentiles, shares) = (TableNumbers::Percentiles, TableNumbers::Shares);
    let of_steps = |step, shape| TableShape { step, ..shape };
    let (different, equivalent) = (TableCase::different, TableCase::equivalent);
    let twice = 2.0 * THETA;
    vec![
        different("different: a table with blocks", blocks),
        equivalent("equivalent at the margin itself: a table in turns", in_turns, THETA),
        equivalent("equivalent at the margin itself: a table with blocks", blocks, THETA),
        different("different: a table of 99th percentiles, in turns", of(percentiles, in_turns)),
        different("different: a table of 99th percentiles, blocks", of(percentiles, blocks)),
        different("different: a table of shares of 20,000, in turns", of(shares, in_turns)),
        different("different: a table of shares of 20,000, blocks", of(shares, blocks)),
        equivalent(
            "equivalent at the margin itself: shares of 20,000, in turns",
            of(shares, in_turns),
            THETA,
        ),
        equivalent(
            "equivalent at the margin itself: shares of 20,000, blocks",
            of(shares, blocks),
            THETA,
        ),
        different("different: a table of whole numbers, in turns", of_steps(1.0, in_turns)),
        different("different: a table of whole numbers with blocks", of_steps(1.0, blocks)),
        equivalent(
            "equivalent at twice the margin: a table of ten steps",
            of_steps(10.0, in_turns),
            twice,
        ),
        equivalent(
            "equivalent at twice the margin: ten steps, blocks",
            of_steps(10.0, blocks),
            twice,
        ),
    ]
}

/// A clock of ten steps that one subject alone has: at 9.3 it shows 100 as 102.3.
fn one_clock() -> Vec<TableCase> {
    let of = |step, has_blocks| TableShape {
        step,
        has_blocks,
        has_one_clock: true,
        ..TableShape::IN_TURNS
    };
    let (different, equivalent) = (TableCase::different, TableCase::equivalent);
    let twice = 2.0 * THETA;
    vec![
        different("different: ten steps of one subject, in turns", of(9.3, false)),
        different("different: ten steps of one subject, blocks", of(9.3, true)),
        equivalent(
            "equivalent at twice the margin: ten steps of one subject",
            of(10.0, false),
            twice,
        ),
        equivalent(
            "equivalent at twice the margin: ten steps of one subject, blocks",
            of(10.0, true),
            twice,
        ),
    ]
}

/// What is asked of a table beside its findings.
struct AnswerCase {
    name: &'static str,
    shape: TableShape,
    /// What is claimed of the second subject over all workloads.
    claimed: ClaimedEffect,
    is_wrong: fn(&Findings) -> bool,
    most: f64,
}

/// Sums over two workloads of an imported table.
fn answers() -> Vec<AnswerCase> {
    let two = TableShape { has_blocks: true, workloads: 2, ..TableShape::IN_TURNS };
    let drifting = TableShape {
        order: RowOrder::OneAfterTheOther,
        drift: Drift::Line(DRIFT),
        margin: NO_SHELTER,
        ..two
    };
    let one_clock = TableShape { step: 10.0, has_one_clock: true, effect: 2.0 * THETA, ..two };
    let of =
        |name, shape, claimed, is_wrong, most| AnswerCase { name, shape, claimed, is_wrong, most };
    vec![
        of(
            "claim of overall confirmed: blocks, one after the other, drift",
            drifting,
            ClaimedEffect::Worse,
            has_confirmed,
            MOST,
        ),
        of(
            "a use case: blocks, one after the other, drift of 3 %",
            drifting,
            ClaimedEffect::Worse,
            |findings| of_use_cases(findings).any(is_different),
            MOST,
        ),
        of(
            "claim of no difference overall confirmed: ten steps of one",
            one_clock,
            ClaimedEffect::Same,
            has_confirmed,
            MOST_EQUIVALENT,
        ),
        of(
            "a use case equivalent at twice the margin: ten steps of one",
            one_clock,
            ClaimedEffect::Same,
            |findings| of_use_cases(findings).any(is_equivalent),
            MOST_EQUIVALENT,
        ),
    ]
}

/// Declares a claim over all workloads of a plan, and a use case of all of them.
fn declare_sums(plan: &mut Plan, effect: ClaimedEffect) {
    let Some(metric) = plan.workloads.first().and_then(|one| one.primary.first()).cloned() else {
        return;
    };
    let share = 1.0 / plan.workloads.len() as f64;
    let weight = |workload: &WorkloadPlan| Weight {
        workload: workload.label.clone(),
        metric: metric.clone(),
        weight: share,
    };
    let weights = plan.workloads.iter().map(weight).collect();
    plan.use_cases = vec![UseCase { id: "all".to_owned(), weights }];
    plan.claims = vec![Claim {
        says: "b is other than a".to_owned(),
        source: None,
        workload: None,
        workloads: Vec::new(),
        metric: metric.as_str().into(),
        subject: "b".into(),
        reference: "a".into(),
        effect,
        shape: ClaimShape { over: ClaimedOver::Overall, ..ClaimShape::default() },
    }];
}

fn has_confirmed(findings: &Findings) -> bool {
    findings.claims.iter().any(|claim| claim.outcome == ClaimOutcome::Confirmed)
}

fn of_use_cases(findings: &Findings) -> impl Iterator<Item = Verdict> {
    findings.use_cases.iter().flat_map(|case| &case.comparisons).map(|one| one.verdict)
}

/// Blocks whose order somebody drew, which is not balanced, and what each run of a leaves behind.
fn drawn_blocks() -> Vec<TableCase> {
    let drawn = |left_behind| TableShape {
        order: RowOrder::DrawnInBlocks,
        has_blocks: true,
        left_behind,
        ..TableShape::IN_TURNS
    };
    let (different, equivalent) = (TableCase::different, TableCase::equivalent);
    vec![
        different("different: blocks in a drawn order", drawn(0.0)),
        different("different: blocks in a drawn order, carry-over of 1 %", drawn(0.01)),
        different("different: blocks in a drawn order, carry-over of 2 %", drawn(0.02)),
        different("different: blocks in a drawn order, carry-over of 3 %", drawn(0.03)),
        TableCase::found("power at +1.5 %: blocks in a drawn order", drawn(0.0), 0.549),
        TableCase {
            limit: Limit::AtLeast(0.598),
            ..equivalent("shown to be equivalent: blocks in a drawn order", drawn(0.0), 0.0)
        },
        // b is quicker by the margin, and more often than a it follows a.
        equivalent(
            "equivalent at the margin: blocks in a drawn order, carry-over of 1 %",
            drawn(0.01),
            -THETA,
        ),
        equivalent(
            "equivalent at the margin: blocks in a drawn order, carry-over of 2 %",
            drawn(0.02),
            -THETA,
        ),
    ]
}

/// Parts of one execution that are given as executions, or as blocks.
const PARTS: &str = "a table of the threads of one execution: refused";

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let tables = orders().into_iter().chain(apart()).chain(kinds());
    let tables = tables.chain(one_clock()).chain(drawn_blocks()).map(of_table);
    tables.chain(answers().into_iter().map(of_answer)).chain([of_parts()]).collect()
}

fn of_table(case: TableCase) -> CalibrationCell {
    let row = PromisedRow::new(Some(13), case.name, case.limit);
    CalibrationCell::of_one(row, move |request| {
        let counted = repeat(request, |repetition| {
            let findings = imported(&case.shape, repetition)?;
            Ok(findings.findings.iter().any(|finding| (case.is_counted)(finding.verdict)))
        })?;
        Ok(Rate::of(counted))
    })
}

fn of_answer(case: AnswerCase) -> CalibrationCell {
    let row = PromisedRow::new(Some(13), case.name, Limit::AtMost(case.most));
    CalibrationCell::of_one(row, move |request| {
        let wrong = repeat(request, |repetition| {
            let declare = |plan: &mut Plan| declare_sums(plan, case.claimed);
            Ok((case.is_wrong)(&imported_with(&case.shape, repetition, declare)?))
        })?;
        Ok(Rate::of(wrong))
    })
}

fn of_parts() -> CalibrationCell {
    let row = PromisedRow::new(Some(13), PARTS, Limit::AtLeast(1.0));
    CalibrationCell::of_one(row, |_| {
        Ok(Rate::of(mappings_of_parts().map(|mapping| are_refused(&mapping))))
    })
}

/// What a user may say of a column of threads: nothing, that it names executions, that it names blocks.
fn mappings_of_parts() -> [Mapping; 3] {
    let thread = || "thread".to_owned();
    [
        mapping(),
        Mapping { replicate: vec![thread()], ..mapping() },
        Mapping { block: Some(thread()), ..mapping() },
    ]
}

/// Whether parts of an execution are refused, by their name.
fn are_refused(mapping: &Mapping) -> bool {
    let mut text = "subject,thread,time\n".to_owned();
    for thread in 0..10 {
        for (subject, time) in [("a", 100), ("b", 110)] {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{subject},{thread},{}.{thread}", time + thread);
        }
    }
    let refusal = import(&[text], mapping, TableShape::IN_TURNS.margin).err();
    refusal.is_some_and(|cause| cause.contains("parts of an execution"))
}
