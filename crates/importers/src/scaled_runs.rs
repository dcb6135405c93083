//! Series of which one is the other times a factor that changes from block to block
//! (docs/method.md#m-copies).

use std::collections::BTreeSet;

/// A run of one factor has so many values, and so many different ones.
const LEAST_RUN: usize = 5;
const LEAST_DIFFERENT: usize = 3;
/// A run without a second one has so many values.
const LEAST_SINGLE_RUN: usize = 8;
/// What arithmetic takes from a quotient of values that have all digits.
const ARITHMETIC: f64 = 1e-9;
/// No value was rounded by more than this times what the middle one was.
const MOST_ROUNDING: f64 = 2.0;
/// A pair of values that has its factor by chance more often than this shows nothing.
const MOST_CHANCE: f64 = 0.05;
/// Of so many pairs that are not equal, one may be with 95 % confidence (the rule of three).
const RULE_OF_THREE: f64 = 3.0;
/// Values as dense as a normal distribution has them in its middle lie this times as far apart as the
/// half of them does that lies nearest to each other.
const SPREAD_OF_HALF: f64 = 1.85;

/// The logarithm of the quotient of two values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogRatio {
    /// The value that was divided.
    pub value: f64,
    /// By which it was.
    pub other: f64,
    /// The logarithm.
    pub log: f64,
    /// How far it may lie from that of the values before they were rounded.
    pub by: f64,
}

/// Values that are others times the factors of their runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScaledRuns {
    /// How many values.
    pub values: usize,
    /// How many runs.
    pub runs: usize,
}

/// A run of one factor among others.
#[derive(Debug, Clone, Copy)]
struct Run<'a> {
    ratios: &'a [LogRatio],
    most_by: f64,
}

impl Run<'_> {
    /// How far the logarithm of a quotient may lie from the first of the run.
    fn near(&self, one: &LogRatio) -> f64 {
        ARITHMETIC + self.ratios[0].by.min(self.most_by) + one.by.min(self.most_by)
    }

    fn different(&self) -> usize {
        self.ratios.iter().map(|one| one.value.to_bits()).collect::<BTreeSet<u64>>().len()
    }

    /// Whether its values only rise or fall, as those do that were asked for: a rate that the load raises.
    fn is_steady(&self) -> bool {
        let is_steady = |falls: fn(&LogRatio, &LogRatio) -> bool| {
            !self.ratios.windows(2).any(|two| falls(&two[0], &two[1]))
        };
        is_steady(|one, next| next.value < one.value)
            || is_steady(|one, next| next.value > one.value)
    }

    /// Whether it is one of a copy.
    fn counts(&self) -> bool {
        self.ratios.len() >= LEAST_RUN && self.different() >= LEAST_DIFFERENT && !self.is_steady()
    }
}

/// The runs of one factor each, where half of the values are in such ones and chance has so many less
/// often than this. Of two values inside a sample this share is equal: those of a coarse clock.
pub(crate) fn scaled_runs(ratios: &[LogRatio], tied: f64, least_chance: f64) -> Option<ScaledRuns> {
    let (counted, others): (Vec<Run<'_>>, Vec<Run<'_>>) =
        runs(ratios).into_iter().partition(Run::counts);
    let spread = spread(ratios, &counted, &others)?;
    // No value of a clock is more frequent than the root of the share of equal pairs.
    let by_chance = |run: &Run<'_>, one: &LogRatio| (2.0 * run.near(one) / spread).max(tied.sqrt());
    let count = ratios.len() as f64;
    // Two quotients are equal as often as two values of the samples are at most (Cauchy and Schwarz), and
    // what has no equal pair yet may have some.
    let least = RULE_OF_THREE / (count * (count - 1.0));
    let mut found = ScaledRuns { values: 0, runs: 0 };
    let mut chance = 0.0;
    for run in &counted {
        let pairs: Vec<f64> = run.ratios[1..].iter().map(|one| by_chance(run, one)).collect();
        if pairs.iter().any(|one| *one > MOST_CHANCE) {
            continue;
        }
        found.values += run.ratios.len();
        found.runs += 1;
        chance += count.ln() + pairs.iter().map(|one| one.max(least).ln()).sum::<f64>();
    }
    let is_half = 2 * found.values >= ratios.len();
    let are_enough = found.runs > 1 || found.values >= LEAST_SINGLE_RUN;
    (are_enough && is_half && chance < least_chance.ln()).then_some(found)
}

