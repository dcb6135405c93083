//! One PO file: English sentences and what a language says for them.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::OnceLock;

/// A catalogue, read when somebody asks it.
pub(crate) struct Catalogue {
    text: &'static str,
    sentences: OnceLock<BTreeMap<&'static str, &'static str>>,
}

impl Catalogue {
    /// Of the text of a PO file; the language of the code has none.
    pub(crate) const fn of(text: &'static str) -> Self {
        Self { text, sentences: OnceLock::new() }
    }

    pub(crate) fn get(&self, english: &str) -> Option<&'static str> {
        self.sentences().get(english).copied()
    }

    /// Every sentence with its translation, sorted by the English.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.sentences().iter().map(|(english, translated)| (*english, *translated))
    }

    fn sentences(&self) -> &BTreeMap<&'static str, &'static str> {
        self.sentences.get_or_init(|| read(self.text))
    }
}

/// Pairs of a PO file. It is part of the program: one that does not read is a defect, and a test
/// reads all of them.
fn read(text: &'static str) -> BTreeMap<&'static str, &'static str> {
    if text.is_empty() {
        return BTreeMap::new();
    }
    let catalogue = match polib::po_file::parse_from_reader(text.as_bytes()) {
        Ok(catalogue) => catalogue,
        Err(error) => panic!("a catalogue of this program does not read: {error}"),
    };
    // Once for the life of the program, as the text itself.
    let kept = |part: &str| -> &'static str { Box::leak(part.to_owned().into_boxed_str()) };
    catalogue
        .messages()
        .filter(|message| message.is_singular() && message.is_translated() && !message.is_fuzzy())
        .map(|message| (kept(message.msgid()), kept(message.msgstr().unwrap_or_default())))
        .collect()
}

/// A translation with its blanks filled. One that nobody fills stays, for all to see.
pub fn filled(translation: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut said = String::with_capacity(translation.len());
    let mut rest = translation;
    while let Some((before, behind)) = rest.split_once('{') {
        said.push_str(before);
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => drop(write!(said, "{value}")),
            None => drop(write!(said, "{{{name}}}")),
        }
        rest = after;
    }
    said + rest
}

/// The names of a sentence's blanks, without their formats.
#[cfg(test)]
pub(crate) fn blanks(sentence: &str) -> std::collections::BTreeSet<&str> {
    let behind = sentence.split('{').skip(1);
    behind.filter_map(|part| part.split_once('}')?.0.split(':').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_filled_by_name() {
        let values: [(&str, &dyn Display); 2] = [("count", &3), ("what", &"trials")];
        assert_eq!(filled("{what}: {count}", &values), "trials: 3");
        assert_eq!(filled("{who} {count", &values), "{who} 3");
    }

    #[test]
    fn what_a_value_holds_is_no_blank() {
        let values: [(&str, &dyn Display); 2] = [("a", &"{b}"), ("b", &"x")];
        assert_eq!(filled("{a}", &values), "{b}");
    }

    #[test]
    fn the_formats_of_blanks_are_no_part_of_their_names() {
        assert_eq!(blanks("{a:.1} of {b}"), ["a", "b"].into());
    }
}
