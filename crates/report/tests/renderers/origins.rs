//! What each format says of the same numbers by where they come from: measured, emulated,
//! simulated, imported in blocks, imported without; and of simulated ones that did not reach the end
//! of their plan.

use crate::campaigns::Campaign;
use crate::checks::{quiet, texts, unobserved};
use crate::languages::korean;
use crate::slides::Deck;
use crate::stored::{
    emulated, ended, in_blocks, in_rows, measured, of_each_origin, simulated, unfinished,
};
use crate::workbook::Workbook;
use crate::{drawn, has_page, page, read_as_text};
use expect_test::expect_file;
use figures::{Figures, Theme};
use model::{Binding, Caveat, CaveatCode, ImportFact, ImportedOrder, NumberOrigin};
use report::{HAS_PAGE, Language, Page, compare, page_json, premises, view};

#[test]
fn each_picture_says_in_itself_where_its_numbers_come_from() {
    if !has_page() {
        return;
    }
    for (campaign, told) in [
        (simulated(), Some("Simulated: no machine was measured.")),
        (emulated(), Some("Emulated processor: no figure is that of real hardware.")),
        (in_blocks(), Some("Imported from ")),
        (in_rows(), Some("Imported from ")),
        (measured(), None),
    ] {
        let figures = Figures::of(&page_json(&view(&campaign.inputs())).unwrap()).unwrap();
        assert!(!figures.described().is_empty());
        for (place, figure) in figures.described().iter().enumerate() {
            let svg = figures.svg(place, Theme::Light, 700).unwrap();
            for sentence in ["Simulated: ", "Emulated processor: ", "Imported from "] {
                let is_told = told.is_some_and(|told| told.starts_with(sentence));
                let is_drawn = svg.contains(&format!(">{sentence}"));
                assert_eq!(is_drawn, is_told, "{sentence}{}: {svg}", figure.id);
            }
            assert!(told.is_none_or(|told| svg.contains(told)), "{}: {svg}", figure.id);
        }
    }
}

#[test]
fn an_order_that_may_be_the_difference_is_told_by_the_answer_of_every_format() {
    for (is_korean, told) in [
        (false, "The order of the subjects may be the difference"),
        (true, "비교 대상의 순서가 차이의 원인일 수 있습니다"),
    ] {
        for is_fixed in [false, true] {
            let mut campaign = if is_korean { korean(in_blocks()) } else { in_blocks() };
            for finding in &mut campaign.findings.findings {
                finding.is_order_fixed = is_fixed;
            }
            let holds = |what: &str, text: &str| {
                let text: Vec<&str> = text.split_whitespace().collect();
                assert_eq!(text.join(" ").contains(told), is_fixed, "{what}: {text:?}");
            };
            for format in read_as_text().map(|renderer| renderer.describe().id).chain(["json"]) {
                holds(format, &drawn(&campaign, format, page(100)));
            }
            holds("page", &page_json(&view(&campaign.inputs())).unwrap());
            if has_page() {
                holds("slides", &words_of(&campaign));
            }
        }
    }
}

/// What a person reads of a campaign in each format of lines, and what the page and the slides
/// state of its checks.
fn texts_of(campaign: &Campaign) -> String {
    let mut texts = String::new();
    for format in read_as_text().map(|renderer| renderer.describe().id) {
        let page = Page { is_verbose: format == "terminal", ..page(100) };
        texts += &format!("==== {format}\n{}\n", drawn(campaign, format, page).trim_end());
    }
    let text = page_json(&view(&campaign.inputs())).unwrap();
    let page: serde_json::Value = serde_json::from_str(&text).unwrap();
    texts += "==== checks of the page\n";
    for check in page["checks"].as_array().unwrap() {
        let word = |key: &str| check[key].as_str().unwrap_or_default();
        texts += &format!("{}: {}: {}\n", word("name"), word("state"), word("detail"));
    }
    texts
}

/// What stands on the slides, but for figures: these are the page's.
fn words_of(campaign: &Campaign) -> String {
    let deck = Deck::of(campaign);
    let mut text = String::new();
    for number in 1..=deck.slides() {
        if !deck.text(&format!("ppt/slides/slide{number}.xml")).contains("<p:pic>") {
            text += &format!("{}\n\n", deck.lines(number).join("\n"));
        }
    }
    text
}

