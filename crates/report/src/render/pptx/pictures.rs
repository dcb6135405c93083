//! A slide for each figure: what was found as its title, how to read it below.

use super::fit::{places, shortened};
use super::shapes::is_caption;
use super::slide::{Body, PictureBody, Slide};
use crate::page::page_json;
use crate::view::Report;
use figures::{Figure, Figures, Pictures, Theme};
use model::Role;
use phrases::say;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

/// Pixels across: letters of 12 pixels are then 10 points and more on a slide.
const WIDTH: u32 = 1060;
/// Of these, what is not as high is drawn less wide, and so larger: the least they are legible at.
const NARROWEST: [(&str, u32); 3] = [("pairs", 640), ("lines", 820), ("percentiles", 880)];
/// Width of the room for a picture over its height.
const ASPECT: f32 = 2.6;
/// Pixels of the picture for each of them.
const SCALE: f32 = 2.0;
/// Rows of the effects that can be read from the back of a room.
const ROWS: usize = 12;
/// Panels of a ladder that fit above each other.
const PANELS: usize = 2;
/// More of a kind than these nobody sits through; `schedlab figures` writes all.
const MOST: [(&str, usize); 6] =
    [("forest", 1), ("ladder", 12), ("heat", 8), ("lines", 8), ("pareto", 4), ("percentiles", 8)];
/// Pairs of blocks are shown of the strongest findings.
const MOST_PAIRS: usize = 4;

/// A figure that was drawn.
pub(super) struct Drawn {
    figure: Figure,
    png: Vec<u8>,
    pixels: (u32, u32),
    undrawn: BTreeSet<char>,
}

/// The figures of the deck.
pub(super) fn drawn(report: &Report, fonts: &[&str]) -> io::Result<Vec<Drawn>> {
    let page = page_json(report)?;
    let whole = Figures::of(&page).map_err(io::Error::other)?;
    let small = Figures::of(&smaller(&page)?).map_err(io::Error::other)?;
    let pictures =
        Pictures::new(fonts.iter().map(PathBuf::from).collect()).map_err(io::Error::other)?;
    let mut drawn = Vec::new();
    for (place, figure) in small.described().iter().enumerate().filter(|(_, one)| is_shown(one)) {
        let draw = |width: u32| {
            let svg = small.svg(place, Theme::Light, width).map_err(io::Error::other)?;
            pictures.png(&svg, SCALE).map_err(io::Error::other)
        };
        let wide = draw(WIDTH)?;
        let least = NARROWEST.iter().find(|(kind, _)| figure.id.starts_with(kind));
        let least = least.map_or(WIDTH, |(_, least)| *least);
        let width = ((wide.height as f32 / SCALE * ASPECT) as u32).clamp(least, WIDTH);
        let picture = if width < WIDTH { draw(width)? } else { wide };
        // What was found is that of all rows, whichever are drawn.
        let said = whole.described().iter().find(|one| one.id == figure.id && one.id == "forest");
        let finding = said.unwrap_or(figure).finding.clone();
        drawn.push(Drawn {
            figure: Figure { finding, ..figure.clone() },
            png: picture.png,
            pixels: (picture.width, picture.height),
            undrawn: picture.undrawn,
        });
    }
    Ok(drawn)
}

/// Whether a figure is one of those that a deck has room for.
fn is_shown(figure: &Figure) -> bool {
    let (kind, rest) = figure.id.split_once('-').unwrap_or((figure.id.as_str(), "0"));
    let number = |text: &str| text.parse::<usize>().unwrap_or(usize::MAX);
    let place = rest.split('-').next_back().map_or(usize::MAX, number);
    match kind {
        "pairs" => place < MOST_PAIRS,
        kind => MOST.iter().any(|(known, most)| *known == kind && place < *most),
    }
}

/// The same data, in figures that a slide has room for: the strongest findings first, and of a
/// ladder a few workloads each.
fn smaller(page: &str) -> io::Result<String> {
    let mut page: Value = serde_json::from_slice(page.as_bytes())?;
    if let Some(findings) = page["findings"].as_array_mut() {
        findings.sort_by(|one, other| strength(one).total_cmp(&strength(other)));
        findings.truncate(ROWS);
    }
    if let Some(ladders) = page["ladders"].as_array_mut() {
        *ladders = ladders.iter().flat_map(split).collect();
    }
    Ok(page.to_string())
}

/// The place of a finding in a figure: decided ones first, then by how far they lie from none.
fn strength(finding: &Value) -> f64 {
    // A twin of the reference is there to be alike.
    let twin = if finding["role"] == "control" { 4e3 } else { 0.0 };
    let decided = twin
        + match finding["verdict"].as_str() {
            Some("better" | "worse") => 0.0,
            Some("equivalent") => 1e3,
            _ => 2e3,
        };
    let ratio = finding["effect"]["ratio"].as_f64().unwrap_or(1.0);
    decided - ratio.ln().abs().min(999.0)
}

fn split(ladder: &Value) -> Vec<Value> {
    let count = ladder["workloads"].as_array().map_or(0, Vec::len);
    let part = |start: usize| {
        let end = (start + PANELS).min(count);
        let cut = |value: &mut Value| {
            if let Some(all) = value.as_array_mut() {
                *all = all.drain(start.min(all.len())..end.min(all.len())).collect();
            }
        };
        let mut part = ladder.clone();
        cut(&mut part["workloads"]);
        for rung in part["rungs"].as_array_mut().into_iter().flatten() {
            cut(&mut rung["cells"]);
        }
        part
    };
    (0..count).step_by(PANELS).map(part).collect()
}

/// A slide for each.
pub(super) fn slides(report: &Report, all: Vec<Drawn>) -> Vec<Slide> {
    all.into_iter().map(|one| slide(report, one)).collect()
}

fn slide(report: &Report, one: Drawn) -> Slide {
    let language = report.language;
    let Drawn { figure, png, pixels, undrawn } = one;
    let title = if figure.finding.is_empty() { &figure.title } else { &figure.finding };
    let all = report.findings.findings.iter();
    let asked = all.filter(|one| one.question.role != Role::Screen).count();
    let mut caption = if figure.id == "forest" && asked > ROWS {
        let part = say!(
            language,
            "The {count} strongest comparisons; the appendix has all.",
            count = ROWS
        );
        format!("{part} {}", figure.reading)
    } else {
        figure.reading.clone()
    };
    if !undrawn.is_empty() {
        let (letters, package) = figures::lacking(&undrawn);
        let lacking = say!(
            language,
            "No font here has the letters {letters}: boxes stand in their place. The package \
             {package} has a font with them.",
            letters,
            package
        );
        caption = format!("{lacking} {caption}");
    }
    let reading = say!(language, "How to read it: {reading}", reading = caption);
    let notes = format!("{}.\n{title}.\n{reading}", figure.title);
    while !is_caption(&caption) {
        caption = shortened(&caption, places(&caption) * 9 / 10);
    }
    Slide {
        title: title.to_owned(),
        body: Body::Picture(Box::new(PictureBody {
            png,
            pixels,
            description: format!("{}. {title}", figure.title),
            caption,
        })),
        notes,
    }
}
