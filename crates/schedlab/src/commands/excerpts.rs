//! What is told of two long values, of which it is said that they differ.

/// Longest value that is told whole.
const LONGEST: usize = 60;
/// Letters that are told before the first one that differs.
const TOLD_BEFORE: usize = 20;

/// Two texts, of a long one the part in which they first differ, and whether it is a part.
pub(super) fn excerpts(texts: [String; 2]) -> [(String, bool); 2] {
    let [one, other] = &texts;
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    // What differs among the first letters is seen among them.
    let from = if same < LONGEST { 0 } else { same - TOLD_BEFORE };
    texts.map(|text| {
        let count = text.chars().count();
        if count <= LONGEST {
            return (text, false);
        }
        let part: String = text.chars().skip(from).take(LONGEST).collect();
        let before = if from > 0 { "..." } else { "" };
        let behind = if from + LONGEST < count { "..." } else { "" };
        (format!("{before}{part}{behind}"), true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(one: &str, other: &str) -> [String; 2] {
        excerpts([one.to_owned(), other.to_owned()]).map(|(text, _)| text)
    }

    #[test]
    fn of_long_values_what_differs_is_told_wherever_it_stands() {
        let long = |end: &str| format!("{}{end}", "é".repeat(100));
        let before = "é".repeat(TOLD_BEFORE);
        let expected = [format!("...{before}one"), format!("...{before}two and so on")];
        assert_eq!(told(&long("one"), &long("two and so on")), expected);
        let more = "x".repeat(LONGEST);
        let [cut, _] = told(&long(&more), &long("y"));
        assert_eq!(cut, format!("...{before}{}...", "x".repeat(LONGEST - TOLD_BEFORE)));
        let first = format!("{}...", "x".repeat(LONGEST));
        assert_eq!(told(&"x".repeat(90), "y"), [first, "y".to_owned()]);
    }

    #[test]
    fn what_is_not_long_is_told_whole_and_is_no_part() {
        let (whole, longer) = ("z".repeat(LONGEST), "z".repeat(LONGEST + 1));
        let [one, other] = excerpts([whole.clone(), longer]);
        assert_eq!(one, (whole, false));
        assert_eq!(other, (format!("...{}", "z".repeat(TOLD_BEFORE + 1)), true));
    }
}
