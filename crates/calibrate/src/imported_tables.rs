//! Tables of two subjects that are drawn here, imported by the importer that users run, and judged.

use crate::draws::Draws;
use crate::synthetic::SIGMA;
use contract::{Error, Result};
use importers::{
    Assembled, IMPORTERS, ImportFile, ImportSettings, Mapping, MappingDirection, ValueColumn,
};
use model::{Comparisons, Findings, Plan};
use std::fmt::Write;

/// The subjects' names.
pub(crate) const SUBJECTS: [&str; 2] = ["a", "b"];

/// The order of a table's rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RowOrder {
    /// A subject and then the other.
    OneAfterTheOther,
    /// In turns.
    InTurns,
    /// In turns of which the first is always the same subject.
    Alternating,
    /// Every order is equally likely.
    Shuffled,
    /// One after the other, but for the second row.
    OneOutOfPlace,
    /// The second subject between two halves of the first.
    InTheMiddle,
    /// Half of each, and half of each again.
    InHalves,
    /// Blocks of one row of each, either of which may be the first.
    DrawnInBlocks,
}

impl RowOrder {
    /// The subject of each row, 0 or 1.
    pub(crate) fn arms(self, runs: u32, draws: &mut Draws) -> Vec<usize> {
        let half = runs / 2;
        let is_second = |row: u32| match self {
            Self::OneAfterTheOther => row >= runs,
            // The first of a pair changes, as in a table that somebody randomised.
            Self::InTurns | Self::Shuffled | Self::DrawnInBlocks => (row + row / 2) % 2 == 1,
            Self::Alternating => row % 2 == 1,
            Self::OneOutOfPlace => row == 1 || row > runs,
            Self::InTheMiddle => (half..half + runs).contains(&row),
            Self::InHalves => row / half % 2 == 1,
        };
        let mut arms: Vec<usize> = (0..2 * runs).map(|row| usize::from(is_second(row))).collect();
        if self == Self::Shuffled {
            draws.shuffle(&mut arms);
        }
        if self == Self::DrawnInBlocks {
            for block in arms.chunks_exact_mut(2) {
                if draws.uniform() < 0.5 {
                    block.swap(0, 1);
                }
            }
        }
        arms
    }
}

/// How values change from the first row to the last, on the scale of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Drift {
    /// By so much, steadily.
    Line(f64),
    /// Up by so much to the middle, and down again.
    Hump(f64),
}

impl Drift {
    const NONE: Self = Self::Line(0.0);

    /// What it is in a row of so many.
    fn at(self, row: usize, rows: usize) -> f64 {
        let place = row as f64 / rows as f64;
        match self {
            Self::Line(size) => size * place,
            Self::Hump(size) => size * 4.0 * place * (1.0 - place),
        }
    }
}

/// What else each value has, on the scale of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TableNoise {
    /// Normal noise.
    Normal,
    /// Each subject's values follow its own past, by this correlation.
    Correlated(f64),
    /// In one of seven runs the second subject takes 4 % longer on average.
    Spikes,
    /// One run of the second subject takes half as long again.
    OneFar,
    /// The second subject has the values of the first, in another order.
    Copied,
    /// A third of the values of the second subject are those of the first at the same places.
    CopiedInPart,
    /// The second subject has those of the first in the same order, each half of them times a factor.
    Scaled([f64; 2]),
    /// The second half of the runs of the second subject is the first half once more.
    Repeated,
    /// The last block is the first one once more.
    BlockOnceMore,
}

/// What the numbers of a table are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TableNumbers {
    /// Times of about 100.
    Times,
    /// Times of about 1,200.
    LongTimes,
    /// The 99th percentiles of 2,000 exponential events.
    Percentiles,
    /// Shares of 20,000 attempts, one in twenty of a subject without an effect.
    Shares,
}

impl TableNumbers {
    /// One of them, of which this is what it has beside its own noise, on the scale of logarithms.
    fn draw(self, log: f64, draws: &mut Draws) -> f64 {
        match self {
            Self::Times => 100.0 * log.exp(),
            Self::LongTimes => 1_200.0 * log.exp(),
            Self::Percentiles => percentile(draws) * log.exp(),
            Self::Shares => {
                let counted = draws.successes(ATTEMPTS, log.exp() / 20.0);
                counted as f64 / f64::from(ATTEMPTS)
            }
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Times | Self::LongTimes | Self::Percentiles => "ms",
            Self::Shares => "fraction",
        }
    }
}

