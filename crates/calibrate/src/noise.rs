//! Target 9: noise that the simulator does not have, of subjects that do not differ.

use crate::campaigns::repeat;
use crate::cell::{CalibrationCell, PromisedRow};
use crate::draws::Draws;
use crate::false_positives::{LEAST_COVERAGE, MOST_COVERAGE, coverage, coverage_rows, covers};
use crate::rate::Rate;
use crate::synthetic::{Moment, NO_SHELTER, Noise, SIGMA, Shape, run};
use crate::table::Limit;

/// Target 9 (docs/method.md#m-targets).
const MOST: f64 = 0.055;
/// Of a carry-over of 2 % where a rest before each sitting is declared.
const MOST_RESTED: f64 = 0.08;
/// Of an arm that is skewed, rare spikes included.
const LEAST_SKEWED: f64 = 0.92;
/// Of a difference of 1.5 %: three points less than the full calibration of docs/calibration.md counted.
const LEAST_FOUND: f64 = 0.754;
const REST: &str = "rest = \"2s\"\n";

/// Noise, in a campaign of this shape.
struct NoiseCase {
    name: &'static str,
    shape: Shape,
    limit: Limit,
    /// What is promised of the interval's coverage, where it is counted as well.
    coverage: Option<Limit>,
    make: fn(&mut Draws) -> Noise,
}

impl NoiseCase {
    fn of(name: &'static str, blocks: u32, make: fn(&mut Draws) -> Noise) -> Self {
        let shape = Shape { blocks, margin: NO_SHELTER, ..Shape::PAIR };
        Self { name, shape, limit: Limit::AtMost(MOST), coverage: None, make }
    }

    fn with_coverage(self, least: f64) -> Self {
        Self { coverage: Some(Limit::Between(least, MOST_COVERAGE)), ..self }
    }

    /// The margin that an experiment has.
    fn with_margin(self) -> Self {
        Self { shape: Shape { margin: Shape::PAIR.margin, ..self.shape }, ..self }
    }

    /// No more than the interval may miss: where no large spike occurred, nothing in the values tells
    /// of them (docs/method.md#m-spikes).
    fn unsheltered(self) -> Self {
        Self { limit: Limit::AtMost(1.0 - LEAST_SKEWED), ..self }
    }

    /// A rest is declared, and something is left behind all the same.
    fn rested(self) -> Self {
        let shape = Shape { declares: REST, ..self.shape };
        Self { limit: Limit::AtMost(MOST_RESTED), shape, ..self }
    }

    /// A difference that is there.
    fn found_at_least(self, least: f64) -> Self {
        Self { limit: Limit::AtLeast(least), ..self }
    }

    /// What so few blocks cannot show (docs/method.md#m-limits).
    fn for_comparison(self) -> Self {
        Self { limit: Limit::None, ..self }
    }

    fn arms(self, arms: usize) -> Self {
        Self { shape: Shape { arms, ..self.shape }, ..self }
    }

    fn boots_of(self, blocks: u32) -> Self {
        Self { shape: Shape { blocks_of_a_boot: Some(blocks), ..self.shape }, ..self }
    }
}