/// Whether half of the values are in runs of two different ones or more: of what one subject has in a
/// block, by what it has in the next one, these show that its values are proportional of themselves.
pub(crate) fn are_proportional(ratios: &[LogRatio]) -> bool {
    let runs = runs(ratios);
    let in_runs = runs.iter().filter(|run| run.different() > 1).map(|run| run.ratios.len());
    !ratios.is_empty() && 2 * in_runs.sum::<usize>() >= ratios.len()
}

/// All values by runs of one factor, most of which have a single value where there is none: each run is as
/// long as some factor is one of all its values before they were rounded.
fn runs(ratios: &[LogRatio]) -> Vec<Run<'_>> {
    let most_by = most_by(ratios);
    let mut runs = Vec::new();
    let mut rest = ratios;
    while !rest.is_empty() {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let have_one = |one: &&LogRatio| {
            let by = ARITHMETIC / 2.0 + one.by.min(most_by);
            (low, high) = (low.max(one.log - by), high.min(one.log + by));
            low <= high
        };
        let count = rest.iter().take_while(have_one).count().max(1);
        let (run, behind) = rest.split_at(count);
        runs.push(Run { ratios: run, most_by });
        rest = behind;
    }
    runs
}

/// How far logarithms of quotients lie apart, which are no nearer than those of either sample: by the
/// densest half, as one odd value makes the whole wide. Of the runs that may be told each has one factor.
fn spread(ratios: &[LogRatio], counted: &[Run<'_>], others: &[Run<'_>]) -> Option<f64> {
    let factors = counted.iter().map(|run| run.ratios[0].log);
    let rest = others.iter().flat_map(|run| run.ratios).map(|one| one.log);
    let spreads = [
        dense_spread(factors.chain(rest).collect())?,
        dense_spread(ratios.iter().map(|one| one.value.ln()).collect())?,
        dense_spread(ratios.iter().map(|one| one.other.ln()).collect())?,
    ];
    let spread = spreads.into_iter().fold(f64::INFINITY, f64::min);
    (spread.is_finite() && spread > 0.0).then_some(spread)
}

/// How far values would lie apart that are everywhere as dense as where most of them lie: by the shortest
/// distance that holds more than half of them. None of fewer than two.
pub(crate) fn dense_spread(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if half == 0 {
        return None;
    }
    let distances = values.iter().zip(&values[half..]).map(|(low, high)| high - low);
    distances.min_by(f64::total_cmp).map(|shortest| SPREAD_OF_HALF * shortest)
}

