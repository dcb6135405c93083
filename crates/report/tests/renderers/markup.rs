//! Whatever stands in the files of a campaign is text to what shows a report: it forges no line, no
//! column and no element, fetches nothing and is calculated by nobody. Some formats have a rule here;
//! every other text is held to lines and elements, and tries a syntax of its own in its file; every
//! other file is held to its parts.

use crate::campaigns::{Campaign, mixed};
use crate::grid::grid;
use crate::inert::{Poison, made_hostile};
use crate::multicore::multicore;
use crate::{has_page, page, stored};
use figures::{Figures, Pictures, Theme};
use report::{HAS_PAGE, Page, RENDERERS, Renderer, compare, page_json, view};
use roxmltree::Document;
use std::collections::BTreeSet;
use std::io::{Cursor, Read};

/// A formula to a spreadsheet; then the end of a line, a column of Markdown, an element of HTML, the
/// end of a link and of code, and what a terminal obeys (a clipboard, a colour that we do not use).
const MARKUP: Poison = Poison {
    before: "=",
    behind: "\n         FORGED|<img src=x onerror=y>](http://e.example/)`\u{1b}]52;c;eA==\u{7}\u{1b}[7;35m\u{202e}",
};
/// So many blanks stand before no text of ours.
const FORGED: &str = "\n         FORGED";
/// What lines of benchfmt begin with.
const BEGINNINGS: [&str; 13] = [
    "campaign: ",
    "venue: ",
    "kernel: ",
    "schedlab-attempt: ",
    "schedlab-attempt-of-plan: ",
    "evidence: ",
    "campaign-caveats: ",
    "caveats:",
    "subject: ",
    "block: ",
    "# caveats:",
    "Unit ",
    "Benchmark",
];
/// Chunks of a PNG that hold words (PNG, third edition, 11.3).
const WORDS: [&[u8]; 4] = [b"tEXt", b"zTXt", b"iTXt", b"eXIf"];

/// A command of a mail goes on behind a backslash, wherever its blanks are.
fn assert_no_line_is_forged(what: &str, text: &str) {
    let is_forged = |(at, _): (usize, &str)| !text[..at].ends_with('\\');
    let found = text.match_indices(FORGED).find(|found| is_forged(*found));
    if let Some((at, _)) = found {
        let near: String = text[..at].chars().rev().take(120).collect();
        panic!("{what}: a line is forged behind {:?}", near.chars().rev().collect::<String>());
    }
}

/// How often a sign stands in a line without a backslash before it.
fn unescaped(line: &str, sign: char) -> usize {
    let mut count = 0;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else {
            count += usize::from(letter == sign);
        }
    }
    count
}

/// What of a line is no code, and whether its code ends. Inside of code a backslash is itself.
fn outside_of_code(line: &str) -> (String, bool) {
    let (mut words, mut is_code) = (String::new(), false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '`' => is_code = !is_code,
            '\\' if !is_code => drop(letters.next()),
            _ if !is_code => words.push(letter),
            _ => {}
        }
    }
    (words, !is_code)
}

/// Outside of code no element and no link is left, code ends where it should, and every
/// row of a table has the columns of its head.
fn assert_markdown_has_no_markup_of_theirs(what: &str, text: &str) {
    assert_no_line_is_forged(what, text);
    let mut columns = None;
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        let (words, is_closed) = outside_of_code(line);
        assert!(is_closed, "{what}: code does not end in {line}");
        assert!(!words.contains("<img") && !words.contains("](http"), "{what}: {line}");
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        let bars = unescaped(line, '|');
        assert_eq!(*columns.get_or_insert(bars), bars, "{what}: {line}");
    }
}

fn assert_no_element_is_theirs(what: &str, text: &str) {
    assert!(!text.contains("<img src=x"), "{what}: an element");
}

fn assert_nothing_is_calculated(what: &str, text: &str) {
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    for row in rows.records() {
        for field in &row.unwrap() {
            let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
            assert!(!is_formula || field.parse::<f64>().is_ok(), "{what}: {field:?}");
        }
    }
}

fn assert_lines_are_of_benchfmt(what: &str, text: &str) {
    for line in text.lines() {
        assert!(BEGINNINGS.iter().any(|begin| line.starts_with(begin)), "{what}: {line:?}");
        let words = line.split_whitespace().count();
        assert!(!line.starts_with("Unit ") || words == 3, "{what}: {line:?}");
        assert!(!line.starts_with("Benchmark") || words == 4, "{what}: {line:?}");
    }
}

/// A PNG holds no words: names stand in its pixels alone.
fn assert_picture_has_no_words(what: &str, png: &[u8]) {
    let mut rest = &png[8..];
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let kind = &behind[..4];
        assert!(!WORDS.contains(&kind), "{what}: {}", String::from_utf8_lossy(kind));
        // Its kind, what is in it, and its check sum.
        rest = &behind[4 + u32::from_be_bytes(*length) as usize + 4..];
    }
}

/// The parts of an office program's file are well-formed, hold no formula in a cell and lead
/// nowhere.
fn assert_parts_are_data(what: &str, bytes: Vec<u8>) {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let name = format!("{what}: {}", file.name());
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        if name.ends_with(".png") {
            assert_picture_has_no_words(&name, &bytes);
        }
        if !name.ends_with(".xml") && !name.ends_with(".rels") {
            continue;
        }
        let text = String::from_utf8(bytes).unwrap();
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for node in document.descendants() {
            let tag = node.tag_name().name();
            assert!(tag != "f" || !name.contains("xl/worksheets/"), "{name}: a formula");
            assert!(!matches!(tag, "hyperlink" | "hlinkClick" | "img"), "{name}: {tag}");
            assert_ne!(node.attribute("TargetMode"), Some("External"), "{name}");
        }
    }
}

