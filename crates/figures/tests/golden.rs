//! Every figure of the report's golden campaigns, drawn.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

use figures::{Figures, Pictures, Theme};
use std::collections::BTreeSet;
use std::path::Path;

const WIDTH: u32 = 960;

fn data(campaign: &str) -> String {
    let golden = Path::new("../report/tests/golden").join(format!("page-{campaign}.json"));
    std::fs::read_to_string(golden).unwrap()
}

/// Whether this build has figures; a build that must have them is refused earlier.
fn is_built() -> bool {
    if web::FIGURES.is_none() {
        testing::skip("the figures are not built: cargo xtask ui");
    }
    web::FIGURES.is_some()
}

#[test]
fn every_figure_becomes_a_picture_with_all_its_letters() {
    if !is_built() {
        return;
    }
    let pictures = Pictures::new(Vec::new()).unwrap();
    for campaign in [
        "mixed",
        "measured",
        "multicore",
        "divided",
        "hostile",
        "emulated",
        "imported-blocks",
        "imported-rows",
    ] {
        let figures = Figures::of(&data(campaign)).unwrap();
        for (place, figure) in figures.described().iter().enumerate() {
            for theme in [Theme::Light, Theme::Dark] {
                let svg = figures.svg(place, theme, WIDTH).unwrap();
                let picture = pictures.png(&svg, 1.0).unwrap();
                assert_eq!(picture.width, WIDTH, "{campaign} {}", figure.id);
                assert!(
                    picture.undrawn.is_empty(),
                    "{campaign} {}: {:?}",
                    figure.id,
                    picture.undrawn
                );
                assert!(
                    !svg.contains("NaN") && !svg.contains("undefined"),
                    "{campaign} {}",
                    figure.id
                );
            }
        }
    }
}

/// Ids of the figures of runs, without the number of the comparison.
fn kinds(campaign: &str) -> BTreeSet<String> {
    let figures = Figures::of(&data(campaign)).unwrap();
    let of_runs = figures.described().iter().filter(|figure| figure.section == "runs");
    let is_number = |letter: char| letter == '-' || letter.is_ascii_digit();
    of_runs.map(|figure| figure.id.trim_end_matches(is_number).to_owned()).collect()
}

/// No file of these tells when its runs were made, and one has no blocks.
#[test]
fn no_figure_of_an_import_shows_pairs_or_an_order_that_its_file_lacks() {
    if !is_built() {
        return;
    }
    let of = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect();
    let expected: [(&str, BTreeSet<String>); 3] = [
        ("measured", of(&["pairs", "drift", "spread"])),
        ("imported-blocks", of(&["pairs", "spread"])),
        ("imported-rows", of(&["spread"])),
    ];
    for (campaign, expected) in expected {
        assert_eq!(kinds(campaign), expected, "{campaign}");
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    if !is_built() {
        return;
    }
    let drawn = || {
        let figures = Figures::of(&data("measured")).unwrap();
        let svgs: Vec<String> = (0..figures.described().len())
            .map(|place| figures.svg(place, Theme::Light, WIDTH).unwrap())
            .collect();
        let pictures = Pictures::new(Vec::new()).unwrap();
        let pngs: Vec<Vec<u8>> =
            svgs.iter().map(|svg| pictures.png(svg, 2.0).unwrap().png).collect();
        (svgs, pngs)
    };
    assert!(drawn() == drawn(), "two runs drew differently");
}

#[test]
fn names_are_texts_and_never_markup() {
    if !is_built() {
        return;
    }
    let figures = Figures::of(&data("hostile")).unwrap();
    for place in 0..figures.described().len() {
        let svg = figures.svg(place, Theme::Light, WIDTH).unwrap();
        for markup in ["<script", "<img", "<image", "<a ", "onerror=\"", "href="] {
            assert!(!svg.contains(markup), "{markup} in {svg}");
        }
    }
}
