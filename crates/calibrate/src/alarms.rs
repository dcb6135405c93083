//! Target 8 beyond the simulator: caveats of data without and with their fault, of one boot.

use crate::CalibrationRequest;
use crate::campaigns::repeat;
use crate::noise::{every_normal, left_behind_by_one, spiky, wandering};
use crate::rate::Rate;
use crate::synthetic::{Draws, Noise, Reported, SIGMA, Shape, run};
use crate::table::{CalibrationRow, Limit};
use contract::Result;
use model::CaveatCode;

/// Target 8 (docs/method.md#m-targets).
const MOST_FALSE_ALARMS: f64 = 0.05;
const CODES: [CaveatCode; 7] = [
    CaveatCode::Drift,
    CaveatCode::Autocorr,
    CaveatCode::CarryOver,
    CaveatCode::OrderEffect,
    CaveatCode::Outlier,
    CaveatCode::Quantised,
    CaveatCode::Skewed,
];
/// Subjects and blocks of campaigns without any fault.
const WITHOUT_FAULT: [(usize, u32); 4] = [(2, 6), (2, 10), (2, 20), (3, 10)];

/// A fault, and the caveat that tells it.
struct Fault {
    code: CaveatCode,
    name: &'static str,
    shape: Shape,
    make: fn(&mut Draws) -> Noise,
}

fn faults() -> Vec<Fault> {
    let of = |code, name, blocks, make| {
        let shape = Shape { blocks, ..Shape::PAIR };
        Fault { code, name, shape, make }
    };
    vec![
        of(CaveatCode::Autocorr, "an effect that wanders, rho 0.8", 40, |_| wandering(0.8)),
        of(CaveatCode::CarryOver, "a carry-over of 5 %", 40, |_| left_behind_by_one(0.05)),
        of(CaveatCode::OrderEffect, "the second of two is slower by 4 %", 10, second_is_slower),
        of(CaveatCode::Outlier, "one block differs by 20 %", 10, one_wild_block),
        of(CaveatCode::Bimodal, "half of the blocks differ by 10 %", 20, two_modes),
        of(CaveatCode::Skewed, "one arm with spikes", 10, spiky),
        Fault {
            code: CaveatCode::Quantised,
            name: "a clock of ten steps",
            shape: Shape { reported: Reported::TenSteps, ..Shape::PAIR },
            make: |_| every_normal(),
        },
    ]
}

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for (arms, blocks) in WITHOUT_FAULT {
        let named = CODES
            .map(|code| format!("false alarm {code}, one boot, {arms} subjects, {blocks} blocks"));
        if !named.iter().any(|name| name.contains(request.only)) {
            continue;
        }
        let shape = Shape { arms, blocks, ..Shape::PAIR };
        let raised = repeat(request, |repetition| {
            let campaign = run(request, &shape, &|_| every_normal(), repetition)?;
            // One question, however many there are: the rate is that of a finding.
            let first = campaign.primary().next();
            Ok(CODES.map(|code| {
                first.is_some_and(|one| one.caveats.iter().any(|caveat| caveat.code == code))
            }))
        })?;
        for (index, name) in named.into_iter().enumerate() {
            let rate = Rate::of(raised.iter().map(|codes| codes[index]));
            let limit = Limit::AtMost(MOST_FALSE_ALARMS);
            rows.push(CalibrationRow::new(Some(8), name, rate, limit));
        }
    }
    for fault in faults() {
        let name = format!("{} told of: {}, {} blocks", fault.code, fault.name, fault.shape.blocks);
        if !name.contains(request.only) {
            continue;
        }
        let told = repeat(request, |repetition| {
            Ok(run(request, &fault.shape, &fault.make, repetition)?.carries(fault.code))
        })?;
        rows.push(CalibrationRow::new(None, name, Rate::of(told), Limit::None));
    }
    Ok(rows)
}

fn second_is_slower(_: &mut Draws) -> Noise {
    Box::new(|moment, draws| {
        Some(SIGMA * draws.normal() + if moment.sitting % 2 == 1 { 0.04 } else { 0.0 })
    })
}

fn one_wild_block(_: &mut Draws) -> Noise {
    Box::new(|moment, draws| {
        let is_wild = moment.arm == 1 && moment.block == 3;
        Some(SIGMA * draws.normal() + if is_wild { 0.2 } else { 0.0 })
    })
}

fn two_modes(_: &mut Draws) -> Noise {
    Box::new(|moment, draws| {
        let is_slow = moment.arm == 1 && draws.uniform() < 0.5;
        Some(SIGMA * draws.normal() + if is_slow { 0.1 } else { 0.0 })
    })
}
