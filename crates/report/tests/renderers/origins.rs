//! What each format says of the same numbers by where they come from: measured, emulated,
//! simulated, imported in blocks, imported without; and of simulated ones that did not reach the end
//! of their plan.

use crate::campaigns::Campaign;
use crate::languages::korean;
use crate::slides::Deck;
use crate::stored::{emulated, ended, in_blocks, in_rows, measured, simulated, unfinished};
use crate::{drawn, page};
use expect_test::expect_file;
use report::{HAS_PAGE, Page, page_json, view};

/// What a person reads of a campaign in each format that is text, and what the page and the slides
/// state of its checks.
fn texts_of(campaign: &Campaign) -> String {
    let verbose = Page { is_verbose: true, ..page(100) };
    let mut texts = String::new();
    for (format, page) in [
        ("terminal", verbose),
        ("markdown", page(100)),
        ("pull-request", page(100)),
        ("mail", page(100)),
    ] {
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
    expect_file!["../golden/ko/origins-imported-rows.txt"].assert_eq(&texts_of(&korean(in_rows())));
}
