//! Every renderer over campaigns that hold each kind of verdict, at the widths
//! people have. `UPDATE_EXPECT=1` rewrites the expected files.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

mod campaigns;
mod checks;
mod compare;
mod divided;
mod effects;
mod grid;
mod grid_pages;
mod guide;
mod html_pages;
mod inert;
mod languages;
mod many;
mod markup;
mod multicore;
mod origins;
mod pages;
mod plots;
mod slides;
mod soak;
mod steps;
mod stored;
mod unfinished;
mod workbook;

use campaigns::{Campaign, Draft, emulated, every_verdict, hostile, mixed, undecided};
use expect_test::expect_file;
use model::{
    Binding, Caveat, CaveatCode, DecidingInterval, Finding, Findings, Interval, Obstacle,
    UseCaseFinding, Verdict,
};
use multicore::multicore;
use report::{
    ExplainContext, HAS_PAGE, Inputs, Language, Meanings, Page, Provenance, RENDERERS, Renderer,
    Report, view,
};
use unicode_width::UnicodeWidthStr;

/// Whether programs read a format. Every other one is held to what people read.
fn is_for_programs(id: &str) -> bool {
    let found = RENDERERS.iter().find(|renderer| renderer.describe().id == id);
    found.is_some_and(|renderer| renderer.is_for_programs())
}

/// Formats of lines that people read as they are. The page is text as well, of data for its script.
fn read_as_text() -> impl Iterator<Item = &'static dyn Renderer> {
    let is_read = |renderer: &&dyn Renderer| {
        let id = renderer.describe().id;
        renderer.is_text() && id != "html" && !renderer.is_for_programs()
    };
    RENDERERS.iter().copied().filter(is_read)
}

/// Whether this build has the page of reports and the figures on slides; a test that needs them says
/// so where they are missing.
fn has_page() -> bool {
    if !HAS_PAGE {
        testing::skip("the figures are not built: cargo xtask ui");
    }
    HAS_PAGE
}

fn drawn(campaign: &Campaign, format: &str, page: Page) -> String {
    rendered(&view(&campaign.inputs()), format, page)
}

