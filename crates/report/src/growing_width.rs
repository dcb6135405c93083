//! How many columns a text has that grows letter by letter. What stands before its last letters is
//! measured once: to measure the whole for each letter takes the square of its length.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Letters that are measured together. The longest sequence that is one sign, an emoji of a family,
/// has ten (Unicode emoji-zwj-sequences.txt 16.0).
const LONGEST_SEQUENCE: usize = 16;
/// Marks without a width stay with their letter up to this many letters.
const MOST_MEASURED: usize = 2 * LONGEST_SEQUENCE;
/// Joins what stands on both sides of it (ZERO WIDTH JOINER).
const JOINER: char = '\u{200d}';

/// The columns of a text.
#[derive(Debug, Default)]
pub(crate) struct GrowingWidth {
    /// Columns of what stands before `tail`.
    before: usize,
    /// The last letters: of a sequence the whole is measured, which may be wider or narrower than its
    /// letters.
    tail: String,
    /// Letters of `tail`.
    letters: usize,
}

impl GrowingWidth {
    /// Takes in a letter; how many columns the text has with it.
    pub(crate) fn push(&mut self, letter: char) -> usize {
        let is_long = self.letters >= LONGEST_SEQUENCE && letter.width() != Some(0);
        if is_long || self.letters >= MOST_MEASURED || self.is_apart(letter) {
            self.before += self.tail.width();
            self.tail.clear();
            self.letters = 0;
        }
        self.tail.push(letter);
        self.letters += 1;
        self.before + self.tail.width()
    }

    /// Whether a letter has its own columns whatever stands before it: letters of most texts do, but not
    /// behind a joiner.
    fn is_apart(&self, letter: char) -> bool {
        let is_plain = matches!(
            letter,
            ' '..='~' | '\u{c0}'..='\u{24f}' | '\u{400}'..='\u{481}' | '\u{4e00}'..='\u{9fff}'
                | '\u{ac00}'..='\u{d7a3}'
        );
        is_plain && !self.tail.ends_with(JOINER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_grows_has_the_columns_of_the_whole() {
        for text in [
            "",
            "a plain text, with signs: 12 %",
            "Ünlü жук 서버 漢字",
            "e\u{301}\u{302}x",
            "1\u{fe0f}\u{20e3}2",
            "\u{2764}\u{fe0f}x\u{2764}\u{fe0f}",
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466} and \u{1f44d}\u{1f3fd}",
            "\u{1f1f0}\u{1f1f7}",
        ] {
            let (mut width, mut grown) = (GrowingWidth::default(), String::new());
            for letter in text.chars() {
                grown.push(letter);
                assert_eq!(width.push(letter), grown.width(), "{grown:?}");
            }
        }
    }

    #[test]
    fn few_letters_are_measured_at_once_however_long_a_text_is() {
        for letter in ['x', '漢', 'ل', '\u{301}', '\u{fe0f}', JOINER, '\u{1f468}'] {
            let mut width = GrowingWidth::default();
            for _ in 0..60_000 {
                width.push(letter);
                assert!(width.letters <= MOST_MEASURED, "{letter:?}");
                assert_eq!(width.tail.chars().count(), width.letters);
            }
        }
    }
}
