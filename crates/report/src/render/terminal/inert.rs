//! What a terminal would obey, made visible instead, and lines that never run over.

use crate::growing_width::GrowingWidth;
use crate::render::Page;
use unicode_width::UnicodeWidthChar;

/// Text in which nothing moves the cursor, changes a colour or turns the order of letters
/// round (Unicode TR9): each such character becomes a sign of one column. A campaign of somebody
/// else's may quote megabytes, of which no more is drawn than a reader could go through.
pub(super) fn inert(text: &str) -> String {
    model::inert_text(text).into_owned()
}

/// What was drawn, in the letters and the width of the page. Of what a terminal obeys only ends
/// of lines are left, and colours where the page has any.
pub(super) fn finished(drawn: &[u8], page: &Page) -> String {
    let text = String::from_utf8_lossy(drawn);
    let mut text =
        if page.is_colour { only_colours(&text) } else { model::inert_lines(&text).into_owned() };
    if !page.is_unicode {
        // Only our own signs: what the user wrote stays as it was written.
        text = text.replace('×', "x").replace('÷', "/").replace('\u{fffd}', "?");
    }
    folded(&text, page.width)
}

/// The text without what a terminal obeys, but with ends of lines and colours (ECMA-48, SGR).
fn only_colours(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut shown = model::inert_lines(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let numbers = piece.strip_prefix('[').map(|rest| {
            1 + rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count()
        });
        match numbers.filter(|end| piece[*end..].starts_with('m')) {
            Some(end) => {
                shown.push('\u{1b}');
                shown.push_str(&piece[..=end]);
                shown.push_str(&model::inert_lines(&piece[end + 1..]));
            }
            None => {
                shown.push('\u{fffd}');
                shown.push_str(&model::inert_lines(piece));
            }
        }
    }
    shown
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
    let mut shown = GrowingWidth::default();
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
        // What is put on the next line begins there anew.
        if shown.push(letter) > width {
            folded.push('\n');
            shown = GrowingWidth::default();
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
    fn a_text_that_is_too_long_says_how_much_is_missing_in_letters_of_every_locale() {
        let text = inert(&"x\u{7}".repeat(model::LONGEST_TEXT));
        let missing = format!(".. ({} more characters)", model::LONGEST_TEXT);
        assert!(text.ends_with(&format!("x\u{fffd}{missing}")), "{} bytes", text.len());
        assert_eq!(text.chars().count(), model::LONGEST_TEXT + missing.len());
    }

    #[test]
    fn of_what_was_drawn_only_colours_are_left() {
        let drawn = "\u{1b}[1;32mgreen\u{1b}[0m\n\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}x\u{1b}";
        let expected =
            "\u{1b}[1;32mgreen\u{1b}[0m\n\u{fffd}[2J\u{fffd}]0;title\u{fffd}\u{fffd}x\u{fffd}";
        assert_eq!(only_colours(drawn), expected);
    }

    #[test]
    fn a_line_is_broken_at_the_width_and_colours_take_no_room() {
        assert_eq!(folded("abcdef\ngh\n", 4), "abcd\nef\ngh\n");
        assert_eq!(folded("\u{1b}[1mabcd\u{1b}[0m\n", 4), "\u{1b}[1mabcd\u{1b}[0m\n");
        assert_eq!(folded("한한한\n", 5), "한한\n한\n");
    }
}
