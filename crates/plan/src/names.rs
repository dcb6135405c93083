//! Names: which are allowed, and how they are made.

/// Longest name of a subject or label: it becomes part of file names and table columns.
pub(crate) const NAME_LIMIT: usize = 64;

/// Whether a text is kebab-case and not too long: words of lower-case letters
/// and digits, joined by one dash, or by two where several levels make a name.
pub(crate) fn is_kebab(text: &str) -> bool {
    text.len() <= NAME_LIMIT
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.is_empty()
        && !text.contains("---")
}

/// Whether a text may label a workload: kebab-case or snake_case.
pub(crate) fn is_label(text: &str) -> bool {
    is_kebab(&text.replace('_', "-"))
}

/// Words of `text` in kebab-case; a minus sign before a number stays a word, so
/// that nice -5 and nice 5 have different names.
pub fn kebab(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_inside = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character.is_ascii_alphanumeric() {
            if !is_inside {
                words.push(String::new());
            }
            is_inside = true;
            if let Some(word) = words.last_mut() {
                word.push(character.to_ascii_lowercase());
            }
        } else {
            let is_sign = character == '-'
                && !is_inside
                && characters.peek().is_some_and(char::is_ascii_digit);
            if is_sign {
                words.push("minus".to_owned());
            }
            is_inside = false;
        }
    }
    words.join("-")
}

/// The name of a subject made from its levels: `base-slice-3ms--nice-minus-5`.
pub(crate) fn name_of_levels<'l>(levels: impl IntoIterator<Item = (&'l str, &'l str)>) -> String {
    let named: Vec<String> = levels
        .into_iter()
        .map(|(factor, level)| format!("{}-{}", kebab(factor), kebab(level)))
        .map(|name| name.trim_matches('-').to_owned())
        .collect();
    named.join("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_made_from_levels_are_kebab_case_and_keep_the_sign() {
        for (levels, name) in [
            (vec![("base_slice", "3ms")], "base-slice-3ms"),
            (vec![("nice", "-5")], "nice-minus-5"),
            (vec![("policy", "fifo:1"), ("affinity", "0-1")], "policy-fifo-1--affinity-0-1"),
        ] {
            let made = name_of_levels(levels);
            assert_eq!(made, name);
            assert!(is_kebab(&made));
        }
    }

    #[test]
    fn only_lower_case_words_joined_by_dashes_are_kebab_case() {
        for (text, expected) in [
            ("low-latency", true),
            ("a--b", true),
            ("Fast", false),
            ("low_latency", false),
            ("-a", false),
            ("a-", false),
            ("a---b", false),
            ("", false),
            ("größe", false),
        ] {
            assert_eq!(is_kebab(text), expected, "{text}");
        }
    }
}
