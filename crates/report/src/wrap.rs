//! Text in lines of limited width.

use crate::growing_width::GrowingWidth;
use unicode_width::UnicodeWidthStr;

/// Lines of at most `room` columns; a word that is longer is cut. A number stays
/// beside its percent sign.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    // A blank joins nothing, so that the columns of a line are the sum of those of its words.
    let (mut line, mut columns) = (String::new(), 0);
    let glued = text.replace(" %", "\u{a0}%");
    for word in glued.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
        for piece in pieces(word, room) {
            let width = piece.width();
            if !line.is_empty() && columns + 1 + width > room {
                lines.push(std::mem::take(&mut line));
            }
            if line.is_empty() {
                columns = width;
            } else {
                line.push(' ');
                columns += 1 + width;
            }
            line.push_str(&piece);
        }
    }
    lines.push(line);
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// A word in pieces that fit; nearly always itself.
pub(crate) fn pieces(word: &str, room: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let (mut last, mut columns) = (String::new(), GrowingWidth::default());
    for letter in word.chars() {
        if columns.push(letter) > room && !last.is_empty() {
            pieces.push(std::mem::take(&mut last));
            columns = GrowingWidth::default();
            columns.push(letter);
        }
        last.push(letter);
    }
    pieces.push(last);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_where_they_do_not_fit_and_joined_where_they_do() {
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(wrapped("one two  three\tfour 5 %", 8), ["one two", "three", "four 5 %"]);
        assert_eq!(wrapped("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(pieces("서버서", 4), ["서버", "서"]);
        assert_eq!(pieces("서버", 1), ["서", "버"]);
        assert_eq!(pieces("e\u{301}e\u{301}", 1), ["e\u{301}", "e\u{301}"]);
    }
}
