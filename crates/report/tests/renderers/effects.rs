//! An effect in one sentence: estimate and interval are on one scale, each with its direction, and
//! both are those of the effect's row.

use crate::campaigns::{Campaign, Draft, campaign, mixed};
use crate::languages::korean;
use crate::slides::Deck;
use crate::workbook::{Workbook, row};
use crate::{drawn, explained, has_page, page};
use model::{Finding, Look, Verdict};
use report::{Language, view};

/// The words that tell how far a ratio lies from no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Percent,
    Times,
}

/// The oriented ratios that a text tells (`45.2 % better`, `18.0 to 78.0 % worse`), and by which
/// words.
fn told(text: &str) -> (Option<Scale>, Vec<f64>) {
    let mut scale: Option<Scale> = None;
    let (mut sizes, mut ratios): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for word in text.split_whitespace() {
        let is_above = match word {
            "odds" | "to" => continue,
            "unchanged" => {
                ratios.push(1.0);
                continue;
            }
            "unbounded" => {
                ratios.push(if ratios.is_empty() { 0.0 } else { f64::INFINITY });
                continue;
            }
            "%" | "times" => {
                let of_word = if word == "%" { Scale::Percent } else { Scale::Times };
                assert!(scale.is_none_or(|known| known == of_word), "two scales: {text}");
                scale = Some(of_word);
                continue;
            }
            "better" => true,
            "worse" => false,
            number => {
                sizes.push(number.parse::<f64>().unwrap_or_else(|_| panic!("{number}: {text}")));
                continue;
            }
        };
        ratios.extend(sizes.drain(..).map(|size| match (scale.unwrap(), is_above) {
            (Scale::Percent, true) => 1.0 + size / 100.0,
            (Scale::Percent, false) => 1.0 - size / 100.0,
            (Scale::Times, true) => size,
            (Scale::Times, false) => 1.0 / size,
        }));
    }
    assert!(sizes.is_empty(), "a number without its direction: {text}");
    (scale, ratios)
}

fn between<'t>(text: &'t str, before: &str, behind: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before:?}: {text}"));
    rest.split_once(behind).unwrap_or_else(|| panic!("{behind:?}: {text}")).0
}

/// That estimate and interval agree with each other and with the finding.
fn check(finding: &Finding, estimate: &str, interval: &str, text: &str) {
    let effect = finding.effect.as_ref().unwrap();
    let ((of_point, point), (of_ends, ends)) = (told(estimate), told(interval));
    let agree = of_point.is_none() || of_ends.is_none() || of_point == of_ends;
    assert!(agree, "estimate and interval have two scales: {text}");
    let [point] = point[..] else { panic!("one estimate: {text}") };
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(low - 1e-9 <= point && point <= high + 1e-9, "{low} {point} {high}: {text}");
    let expected = effect.ratio;
    assert!((point - expected).abs() <= 0.005 * expected + 0.0006, "{point} {expected}: {text}");
    assert!(!text.contains(['×', '÷', '+']) && !text.contains(" -"), "{text}");
}

/// All digits of a text, sorted.
fn numbers(text: &str) -> Vec<String> {
    let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
    let numbers = text.split(|letter: char| !is_digit(letter)).map(|one| one.trim_matches('.'));
    let mut numbers: Vec<String> =
        numbers.filter(|one| !one.is_empty()).map(str::to_owned).collect();
    numbers.sort();
    numbers
}

const RATIOS: [f64; 15] =
    [0.05, 0.24, 0.4, 0.56, 0.689, 0.97, 0.9999, 1.0001, 1.03, 1.452, 1.8, 1.999, 2.5, 4.2, 30.0];

/// How much wider either side is; below 1 it is unbounded.
const WIDTHS: [f64; 6] = [1.0005, 1.02, 1.15, 1.5, 3.0, 0.0];

