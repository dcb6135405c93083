//! What reports call better and worse of a use case or a subject: only what a verdict showed, of a
//! pair that is named. On slides that is the tuning guide.

use crate::campaigns::{Campaign, Draft, campaign};
use crate::slides::Deck;
use crate::stored::of_each_origin;
use crate::{drawn, has_page, page};
use model::{
    Comparisons, Finding, Interval, Look, Question, Role, UseCaseFinding, Verdict, Weight, Worst,
};

/// Title and headings of a table's slide, and the campaign's name and the slide's number below it.
const HEAD: usize = 5;
const FOOT: usize = 2;

/// The rows of the slide that says what to set.
fn guide(campaign: &Campaign) -> Vec<Vec<String>> {
    let deck = Deck::of(campaign);
    let all = (1..=deck.slides()).map(|number| deck.lines(number));
    let is_guide =
        |lines: &Vec<String>| lines.first().is_some_and(|title| title.starts_with("Tuning guide"));
    let rows_of = |lines: Vec<String>| -> Vec<Vec<String>> {
        lines[HEAD..lines.len() - FOOT].chunks(4).map(<[String]>::to_vec).collect()
    };
    all.filter(is_guide).flat_map(rows_of).collect()
}

fn draft(metric: &str, [subject, reference]: [&str; 2], verdict: Verdict, ratio: f64) -> Finding {
    let draft = Draft::new("cyclic", metric, subject).against(reference).decided(verdict, false);
    draft.effect(5.2e9, ratio, ratio * 0.95, ratio * 1.05).finding()
}

/// Each pair of three subjects in two metrics: of what is not decided the estimates lie far below 1.
fn every_pair() -> Campaign {
    let findings = vec![
        draft("latency_p50", ["fifo", "baseline"], Verdict::Better, 1.3),
        draft("latency_p50", ["batch", "baseline"], Verdict::Inconclusive, 0.4),
        draft("latency_p50", ["batch", "fifo"], Verdict::Worse, 0.8),
        draft("latency_p99", ["fifo", "baseline"], Verdict::Inconclusive, 0.3),
        draft("latency_p99", ["batch", "baseline"], Verdict::Equivalent, 0.99),
        draft("latency_p99", ["batch", "fifo"], Verdict::Better, 1.2),
    ];
    let mut campaign = campaign("Who wins?", findings, Vec::new());
    campaign.plan.comparisons = Comparisons::All;
    campaign
}

/// A use case over these metrics of one workload, which this subject serves best.
fn use_case(
    workload: &str,
    metrics: &[&str],
    best: &str,
    comparisons: Vec<Finding>,
) -> UseCaseFinding {
    let weight = |metric: &&str| Weight {
        workload: workload.to_owned(),
        metric: (*metric).to_owned(),
        weight: 1.0 / metrics.len() as f64,
    };
    // As an estimate has it, whatever was shown.
    let worst = Worst {
        workload: workload.to_owned(),
        metric: metrics.last().map(|metric| (*metric).to_owned()).unwrap_or_default(),
        ratio: 0.3,
        interval: Interval { low: 0.285, high: 0.315 },
    };
    UseCaseFinding {
        weights: metrics.iter().map(weight).collect(),
        worst: vec![Some(worst); comparisons.len()],
        comparisons,
        ranking: fixtures::ranking("audio", "", &[(best, 1, 1)]),
        co_best: vec![best.to_owned()],
        ..fixtures::use_case_finding("audio")
    }
}

/// A comparison of the use case.
fn of_case(pair: [&str; 2], verdict: Verdict, ratio: f64) -> Finding {
    let mut finding = draft("", pair, verdict, ratio);
    finding.question.workload = "audio".to_owned();
    finding
}

#[test]
fn a_subject_is_better_and_worse_than_what_is_named_whichever_of_both_is_the_reference() {
    if !has_page() {
        return;
    }
    let rows = guide(&every_pair());
    let [fifo, batch] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(
        fifo[0],
        "better cyclic latency p50 (fifo against baseline), cyclic latency p50 (batch against \
         fifo, worse)"
    );
    assert_eq!(fifo[1], "policy = fifo:1 (fifo)");
    assert_eq!(fifo[2].matches("(95 % interval ").count(), 2, "{fifo:?}");
    let worse = "cyclic latency p99 (batch against fifo, better): +20.0 % (95 % interval +14.0 to";
    assert!(fifo[3].starts_with(worse), "{fifo:?}");
    assert_eq!(batch[0], "better cyclic latency p99 (batch against fifo)");
    assert!(batch[3].starts_with("cyclic latency p50 (batch against fifo): "), "{batch:?}");
    assert_eq!(batch[3].matches("interval").count(), 1, "{batch:?}");
}

