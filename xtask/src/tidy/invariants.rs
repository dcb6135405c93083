//! Each invariant of ARCHITECTURE.md names where it is kept and what tests it, and both are there.

use super::page::{ARCHITECTURE, architecture, in_code, section};
use super::tree::SourceFile;
use std::path::{Path, PathBuf};

const HEADING: &str = "## Invariants";

/// Checks all files together.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let page = match architecture(files) {
        Ok(page) => page,
        Err(problem) => return vec![problem],
    };
    let lines = section(page, HEADING);
    if lines.is_empty() {
        return vec![format!("{ARCHITECTURE}: has nothing below `{HEADING}`")];
    }
    let is_item = |line: &str| line.starts_with(|first: char| first.is_ascii_digit());
    let items = lines.into_iter().filter(|(_, line)| is_item(line));
    items
        .flat_map(|(number, line)| {
            let problems = problems(line, files).into_iter();
            problems.map(move |problem| format!("{}: {problem}", page.at(number)))
        })
        .collect()
}

/// What is wrong with one item, which ends with `(places; tests)`.
fn problems(item: &str, files: &[SourceFile]) -> Vec<String> {
    let named = item.strip_suffix(')').and_then(|item| item.rsplit_once('('));
    let Some((places, tests)) = named.and_then(|(_, named)| named.split_once("; ")) else {
        return vec!["an invariant ends with `(places; tests)`".to_owned()];
    };
    let lost = in_code(places).filter(|place| !is_module(place, files));
    let untested = in_code(tests).filter(|test| !is_test(test, files));
    let mut found: Vec<String> = lost.map(|place| format!("there is no `{place}`")).collect();
    found.extend(untested.map(|test| format!("there is no test `{test}`")));
    for (what, names) in [("place", places), ("test", tests)] {
        if in_code(names).next().is_none() {
            found.push(format!("an invariant names a {what}"));
        }
    }
    found
}

/// Whether a path of modules, its crate first, is a file of that crate.
fn is_module(path: &str, files: &[SourceFile]) -> bool {
    let mut parts = path.split("::");
    let name = parts.next().unwrap_or_default().replace('_', "-");
    let modules: Vec<&str> = parts.collect();
    let below = if modules.is_empty() { vec!["lib"] } else { modules };
    // Most crates lie together, those that are programs for developers on their own.
    ["crates", ""].iter().any(|folder| {
        let mut place = Path::new(folder).join(&name).join("src");
        place.extend(&below);
        let file: PathBuf = place.with_extension("rs");
        files.iter().any(|one| one.path == file)
    })
}

/// Whether a test has that name: a function, or a case of a test that lists its own.
fn is_test(name: &str, files: &[SourceFile]) -> bool {
    let marked = format!("#[test]\nfn {name}()");
    let case = format!("(\"{name}\", ");
    let is_one = |text: &str| {
        // Tests lie in modules: each at its own depth.
        let flush: Vec<&str> = text.lines().map(str::trim_start).collect();
        let flush = flush.join("\n");
        flush.contains(&marked) || text.contains(&case)
    };
    files.iter().any(|file| file.is_rust() && file.text.contains(name) && is_one(&file.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(item: &str) -> Vec<String> {
        let files = [
            SourceFile::new(
                ARCHITECTURE,
                format!("# A\n\n{HEADING}\n\nTo be kept.\n\n{item}\n\n## Words\n\n1. No.\n"),
            ),
            SourceFile::new("crates/one-two/src/lib.rs", ""),
            SourceFile::new(
                "crates/one-two/src/journal.rs",
                "fn helper() {}\nmod tests {\n    #[test]\n    fn it_is_kept() {}\n}\n",
            ),
            SourceFile::new("crates/one-two/tests/all.rs", "const CASES: X = [(\"a_case\", a)];\n"),
        ];
        check(&files)
    }

    #[test]
    fn places_and_tests_that_are_there_are_told_nothing_of() {
        assert_eq!(problems_of("1. **Kept.** (`one_two::journal`; `it_is_kept`)"), [""; 0]);
        assert_eq!(problems_of("2. **Kept.** (`one_two`, `one_two::journal`; `a_case`)"), [""; 0]);
    }

    #[test]
    fn each_name_that_leads_nowhere_is_told_with_its_line() {
        let lost = problems_of("1. **Kept.** (`one_two::lost`, `three`; `it_is_lost`, `helper`)");
        let expected = [
            "ARCHITECTURE.md:7: there is no `one_two::lost`",
            "ARCHITECTURE.md:7: there is no `three`",
            "ARCHITECTURE.md:7: there is no test `it_is_lost`",
            "ARCHITECTURE.md:7: there is no test `helper`",
        ];
        assert_eq!(lost, expected);
    }

    #[test]
    fn an_invariant_without_a_place_or_a_test_is_refused() {
        assert_eq!(problems_of("1. **Kept.** Somewhere.").len(), 1);
        assert_eq!(
            problems_of("1. **Kept.** (`one_two`; by hand)"),
            ["ARCHITECTURE.md:7: an invariant names a test"]
        );
        assert_eq!(check(&[]).len(), 1);
    }
}