fn drafts() -> Vec<Finding> {
    let mut findings = Vec::new();
    for (ratio, width) in RATIOS.iter().flat_map(|ratio| WIDTHS.map(|width| (*ratio, width))) {
        let (low, high) =
            if width < 1.0 { (0.0, f64::INFINITY) } else { (ratio / width, ratio * width) };
        for is_rate in [false, true] {
            let draft = Draft::new("wakeup", "latency_p99", "fifo");
            let draft = if is_rate { draft.throughput() } else { draft };
            let verdict = if ratio > 1.0 { Verdict::Better } else { Verdict::Worse };
            let finding = draft.decided(verdict, true).effect(52_300.0, ratio, low, high).finding();
            findings.push(Finding { is_odds: true, ..finding.clone() });
            findings.push(finding);
        }
    }
    findings
}

#[test]
fn the_answer_tells_an_effect_and_its_interval_on_one_scale() {
    for finding in drafts() {
        let told = campaign("one effect", vec![finding.clone()], Vec::new());
        let answer = view(&told.inputs()).answer;
        let (_, interval) = answer.split_once("95 % interval ").unwrap();
        let interval = interval.strip_suffix(").").unwrap();
        let estimate = between(&answer, "latency_p99: ", " (");
        check(&finding, estimate, interval, &answer);
        let in_korean = view(&korean(told).inputs()).answer;
        assert!(!in_korean.contains(['×', '÷', '+']), "{in_korean}");
        assert_eq!(numbers(&in_korean), numbers(&answer), "{in_korean}");
    }
}

#[test]
fn an_explanation_tells_an_effect_and_its_interval_on_one_scale() {
    for finding in drafts() {
        let told = campaign("one effect", vec![finding.clone()], Vec::new());
        let paragraphs = explained(&finding, &told.findings, true, Language::default());
        let of_estimate =
            paragraphs.iter().find(|text| text.starts_with("Together that is ")).unwrap();
        let estimate = between(of_estimate, "Together that is ", " (");
        let interval = between(of_estimate, "% interval of ", " with ");
        check(&finding, estimate, interval, of_estimate);
    }
}

#[test]
fn a_worse_time_is_told_by_the_number_of_its_row_and_by_what_its_values_show() {
    let finding = Draft::new("messaging", "makespan", "one-cpu")
        .decided(Verdict::Worse, true)
        .effect(848e6, 1.0 / 1.452, 1.0 / 1.78, 1.0 / 1.18)
        .finding();
    let told = campaign("a time", vec![finding], Vec::new());
    assert_eq!(
        view(&told.inputs()).answer,
        "one-cpu is clearly worse than baseline for messaging makespan: 31.1 % worse (1.23 s \
         against 848 ms, 45.2 % higher, 95 % interval 15.3 to 43.8 % worse)."
    );
    let row = drawn(&told, "pull-request", page(80));
    assert!(row.contains("| -31.1 % | -43.8 to -15.3 % | clearly worse |"), "{row}");
}

#[test]
fn each_format_that_people_read_says_once_what_its_percentages_are_of() {
    let sentence = "Percentages are of the reference's value; effects of what is better lower are of \
                    the subject's: +10 % says that the reference has 10 % more.";
    let told = mixed();
    for format in ["terminal", "mail", "markdown", "pull-request"] {
        let text = drawn(&told, format, page(80));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches(sentence).count(), 1, "{format}: {text}");
    }
    let workbook = Workbook::of(&told);
    let notes = workbook.sheet("effects").values().filter(|cell| cell.text.contains(sentence));
    assert_eq!(notes.count(), 1);
    let nothing = campaign("nothing was compared", Vec::new(), Vec::new());
    assert!(!drawn(&nothing, "terminal", page(200)).contains("Percentages"));
    let mut shares = mixed();
    shares.findings.findings.iter_mut().for_each(|finding| finding.is_odds = true);
    for format in ["terminal", "mail", "markdown", "pull-request"] {
        let text = drawn(&shares, format, page(200));
        assert!(!text.contains("Percentages"), "{format}: {text}");
    }
    if has_page() {
        let lines = Deck::of(&told).lines(2);
        assert!(lines.iter().any(|line| line.contains(sentence)), "{lines:?}");
    }
}