fn cases() -> Vec<NoiseCase> {
    vec![
        NoiseCase::of("normal, one boot, 10 blocks", 10, |_| every_normal()),
        NoiseCase::of("one arm skewed, 10 blocks", 10, skewed)
            .with_margin()
            .with_coverage(LEAST_SKEWED),
        NoiseCase::of("one arm skewed, 20 blocks", 20, skewed)
            .with_margin()
            .with_coverage(LEAST_SKEWED),
        NoiseCase::of("one arm with spikes, 10 blocks", 10, spiky)
            .with_margin()
            .with_coverage(LEAST_SKEWED),
        NoiseCase::of("one arm with spikes, 20 blocks", 20, spiky)
            .with_margin()
            .with_coverage(LEAST_SKEWED),
        NoiseCase::of("it is by 1.5 %, one boot, 10 blocks", 10, |_| plain(slower))
            .found_at_least(LEAST_FOUND),
        // Without a margin a difference is false wherever the interval misses the truth.
        NoiseCase::of("one arm skewed, no margin, 10 blocks", 10, skewed),
        NoiseCase::of("one arm skewed, no margin, 20 blocks", 20, skewed),
        NoiseCase::of("one arm with spikes, no margin, 10 blocks", 10, spiky).unsheltered(),
        NoiseCase::of("one arm with spikes, no margin, 20 blocks", 20, spiky).unsheltered(),
        NoiseCase::of("one arm three times as noisy, 10 blocks", 10, |_| plain(noisier))
            .with_coverage(LEAST_COVERAGE),
        NoiseCase::of("carry-over of 1 %, 2 subjects, 10 blocks", 10, |_| left_behind_by_one(0.01)),
        NoiseCase::of("carry-over of 2 %, 2 subjects, 10 blocks", 10, |_| left_behind_by_one(0.02)),
        NoiseCase::of("carry-over of 2 %, rest declared, 2 subjects, 10 blocks", 10, |_| {
            left_behind_by_one(0.02)
        })
        .rested(),
        NoiseCase::of("carry-over of 3 %, 2 subjects, 10 blocks", 10, |_| left_behind_by_one(0.03)),
        NoiseCase::of("carry-over of 3 %, 2 subjects, 20 blocks", 20, |_| left_behind_by_one(0.03)),
        NoiseCase::of("carry-over of 3 %, 3 subjects, 10 blocks", 10, |_| left_behind_by_one(0.03))
            .arms(3),
        NoiseCase::of("carry-over of 3 %, 6 subjects, 12 blocks", 12, |_| left_behind_by_one(0.03))
            .arms(6),
        NoiseCase::of("carry-over of 3 % that one arm alone feels, 10 blocks", 10, |_| {
            felt_by_one(0.03)
        })
        .for_comparison(),
        NoiseCase::of("carry-over of 3 % that one arm alone feels, 40 blocks", 40, |_| {
            felt_by_one(0.03)
        }),
        NoiseCase::of("drift of 0.3 % from sitting to sitting, 10 blocks", 10, |_| plain(drifting)),
        NoiseCase::of("bursts of three sittings, 10 blocks", 10, bursts),
        NoiseCase::of("a burst in every fourth sitting, 10 blocks", 10, every_fourth),
        NoiseCase::of("a burst in every fourth sitting, 20 blocks", 20, every_fourth),
        NoiseCase::of("an effect that wanders, rho 0.3, 10 blocks", 10, |_| wandering(0.3))
            .for_comparison(),
        NoiseCase::of("an effect that wanders, rho 0.5, 10 blocks", 10, |_| wandering(0.5))
            .for_comparison(),
        NoiseCase::of("an effect that wanders, rho 0.8, 10 blocks", 10, |_| wandering(0.8))
            .for_comparison(),
        NoiseCase::of("an effect that wanders, rho 0.5, 40 blocks", 40, |_| wandering(0.5)),
        NoiseCase::of("an effect that wanders, rho 0.8, 40 blocks", 40, |_| wandering(0.8)),
        NoiseCase::of("an effect of 1 % of each boot, one boot, 10 blocks", 10, |_| by_boot(100))
            .for_comparison(),
        NoiseCase::of("an effect of 1 % of each boot, 10 boots, 20 blocks", 20, |_| by_boot(2))
            .boots_of(2),
        NoiseCase::of("slow trials of one arm fail, 10 blocks", 10, |_| fails_when_slow(0.03)),
        NoiseCase::of("slow trials of one arm fail, 20 blocks", 20, |_| fails_when_slow(0.03)),
    ]
}

pub(crate) fn cells() -> Vec<CalibrationCell> {
    cases().into_iter().map(cell).collect()
}

fn cell(case: NoiseCase) -> CalibrationCell {
    let target = (case.limit != Limit::None).then_some(9);
    let different = format!("different: {}", case.name);
    let mut rows = vec![PromisedRow::new(target, different, case.limit)];
    if let Some(limit) = case.coverage {
        let names =
            ["truth inside", "without an interval"].map(|what| format!("{what}: {}", case.name));
        rows.extend(coverage_rows(9, names, limit));
    }
    CalibrationCell::of(rows, move |request| {
        let outcomes = repeat(request, |repetition| {
            let campaign = run(request, &case.shape, &case.make, repetition)?;
            Ok((campaign.says_different(), covers(&campaign, 0.0)))
        })?;
        let mut rates = vec![Rate::of(outcomes.iter().map(|(different, _)| *different))];
        if case.coverage.is_some() {
            let covers: Vec<Option<bool>> = outcomes.iter().map(|(_, covers)| *covers).collect();
            rates.extend(coverage(&covers));
        }
        Ok(rates)
    })
}

/// Normal noise and nothing else.
pub(crate) fn every_normal() -> Noise {
    plain(|_, _| 0.0)
}