#[test]
fn each_origin_is_told_as_what_it_is_in_every_format() {
    for (campaign, expected, slides) in [
        (
            measured(),
            expect_file!["../golden/origins/measured.txt"],
            expect_file!["../golden/origins/measured.slides.txt"],
        ),
        (
            emulated(),
            expect_file!["../golden/origins/emulated.txt"],
            expect_file!["../golden/origins/emulated.slides.txt"],
        ),
        (
            simulated(),
            expect_file!["../golden/origins/simulated.txt"],
            expect_file!["../golden/origins/simulated.slides.txt"],
        ),
        (
            in_blocks(),
            expect_file!["../golden/origins/imported-blocks.txt"],
            expect_file!["../golden/origins/imported-blocks.slides.txt"],
        ),
        (
            in_rows(),
            expect_file!["../golden/origins/imported-rows.txt"],
            expect_file!["../golden/origins/imported-rows.slides.txt"],
        ),
        (
            ended(),
            expect_file!["../golden/origins/ended.txt"],
            expect_file!["../golden/origins/ended.slides.txt"],
        ),
        (
            unfinished(),
            expect_file!["../golden/origins/unfinished.txt"],
            expect_file!["../golden/origins/unfinished.slides.txt"],
        ),
    ] {
        expected.assert_eq(&texts_of(&campaign));
        if HAS_PAGE {
            slides.assert_eq(&words_of(&campaign));
        }
    }
    if !HAS_PAGE {
        testing::skip("the figures are not built: cargo xtask ui");
    }
}

#[test]
fn each_origin_is_told_in_korean_too() {
    for (campaign, expected) in [
        (measured(), expect_file!["../golden/ko/origins-measured.txt"]),
        (emulated(), expect_file!["../golden/ko/origins-emulated.txt"]),
        (simulated(), expect_file!["../golden/ko/origins-simulated.txt"]),
        (in_blocks(), expect_file!["../golden/ko/origins-imported-blocks.txt"]),
        (in_rows(), expect_file!["../golden/ko/origins-imported-rows.txt"]),
    ] {
        expected.assert_eq(&texts_of(&korean(campaign)));
    }
}

/// A step that no sentence of the catalogue holds: two make it up, the kind of blocks and how many
/// subjects run in them.
const MADE_UP: &str = "randomised blocks of";
/// The same in Korean, where the count comes before the kind.
const MADE_UP_IN_KOREAN: &str = "개의 무작위 블록";

/// What stands between the blanks of a sentence.
fn parts(sentence: &'static str) -> impl Iterator<Item = &'static str> {
    let behind_blank = |part: &'static str| part.split_once('}').map_or(part, |(_, rest)| rest);
    sentence.split('{').map(behind_blank).map(|part| part.trim_matches([' ', ',', '.', ':', ';']))
}

/// By which parts each sentence of the catalogue, or of what caveats mean, that states one of these
/// steps is known, in English and in Korean: the longest that no other sentence has.
fn stated(steps: &[&str]) -> Vec<[&'static str; 2]> {
    let language: Language = "ko".parse().unwrap();
    let meanings = CaveatCode::ALL.iter().map(|code| (code.meaning(), code.meaning_in("ko")));
    let (of_steps, others): (Vec<_>, Vec<_>) = language
        .report()
        .chain(meanings)
        .partition(|(english, _)| steps.iter().any(|step| english.contains(step)));
    let known_by = |sentence: &'static str| {
        let is_own = |part: &&str| {
            !others
                .iter()
                .any(|(english, korean)| english.contains(*part) || korean.contains(*part))
        };
        let own = parts(sentence).filter(is_own).max_by_key(|part| part.chars().count());
        own.unwrap_or_else(|| panic!("other sentences have all of this one: {sentence}"))
    };
    of_steps.iter().map(|(english, korean)| [*english, *korean].map(known_by)).collect()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn no_format_states_in_korean_a_step_that_nobody_observed() {
    for (origin, campaign) in of_each_origin() {
        let steps = unobserved(origin);
        let stated = stated(&steps);
        assert!(!stated.is_empty(), "{origin}");
        for (id, text) in texts(origin, &korean(campaign)) {
            let text = on_one_line(&text);
            for [english, korean] in &stated {
                assert!(!text.contains(korean), "{origin}, {id}: {korean} ({english})");
            }
            let is_made_up = steps.contains(&MADE_UP) && text.contains(MADE_UP_IN_KOREAN);
            assert!(!is_made_up, "{origin}, {id}: {MADE_UP_IN_KOREAN}");
        }
    }
}

