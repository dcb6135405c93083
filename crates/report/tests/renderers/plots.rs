//! Small plots in a terminal, and that no name in a report moves its cursor.

use crate::campaigns::{Campaign, emulated, hostile, mixed, undecided};
use crate::grid::grid;
use crate::html_pages::with_values;
use crate::languages::korean;
use crate::multicore::multicore;
use crate::stored::{in_blocks, in_rows};
use crate::{drawn, page, part, rendered};
use expect_test::expect_file;
use model::{Histogram, ImportedOrder, Outcome, Sample, TrialValue};
use proptest::prelude::*;
use report::{Page, view};
use unicode_width::UnicodeWidthStr;

/// [`mixed`] with six runs of each subject; `batch` drifts, `fifo` lost a run.
fn plotted(mut campaign: Campaign) -> Campaign {
    let template = campaign.records[0].clone();
    campaign.records.clear();
    for (place, (subject, centre_ns)) in
        [("baseline", 52_300_u64), ("fifo", 19_900), ("batch", 56_200)].into_iter().enumerate()
    {
        for block in 0..6_u32 {
            let shift = if subject == "batch" { 100 + 4 * u64::from(block) } else { 100 };
            let mut latency = Histogram::new();
            for step in 1..=(400 * (3 - place as u64)) {
                // A tail: each value is as rare as it is large.
                latency.record(centre_ns * shift / 100 * 2000 / (2001 - step));
            }
            let mut record = template.clone();
            (record.sequence, record.block) = (u64::from(block) * 3 + place as u64, block);
            record.subject = subject.to_owned();
            record.workload = "cyclic".to_owned();
            if subject == "fifo" && block == 2 {
                record.outcome = Outcome::Failed { reason: "it was killed".to_owned() };
            } else {
                let value = latency.quantile(0.5).unwrap() as f64;
                campaign.values.push(TrialValue {
                    block,
                    subject: subject.into(),
                    workload: "cyclic".into(),
                    metric: "latency_p50".into(),
                    value,
                });
            }
            let samples = vec![Sample::histogram("latency", latency)];
            record.invocations = vec![fixtures::invocation(samples)].into();
            campaign.records.push(record);
        }
    }
    campaign
}

fn with_plots(width: usize) -> Page {
    Page { has_plots: true, ..page(width) }
}

#[test]
fn curves_and_sparklines_are_drawn_for_who_asks() {
    let campaign = plotted(mixed());
    let text = drawn(&campaign, "terminal", with_plots(80));
    let plots = part(&text, "by percentile", "without a value");
    expect_file!["../golden/plots-80.txt"].assert_eq(plots);
    let narrow = drawn(&campaign, "terminal", Page { is_unicode: false, ..with_plots(48) });
    assert!(narrow.is_ascii(), "{narrow}");
    expect_file!["../golden/plots-ascii-48.txt"].assert_eq(&narrow);
    let plain = drawn(&campaign, "terminal", page(80));
    assert!(!plain.contains("by percentile") && !plain.contains("run by run"));
    assert_eq!(plain.lines().last(), text.lines().last(), "the answer stays the last thing said");
}

/// As on the page: whatever is known of the order of a file, no runs were made in it.
#[test]
fn no_import_is_drawn_run_by_run() {
    for campaign in [with_values(in_blocks()), with_values(in_rows())] {
        assert!(!view(&campaign.inputs()).values.is_empty(), "there is something to draw");
        for order in [ImportedOrder::Unknown, ImportedOrder::Rows, ImportedOrder::Column] {
            let mut campaign = campaign.clone();
            campaign.plan.imported.as_mut().unwrap().order = order;
            let text = drawn(&campaign, "terminal", with_plots(100));
            for words in ["run by run", "Each sign is"] {
                assert!(!text.contains(words), "{order:?}: {words}: {text}");
            }
        }
    }
}

#[test]
fn plots_of_an_emulated_processor_show_ratios_and_no_values() {
    let campaign = plotted(emulated());
    let text = drawn(&campaign, "terminal", with_plots(80));
    assert_eq!(crate::absolute_values(&text), Vec::<&str>::new(), "{text}");
    let plots = part(&text, "by percentile", "without a value");
    expect_file!["../golden/plots-emulated-80.txt"].assert_eq(plots);
}

