//! Every generated sentence in every language: what `say!`, `counted!`, `noted!` and `.word("…")`
//! hold in the source, against the catalogues `crates/phrases/languages/*/report.po`. What caveats
//! mean has its languages beside it (`codes!` in `crates/model/src/caveat.rs`).

use super::tree::SourceFile;
use proc_macro2::{Group, Literal, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the catalogues lie, a folder for each language.
const LANGUAGES: &str = "crates/phrases/languages";
const CATALOGUE: &str = "report.po";
/// The crate that defines the macros: its tests say what nobody translates.
const PHRASES: &str = "crates/phrases/src";

/// English sentences, each with where it is said first.
type Sentences = BTreeMap<String, String>;

/// What some files say.
#[derive(Default)]
pub struct SaidSentences {
    sentences: Sentences,
    /// What is wrong with how it is said.
    found: Vec<String>,
}

/// What these files say.
pub fn said(files: &[SourceFile]) -> SaidSentences {
    let mut said = SaidSentences::default();
    for file in files.iter().filter(|file| is_searched(file)) {
        // What does not parse is told by the check of sizes.
        if let Ok(tokens) = file.text.parse() {
            let SaidSentences { sentences, found } = &mut said;
            Search { file, sentences, found }.tokens(tokens);
        }
    }
    said
}

impl SaidSentences {
    /// Adds what later files say.
    pub fn add(&mut self, later: Self) {
        for (sentence, place) in later.sentences {
            self.sentences.entry(sentence).or_insert(place);
        }
        self.found.extend(later.found);
    }
}

/// Checks what all files say against the catalogues among them.
pub fn check(files: &[SourceFile], said: SaidSentences) -> Vec<String> {
    let SaidSentences { sentences, mut found } = said;
    for file in files.iter().filter(|file| is_catalogue(&file.path)) {
        found.extend(compared(file, &sentences));
    }
    found
}

fn is_searched(file: &SourceFile) -> bool {
    let is_source =
        file.path.starts_with("crates") && file.path.iter().nth(2) == Some("src".as_ref());
    file.is_rust() && is_source && !file.path.starts_with(PHRASES)
}

fn is_catalogue(path: &Path) -> bool {
    path.starts_with(LANGUAGES) && path.file_name() == Some(CATALOGUE.as_ref())
}

/// Looks through one file.
struct Search<'a> {
    file: &'a SourceFile,
    sentences: &'a mut Sentences,
    found: &'a mut Vec<String>,
}

impl Search<'_> {
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else { continue };
            let name = |back: usize| match at.checked_sub(back).map(|at| &tokens[at]) {
                Some(TokenTree::Ident(ident)) => ident.to_string(),
                Some(TokenTree::Punct(punct)) => punct.to_string(),
                _ => String::new(),
            };
            match [name(2).as_str(), name(1).as_str()] {
                ["mod", "tests"] => continue,
                ["say", "!"] => self.sentence(group),
                ["counted", "!"] => self.counted(group),
                ["noted", "!"] => self.plain(arguments(group).first()),
                [".", "word"] => self.word(group),
                _ => {}
            }
            self.tokens(group.stream());
        }
    }

    /// `say!(language, "{count} of {all}", count, all = 2)`.
    fn sentence(&mut self, group: &Group) {
        let arguments = arguments(group);
        let given: BTreeSet<String> =
            arguments.iter().skip(2).filter_map(|one| Some(one.first()?.to_string())).collect();
        self.filled(group, arguments.get(1), &given);
    }

    /// `counted!(language, count, "1 trial", "{count} trials")`.
    fn counted(&mut self, group: &Group) {
        let arguments = arguments(group);
        self.plain(arguments.get(2));
        self.filled(group, arguments.get(3), &BTreeSet::from(["count".to_owned()]));
    }

    /// `.word("…")`; what comes from a table is marked there.
    fn word(&mut self, group: &Group) {
        let arguments = arguments(group);
        if arguments.first().and_then(literal).is_some() {
            self.plain(arguments.first());
        }
    }

    /// A sentence whose blanks are filled: with nothing but what it is given, because a variable
    /// that only English captures is a blank for ever in other languages.
    fn filled(
        &mut self,
        group: &Group,
        argument: Option<&Vec<TokenTree>>,
        given: &BTreeSet<String>,
    ) {
        let line = group.span_open().start().line - 1;
        let Some((_, sentence)) = argument.and_then(literal) else {
            self.found.push(format!("{}: the sentence is not a literal", self.file.at(line)));
            return;
        };
        for blank in blanks(&sentence).into_keys().filter(|blank| !given.contains(blank)) {
            self.found.push(format!("{}: `{blank}` is not given", self.file.at(line)));
        }
        self.keep(line, sentence);
    }

    /// A sentence that nobody fills.
    fn plain(&mut self, argument: Option<&Vec<TokenTree>>) {
        let Some((literal, sentence)) = argument.and_then(literal) else { return };
        let line = literal.span().start().line - 1;
        if !blanks(&sentence).is_empty() {
            self.found.push(format!("{}: only `say!` fills blanks", self.file.at(line)));
        }
        self.keep(line, sentence);
    }

    fn keep(&mut self, line: usize, sentence: String) {
        self.sentences.entry(sentence).or_insert_with(|| self.file.at(line));
    }
}

