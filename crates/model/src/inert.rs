//! Text that came from somebody else, made inert: nothing in it moves a cursor, changes a colour,
//! turns the order of letters round or hides.

use std::borrow::Cow;
use std::fmt::Write;

/// A line for a person is not longer than this many characters; the rest is told by its number.
pub const LONGEST_LINE: usize = 4_096;
/// Nor is a text of a report or a line of a log longer than this many characters. It is more than a
/// paragraph that names a thousand subjects or a log's line of QEMU's arguments has.
pub const LONGEST_TEXT: usize = 65_536;

/// Whether a terminal, browser or office program obeys this character instead of showing it, or
/// shows nothing in its place: the controls C0, DEL and C1 (Unicode `Cc`), ends of lines and
/// paragraphs, what sets the direction of text (Unicode UAX 9), marks of annotations, and whatever
/// has `Default_Ignorable_Code_Point` (Unicode UAX 44, DerivedCoreProperties.txt 16.0): signs
/// without width, fillers, tags, and code points that are kept free for such signs. Noncharacters
/// (Unicode 16.0, 23.7) are no text at all: with U+FFFE or U+FFFF in it a document of XML is none
/// (XML 1.0, 2.2).
///
/// Two sorts of these stay, because common text needs them: the joiners U+200C and U+200D, which
/// choose the form of letters (Persian, Indic scripts) and join emoji, and the variation selectors
/// U+FE00 to U+FE0F, of which U+FE0F makes a sign an emoji. They turn no text round, and move and
/// colour nothing; two names that differ in them alone look the same. The selectors of Mongolian
/// (U+180B to U+180F) and of ideographs (U+E0100 to U+E01EF) do not stay: the letter before them
/// is shown without them, and hundreds of signs that nobody sees can hide a text.
#[must_use]
pub fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || is_noncharacter(letter)
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The last two code points of each plane, and 32 in the first.
fn is_noncharacter(letter: char) -> bool {
    u32::from(letter) & 0xfffe == 0xfffe || matches!(letter, '\u{fdd0}'..='\u{fdef}')
}

/// One line without such characters: each becomes a sign of one column, ends of lines too.
#[must_use]
pub fn inert(text: &str) -> Cow<'_, str> {
    replaced(text, is_obeyed)
}

/// The same, and no longer than [`bounded_text`].
#[must_use]
pub fn inert_text(text: &str) -> Cow<'_, str> {
    match bounded_text(text) {
        Cow::Borrowed(text) => inert(text),
        Cow::Owned(text) => Cow::Owned(inert(&text).into_owned()),
    }
}

/// A text of which what is longer than [`LONGEST_TEXT`] is told by its number, in letters that every
/// locale has.
#[must_use]
pub fn bounded_text(text: &str) -> Cow<'_, str> {
    bounded_to(text, LONGEST_TEXT)
}

/// The same of what is longer than so many characters.
#[must_use]
pub fn bounded_to(text: &str, most: usize) -> Cow<'_, str> {
    match shortened(text, most) {
        Some((begin, more)) => Cow::Owned(format!("{begin}.. ({more} more characters)")),
        None => Cow::Borrowed(text),
    }
}

/// So many characters of a text that has more, and how many are left.
fn shortened(text: &str, most: usize) -> Option<(&str, usize)> {
    // As many bytes as it may have characters: nothing to count.
    if text.len() <= most {
        return None;
    }
    let (at, _) = text.char_indices().nth(most)?;
    Some((&text[..at], text[at..].chars().count()))
}

/// A text of others with the ends of its lines written out (`\n`), for a text of ours that quotes it:
/// what stands behind an end of a line would pass for a line of ours. Other characters that are
/// obeyed stay until the text leaves for a terminal.
#[must_use]
pub fn on_one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}

/// Lines without such characters: each becomes a sign of one column, ends of lines stay.
#[must_use]
pub fn inert_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| letter != '\n' && is_obeyed(letter))
}

fn replaced(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let sign = char::REPLACEMENT_CHARACTER;
    Cow::Owned(text.chars().map(|letter| if is_replaced(letter) { sign } else { letter }).collect())
}

/// Lines with such characters written out as JSON does it (`\u202e`), so that a JSON document
/// stays one with the same data. Ends of lines and tabs stay.
#[must_use]
pub fn written_out(text: &str) -> Cow<'_, str> {
    let is_written_out = |letter: char| !matches!(letter, '\n' | '\t') && is_obeyed(letter);
    if !text.contains(is_written_out) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_written_out(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing into a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Lines for a person: such characters are written out, and of a line that is longer than
/// [`LONGEST_LINE`] the rest is told by its number.
#[must_use]
pub fn legible_lines(text: &str) -> Cow<'_, str> {
    lines_within(text, LONGEST_LINE)
}

