//! Levels as they are written: names that stand for others are resolved, then the
//! factor reads them.

use crate::settable::Settable;
use contract::document::{ExperimentProblems, Node, SourceLocation};
use model::Level;

/// Answers what a text stands for as a level of a factor: nothing where it stands for
/// itself, else the texts it means, the newest last. The caller knows archives and
/// caches; planning does not.
pub type Resolve<'a> = dyn Fn(&str, &str) -> Option<Result<Vec<String>, String>> + 'a;

/// Every text stands for itself.
pub(crate) fn as_written(_: &str, _: &str) -> Option<Result<Vec<String>, String>> {
    None
}

/// A level and where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) level: Level,
    pub(crate) place: SourceLocation,
}

/// Reads levels and remembers what names were taken as.
pub(crate) struct Levels<'a> {
    resolve: &'a Resolve<'a>,
    notes: Vec<String>,
}

impl<'a> Levels<'a> {
    pub(crate) fn new(resolve: &'a Resolve<'a>) -> Self {
        Self { resolve, notes: Vec::new() }
    }

    /// What each name was taken as, once for each.
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// One level; the newest of those that a name stands for.
    pub(crate) fn one(
        &mut self,
        settable: Settable,
        node: &Node,
        key: &SourceLocation,
        problems: &mut ExperimentProblems,
    ) -> Option<Written> {
        let text = scalar(settable, node, problems)?;
        let texts = self.resolved(settable, &text, node, problems)?;
        let newest = texts.last()?;
        let id = settable.id();
        if texts.len() > 1 {
            let all = texts.join(", ");
            self.note(format!("{id} = {text} is taken as {newest}, the newest of {all}"));
        } else if *newest != text {
            self.note(format!("{id} = {text} means {newest}"));
        }
        parsed(settable, newest, node, key, problems)
    }

    /// Every level that a name stands for.
    pub(crate) fn all(
        &mut self,
        settable: Settable,
        node: &Node,
        problems: &mut ExperimentProblems,
    ) -> Vec<Written> {
        let Some(text) = scalar(settable, node, problems) else { return Vec::new() };
        let texts = self.resolved(settable, &text, node, problems).unwrap_or_default();
        if texts.iter().any(|meant| *meant != text) {
            self.note(format!("{} = {text} means {}", settable.id(), texts.join(", ")));
        }
        texts
            .iter()
            .filter_map(|text| parsed(settable, text, node, &node.place, problems))
            .collect()
    }

    fn resolved(
        &self,
        settable: Settable,
        text: &str,
        node: &Node,
        problems: &mut ExperimentProblems,
    ) -> Option<Vec<String>> {
        let id = settable.id();
        let why = match (self.resolve)(&id, text) {
            None => return Some(vec![text.to_owned()]),
            Some(Ok(texts)) if !texts.is_empty() => return Some(texts),
            Some(Ok(_)) => "it stands for nothing here".to_owned(),
            Some(Err(why)) => why,
        };
        problems.report(&node.place, format!("`{text}` is not a level of `{id}`: {why}"));
        None
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn scalar(settable: Settable, node: &Node, problems: &mut ExperimentProblems) -> Option<String> {
    let text = node.scalar();
    if text.is_none() {
        let cause = format!("a level of `{}` is one value, not {}", settable.id(), node.kind());
        problems
            .report(&node.place, cause)
            .hint("several levels belong into named subjects or into [factors]");
    }
    text
}

fn parsed(
    settable: Settable,
    text: &str,
    node: &Node,
    key: &SourceLocation,
    problems: &mut ExperimentProblems,
) -> Option<Written> {
    match settable.parse(text) {
        Ok(level) => Some(Written { level, place: key.clone() }),
        Err(cause) => {
            let id = settable.id();
            // A word may be a slip of the pen; a number is another number.
            let examples = settable.examples();
            let candidates = examples
                .iter()
                .filter(|example| !settable.suggests() && words(example) != words(text));
            problems
                .report(&node.place, format!("`{text}` is not a level of `{id}`: {cause}"))
                .near(text, candidates.copied())
                .hint(match examples.as_slice() {
                    [] => format!("expected {}", settable.syntax()),
                    some => {
                        format!("expected {}, for example {}", settable.syntax(), some.join(", "))
                    }
                });
            None
        }
    }
}

/// A level without its numbers and their units.
fn words(text: &str) -> String {
    let mut is_number = false;
    let is_word = |character: &char| {
        let is_part = character.is_ascii_alphanumeric() || *character == '.';
        is_number = is_part && (is_number || character.is_ascii_digit());
        !is_number && *character != '-'
    };
    text.chars().filter(is_word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_units_are_no_words() {
        for (text, left) in [
            ("-10", ""),
            ("5ms", ""),
            ("4.5s", ""),
            ("fifo:200", "fifo:"),
            ("deadline:2ms/10ms/10ms", "deadline://"),
            ("scx_rusty", "scx_rusty"),
        ] {
            assert_eq!(words(text), left);
        }
    }
}
