//! Executions of a subject that are other executions of it once more: rows that were copied under
//! other numbers (docs/method.md#m-repeated).

use crate::last_digits::{LastDigits, last_digit};
use model::{Invocation, Record, SampleData};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug, Write};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is told has less chance than this in a whole import of independent executions.
const LEAST_CHANCE: f64 = 1e-6;
/// Fewer executions show nothing.
const LEAST_EXECUTIONS: usize = 8;
/// A run that stands twice is a quarter of the executions at least.
const LEAST_RUN_SHARE: usize = 4;
/// A series that is multiplied has so many executions.
const LEAST_SERIES: usize = 5;
/// A copy that was rounded lies no further from its original: a share of it.
const LARGEST_ROUNDING: f64 = 0.01;
/// Values are asked how often they stand there up to so often.
const MOST_TIMES: usize = 64;
/// So many different values stand twice where their digits are what tells.
const LEAST_REPEATED: usize = 5;
/// Last digits around a value in which there is no other one.
const WINDOW: f64 = 128.0;
/// Parts of the smallest distance that are tried as the step of a grid.
const MOST_PARTS: u32 = 8;
/// Values have so many digits before theirs tell anything: a share of the value.
const LARGEST_DIGIT: f64 = 1e-4;
/// Values that are asked for their last digit, and for a grid.
const MOST_ASKED: usize = 1_000;
/// Metrics of which one is chosen.
const MOST_SOURCES: usize = 16;
/// Digits of a value that it was given, and not by arithmetic.
const DIGITS: usize = 12;

/// One that was found: in words, and whose values it has.
pub(crate) type DescribedCopy<'a> = (String, Vec<&'a str>);

/// The executions of each subject that are other ones of it.
pub(crate) fn repeated(records: &[Record]) -> Vec<DescribedCopy<'_>> {
    let mut groups: BTreeMap<[&str; 2], Vec<&[Invocation]>> = BTreeMap::new();
    for record in records {
        if record.invocations.iter().any(|one| !one.samples.is_empty()) {
            let place = [record.workload.as_str(), record.subject.as_str()];
            groups.entry(place).or_default().push(&record.invocations);
        }
    }
    let least = (LEAST_CHANCE / groups.len().max(1) as f64).ln();
    let mut told = Vec::new();
    for ([workload, subject], executions) in groups {
        if let Some((count, how)) = copies(&executions, least) {
            let all = executions.len();
            let detail = format!(
                "{workload}: {count} of {all} executions of {subject} have the values of another execution of it{how}"
            );
            told.push((detail, vec![subject]));
        }
    }
    told
}

/// How many executions are others of these, and what is said of how; none where chance may give as
/// many. Chances are logarithms here.
fn copies(executions: &[&[Invocation]], least: f64) -> Option<(usize, &'static str)> {
    if executions.len() < LEAST_EXECUTIONS {
        return None;
    }
    let digests: Vec<u64> = executions.iter().map(|one| digest_of(one)).collect();
    let times = times(&digests);
    if times.len() < 2 {
        return None;
    }
    let equal = digests.len() - times.len();
    if equal > 0 {
        let is_told = chance_of_run(&digests, &times) < least
            || chance_of_times(&digests, &times) < least
            || chance_of_digits(executions, &digests) < least;
        if is_told {
            return Some((equal, ""));
        }
    }
    let sources = sources(executions);
    let count = sources.iter().find_map(|source| multiplied(executions, source, least))?;
    Some((count, ", times a factor or with other digits"))
}

/// The digest of all that an execution measured, whatever the order of its parts.
fn digest_of(invocations: &[Invocation]) -> u64 {
    let samples = invocations.iter().flat_map(|one| &one.samples);
    samples.fold(0, |sum: u64, sample| match &sample.data {
        SampleData::Values(values) => values.iter().fold(sum, |sum, value| {
            let mut hasher = DefaultHasher::new();
            // The two zeros are equal.
            (sample.source.as_str(), (value + 0.0).to_bits()).hash(&mut hasher);
            sum.wrapping_add(hasher.finish())
        }),
        other => sum.wrapping_add(digest(&(sample.source.as_str(), other))),
    })
}

