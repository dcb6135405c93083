//! What reports say of campaigns whose workloads and metrics span a table.

use crate::campaigns::{Campaign, mixed};
use crate::grid::{BLOCKS, OPERATIONS, SUBJECTS, grid, imported_grid, record_size};
use crate::multicore::multicore;
use crate::{drawn, page, part, widest};
use expect_test::expect_file;
use model::{Caveat, CaveatCode, ParameterValue, Reduction, Unit, Verdict};
use report::{Grid, GridMean, Inputs, Page, view};

fn only_grid(campaign: &Campaign) -> Grid {
    let mut grids = view(&campaign.inputs()).grids;
    assert_eq!(grids.len(), 1);
    grids.remove(0)
}

fn is_close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

#[test]
fn rows_are_in_the_order_of_their_size_and_columns_are_operations() {
    let found = only_grid(&grid());
    assert_eq!(found.measure, "throughput");
    assert_eq!((found.rows.name.as_str(), found.rows.noun()), ("record", "size"));
    let sizes = ["8KiB", "16KiB", "32KiB", "64KiB", "256KiB", "1MiB", "4MiB", "8MiB", "16MiB"];
    assert_eq!(found.rows.labels, sizes);
    let numbers: Vec<f64> = (0..9).map(|step| record_size(step) as f64).collect();
    assert_eq!((found.rows.numbers, found.rows.unit), (numbers, Some(Unit::Bytes)));
    assert_eq!(
        (found.columns.name.as_str(), found.columns.labels),
        ("operation", OPERATIONS.map(str::to_owned).into())
    );
    let question = found.questions[0][6].as_ref().unwrap();
    assert_eq!(
        (question.workload.as_str(), question.metric.as_str()),
        ("record-8KiB", "random_write_throughput")
    );
    let pairs: Vec<(&str, bool)> =
        found.comparisons.iter().map(|one| (one.subject.as_str(), one.is_control)).collect();
    let expected = [("none", false), ("bfq", false), ("kyber", false), ("mq-deadline-again", true)];
    assert_eq!(pairs, expected);
}

#[test]
fn two_parameters_and_one_metric_span_the_same_grid() {
    let (own, theirs) = (only_grid(&grid()), only_grid(&imported_grid()));
    assert_eq!(theirs.measure, "throughput");
    assert_eq!((&theirs.rows.name, &theirs.columns.name), (&own.rows.name, &own.columns.name));
    assert_eq!((theirs.rows, theirs.columns), (own.rows, own.columns));
    assert_eq!((theirs.subjects, theirs.comparisons), (own.subjects, own.comparisons));
    assert_eq!(theirs.questions[8][0].as_ref().unwrap().workload, "operation:write,record:16MiB");
}

#[test]
fn plans_that_span_no_table_have_no_grid() {
    for campaign in [mixed(), multicore()] {
        assert!(view(&campaign.inputs()).grids.is_empty());
    }
    let without = |change: fn(&mut Campaign)| {
        let mut campaign = grid();
        change(&mut campaign);
        view(&campaign.inputs()).grids.len()
    };
    assert_eq!(without(|campaign| campaign.plan.workloads.truncate(1)), 0);
    assert_eq!(
        without(|campaign| {
            // A second parameter goes along with the first: a diagonal, not a table.
            for (index, workload) in campaign.plan.workloads.iter_mut().enumerate() {
                let value = ParameterValue::Count(index as u64);
                workload.parameters.0.insert("depth".to_owned(), value);
            }
        }),
        0
    );
    assert_eq!(
        without(|campaign| {
            for metric in campaign.plan.workloads.iter_mut().flat_map(|one| &mut one.metrics) {
                metric.reduction = Reduction::Quantile(0.99);
            }
        }),
        0,
        "percentiles are never averaged"
    );
    assert_eq!(
        without(|campaign| {
            for workload in &mut campaign.plan.workloads {
                workload.metrics[0].unit = Unit::PerSecond;
                workload.metrics[1].unit = Unit::PerSecond;
            }
        }),
        2,
        "one grid for each unit"
    );
}

#[test]
fn the_mean_of_ratios_is_the_ratio_of_geometric_means_and_not_of_arithmetic_ones() {
    let found = only_grid(&grid());
    let reference = found.subject(SUBJECTS[0]).unwrap();
    let mut apart = 0;
    for comparison in &found.comparisons {
        let own = found.subject(&comparison.subject).unwrap();
        let rows = own.row_means.iter().zip(&reference.row_means).zip(&comparison.row_ratios);
        let columns =
            own.column_means.iter().zip(&reference.column_means).zip(&comparison.column_ratios);
        for ((own, reference), ratio) in rows.chain(columns) {
            let (own, reference, ratio) = (own.unwrap(), reference.unwrap(), ratio.unwrap());
            if own.is_partial() || comparison.subject == "none" {
                // Other cells, or other blocks, on either side.
                continue;
            }
            assert!(is_close(own.geometric / reference.geometric, ratio.ratio), "{comparison:?}");
            apart += usize::from(
                (own.arithmetic / reference.arithmetic / ratio.ratio).ln().abs() > 0.05,
            );
        }
    }
    assert!(apart >= 9, "arithmetic means differ from that in {apart} rows and columns");
}