/// What stands between the commas of a macro or a call.
fn arguments(group: &Group) -> Vec<Vec<TokenTree>> {
    let mut arguments = vec![Vec::new()];
    for token in group.stream() {
        match (&token, arguments.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => arguments.push(Vec::new()),
            (_, Some(last)) => last.push(token),
            _ => {}
        }
    }
    arguments
}

/// The text of an argument that is a string.
fn literal(argument: &Vec<TokenTree>) -> Option<(Literal, String)> {
    let [TokenTree::Literal(literal)] = argument.as_slice() else { return None };
    let text = syn::parse_str::<syn::LitStr>(&literal.to_string()).ok()?;
    Some((literal.clone(), text.value()))
}

/// The names of a sentence's blanks, without their formats, and how often each stands there.
fn blanks(sentence: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for part in sentence.split('{').skip(1) {
        let name = part.split('}').next().unwrap_or_default();
        let name = name.split(':').next().unwrap_or_default();
        *found.entry(name.to_owned()).or_insert(0) += 1;
    }
    found
}

/// What a catalogue lacks, has too much, or fills otherwise.
fn compared(file: &SourceFile, sentences: &Sentences) -> Vec<String> {
    let path = file.path.display();
    let catalogue = match polib::po_file::parse_from_reader(file.text.as_bytes()) {
        Ok(catalogue) => catalogue,
        Err(error) => return vec![format!("{path}: {error}")],
    };
    let mut found = Vec::new();
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut last = "";
    for message in catalogue.messages() {
        let english = message.msgid();
        if !sentences.contains_key(english) {
            found.push(format!("{path}: nobody says {english:?}"));
        }
        if english < last {
            found.push(format!("{path}: {english:?} is not in the order of the alphabet"));
        }
        last = english;
        if message.is_translated() && !message.is_fuzzy() {
            known.insert(english, message.msgstr().unwrap_or_default());
        }
    }
    let entries = file.text.lines().filter(|line| line.starts_with("msgid ")).count();
    if entries != catalogue.count() + 1 {
        found.push(format!("{path}: a sentence stands there twice"));
    }
    for (english, place) in sentences {
        match known.get(english.as_str()) {
            None => found.push(format!("{path}: lacks {english:?} ({place})")),
            Some(translated) if blanks(translated) != blanks(english) => {
                found.push(format!("{path}: {translated:?} has other blanks than {english:?}"));
            }
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "msgid \"\"\nmsgstr \"\"\n\"Language: xx\\n\"\n\
                          \"Content-Type: text/plain; charset=UTF-8\\n\"\n";

    fn found(source: &str, entries: &[(&str, &str)]) -> Vec<String> {
        let entry = |(english, translated): &(&str, &str)| {
            format!("\nmsgid \"{english}\"\nmsgstr \"{translated}\"\n")
        };
        let catalogue = entries.iter().map(entry).collect::<String>();
        let file = |path: &str, text: String| SourceFile::new(path, text);
        let files = [
            file("crates/report/src/a.rs", source.to_owned()),
            file("crates/phrases/languages/xx/report.po", format!("{HEADER}{catalogue}")),
        ];
        check(&files, said(&files))
    }

    #[test]
    fn a_sentence_is_named_by_where_it_is_said_first() {
        let file = |path: &str| [SourceFile::new(path, "fn f() { l.word(\"a\"); }")];
        let mut all = said(&file("crates/report/src/a.rs"));
        all.add(said(&file("crates/report/src/b.rs")));
        assert_eq!(all.sentences["a"], "crates/report/src/a.rs:1");
    }

    #[test]
    fn a_sentence_is_found_however_it_is_said() {
        let source = "const A: &str = noted!(\"a table\");\n\
             fn f() { g(say!(x.language, \"b {n}\", n), counted!(x, n, \"1 c\", \"{count} c\")); }\n\
             fn h() { writeln!(o, \"{}\", language.word(\"d \\\n   e\")); language.word(A); }\n\
             mod tests { fn t() { language.word(\"nobody\"); } }\n";
        let all = ["1 c", "a table", "b {n}", "d e", "{count} c"];
        assert_eq!(found(source, &all.map(|one| (one, one))), Vec::<String>::new());
        let missing = found(source, &[]);
        assert_eq!(missing.len(), all.len(), "{missing:?}");
        assert!(missing[2].ends_with("lacks \"b {n}\" (crates/report/src/a.rs:2)"), "{missing:?}");
    }

    #[test]
    fn what_a_language_lacks_or_has_too_much_is_named() {
        let source = "fn f() { say!(l, \"{a} of {b}\", a = 1, b = 2); }";
        let check = |entries: &[(&str, &str)], expected: &str| {
            let problems = found(source, entries);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains(expected), "{problems:?}");
        };
        check(&[], "lacks \"{a} of {b}\"");
        check(&[("{a} of {b}", "")], "lacks");
        check(&[("other", "x"), ("{a} of {b}", "{b} / {a}")], "nobody says \"other\"");
        check(&[("{a} of {b}", "{a}")], "other blanks");
        check(&[("{a} of {b}", "{a} {b} {b}")], "other blanks");
        check(&[("{a} of {b}", "{a} {c}")], "other blanks");
        let twice = [("{a} of {b}", "{a} {b}"), ("{a} of {b}", "{a} {b}")];
        check(&twice, "twice");
    }

    #[test]
    fn entries_stand_in_order() {
        let source = "fn f() { l.word(\"a\"); l.word(\"b\"); }";
        assert_eq!(found(source, &[("b", "x"), ("a", "y")]).len(), 1);
        assert_eq!(found(source, &[("a", "y"), ("b", "x")]).len(), 0);
    }

    #[test]
    fn a_blank_that_only_english_would_fill_is_named() {
        let entries = [("{a} of {b}", "{a} / {b}")];
        let problems = found("fn f() { say!(l, \"{a} of {b}\", a); }", &entries);
        assert_eq!(problems, ["crates/report/src/a.rs:1: `b` is not given"]);
        let problems = found("fn f() { l.word(\"{a} of {b}\"); }", &entries);
        assert_eq!(problems, ["crates/report/src/a.rs:1: only `say!` fills blanks"]);
        let problems = found("fn f() { say!(l, TEXT, a); }", &[]);
        assert_eq!(problems, ["crates/report/src/a.rs:1: the sentence is not a literal"]);
    }
}