#[test]
fn a_use_case_is_worse_where_a_verdict_says_so_and_not_where_an_estimate_does() {
    if !has_page() {
        return;
    }
    let mut campaign = every_pair();
    let comparisons = vec![
        of_case(["fifo", "baseline"], Verdict::Better, 1.1),
        of_case(["batch", "baseline"], Verdict::Inconclusive, 0.9),
        of_case(["batch", "fifo"], Verdict::Worse, 0.9),
    ];
    let both = ["latency_p50", "latency_p99"];
    campaign.findings.use_cases = vec![use_case("cyclic", &both, "fifo", comparisons)];
    let rows = guide(&campaign);
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(row[1], "fifo (policy = fifo:1)");
    let better = "fifo against baseline: +10.0 % (95 % interval +4.5 to +15.5 %); batch against fifo, \
                  worse: ";
    assert!(row[2].starts_with(better), "{row:?}");
    // The worst estimate, of fifo against baseline, is undecided.
    let worse = "cyclic latency p99 (batch against fifo, better) +20.0 % (95 % interval +14.0 to";
    assert!(row[3].starts_with(worse), "{row:?}");
    assert_eq!(row[3].matches("interval").count(), 1, "{row:?}");

    for verdict in [Verdict::Equivalent, Verdict::Invalid, Verdict::Worse] {
        let mut campaign = campaign.clone();
        for finding in &mut campaign.findings.findings {
            let question = &finding.question;
            let is_asked = question.metric == "latency_p99" && question.subject == "fifo";
            finding.verdict = if is_asked { verdict } else { Verdict::Inconclusive };
            finding.strength = None;
            finding.look = Some(Look { number: 1, of: 2, blocks: 6, alpha: 0.0125 });
        }
        let rows = guide(&campaign);
        if verdict == Verdict::Worse {
            let worse = "cyclic latency p99 (fifo against baseline) ";
            assert!(rows[0][3].starts_with(worse), "{rows:?}");
            assert!(rows[0][3].contains("(98.75 % interval "), "the look's: {rows:?}");
        } else {
            assert_eq!(rows[0][3], "nothing of it, as far as was shown", "{verdict:?}");
        }
    }
}

#[test]
fn no_origin_has_a_component_that_is_worse_without_a_verdict() {
    if !has_page() {
        return;
    }
    for (origin, mut campaign) in of_each_origin() {
        let findings = &mut campaign.findings.findings;
        let place = findings.iter().position(|one| one.question.role == Role::Primary).unwrap();
        // Read from the reference, for which it is worse.
        findings[place].verdict = Verdict::Better;
        let Question { workload, metric, subject, reference, .. } =
            findings[place].question.clone();
        campaign.findings.use_cases = [&subject, &reference]
            .map(|best| use_case(&workload, &[&metric], best, vec![findings[place].clone()]))
            .into();
        let rows = guide(&campaign);
        let [for_subject, for_reference] = rows.as_slice() else { panic!("{origin}: {rows:?}") };
        let pair = format!("({subject} against {reference}, better)");
        assert!(!for_subject[3].contains(&format!("({subject} against")), "{origin}: {rows:?}");
        assert!(for_reference[3].contains(&pair), "{origin}: {rows:?}");
    }
}

#[test]
fn the_worst_component_has_its_own_verdict_and_the_level_of_its_interval_in_text() {
    let text = |campaign: &Campaign, format: &str| -> String {
        drawn(campaign, format, page(120)).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut campaign = every_pair();
    campaign.findings.alpha = 0.1;
    let comparisons = vec![of_case(["fifo", "baseline"], Verdict::Better, 1.1)];
    let of = |metric: &str| vec![use_case("cyclic", &[metric], "fifo", comparisons.clone())];
    for format in ["terminal", "markdown"] {
        for (verdict, word) in [
            (Verdict::Inconclusive, "inconclusive"),
            (Verdict::Equivalent, "equivalent"),
            (Verdict::Worse, "worse"),
        ] {
            let mut campaign = campaign.clone();
            campaign.findings.use_cases = of("latency_p99");
            let findings = &mut campaign.findings.findings;
            let is_asked = |one: &&mut Finding| {
                one.question.metric == "latency_p99" && one.question.subject == "fifo"
            };
            let asked = findings.iter_mut().find(is_asked).unwrap();
            asked.verdict = verdict;
            asked.look = Some(Look { number: 1, of: 2, blocks: 6, alpha: 0.0125 });
            let text = text(&campaign, format);
            let told = format!("worst in cyclic latency_p99: {word}, ÷3.33 (98.75 % interval ");
            assert!(text.replace('\\', "").contains(&told), "{format}: {text}");
        }
        // Nobody asked that metric by itself.
        let mut campaign = campaign.clone();
        campaign.findings.use_cases = of("latency_p90");
        let text = text(&campaign, format);
        let told = "worst in cyclic latency_p90: no verdict of its own, ÷3.33 (90 % interval ";
        assert!(text.replace('\\', "").contains(told), "{format}: {text}");
    }
}