#[test]
fn a_cell_is_the_geometric_mean_of_its_runs_and_missing_ones_are_counted() {
    let campaign = grid();
    let found = only_grid(&campaign);
    let none = found.subject("none").unwrap();
    let cell = none.cells[0][0].as_ref().unwrap();
    let blocks: Vec<u32> = cell.runs.iter().map(|run| run.block).collect();
    assert_eq!(blocks, [0, 1, 2, 4, 5], "one of its runs failed");
    let logs: f64 = cell.runs.iter().map(|run| run.value.ln()).sum();
    assert!(is_close(cell.mean, (logs / 5.0).exp()));
    let sum: f64 = cell.runs.iter().map(|run| run.value).sum();
    assert!(is_close(cell.arithmetic, sum / 5.0) && cell.arithmetic > cell.mean);
    let full = none.cells[1][0].as_ref().unwrap();
    assert_eq!(full.runs.len(), BLOCKS as usize);
    let kyber = found.subject("kyber").unwrap();
    assert_eq!(kyber.cells[8][6], None);
    let partial = kyber.row_means[8].unwrap();
    assert_eq!((partial.cells, partial.of, partial.is_partial()), (6, 7, true));
    let whole = kyber.row_means[7].unwrap();
    assert_eq!((whole.cells, whole.is_partial()), (7, false));
    assert_eq!(kyber.column_means[6].map(|GridMean { cells, of, .. }| (cells, of)), Some((8, 9)));
    let effect = found.comparisons[2].cells[8][6].as_ref().unwrap();
    assert_eq!((effect.ratio, effect.verdict), (None, Verdict::Invalid));
    assert_eq!(found.comparisons[2].row_ratios[8].map(|ratio| ratio.cells), Some(6));
}

#[test]
fn verdicts_and_intervals_are_those_of_the_findings() {
    let campaign = grid();
    let found = only_grid(&campaign);
    let mut seen = 0;
    for finding in &campaign.findings.findings {
        let question = &finding.question;
        let comparison =
            found.comparisons.iter().find(|one| one.subject == question.subject).unwrap();
        for (row, cells) in found.questions.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let cell = cell.as_ref().unwrap();
                if (&cell.workload, &cell.metric) != (&question.workload, &question.metric) {
                    continue;
                }
                let effect = comparison.cells[row][column].as_ref().unwrap();
                assert_eq!(effect.verdict, finding.verdict);
                assert_eq!(effect.interval, finding.effect.as_ref().map(|own| own.interval));
                let adjusted = finding.effect.as_ref().and_then(|own| own.adjusted_difference);
                assert_eq!(effect.adjusted_difference, adjusted);
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 4 * 9 * 7);
}

#[test]
fn heat_maps_and_means_fit_80_columns_and_plain_ascii() {
    let campaign = grid();
    let text = drawn(&campaign, "terminal", page(80));
    assert!(widest(&text) <= 80, "{}", widest(&text));
    expect_file!["../golden/grid-80.txt"].assert_eq(&text);
    let ascii = Page { is_unicode: false, is_verbose: true, ..page(60) };
    let text = drawn(&campaign, "terminal", ascii);
    assert!(text.is_ascii() && widest(&text) <= 60, "{}", widest(&text));
    let told = part(&text, "throughput by record", "is a verdict");
    expect_file!["../golden/grid-ascii-verbose-60.txt"].assert_eq(told);
    assert!(text.contains("Arithmetic means over operation"), "{text}");
}

#[test]
fn legends_speak_of_missing_cells_and_of_arithmetic_means_only_where_some_are_shown() {
    let mut whole = grid();
    whole.plan.subjects.retain(|one| one.id != "kyber");
    whole.findings.findings.retain(|one| one.question.subject != "kyber");
    let others =
        grid().records.iter().filter(|one| one.subject.as_str() != "kyber").cloned().collect();
    whole.records = others;
    for (campaign, is_partial) in [(grid(), true), (whole, false)] {
        for (format, is_verbose, has_arithmetic) in
            [("terminal", false, false), ("terminal", true, true), ("markdown", false, true)]
        {
            let text = drawn(&campaign, format, Page { is_verbose, ..page(4_000) });
            assert_eq!(text.contains("(6/7) says"), is_partial, "{format}: {text}");
            let is_told = text.contains("The arithmetic mean follows");
            assert_eq!(is_told, has_arithmetic, "{format}: {text}");
            assert!(text.contains("geometric means of the ratios, without a verdict"), "{text}");
        }
    }
}

#[test]
fn colours_follow_the_verdicts_and_change_no_text() {
    let coloured = drawn(&grid(), "terminal", Page { is_colour: true, ..page(80) });
    let cell = coloured.lines().find(|line| line.contains("×11.5")).unwrap();
    assert!(cell.contains("\u{1b}[32m"), "{cell:?}");
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert_eq!(bare, drawn(&grid(), "terminal", page(80)));
}

#[test]
fn markdown_has_every_cell_value_and_mean() {
    let text = drawn(&grid(), "markdown", page(80));
    let told = part(&text, "## Throughput by record", "Neither is a verdict");
    expect_file!["../golden/grid.md"].assert_eq(told);
}

#[test]
fn values_of_an_emulated_processor_are_hidden_and_ratios_shown() {
    let mut campaign = grid();
    for finding in &mut campaign.findings.findings {
        finding.note_caveat(Caveat::new(CaveatCode::Tcg, "in 12 trials; first: QEMU's TCG"));
        finding.is_emulated = true;
    }
    let verbose = Page { is_verbose: true, ..page(80) };
    for (format, opening) in
        [("terminal", "emulated: throughput by"), ("markdown", "## Emulated: throughput by")]
    {
        let text = drawn(&campaign, format, verbose);
        assert!(text.contains(opening), "{format}");
        assert!(text.contains("×11.5") && text.contains("-18.0"), "{text}");
        for unit in ["MiB/s", "GiB/s", "KiB/s"] {
            assert!(!text.contains(unit), "{format} tells {unit}");
        }
    }
    let report = view(&Inputs { is_absolute: true, ..campaign.inputs() });
    assert!(!report.hides_absolute && report.grids[0].is_emulated);
    // Data keeps the numbers.
    assert!(drawn(&campaign, "json", verbose).contains("\"geometric\""));
}
