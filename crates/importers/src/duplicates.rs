//! Values that stand twice: a file that was given under two names, a block or executions that were
//! copied.

use crate::near_copies::{
    MeasuredValues, PlacedTrial, chance_of_a_value, near_copy, pairs_of, scaled_in_blocks,
};
use crate::repeated::{DescribedCopy, digest, repeated};
use model::{Caveat, CaveatCode, Invocation, Record, SampleData};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// So many records of two subjects are not the same by chance.
const LEAST_RECORDS: usize = 3;
/// Values of fewer digits are the same now and then.
const LEAST_DIGITS: usize = 4;
/// As many equal blocks have less chance than this in a whole import of independent values.
const LEAST_BLOCK_CHANCE: f64 = 1e-3;
/// What the counts of a histogram are taken to have by chance.
const CHANCE_OF_COUNTS: f64 = 1e-6;
/// More values change no answer.
const MOST_POWER: usize = 10_000;
/// Copies told one by one.
const TOLD_AT_MOST: usize = 5;
/// Pairs of subjects that are looked at for copies that are not exact.
const MOST_PAIRS: usize = 20_000;
/// Values of these pairs together, which are sorted for each of them.
const MOST_VALUES: usize = 20_000_000;

/// How many pairs of subjects are still looked at, and how many values of them.
struct Left {
    pairs: usize,
    values: usize,
}

impl Left {
    /// Whether a pair of so many values is looked at as well.
    fn take(&mut self, values: usize) -> bool {
        let left = self.pairs.checked_sub(1).zip(self.values.checked_sub(values));
        let Some((pairs, values)) = left else { return false };
        (self.pairs, self.values) = (pairs, values);
        true
    }
}

/// What stands twice in an import.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// The first of them in words.
    pub caveats: Vec<Caveat>,
    /// Whose values these are, of all of them.
    pub subjects: BTreeSet<String>,
}

/// What was found so far. Hundreds of thousands of blocks may be others once more, of which a few
/// are told.
#[derive(Default)]
struct FoundCopies<'a> {
    told: Vec<String>,
    /// How many are not told.
    more: usize,
    /// Whose values they have, those that are not told too.
    of: BTreeSet<Vec<&'a str>>,
}

impl<'a> FoundCopies<'a> {
    fn add(&mut self, (detail, of): DescribedCopy<'a>) {
        if self.told.len() < TOLD_AT_MOST {
            self.told.push(detail);
        } else {
            self.more += 1;
        }
        self.of.insert(of);
    }
}

/// What of these records is that of others, value for value.
pub(crate) fn copied(records: &[Record], has_blocks: bool) -> Copies {
    let mut found = FoundCopies::default();
    subjects(records).into_iter().for_each(|copy| found.add(copy));
    if has_blocks {
        blocks(records, &mut found);
        let mut scaled = scaled_blocks(records);
        scaled.retain(|(_, of)| !found.of.contains(of));
        scaled.into_iter().for_each(|copy| found.add(copy));
    }
    repeated(records).into_iter().for_each(|copy| found.add(copy));
    let FoundCopies { mut told, more, of } = found;
    // Caveats are told in an order of their own: this one may stand before those it counts on from.
    match more {
        0 => {}
        1 => told.push("one more copy is not named".to_owned()),
        _ => told.push(format!("{more} more copies are not named")),
    }
    let caveat = |detail| Caveat::new(CaveatCode::Copied, detail);
    Copies {
        caveats: told.into_iter().map(caveat).collect(),
        subjects: of.into_iter().flatten().map(str::to_owned).collect(),
    }
}

/// Two subjects with the same values on one workload.
fn subjects(records: &[Record]) -> Vec<DescribedCopy<'_>> {
    let mut by_workload: BTreeMap<&str, BTreeMap<&str, Vec<&[Invocation]>>> = BTreeMap::new();
    for record in records {
        let of_workload = by_workload.entry(&record.workload).or_default();
        of_workload.entry(&record.subject).or_default().push(&record.invocations);
    }
    let mut told = Vec::new();
    let mut left = Left { pairs: MOST_PAIRS, values: MOST_VALUES };
    for (workload, subjects) in by_workload {
        let exact = exact_copies(workload, &subjects);
        if exact.is_empty() {
            told.extend(near_copies(workload, &subjects, &mut left));
        }
        told.extend(exact);
    }
    told
}