/// Else a sentence that changed would be looked for in vain.
#[test]
fn each_step_that_was_observed_is_stated_in_korean_as_in_english() {
    let all = |campaign: &Campaign| -> String {
        texts("measured", campaign).iter().map(|(_, text)| on_one_line(text)).collect()
    };
    let (english, korean) = (all(&quiet()), all(&korean(quiet())));
    let stated = stated(&[unobserved("rows"), unobserved("measured")].concat());
    let mut seen = 0;
    for [of_english, of_korean] in stated {
        let is_stated = english.contains(of_english);
        assert_eq!(korean.contains(of_korean), is_stated, "{of_english}: {of_korean}");
        seen += usize::from(is_stated);
    }
    assert!(seen >= 8, "{seen}");
    assert!(english.contains(MADE_UP) && korean.contains(MADE_UP_IN_KOREAN));
}

/// The same import of a file that says that its numbers were simulated.
fn simulated_by_others(mut campaign: Campaign) -> Campaign {
    let told = Caveat::new(CaveatCode::Simulated, "by the caveats in the file");
    let imported = campaign.plan.imported.as_mut().unwrap();
    imported.caveats.push(told.clone());
    imported.facts.establish(ImportFact::Simulated);
    campaign.findings.note_caveat(told);
    campaign
}

/// Of an import of simulated numbers nobody saw how they were simulated.
#[test]
fn an_import_of_simulated_numbers_says_so_and_of_its_design_only_what_its_file_shows() {
    let checks = |campaign: &Campaign| -> Vec<String> {
        let texts = texts_of(campaign);
        let (_, checks) = texts.split_once("==== checks of the page\n").unwrap();
        checks.lines().map(str::to_owned).collect()
    };
    for campaign in [in_blocks(), in_rows()] {
        let before = checks(&campaign);
        let campaign = simulated_by_others(campaign);
        let after = checks(&campaign);
        assert_eq!(before.len(), after.len());
        let both = before.iter().zip(&after);
        let changed: Vec<&String> =
            both.filter(|(one, other)| one != other).map(|(_, other)| other).collect();
        assert!(changed.len() == 1 && changed[0].contains("SIMULATED"), "{changed:?}");
        for format in ["terminal", "markdown", "pull-request", "mail", "json", "csv"] {
            let text = drawn(&campaign, format, page(100));
            assert!(text.contains("SIMULATED"), "{format}: {text}");
        }
    }
}

/// The same, whose records do not name their boot.
fn without_boots(mut campaign: Campaign) -> Campaign {
    for record in &mut campaign.records {
        record.boot_id.clear();
    }
    campaign
}

fn by_a_column(mut campaign: Campaign) -> Campaign {
    campaign.plan.imported.as_mut().unwrap().order = ImportedOrder::Column;
    campaign
}

#[test]
fn the_json_of_an_import_has_no_field_that_its_file_does_not_tell() {
    let never = ["started_unix_ns", "duration_ns", "seed", "boot_id", "fingerprint"];
    for (campaign, is_imported, has_block, has_position) in [
        (measured(), false, true, true),
        (in_blocks(), true, true, false),
        (by_a_column(in_blocks()), true, true, true),
        (in_rows(), true, false, false),
    ] {
        let json: serde_json::Value =
            serde_json::from_str(&drawn(&campaign, "json", page(80))).unwrap();
        assert_eq!(json["findings"].get("seed").is_none(), is_imported);
        assert_eq!(json["design"].get("duration_ns").is_none(), is_imported);
        let records = json["records"].as_array().unwrap();
        assert_eq!(records.len(), campaign.records.len());
        for record in records {
            for name in never {
                assert_eq!(record.get(name).is_none(), is_imported, "{name}: {record}");
            }
            assert_eq!(record.get("block").is_some(), has_block, "{record}");
            assert_eq!(record.get("execution").is_some(), !has_block, "{record}");
            assert_eq!(record.get("position").is_some(), has_position, "{record}");
            assert!(record["invocations"][0]["samples"].is_array(), "{record}");
        }
    }
}