/// How far the logarithm of a quotient lies at most from its own: a value that ends in zeros seems to
/// have fewer digits than it has.
fn most_by(ratios: &[LogRatio]) -> f64 {
    let mut all: Vec<f64> = ratios.iter().map(|one| one.by).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).map_or(0.0, |middle| MOST_ROUNDING * middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a generator that is none of chance, from 100 to 110.
    fn values(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            100.0 + (state >> 11) as f64 / (1_u64 << 53) as f64 * 10.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// Numbers of a generator that is none of chance, from 0 to 1.
    fn generator(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    fn found(values: &[f64], others: &[f64], by: f64, tied: f64) -> Option<ScaledRuns> {
        let ratio = |(one, other): (&f64, &f64)| LogRatio {
            value: *one,
            other: *other,
            log: (one / other).ln(),
            by: by / one + by / other,
        };
        let ratios: Vec<LogRatio> = values.iter().zip(others).map(ratio).collect();
        scaled_runs(&ratios, tied, 1e-9)
    }

    #[test]
    fn blocks_that_were_multiplied_each_by_its_own_factor_are_found() {
        let values = values(20, 7);
        let factors = [1.03, 0.98, 1.01, 0.97];
        let copy: Vec<f64> =
            values.iter().enumerate().map(|(at, value)| value * factors[at / 5]).collect();
        assert_eq!(found(&values, &copy, 0.0, 0.0), Some(ScaledRuns { values: 20, runs: 4 }));
        // Rounded to four decimals as well.
        let rounded: Vec<f64> = copy.iter().map(|value| (value * 1e4).round() / 1e4).collect();
        assert_eq!(found(&values, &rounded, 5e-5, 0.0), Some(ScaledRuns { values: 20, runs: 4 }));
    }

    #[test]
    fn what_is_alike_by_chance_by_coarse_steps_or_by_one_factor_is_none() {
        let (one, other) = (values(200, 7), values(200, 8));
        assert_eq!(found(&one, &other, 0.0, 0.0), None);
        assert_eq!(found(&one, &other, 0.5, 0.0), None, "whole numbers");
        assert_eq!(found(&one, &one, 0.0, 0.0), None, "one factor");
        let factors = [1.03, 0.98];
        let scaled = |of: &[f64]| -> Vec<f64> {
            of.iter().enumerate().map(|(at, value)| value * factors[at / 100]).collect()
        };
        assert!(found(&one, &scaled(&one), 0.0, 0.0).is_some());
        assert_eq!(found(&one, &scaled(&one), 0.0, 0.2), None, "a coarse clock");
        let constant = [100.0; 200];
        assert_eq!(found(&constant, &scaled(&constant), 0.0, 0.0), None, "they do not vary");
    }

    /// Whole numbers of an honest subject: nearly normal, of this deviation, beside what both share.
    fn honest(next: &mut impl FnMut() -> f64, shared: &[f64], sigma: f64) -> Vec<f64> {
        let mut normal = || (0..12).map(|_| next()).sum::<f64>() - 6.0;
        shared.iter().map(|level| (level + sigma * normal()).round()).collect()
    }

    #[test]
    fn odd_values_of_honest_tables_do_not_make_runs_of_the_others() {
        let mut next = generator(1);
        for trial in 0..20_000_usize {
            let count = 6 + trial % 7;
            let sigma = [3.0, 7.0, 14.0, 50.0][trial / 7 % 4];
            // Every second pair of subjects shares what the machine did to both.
            let common = if trial % 2 == 0 { 0.0 } else { 60.0 * sigma };
            let shared: Vec<f64> = (0..count).map(|_| 10_000.0 + common * next()).collect();
            let mut one = honest(&mut next, &shared, sigma);
            let other = honest(&mut next, &shared, sigma);
            for _ in 0..=trial % 2 {
                let at = (next() * count as f64) as usize;
                one[at] = (one[at] + 100.0 * sigma * next()).round();
            }
            assert_eq!(found(&one, &other, 0.5, 0.0), None, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_run_that_only_rises_or_stands_alone_and_is_short_is_none() {
        let mut rising = values(20, 7);
        let factors = [1.03, 0.98, 1.01, 0.97];
        let scaled = |of: &[f64], share: usize| -> Vec<f64> {
            let factor =
                |at: usize| if at < share { factors[at / 5] } else { 1.0 + at as f64 / 97.0 };
            of.iter().enumerate().map(|(at, value)| value * factor(at)).collect()
        };
        assert!(found(&rising, &scaled(&rising, 20), 0.0, 0.0).is_some());
        for block in rising.chunks_mut(5) {
            block.sort_by(f64::total_cmp);
        }
        assert_eq!(found(&rising, &scaled(&rising, 20), 0.0, 0.0), None);
        let ten = values(10, 7);
        assert_eq!(found(&ten, &scaled(&ten, 5), 0.0, 0.0), None, "one run of five");
    }

    #[test]
    fn values_of_a_subject_that_are_those_of_its_next_block_times_a_factor_are_proportional() {
        let of_work = values(6, 7);
        let ratio = |(at, value): (usize, &f64)| {
            let other = value * [0.9, 1.1][at / 3];
            LogRatio { value: *value, other, log: (value / other).ln(), by: 0.0 }
        };
        let ratios: Vec<LogRatio> = of_work.iter().enumerate().map(ratio).collect();
        assert!(are_proportional(&ratios));
        let (one, other) = (values(6, 7), values(6, 8));
        let honest = one.iter().zip(&other).map(|(value, other)| LogRatio {
            value: *value,
            other: *other,
            log: (value / other).ln(),
            by: 0.0,
        });
        assert!(!are_proportional(&honest.collect::<Vec<_>>()));
        assert!(!are_proportional(&[]));
    }
}
