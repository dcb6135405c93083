//! What a terminal would obey, made visible instead, and lines that never run over.

use crate::render::Page;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text in which nothing moves the cursor, changes a colour or turns the order of letters
/// round (Unicode TR9): each such character becomes a sign of one column.
pub(super) fn inert(text: &str) -> String {
    text.chars().map(|letter| if is_obeyed(letter) { '\u{fffd}' } else { letter }).collect()
}

fn is_obeyed(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' |
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || letter.is_control()
}

/// What was drawn, in the letters and the width of the page.
pub(super) fn finished(drawn: &[u8], page: &Page) -> String {
    let mut text = String::from_utf8_lossy(drawn).into_owned();
    if !page.is_unicode {
        // Only our own signs: what the user wrote stays as it was written.
        text = text.replace('×', "x").replace('÷', "/").replace('\u{fffd}', "?");
    }
    folded(&text, page.width)
}

/// The text with every line that is wider than `width` broken there, as a terminal would, but
/// between characters that belong together. Colours take no room.
fn folded(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.lines() {
        fold(line, width.max(2), &mut folded);
        folded.push('\n');
    }
    folded
}

fn fold(line: &str, width: usize, folded: &mut String) {
    let mut shown = String::new();
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        if letter == '\u{1b}' {
            folded.push(letter);
            for letter in rest.by_ref() {
                folded.push(letter);
                if letter == 'm' {
                    break;
                }
            }
            continue;
        }
        shown.push(letter);
        // A sequence may be wider than its characters, so all of the line is measured; what is
        // put on the next line begins there anew.
        if shown.width() > width {
            folded.push('\n');
            shown.clear();
            if letter.width().unwrap_or(0) == 0 {
                continue;
            }
            shown.push(letter);
        }
        folded.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        let hostile = "a\u{1b}[2Jb\u{7}c\u{9b}d\u{202e}e\r\n한\u{301}";
        let text = inert(hostile);
        assert_eq!(text, "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}\u{fffd}한\u{301}");
    }

    #[test]
    fn a_line_is_broken_at_the_width_and_colours_take_no_room() {
        assert_eq!(folded("abcdef\ngh\n", 4), "abcd\nef\ngh\n");
        assert_eq!(folded("\u{1b}[1mabcd\u{1b}[0m\n", 4), "\u{1b}[1mabcd\u{1b}[0m\n");
        assert_eq!(folded("한한한\n", 5), "한한\n한\n");
    }
}