/// The digest of all that is written of a value.
pub(crate) fn digest(value: &impl Debug) -> u64 {
    struct Digest(DefaultHasher);
    impl Write for Digest {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut digest = Digest(DefaultHasher::new());
    // Writing into a hasher cannot fail.
    let _ = write!(digest, "{value:?}");
    digest.0.finish()
}

/// How often each different execution stands there.
fn times(digests: &[u64]) -> Vec<usize> {
    let mut sorted = digests.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|one, other| one == other).map(<[u64]>::len).collect()
}

/// The chance of the longest run at the end that stands before as well. What follows a value is equal
/// by chance as often as two of the other values are.
fn chance_of_run(digests: &[u64], times: &[usize]) -> f64 {
    let all = digests.len();
    let at = |place: usize| digests[all - 1 - place];
    // How many of the last values differ from the one behind them: a level that lasts says little.
    let mut changes: Vec<u32> = vec![0; all];
    for place in 1..all {
        changes[place] = changes[place - 1] + u32::from(at(place) != at(place - 1));
    }
    let lengths = common_lengths(all, at);
    let is_long = |length: &&u32| **length as usize * LEAST_RUN_SHARE >= all;
    let most = lengths.iter().filter(is_long).map(|length| changes[*length as usize - 1]).max();
    let share = |count: usize| count as f64 / all as f64;
    let squares: f64 = times.iter().map(|count| share(*count).powi(2)).sum();
    let equal = times.iter().map(|count| {
        let own = share(*count);
        (squares - own * own) / (1.0 - own).powi(2)
    });
    let equal = equal.fold(0.0, f64::max).min(1.0);
    (all as f64).ln() + f64::from(most.unwrap_or(0)) * equal.ln()
}

/// How long each later part of a series is the same as its beginning (the Z algorithm; Gusfield 1997).
fn common_lengths(all: usize, at: impl Fn(usize) -> u64) -> Vec<u32> {
    let mut lengths: Vec<u32> = vec![0; all];
    let (mut begin, mut end) = (0, 0);
    for place in 1..all {
        let mut length = 0;
        if place < end {
            length = (lengths[place - begin] as usize).min(end - place);
        }
        while place + length < all && at(length) == at(place + length) {
            length += 1;
        }
        if place + length > end {
            (begin, end) = (place, place + length);
        }
        lengths[place] = length as u32;
    }
    lengths
}

/// The least chance that so many values stand there k times and so few k − 1 and k + 1 times.
fn chance_of_times(digests: &[u64], times: &[usize]) -> f64 {
    let runs = digests.chunk_by(|one, other| one == other).count();
    // Steps that a slow drift takes stand behind each other.
    if runs == times.len() {
        return 0.0;
    }
    let mut counts = [0.0; MOST_TIMES + 2];
    for count in times.iter().filter(|count| **count <= MOST_TIMES + 1) {
        counts[*count] += 1.0;
    }
    let chances = (2..=MOST_TIMES).map(|k| chance_of_count(k as f64, &counts[k - 1..=k + 1]));
    chances.fold(0.0, f64::min) + (MOST_TIMES as f64).ln()
}

/// The largest chance that independent values have of counts of those that stand there k − 1, k and
/// k + 1 times, whatever they are distributed by.
fn chance_of_count(k: f64, counts: &[f64]) -> f64 {
    let [fewer, same, more] = counts else { return 0.0 };
    let all = fewer + same + more;
    let ratio = k / (k + 1.0);
    if *same == 0.0 || fewer * more >= ratio * same * same {
        return 0.0;
    }
    let root = ratio.sqrt();
    // Concave in the logarithm of the odds of fewer and more.
    let (mut low, mut high) = (-40.0_f64, 40.0_f64);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        let slope =
            all * 2.0 * root * middle.sinh() / (1.0 + 2.0 * root * middle.cosh()) - (fewer - more);
        if slope < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let odds = f64::midpoint(low, high);
    let likely = (fewer + more) * root.ln() + (fewer - more) * odds
        - all * (1.0 + 2.0 * root * odds.cosh()).ln();
    let own: f64 = counts.iter().filter(|n| **n > 0.0).map(|n| n * (n / all).ln()).sum();
    // So many counts are possible, and none of those that are as unlikely has more chance.
    (likely - own + ((all + 1.0) * (all + 2.0) / 2.0).ln()).min(0.0)
}