/// Subject 1 leaves so much behind for whichever comes next.
pub(crate) fn left_behind_by_one(size: f64) -> Noise {
    Box::new(move |moment, draws| {
        let left = if moment.before == Some(1) { size } else { 0.0 };
        Some(SIGMA * draws.normal() + left)
    })
}

/// Subject 1 alone feels what the reference leaves behind: no order cancels that.
pub(crate) fn felt_by_one(size: f64) -> Noise {
    Box::new(move |moment, draws| {
        let felt = if moment.arm == 1 && moment.before == Some(0) { size } else { 0.0 };
        Some(SIGMA * draws.normal() + felt)
    })
}

/// Normal noise, and what a trial has besides.
fn plain(besides: fn(&Moment, &mut Draws) -> f64) -> Noise {
    Box::new(move |moment, draws| {
        let besides = besides(moment, draws);
        Some(SIGMA * draws.normal() + besides)
    })
}

fn slower(moment: &Moment, _: &mut Draws) -> f64 {
    if moment.arm == 1 { 0.015 } else { 0.0 }
}

fn noisier(moment: &Moment, draws: &mut Draws) -> f64 {
    if moment.arm == 1 { 2.8 * SIGMA * draws.normal() } else { 0.0 }
}

fn drifting(moment: &Moment, _: &mut Draws) -> f64 {
    0.003 * f64::from(moment.sitting)
}

/// Subject 1 has exponential noise of the same mean.
fn skewed(_: &mut Draws) -> Noise {
    Box::new(|moment, draws| {
        Some(match moment.arm {
            1 => 2.0 * SIGMA * (draws.exponential() - 1.0),
            _ => SIGMA * draws.normal(),
        })
    })
}

/// In one of seven trials subject 1 takes 4 % longer on average; its mean is the reference's.
pub(crate) fn spiky(_: &mut Draws) -> Noise {
    Box::new(|moment, draws| {
        let spike = if draws.uniform() < 1.0 / 7.0 { 0.04 * draws.exponential() } else { 0.0 };
        let spike = if moment.arm == 1 { spike - 0.04 / 7.0 } else { 0.0 };
        Some(SIGMA * draws.normal() + spike)
    })
}

/// From one sitting in ten on three in a row take 5 % longer.
fn bursts(_: &mut Draws) -> Noise {
    let mut until = 0;
    Box::new(move |moment, draws| {
        if moment.sitting >= until && draws.uniform() < 0.1 {
            until = moment.sitting + 3;
        }
        let burst = if moment.sitting < until { 0.05 } else { 0.0 };
        Some(SIGMA * draws.normal() + burst)
    })
}

/// Something that happens at regular times: each fourth sitting takes 5 % longer.
fn every_fourth(draws: &mut Draws) -> Noise {
    let phase = (4.0 * draws.uniform()) as u32;
    Box::new(move |moment, draws| {
        let burst = if moment.sitting % 4 == phase { 0.05 } else { 0.0 };
        Some(SIGMA * draws.normal() + burst)
    })
}

/// The effect of subject 1 follows its own past: an autoregressive process of mean 0.
pub(crate) fn wandering(rho: f64) -> Noise {
    let mut state: Option<(u32, f64)> = None;
    Box::new(move |moment, draws| {
        let (block, effect) = *state.get_or_insert_with(|| (moment.block, draws.normal()));
        let effect = if block == moment.block {
            effect
        } else {
            rho * effect + (1.0 - rho * rho).sqrt() * draws.normal()
        };
        state = Some((moment.block, effect));
        let effect = if moment.arm == 1 { 1.4 * SIGMA * effect } else { 0.0 };
        Some(0.1 * SIGMA * draws.normal() + effect)
    })
}

/// Each boot of so many blocks gives subject 1 an effect of its own.
fn by_boot(blocks: u32) -> Noise {
    let mut state: Option<(u32, f64)> = None;
    Box::new(move |moment, draws| {
        let boot = moment.block / blocks;
        let (_, effect) = match state {
            Some(known) if known.0 == boot => known,
            _ => *state.insert((boot, SIGMA * draws.normal())),
        };
        let effect = if moment.arm == 1 { effect } else { 0.0 };
        Some(SIGMA * draws.normal() + effect)
    })
}

/// Both have the same exponential noise of this mean, and the slowest tenth of subject 1 fails.
pub(crate) fn fails_when_slow(mean: f64) -> Noise {
    Box::new(move |moment, draws| {
        let slow = draws.exponential();
        (moment.arm != 1 || slow < std::f64::consts::LN_10).then_some(mean * slow)
    })
}
