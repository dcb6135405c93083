//! Reports in Korean: what people read is, and what programs read is not.

use crate::campaigns::{Campaign, emulated, hostile, mixed, undecided};
use crate::grid::grid;
use crate::multicore::multicore;
use crate::slides::Deck;
use crate::workbook::{Workbook, row};
use crate::{drawn, has_page, page, read_as_text};
use expect_test::expect_file;
use model::{CaveatCode, Role};
use report::{Language, Page, RENDERERS, view};
use unicode_width::UnicodeWidthStr;

/// The same campaign, told in Korean.
pub fn korean(mut campaign: Campaign) -> Campaign {
    campaign.language = "ko".parse().unwrap();
    campaign
}

fn is_hangul(letter: char) -> bool {
    ('가'..='힣').contains(&letter)
}

/// The rows of a file have an order, too, and nothing ran in it.
#[test]
fn what_a_caveat_of_the_order_means_claims_no_run() {
    for code in [CaveatCode::CarryOver, CaveatCode::OrderEffect, CaveatCode::OrderConfounded] {
        let (meaning, translated) = (code.meaning(), code.meaning_in("ko"));
        assert!(!meaning.split(' ').any(|word| ["ran", "sitting"].contains(&word)), "{meaning}");
        assert!(translated.chars().any(is_hangul) && !translated.contains("실행"), "{translated}");
    }
}

/// Without blocks the values of any subject drift, in the file's order, and no campaign of ours went on.
#[test]
fn a_drift_is_said_to_be_one_of_imported_numbers_too() {
    let (meaning, translated) = (CaveatCode::Drift.meaning(), CaveatCode::Drift.meaning_in("ko"));
    assert!(meaning.contains("imported numbers in their order"), "{meaning}");
    assert!(translated.contains("가져온 수치의 순서"), "{translated}");
}

#[test]
fn each_caveat_has_its_meaning_in_every_language() {
    for language in Language::all().filter(|language| !language.is_english()) {
        for code in CaveatCode::ALL {
            assert_ne!(code.meaning_in(language.code()), code.meaning(), "{language}: {code}");
        }
    }
    assert!(CaveatCode::ALL.iter().all(|code| code.meaning_in("ko").contains(is_hangul)));
}

#[test]
fn what_people_read_is_in_korean() {
    let campaigns = [("mixed", mixed as fn() -> Campaign), ("emulated", emulated)];
    for renderer in read_as_text() {
        let id = renderer.describe().id;
        // Of a terminal the name says the width.
        let ending = match id {
            "terminal" => "-80.txt".to_owned(),
            _ => format!(".{}", renderer.extension()),
        };
        for (name, campaign) in campaigns {
            let expected = expect_file![format!("../golden/ko/{name}{ending}")];
            expected.assert_eq(&drawn(&korean(campaign()), id, page(80)));
        }
    }
    let text = drawn(&korean(multicore()), "markdown", page(80));
    expect_file!["../golden/ko/multicore.md"].assert_eq(&text);
    let verbose = Page { is_verbose: true, has_plots: true, ..page(80) };
    let text = drawn(&korean(grid()), "terminal", verbose);
    expect_file!["../golden/ko/grid-verbose-80.txt"].assert_eq(&text);
}

#[test]
fn every_kind_of_verdict_is_explained_in_korean() {
    let mut text = String::new();
    for campaign in [mixed(), undecided(), hostile()].map(korean) {
        let report = view(&campaign.inputs());
        for finding in &report.findings.findings {
            for paragraph in crate::explained(finding, &report.findings, false, report.language) {
                assert!(paragraph.contains(|c: char| c.is_ascii_digit()), "{paragraph}");
                assert!(paragraph.contains(is_hangul), "{paragraph}");
                for line in report::wrapped(&paragraph, 80) {
                    assert!(line.width() <= 80, "{line}");
                    text += &format!("{line}\n");
                }
            }
            text.push('\n');
        }
    }
    expect_file!["../golden/ko/explained.txt"].assert_eq(&text);
}

#[test]
fn data_formats_are_the_same_in_every_language() {
    let all = RENDERERS.iter().filter(|renderer| renderer.is_for_programs());
    for format in all.map(|renderer| renderer.describe().id).filter(|format| *format != "json") {
        let english = drawn(&mixed(), format, page(80));
        assert_eq!(drawn(&korean(mixed()), format, page(80)), english, "{format}");
    }
    let keys = |campaign: &Campaign| {
        let text = drawn(campaign, "json", page(80));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.retain(|key| key != "language");
        (keys, value["findings"].clone(), value["language"].clone())
    };
    let (english, korean) = (keys(&mixed()), keys(&korean(mixed())));
    assert_eq!((&english.0, &english.1), (&korean.0, &korean.1));
    assert_eq!((english.2, korean.2), (serde_json::Value::Null, "ko".into()));
}

#[test]
fn columns_of_a_terminal_are_aligned_although_letters_are_two_columns_wide() {
    for width in [60, 80, 120] {
        let campaign = korean(mixed());
        let text = drawn(&campaign, "terminal", page(width));
        let counts: Vec<usize> = text
            .lines()
            .filter(|line| line.starts_with("  ") && line.contains("  n="))
            .filter_map(|line| Some(line.split_once("  n=")?.0.width()))
            .collect();
        let asked = campaign.findings.findings.iter().map(|finding| finding.question.role);
        assert_eq!(counts.len(), asked.filter(|role| *role != Role::Screen).count());
        assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "{counts:?}\n{text}");
    }
}

#[test]
fn plain_signs_keep_their_columns_beside_korean() {
    let signs = |letter: char| "▲▼≈✕│░─├┤".contains(letter);
    let ascii = Page { is_unicode: false, ..page(80) };
    let text = drawn(&korean(mixed()), "terminal", ascii);
    assert!(!text.contains(signs) && text.contains(is_hangul));
    assert!(text.lines().all(|line| line.width() <= 80));
}

#[test]
fn slides_say_it_in_korean_and_name_a_font_for_it() {
    if !has_page() {
        return;
    }
    for (campaign, expected) in [
        (mixed(), expect_file!["../golden/ko/mixed.slides.txt"]),
        (emulated(), expect_file!["../golden/ko/emulated.slides.txt"]),
    ] {
        let deck = Deck::of(&korean(campaign));
        let mut text = String::new();
        for number in 1..=deck.slides() {
            // What stands on a figure is the page's, which has its own tests.
            let slide = deck.text(&format!("ppt/slides/slide{number}.xml"));
            assert!(slide.contains("lang=\"ko-KR\"") && !slide.contains("en-GB"), "{slide}");
            if !slide.contains("<p:pic>") {
                text += &format!("{}\n\n", deck.lines(number).join("\n"));
            }
        }
        expected.assert_eq(&text);
        let theme = deck.text("ppt/theme/theme1.xml");
        assert!(theme.contains("<a:ea typeface=\"Malgun Gothic\"/>"), "{theme}");
    }
    let english = Deck::of(&mixed());
    assert!(english.text("ppt/theme/theme1.xml").contains("<a:ea typeface=\"\"/>"));
}

#[test]
fn sheets_and_their_columns_have_korean_names() {
    let book = Workbook::of(&korean(grid()));
    for name in ["결과", "효과", "히트맵", "원자료"] {
        let titles = row(book.sheet(name), 0);
        assert!(titles.iter().any(|title| title.contains(is_hangul)), "{name}: {titles:?}");
    }
    let english = Workbook::of(&grid());
    assert_eq!(row(book.sheet("결과"), 0).len(), row(english.sheet("findings"), 0).len());
}