#[test]
fn no_format_states_blocks_boots_or_a_seed_that_the_data_lack() {
    for (origin, campaign, blocks, boots, seed) in [
        ("measured", measured(), Some(6), Some(1), Some(7)),
        ("measured, boots not named", without_boots(measured()), Some(6), None, Some(7)),
        ("imported in blocks", in_blocks(), Some(6), None, None),
        ("imported in rows", in_rows(), None, None, None),
    ] {
        let json: serde_json::Value =
            serde_json::from_str(&drawn(&campaign, "json", page(80))).unwrap();
        let page = page_json(&view(&campaign.inputs())).unwrap();
        let page: serde_json::Value = serde_json::from_str(&page).unwrap();
        let told = |number: Option<u64>| {
            number.map_or_else(|| "not observed".to_owned(), |number| number.to_string())
        };
        for (name, number) in [("blocks", blocks), ("boots", boots), ("seed", seed)] {
            for design in [&json["design"], &page["design"]] {
                let stated = design.get(name).map(|number| number.as_u64().unwrap());
                assert_eq!(stated, number, "{origin}: {name}");
            }
            let facts = page["facts"].as_array().unwrap();
            let fact = facts.iter().find(|fact| fact[0] == name).map(|fact| &fact[1]);
            let fact = fact.unwrap_or(&page["seed"]);
            assert_eq!(*fact, told(number), "{origin}: {name}");
        }
    }
    let nameless = drawn(&without_boots(measured()), "markdown", page(80));
    assert!(nameless.contains(" over an unknown number of boots on host "), "{nameless}");
}

#[test]
fn rows_of_an_import_state_no_place_that_the_data_lack() {
    for (campaign, titles, first, cells) in [
        (in_rows(), "execution,subject,", "0,a,all,", ["execution", "subject", "workload"]),
        (in_blocks(), "block,position,subject,", "0,,a,all,", ["block", "position", "subject"]),
        (
            by_a_column(in_blocks()),
            "block,position,subject,",
            "0,0,a,all,",
            ["block", "position", "subject"],
        ),
    ] {
        let csv = drawn(&campaign, "csv", page(80));
        let mut lines = csv.lines();
        assert!(lines.next().unwrap().starts_with(titles), "{csv}");
        assert!(lines.next().unwrap().starts_with(first), "{csv}");
        let workbook = Workbook::of(&campaign);
        let raw = workbook.sheet("raw");
        let stated: Vec<&str> = (0..3).map(|column| raw[&(0, column)].text.as_str()).collect();
        assert_eq!(stated, cells);
        let position = raw.get(&(1, 1)).map(|cell| cell.text.as_str());
        let of_cells = first.split(',').nth(1).filter(|text| !text.is_empty());
        // The workbook counts from 1.
        let of_cells = of_cells.map(|text| if text == "0" { "1" } else { text });
        assert_eq!(position, of_cells, "{titles}");
    }
}

/// What live views and metrics say beside every verdict.
#[test]
fn each_origin_has_a_word_and_what_was_simulated_or_emulated_has_it_before_an_import() {
    let of =
        |campaign: &Campaign| NumberOrigin::of(&campaign.plan, Some(&campaign.findings)).word();
    let words = of_each_origin().map(|(_, campaign)| of(&campaign));
    assert_eq!(words, ["measured", "emulated", "simulated", "imported", "imported"]);
    let mut twice = in_blocks();
    twice.findings.findings[0].is_emulated = true;
    assert_eq!(of(&twice), "emulated");
    assert_eq!(of(&simulated_by_others(twice)), "simulated");
}

/// Plan and findings have it as facts, and caveats of findings are only shown.
#[test]
fn where_numbers_come_from_is_told_without_any_caveat_that_says_it() {
    let told = |campaign: &Campaign| {
        let report = view(&campaign.inputs());
        let all = premises(&report).into_iter().filter(|one| one.about == "origin");
        let origin: Vec<String> = all.map(|one| one.text).collect();
        let text = on_one_line(&drawn(campaign, "terminal", page(100)));
        let word = NumberOrigin::of(&campaign.plan, Some(&campaign.findings)).word();
        let page = page_json(&report).unwrap();
        let is_simulated = page.contains(r#""is_simulated":true"#);
        assert_eq!(is_simulated, report.is_simulated);
        (origin, word, is_simulated, text.contains("no real machine"))
    };
    let others = [in_blocks(), in_rows()].map(simulated_by_others);
    for campaign in of_each_origin().map(|(_, campaign)| campaign).into_iter().chain(others) {
        let mut bare = campaign.clone();
        bare.findings.caveats.clear();
        bare.findings.findings.iter_mut().for_each(|finding| finding.caveats.clear());
        assert_eq!(told(&bare), told(&campaign));
        let all = |campaign: &Campaign| premises(&view(&campaign.inputs()));
        assert_eq!(all(&bare), all(&campaign));
    }
    let (origin, ..) = told(&simulated_by_others(in_rows()));
    assert!(origin.iter().any(|text| text == "Simulated: no machine was measured."), "{origin:?}");
}

/// By which words premises tell an origin; none of what was measured.
fn told_origin(origin: &str) -> Option<&'static str> {
    match origin {
        "measured" => None,
        "emulated" => Some("Emulated processor: ratios may be read, values may not."),
        "simulated" => Some("Simulated: no machine was measured."),
        "blocks" | "rows" => Some("Imported from "),
        other => panic!("no such origin: {other}"),
    }
}