/// Attempts of a share.
const ATTEMPTS: u32 = 20_000;

/// A table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableShape {
    pub order: RowOrder,
    /// Runs of each subject.
    pub runs: u32,
    pub has_blocks: bool,
    /// Whether each subject has a file of its own.
    pub has_two_files: bool,
    pub drift: Drift,
    /// Logarithm of the true ratio.
    pub effect: f64,
    /// By how much the second run of a block takes longer, on the scale of logarithms.
    pub second_is_slower: f64,
    /// What a run of the first subject leaves behind for the next one, on the scale of logarithms.
    pub left_behind: f64,
    pub noise: TableNoise,
    /// Of the clock that gave the numbers; 0 of an exact one.
    pub step: f64,
    /// Whether that is the clock of the second subject alone, and the first has an exact one.
    pub has_one_clock: bool,
    /// Workloads that a run covers, each in a row of its own.
    pub workloads: usize,
    pub numbers: TableNumbers,
    /// As a fraction.
    pub margin: f64,
}

impl TableShape {
    /// Ten runs of each in turns, normal noise and nothing else, without blocks.
    pub(crate) const IN_TURNS: Self = Self {
        order: RowOrder::InTurns,
        runs: 10,
        has_blocks: false,
        has_two_files: false,
        drift: Drift::NONE,
        effect: 0.0,
        second_is_slower: 0.0,
        left_behind: 0.0,
        noise: TableNoise::Normal,
        step: 0.0,
        has_one_clock: false,
        workloads: 1,
        numbers: TableNumbers::Times,
        margin: 0.02,
    };
}

/// The findings of one repetition of a table.
pub(crate) fn imported(shape: &TableShape, repetition: u32) -> Result<Findings> {
    imported_with(shape, repetition, |_| {})
}

/// The same of a plan that declares more.
pub(crate) fn imported_with(
    shape: &TableShape,
    repetition: u32,
    declare: impl Fn(&mut Plan),
) -> Result<Findings> {
    let run = || "run".to_owned();
    let mut mapping = Mapping {
        replicate: if shape.has_blocks { Vec::new() } else { vec![run()] },
        block: shape.has_blocks.then(run),
        parameters: if shape.workloads > 1 { vec!["load".to_owned()] } else { Vec::new() },
        ..mapping()
    };
    for value in &mut mapping.values {
        value.unit = Some(shape.numbers.unit().to_owned());
    }
    let mut campaign = import(&files(shape, repetition), &mapping, shape.margin)
        .map_err(|cause| Error::environment("cannot import a table of the calibration", cause))?;
    declare(&mut campaign.plan);
    Ok(analysis::judge(&campaign.plan, &campaign.records))
}

/// A column of subjects and one of times.
pub(crate) fn mapping() -> Mapping {
    let time = ValueColumn {
        column: "time".to_owned(),
        direction: Some(MappingDirection::Lower),
        unit: Some("ms".to_owned()),
    };
    Mapping { subject: Some("subject".to_owned()), values: vec![time], ..Mapping::default() }
}

/// Imports the files of a table by their texts, or says why they are refused.
pub(crate) fn import(
    texts: &[String],
    mapping: &Mapping,
    margin: f64,
) -> Result<Assembled, String> {
    let sources: Vec<ImportFile<'_>> = (1..)
        .zip(texts)
        .map(|(execution, text)| ImportFile { subject: "table", execution, bytes: text.as_bytes() })
        .collect();
    let settings = ImportSettings {
        name: "calibration".to_owned(),
        title: "calibration".to_owned(),
        files: "table".to_owned(),
        reference: None,
        comparisons: Comparisons::Reference,
        margin: Some(margin),
        alpha: 0.05,
    };
    let csv = IMPORTERS
        .iter()
        .find(|importer| importer.describe().id == "csv")
        .ok_or("there is no importer of tables")?;
    importers::import(*csv, &sources, mapping, &settings).map_err(|(_, trouble)| trouble.cause)
}

