//! What `docs/words.md` has retired does not come back: neither in comments and pages nor as the
//! name of a file or type.

use super::page::section;
use super::tree::SourceFile;
use super::type_names::TypeName;
use std::ffi::OsStr;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Expr, FieldValue, Lit, Member};

/// The list of words.
const WORDS: &str = "docs/words.md";
/// The heading of its table of retired words.
const RETIRED: &str = "## Retired words";
/// It is written in the words of its time.
const CHANGES: &str = "CHANGELOG.md";
/// What generated pages say of themselves: their words stand where they are made.
const GENERATED: &str = "do not edit";
/// A generated page says so in as many lines.
const GENERATED_LINES: usize = 5;
/// Fields of an entry of the catalogue that become the text of a page.
const DESCRIBING: [&str; 2] = ["doc", "summary"];

/// The rows of the table; none, and why, where it cannot be read.
pub type RetiredWords = Result<Vec<RetiredWord>, String>;

/// Retired words in comments and pages among these files.
pub fn in_texts(files: &[SourceFile], retired: &RetiredWords) -> Vec<String> {
    let Ok(retired) = retired else { return Vec::new() };
    let of_file = |file| [in_text(file, retired), in_descriptions(file, retired)].concat();
    files.iter().filter(|file| is_searched(file)).flat_map(of_file).collect()
}

/// Retired words as names of these files and types, or why nothing was refused.
pub fn check_names(
    files: &[SourceFile],
    types: &[TypeName],
    retired: &RetiredWords,
) -> Vec<String> {
    match retired {
        Ok(retired) => in_names(files, types, retired),
        Err(problem) => vec![problem.clone()],
    }
}

/// A row of the table.
pub struct RetiredWord {
    word: String,
    scope: Scope,
    instead: String,
}

/// Where a word is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Comments, descriptions of entries, pages and sentences in other languages.
    Text,
    /// Comments of code.
    Comments,
    /// Names of Rust files without their ending, and the parts of these between underscores.
    Files,
    /// Names of types.
    Types,
}

/// The rows of the table: word, where it is refused, what to write instead, why.
pub fn read_retired(files: &[SourceFile]) -> RetiredWords {
    let words = files.iter().find(|file| file.path == Path::new(WORDS));
    let words = words.ok_or_else(|| format!("{WORDS}: is missing"))?;
    let section = section(words, RETIRED);
    let table = section.into_iter().filter(|(_, line)| line.starts_with("| `"));
    let mut retired = Vec::new();
    for (number, line) in table {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, word, scope, instead, _, _] = cells.as_slice() else {
            return Err(format!("{}: a row has four columns", words.at(number)));
        };
        let scope = match *scope {
            "text" => Scope::Text,
            "comments" => Scope::Comments,
            "files" => Scope::Files,
            "types" => Scope::Types,
            other => return Err(format!("{}: nothing is refused in `{other}`", words.at(number))),
        };
        let word = word.trim_matches('`').to_owned();
        retired.push(RetiredWord { word, scope, instead: (*instead).to_owned() });
    }
    if retired.is_empty() {
        return Err(format!("{WORDS}: has no row below `{RETIRED}`"));
    }
    Ok(retired)
}

fn is_searched(file: &SourceFile) -> bool {
    let is_apart = file.path == Path::new(WORDS) || file.path == Path::new(CHANGES);
    let mut begin = file.text.lines().take(GENERATED_LINES);
    !is_apart && !begin.any(|line| line.contains(GENERATED))
}

