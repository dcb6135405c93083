//! Text in lines of limited width.

use unicode_width::UnicodeWidthStr;

/// Lines of at most `room` columns; a word that is longer is cut. A number stays
/// beside its percent sign.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let glued = text.replace(" %", "\u{a0}%");
    for word in glued.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
        for piece in pieces(word, room) {
            if !line.is_empty() && line.width() + 1 + piece.width() > room {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&piece);
        }
    }
    lines.push(line);
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// A word in pieces that fit; nearly always itself.
pub(crate) fn pieces(word: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for letter in word.chars() {
        if let Some(last) = pieces.last_mut() {
            // A sequence may be wider than its characters, so the whole is measured.
            last.push(letter);
            if last.width() <= room || last.chars().count() == 1 {
                continue;
            }
            last.pop();
        }
        pieces.push(letter.to_string());
    }
    pieces
}
