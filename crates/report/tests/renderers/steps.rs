//! Every sentence about a step rests on a field, and is gone with it, in each format that has it.

use crate::campaigns::{Campaign, Draft, campaign, mixed};
use crate::checks::{FIELDS, Removal, detail, of, quiet, readable, texts};
use crate::languages::korean;
use crate::stored::{in_blocks, in_rows, simulated};
use crate::workbook::Workbook;
use crate::{drawn, has_page, is_for_programs, page, read_as_text};
use model::{Attempt, Binding, Caveat, CaveatCode, ImportedOrder, Outcome, Verdict};
use report::{HAS_PAGE, Inputs, Language, Page, RENDERERS, Report, page_json, percent, view};

/// Formats without figures: of lines, and what has the data of the page.
fn read() -> impl Iterator<Item = &'static str> {
    let lines = read_as_text().map(|renderer| renderer.describe().id);
    lines.chain(["html", "json"]).filter(is_drawn)
}

/// Whether this binary draws this format with its data.
fn is_drawn(format: &&str) -> bool {
    HAS_PAGE || *format != "html"
}

/// On a page so wide that no sentence is cut.
fn wide(campaign: &Campaign, format: &str) -> String {
    let text = drawn(campaign, format, Page { is_verbose: true, ..page(4000) });
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_check_saw_is_said_nowhere_without_the_field_that_it_rests_on() {
    for (check, field, remove) in FIELDS {
        let mut campaign = quiet();
        let seen = detail(&campaign, check);
        for format in ["terminal", "markdown", "html", "json"].iter().filter(|one| is_drawn(one)) {
            assert!(wide(&campaign, format).contains(&seen), "{format} lacks {seen}");
        }
        remove(&mut campaign);
        for format in read() {
            assert!(!wide(&campaign, format).contains(&seen), "{format} without {field}: {seen}");
        }
    }
}

fn without_places(campaign: &mut Campaign) {
    campaign.records.iter_mut().for_each(|record| record.position = 0);
}

fn with_a_failure(campaign: &mut Campaign) {
    campaign.records[0].outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
}

fn edited(campaign: &mut Campaign) {
    let flaw = Caveat::new(CaveatCode::EvidenceChanged, "the margin is 5 % in place of 2 %");
    campaign.findings.caveats.push(flaw);
    campaign.findings.is_evidence_changed = true;
}

fn without_facts(campaign: &mut Campaign) {
    campaign.environment.0.clear();
}

/// A format, what it says of a step beside its checks, the field, and what takes that away.
const SENTENCES: [(&str, &str, &str, Removal); 19] = [
    ("terminal", "6 blocks of 3 subjects", "records.block", |one| one.records.truncate(3)),
    ("terminal", "18 trials in", "records", |one| one.records.truncate(3)),
    ("terminal", "host with kernel 6.18", "environment[kernel.release]", without_facts),
    ("terminal", "CPUs 0-1", "environment[cpu.online]", without_facts),
    ("pull-request", "6 blocks of 3 subjects", "records.block", |one| one.records.truncate(3)),
    ("pull-request", "host with kernel 6.18", "environment[kernel.release]", without_facts),
    ("pull-request", "CPUs 0-1", "environment[cpu.online]", without_facts),
    ("mail", "kernel.release: 6.18", "environment[kernel.release]", without_facts),
    ("markdown", "6 randomised blocks of 3 subjects", "records.position", without_places),
    ("markdown", "6 randomised blocks of 3 subjects", "records.outcome", with_a_failure),
    ("markdown", "6 randomised blocks of 3 subjects", "EVIDENCE_CHANGED", edited),
    ("markdown", "18 trials in", "records", |one| one.records.truncate(3)),
    ("markdown", "with kernel 6.18", "environment[kernel.release]", without_facts),
    ("markdown", "Nothing of it changed between trials.", "records.fingerprint", |one| {
        one.records[0].fingerprint.clear();
    }),
    ("markdown", "Nothing of it changed between trials.", "EVIDENCE_CHANGED", edited),
    ("markdown", "signed-rank p", "findings.companion", |one| {
        one.findings.findings.iter_mut().for_each(|finding| finding.companion = None);
    }),
    ("markdown", "with 80 % power", "findings.planning", |one| {
        one.findings.findings.iter_mut().for_each(|finding| finding.planning = None);
    }),
    ("html", "\"is_machine_compared\":true", "records.fingerprint", |one| {
        one.records[0].fingerprint.clear();
    }),
    ("html", "\"is_machine_compared\":true", "EVIDENCE_CHANGED", edited),
];

#[test]
fn each_sentence_about_a_step_is_gone_with_its_field() {
    for (format, sentence, field, remove) in SENTENCES.iter().filter(|one| is_drawn(&one.0)) {
        let mut campaign = quiet();
        assert!(wide(&campaign, format).contains(sentence), "{format} lacks {sentence}");
        remove(&mut campaign);
        assert!(
            !wide(&campaign, format).contains(sentence),
            "{format} without {field}: {sentence}"
        );
    }
}

/// What `explain` says, with the field and what takes it away.
const EXPLAINED: [(&str, &str, Removal); 6] = [
    ("was declared before the run", "records.chain", |one| one.binding = Binding::Absent),
    ("In 6 blocks both ran, each once", "findings.blocks", |one| {
        one.findings.findings.iter_mut().for_each(|finding| finding.blocks.clear());
    }),
    ("In 6 blocks both ran, each once", "EVIDENCE_CHANGED", edited),
    ("signed-rank p", "findings.companion", |one| {
        one.findings.findings.iter_mut().for_each(|finding| finding.companion = None);
    }),
    ("exact sign flips", "findings.companion.p_sign_flip", |one| {
        for finding in &mut one.findings.findings {
            finding.companion.as_mut().unwrap().p_sign_flip = None;
        }
    }),
    ("in 80 of 100 campaigns", "findings.planning", |one| {
        one.findings.findings.iter_mut().for_each(|finding| finding.planning = None);
    }),
];

/// What slides say beside their checks: sentences that fall with the same field.
const SLIDES: [(&[&str], &str, Removal); 6] = [
    (
        &["in random order", "every subject ran once, in an order drawn anew"],
        "records.position",
        without_places,
    ),
    (&["in random order", "every subject ran once"], "records.outcome", with_a_failure),
    (&["every level was read back"], "records.levels", |one| one.records[0].levels.clear()),
    (&["declared before the run"], "records.chain", |one| one.binding = Binding::Absent),
    (&["Environment: kernel 6.18", "6.18.44-fc-v595", "CPUs 0-1"], "environment", without_facts),
    (&["18 trials on venue host", "6 blocks of 3 subjects"], "records", |one| {
        one.records.truncate(3)
    }),
];

#[test]
fn what_explanations_and_slides_say_of_a_step_is_gone_with_its_field() {
    let all = texts("measured", &quiet());
    let told = of(&all, "explain");
    for (sentence, field, remove) in EXPLAINED {
        assert!(told.contains(sentence), "{sentence}: {told}");
        let mut campaign = quiet();
        remove(&mut campaign);
        let without = explained(&campaign);
        assert!(!without.contains(sentence), "without {field}: {sentence}: {without}");
    }
    if !has_page() {
        return;
    }
    let told = of(&all, "pptx").replace('\u{a0}', " ");
    for (sentences, field, remove) in SLIDES {
        let mut campaign = quiet();
        remove(&mut campaign);
        let without = slides(&campaign);
        for sentence in sentences {
            assert!(told.contains(sentence), "{sentence}");
            assert!(!without.contains(sentence), "without {field}: {sentence}");
        }
    }
}

fn explained(campaign: &Campaign) -> String {
    let few_boots = campaign.few_boots();
    let context = report::ExplainContext {
        findings: &campaign.findings,
        few_boots: few_boots.as_deref(),
        provenance: report::Provenance::of_plan(&campaign.plan),
        is_given_with_numbers: campaign.is_given_with_numbers(),
        binding: campaign.binding,
        store_caveats: &campaign.store_caveats,
        is_absolute: true,
        language: campaign.language,
    };
    let all = campaign.findings.findings.iter();
    all.flat_map(|one| report::explain(one, &context)).collect::<Vec<_>>().join("\n")
}

#[test]
fn numbers_without_blocks_are_explained_as_such_with_or_without_their_warning() {
    let sentence = "The numbers were not collected in blocks.";
    let mut rows = in_rows();
    for finding in &mut rows.findings.findings {
        finding.caveats.clear();
    }
    assert!(explained(&rows).contains(sentence));
    let mut simulated = simulated();
    for finding in &mut simulated.findings.findings {
        finding.caveats.push(Caveat::new(CaveatCode::UnblockedDesign, "told"));
    }
    assert!(!explained(&simulated).contains(sentence));
}

fn slides(campaign: &Campaign) -> String {
    let deck = crate::slides::Deck::of(campaign);
    let texts: Vec<String> = deck.texts().map(|(_, text)| text.to_owned()).collect();
    texts.join("\n").replace('\u{a0}', " ")
}

#[test]
fn which_attempt_it_is_stands_in_every_format_and_is_unknown_where_nobody_counted() {
    let campaign = quiet();
    let workbook = |inputs: &Inputs<'_>| {
        let renderer = RENDERERS.iter().find(|one| one.describe().id == "xlsx").unwrap();
        let mut bytes = Vec::new();
        renderer.render(&view(inputs), &page(80), &mut bytes).unwrap();
        bytes
    };
    for format in read().filter(|one| *one != "json") {
        assert!(
            wide(&campaign, format).contains("Attempt 5 with these subjects and workloads"),
            "{format}"
        );
    }
    let book = Workbook::of(&campaign);
    let has = |text: &str| book.sheet("findings").values().any(|cell| cell.text.contains(text));
    assert!(
        has("Attempt 5 with these subjects and workloads")
            && has("6 blocks of 3 subjects, 18 trials")
    );
    let unknown = Inputs { attempt: None, ..campaign.inputs() };
    assert_ne!(workbook(&unknown), workbook(&campaign.inputs()));
    for renderer in read_as_text() {
        let mut bytes = Vec::new();
        renderer.render(&view(&unknown), &page(4000), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_unknown = text.contains("is unknown: nobody counted");
        assert!(!text.contains("Attempt 5") && is_unknown, "{}", renderer.describe().id);
    }
}

const STATED: &str = "Attempt 26 with these subjects and workloads on this machine, which counts since \
                      2026-11-18; attempt 4 at this very plan.";
const UNSTATED: Option<&str> = Some("is unknown: nobody counted, or the count was lost.");

/// Formats for programs of which the words are known, how each states both counts, and how it says
/// that nobody counted: JSON by no key, as readers of `schedlab.report` know it. Another one has both
/// numbers, and only where somebody counted. What people read has the sentences.
const ATTEMPTS: [(&str, &str, Option<&str>); 3] = [
    ("json", "\"attempt\": { \"of_plan\": 4, \"of_question\": 26,", None),
    // At the end of a row, where no index and value can look like it.
    ("csv", ",26,4 ", Some(",unknown,unknown")),
    (
        "benchfmt",
        "schedlab-attempt: 26 schedlab-attempt-of-plan: 4",
        Some("schedlab-attempt: unknown schedlab-attempt-of-plan: unknown"),
    ),
];

#[test]
fn every_format_states_the_twenty_sixth_attempt_and_that_nobody_counted() {
    let campaign = quiet();
    let attempt = Attempt { of_plan: 4, of_question: 26, since_unix_ns: 1_795_000_000_000_000_000 };
    let counted = view(&Inputs { attempt: Some(attempt), ..campaign.inputs() });
    let unknown = view(&Inputs { attempt: None, ..campaign.inputs() });
    for renderer in RENDERERS {
        let id = renderer.describe().id;
        if !HAS_PAGE && ["html", "pptx"].contains(&id) {
            continue;
        }
        let told = |report: &Report| {
            let mut bytes = Vec::new();
            renderer.render(report, &page(4000), &mut bytes).unwrap();
            readable(&bytes).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (with, without) = (told(&counted), told(&unknown));
        let of_program = ATTEMPTS.into_iter().find(|row| row.0 == id);
        let of_people = (!is_for_programs(id)).then_some((id, STATED, UNSTATED));
        let Some((_, stated, unstated)) = of_program.or(of_people) else {
            for number in ["26", "4"] {
                assert!(numbers(&with, number) > numbers(&without, number), "{id} lacks {number}");
            }
            continue;
        };
        assert!(with.contains(stated), "{id} lacks {stated}");
        assert!(!without.contains(stated), "{id}: {stated}");
        if let Some(unstated) = unstated {
            assert!(without.contains(unstated) && !with.contains(unstated), "{id}: {unstated}");
        }
    }
}

/// How often a number stands in a text by itself.
fn numbers(text: &str, number: &str) -> usize {
    text.split(|letter: char| !letter.is_ascii_digit()).filter(|one| *one == number).count()
}

#[test]
fn slides_state_on_the_first_which_attempt_it_is() {
    if !has_page() {
        return;
    }
    let first = crate::slides::Deck::of(&quiet()).lines(1).join("\n");
    assert!(first.contains("Attempt 5 with these subjects and workloads"), "{first}");
    assert!(first.contains("attempt 2 at this very plan."), "{first}");
}

#[test]
fn nothing_of_a_simulation_ran() {
    for (id, text) in texts("simulated", &simulated()) {
        for step in ["runs of all subjects", "every subject ran once", "every subject runs once"] {
            assert!(!text.contains(step), "{id}: {step}");
        }
    }
    let told = detail(&simulated(), "design");
    assert_eq!(told, "every subject was simulated in each block, in random order");
}

#[test]
fn slides_of_an_import_say_of_its_order_what_the_file_tells() {
    if !has_page() {
        return;
    }
    let of_order = |order: ImportedOrder| {
        let mut campaign = in_blocks();
        campaign.plan.imported.as_mut().unwrap().order = order;
        slides(&campaign)
    };
    let (unknown, known) = ("the order of their runs is not known", "a column tells the order");
    for order in [ImportedOrder::Unknown, ImportedOrder::Rows] {
        let told = of_order(order);
        assert!(told.contains(unknown) && !told.contains(known));
    }
    let told = of_order(ImportedOrder::Column);
    assert!(told.contains(known) && !told.contains(unknown));
}

/// Rows with the interval that decided an equivalence, at a level of its own, and rows without.
#[test]
fn what_the_intervals_are_is_true_of_every_row() {
    let alone = "Intervals are 95 %, unadjusted, each for its row alone.";
    let mixture = "Intervals are 95 %, unadjusted, each for its row alone; one that showed an \
                   equivalence has its own level beside it.";
    let all = "Each interval is the one that showed an equivalence, at the level beside it.";
    let better = || {
        let draft = Draft::new("cyclic", "latency_p50", "fifo").decided(Verdict::Better, true);
        draft.effect(5e4, 1.5, 1.4, 1.6).finding()
    };
    let alike = || {
        let draft =
            Draft::new("cyclic", "latency_p50", "batch").decided(Verdict::Equivalent, false);
        draft.effect(5e4, 1.0, 0.93, 1.06).shown_by(0.98, 1.03, 0.025).finding()
    };
    for (findings, expected) in
        [(vec![better()], alone), (vec![better(), alike()], mixture), (vec![alike()], all)]
    {
        let campaign = campaign("Which?", findings, Vec::new());
        for format in ["terminal", "markdown", "pull-request"] {
            let text = wide(&campaign, format);
            for sentence in [alone, mixture, all] {
                assert_eq!(text.contains(sentence), sentence == expected, "{format}: {text}");
            }
            assert_eq!(text.contains("(97.5 %)"), expected != alone, "{format}: {text}");
        }
        let book = Workbook::of(&campaign);
        let sheet = book.sheet("effects");
        assert!(sheet.values().any(|cell| cell.text.starts_with(expected)), "{expected}");
        let levels = crate::workbook::row(sheet, 0)
            .iter()
            .filter(|one| **one == "level of the interval")
            .count();
        assert_eq!(levels, 1);
    }
}

/// A comparison without numbers has no estimate, and replicates that do not vary leave no interval.
#[test]
fn what_the_intervals_are_is_said_only_where_a_row_has_one() {
    let draft = || Draft::new("cyclic", "latency_p50", "fifo");
    let unvarying = draft().decided(Verdict::Equivalent, false).effect(5e4, 1.0, 1.0, 1.0);
    let unvarying = unvarying.shown_by(1.0, 1.0, 0.1).unvarying();
    for finding in [draft().finding(), unvarying.finding()] {
        let campaign = campaign("Which?", vec![finding.clone()], Vec::new());
        let mut texts: Vec<String> = ["terminal", "mail", "markdown", "pull-request"]
            .map(|format| wide(&campaign, format))
            .into();
        if finding.effect.is_some() {
            let book = Workbook::of(&campaign);
            texts.extend(book.sheet("effects").values().map(|cell| cell.text.clone()));
        }
        for text in texts {
            for told in [
                "Intervals are",
                "Each interval is",
                "The family interval allows",
                "An end without a bar",
            ] {
                assert!(!text.contains(told), "{told}: {text}");
            }
        }
        let text = wide(&korean(campaign), "terminal");
        assert!(!text.contains("구간은"), "{text}");
    }
}

/// 11.04992 %: rounded to six digits first it is 11.0500, and then 11.1.
#[test]
fn the_page_has_effects_as_the_findings_have_them() {
    let mut campaign = mixed();
    let finding = &mut campaign.findings.findings[0];
    let value = 52_349.999_6;
    finding.subject_value = Some(value);
    finding.effect.as_mut().unwrap().ratio = 1.110_499_2;
    let page: serde_json::Value =
        serde_json::from_str(&page_json(&view(&campaign.inputs())).unwrap()).unwrap();
    let told = &page["findings"][0];
    assert_eq!(told["effect"]["ratio"].as_f64(), Some(1.110_499_2));
    assert_eq!(told["subject_value"].as_f64(), Some(value));
    assert_eq!(percent(1.110_499_2, Language::default()), "+11.0 %");
}

#[test]
fn one_of_a_thing_is_told_in_the_singular() {
    let mut one = mixed();
    one.plan.blocks.truncate(1);
    one.records.truncate(1);
    for (format, words) in [
        ("terminal", "1 block of 4 subjects, 1 trial in "),
        ("mail", "1 block of 4 subjects, 1 trial in "),
        ("markdown", " block of 4 subjects; workloads cyclic, messaging; 1 trial in "),
    ] {
        let text = wide(&one, format);
        assert!(text.contains(words), "{format}: {text}");
        assert!(!text.contains("1 blocks of") && !text.contains("1 trials in"), "{format}: {text}");
    }
}