/// The table, or the rows of each subject by themselves, in the order in which they ran.
fn files(shape: &TableShape, repetition: u32) -> Vec<String> {
    let text = table(shape, repetition);
    if !shape.has_two_files {
        return vec![text];
    }
    let of = |subject: &str| -> String {
        let is_own = |line: &&str| line.split(',').next() == Some(subject);
        let rows = text.lines().skip(1).filter(is_own);
        text.lines().take(1).chain(rows).flat_map(|line| [line, "\n"]).collect()
    };
    SUBJECTS.map(of).into()
}

fn table(shape: &TableShape, repetition: u32) -> String {
    let mut draws = Draws::of(repetition);
    let runs = shape.order.arms(shape.runs, &mut draws);
    let arms: Vec<usize> =
        runs.into_iter().flat_map(|arm| std::iter::repeat_n(arm, shape.workloads)).collect();
    let mut noise = shape.noise.of_rows();
    let mut values = [Vec::new(), Vec::new()];
    for (row, arm) in arms.iter().enumerate() {
        let effect = *arm as f64 * shape.effect;
        let noise = noise(*arm, values[*arm].len(), &mut draws);
        let before = row.checked_sub(1).map(|before| arms[before]);
        let carried = if before == Some(0) { shape.left_behind } else { 0.0 };
        let in_block = if row / shape.workloads % 2 == 1 { shape.second_is_slower } else { 0.0 };
        let log = noise + shape.drift.at(row, arms.len()) + effect + carried + in_block;
        let exact = shape.numbers.draw(log, &mut draws);
        let step = if shape.has_one_clock && *arm == 0 { 0.0 } else { shape.step };
        values[*arm].push(if step > 0.0 { (exact / step).round() * step } else { exact });
    }
    shape.noise.copy(&mut values);
    written(&arms, &values, shape.workloads)
}

/// The rows, each with the next value of its subject, and where a run covers several workloads with
/// the name of one.
fn written(arms: &[usize], values: &[Vec<f64>; 2], workloads: usize) -> String {
    let load = if workloads > 1 { "load," } else { "" };
    let mut text = format!("subject,{load}run,time\n");
    let mut next = [0; 2];
    for arm in arms {
        let row = next[*arm];
        let run = row / workloads;
        let load = if workloads > 1 { format!("l{},", row % workloads) } else { String::new() };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{load}{run},{:.9}", SUBJECTS[*arm], values[*arm][row]);
        next[*arm] += 1;
    }
    text
}

/// Draws what a run of a subject has.
type RowNoise = Box<dyn FnMut(usize, usize, &mut Draws) -> f64>;

impl TableNoise {
    fn of_rows(self) -> RowNoise {
        let mut before: [Option<f64>; 2] = [None; 2];
        Box::new(move |arm, run, draws| {
            let normal = SIGMA * draws.normal();
            match self {
                Self::Normal
                | Self::Copied
                | Self::CopiedInPart
                | Self::Scaled(_)
                | Self::Repeated
                | Self::BlockOnceMore => normal,
                Self::Correlated(rho) => {
                    let own = before[arm]
                        .map_or(normal, |own| rho * own + (1.0 - rho * rho).sqrt() * normal);
                    before[arm] = Some(own);
                    own
                }
                Self::Spikes => {
                    let has_spike = draws.uniform() < 1.0 / 7.0;
                    let spike = if has_spike { 0.04 * draws.exponential() } else { 0.0 };
                    normal + if arm == 1 { spike - 0.04 / 7.0 } else { 0.0 }
                }
                Self::OneFar => normal + if arm == 1 && run == 4 { 0.4 } else { 0.0 },
            }
        })
    }

