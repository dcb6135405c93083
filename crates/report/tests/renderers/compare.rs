//! Two campaigns side by side, at the widths people have.

use crate::campaigns::{Campaign, Draft, campaign, emulated, hostile, mixed, undecided};
use crate::checks::spaced;
use crate::multicore::multicore;
use crate::{absolute_values, grid, page, widest};
use expect_test::expect_file;
use model::{Finding, Role, Verdict};
use proptest::prelude::*;
use report::{Inputs, Language, Page, Report, compare, view};

fn drawn(one: &Campaign, other: &Campaign, page: Page) -> String {
    let later = Inputs { campaign: "newer-20261122-020000-cafe", ..other.inputs() };
    text(&view(&one.inputs()), &view(&later), page)
}

fn text(one: &Report, other: &Report, page: Page) -> String {
    let mut bytes = Vec::new();
    compare(one, other).draw(&page, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// [`mixed`] on another kernel, with other answers, a question less and one more.
fn later() -> Campaign {
    let mut later = mixed();
    later.plan.title = "The same on a newer kernel?".to_owned();
    later.plan.is_quick = true;
    later.plan.blocks.truncate(4);
    later.plan.subjects[2].levels.clear();
    let environment = &mut later.environment.0;
    environment.insert("kernel.release".to_owned(), "6.18.1-amd64".to_owned());
    environment.insert("knob.thp".to_owned(), "madvise".to_owned());
    let findings = &mut later.findings.findings;
    findings[0] = Draft::new("cyclic", "latency_p50", "fifo")
        .decided(Verdict::Equivalent, false)
        .effect(48_100.0, 1.01, 0.98, 1.04)
        .margin(0.05)
        .finding();
    findings.retain(|finding| finding.question.subject != "rt-throttled");
    findings.push(
        Draft::new("io", "read_throughput", "batch")
            .throughput()
            .decided(Verdict::Worse, true)
            .effect(9e5, 0.8, 0.75, 0.85)
            .finding(),
    );
    // What one declared beforehand, the other only looked at.
    findings[3].question.role = Role::Screen;
    later
}

#[test]
fn a_person_reads_two_campaigns_side_by_side_at_60_80_and_120_columns() {
    let check = |width: usize, expected: expect_test::ExpectFile| {
        let text = drawn(&mixed(), &later(), page(width));
        expected.assert_eq(&text);
        assert!(widest(&text) <= width, "{} columns do not fit in {width}", widest(&text));
    };
    check(48, expect_file!["../golden/compared-48.txt"]);
    check(80, expect_file!["../golden/compared-80.txt"]);
    check(120, expect_file!["../golden/compared-120.txt"]);
    let plain = Page { is_unicode: false, is_verbose: true, ..page(80) };
    let text = drawn(&mixed(), &later(), plain);
    assert!(text.is_ascii(), "{text}");
    expect_file!["../golden/compared-ascii-verbose-80.txt"].assert_eq(&text);
}

#[test]
fn another_language_has_a_word_for_everything_that_is_said_here() {
    let language: Language = "ko".parse().unwrap();
    let reports = [mixed(), later()].map(|one| view(&Inputs { language, ..one.inputs() }));
    let told = text(&reports[0], &reports[1], Page { is_verbose: true, ..page(80) });
    for english in
        ["Design", "Environment", "Questions", "Asked by", "No verdict", "alike", "lower is better"]
    {
        assert!(!told.contains(english), "{english}: {told}");
    }
    assert!(widest(&told) <= 80, "{told}");
    expect_file!["../golden/ko/compared-verbose-80.txt"].assert_eq(&told);
}

#[test]
fn every_width_fits_every_pair() {
    let campaigns = [mixed(), later(), undecided(), hostile(), emulated(), multicore()];
    let campaigns: Vec<Report> = campaigns.iter().map(|one| view(&one.inputs())).collect();
    for one in &campaigns {
        for other in &campaigns {
            for width in [40, 47, 59, 60, 61, 72, 80, 93, 130] {
                for is_verbose in [false, true] {
                    let text = text(one, other, Page { is_verbose, ..page(width) });
                    assert!(widest(&text) <= width, "{} in {width}: {text}", widest(&text));
                }
            }
        }
    }
}

#[test]
fn a_campaign_beside_itself_differs_in_nothing() {
    let report = view(&mixed().inputs());
    let compared = compare(&report, &report);
    assert!(compared.design.differing.is_empty() && compared.environment.differing.is_empty());
    assert!(compared.single.iter().all(Vec::is_empty));
    assert!(compared.shared.iter().chain(&compared.screened).all(|[one, other]| one == other));
    assert_eq!((compared.shared.len(), compared.screened.len()), (6, 2));
    let text = text(&report, &report, page(80));
    assert!(text.contains("6 in all, 6 with the same verdict"), "{text}");
}

#[test]
fn intervals_are_explained_only_where_a_row_that_is_printed_has_one() {
    let untested = |subject: &str| Draft::new("cyclic", "latency_p50", subject).finding();
    let mut findings = vec![untested("fifo")];
    findings.extend((0..8).map(|index| untested(&format!("alone-{index}"))));
    let ninth = Draft::new("cyclic", "latency_p50", "ninth").effect(5e4, 1.1, 1.05, 1.15);
    findings.push(ninth.finding());
    let one = campaign("A", findings, Vec::new());
    let other = campaign("B", vec![untested("fifo")], Vec::new());
    let told = |is_verbose| spaced(&drawn(&one, &other, Page { is_verbose, ..page(120) }));
    let (short, long) = (told(false), told(true));
    assert!(!short.contains("Intervals are") && !short.contains("Percentages are"), "{short}");
    assert!(short.contains("and 1 more (-v shows all)"), "{short}");
    assert!(long.contains("A: Intervals are 95 %, unadjusted"), "{long}");
    assert!(long.contains("Percentages are"), "{long}");
}

#[test]
fn intervals_are_explained_below_the_rows_where_no_question_is_shared() {
    let of = |title: &str, workload: &str, role: Role| {
        let draft = Draft::new(workload, "latency_p50", "fifo").role(role);
        campaign(title, vec![draft.effect(5e4, 1.1, 1.05, 1.15).finding()], Vec::new())
    };
    let told = |role: Role, is_verbose| {
        let (one, other) = (of("A", "cyclic", role), of("B", "wakeup", role));
        spaced(&drawn(&one, &other, Page { is_verbose, ..page(120) }))
    };
    for text in [told(Role::Primary, false), told(Role::Screen, true)] {
        assert!(text.contains("No question was asked by both."), "{text}");
        let (_, below) = text.split_once("Asked by B alone").unwrap();
        for sentence in
            ["+ and × are better;", "Intervals are 95 %, unadjusted, each", "Percentages are of"]
        {
            assert_eq!(text.matches(sentence).count(), 1, "{sentence}: {text}");
            assert!(below.contains(sentence), "{sentence}: {text}");
        }
    }
    // Rows that are only counted need no words.
    let text = told(Role::Screen, false);
    assert!(!text.contains("+ and × are better"), "{text}");
}

#[test]
fn nothing_in_common_is_said() {
    let text = drawn(&undecided(), &multicore(), page(80));
    assert!(text.contains("No question was asked by both."), "{text}");
    assert!(text.contains("Asked by A alone") && text.contains("Asked by B alone"), "{text}");
}

#[test]
fn of_a_large_campaign_other_verdicts_are_kept_and_the_rest_is_counted() {
    let (one, mut other) = (grid::grid(), grid::grid());
    let is_judged = |finding: &&mut Finding| finding.question.role != Role::Screen;
    let last = other.findings.findings.iter_mut().rfind(|finding| is_judged(finding)).unwrap();
    last.verdict = if last.verdict == Verdict::Worse { Verdict::Better } else { Verdict::Worse };
    let question = format!("{} {}", last.question.workload, last.question.metric);
    let reports = [view(&one.inputs()), view(&other.inputs())];
    let all = compare(&reports[0], &reports[1]).shared.len();
    assert!(all > 100, "{all} questions");
    let short = text(&reports[0], &reports[1], page(80));
    assert!(short.contains(&format!("and {} more (-v shows all)", all - 24)), "{short}");
    assert!(short.contains(&question), "the one that differs: {short}");
    assert!(short.lines().count() < 210, "{} lines", short.lines().count());
    let verbose = Page { is_verbose: true, ..page(80) };
    let long = text(&reports[0], &reports[1], verbose);
    assert!(!long.contains("-v shows"), "{long}");
    assert!(long.lines().count() > 3 * all);
}

#[test]
fn values_of_an_emulated_processor_are_hidden_and_its_verdicts_marked() {
    let (real, guest) = (mixed(), emulated());
    let [real, hidden] = [view(&real.inputs()), view(&guest.inputs())];
    let told = text(&hidden, &hidden, Page { is_verbose: true, ..page(100) });
    assert_eq!(absolute_values(&told), Vec::<&str>::new(), "{told}");
    assert!(told.contains("emulated: clearly better"), "{told}");
    assert!(told.replace('\n', " ").contains("--absolute shows them"), "{told}");
    let beside = text(&real, &hidden, page(100));
    assert!(beside.contains("A 52.3 us, B hidden"), "{beside}");
    let shown = view(&Inputs { is_absolute: true, ..guest.inputs() });
    let told = text(&shown, &shown, page(100));
    assert!(!absolute_values(&told).is_empty() && !told.contains("--absolute"), "{told}");
}

#[test]
fn colours_add_nothing_but_colours() {
    let coloured = drawn(&mixed(), &later(), Page { is_colour: true, ..page(80) });
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert_ne!(coloured, bare, "colours were asked for");
    assert_eq!(bare, drawn(&mixed(), &later(), page(80)));
}

/// Questions that two campaigns may share, and letters that a terminal obeys.
fn findings() -> impl Strategy<Value = Vec<Finding>> {
    let letters =
        prop::sample::select(vec!["a", "\u{1b}[2J", "\u{202e}", "\n", "한글", "x-y ", "%"]);
    let word = prop::collection::vec(letters, 0..12).prop_map(|letters| letters.concat());
    let short = prop::sample::select(vec!["p", "q"]);
    let effect = prop::option::of((0.01_f64..30.0, 0.0_f64..1.0, 1.0_f64..3.0));
    let finding =
        (short, word, effect, any::<bool>()).prop_map(|(metric, word, effect, is_screen)| {
            let draft = Draft::new("w", metric, &word).decided(Verdict::Worse, is_screen);
            let draft = if is_screen { draft.role(Role::Screen) } else { draft };
            match effect {
                Some((ratio, low, high)) => draft.effect(1e5, ratio, ratio * low, ratio * high),
                None => draft,
            }
            .reason(&word)
            .finding()
        });
    prop::collection::vec(finding, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_finding_is_told_once_no_line_is_too_long_and_names_are_inert(
        one in findings(),
        other in findings(),
        title in "\\PC{0,20}\u{1b}\u{7}?[\\PC한]{0,90}",
        width in 40_usize..130,
        is_verbose in any::<bool>(),
    ) {
        let mut campaigns =
            [campaign(&title, one.clone(), Vec::new()), campaign("B", other.clone(), Vec::new())];
        campaigns[0].environment.0.insert(title.clone(), title.repeat(9));
        let reports = campaigns.each_ref().map(|one| view(&one.inputs()));
        let compared = compare(&reports[0], &reports[1]);
        let pairs = || compared.shared.iter().chain(&compared.screened);
        for [a, b] in pairs() {
            let key = |finding: &Finding| {
                let question = finding.question.clone();
                (question.workload, question.metric, question.subject, question.reference)
            };
            prop_assert_eq!(key(a), key(b));
        }
        for (side, all) in [one, other].iter().enumerate() {
            let told = pairs().map(|pair| pair[side]).chain(compared.single[side].iter().copied());
            let told: Vec<&Finding> = told.collect();
            prop_assert_eq!(told.len(), all.len());
            prop_assert!(all.iter().all(|finding| told.contains(&finding)));
        }
        let text = text(&reports[0], &reports[1], Page { is_verbose, ..page(width) });
        prop_assert!(widest(&text) <= width, "{} in {}: {}", widest(&text), width, text);
        let obeyed = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        prop_assert!(!text.chars().any(obeyed), "{text:?}");
    }
}
