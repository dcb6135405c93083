//! How much room text takes. Nobody lays it out before somebody opens the deck, so it is
//! estimated, rather too large than too small.

/// Points in an inch, and English metric units in a point (ECMA-376 part 1, 20.1.10.16).
pub(super) const POINT: u64 = 12_700;

/// Width of a letter in ems: Arial's are 0.5 on average, those of what stands in for it are wider.
const LETTER: f64 = 0.56;
/// Height of a line in ems.
const LEADING: f64 = 1.25;

/// Lines that a text of this size takes within a width.
pub(super) fn lines(text: &str, points: u32, width: u64) -> usize {
    let room = width as f64 / (LETTER * f64::from(points) * POINT as f64);
    text.lines().map(|line| wrapped(line, room.max(1.0) as usize)).sum::<usize>().max(1)
}

/// Lines of one paragraph that breaks between words, and within those that are too long.
fn wrapped(text: &str, letters: usize) -> usize {
    let (mut count, mut used) = (1, 0);
    for word in text.split_whitespace() {
        let mut length = places(word);
        if used > 0 && used + 1 + length > letters {
            count += 1;
            used = 0;
        }
        while length > letters {
            count += 1;
            length -= letters;
        }
        used += length + usize::from(used > 0);
    }
    count
}

/// Places that a text takes on one line.
pub(super) fn places(text: &str) -> usize {
    text.chars().map(wide).sum()
}

/// Letters of Chinese, Japanese and Korean take two places.
fn wide(letter: char) -> usize {
    unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0).max(1)
}

/// Height of so many lines.
pub(super) fn height(lines: usize, points: u32) -> u64 {
    (lines as f64 * LEADING * f64::from(points) * POINT as f64) as u64
}

/// As many whole words as fit, and a sign where some do not.
pub(super) fn shortened(text: &str, room: usize) -> String {
    if places(text) <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |letter: &char| {
        used += wide(*letter);
        used <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    let end = kept.rfind(' ').filter(|end| *end * 2 > kept.len()).unwrap_or(kept.len());
    format!("{}…", kept[..end].trim_end_matches([',', ';', ':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_and_wide_letters_take_their_room() {
        assert_eq!(wrapped("", 10), 1);
        assert_eq!(wrapped("one two three", 7), 2);
        assert_eq!(wrapped(&"x".repeat(25), 10), 3);
        assert_eq!(wrapped("서버서버서버", 6), 2);
    }

    #[test]
    fn a_text_is_cut_between_words_and_says_so() {
        assert_eq!(shortened("short", 10), "short");
        assert_eq!(shortened("better in 3 of 9 cells, worse", 24), "better in 3 of 9…");
        assert_eq!(shortened(&"x".repeat(50), 10).chars().count(), 10);
        assert_eq!(shortened("스케줄러가 다릅니다", 12), "스케줄러가…");
    }
}