/// The same of data that a person looks at: a value, which is one line, may have [`LONGEST_TEXT`].
#[must_use]
pub fn legible_data(text: &str) -> Cow<'_, str> {
    lines_within(text, LONGEST_TEXT)
}

fn lines_within(text: &str, most: usize) -> Cow<'_, str> {
    // As many bytes as one line may have characters: nothing to count.
    if text.len() <= most {
        return written_out(text);
    }
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        match shortened(line, most) {
            Some((begin, more)) => {
                shown.push_str(&written_out(begin));
                let _ = write!(shown, "… ({more} more characters)");
            }
            None => shown.push_str(&written_out(line)),
        }
        shown.push_str(end);
    }
    Cow::Owned(shown)
}

/// A JSON document whose strings are inert when they are read: such characters, raw or written
/// out as serde_json does it, become a sign of one column. Ends of lines and tabs stay.
#[must_use]
pub fn inert_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(|letter: char| letter == '\\' || is_obeyed(letter)) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken =
            if rest.starts_with('\\') { escape(rest, &mut shown) } else { raw(rest, &mut shown) };
        rest = &rest[taken..];
    }
    shown.push_str(rest);
    shown
}

/// Takes in one raw character, which would be obeyed; the result is its length in bytes. Outside
/// of strings ends of lines are blanks of the document.
fn raw(rest: &str, shown: &mut String) -> usize {
    let letter = rest.chars().next().unwrap_or_default();
    let stays = matches!(letter, '\n' | '\t');
    shown.push(if stays { letter } else { char::REPLACEMENT_CHARACTER });
    letter.len_utf8()
}

/// Takes in one escape (RFC 8259, 7), or the two of a surrogate pair; the result is the length in
/// bytes.
fn escape(rest: &str, shown: &mut String) -> usize {
    let sign = char::REPLACEMENT_CHARACTER;
    if let Some(first) = code_unit(rest) {
        let second = rest.get(6..).and_then(code_unit);
        let mut letters = char::decode_utf16([first].into_iter().chain(second));
        if let Some(Ok(letter)) = letters.next() {
            let length = 6 * letter.len_utf16();
            if is_obeyed(letter) {
                shown.push(sign);
            } else {
                shown.push_str(&rest[..length]);
            }
            return length;
        }
    }
    match rest[1..].chars().next() {
        Some('b' | 'f' | 'r') => {
            shown.push(sign);
            2
        }
        Some(kind @ ('\\' | '"')) => {
            shown.push('\\');
            shown.push(kind);
            2
        }
        // The next character is looked at by itself.
        _ => {
            shown.push('\\');
            1
        }
    }
}

