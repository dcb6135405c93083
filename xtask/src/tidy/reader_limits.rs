//! A test names each limit of readers in what a reader told: a check that nobody tests could be taken
//! out unseen.

use super::tree::SourceFile;
use std::collections::BTreeSet;

/// Where limits are declared. Its own tests show how a refusal is worded, and no reader refuses there.
const DECLARED: &str = "crates/model/src/reader_limit.rs";

/// Checks all files together.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let limits: Vec<(usize, &str)> = files
        .iter()
        .filter(|file| file.path.as_os_str() == DECLARED)
        .flat_map(|file| file.text.lines().enumerate())
        .filter_map(|(number, line)| Some((number, declared(line)?)))
        .collect();
    if limits.is_empty() {
        return vec![format!("{DECLARED}: no limit is declared here")];
    }
    let readers = files.iter().filter(|file| {
        file.is_rust() && file.path.starts_with("crates") && file.path.as_os_str() != DECLARED
    });
    let words = readers.flat_map(test_lines).flat_map(words_in_texts);
    let is_name = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_uppercase());
    let told: BTreeSet<&str> = words.filter(is_name).collect();
    limits
        .into_iter()
        .filter(|(_, name)| !told.contains(name))
        .map(|(number, name)| {
            let line = number + 1;
            format!("{DECLARED}:{line}: no test of a reader that refuses tells {name} in a text")
        })
        .collect()
}

/// The name of the limit that a line declares.
fn declared(line: &str) -> Option<&str> {
    let (name, behind) = line.strip_prefix("pub static ")?.split_once(": ")?;
    behind.starts_with("ReaderLimit").then_some(name)
}

/// The lines of a file that are tests: all of those below `tests`, and others behind their mark.
fn test_lines(file: &SourceFile) -> impl Iterator<Item = &str> {
    let is_all = file.path.iter().any(|part| part == "tests" || part == "tests.rs");
    let is_before = move |line: &&str| !is_all && line.trim() != "#[cfg(test)]";
    file.text.lines().skip_while(is_before)
}

/// The words of what stands in quotes on a line.
fn words_in_texts(line: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let texts = line.split('"').skip(1).step_by(2);
    texts.flat_map(move |text| text.split(move |letter| !is_of_word(letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(path: &str, text: &str) -> Vec<String> {
        let declared = "/// A.\npub static ROWS: ReaderLimit =\n    ReaderLimit::of(\"ROWS\");\n";
        check(&[SourceFile::new(DECLARED, declared), SourceFile::new(path, text)])
    }

    #[test]
    fn a_limit_that_a_test_of_a_reader_tells_is_told_nothing_of() {
        for (path, text) in [
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests {\n f(\"limit ROWS\");\n}\n"),
            ("crates/a/tests/all.rs", "const CASES: [&str; 1] = [\"ROWS\"];\n"),
            ("crates/a/src/b/tests.rs", "assert!(told.contains(\"limit ROWS)\"));\n"),
        ] {
            assert_eq!(problems_of(path, text), [""; 0], "{path}");
        }
    }

    #[test]
    fn a_limit_that_no_test_of_a_reader_tells_is_told_with_its_line() {
        let expected = "crates/model/src/reader_limit.rs:2: no test of a reader that refuses tells ROWS \
                        in a text";
        for (path, text) in [
            ("crates/a/src/lib.rs", "fn f() { g(\"ROWS\"); }\n#[cfg(test)]\nmod tests {}\n"),
            ("crates/a/tests/all.rs", "ROWS.check(1); f(\"SOME_ROWS\"); // ROWS\n"),
            ("docs/words.md", "\"ROWS\"\n"),
        ] {
            assert_eq!(problems_of(path, text), [expected], "{path}");
        }
        assert_eq!(check(&[]), ["crates/model/src/reader_limit.rs: no limit is declared here"]);
    }
}