    /// Puts copies in place of values that were drawn.
    fn copy(self, [first, second]: &mut [Vec<f64>; 2]) {
        match self {
            Self::Normal | Self::Correlated(_) | Self::Spikes | Self::OneFar => {}
            Self::Copied => {
                // Steps of three reach all of ten runs, and of twenty.
                let of = |run: usize| first[(3 * run + 1) % first.len()];
                *second = (0..first.len()).map(of).collect();
            }
            Self::CopiedInPart => {
                for (value, of_first) in second.iter_mut().zip(first.iter()).step_by(3) {
                    *value = *of_first;
                }
            }
            Self::Scaled(factors) => {
                let half = first.len().div_ceil(2);
                let scaled = |(run, value): (usize, &f64)| value * factors[run / half];
                *second = first.iter().enumerate().map(scaled).collect();
            }
            Self::Repeated => {
                let half = second.len() / 2;
                second.copy_within(..half, half);
            }
            Self::BlockOnceMore => {
                for values in [first, second] {
                    let of_first = values.first().copied();
                    if let (Some(of_first), Some(last)) = (of_first, values.last_mut()) {
                        *last = of_first;
                    }
                }
            }
        }
    }
}

/// The 20th largest of 2,000 exponential events: a sum of independent ones of the means 1/2000 to 1/20
/// (Rényi 1953).
fn percentile(draws: &mut Draws) -> f64 {
    (20..=2_000_u32).map(|left| draws.exponential() / f64::from(left)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::THETA;
    use model::{CaveatCode, Verdict};

    #[test]
    fn every_order_has_as_many_rows_of_each_and_is_what_it_is_called() {
        for (order, expected) in [
            (RowOrder::OneAfterTheOther, "aaaabbbb"),
            (RowOrder::InTurns, "abbaabba"),
            (RowOrder::Alternating, "abababab"),
            (RowOrder::OneOutOfPlace, "abaaabbb"),
            (RowOrder::InTheMiddle, "aabbbbaa"),
            (RowOrder::InHalves, "aabbaabb"),
        ] {
            let arms = order.arms(4, &mut Draws::of(0));
            let told: String = arms.iter().map(|arm| SUBJECTS[*arm]).collect();
            assert_eq!(told, expected);
        }
        let drawn = RowOrder::DrawnInBlocks.arms(50, &mut Draws::of(0));
        assert!(drawn.chunks_exact(2).all(|block| block[0] != block[1]), "{drawn:?}");
        let of_first: usize = drawn.iter().step_by(2).sum();
        assert!((10..=40).contains(&of_first), "{of_first} of 50 begin with the second");
        let shuffled = |repetition: u32| RowOrder::Shuffled.arms(10, &mut Draws::of(repetition));
        let orders: Vec<Vec<usize>> = (0..20).map(shuffled).collect();
        assert!(orders.iter().all(|arms| arms.iter().sum::<usize>() == 10), "{orders:?}");
        assert!(orders.windows(2).all(|two| two[0] != two[1]), "{orders:?}");
    }

    #[test]
    fn two_files_have_the_rows_of_one_subject_each_and_their_blocks_no_known_order() {
        let shape = TableShape {
            order: RowOrder::OneAfterTheOther,
            has_blocks: true,
            has_two_files: true,
            ..TableShape::IN_TURNS
        };
        let [whole, two] = [table(&shape, 0), files(&shape, 0).concat()];
        let (head, _) = whole.split_once('\n').unwrap();
        assert_eq!(two.matches(head).count(), 2);
        assert_eq!(two.replacen(&format!("{head}\nb,"), "b,", 1), whole);
        let findings = imported(&shape, 0).unwrap();
        let of_findings = findings.findings.iter().flat_map(|finding| &finding.caveats);
        let mut codes = of_findings.chain(&findings.caveats).map(|caveat| caveat.code);
        assert!(codes.any(|code| code == CaveatCode::OrderConfounded));
    }

    #[test]
    fn what_the_first_subject_leaves_behind_is_in_the_row_after_it_alone() {
        let values = |left_behind: f64| -> Vec<(String, f64)> {
            let text = table(&TableShape { left_behind, ..TableShape::IN_TURNS }, 0);
            let row = |line: &str| {
                let (place, value) = line.rsplit_once(',').unwrap();
                (place.to_owned(), value.parse::<f64>().unwrap().ln())
            };
            text.lines().skip(1).map(row).collect()
        };
        let (without, with) = (values(0.0), values(0.03));
        for (row, (one, other)) in without.iter().zip(&with).enumerate() {
            let is_after = row > 0 && without[row - 1].0.starts_with("a,");
            let expected = if is_after { 0.03 } else { 0.0 };
            assert!((other.1 - one.1 - expected).abs() < 1e-9, "{row}");
        }
    }

    #[test]
    fn a_clock_of_ten_steps_shows_no_equivalence_whatever_its_values_happen_to_be() {
        for has_blocks in [false, true] {
            let effect = 2.0 * THETA;
            let shape = TableShape { step: 10.0, effect, has_blocks, ..TableShape::IN_TURNS };
            for repetition in 0..40 {
                let findings = imported(&shape, repetition).unwrap().findings;
                let mut verdicts = findings.iter().map(|finding| finding.verdict);
                assert!(verdicts.all(|verdict| verdict != Verdict::Equivalent), "{repetition}");
            }
        }
    }

    #[test]
    fn a_clock_of_ten_steps_of_one_subject_decides_nothing_by_one_of_them() {
        for (has_blocks, step) in [(false, 10.0), (true, 10.0), (false, 9.3), (true, 9.3)] {
            for effect in [-2.0 * THETA, 0.0, 2.0 * THETA] {
                let clock = TableShape { step, has_one_clock: true, ..TableShape::IN_TURNS };
                let shape = TableShape { effect, has_blocks, ..clock };
                for repetition in 0..20 {
                    for one in imported(&shape, repetition).unwrap().findings {
                        assert_eq!(one.verdict, Verdict::Inconclusive, "{shape:?} {repetition}");
                        let mut codes = one.caveats.iter().map(|caveat| caveat.code);
                        assert!(
                            codes.any(|code| code == CaveatCode::Quantised),
                            "{shape:?} {one:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_run_of_several_workloads_has_a_row_of_each() {
        let shape = TableShape { workloads: 2, runs: 2, ..TableShape::IN_TURNS };
        let text = table(&shape, 0);
        let places: Vec<&str> =
            text.lines().filter_map(|line| line.rsplit_once(',')).map(|(place, _)| place).collect();
        assert_eq!(
            places,
            [
                "subject,load,run",
                "a,l0,0",
                "a,l1,0",
                "b,l0,0",
                "b,l1,0",
                "b,l0,1",
                "b,l1,1",
                "a,l0,1",
                "a,l1,1"
            ]
        );
        let blocks = TableShape { has_blocks: true, runs: 10, ..shape };
        assert_eq!(imported(&blocks, 0).unwrap().findings.len(), 2);
    }

    #[test]
    fn a_copy_has_the_values_of_the_other_in_another_order() {
        let shape = TableShape { noise: TableNoise::Copied, ..TableShape::IN_TURNS };
        let text = table(&shape, 0);
        let of = |subject: &str| -> Vec<&str> {
            let own = text.lines().filter(|line| line.starts_with(subject));
            own.filter_map(|line| line.rsplit_once(',')).map(|(_, value)| value).collect()
        };
        let (mut first, mut second) = (of("a,"), of("b,"));
        assert_ne!(first, second);
        first.sort_unstable();
        second.sort_unstable();
        assert_eq!((first.len(), first), (10, second));
    }

    #[test]
    fn copies_have_some_values_all_times_factors_the_first_half_or_a_block_once_more() {
        let drawn = || [vec![100.0, 102.0, 99.0, 101.0], vec![98.0, 103.0, 100.5, 97.0]];
        let copied = |noise: TableNoise| {
            let mut values = drawn();
            noise.copy(&mut values);
            values
        };
        let [first, second] = drawn();
        let in_part = vec![100.0, 103.0, 100.5, 101.0];
        assert_eq!(copied(TableNoise::CopiedInPart), [first.clone(), in_part]);
        let scaled = vec![200.0, 204.0, 297.0, 303.0];
        assert_eq!(copied(TableNoise::Scaled([2.0, 3.0])), [first.clone(), scaled]);
        let repeated = vec![98.0, 103.0, 98.0, 103.0];
        assert_eq!(copied(TableNoise::Repeated), [first, repeated]);
        let [mut first, mut other] = drawn();
        (first[3], other[3]) = (100.0, 98.0);
        assert_eq!(copied(TableNoise::BlockOnceMore), [first, other]);
        assert_eq!(copied(TableNoise::Normal)[1], second);
    }
}