/// A figure holds texts: nothing that runs, fetches or leads elsewhere.
fn assert_figure_is_a_drawing(what: &str, svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{what}: {error}"));
    for node in document.descendants() {
        let tag = node.tag_name().name();
        let is_alive = matches!(tag, "script" | "img" | "image" | "a" | "foreignObject");
        assert!(!is_alive, "{what}: {tag}");
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on"), "{what}: {name}");
            assert!(name != "href" || value.starts_with('#'), "{what}: {value}");
        }
    }
}

/// What a format must not take for anything but text.
fn assert_is_text(renderer: &dyn Renderer, what: &str, bytes: Vec<u8>) {
    if !renderer.is_text() {
        return assert_parts_are_data(what, bytes);
    }
    let text = String::from_utf8(bytes).unwrap();
    match renderer.describe().id {
        "markdown" | "pull-request" => assert_markdown_has_no_markup_of_theirs(what, &text),
        "csv" => assert_nothing_is_calculated(what, &text),
        "benchfmt" => assert_lines_are_of_benchfmt(what, &text),
        "json" => drop(serde_json::from_str::<serde_json::Value>(&text).unwrap()),
        // What is printed to PDF, too.
        "html" => assert_no_element_is_theirs(what, &text),
        "terminal" | "mail" => assert_no_line_is_forged(what, &text),
        // A format without a rule here. Of its own syntax the tests in its file tell.
        _ => {
            assert_no_line_is_forged(what, &text);
            assert_no_element_is_theirs(what, &text);
        }
    }
}

/// One of each origin, and what has failures, ladders and grids.
fn campaigns() -> impl Iterator<Item = (&'static str, Campaign)> {
    let others = [("mixed", mixed()), ("multicore", multicore()), ("grid", grid())];
    stored::of_each_origin().into_iter().chain(others)
}

#[test]
fn nothing_in_the_files_of_a_campaign_is_markup_of_what_shows_its_report() {
    let mut drawn = BTreeSet::new();
    for (origin, campaign) in campaigns() {
        let report = view(&made_hostile(campaign, &MARKUP).inputs());
        // So wide that nothing is folded: a line that begins elsewhere was begun by a campaign's text.
        let wide = Page { is_verbose: true, has_plots: true, ..page(5_000) };
        for renderer in RENDERERS {
            let id = renderer.describe().id;
            // One deck takes as long as all other formats.
            if id == "pptx" && origin != "measured" {
                continue;
            }
            let mut bytes = Vec::new();
            // A format may refuse a campaign.
            if renderer.render(&report, &wide, &mut bytes).is_ok() {
                assert_is_text(*renderer, &format!("{origin} as {id}"), bytes);
                drawn.insert(id);
            }
        }
        let mut bytes = Vec::new();
        compare(&report, &report).draw(&wide, &mut bytes).unwrap();
        assert_no_line_is_forged("compared", &String::from_utf8(bytes).unwrap());
    }
    for renderer in RENDERERS {
        let id = renderer.describe().id;
        assert!(drawn.contains(id) || !HAS_PAGE, "{id} was drawn of no hostile campaign");
    }
}

#[test]
fn of_colours_a_terminal_gets_our_own_alone() {
    let renderer = RENDERERS.iter().find(|renderer| renderer.describe().id == "terminal").unwrap();
    let coloured = Page { is_colour: true, is_verbose: true, has_plots: true, ..page(100) };
    for (origin, campaign) in campaigns() {
        let report = view(&made_hostile(campaign, &MARKUP).inputs());
        let mut bytes = Vec::new();
        renderer.render(&report, &coloured, &mut bytes).unwrap();
        compare(&report, &report).draw(&coloured, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("\u{1b}["), "{origin}: it has no colours");
        for foreign in ["\u{1b}]", "\u{1b}[7;35m", "\u{7}", "\u{202e}"] {
            assert!(!text.contains(foreign), "{origin}: {foreign:?}");
        }
    }
}

#[test]
fn figures_and_pictures_hold_names_as_letters_alone() {
    if !has_page() {
        return;
    }
    let campaign = made_hostile(stored::measured(), &MARKUP);
    let figures = Figures::of(&page_json(&view(&campaign.inputs())).unwrap()).unwrap();
    let pictures = Pictures::new(Vec::new()).unwrap();
    for (place, figure) in figures.described().iter().enumerate() {
        let svg = figures.svg(place, Theme::Light, 700).unwrap();
        assert_figure_is_a_drawing(&figure.id, &svg);
        // All are encoded alike.
        if place == 0 {
            assert_picture_has_no_words(&figure.id, &pictures.png(&svg, 1.0).unwrap().png);
        }
    }
}

/// Somebody copies these commands into a shell.
#[test]
fn no_word_of_a_plan_is_a_command_of_its_own_in_what_reproduces_it() {
    for mut campaign in [stored::in_rows(), stored::simulated()] {
        if let Some(imported) = &mut campaign.plan.imported {
            imported.format = "csv; rm -rf x".to_owned();
        }
        campaign.plan.venue = "$(rm -rf x)".to_owned();
        let commands = view(&campaign.inputs()).reproduce.join("\n");
        let is_import = campaign.plan.imported.is_some();
        let expected = if is_import { "'csv; rm -rf x'" } else { "--venue '$(rm -rf x)'" };
        assert!(commands.contains(expected), "{commands}");
    }
}
