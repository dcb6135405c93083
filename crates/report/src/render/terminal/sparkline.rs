//! Every run of a metric in its order, one sign each, one line for each subject.

use super::super::Page;
use super::{padded, shortened};
use crate::emulated::hidden;
use crate::quantities::{percent_of_log, value};
use crate::series::Series;
use crate::view::Report;
use phrases::{noted, say};
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr;

/// What the signs are.
pub(super) const LEGEND: &str = noted!(
    "Each sign is a run in the order of blocks, against the median of its own subject: what \
     drifts or jumps shows, differences between subjects do not. A blank is a run without a \
     value."
);

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];
/// A scale reaches at least 5 %, so that noise looks small.
const NEAREST: f64 = 0.05;
const LONGEST_NAME: usize = 24;

/// One subject's runs, by block.
struct Line<'r> {
    subject: &'r str,
    median: f64,
    runs: BTreeMap<u32, f64>,
}

/// A heading, and a line for each subject.
pub(super) fn lines(report: &Report, series: &Series, page: &Page) -> (String, Vec<String>) {
    let subjects = of_subjects(report, series);
    let runs = || subjects.iter().flat_map(|line| line.runs.values().map(move |run| (*run, line)));
    let has_logs = runs().all(|(run, _)| run > 0.0);
    let reach = runs().fold(if has_logs { NEAREST } else { 0.0 }, |reach: f64, (run, line)| {
        reach.max(deviation(run, line.median, has_logs).abs())
    });
    let signs = if page.is_unicode { BLOCKS } else { PLAIN };
    let language = report.language;
    let scale = if has_logs {
        let [low, high] = [-reach, reach].map(|end| percent_of_log(end, language));
        say!(
            language,
            "; {lowest} is {low}, {highest} is {high}",
            lowest = signs[0],
            low,
            highest = signs[7],
            high
        )
    } else {
        String::new()
    };
    let heading = say!(
        language,
        "{workload} {metric} run by run{scale}",
        workload = series.workload,
        metric = series.metric,
        scale
    );
    let name = subjects.iter().map(|line| line.subject.width()).max().unwrap_or(0);
    let name = name.min(LONGEST_NAME).min(page.width / 3);
    let blocks: Vec<u32> =
        series.block.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let drawn = subjects.iter().map(|line| {
        let shown =
            if report.hides_absolute { hidden(language) } else { value(line.median, series.unit) };
        let end = say!(language, "median {value}", value = shown);
        let room = page.width.saturating_sub(2 + name + 2 + 2 + end.width()).max(1);
        let sign = |run: f64| signs[level(deviation(run, line.median, has_logs), reach)];
        let runs = joined(line, &blocks, room).into_iter().map(|run| run.map_or(' ', sign));
        let runs: String = runs.collect();
        format!("{}  {runs}  {end}", padded(&shortened(line.subject, name), name))
    });
    (heading, drawn.collect())
}

fn of_subjects<'r>(report: &'r Report, series: &Series) -> Vec<Line<'r>> {
    let mut found: BTreeMap<usize, BTreeMap<u32, f64>> = BTreeMap::new();
    for ((subject, block), run) in series.subject.iter().zip(&series.block).zip(&series.value) {
        found.entry(*subject).or_default().insert(*block, *run);
    }
    let line = |(subject, runs): (usize, BTreeMap<u32, f64>)| Line {
        subject: &report.subjects[subject].id,
        median: median(runs.values().copied().collect()),
        runs,
    };
    found.into_iter().map(line).collect()
}

/// At most `room` runs: where there are more, neighbours share a place, and the one furthest
/// from the median has it.
fn joined(line: &Line<'_>, blocks: &[u32], room: usize) -> Vec<Option<f64>> {
    let share = blocks.len().div_ceil(room).max(1);
    let distance = |run: &f64| (run - line.median).abs();
    let furthest = |part: &[u32]| {
        let runs = part.iter().filter_map(|block| line.runs.get(block).copied());
        runs.max_by(|one, other| distance(one).total_cmp(&distance(other)))
    };
    blocks.chunks(share).map(furthest).collect()
}

/// Values between a low and a high one, in at most `room` signs: where there are more, neighbours
/// share a sign, and the one furthest from the median of all has it.
pub(super) fn signs(values: &[f64], low: f64, high: f64, room: usize, is_unicode: bool) -> String {
    let signs = if is_unicode { BLOCKS } else { PLAIN };
    let centre = median(values.to_vec());
    let distance = |value: &f64| (value - centre).abs();
    let furthest = |part: &[f64]| {
        part.iter().copied().max_by(|one, other| distance(one).total_cmp(&distance(other)))
    };
    let share = values.len().div_ceil(room.max(1)).max(1);
    let middle = f64::midpoint(low, high);
    let shown = values.chunks(share).filter_map(furthest);
    shown.map(|value| signs[level(value - middle, (high - low) / 2.0)]).collect()
}

fn median(mut runs: Vec<f64>) -> f64 {
    runs.sort_by(f64::total_cmp);
    match runs.len() {
        0 => 0.0,
        count => (runs[(count - 1) / 2] + runs[count / 2]) / 2.0,
    }
}

/// How far a run lies from the median: of positive values on a logarithmic scale.
fn deviation(run: f64, median: f64, has_logs: bool) -> f64 {
    if has_logs { (run / median).ln() } else { run - median }
}

fn level(deviation: f64, reach: f64) -> usize {
    if reach <= 0.0 {
        return 3;
    }
    ((deviation / reach + 1.0) * 3.5).round().clamp(0.0, 7.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_furthest_from_the_median_is_never_hidden_by_its_neighbours() {
        let runs: BTreeMap<u32, f64> =
            (0..100).map(|block| (block, if block == 57 { 9.0 } else { 5.0 })).collect();
        let line = Line { subject: "a", median: 5.0, runs };
        let blocks: Vec<u32> = (0..100).collect();
        let shown = joined(&line, &blocks, 30);
        assert!(shown.len() <= 30);
        assert_eq!(shown.iter().filter(|run| **run == Some(9.0)).count(), 1);
        assert_eq!(joined(&line, &blocks, 100).len(), 100);
    }

    #[test]
    fn the_ends_of_the_scale_are_the_lowest_and_the_highest_sign() {
        for (deviation, reach, expected) in
            [(-0.2, 0.2, 0), (0.2, 0.2, 7), (0.0, 0.2, 4), (0.0, 0.0, 3), (5.0, 0.2, 7)]
        {
            assert_eq!(level(deviation, reach), expected, "{deviation}");
        }
        assert_eq!(median(vec![4.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
    }
}