/// The metrics of executions.
fn sources<'a>(executions: &[&'a [Invocation]]) -> BTreeSet<&'a str> {
    let first = executions.first().copied().unwrap_or_default();
    let samples = first.iter().flat_map(|one| &one.samples);
    samples.map(|sample| sample.source.as_str()).take(MOST_SOURCES).collect()
}

/// The mean of what an execution measured of a metric.
fn mean_of(invocations: &[Invocation], source: &str) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    let samples = invocations.iter().flat_map(|one| &one.samples);
    for sample in samples.filter(|sample| sample.source.as_str() == source) {
        match &sample.data {
            SampleData::Values(values) => {
                sum += values.iter().sum::<f64>();
                count += values.len() as f64;
            }
            SampleData::Quotient { numerator, denominator } => {
                sum += numerator / denominator;
                count += 1.0;
            }
            SampleData::Proportion { .. } | SampleData::Histogram(_) => {}
        }
    }
    let mean = sum / count;
    (mean.is_finite() && mean > 0.0).then_some(mean)
}

/// What the last digit of a value is worth.
fn digit_of(value: f64) -> Option<f64> {
    let text = format!("{value:.*e}", DIGITS - 1);
    let (mantissa, exponent) = text.split_once('e')?;
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    last_digit(&format!("{mantissa}e{exponent}"))
}

/// The chance that values of many digits stand there so often and so far from all others, of the
/// metric that has the most different ones.
fn chance_of_digits(executions: &[&[Invocation]], digests: &[u64]) -> f64 {
    let mut best: (usize, Vec<(f64, u64)>) = (0, Vec::new());
    for source in sources(executions) {
        let means = executions.iter().zip(digests);
        let means = means.filter_map(|(one, digest)| Some((mean_of(one, source)?, *digest)));
        let mut sorted: Vec<(f64, u64)> = means.collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        let different = sorted.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq()).count();
        if different > best.0 {
            best = (different, sorted);
        }
    }
    let sorted = best.1;
    let mut digits = LastDigits::default();
    let asked = sorted.iter().step_by((sorted.len() / MOST_ASKED).max(1));
    asked.filter_map(|(value, _)| digit_of(*value)).for_each(|digit| digits.add(digit));
    let Some(digit) = digits.shared() else { return 0.0 };
    let is_coarse = |(middle, _): &(f64, u64)| digit > LARGEST_DIGIT * middle;
    if sorted.get(sorted.len() / 2).is_none_or(is_coarse) {
        return 0.0;
    }
    let mut alone = Vec::new();
    let mut mixed = 0;
    for near in sorted.chunk_by(|one, other| other.0 - one.0 <= WINDOW * digit) {
        if near.len() > 1 && near.iter().all(|one| one.1 == near[0].1) {
            alone.push(near[0].0);
        } else if near.len() > 1 {
            mixed += 1;
        }
    }
    if alone.len() < LEAST_REPEATED || are_on_grid(&alone, digit) {
        return 0.0;
    }
    let chosen = |taken: usize| ((mixed + taken) as f64 / taken as f64).ln();
    (1..=alone.len()).map(|taken| chosen(taken) - WINDOW.ln()).sum()
}

/// Whether values that stand twice are those of a clock, of bins, or quotients of small numbers: their
/// digits then say nothing.
fn are_on_grid(values: &[f64], digit: f64) -> bool {
    let asked = &values[..values.len().min(MOST_ASKED)];
    // Rates of a fixed amount of work are the inverse of a time.
    let largest = asked.last().copied().unwrap_or(1.0);
    let inverse: Vec<f64> = asked.iter().rev().map(|value| largest / value).collect();
    let smallest = asked[0];
    let inverse_digit = digit * largest / (smallest * smallest);
    has_step(asked, digit) || has_step(&inverse, inverse_digit) || are_quotients(asked, digit)
}