/// The code unit of an escape with four digits, at the beginning of this text.
fn code_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2Jb\u{7}c\u{9b}d\u{202e}e\u{200b}f\u{7f}g\u{e0041}h";

    fn is_clean(text: &str) -> bool {
        !text.contains(|letter: char| letter != '\n' && is_obeyed(letter))
    }

    #[test]
    fn nothing_is_left_that_is_obeyed_and_the_rest_stays() {
        let sign = "\u{fffd}";
        let expected = format!("a{sign}[2Jb{sign}c{sign}d{sign}e{sign}f{sign}g{sign}h");
        assert_eq!(inert(HOSTILE), expected);
        assert_eq!(inert("a\nb"), format!("a{sign}b"));
        assert_eq!(inert_lines("a\nb\rc"), format!("a\nb{sign}c"));
        for harmless in ["한글 e\u{301} ❤\u{fe0f} 👩\u{200d}👧 1\u{a0}% – ×", ""] {
            assert!(matches!(inert(harmless), Cow::Borrowed(_)), "{harmless}");
            assert!(matches!(written_out(harmless), Cow::Borrowed(_)), "{harmless}");
            assert_eq!(inert_json(harmless), harmless);
        }
    }

    #[test]
    fn an_end_of_a_line_in_a_text_of_others_is_written_out() {
        assert_eq!(on_one_line("a\nput back b\n"), "a\\nput back b\\n");
        assert_eq!(on_one_line("a\u{1b}\tb"), "a\u{1b}\tb", "what is obeyed is not its matter");
    }

    /// `Default_Ignorable_Code_Point` as DerivedCoreProperties.txt of Unicode 16.0 lists it.
    const DEFAULT_IGNORABLE: [(u32, u32); 17] = [
        (0x00ad, 0x00ad),
        (0x034f, 0x034f),
        (0x061c, 0x061c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1_bca0, 0x1_bca3),
        (0x1_d173, 0x1_d17a),
        (0xe_0000, 0xe_0fff),
    ];
    /// What is obeyed and not ignorable: C0, DEL with C1, ends of lines and paragraphs, marks of
    /// annotations; and noncharacters of the first plane.
    const OTHERS: [(u32, u32); 6] = [
        (0x0000, 0x001f),
        (0x007f, 0x009f),
        (0x2028, 0x2029),
        (0xfff9, 0xfffb),
        (0xfdd0, 0xfdef),
        (0xfffe, 0xffff),
    ];
    /// Joiners and variation selectors of common text.
    const STAYING: [(u32, u32); 2] = [(0x200c, 0x200d), (0xfe00, 0xfe0f)];

    #[test]
    fn every_code_point_that_shows_nothing_or_is_obeyed_is_replaced_and_no_other() {
        let is_in = |ranges: &[(u32, u32)], point: u32| {
            ranges.iter().any(|(first, last)| (*first..=*last).contains(&point))
        };
        let mut replaced = 0;
        for (point, letter) in (0..=0x10_ffff).filter_map(|it| Some((it, char::from_u32(it)?))) {
            let is_hidden = is_in(&DEFAULT_IGNORABLE, point) && !is_in(&STAYING, point);
            // Each plane ends as the first one does.
            let is_end = point % 0x1_0000 >= 0xfffe;
            let expected = is_hidden || is_in(&OTHERS, point) || is_end;
            assert_eq!(is_obeyed(letter), expected, "U+{point:04X}");
            let shown = inert(letter.encode_utf8(&mut [0; 4])).into_owned();
            assert_eq!(shown == "\u{fffd}", expected || point == 0xfffd, "U+{point:04X}");
            replaced += u32::from(expected);
        }
        // As many as DerivedCoreProperties.txt totals, 4174, less 18 that stay, and 70 others; and
        // 66 noncharacters, of which there are never more.
        assert_eq!(replaced, 4174 - 18 + 70 + 66);
    }

    #[test]
    fn what_is_written_out_is_the_same_json() {
        let document = serde_json::to_string(&serde_json::json!({ HOSTILE: [HOSTILE] })).unwrap();
        let shown = written_out(&document);
        assert!(is_clean(&shown), "{shown:?}");
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read[HOSTILE][0], HOSTILE);
    }

    #[test]
    fn json_is_read_as_inert_strings_whichever_way_they_were_written() {
        let value = serde_json::json!({ "a": HOSTILE, "b": "c:\\u0041\\ \"q\"\n\t\r\u{8}\u{c}" });
        let plain = serde_json::to_string_pretty(&value).unwrap();
        let out = written_out(&plain).into_owned();
        for document in [plain, out] {
            let read: serde_json::Value = serde_json::from_str(&inert_json(&document)).unwrap();
            assert!(is_clean(read["a"].as_str().unwrap()), "{read}");
            assert_eq!(read["b"], "c:\\u0041\\ \"q\"\n\t\u{fffd}\u{fffd}\u{fffd}");
        }
        for broken in ["\\", "\"\\u12", "\\u00\u{e9}1", "\\\u{e9}"] {
            assert_eq!(inert_json(broken), broken, "is not taken for an escape");
        }
    }

    #[test]
    fn a_line_that_is_too_long_says_how_much_is_missing() {
        let long = format!("{}é\u{1b}\nshort\n", "x".repeat(LONGEST_LINE));
        let shown = legible_lines(&long);
        let expected = format!("{}… (2 more characters)\nshort\n", "x".repeat(LONGEST_LINE));
        assert_eq!(shown, expected);
        assert_eq!(legible_lines("\u{202e}\tx\n"), "\\u202e\tx\n");
        assert_eq!(legible_data(&long), written_out(&long), "of data more is shown");
        let value = "x".repeat(LONGEST_TEXT);
        let expected = format!("{value}… (1 more characters)\nshort\n");
        assert_eq!(legible_data(&format!("{value}x\nshort\n")), expected);
    }

    #[test]
    fn a_text_of_a_report_that_is_too_long_says_how_much_is_missing() {
        let whole = "é".repeat(LONGEST_TEXT);
        assert!(matches!(inert_text(&whole), Cow::Borrowed(_)), "no longer than it may be");
        let shown = inert_text(&format!("\u{1b}{whole}\n")).into_owned();
        let kept = &whole[..whole.len() - "é".len()];
        assert_eq!(shown, format!("\u{fffd}{kept}.. (2 more characters)"));
    }
}
