//! The workspace in parts that threads check: a crate, or a folder that holds none.

use super::test_names::{self, Tests};
use super::tree::{SourceFile, SourceText};
use super::type_names::{self, TypeName};
use super::words::{self, RetiredWords};
use super::{circles, file_seam, phrases, sizes, text, venue_names};
use std::path::{Component, Path};

/// What one file lists for the checks of all parts.
pub struct SharedLists {
    /// Retired words.
    pub retired: RetiredWords,
    /// Names of venues; none, and why, where they are not listed.
    pub venues: Result<Vec<String>, String>,
}

impl SharedLists {
    /// Those that these files have.
    pub fn of(files: &[SourceFile]) -> Self {
        Self { retired: words::read_retired(files), venues: venue_names::listed(files) }
    }
}

/// What is wrong in a part, and what it tells of rules for all files together.
pub struct PartFindings {
    /// What is wrong with its files, each on its own.
    pub of_files: Vec<String>,
    /// Circles of imports.
    pub circles: Vec<String>,
    /// Retired words in its texts.
    pub words: Vec<String>,
    /// Where it compares the name of a venue.
    pub venues: Vec<String>,
    /// The types that it defines.
    pub types: Vec<TypeName>,
    /// The tests that it has.
    pub tests: Tests,
    /// The sentences that it says.
    pub said: phrases::SaidSentences,
}

impl PartFindings {
    /// Checks a part.
    pub fn of(part: &[SourceText], lists: &SharedLists) -> Self {
        let files = super::copied(part);
        let of_file = |file: &SourceFile| {
            let sizes = if file.is_rust() { sizes::check(file) } else { Vec::new() };
            [text::check(file), sizes].concat()
        };
        let venues = lists.venues.as_ref().map(|names| venue_names::check(&files, names));
        let mut of_files: Vec<String> = files.iter().flat_map(of_file).collect();
        of_files.extend(file_seam::check(&files));
        Self {
            of_files,
            circles: circles::check(&files),
            words: words::in_texts(&files, &lists.retired),
            venues: venues.unwrap_or_default(),
            types: type_names::types(&files),
            tests: test_names::tests(&files),
            said: phrases::said(&files),
        }
    }
}

/// The parts of files that are in order of their paths: a crate lies in one part, and what parts
/// tell in their order is in the order of files.
pub fn of(texts: &[SourceText]) -> Vec<&[SourceText]> {
    texts.chunk_by(|one, other| place(&one.path) == place(&other.path)).collect()
}

/// The folder that is a part: one below `crates`, or one of the workspace's root. Files beside
/// these folders are in none.
fn place(path: &Path) -> Option<(Component<'_>, Option<Component<'_>>)> {
    let mut folders = path.parent()?.components();
    let first = folders.next()?;
    let is_of_crates = first.as_os_str() == "crates";
    Some((first, folders.next().filter(|_| is_of_crates)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_crate_or_a_folder() {
        let paths = [
            "Cargo.lock",
            "Cargo.toml",
            "apps/bank/pom.xml",
            "clippy.toml",
            "crates/model/Cargo.toml",
            "crates/model/src/lib.rs",
            "crates/plan/src/lib.rs",
            "fuzz/coverage/src/main.rs",
            "fuzz/src/main.rs",
        ];
        let text = |path: &&str| SourceText { path: path.into(), text: String::new() };
        let texts: Vec<SourceText> = paths.iter().map(text).collect();
        let lengths: Vec<usize> = of(&texts).into_iter().map(<[SourceText]>::len).collect();
        assert_eq!(lengths, [2, 1, 1, 2, 1, 2]);
    }
}
