//! Secrets in text become placeholders, the same secret the same placeholder everywhere. A placeholder
//! of a redaction before stays what it is, and no other secret gets its number.

use super::kind::SecretKind;
use super::patterns::{found, is_word};
use std::collections::BTreeMap;

/// From this length on a name is replaced inside longer words too.
const LONG_NAME: usize = 6;
/// What every placeholder begins with, but for the slash of a path.
const REDACTED: &str = "redacted-";
/// A longer number is none of ours.
const MOST_DIGITS: usize = 9;
/// What stands around what a program said.
const AROUND: [char; 3] = [':', '\n', ' '];

/// What is known to be secret, and what it became.
#[derive(Debug, Default)]
pub(super) struct Replacer {
    /// Lower case, longest first: of two that begin at one place the longer one counts.
    secrets: Vec<Secret>,
    /// By the name of their kind and the secret in lower case.
    placeholders: BTreeMap<String, String>,
    /// How many of each kind were met.
    counts: KindNumbers,
    /// The largest number of each kind in placeholders of a redaction before.
    used: KindNumbers,
    /// Texts come again with each record.
    done: BTreeMap<String, String>,
}

/// A number for each of a few kinds.
#[derive(Debug, Default)]
struct KindNumbers(Vec<(SecretKind, u64)>);