/// Two subjects with the same values, digit for digit and in the same order.
fn exact_copies<'a>(
    workload: &str,
    subjects: &BTreeMap<&'a str, Vec<&[Invocation]>>,
) -> Vec<DescribedCopy<'a>> {
    let mut outlines: BTreeMap<Outline, usize> = BTreeMap::new();
    for values in subjects.values() {
        *outlines.entry(Outline::of(values)).or_default() += 1;
    }
    // Equal values lie beside each other once they are sorted by their digests, which take long.
    let mut all: Vec<(u64, &'a str, &Vec<&[Invocation]>)> = subjects
        .iter()
        .filter(|(_, values)| outlines[&Outline::of(values)] > 1)
        .filter(|(_, values)| values.len() >= LEAST_RECORDS && vary(values))
        .map(|(subject, values)| (digest(values), *subject, values))
        .collect();
    all.sort_by_key(|(digest, subject, _)| (*digest, *subject));
    let mut told = Vec::new();
    for pair in all.windows(2) {
        let [(_, one, values), (_, other, others)] = pair else { continue };
        if values == others {
            let count = values.len();
            let detail = format!("{workload}: all {count} values of {one} are those of {other}");
            told.push((detail, vec![*one, *other]));
        }
    }
    told
}

/// What equal values have alike, and most others do not.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Outline {
    records: usize,
    /// The bits of the first and the last value.
    ends: [Option<u64>; 2],
}

impl Outline {
    fn of(values: &[&[Invocation]]) -> Self {
        let end = |invocations: Option<&&[Invocation]>| {
            let sample = invocations?.first()?.samples.first()?;
            match &sample.data {
                // The two zeros are equal.
                SampleData::Values(values) => values.first().map(|value| (value + 0.0).to_bits()),
                _ => None,
            }
        };
        Self { records: values.len(), ends: [end(values.first()), end(values.last())] }
    }
}

/// Two subjects of which one has the values of the other but for their order, digits or unit, or a
/// part of them.
fn near_copies<'a>(
    workload: &str,
    subjects: &BTreeMap<&'a str, Vec<&[Invocation]>>,
    left: &mut Left,
) -> Vec<DescribedCopy<'a>> {
    let samples = subjects.values().flatten().flat_map(|one| one.iter());
    let sources: BTreeSet<&str> =
        samples.flat_map(|one| &one.samples).map(|sample| sample.source.as_str()).collect();
    let mut told = Vec::new();
    for source in sources {
        let values: Vec<(&'a str, MeasuredValues)> = subjects
            .iter()
            .map(|(subject, records)| {
                let trials = (0..).zip(records).map(|(at, one)| ((at, 0), *one));
                (*subject, MeasuredValues::of(trials, source))
            })
            .collect();
        for (index, (one, of_one)) in values.iter().enumerate() {
            for (other, of_other) in &values[index + 1..] {
                if !left.take(of_one.len() + of_other.len()) {
                    return told;
                }
                let found = near_copy((*one, of_one), (*other, of_other));
                let detail = found.map(|found| format!("{workload}, {source}: {found}"));
                told.extend(detail.map(|detail| (detail, vec![*one, *other])));
            }
        }
    }
    told
}

/// Subject, workload and what was measured.
type MeasuredTrial<'a> = (&'a str, &'a str, &'a [Invocation]);

/// The records of a block, by subject and workload.
struct MeasuredBlock<'r, 'a>(&'r [&'a Record]);

impl<'a> MeasuredBlock<'_, 'a> {
    fn number(&self) -> u32 {
        self.0[0].block
    }

    fn trials(&self) -> impl Iterator<Item = MeasuredTrial<'a>> {
        let trial = |record: &&'a Record| -> MeasuredTrial<'a> {
            let record: &'a Record = record;
            (record.subject.as_str(), record.workload.as_str(), &*record.invocations)
        };
        self.0.iter().map(trial)
    }
}

impl PartialEq for MeasuredBlock<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        self.trials().eq(other.trials())
    }
}

/// As the list of its trials.
impl fmt::Debug for MeasuredBlock<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.trials()).finish()
    }
}