/// What names may hold that come from somebody else's file: controls, colours, letters of two
/// columns and of none, text from right to left.
fn hostile_name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z-]{1,12}",
        Just("\u{1b}[2J\u{1b}[1;1H".to_owned()),
        Just("\u{9b}31m".to_owned()),
        Just("\r\n\t\u{8}\u{7}".to_owned()),
        Just("한글試験".to_owned()),
        Just("e\u{301}\u{323}".to_owned()),
        Just("\u{202e}abc\u{2066}".to_owned()),
        Just("👩\u{200d}👩\u{200d}👧❤\u{fe0f}".to_owned()),
        "\\PC{0,8}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

fn renamed(mut campaign: Campaign, name: &str) -> Campaign {
    let replace = |text: &mut String, known: &str| {
        if text == known {
            name.clone_into(text);
        }
    };
    name.clone_into(&mut campaign.plan.title);
    campaign.plan.notes.push(name.to_owned());
    campaign.plan.subjects.iter_mut().for_each(|subject| replace(&mut subject.id, "fifo"));
    campaign.records.iter_mut().for_each(|record| replace(&mut record.subject, "fifo"));
    for value in campaign.values.iter_mut().filter(|value| value.subject == "fifo") {
        value.subject = name.into();
    }
    for workload in &mut campaign.plan.workloads {
        replace(&mut workload.label, "cyclic");
    }
    for record in &mut campaign.records {
        replace(&mut record.workload, "cyclic");
    }
    for value in campaign.values.iter_mut().filter(|value| value.workload == "cyclic") {
        value.workload = name.into();
    }
    for finding in &mut campaign.findings.findings {
        replace(&mut finding.question.subject, "fifo");
        replace(&mut finding.question.workload, "cyclic");
        finding.reason = finding.reason.as_ref().map(|reason| format!("{reason} {name}"));
    }
    for count in &mut campaign.findings.failures {
        count.reasons.insert(name.to_owned(), 1);
    }
    campaign
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_line_is_wider_than_the_page_and_nothing_in_a_name_is_obeyed(
        name in hostile_name(),
        width in 40..=200_usize,
        is_unicode in any::<bool>(),
        is_verbose in any::<bool>(),
        is_colour in any::<bool>(),
        which in 0..3_usize,
    ) {
        let campaign = match which {
            0 => plotted(mixed()),
            1 => plotted(emulated()),
            _ => hostile(),
        };
        let page = Page { is_unicode, is_verbose, is_colour, ..with_plots(width) };
        let text = drawn(&renamed(campaign, &name), "terminal", page);
        let bare = without_styles(&text);
        prop_assert!(is_colour || bare == text);
        for line in bare.lines() {
            prop_assert!(line.width() <= width, "{} columns: {line:?}", line.width());
        }
        let obeyed = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}".contains(c);
        prop_assert!(!bare.contains(obeyed), "{bare:?}");
    }
}

/// The text without the styles that this program draws; any other sequence stays.
fn without_styles(text: &str) -> String {
    let known = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m"].map(str::to_owned);
    let colours = (31..=36).map(|colour| format!("\u{1b}[{colour}m"));
    known.into_iter().chain(colours).fold(text.to_owned(), |text, style| text.replace(&style, ""))
}

#[test]
fn every_campaign_fits_from_40_to_200_columns() {
    let all = [plotted(mixed()), undecided(), multicore(), grid(), emulated()];
    let in_korean = [plotted(mixed()), undecided(), multicore(), grid(), emulated()].map(korean);
    for campaign in all.into_iter().chain(in_korean) {
        let report = view(&campaign.inputs());
        for width in (40..=200).step_by(8) {
            for is_unicode in [false, true] {
                let page = Page { is_unicode, is_verbose: true, ..with_plots(width) };
                let text = rendered(&report, "terminal", page);
                let long = text.lines().find(|line| line.width() > width);
                assert_eq!(long, None, "at {width} columns");
            }
        }
    }
}