#[test]
fn no_format_says_what_percentages_are_of_where_every_effect_is_a_factor() {
    let factor = || Draft::new("cyclic", "latency_p50", "fifo").decided(Verdict::Better, true);
    let alone =
        campaign("4.2 times", vec![factor().effect(5e4, 4.2, 3.1, 5.3).finding()], Vec::new());
    for format in ["terminal", "mail", "markdown", "pull-request"] {
        let text = drawn(&alone, format, page(200));
        assert!(text.contains("×4.20") || text.contains("x4.20"), "{format}: {text}");
        assert!(!text.contains("Percentages"), "{format}: {text}");
    }
    let book = Workbook::of(&alone);
    assert!(!book.sheet("effects").values().any(|cell| cell.text.contains("Percentages")));
    if has_page() {
        let lines = Deck::of(&alone).lines(2);
        assert!(!lines.iter().any(|line| line.contains("Percentages")), "{lines:?}");
    }
    // One that is told in percent, beside it or on request alone, brings the sentence.
    let percent = || Draft::new("cyclic", "latency_p99", "fifo").effect(5e4, 1.1, 1.05, 1.15);
    let screened = percent().role(model::Role::Screen).finding();
    let beside = vec![factor().effect(5e4, 4.2, 3.1, 5.3).finding(), screened];
    let beside = campaign("4.2 times, and 10 %", beside, Vec::new());
    assert!(drawn(&beside, "markdown", page(200)).contains("Percentages"));
    assert!(!drawn(&beside, "terminal", page(200)).contains("Percentages"));
    let verbose = report::Page { is_verbose: true, ..page(200) };
    assert!(drawn(&beside, "terminal", verbose).contains("Percentages"));
}

#[test]
fn an_enormous_margin_is_told_with_few_digits() {
    for (margin, words) in [(1e300, "margin 1.00e302 %"), (1e308, "margin 1.00e310 %")] {
        let finding = Draft::new("cyclic", "latency_p50", "fifo").margin(margin);
        let finding = finding.decided(Verdict::Equivalent, false).effect(5e4, 1.1, 1.05, 1.15);
        let finding = finding.finding();
        let told = campaign("Which?", vec![finding.clone()], Vec::new());
        for format in ["terminal", "markdown"] {
            let text = drawn(&told, format, page(200));
            assert!(text.contains(words), "{format}: {text}");
            assert!(!text.contains("000000000") && !text.contains("inf %"), "{format}: {text}");
        }
        let paragraphs = explained(&finding, &told.findings, true, Language::default());
        assert!(!paragraphs.join("\n").contains("inf %"), "{paragraphs:?}");
    }
}

#[test]
fn no_renderer_gives_replicates_that_do_not_vary_an_interval() {
    let same = Draft::new("cyclic", "latency_p50", "fifo")
        .decided(Verdict::Equivalent, false)
        .reason("the replicates do not vary, and their difference is inside the margin")
        .effect(52_300.0, 1.0, 1.0, 1.0)
        .unvarying()
        .finding();
    let told = campaign("Is it the same?", vec![same.clone()], Vec::new());
    for format in ["terminal", "mail", "markdown", "pull-request"] {
        let text = drawn(&told, format, page(120));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("no interval"), "{format}: {text}");
        assert!(!text.contains("0.0 to 0.0"), "{format}: {text}");
    }
    assert!(drawn(&korean(told.clone()), "terminal", page(120)).contains("구간 없음"));
    let workbook = Workbook::of(&told);
    for (sheet, intervals) in [("effects", 1), ("findings", 2)] {
        let row = row(workbook.sheet(sheet), 1);
        let none = row.iter().filter(|text| **text == "no interval").count();
        assert_eq!(none, intervals, "{sheet}: {row:?}");
    }
    let explanation = explained(&same, &told.findings, true, Language::default()).join("\n");
    let words = "The blocks do not differ from each other, which leaves no interval.";
    assert!(explanation.contains(words), "{explanation}");
    if has_page() {
        let lines = Deck::of(&told).lines(2);
        let words = "0.0 % (no interval: the replicates do not vary)";
        assert!(lines.iter().any(|line| line.contains(words)), "{lines:?}");
    }
}