/// Whether sorted values differ by whole multiples of a step that is a small part of the smallest
/// distance.
fn has_step(sorted: &[f64], digit: f64) -> bool {
    let distances = sorted.windows(2).map(|pair| pair[1] - pair[0]).enumerate();
    let Some((place, smallest)) = distances.min_by(|one, other| one.1.total_cmp(&other.1)) else {
        return true;
    };
    let origin = sorted[place];
    let mut from_origin: Vec<f64> = sorted.iter().map(|value| (value - origin).abs()).collect();
    from_origin.sort_by(f64::total_cmp);
    (1..=MOST_PARTS).any(|parts| {
        let (mut step, mut known) = (smallest / f64::from(parts), smallest);
        from_origin.iter().skip(1).all(|distance| {
            let times = (distance / step).round();
            // The step is no more exact than the distance that it was taken from.
            let by = digit * (1.0 + distance / known);
            let fits = (distance - times * step).abs() <= by;
            if times > 0.0 {
                (step, known) = (distance / times, *distance);
            }
            fits
        })
    })
}

/// Whether half of the values are to the first as two small whole numbers are to each other.
fn are_quotients(values: &[f64], digit: f64) -> bool {
    let first = values[0];
    let is_quotient = |value: &&f64| {
        let ratio = **value / first;
        let by = digit * (1.0 + ratio) / first;
        // Of larger numbers one random quotient in ten is one of such two.
        let largest = (1.0 / (12.0 * by)).sqrt();
        let (mut rest, mut before, mut denominator) = (ratio, 0.0_f64, 1.0_f64);
        while denominator <= largest {
            if (ratio * denominator - (ratio * denominator).round()).abs() <= by * denominator {
                return true;
            }
            let fraction = rest - rest.floor();
            if fraction <= 0.0 {
                return false;
            }
            rest = 1.0 / fraction;
            (before, denominator) = (denominator, rest.floor() * denominator + before);
        }
        false
    };
    2 * values[1..].iter().filter(is_quotient).count() >= values.len() - 1
}

/// How many executions are the first ones in their order, times a factor for each series of them.
fn multiplied(executions: &[&[Invocation]], source: &str, least: f64) -> Option<usize> {
    let all = executions.len();
    let means: Option<Vec<f64>> = executions.iter().map(|one| mean_of(one, source)).collect();
    let means = means?;
    let may_be = |length: &usize| {
        let ratio = |place: usize| means[length + place] / means[place];
        let is_near = |place: usize| (ratio(place) / ratio(0) - 1.0).abs() < LARGEST_ROUNDING;
        all.is_multiple_of(*length) && (1..LEAST_SERIES).all(is_near)
    };
    // Most are none by their first values; digits are asked of the others alone.
    let lengths: Vec<usize> = (LEAST_SERIES..=all / 2).filter(may_be).collect();
    if lengths.is_empty() {
        return None;
    }
    let halves: Option<Vec<f64>> =
        means.iter().map(|mean| digit_of(*mean).map(|digit| digit / 2.0)).collect();
    let halves = halves?;
    let is_told = |length: &usize| {
        let near = distances_of_series(&means, &halves, *length);
        near.is_some_and(|near| chance_of_series(&means, &near, *length) < least)
    };
    lengths.into_iter().find(is_told).map(|length| all - length)
}

/// How far values may lie from those of the first series times a factor, where all lie so near.
fn distances_of_series(means: &[f64], halves: &[f64], length: usize) -> Option<Vec<f64>> {
    let mut near = Vec::new();
    // The factor is that of the largest value, which shows most digits of it.
    let from = (0..length).max_by(|one, other| means[*one].total_cmp(&means[*other]))?;
    for begin in (length..means.len()).step_by(length) {
        let factor = means[begin + from] / means[from];
        let by_factor = (halves[begin + from] + factor * halves[from]) / means[from];
        for place in (0..length).filter(|place| *place != from) {
            let by = halves[begin + place] + factor * halves[place] + by_factor * means[place];
            let by = by * 1.001;
            if (means[begin + place] - factor * means[place]).abs() > by {
                return None;
            }
            near.push(by);
        }
    }
    Some(near)
}