/// Two blocks in which every subject has the same values on every workload.
fn blocks<'a>(records: &'a [Record], found: &mut FoundCopies<'a>) {
    let mut sorted: Vec<&Record> = records.iter().collect();
    // Records of one trial stay in their order.
    sorted.sort_by(|one, other| {
        let names = |record: &'a Record| (record.subject.as_str(), record.workload.as_str());
        one.block.cmp(&other.block).then_with(|| names(one).cmp(&names(other)))
    });
    let is_telling =
        |of_block: &&[&Record]| of_block.iter().all(|record| is_telling(&record.invocations));
    let mut all: Vec<(u64, MeasuredBlock<'_, 'a>)> = sorted
        .chunk_by(|one, other| one.block == other.block)
        .filter(|of_block| of_block.len() > 1)
        .filter(is_telling)
        .map(|of_block| (digest(&MeasuredBlock(of_block)), MeasuredBlock(of_block)))
        .collect();
    all.sort_by_key(|(digest, block)| (*digest, block.number()));
    let groups: Vec<&[_]> = all.chunk_by(|one, other| one.1 == other.1).collect();
    let again = all.len() - groups.len();
    if again == 0 || groups.len() < 2 {
        return;
    }
    let chances = chances_of_values(groups.iter().flat_map(|group| group[0].1.trials()));
    let chance_of = |block: &MeasuredBlock<'_, '_>| -> f64 {
        block.trials().map(|trial| chance_of_trial(trial, &chances)).product()
    };
    let repeated = groups.iter().filter(|group| group.len() > 1);
    let chance = repeated.map(|group| chance_of(&group[0].1)).fold(0.0, f64::max);
    if poisson_tail(pairs_of(all.len()) * chance, again) >= LEAST_BLOCK_CHANCE {
        return;
    }
    for pair in all.windows(2).filter(|pair| pair[0].1 == pair[1].1) {
        let [one, other] = [&pair[0].1, &pair[1].1];
        let detail =
            format!("block {} is block {} once more", other.number() + 1, one.number() + 1);
        let mut of: Vec<&str> = one.trials().map(|(subject, ..)| subject).collect();
        of.dedup();
        found.add((detail, of));
    }
}

/// Subject, workload and metric, with what one value of them has by chance.
type ValueChances<'a> = BTreeMap<(&'a str, &'a str, &'a str), f64>;

/// Of blocks that are different ones: copies make the values of a block denser than they are.
fn chances_of_values<'a>(trials: impl Iterator<Item = MeasuredTrial<'a>>) -> ValueChances<'a> {
    let mut values: BTreeMap<(&str, &str, &str), Vec<f64>> = BTreeMap::new();
    for (subject, workload, invocations) in trials {
        for sample in invocations.iter().flat_map(|one| &one.samples) {
            if let SampleData::Values(all) = &sample.data {
                let place = (subject, workload, sample.source.as_str());
                values.entry(place).or_default().extend(all.iter());
            }
        }
    }
    values.into_iter().map(|(place, values)| (place, chance_of_a_value(values))).collect()
}

/// What all that was measured in a trial has by chance once more: as much as its metric with the least
/// chance, since one may follow from another. The counts of a histogram are many and have a small one; a
/// quotient and a share show nothing.
fn chance_of_trial(
    (subject, workload, invocations): MeasuredTrial<'_>,
    chances: &ValueChances<'_>,
) -> f64 {
    let mut of_metrics: BTreeMap<&str, f64> = BTreeMap::new();
    for sample in invocations.iter().flat_map(|one| &one.samples) {
        let source = sample.source.as_str();
        let chance = match &sample.data {
            SampleData::Values(values) => {
                let one = chances.get(&(subject, workload, source)).copied();
                one.unwrap_or(1.0).powi(values.len().min(MOST_POWER) as i32)
            }
            SampleData::Histogram(_) => CHANCE_OF_COUNTS,
            SampleData::Quotient { .. } | SampleData::Proportion { .. } => 1.0,
        };
        *of_metrics.entry(source).or_insert(1.0) *= chance;
    }
    of_metrics.into_values().fold(1.0, f64::min)
}

/// What a Poisson variable of this mean has at most for so many and more: its mean to the power of the
/// number, divided by the factorial of it.
fn poisson_tail(mean: f64, least: usize) -> f64 {
    let mut tail = 1.0;
    for number in 1..=least {
        tail *= mean / number as f64;
        if tail == 0.0 {
            break;
        }
    }
    tail
}