fn rendered(report: &Report, format: &str, page: Page) -> String {
    let renderer = RENDERERS.iter().find(|renderer| renderer.describe().id == format).unwrap();
    let mut bytes = Vec::new();
    renderer.render(report, &page, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A finding of a campaign that ran here, as its plan has it, without its records.
fn explained(
    finding: &Finding,
    findings: &Findings,
    is_absolute: bool,
    language: Language,
) -> Vec<String> {
    let (provenance, binding) = (Provenance::Ran, Binding::Checked);
    report::explain(
        finding,
        &ExplainContext {
            findings,
            few_boots: None,
            provenance,
            is_given_with_numbers: false,
            binding,
            store_caveats: &[],
            is_absolute,
            language,
        },
    )
}

fn page(width: usize) -> Page {
    Page {
        width,
        is_colour: false,
        is_unicode: true,
        is_verbose: false,
        has_plots: false,
        fonts: &[],
    }
}

fn widest(text: &str) -> usize {
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[test]
fn a_person_reads_each_kind_of_verdict_at_60_80_and_120_columns() {
    let check = |width: usize, expected: expect_test::ExpectFile| {
        let text = drawn(&mixed(), "terminal", page(width));
        expected.assert_eq(&text);
        assert!(widest(&text) <= width, "{} columns do not fit in {width}", widest(&text));
    };
    check(60, expect_file!["../golden/mixed-60.txt"]);
    check(80, expect_file!["../golden/mixed-80.txt"]);
    check(120, expect_file!["../golden/mixed-120.txt"]);
}

#[test]
fn what_a_campaign_says_at_endless_length_is_cut_in_every_text_and_said_to_be() {
    let campaign = mixed();
    let endless = "x".repeat(3 * model::LONGEST_TEXT);
    for format in read_as_text().map(|renderer| renderer.describe().id) {
        let mut report = view(&campaign.inputs());
        let usual = rendered(&report, format, page(80)).len();
        report.environment.0.insert("kernel.release".to_owned(), endless.clone());
        report.title.clone_from(&endless);
        report.reproduce.push(endless.clone());
        let text = rendered(&report, format, page(80));
        // Three texts that are cut, in lines of a mail that each begin anew.
        assert!(text.len() < usual + 4 * model::LONGEST_TEXT, "{format}: {} bytes", text.len());
        let told = text.replace(['\n', ' '], "");
        let missing = format!("..({}morecharacters)", 2 * model::LONGEST_TEXT);
        assert!(told.contains(&missing), "{format}");
    }
}

#[test]
fn a_comment_on_a_change_and_a_mail_hold_the_verdicts_in_little_room() {
    expect_file!["../golden/mixed.pr.md"].assert_eq(&drawn(&mixed(), "pull-request", page(80)));
    let mail = drawn(&mixed(), "mail", page(120));
    expect_file!["../golden/mixed.mail.txt"].assert_eq(&mail);
    assert!(mail.is_ascii(), "{mail}");
    for campaign in [mixed(), undecided(), hostile(), emulated(), multicore()] {
        let mail = drawn(&campaign, "mail", page(120));
        assert!(widest(&mail) <= 78, "{} columns: {mail}", widest(&mail));
    }
}

#[test]
fn every_width_fits_every_campaign() {
    for campaign in [mixed(), undecided(), hostile(), emulated(), multicore()] {
        let report = view(&campaign.inputs());
        for width in 60..130 {
            for is_verbose in [false, true] {
                let text = rendered(&report, "terminal", Page { is_verbose, ..page(width) });
                let long = text.lines().find(|line| line.width() > width);
                assert_eq!(long, None, "at {width} columns");
            }
        }
    }
}

/// Words behind a number that are units of time or of a rate.
fn absolute_values(text: &str) -> Vec<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| -> String {
        word.chars().filter(|c| c.is_ascii_alphanumeric() || "./".contains(*c)).collect()
    };
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let is_value = |pair: &[&str]| {
        let (number, unit) = (bare(pair[0]), bare(pair[1]));
        let is_time = ["ns", "us", "ms"].contains(&unit.as_str()) && is_number(&number);
        let rate = unit.strip_suffix("/s").map(|rest| rest.trim_end_matches(['k', 'M', 'G']));
        is_time || rate.is_some_and(is_number)
    };
    words.windows(2).filter(|pair| is_value(pair)).map(|pair| pair[1]).collect()
}

#[test]
fn an_emulated_processor_is_marked_everywhere_and_its_values_are_hidden() {
    assert!(!absolute_values(&drawn(&mixed(), "terminal", page(100))).is_empty());
    let campaign = emulated();
    let text = drawn(&campaign, "terminal", Page { is_verbose: true, ..page(100) });
    expect_file!["../golden/emulated-100.txt"].assert_eq(&text);
    let page_text = drawn(&campaign, "markdown", page(80));
    expect_file!["../golden/emulated.md"].assert_eq(&page_text);
    for text in [&text, &page_text] {
        assert_eq!(absolute_values(text), Vec::<&str>::new());
        for word in
            ["clearly better", "worse", "equivalent", "inconclusive", "invalid", "confirmed"]
        {
            assert!(text.contains(&format!("emulated: {word}")), "{word}");
        }
        assert!(text.replace('\n', " ").contains("--absolute shows them"), "{text}");
    }
    let report = view(&Inputs { is_absolute: true, ..campaign.inputs() });
    assert!(report.answer.starts_with("emulated: fifo is clearly better"), "{}", report.answer);
    assert!(report.answer.contains("52.3 us"), "{}", report.answer);
    let shown = report::page_json(&report).unwrap();
    assert!(shown.contains(r#""is_emulated":true,"hides_absolute":false"#), "{shown}");
    for finding in &report.findings.findings {
        let hidden = explained(finding, &report.findings, false, Language::default()).join("\n");
        assert_eq!(absolute_values(&hidden), Vec::<&str>::new());
        let verdict = hidden.lines().find(|line| line.starts_with("Verdict: ")).unwrap();
        assert!(verdict.starts_with("Verdict: emulated: "), "{verdict}");
    }
    let shown =
        explained(&report.findings.findings[0], &report.findings, true, Language::default())
            .join("\n");
    assert!(shown.contains("52.3 us"), "{shown}");
}

#[test]
fn a_report_says_at_its_head_how_often_its_campaign_was_resumed() {
    let campaign = mixed();
    let head = |resumptions| {
        let report = view(&Inputs { resumptions, ..campaign.inputs() });
        let markdown = RENDERERS.iter().find(|one| one.describe().id == "markdown").unwrap();
        let mut bytes = Vec::new();
        markdown.render(&report, &page(80), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert!(!head(0).contains("resumed"));
    assert!(head(1).contains("It was resumed once."));
    assert!(head(3).contains("It was resumed 3 times."));
}

#[test]
fn data_formats_keep_the_numbers_of_an_emulated_processor_and_flag_each_row() {
    let campaign = emulated();
    let rows = drawn(&campaign, "csv", page(80));
    let is_flagged = |row: &str| {
        // Which attempt it is stands behind them, by two counts.
        let codes = row.rsplit(',').nth(2).unwrap_or_default();
        codes.split(' ').any(|code| code == "TCG")
    };
    assert!(rows.lines().skip(1).all(is_flagged), "{rows}");
    let bench = drawn(&campaign, "benchfmt", page(80));
    let (head, values) = bench.split_once("caveats: TCG\n").unwrap();
    assert!(!head.contains("\nBenchmark") && values.contains("52300"), "{bench}");
    let report: Report = serde_json::from_str(&drawn(&campaign, "json", page(80))).unwrap();
    assert!(report.findings.findings.iter().all(|finding| finding.is_emulated));
    let reference = |report: &Report| report.findings.findings[0].reference_value;
    assert_eq!(reference(&report), reference(&view(&mixed().inputs())));
    let real = drawn(&mixed(), "json", page(80));
    assert!(!real.contains("emulated") && !real.contains("hides_absolute"));
}

#[test]
fn nothing_decided_and_nothing_run_are_said_in_words() {
    expect_file!["../golden/undecided-80.txt"].assert_eq(&drawn(
        &undecided(),
        "terminal",
        page(80),
    ));
    expect_file!["../golden/hostile-80.txt"].assert_eq(&drawn(&hostile(), "terminal", page(80)));
}

#[test]
fn of_a_text_of_a_megabyte_a_terminal_gets_a_bounded_part_and_how_much_is_missing() {
    let mut campaign = mixed();
    campaign.plan.title = "word ".repeat(200_000);
    let text = drawn(&campaign, "terminal", page(80));
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("more characters)"), "{} bytes", text.len());
    let shown = words.iter().filter(|word| **word == "word").count();
    assert!((10_000..20_000).contains(&shown), "{shown} words of it");
}

#[test]
fn a_plain_page_is_plain_ascii_and_a_coloured_one_has_the_same_text() {
    let verbose = Page { is_verbose: true, ..page(80) };
    let ascii = drawn(&mixed(), "terminal", Page { is_unicode: false, ..verbose });
    expect_file!["../golden/mixed-ascii-verbose-80.txt"].assert_eq(&ascii);
    assert!(ascii.is_ascii());
    let coloured = drawn(&mixed(), "terminal", Page { is_colour: true, ..verbose });
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert_ne!(coloured, bare, "colours were asked for");
    assert_eq!(bare, drawn(&mixed(), "terminal", verbose));
}

/// The part of a page from the first line that holds these words to the last.
pub fn part<'a>(text: &'a str, first: &str, last: &str) -> &'a str {
    let start = text.lines().find(|line| line.contains(first)).unwrap();
    let end = text.lines().rfind(|line| line.contains(last)).unwrap();
    let offset = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    &text[offset(start)..offset(end) + end.len()]
}

#[test]
fn ratios_along_a_factor_are_tables_and_curves_in_80_columns() {
    let campaign = multicore();
    let text = drawn(&campaign, "terminal", page(80));
    let told = part(&text, "lab:bfs / lab:cfs", "x EJECTED");
    expect_file!["../golden/multicore-80.txt"].assert_eq(told);
    let narrow = drawn(&campaign, "terminal", page(60));
    expect_file!["../golden/multicore-60.txt"].assert_eq(part(
        &narrow,
        "lab:bfs / lab:cfs",
        "fair / lab:cfs",
    ));
    let plain = drawn(&campaign, "terminal", Page { is_unicode: false, ..page(80) });
    assert!(plain.is_ascii(), "{plain}");
    expect_file!["../golden/multicore-ascii-80.txt"].assert_eq(part(
        &plain,
        "lab:bfs / lab:cfs",
        "fair / lab:cfs",
    ));
    let markdown = drawn(&campaign, "markdown", page(80));
    let told = part(&markdown, "## Ratios by vcpus", "ejected in");
    expect_file!["../golden/multicore.md"].assert_eq(told);
    let report = view(&campaign.inputs());
    let [bfs, fair] = report.ladders.as_slice() else { panic!("{:?}", report.ladders) };
    let levels: Vec<&str> = bfs.rungs.iter().map(|rung| rung.level.as_str()).collect();
    assert_eq!(levels, ["1", "2", "4"], "by number, not as the plan has them");
    let cell = bfs.rungs[0].cells[0].as_ref().unwrap();
    let found = cell.ratio.unwrap();
    assert!(found.ratio < 1.0 && cell.verdict == Verdict::Better, "lower is better");
    assert!(found.interval.low < found.ratio && found.ratio < found.interval.high);
    assert_eq!(fair.rungs[2].cells[4].as_ref().unwrap().ratio, None);
    assert_eq!((report.ejections[0].ejected, report.ejections[0].trials), (3, 20));
    assert!(view(&mixed().inputs()).ladders.is_empty());
}

/// A terminal has an expected file for each width, JSON is read again, and the data of the page
/// have expected files of their own.
const HELD_ELSEWHERE: [&str; 3] = ["terminal", "json", "html"];

#[test]
fn files_hold_everything() {
    for renderer in RENDERERS.iter().filter(|renderer| renderer.is_text()) {
        let id = renderer.describe().id;
        if !HELD_ELSEWHERE.contains(&id) {
            let expected = expect_file![format!("../golden/mixed.{}", renderer.extension())];
            expected.assert_eq(&drawn(&mixed(), id, page(80)));
        }
    }
}

#[test]
fn a_report_survives_json_and_the_same_inputs_give_the_same_bytes() {
    for campaign in [mixed(), undecided(), hostile(), multicore(), grid::grid()] {
        let text = drawn(&campaign, "json", page(80));
        let back: Report = serde_json::from_str(&text).unwrap();
        // What words mean is the catalogue's, and stored nowhere; of few boots words are stored, and
        // of what the store warns of its caveats.
        let stored = Report {
            meanings: Meanings::default(),
            shares_few_boots: false,
            against_by_store: std::collections::BTreeSet::new(),
            ..view(&campaign.inputs())
        };
        assert_eq!(back, stored);
        let can_draw = |renderer: &&&dyn Renderer| HAS_PAGE || renderer.describe().id != "pptx";
        let [one, other] = [(); 2].map(|()| view(&campaign.inputs()));
        for renderer in RENDERERS.iter().filter(can_draw) {
            let bytes = |report: &Report| {
                let mut bytes = Vec::new();
                renderer.render(report, &page(80), &mut bytes).unwrap();
                bytes
            };
            assert_eq!(bytes(&one), bytes(&other), "{}", renderer.describe().id);
        }
    }
}

#[test]
fn an_answer_promises_nothing_where_more_blocks_would_not_help() {
    let finding = || {
        Draft::new("cyclic", "latency_p50", "fifo")
            .decided(Verdict::Inconclusive, false)
            .effect(5e4, 1.03, 0.95, 1.12)
    };
    let answer = |draft: Draft| {
        view(&campaigns::campaign("Who?", vec![draft.finding()], Vec::new()).inputs()).answer
    };
    let told = answer(finding());
    let promised = "(a new campaign of about 14 blocks would tell a difference of 5 %)";
    assert!(told.contains(promised), "{told}");
    let mut imported = campaigns::campaign("Who?", vec![finding().finding()], Vec::new());
    imported.plan.imported =
        Some(fixtures::imported(model::ImportedDesign::Blocked, model::ImportedOrder::Unknown));
    let told = view(&imported.inputs()).answer;
    let promised = "(about 14 blocks, imported or measured, would tell a difference of 5 %)";
    assert!(told.contains(promised), "{told}");
    let told = answer(finding().reason("not the same work: late_fraction differs").forbidden(
        Obstacle::UnequalWork,
        CaveatCode::NotComparable,
        "late_fraction",
    ));
    assert!(!told.contains("would tell"), "{told}");
    assert!(told.contains("(not the same work: late_fraction differs)"), "{told}");
    let told = answer(finding().reason("3 pairs").forbidden(
        Obstacle::FewPairs,
        CaveatCode::FewBlocks,
        "3 pairs",
    ));
    assert!(!told.contains("would tell") && !told.contains("3 pairs"), "{told}");
}

#[test]
fn the_answer_rests_on_no_caveat() {
    let mut emulated = emulated();
    emulated.findings.findings[0].is_odds = true;
    for mut campaign in [mixed(), undecided(), emulated, hostile()] {
        let told = view(&campaign.inputs()).answer;
        for code in CaveatCode::ALL {
            for finding in &mut campaign.findings.findings {
                finding.caveats.retain(|caveat| caveat.code != *code);
            }
            assert_eq!(view(&campaign.inputs()).answer, told, "without {code}");
        }
    }
}

#[test]
fn no_spreadsheet_calculates_what_tidy_rows_say() {
    let mut campaign = mixed();
    assert!(!campaign.records.is_empty());
    for record in &mut campaign.records {
        record.subject = "=1+1".to_owned();
        record.workload = "@sum".to_owned();
        record.outcome = model::Outcome::Failed { reason: "-1\n=cmd".to_owned() };
    }
    let text = drawn(&campaign, "csv", page(80));
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    for row in &rows {
        assert_eq!((&row[2], &row[3]), ("'=1+1", "'@sum"));
    }
    assert!(rows.iter().any(|row| &row[12] == "'-1\n=cmd"), "{text}");
}

#[test]
fn every_kind_of_verdict_is_explained_and_no_sentence_lacks_its_number() {
    let mut text = String::new();
    for campaign in [mixed(), undecided(), hostile()] {
        let report = view(&campaign.inputs());
        for finding in &report.findings.findings {
            for paragraph in explained(finding, &report.findings, false, Language::default()) {
                assert!(paragraph.contains(|c: char| c.is_ascii_digit()), "{paragraph}");
                assert!(!paragraph.contains("NaN") && !paragraph.contains("inf "), "{paragraph}");
                for line in report::wrapped(&paragraph, 100) {
                    text += &format!("{line}\n");
                }
            }
            text.push('\n');
        }
    }
    expect_file!["../golden/explained.txt"].assert_eq(&text);
}

/// Every verdict in both directions in full, and what each caveat adds; no sentence of
/// any combination lacks its number.
#[test]
fn every_verdict_with_every_caveat_in_either_direction_has_its_sentences() {
    let (plain, findings) = every_verdict();
    let mut text = String::new();
    let mut put = |paragraph: &str| {
        for line in report::wrapped(paragraph, 100) {
            text += &format!("{line}\n");
        }
    };
    for finding in &plain {
        let own = explained(finding, &findings, false, Language::default());
        for paragraph in &own {
            put(paragraph);
        }
        put("");
        for code in CaveatCode::ALL {
            let mut marked = finding.clone();
            marked.caveats.push(Caveat::new(*code, "3 of 12 blocks"));
            for paragraph in explained(&marked, &findings, false, Language::default()) {
                assert!(paragraph.contains(|c: char| c.is_ascii_digit()), "{paragraph}");
                assert!(!paragraph.contains("NaN") && !paragraph.contains("  "), "{paragraph}");
            }
        }
    }
    put("What each caveat adds:");
    for code in CaveatCode::ALL {
        let mut marked = plain[0].clone();
        marked.caveats.push(Caveat::new(*code, "3 of 12 blocks"));
        let explained = explained(&marked, &findings, false, Language::default());
        put(explained.last().unwrap());
    }
    expect_file!["../golden/every-verdict.txt"].assert_eq(&text);
}

/// +20 to +40 % of a margin of 5 %, of a table of which nobody said what a row is.
#[test]
fn a_difference_that_something_else_keeps_from_being_clear_is_not_called_small() {
    let (plain, findings) = every_verdict();
    let mut finding = plain[0].clone();
    let explain = |one: &Finding| explained(one, &findings, false, Language::default()).join("\n");
    assert!(explain(&finding).contains("even the near end of the interval"));
    finding.strength = Some(model::Strength::Detectable);
    let told = explain(&finding);
    assert!(
        told.contains("lies beyond 5 %, but a caveat says that it may be too narrow"),
        "{told}"
    );
    assert!(!told.contains("may be small"), "{told}");
}

/// Its unadjusted interval, -7.0 to +6.0 %, crosses the margin of 5 %.
#[test]
fn an_equivalence_is_shown_with_the_interval_that_decided_it_wherever_it_is_shown() {
    let mut campaign = mixed();
    let is_decided = |one: &&Finding| one.effect.as_ref().is_some_and(|own| own.deciding.is_some());
    let found = campaign.findings.findings.iter().find(is_decided).unwrap().clone();
    let told = explained(&found, &campaign.findings, false, Language::default()).join("\n");
    assert!(told.contains("a 90 % interval of 2.0 % worse to 3.0 % better"), "{told}");
    campaign.findings.use_cases = vec![UseCaseFinding {
        comparisons: vec![found],
        worst: vec![None],
        ..fixtures::use_case_finding("serving")
    }];
    for format in read_as_text().map(|renderer| renderer.describe().id) {
        let text = drawn(&campaign, format, page(120));
        assert!(!text.contains("-7.0 to +6.0"), "{format}: {text}");
    }
    let markdown = drawn(&campaign, "markdown", page(120));
    assert!(markdown.contains("-2.0 to +3.0 % (90 %), adjusted p"), "{markdown}");

    let mut campaign = multicore();
    let finding = &mut campaign.findings.findings[0];
    finding.verdict = Verdict::Equivalent;
    let interval = Interval { low: 0.8, high: 1.25 };
    let effect = finding.effect.as_mut().unwrap();
    effect.deciding = Some(DecidingInterval { interval, alpha: 0.1 });
    let report = view(&campaign.inputs());
    let cells = report.ladders.iter().flat_map(|ladder| &ladder.rungs).flat_map(|rung| &rung.cells);
    let mut intervals = cells.flatten().filter_map(|cell| Some(cell.ratio?.interval));
    assert!(intervals.any(|one| one == interval), "less is better: turned back");
}
