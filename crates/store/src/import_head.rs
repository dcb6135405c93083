//! What an import keeps where a run keeps its experiment: the mapping that repeats it.

/// How the first line of one begins.
const BEGIN: &str = "# The mapping of an import, written by `schedlab import ";

/// The comment above the mapping of an import of this format.
pub fn import_head(format: &str) -> String {
    format!(
        "{BEGIN}{format}`: it is no experiment.\n\
         # Repeat the import with: schedlab import {format} FILE --mapping THIS-FILE\n\n"
    )
}

/// Whether a text begins as the mapping of an import does.
pub fn is_import(text: &str) -> bool {
    text.starts_with(BEGIN)
}

/// The comment that a text begins with, where it is that of an import.
pub(crate) fn import_head_of(text: &str) -> Option<String> {
    let (format, _) = text.strip_prefix(BEGIN)?.split_once('`')?;
    let is_id = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || "-_".contains(one);
    let is_format = !format.is_empty() && format.len() < 64 && format.chars().all(is_id);
    let head = is_format.then(|| import_head(format))?;
    text.starts_with(&head).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_comment_as_it_was_written_is_one() {
        let head = import_head("csv");
        assert_eq!(import_head_of(&format!("{head}[better]\n")), Some(head.clone()));
        for other in [
            head.replace("csv", "of Mallory"),
            head.replace("FILE", "/secret/file"),
            "title = \"csv\"\n".to_owned(),
        ] {
            assert_eq!(import_head_of(&other), None, "{other}");
        }
    }
}