/// Retired words in the comments of a source, or in a page.
fn in_text(file: &SourceFile, retired: &[RetiredWord]) -> Vec<String> {
    let Some(prose) = Prose::of(&file.path) else { return Vec::new() };
    let is_page = prose == Prose::Page;
    let mut found = Vec::new();
    let mut above = String::new();
    for (number, line) in file.text.lines().enumerate() {
        let Some(text) = prose.of_line(line).map(str::to_lowercase) else {
            above.clear();
            continue;
        };
        let both = joined(&above, &text);
        for one in retired {
            let is_refused = match one.scope {
                Scope::Text => true,
                Scope::Comments => !is_page,
                Scope::Files | Scope::Types => false,
            };
            let is_on_both = one.word.contains(' ') && !holds(&above, &one.word);
            let is_held = holds(&text, &one.word) || (is_on_both && holds(&both, &one.word));
            if is_refused && is_held {
                found.push(format!("{}: {}", file.at(number), refusal(one)));
            }
        }
        above = text;
    }
    found
}

/// The prose of two lines, without what marks the second one as prose or ends the first.
fn joined(above: &str, text: &str) -> String {
    let is_mark = |letter: char| letter.is_whitespace() || "/!#*>\"".contains(letter);
    format!("{} {}", above.trim_end_matches(is_mark), text.trim_start_matches(is_mark))
}

/// Retired words in descriptions of entries of the catalogue, which stand in its page.
fn in_descriptions(file: &SourceFile, retired: &[RetiredWord]) -> Vec<String> {
    // What does not parse is told by the check of sizes.
    let Some(tree) = file.is_rust().then(|| file.syntax().ok()).flatten() else {
        return Vec::new();
    };
    let mut search = Descriptions { file, retired, found: Vec::new() };
    search.visit_file(tree);
    search.found
}

struct Descriptions<'a> {
    file: &'a SourceFile,
    retired: &'a [RetiredWord],
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Descriptions<'_> {
    fn visit_field_value(&mut self, field: &'ast FieldValue) {
        if let Member::Named(name) = &field.member
            && DESCRIBING.iter().any(|one| name == one)
            && let Expr::Lit(literal) = &field.expr
            && let Lit::Str(text) = &literal.lit
        {
            let words: Vec<String> =
                text.value().split_whitespace().map(str::to_lowercase).collect();
            let words = words.join(" ");
            let refused = self.retired.iter().filter(|one| one.scope == Scope::Text);
            for one in refused.filter(|one| holds(&words, &one.word)) {
                let place = self.file.at(text.span().start().line - 1);
                self.found.push(format!("{place}: {}", refusal(one)));
            }
        }
        visit::visit_field_value(self, field);
    }
}

/// What of a file's lines is prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prose {
    /// All of a page, and of sentences in other languages.
    Page,
    /// Behind `//`.
    Slashes,
    /// Behind `//`, and in comments that span lines.
    Blocks,
    /// Behind `#`.
    Hashes,
}

/// Files without an ending whose comments are those of a shell.
const HASHED: [&str; 2] = ["setup", "Makefile"];

impl Prose {
    /// That of a file; none where it is not searched.
    fn of(path: &Path) -> Option<Self> {
        let Some(extension) = path.extension() else {
            let name = path.file_name()?.to_str()?;
            return HASHED.contains(&name).then_some(Self::Hashes);
        };
        match extension.to_str()? {
            "md" | "po" => Some(Self::Page),
            "rs" => Some(Self::Slashes),
            "ts" | "tsx" | "c" | "h" | "java" => Some(Self::Blocks),
            "toml" | "sh" => Some(Self::Hashes),
            _ => None,
        }
    }

    /// That of a line.
    fn of_line(self, line: &str) -> Option<&str> {
        let is_block = |line: &str| line.starts_with("/*") || line.starts_with("* ");
        let trimmed = line.trim_start();
        match self {
            Self::Page => Some(line),
            Self::Slashes => comment(line, "//"),
            Self::Blocks if is_block(trimmed) => Some(trimmed),
            Self::Blocks => comment(line, "//").or_else(|| behind_code(line, "/*")),
            Self::Hashes => comment(line, "#"),
        }
    }
}

/// The comment of a line: all of it, or what follows its code.
fn comment<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    let trimmed = line.trim_start();
    if trimmed.starts_with(mark) {
        return Some(trimmed);
    }
    behind_code(line, mark)
}