/// What was measured in blocks of several workloads.
struct BlockedTrials<'a> {
    /// What each subject measured, by block and by the number of the workload.
    by_subject: BTreeMap<&'a str, Vec<PlacedTrial<'a>>>,
    workloads: usize,
    sources: BTreeSet<&'a str>,
}

impl<'a> BlockedTrials<'a> {
    fn of(records: &'a [Record]) -> Self {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let mut sources = BTreeSet::new();
        let mut by_subject: BTreeMap<&str, Vec<PlacedTrial<'_>>> = BTreeMap::new();
        for record in records {
            let next = numbers.len() as u32;
            let number = *numbers.entry(&record.workload).or_insert(next);
            let samples = record.invocations.iter().flat_map(|one| &one.samples);
            sources.extend(samples.map(|sample| sample.source.as_str()));
            let trials = by_subject.entry(&record.subject).or_default();
            trials.push(((record.block, number), &*record.invocations));
        }
        for trials in by_subject.values_mut() {
            trials.sort_by_key(|(place, _)| *place);
        }
        Self { by_subject, workloads: numbers.len(), sources }
    }

    /// Whether two subjects were measured at the same places.
    fn are_paired(&self, one: &str, other: &str) -> bool {
        let places = |subject: &str| self.by_subject[subject].iter().map(|(place, _)| *place);
        places(one).eq(places(other))
    }
}

/// Two subjects of which one has the values of the other on all workloads, those of each block times a
/// factor of its own.
fn scaled_blocks(records: &[Record]) -> Vec<DescribedCopy<'_>> {
    let blocked = BlockedTrials::of(records);
    let mut told = Vec::new();
    if blocked.workloads < 2 {
        return told;
    }
    let mut left = Left { pairs: MOST_PAIRS, values: MOST_VALUES };
    for source in &blocked.sources {
        let values: Vec<(&str, MeasuredValues)> = blocked
            .by_subject
            .iter()
            .map(|(subject, trials)| (*subject, MeasuredValues::of(trials.iter().copied(), source)))
            .collect();
        for (index, (one, of_one)) in values.iter().enumerate() {
            for (other, of_other) in &values[index + 1..] {
                if !blocked.are_paired(one, other) {
                    continue;
                }
                if !left.take(of_one.len() + of_other.len()) {
                    return told;
                }
                let found = scaled_in_blocks((*one, of_one), (*other, of_other));
                let detail = found.map(|found| format!("{source}: {found}"));
                told.extend(detail.map(|detail| (detail, vec![*one, *other])));
            }
        }
    }
    told
}

/// Whether values have so many digits that the same ones are no accident.
fn is_telling(invocations: &[Invocation]) -> bool {
    let digits = |value: &f64| {
        let text = format!("{value:e}");
        text.split('e').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit).count()
    };
    let samples = invocations.iter().flat_map(|one| &one.samples);
    samples.into_iter().any(|sample| match &sample.data {
        SampleData::Values(values) => values.iter().any(|value| digits(value) >= LEAST_DIGITS),
        SampleData::Histogram(_) => true,
        SampleData::Quotient { .. } | SampleData::Proportion { .. } => false,
    })
}