/// The chance that values lie so near to those of the first series.
fn chance_of_series(means: &[f64], near: &[f64], length: usize) -> f64 {
    // What goes up or down slowly goes on as it did, times a factor, without being copied.
    if wanders(&means[..length]) {
        return 0.0;
    }
    let mut sorted = means[..length].to_vec();
    sorted.sort_by(f64::total_cmp);
    let quarter = length / 4;
    let middle = (sorted[length - 1 - quarter] - sorted[quarter]).max(f64::MIN_POSITIVE);
    let same = sorted.chunk_by(|one, other| one.total_cmp(other).is_eq());
    let tied: f64 = same.map(|run| (run.len() as f64 / length as f64).powi(2)).sum();
    let by_chance: f64 = near.iter().map(|by| tied.max(2.0 * by / middle).min(1.0).ln()).sum();
    by_chance + (means.len() as f64).ln()
}

/// Whether neighbours of a series lie so near to each other that its order is no accident: the sum of
/// squared differences is less than that of squared distances from the mean, of which independent
/// values have twice as much (von Neumann 1941).
fn wanders(series: &[f64]) -> bool {
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let spread: f64 = series.iter().map(|value| (value - mean).powi(2)).sum();
    let steps: f64 = series.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    steps < spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mapping;
    use crate::picture::imported;
    use crate::tidy::CSV;
    use model::CaveatCode;

    /// Numbers from 0 to 1 that are the same everywhere (a linear congruential generator).
    struct Noise(u64);

    impl Noise {
        fn draw(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
        }

        /// About normal, with a standard deviation of one.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.draw()).sum::<f64>() - 6.0
        }
    }

    /// What is told of a table in which `a` has these rows, and another subject rows of its own.
    fn told(rows: &[String]) -> Vec<String> {
        let mut text = "who,run,v,w\n".to_owned();
        for (run, row) in rows.iter().enumerate() {
            let _ = writeln!(text, "a,{run},{row}");
        }
        let mut noise = Noise(77);
        for run in 0..8 {
            let _ =
                writeln!(text, "b,{run},{:.7},{:.7}", 500.0 + noise.normal(), 7.0 + noise.draw());
        }
        let mapping = Mapping {
            subject: Some("who".to_owned()),
            replicate: vec!["run".to_owned()],
            values: ["v:lower", "w:lower"].map(|value| Mapping::value(value).unwrap()).into(),
            ..Mapping::default()
        };
        let plan = imported(&CSV, &[("x", text.as_bytes())], &mapping).unwrap().plan;
        let imported = plan.imported.unwrap();
        let copied: Vec<String> = imported
            .caveats
            .into_iter()
            .filter(|caveat| caveat.code == CaveatCode::Copied)
            .map(|caveat| caveat.detail)
            .collect();
        assert_eq!(imported.copied.is_empty(), copied.is_empty());
        copied
    }

    /// Rows of one metric, which the other one follows.
    fn rows(values: impl Iterator<Item = f64>, decimals: usize) -> Vec<String> {
        values.map(|value| format!("{value:.decimals$},{:.decimals$}", 2.0 * value)).collect()
    }

    fn measured(count: usize, decimals: usize, seed: u64) -> Vec<String> {
        let mut noise = Noise(seed);
        rows((0..count).map(|_| 100.0 + 3.0 * noise.normal()), decimals)
    }

    fn shuffled(mut rows: Vec<String>) -> Vec<String> {
        let mut noise = Noise(5);
        for place in (1..rows.len()).rev() {
            rows.swap(place, (noise.draw() * (place + 1) as f64) as usize);
        }
        rows
    }

    fn copied(rows: &[String], times: usize) -> Vec<String> {
        std::iter::repeat_n(rows, times).flatten().cloned().collect()
    }

    fn expected(copies: usize, all: usize) -> Vec<String> {
        vec![format!(
            "all: {copies} of {all} executions of a have the values of another execution of it"
        )]
    }

    #[test]
    fn executions_that_were_copied_under_other_numbers_are_told_in_order_and_shuffled() {
        let five = measured(5, 5, 1);
        assert_eq!(told(&copied(&five, 4)), expected(15, 20));
        assert_eq!(told(&shuffled(copied(&five, 4))), expected(15, 20));
        let twice = copied(&measured(40, 5, 2), 2);
        assert_eq!(told(&twice), expected(40, 80));
        assert_eq!(told(&shuffled(twice)), expected(40, 80));
        // Some of them alone.
        let mut some = measured(20, 5, 3);
        some.extend_from_within(3..11);
        assert_eq!(told(&some), expected(8, 28));
        assert_eq!(told(&shuffled(some)), expected(8, 28));
    }

    #[test]
    fn copies_of_few_digits_are_told_where_their_order_is() {
        let coarse = measured(30, 0, 4);
        let mut distinct = coarse.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(told(&copied(&coarse, 2)), expected(60 - distinct.len(), 60));
    }

    #[test]
    fn copies_times_a_factor_are_told_in_order() {
        let mut noise = Noise(6);
        let own: Vec<f64> = (0..12).map(|_| 100.0 + 3.0 * noise.normal()).collect();
        for factor in [1.000_001, 1.07] {
            let both = own.iter().copied().chain(own.iter().map(|value| value * factor));
            let suffix = ", times a factor or with other digits";
            let told = told(&rows(both, 7));
            assert_eq!(told, [format!("{}{suffix}", expected(12, 24)[0])], "{factor}");
        }
    }

    #[test]
    fn executions_that_are_equal_by_coarse_clocks_counts_and_shares_are_silent() {
        for seed in 1..40 {
            let mut noise = Noise(seed);
            let normal: Vec<f64> = (0..200).map(|_| noise.normal()).collect();
            let values = |of: &dyn Fn(f64) -> f64, decimals| {
                rows(normal.iter().map(|value| of(*value)), decimals)
            };
            for (what, rows) in [
                ("a clock of ten steps", values(&|z: f64| (10.0 + 1.6 * z).round() * 10.0, 1)),
                (
                    "ticks of another base",
                    values(&|z: f64| (900.0 + 3.0 * z).round() * 41.666_667, 4),
                ),
                ("rates of such ticks", values(&|z: f64| 1e6 / (900.0 + 3.0 * z).round(), 6)),
                ("counts", values(&|z: f64| (40.0 + 6.0 * z).round(), 0)),
                ("three digits", values(&|z: f64| 1.5 + 0.05 * z, 2)),
                ("many digits", values(&|z: f64| 1.5 + 0.05 * z, 7)),
                ("two levels", values(&|z: f64| if z > 0.5 { 31.234_56 } else { 30.987_65 }, 5)),
                ("a limit", values(&|z: f64| if z > 0.5 { 30.0 } else { 25.0 + z }, 6)),
            ] {
                assert_eq!(told(&rows), [""; 0], "{what} {seed}");
                assert_eq!(told(&rows[..20]), [""; 0], "{what} {seed}, twenty");
            }
            let share = |z: &f64| {
                let attempts = (10.0 + z.abs() * 2.0).floor();
                ((z.abs() * 37.0).floor() % 7.0 + 1.0) / attempts
            };
            assert_eq!(told(&rows(normal.iter().map(share), 7)), [""; 0], "shares {seed}");
        }
    }

    #[test]
    fn steps_of_a_slow_drift_are_no_copies() {
        let staircase = (0..80).map(|run| 1_000.0 + 4.0 * f64::from(run / 2));
        assert_eq!(told(&rows(staircase, 0)), [""; 0]);
    }

    #[test]
    fn a_few_executions_that_are_equal_show_nothing() {
        let mut rows = measured(20, 5, 9);
        let first = rows[0].clone();
        rows[13] = first;
        assert_eq!(told(&rows), [""; 0]);
        assert_eq!(told(&vec!["3.12345,4.12345".to_owned(); 20]), [""; 0], "they do not vary");
    }
}
