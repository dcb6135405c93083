//! Columns that count as executions while nothing shows that they are: where all subjects have the
//! same levels of one, these may be parts of one execution. A file may hold one subject, so that only
//! all files together tell.

use model::SharedName;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The levels that each subject has of some columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SharedLevels(BTreeMap<AskedColumn, LevelsOfSubjects>);

/// What is said of a column if its levels are shared, and its name.
type AskedColumn = (&'static str, String);

/// Digests of levels, by subject: a table may have as many as rows.
type LevelsOfSubjects = BTreeMap<SharedName, BTreeSet<u64>>;

impl SharedLevels {
    /// Takes what rows of these subjects have in a column.
    pub(crate) fn add<'a>(
        &mut self,
        what: &'static str,
        column: &str,
        rows: impl Iterator<Item = (&'a SharedName, &'a str)>,
    ) {
        let levels = self.0.entry((what, column.to_owned())).or_default();
        for (subject, field) in rows {
            levels.entry(subject.clone()).or_default().insert(digest(field));
        }
    }

    /// Takes what another file has.
    pub(crate) fn append(&mut self, other: Self) {
        for (column, levels) in other.0 {
            let known = self.0.entry(column).or_default();
            for (subject, more) in levels {
                known.entry(subject).or_default().extend(more);
            }
        }
    }

    /// Columns that have two levels at least that all subjects have, and these are half of those that
    /// any has; each with what is said of it.
    pub(crate) fn found(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let shared = self.0.iter().filter(|(_, levels)| are_shared(levels));
        shared.map(|((what, column), _)| (*what, column.as_str()))
    }
}

fn digest(level: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    level.hash(&mut hasher);
    hasher.finish()
}

fn are_shared(levels: &LevelsOfSubjects) -> bool {
    let all: BTreeSet<u64> = levels.values().flatten().copied().collect();
    let is_of_each = |level: &&u64| levels.values().all(|own| own.contains(*level));
    let shared = all.iter().filter(is_of_each).count();
    shared > 1 && 2 * shared >= all.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(subjects: &[(&str, &str)]) -> SharedLevels {
        let mut levels = SharedLevels::default();
        for (subject, text) in subjects {
            let subject = SharedName::from(*subject);
            let fields = text.split("").filter(|level| !level.is_empty());
            let mut of_file = SharedLevels::default();
            of_file.add("shared", "client", fields.map(|field| (&subject, field)));
            levels.append(of_file);
        }
        levels
    }

    #[test]
    fn levels_are_shared_where_half_of_them_are_those_of_every_subject_whatever_file_it_is_in() {
        for (subjects, expected) in [
            ([("a", "0123"), ("b", "0123")].as_slice(), true),
            (&[("a", "0123"), ("b", "012")], true),
            (&[("a", "01"), ("b", "0123")], true),
            (&[("a", "01"), ("b", "01234")], false),
            (&[("a", "0123"), ("b", "4567")], false),
            (&[("a", "0123"), ("b", "0123"), ("c", "4567")], false),
            (&[("a", "00"), ("b", "00")], false),
            (&[], false),
        ] {
            let levels = levels(subjects);
            let found: Vec<(&str, &str)> = levels.found().collect();
            let told = [("shared", "client")];
            assert_eq!(found, told[..usize::from(expected)], "{subjects:?}");
        }
    }
}