#[test]
fn two_campaigns_of_one_origin_say_it_both() {
    let words = of_each_origin().map(|(origin, _)| told_origin(origin));
    for (origin, campaign) in of_each_origin() {
        let report = view(&campaign.inputs());
        let mut drawn = Vec::new();
        compare(&report, &report).draw(&page(100), &mut drawn).unwrap();
        let text = on_one_line(&String::from_utf8(drawn).unwrap());
        for words in words.into_iter().flatten() {
            let count = if told_origin(origin) == Some(words) { 2 } else { 0 };
            assert_eq!(text.matches(words).count(), count, "{origin}, {words}: {text}");
        }
        assert_eq!(text.matches("Attempt 5 with these subjects").count(), 2, "{origin}: {text}");
    }
}

#[test]
fn premises_name_a_quick_campaign_other_evidence_and_what_one_boot_cannot_show() {
    let of = |campaign: &Campaign, about: &str| -> Vec<String> {
        let all = premises(&view(&campaign.inputs()));
        all.into_iter().filter(|one| one.about == about).map(|one| one.text).collect()
    };
    let sound = measured();
    assert_eq!(of(&sound, "evidence"), Vec::<String>::new());
    assert_eq!(of(&sound, "boots").len(), 1);
    assert_eq!(of(&sound, "quick"), Vec::<String>::new());
    let mut quick = measured();
    quick.plan.is_quick = true;
    assert_eq!(of(&quick, "quick"), ["Quick: fewer blocks and shorter trials than declared."]);
    assert_eq!(of(&without_boots(measured()), "boots"), Vec::<String>::new());
    let unbound = Campaign { binding: Binding::Absent, ..measured() };
    let told = of(&unbound, "evidence");
    assert!(told.len() == 1 && told[0].starts_with("EVIDENCE_UNBOUND: "), "{told:?}");
    assert!(!of(&unbound, "attempt")[0].contains("bound"), "it is said once");
    let mut edited = measured();
    edited.findings.is_evidence_changed = true;
    edited.findings.caveats.push(Caveat::new(CaveatCode::EvidenceChanged, "by hand"));
    let told = of(&edited, "evidence");
    assert!(told.len() == 1 && told[0].starts_with("EVIDENCE_CHANGED: "), "{told:?}");
    // No step of edited records was observed.
    assert_eq!(of(&edited, "boots"), Vec::<String>::new());
}

/// What the page has of evidence below the attempt, which says itself that nothing binds the
/// records.
fn evidence_of_page(campaign: &Campaign) -> serde_json::Value {
    let page = page_json(&view(&campaign.inputs())).unwrap();
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    page["evidence"].clone()
}

#[test]
fn what_speaks_against_the_evidence_is_told_with_or_without_its_caveat_and_by_none_alone() {
    let told =
        |campaign: &Campaign| (premises(&view(&campaign.inputs())), evidence_of_page(campaign));
    let begins = |campaign: &Campaign, code: CaveatCode| {
        let (all, page) = told(campaign);
        let texts: Vec<String> =
            all.into_iter().filter(|one| one.about == "evidence").map(|one| one.text).collect();
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].starts_with(&format!("{code}: ")), "{texts:?}");
        (texts, page)
    };
    let mut edited = measured();
    edited.findings.is_evidence_changed = true;
    let mut loose = in_rows();
    loose.plan.imported.as_mut().unwrap().facts.establish(ImportFact::UnboundEvidence);
    let unbound = Campaign { binding: Binding::Absent, ..measured() };
    let cases = [
        (edited, CaveatCode::EvidenceChanged, true),
        (loose, CaveatCode::EvidenceUnbound, true),
        (unbound, CaveatCode::EvidenceUnbound, false),
    ];
    for (campaign, code, is_below) in cases {
        let (texts, page) = begins(&campaign, code);
        let expected = if is_below { serde_json::json!(texts) } else { serde_json::Value::Null };
        assert_eq!(page, expected, "{code}");
        let mut said = campaign.clone();
        said.findings.caveats.push(Caveat::new(code, "by hand"));
        assert_eq!(told(&said), told(&campaign), "{code}");
        let mut sound = measured();
        sound.findings.caveats.push(Caveat::new(code, "by hand"));
        assert_eq!(told(&sound), told(&measured()), "{code}");
    }
}
