//! Long texts of files, cut so that what tells them apart is still there.

/// What stands for what was cut out.
const CUT: &str = "…";

/// A text of so many characters at most, or both of its ends.
pub(crate) fn both_ends(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let behind = kept / 2;
    let begin: String = text.chars().take(kept - behind).collect();
    let end: String = text.chars().skip(count - behind).collect();
    format!("{begin}{CUT}{end}")
}

/// Two texts of about so many characters at most: of a longer one the part that holds the first
/// difference.
pub(crate) fn contrasted(one: &str, other: &str, most: usize) -> [String; 2] {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let before = same.saturating_sub(most / 2);
    [one, other].map(|text| {
        let count = text.chars().count();
        if count <= most {
            return text.to_owned();
        }
        // As much of what is before it as leaves no room behind it.
        let first = before.min(count - most);
        let kept: String = text.chars().skip(first).take(most).collect();
        let begin = if first > 0 { CUT } else { "" };
        let end = if first + most < count { CUT } else { "" };
        format!("{begin}{kept}{end}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_of_its_ends() {
        assert_eq!(both_ends("short", 5), "short");
        assert_eq!(both_ends("abcdefghij", 5), "ab…ij");
        assert_eq!(both_ends("µµµµµµµµµµ", 4), "µµ…µ");
    }

    #[test]
    fn two_long_texts_show_where_they_differ() {
        assert_eq!(contrasted("abc", "abd", 3), ["abc", "abd"]);
        let disk = "/dev/disk/by-id/nvme-".to_owned() + &"0".repeat(200);
        let (one, other) = (format!("{disk}-part1"), format!("{disk}-part2"));
        let [first, second] = contrasted(&one, &other, 20);
        let expected = ["…00000000000000-part1", "…00000000000000-part2"];
        assert_eq!([first.as_str(), second.as_str()], expected);
        let rest = "x".repeat(100);
        let [first, second] = contrasted(&format!("a{rest}"), &format!("b{rest}"), 4);
        assert_eq!([first.as_str(), second.as_str()], ["axxx…", "bxxx…"]);
        // One that is the beginning of the other.
        let [first, second] = contrasted(&rest, &format!("{rest}y"), 4);
        assert_eq!([first.as_str(), second.as_str()], ["…xxxx", "…xxxy"]);
    }
}