#[test]
fn a_sentence_tells_no_interval_of_replicates_that_do_not_vary() {
    let draft = Draft::new("cyclic", "latency_p50", "fifo").decided(Verdict::Better, false);
    let finding = draft.effect(52_300.0, 1.25, 1.25, 1.25).unvarying().finding();
    let answer = view(&campaign("Is it so?", vec![finding], Vec::new()).inputs()).answer;
    assert!(answer.ends_with("no interval: the replicates do not vary)."), "{answer}");
}

/// What a row says in the words of a sentence: `31.1 % worse` for `-31.1 %`.
fn in_words(signed: &str) -> String {
    let (size, unit) = match signed.strip_suffix(" %") {
        Some(size) => (size, "%"),
        None => (signed, "times"),
    };
    let told =
        |way: &str| format!("{} {unit} {way}", size.trim_start_matches(['+', '-', '×', '÷']));
    match size.chars().next() {
        _ if size.ends_with("unbounded") => "unbounded".to_owned(),
        Some('-' | '÷') => told("worse"),
        _ if matches!(size, "0.0" | "×1.00") => "unchanged".to_owned(),
        _ => told("better"),
    }
}

#[test]
fn the_answer_and_an_explanation_tell_an_effect_by_the_sign_and_the_number_of_its_row() {
    for finding in drafts() {
        let told = campaign("one effect", vec![finding.clone()], Vec::new());
        let text = drawn(&told, "pull-request", page(80));
        let row = text.lines().find(|line| line.contains("| fifo | baseline |")).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let of_odds = cells[5].strip_prefix("odds ");
        assert_eq!(of_odds.is_some(), finding.is_odds, "{row}");
        let expected = match of_odds {
            Some(size) => format!("odds {}", in_words(size)),
            None => in_words(cells[5]),
        };
        let answer = view(&told.inputs()).answer;
        assert_eq!(between(&answer, "latency_p99: ", " ("), expected, "{row}\n{answer}");
        let paragraphs = explained(&finding, &told.findings, true, Language::default());
        let explanation = paragraphs.join("\n");
        let of_estimate = between(&explanation, "Together that is ", " (");
        assert_eq!(of_estimate, expected, "{row}\n{explanation}");
    }
}

#[test]
fn the_level_that_a_look_is_told_with_is_that_of_the_interval_that_is_shown() {
    let of = |draft: Draft| {
        let mut finding = draft.finding();
        finding.look = Some(Look { number: 2, of: 4, blocks: 8, alpha: 0.0305 });
        campaign("Is it the same?", vec![finding], Vec::new())
    };
    let draft = || Draft::new("cyclic", "latency_p50", "fast").effect(5e4, 1.002, 0.985, 1.019);
    let alike = draft().decided(Verdict::Equivalent, false).shown_by(0.99, 1.014, 0.0609);
    let told = |campaign: &Campaign, format: &str| {
        let text = drawn(campaign, format, page(120));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (alike, open) = (of(alike), of(draft()));
    for format in ["terminal", "markdown"] {
        let text = told(&alike, format);
        assert!(text.contains("(93.91 %)"), "{format}: {text}");
        assert!(text.contains("its interval is 93.91 %"), "{format}: {text}");
        assert!(!text.contains("96.95"), "{format}: {text}");
        assert!(!text.contains("look's interval"), "{format}: {text}");
        let text = told(&open, format);
        assert!(text.contains("its interval is 96.95 %"), "{format}: {text}");
    }
    assert!(told(&open, "markdown").contains("look's interval"));
}
