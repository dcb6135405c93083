//! As many comparisons as an import may have. Whatever looks for each among all others ends at the
//! time limit of the tests; what a person reads stays short.

use crate::campaigns::{Campaign, campaign};
use crate::{drawn, page};
use fixtures::{finding, question};
use model::{Question, Ranking};
use report::Page;

const SUBJECTS: usize = 310;
const STEPS: usize = 2_000;
const METRICS: usize = 24;

/// Each subject against each other in one cell.
fn all_pairs() -> Campaign {
    let of = |(subject, reference): (usize, usize)| {
        let asked = question("v", "v", &format!("s{subject}"), &format!("s{reference}"));
        finding(Question { family: "cells".to_owned(), ..asked })
    };
    let pairs = (0..SUBJECTS)
        .flat_map(|reference| (reference + 1..SUBJECTS).map(move |subject| (subject, reference)));
    campaign("Which of them?", pairs.map(of).collect(), Vec::new())
}

/// Two subjects in many cells, with ranks in each.
fn many_cells() -> Campaign {
    let cells = || (0..STEPS).flat_map(|step| (0..METRICS).map(move |metric| (step, metric)));
    let names = |(step, metric): (usize, usize)| (format!("p:{step}"), format!("v{metric}"));
    let of = |(workload, metric): (String, String)| {
        let asked = question(&workload, &metric, "b", "a");
        finding(Question { family: "cells".to_owned(), ..asked })
    };
    let findings = cells().map(names).map(of).collect();
    let mut campaign = campaign("Which of two?", findings, Vec::new());
    let ranking = |(workload, metric): (String, String)| Ranking {
        workload,
        metric,
        ranks: Vec::new(),
        is_emulated: false,
    };
    campaign.findings.rankings = cells().map(names).map(ranking).collect();
    campaign.findings.families.insert("overall".to_owned(), 0);
    campaign
}

fn verbose() -> Page {
    Page { is_verbose: true, ..page(80) }
}

fn left_out(count: usize) -> String {
    format!("and {count} more, which report.html shows")
}

#[test]
fn of_very_many_pairs_a_terminal_tells_few_and_the_number_of_the_others() {
    let campaign = all_pairs();
    let count = SUBJECTS * (SUBJECTS - 1) / 2;
    let text = drawn(&campaign, "terminal", page(80));
    assert!(text.contains(&format!("{count} comparisons of single cells (-v shows all)")));
    assert!(text.contains(&left_out(count - 24)), "{text}");
    assert!(text.lines().count() < 200, "{} lines", text.lines().count());
    let text = drawn(&campaign, "terminal", verbose());
    assert!(text.contains(&left_out(count - 2_000)));
    assert!(text.lines().count() < 10_000, "{} lines", text.lines().count());
}

#[test]
fn of_very_many_cells_a_terminal_tells_few_and_the_number_of_the_others() {
    let campaign = many_cells();
    let text = drawn(&campaign, "terminal", page(80));
    assert!(text.lines().count() < 200, "{} lines", text.lines().count());
    let text = drawn(&campaign, "terminal", verbose());
    // Comparisons and ranks.
    assert_eq!(text.matches(&left_out(STEPS * METRICS - 2_000)).count(), 2);
    assert!(text.lines().count() < 20_000, "{} lines", text.lines().count());
}

#[test]
fn every_comparison_of_very_many_is_in_a_report() {
    let campaign = many_cells();
    let text = drawn(&campaign, "markdown", page(80));
    assert_eq!(text.matches("\n| subject | value |").count(), STEPS * METRICS);
    let text = drawn(&all_pairs(), "markdown", page(80));
    for subject in [1, SUBJECTS - 1] {
        assert!(text.contains(&format!("\n| s{subject} | ")), "{subject}");
    }
}
