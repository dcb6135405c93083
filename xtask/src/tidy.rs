//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//!
//! Files are checked on all processors, a part of the workspace at a time: what the compiler reads
//! of a file stays in one thread. What a part tells of rules for all files together is compared at
//! the end. Problems are in the order of the rules and of the files, whichever thread ended first.

mod circles;
mod citations;
mod file_seam;
mod formats;
mod house;
mod imports;
mod invariants;
mod layers;
mod manifest;
mod page;
mod parts;
mod phrases;
mod reader_limits;
mod sizes;
mod streams;
mod test_names;
mod text;
mod tree;
mod type_names;
mod venue_names;
mod words;

pub use tree::{is_rust, texts};

use crate::cargo::Cargo;
use crate::parallel;
use crate::problems::{CommandResult, Problems};
use parts::{PartFindings, SharedLists};
use phrases::SaidSentences;
use std::path::Path;
use test_names::Tests;
use tree::{SourceFile, SourceText};

/// A rule that needs the text of all files, which lie below a root.
type WholeRule = fn(&Path, &[SourceFile]) -> Vec<String>;

/// Rules that need the text of all files.
const WHOLE: &[WholeRule] = &[
    |_, files| layers::check_page(files),
    |_, files| formats::check(files),
    |_, files| manifest::check(files),
    |root, files| citations::check(files, &|path| root.join(path).exists()),
    |_, files| invariants::check(files),
    |_, files| reader_limits::check(files),
    |_, files| streams::check(files),
];

/// Checks every rule and reports everything found.
pub fn tidy(cargo: &Cargo) -> CommandResult {
    let mut found = layers::check(&cargo.metadata()?);
    let texts = texts(cargo.root())
        .map_err(|error| Problems::one(format!("cannot read the workspace: {error}")))?;
    found.extend(check(cargo.root(), &texts)?);
    Problems::outcome(found)
}

/// Everything found in these files, which lie below `root`.
fn check(root: &Path, texts: &[SourceText]) -> Result<Vec<String>, Problems> {
    let files = copied(texts);
    let lists = &SharedLists::of(&files);
    let jobs = parts::of(texts).into_iter().map(|part| move || PartFindings::of(part, lists));
    let parts = parallel::all(jobs.collect::<Vec<_>>())?;
    let jobs = WHOLE.iter().map(|rule| move || rule(root, &copied(texts)));
    let whole: Vec<Vec<String>> = parallel::all(jobs.collect::<Vec<_>>())?;
    let [page, formats, manifest, citations, invariants, limits, streams] = whole.as_slice() else {
        return Err(Problems::one("a rule of tidy did not end"));
    };
    let [mut found, mut circles, mut words, mut venues] = <[Vec<String>; 4]>::default();
    let (mut types, mut tests, mut said) = (Vec::new(), Tests::new(), SaidSentences::default());
    for part in parts {
        found.extend(part.of_files);
        circles.extend(part.circles);
        words.extend(part.words);
        venues.extend(part.venues);
        types.extend(part.types);
        test_names::add(&mut tests, part.tests);
        said.add(part.said);
    }
    found.extend([page, formats, manifest].into_iter().flatten().cloned());
    found.extend(phrases::check(&files, said));
    found.extend([citations, &circles, invariants, limits, streams].into_iter().flatten().cloned());
    found.extend(test_names::check(&files, &tests));
    found.extend(type_names::check(&types));
    found.extend(words);
    found.extend(words::check_names(&files, &types, &lists.retired));
    found.extend(venues);
    found.extend(lists.venues.as_ref().err().cloned());
    Ok(found)
}

/// The files for the checks of one thread.
fn copied(texts: &[SourceText]) -> Vec<SourceFile> {
    texts.iter().map(SourceText::file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_in_the_order_of_files_whichever_thread_ends_first() {
        let text = |number: usize| SourceText {
            path: format!("crates/c{number:02}/src/lib.rs").into(),
            text: format!("{}mod a {{", "fn f() {}\n".repeat((20 - number) * 50)),
        };
        let texts: Vec<SourceText> = (0..20).map(text).collect();
        let found = check(Path::new("."), &texts).unwrap();
        let broken: Vec<&String> =
            found.iter().filter(|problem| problem.starts_with("crates/c")).collect();
        assert_eq!(broken.len(), texts.len(), "{broken:?}");
        assert!(broken.is_sorted(), "{broken:?}");
    }
}