/// Whether these are not all the same value: a count of nothing is the same everywhere.
fn vary(values: &[&[Invocation]]) -> bool {
    values.iter().any(|one| one != &values[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::invocation;
    use model::Sample;

    fn record(block: u32, subject: &str, value: f64) -> Record {
        let invocations = vec![invocation(vec![Sample::values("m", vec![value])])].into();
        Record { block, invocations, ..fixtures::record(subject, "w") }
    }

    fn details_of(values: &[(&str, [f64; 4])]) -> Vec<String> {
        let of = |(subject, values): &(&str, [f64; 4])| -> Vec<Record> {
            (0..).zip(values).map(|(block, value)| record(block, subject, *value)).collect()
        };
        let records: Vec<Record> = values.iter().flat_map(of).collect();
        copied(&records, true).caveats.into_iter().map(|caveat| caveat.detail).collect()
    }

    #[test]
    fn whose_values_stand_twice_is_told_of_every_copy() {
        let own = |shift: f64| [1.123, 1.345, 1.256, 1.478].map(|value: f64| value + shift);
        let named = |values: &[(&str, [f64; 4])], has_blocks: bool| -> Vec<String> {
            let of = |(subject, values): &(&str, [f64; 4])| -> Vec<Record> {
                (0..).zip(values).map(|(block, value)| record(block, subject, *value)).collect()
            };
            let records: Vec<Record> = values.iter().flat_map(of).collect();
            copied(&records, has_blocks).subjects.into_iter().collect()
        };
        let other = [2.267, 2.589, 2.134, 2.301];
        assert_eq!(named(&[("a", own(0.0)), ("b", other), ("c", own(0.0))], false), ["a", "c"]);
        assert_eq!(named(&[("a", own(0.0)), ("b", other)], true), [""; 0]);
        let [mut one, mut two] = [own(0.0), other];
        (one[3], two[3]) = (one[0], two[0]);
        assert_eq!(named(&[("a", one), ("b", two)], true), ["a", "b"]);
        // More of them than are told one by one.
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let all: Vec<(&str, [f64; 4])> = names.iter().map(|name| (*name, own(0.0))).collect();
        assert_eq!(named(&all, false), names);
    }

    #[test]
    fn copies_beyond_those_that_are_named_are_counted() {
        let last = |subjects: usize| -> Option<String> {
            let of = |number: usize| {
                let values = (0..).zip([1.123, 1.345, 1.256, 1.478]);
                values.map(move |(block, value)| record(block, &format!("s{number}"), value))
            };
            let records: Vec<Record> = (0..subjects).flat_map(of).collect();
            copied(&records, false).caveats.into_iter().next_back().map(|caveat| caveat.detail)
        };
        assert_eq!(last(6).unwrap(), "w: all 4 values of s4 are those of s5");
        assert_eq!(last(7).unwrap(), "one more copy is not named");
        assert_eq!(last(8).unwrap(), "2 more copies are not named");
    }

    /// What is told of so many blocks of two subjects, of which these are others once more.
    fn pasted(step: f64, blocks: u32, copies: &[[u32; 2]]) -> Vec<String> {
        let place = |block: u32| {
            copies.iter().find(|[copy, _]| *copy == block).map_or(block, |[_, original]| *original)
        };
        let value = |block: u32, factor: u32| {
            let place = place(block);
            10_001.0 + f64::from(place * factor % 31) + step * f64::from(place + 1)
        };
        let both =
            |block| [record(block, "a", value(block, 7)), record(block, "b", value(block, 12))];
        let records: Vec<Record> = (0..blocks).flat_map(both).collect();
        blocks_told(&records)
    }

    /// What is told of blocks, and a word for each of which nothing is.
    fn blocks_told(records: &[Record]) -> Vec<String> {
        let mut found = FoundCopies::default();
        blocks(records, &mut found);
        let FoundCopies { told, more, .. } = found;
        assert!(told.len() <= TOLD_AT_MOST);
        told.into_iter().chain(std::iter::repeat_n("more".to_owned(), more)).collect()
    }

    /// Whole numbers that are spread over 30 of them: of 190 pairs of 20 blocks one is equal in both
    /// subjects now and then, but not half of the blocks.
    #[test]
    fn blocks_of_few_digits_are_equal_by_chance_and_many_of_them_are_not() {
        assert_eq!(pasted(0.0, 20, &[[19, 3]]), [""; 0]);
        assert_eq!(pasted(0.001_37, 20, &[[19, 3]]), ["block 20 is block 4 once more"]);
        let half: Vec<[u32; 2]> = (10..20).map(|copy| [copy, copy - 10]).collect();
        assert_eq!(pasted(0.0, 20, &half).len(), 10);
    }

    /// Copies make values dense that are not.
    #[test]
    fn most_of_the_blocks_may_be_one() {
        assert_eq!(pasted(0.001_37, 5, &[[2, 0], [3, 0], [4, 0]]).len(), 3);
        assert_eq!(pasted(0.001_37, 3, &[[2, 0]]).len(), 1);
    }

    /// Ticks of a clock have many digits, and few values.
    #[test]
    fn equal_ticks_of_a_coarse_clock_are_no_copy() {
        let ticks = |factor: u32| move |block: u32| 15.625 * f64::from(block * factor % 4 + 6);
        let records: Vec<Record> = (0..12)
            .flat_map(|block| {
                [record(block, "a", ticks(1)(block)), record(block, "b", ticks(3)(block / 2))]
            })
            .collect();
        assert_eq!(blocks_told(&records), [""; 0]);
    }

    #[test]
    fn one_metric_of_several_that_was_copied_is_told() {
        let noise = [[0.31, 0.77, 0.12, 0.58, 0.69], [0.94, 0.26, 0.83, 0.45, 0.17]];
        let of = |subject: &str, noise: [f64; 5]| -> Vec<Record> {
            let values = (0..).zip([1.123, 1.245, 1.176, 1.278, 1.201]).zip(noise);
            let one = |((block, value), other)| {
                let of_metric = |id, value: f64| Sample::values(id, vec![value]);
                let invocations =
                    vec![invocation(vec![of_metric("m", value), of_metric("n", other)])].into();
                Record { block, invocations, ..fixtures::record(subject, "w") }
            };
            values.map(one).collect()
        };
        let records = [of("a", noise[0]), of("b", noise[1])].concat();
        let details = copied(&records, true).caveats.into_iter().map(|caveat| caveat.detail);
        let expected = "w, m: all 5 values of a are those of b, in the same order";
        assert_eq!(details.collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn blocks_of_many_workloads_times_factors_of_their_own_are_told() {
        // The values of 24 trials without an order, or of 6 workloads that are the same in each block.
        let of = |subject: &str, factors: [f64; 4], shift: f64, different: u32| -> Vec<Record> {
            let trial = |at: u32| {
                let (block, workload) = (at / 6, at % 6);
                let value = f64::from(at % different * 7919 % 97) * (0.010_013 + shift);
                let value = (1.000_017 + value) * factors[block as usize];
                let invocations = vec![invocation(vec![Sample::values("m", vec![value])])].into();
                let workload = format!("w{workload}");
                Record { block, invocations, ..fixtures::record(subject, &workload) }
            };
            (0..24).map(trial).collect()
        };
        let details = |shift: f64, different: u32| -> Vec<String> {
            let others = of("b", [1.03, 0.97, 1.01, 0.98], shift, different);
            let records = [of("a", [1.0, 1.02, 0.99, 1.013], 0.0, different), others].concat();
            copied(&records, true).caveats.into_iter().map(|caveat| caveat.detail).collect()
        };
        assert_eq!(
            details(0.0, 24),
            ["m: 24 of 24 values of a are those of b times factors that change 3 times"]
        );
        assert_eq!(details(0.000_411, 24), [""; 0]);
        // Work that is the same in each block, on a machine whose speed changes from trial to trial.
        assert_eq!(details(0.0, 6), [""; 0]);
    }

    #[test]
    fn a_file_under_two_names_and_a_block_once_more_are_named() {
        let [a, b] = [[1.123, 1.345, 1.256, 1.478], [1.267, 1.589, 1.134, 1.301]];
        assert_eq!(details_of(&[("a", a), ("b", b)]), [""; 0]);
        assert_eq!(details_of(&[("a", a), ("b", a)]), ["w: all 4 values of a are those of b"]);
        let reversed = [a[3], a[2], a[1], a[0]];
        let exact = [0.1123, 0.1345, 0.1256, 0.1478].map(|value| value * 1.000_001);
        let turned = [exact[3], exact[2], exact[1], exact[0]];
        assert_eq!(details_of(&[("a", a), ("b", reversed)]), [""; 0], "few values of few digits");
        assert_eq!(
            details_of(&[("a", exact), ("b", turned)]),
            ["w, m: all 4 values of a are those of b, in another order or with other digits"]
        );
        let [mut once_more, mut other] = [a, b];
        (once_more[3], other[3]) = (a[0], b[0]);
        assert_eq!(details_of(&[("a", once_more), ("b", other)]), ["block 4 is block 1 once more"]);
        // One value that stands twice is none.
        assert_eq!(details_of(&[("a", once_more), ("b", b)]), [""; 0]);
        let coarse = [10.0, 11.0, 10.0, 12.0];
        assert_eq!(
            details_of(&[("a", coarse), ("b", [10.0, 12.0, 10.0, 11.0])]),
            [""; 0],
            "few digits"
        );
        assert_eq!(details_of(&[("a", [0.0; 4]), ("b", [0.0; 4])]), [""; 0], "no value varies");
    }
}
