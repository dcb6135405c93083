//! What is said of figures and pictures, whether this binary can draw them or not.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Letters that a warning names.
const MOST_NAMED: usize = 12;

/// The colours of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// On white, for paper and slides.
    #[default]
    Light,
    /// On black.
    Dark,
}

impl Theme {
    /// Its name.
    pub fn id(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }
}

/// What is known of a figure before it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// Its id within the page: `forest`, `heat-0-1`.
    pub id: String,
    /// Where in a report it stands: `effects`, `values`, `distributions`, `runs`.
    pub section: String,
    /// What it shows.
    pub title: String,
    /// What was found, one sentence; empty where it answers no question.
    pub finding: String,
    /// How to read it.
    pub reading: String,
}

/// A picture.
pub struct Picture {
    /// PNG.
    pub png: Vec<u8>,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Letters that no font has: an empty box stands in their place.
    pub undrawn: BTreeSet<char>,
}

/// The letters that no font has, as far as a reader wants them, and the package of Debian with a
/// font that has them.
#[must_use]
pub fn lacking(undrawn: &BTreeSet<char>) -> (String, &'static str) {
    let shown = undrawn.iter().filter(|letter| !letter.is_control());
    let mut letters: String = shown.clone().take(MOST_NAMED).collect();
    if shown.count() > MOST_NAMED {
        letters.push('…');
    }
    // Hangul Jamo, Compatibility Jamo and Syllables (Unicode, "Blocks.txt"): much
    // smaller than the other.
    let is_hangul = |letter: &char| matches!(letter, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '가'..='힣');
    let package = if undrawn.iter().any(is_hangul) { "fonts-nanum" } else { "fonts-noto-cjk" };
    (letters, package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_told_which_package_has_the_letters() {
        let of = |text: &str| lacking(&text.chars().collect());
        assert_eq!(of("서버\u{7}"), ("버서".to_owned(), "fonts-nanum"));
        assert_eq!(of("漢"), ("漢".to_owned(), "fonts-noto-cjk"));
        assert_eq!(of("가나다라마바사아자차카타파하").0, "가나다라마바사아자차카타…");
    }
}
