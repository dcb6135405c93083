//! Target 8 beyond the simulator: how often a caveat is raised of campaigns without its fault.

use crate::CalibrationRequest;
use crate::campaigns::repeat;
use crate::draws::Draws;
use crate::noise::every_normal;
use crate::quantities::apart;
use crate::rate::Rate;
use crate::reported::Reported;
use crate::synthetic::{NO_SHELTER, Noise, SIGMA, Shape, run};
use crate::table::{CalibrationRow, Limit};
use contract::Result;
use model::CaveatCode;

/// Target 8 (docs/method.md#m-targets).
const MOST_FALSE_ALARMS: f64 = 0.05;
/// Normal noise of 1 % in one boot has none of these faults, in however many blocks.
const OF_NORMAL_NOISE: [CaveatCode; 8] = [
    CaveatCode::Drift,
    CaveatCode::Autocorr,
    CaveatCode::CarryOver,
    CaveatCode::OrderEffect,
    CaveatCode::Outlier,
    CaveatCode::Bimodal,
    CaveatCode::Quantised,
    CaveatCode::Skewed,
];
/// ln 1.1: so large a difference does not hang on any block.
const TENTH: f64 = 0.095_310_179_804_324_9;
/// Iterations of a trial: enough for all that is asked of a series.
const ITERATIONS: u32 = 40;
/// Events of a trial, enough for a median.
const EVENTS: u32 = 400;
/// One trial in so many fails: rarely, and of all subjects alike.
const FAILING: f64 = 50.0;

/// Campaigns without the faults of these caveats.
struct SoundCase {
    name: &'static str,
    shape: Shape,
    codes: Vec<CaveatCode>,
    make: fn(&mut Draws) -> Noise,
}

fn cases() -> Vec<SoundCase> {
    let of = |name, shape, codes, make| SoundCase { name, shape, codes, make };
    let pair = |blocks| Shape { blocks, ..Shape::PAIR };
    let reporting = |reported| Shape { reported, ..Shape::PAIR };
    let also = |codes: &[CaveatCode]| [OF_NORMAL_NOISE.as_slice(), codes].concat();
    // Six blocks of such noise are too few to show equivalence, which NOISY rightly says; and in ten
    // equivalence may hang on one block.
    let (few, ten) = (also(&[]), also(&[CaveatCode::Noisy]));
    let many = also(&[CaveatCode::Noisy, CaveatCode::Fragile]);
    let three = Shape { arms: 3, ..Shape::PAIR };
    let soak = Shape { margin: NO_SHELTER, blocks: 24, ..reporting(Reported::Soak(0.0)) };
    vec![
        of("one boot, 2 subjects", pair(6), few, |_| every_normal()),
        of("one boot, 2 subjects", pair(10), ten.clone(), |_| every_normal()),
        of("one boot, 2 subjects", pair(20), many, |_| every_normal()),
        of("one boot, 3 subjects", three, ten, |_| every_normal()),
        of("a difference of 10 %", pair(10), vec![CaveatCode::Fragile], |_| apart(TENTH)),
        of("one trial in fifty fails", pair(10), vec![CaveatCode::DifferentialFailure], |_| {
            seldom_failing()
        }),
        of(
            "a control, nothing differs",
            Shape { has_control: true, margin: NO_SHELTER, ..pair(10) },
            vec![CaveatCode::AaFail],
            |_| every_normal(),
        ),
        of(
            "iterations without a trend",
            reporting(Reported::Iterations(ITERATIONS, 0.0)),
            vec![CaveatCode::NotSteady],
            |_| every_normal(),
        ),
        of(
            "the same work, noise of 3 %",
            reporting(Reported::LatencyAndWork(EVENTS, 0.0)),
            vec![CaveatCode::NotComparable],
            |_| every_normal(),
        ),
        of(
            "a soak campaign without a trend",
            soak,
            vec![CaveatCode::Leak, CaveatCode::Degradation],
            |_| every_normal(),
        ),
    ]
}

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for case in cases() {
        let (name, blocks) = (case.name, case.shape.blocks);
        let row = |code: &CaveatCode| format!("false alarm {code}, {name}, {blocks} blocks");
        let named: Vec<String> = case.codes.iter().map(row).collect();
        if !named.iter().any(|name| name.contains(request.only)) {
            continue;
        }
        let raised = repeat(request, |repetition| {
            let campaign = run(request, &case.shape, &case.make, repetition)?;
            let carried = case.codes.iter().map(|code| campaign.first_carries(*code));
            Ok(carried.collect::<Vec<bool>>())
        })?;
        for (index, name) in named.into_iter().enumerate() {
            let rate = Rate::of(raised.iter().map(|codes| codes[index]));
            let limit = Limit::AtMost(MOST_FALSE_ALARMS);
            rows.push(CalibrationRow::new(Some(8), name, rate, limit));
        }
    }
    Ok(rows)
}

fn seldom_failing() -> Noise {
    Box::new(|_, draws| {
        let value = SIGMA * draws.normal();
        (FAILING * draws.uniform() >= 1.0).then_some(value)
    })
}