/// What follows the code of a line, behind a mark between blanks.
fn behind_code<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    let (code, comment) = line.split_once(&format!(" {mark} "))?;
    // After an odd number of quotes the mark is in a text.
    let quotes = code.matches('"').count() - code.matches("\\\"").count();
    quotes.is_multiple_of(2).then_some(comment)
}

/// Whether a text in lower case holds this word, or these words, as a whole.
fn holds(text: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Files and types with a retired name.
fn in_names(files: &[SourceFile], types: &[TypeName], retired: &[RetiredWord]) -> Vec<String> {
    let mut found = Vec::new();
    for one in retired {
        let is_named = |file: &&SourceFile| {
            let stem = file.path.file_stem().and_then(OsStr::to_str);
            file.is_rust() && stem.is_some_and(|stem| is_stem_of(&one.word, stem))
        };
        if one.scope == Scope::Files {
            let places = files.iter().filter(is_named).map(|file| file.path.display());
            found.extend(places.map(|place| format!("{place}: {}", refusal(one))));
        }
        if one.scope == Scope::Types {
            let places = types.iter().filter(|known| known.name == one.word);
            found.extend(places.map(|known| format!("{}: {}", known.place, refusal(one))));
        }
    }
    found
}

/// Whether a file's name is this word, or has it between underscores.
fn is_stem_of(word: &str, stem: &str) -> bool {
    stem == word || stem.split('_').any(|part| part == word)
}

fn refusal(retired: &RetiredWord) -> String {
    format!("`{}` is retired: {} ({WORDS})", retired.word, retired.instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::type_names::types;

    const TABLE: &str = "# Words\n\n## Retired words\n\n| retired | refused in | instead | why |\n\
        |---|---|---|---|\n| `lookout` | text | poller | it polls |\n\
        | `whoever` | comments | the process | a process is no person |\n\
        | `memory files` | text | memfds | the kernel's term |\n\
        | `place` | files | what it holds | it cannot be guessed |\n\
        | `Place` | types | what it is | it was 13 types |\n";

    fn check(files: &[SourceFile]) -> Vec<String> {
        let retired = read_retired(files);
        [in_texts(files, &retired), check_names(files, &types(files), &retired)].concat()
    }

    fn found(path: &str, text: &str) -> Vec<String> {
        let words = SourceFile::new(WORDS, TABLE);
        check(&[words, SourceFile::new(path, text)])
    }

    #[test]
    fn a_retired_word_is_refused_in_comments_and_pages() {
        for (path, text, count) in [
            ("crates/a/src/x.rs", "/// The lookout.\n", 1),
            ("crates/a/src/x.rs", "let x = 1; // A Lookout, here.\n", 1),
            ("crates/a/src/x.rs", "let lookout = \"lookout // lookout\";\n", 0),
            ("crates/a/src/x.rs", "// The lookouts, and lookout_rs.\n", 0),
            ("crates/a/src/x.rs", "// Whoever asks.\n", 1),
            ("web/src/a.ts", "/**\n * A lookout.\n */\n", 1),
            ("web/src/a.css", "/* A lookout. */\n", 0),
            ("apps/a/A.java", "/** A lookout. */\nclass A {} // Whoever asks.\n", 2),
            ("apps/a/A.java", "String lookout = \"lookout\";\n", 0),
            ("crates/a/languages/ko/a.po", "msgid \"the lookout\"\nmsgstr \"\"\n", 1),
            (
                "crates/a/src/x.rs",
                "const A: A = A { doc: \"A\\nLookout.\", id: \"lookout\" };\n",
                1,
            ),
            ("crates/a/src/x.rs", "fn f() { g(&A { summary: r#\"a lookout\"# }) }\n", 1),
            ("crates/a/src/x.rs", "const A: A = A { doc: \"whoever, or outlookout\" };\n", 0),
            ("crates/a/src/x.bpf.c", "/*\n * A lookout.\n */\n// Whoever asks.\n", 2),
            ("crates/a/src/x.bpf.h", "int lookout; /* The lookout. */\n", 1),
            ("crates/a/src/x.bpf.h", "char lookout[] = \"a /* lookout\";\n", 0),
            ("suites/a.toml", "# The lookout.\nblocks = 5 # Whoever asks.\n", 2),
            ("suites/a.toml", "lookout = \"a # lookout\"\n", 0),
            ("tools/a.sh", "lookout # The lookout.\n", 1),
            ("setup", "# Whoever asks.\nlookout\n", 1),
            ("Makefile", "# The lookout.\nlookout:\n\tlookout\n", 1),
            ("LICENSE", "# The lookout.\n", 0),
            ("pages/a.md", "A lookout.\n", 1),
            ("pages/a.md", "Whoever asks.\n", 0),
            ("pages/a.md", "Written by a tool; do not edit.\n\nA lookout.\n", 0),
            ("CHANGELOG.md", "A lookout.\n", 0),
        ] {
            let problems = found(path, text);
            assert_eq!(problems.len(), count, "{path}: {text}: {problems:?}");
        }
    }

    #[test]
    fn a_retired_phrase_is_refused_where_it_begins_on_one_line_and_ends_on_the_next() {
        for (path, text, count) in [
            ("crates/a/src/x.rs", "/// Of memory\n/// files.\n", 1),
            ("crates/a/src/x.rs", "f(); // Of memory\n    // files.\n", 1),
            ("crates/a/src/x.rs", "/// Of memory\nfn f() {}\n/// files.\n", 0),
            ("crates/a/src/x.rs", "/// Of memory files\n/// files.\n", 1),
            ("web/src/a.ts", "/**\n * Of memory\n * files.\n */\n", 1),
            ("suites/a.toml", "# Of memory\n#   files.\n", 1),
            ("crates/a/languages/ko/a.po", "msgid \"of memory \"\n\"files\"\nmsgstr \"\"\n", 1),
            ("pages/a.md", "Of memory\nfiles.\n", 1),
            ("pages/a.md", "Of memory\n\nfiles.\n", 0),
        ] {
            let problems = found(path, text);
            assert_eq!(problems.len(), count, "{path}: {text}: {problems:?}");
        }
    }

    #[test]
    fn a_retired_name_is_refused_for_files_or_types() {
        let instead = "`Place` is retired: what it is (docs/words.md)";
        assert_eq!(
            found("crates/a/src/x.rs", "\nenum Place {}"),
            [format!("crates/a/src/x.rs:2: {instead}")]
        );
        assert_eq!(found("crates/a/src/x.rs", "// A place.\nstruct DataPlace;").len(), 0);
        assert_eq!(found("crates/a/src/place.rs", "").len(), 1);
        assert_eq!(found("pages/place.md", "").len(), 0);
    }

    #[test]
    fn a_part_of_a_files_name_is_refused_like_the_whole() {
        for (path, count) in [
            ("crates/a/src/json_place.rs", 1),
            ("crates/a/src/place_names.rs", 1),
            ("crates/a/src/one/the_place_of.rs", 1),
            ("crates/a/src/placement.rs", 0),
            ("crates/a/src/marketplace_names.rs", 0),
            ("crates/a/src/places.rs", 0),
            ("crates/a/src/place/level.rs", 0),
            ("pages/json_place.md", 0),
        ] {
            let problems = found(path, "");
            assert_eq!(problems.len(), count, "{path}: {problems:?}");
        }
    }

    #[test]
    fn a_table_that_cannot_be_read_is_a_problem() {
        let problems = |text: &str| check(&[SourceFile::new(WORDS, text)]);
        assert_eq!(problems("# Words\n").len(), 1);
        assert_eq!(problems("## Retired words\n\n| `a` | text | b |\n").len(), 1);
        assert_eq!(problems("## Retired words\n\n| `a` | there | b | c |\n").len(), 1);
        assert_eq!(check(&[]), ["docs/words.md: is missing"]);
    }
}