impl KindNumbers {
    /// The number of a kind, 0 where it has none yet.
    fn of(&mut self, kind: SecretKind) -> &mut u64 {
        let known = self.0.iter().position(|(known, _)| *known == kind);
        let at = known.unwrap_or_else(|| {
            self.0.push((kind, 0));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Secret {
    text: String,
    kind: SecretKind,
}

impl Secret {
    /// The names of users and hosts, and what was asked for, hide in words; what a command line
    /// held counts as a word only.
    fn is_inside_words(&self) -> bool {
        let is_name = matches!(
            self.kind,
            SecretKind::User | SecretKind::Host | SecretKind::Word | SecretKind::File
        );
        is_name && self.text.chars().count() >= LONG_NAME
    }
}

impl Replacer {
    /// Adds a secret. What was replaced before stays as it is: all are added first.
    pub(super) fn add(&mut self, kind: SecretKind, secret: &str) {
        let text = secret.trim().to_lowercase();
        if text.is_empty() || is_former(&text) {
            return;
        }
        if let Some(known) = self.secrets.iter_mut().find(|known| known.text == text) {
            // A name is one, also where it stood in a command line.
            known.kind = if known.kind == SecretKind::Argument { kind } else { known.kind };
            return;
        }
        let at = self.secrets.partition_point(|known| known.text.len() >= text.len());
        self.secrets.insert(at, Secret { text, kind });
    }

    /// Notes the placeholders of a redaction before that a text has. All are noted before anything is
    /// replaced.
    pub(super) fn note_former(&mut self, text: &str) {
        for (at, _) in text.match_indices(REDACTED) {
            if let Some((kind, number, _)) = former(&text[at..]) {
                let largest = self.used.of(kind);
                *largest = number.max(*largest);
            }
        }
    }

    /// The placeholder of something that is replaced as a whole; that of a redaction before where it
    /// is one.
    pub(super) fn placeholder(&mut self, kind: SecretKind, secret: &str) -> String {
        let bare = secret.trim_matches(AROUND);
        if is_former(bare) {
            return bare.to_owned();
        }
        let key = format!("{} {}", kind.name(), secret.to_lowercase());
        if let Some(known) = self.placeholders.get(&key) {
            return known.clone();
        }
        let count = self.counts.of(kind);
        *count += 1;
        let number = *count + *self.used.of(kind);
        let slash = if kind == SecretKind::Path { "/" } else { "" };
        let placeholder = format!("{slash}{REDACTED}{}-{number}", kind.name());
        self.placeholders.insert(key, placeholder.clone());
        placeholder
    }

    /// The text with a placeholder for each secret in it.
    pub(super) fn text(&mut self, text: &str) -> String {
        if let Some(known) = self.done.get(text) {
            return known.clone();
        }
        let mut replaced = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(letter) = text[at..].chars().next() {
            if let Some((_, _, length)) = former(&text[at..]) {
                replaced += &text[at..at + length];
                at += length;
            } else if let Some((kind, length)) = found(text, at).or_else(|| self.secret(text, at)) {
                replaced += &self.placeholder(kind, &text[at..at + length]);
                at += length;
            } else {
                replaced.push(letter);
                at += letter.len_utf8();
            }
        }
        self.done.insert(text.to_owned(), replaced.clone());
        replaced
    }

    /// The secret that begins at `at`, and its length there.
    fn secret(&self, text: &str, at: usize) -> Option<(SecretKind, usize)> {
        let begins = !text[..at].chars().next_back().is_some_and(is_word);
        self.secrets.iter().find_map(|secret| {
            let length = prefix(&text[at..], &secret.text)?;
            let ends = !text[at + length..].chars().next().is_some_and(is_word);
            (secret.is_inside_words() || begins && ends).then_some((secret.kind, length))
        })
    }

    /// How many different ones of each kind were replaced.
    pub(super) fn counts(&self) -> &[(SecretKind, u64)] {
        &self.counts.0
    }
}

/// The placeholder that a text begins with: its kind, its number and its length.
fn former(text: &str) -> Option<(SecretKind, u64, usize)> {
    let rest = text.strip_prefix(REDACTED)?;
    SecretKind::ALL.into_iter().find_map(|kind| {
        let rest = rest.strip_prefix(kind.name())?.strip_prefix('-')?;
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse().ok().filter(|_| end <= MOST_DIGITS)?;
        Some((kind, number, text.len() - rest.len() + end))
    })
}

/// Whether a text is a placeholder and nothing else.
fn is_former(text: &str) -> bool {
    let bare = text.strip_prefix('/').unwrap_or(text);
    former(bare).is_some_and(|(_, _, length)| length == bare.len())
}

/// How long the beginning of `text` is that is `lower`, whatever its case.
fn prefix(text: &str, lower: &str) -> Option<usize> {
    let mut rest = lower;
    let mut length = 0;
    for letter in text.chars() {
        if rest.is_empty() {
            break;
        }
        for lowered in letter.to_lowercase() {
            rest = rest.strip_prefix(lowered)?;
        }
        length += letter.len_utf8();
    }
    rest.is_empty().then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_taken_and_its_placeholders_are_no_secrets(
            text in prop::collection::vec(
                prop_oneof![
                    "[ -~]{0,6}", "\\PC{0,4}", Just("~a€/x".to_owned()), Just("/".to_owned()),
                    Just("0x".to_owned()), Just("::".to_owned()), Just("é@ü".to_owned()),
                    Just("[1]".to_owned()), Just("://".to_owned()),
                ],
                0..12,
            ),
        ) {
            let mut replacer = Replacer::default();
            replacer.add(SecretKind::User, "ünder");
            let once = replacer.text(&text.concat());
            prop_assert!(!once.to_lowercase().contains("ünder"), "{}", once);
            prop_assert_eq!(Replacer::default().text("redacted-user-1"), "redacted-user-1");
        }
    }

    #[test]
    fn the_same_secret_has_the_same_placeholder_and_longer_ones_come_first() {
        let mut replacer = Replacer::default();
        replacer.add(SecretKind::Host, "box");
        replacer.add(SecretKind::Host, "box.corp.example");
        replacer.add(SecretKind::User, "Malice");
        assert_eq!(
            replacer.text("malice@x; BOX.corp.example, box, boxes; notmaliceful in box"),
            "redacted-address-1; redacted-host-1, redacted-host-2, boxes; notredacted-user-1ful in \
             redacted-host-2"
        );
        assert_eq!(replacer.text("box"), "redacted-host-2");
        assert!(replacer.counts().contains(&(SecretKind::Host, 2)));
    }

    #[test]
    fn a_placeholder_of_a_redaction_before_stays_and_no_other_secret_gets_its_number() {
        let before =
            "user redacted-user-2 ran /redacted-path-7 on redacted-host-1: redacted-output-3";
        let mut replacer = Replacer::default();
        replacer.note_former(before);
        // Words of placeholders may be names, too.
        for (kind, secret) in [
            (SecretKind::Word, "user"),
            (SecretKind::Word, "redacted"),
            (SecretKind::User, "redacted-user-2"),
            (SecretKind::User, "bob"),
        ] {
            replacer.add(kind, secret);
        }
        assert_eq!(
            replacer.text(&format!("{before}; bob in /srv/bob")),
            "redacted-word-1 redacted-user-2 ran /redacted-path-7 on redacted-host-1: \
             redacted-output-3; redacted-user-3 in /redacted-path-8"
        );
        for (kind, whole, kept) in [
            (SecretKind::Output, ": redacted-output-3", "redacted-output-3"),
            (SecretKind::Path, "/redacted-path-7", "/redacted-path-7"),
            (SecretKind::Command, "redacted-command-1", "redacted-command-1"),
            (SecretKind::Output, "redacted-output-3 and more", "redacted-output-4"),
        ] {
            assert_eq!(replacer.placeholder(kind, whole), kept, "{whole}");
        }
        let is_met = replacer.counts().iter().any(|(kind, _)| *kind == SecretKind::Host);
        assert!(!is_met, "nothing new was met");
    }

    #[test]
    fn letters_that_change_their_length_with_their_case_do_not_split_text() {
        let mut replacer = Replacer::default();
        replacer.add(SecretKind::User, "İsmail");
        let text = replacer.text("an İsmail and a Straße");
        assert_eq!(text, "an redacted-user-1 and a Straße");
    }
}
