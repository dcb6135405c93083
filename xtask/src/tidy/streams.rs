//! Text is made inert where it leaves, so few files of the product reach for a standard stream:
//! each stands in a list, with why it may and with what makes its text inert.

use super::tree::SourceFile;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::path::Path;

/// This file, for messages.
const LIST: &str = "xtask/src/tidy/streams.rs";
/// Crates of tests alone.
const OF_TESTS: [&str; 3] = ["crates/fault-sim", "crates/fixtures", "crates/testing"];
/// Nothing in a file without one of these names a stream or prints.
const WORDS: [&str; 4] = ["stdout", "stderr", "print", "_FILENO"];

/// A file that may reach for a standard stream.
struct Writer {
    path: &'static str,
    /// The function of `model` that makes its text inert; none where it writes no text for people.
    made_inert_by: Option<&'static str>,
    why: &'static str,
}

/// All of them.
const WRITERS: &[Writer] = &[
    Writer {
        path: "crates/agent/src/serve.rs",
        made_inert_by: Some("legible_lines"),
        why: "the error that ends an agent",
    },
    Writer {
        path: "crates/assembly/src/log.rs",
        made_inert_by: Some("inert_text"),
        why: "the lines that SCHEDLAB_LOG asks for",
    },
    Writer {
        path: "crates/assembly/src/roles.rs",
        made_inert_by: None,
        why: "the socket address of a peer, for the program that started it",
    },
    Writer {
        path: "crates/assembly/src/standard_error.rs",
        made_inert_by: Some("legible_lines"),
        why: "what a role or an agent tells",
    },
    Writer {
        path: "crates/executor/src/background.rs",
        made_inert_by: None,
        why: "frames for the executor",
    },
    Writer {
        path: "crates/executor/src/guardian.rs",
        made_inert_by: Some("legible_lines"),
        why: "the guardian's log",
    },
    Writer {
        path: "crates/executor/src/host_load.rs",
        made_inert_by: Some("legible_lines"),
        why: "answers for the guest, and what ends the role",
    },
    Writer {
        path: "crates/executor/src/load_process.rs",
        made_inert_by: None,
        why: "frames for the executor",
    },
    Writer {
        path: "crates/executor/src/long_lived_service.rs",
        made_inert_by: None,
        why: "frames for the executor",
    },
    Writer {
        path: "crates/schedlab/src/commands/vm.rs",
        made_inert_by: None,
        why: "what the user's own program in a guest writes, byte for byte",
    },
    Writer {
        path: "crates/schedlab/src/output.rs",
        made_inert_by: Some("legible_lines"),
        why: "all that the command line writes",
    },
    Writer {
        path: "crates/schedulers/src/own/serve.rs",
        made_inert_by: Some("legible_lines"),
        why: "what ends a scheduler of ours, and what libbpf says of it",
    },
];

/// Where a file reaches for a standard stream that is not listed, and what of the list is not so.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let is_there = |one: &&Writer| files.iter().any(|file| file.path == Path::new(one.path));
    let missing = WRITERS.iter().filter(|one| !is_there(one));
    let missing = missing.map(|one| format!("{}: is listed in {LIST} and is missing", one.path));
    of_files(files).into_iter().chain(missing).collect()
}

fn of_files(files: &[SourceFile]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| is_checked(file)) {
        let lines = lines(file);
        let Some(writer) = WRITERS.iter().find(|one| Path::new(one.path) == file.path) else {
            found.extend(lines.into_iter().map(|line| refused(&file.at(line - 1))));
            continue;
        };
        if lines.is_empty() {
            found.push(format!(
                "{}: reaches for no standard stream ({}): take it from the list in {LIST}",
                writer.path, writer.why
            ));
        }
        if let Some(function) = writer.made_inert_by.filter(|name| !file.text.contains(name)) {
            found.push(format!(
                "{}: `{function}` is to make its text inert ({}), and is not called there",
                writer.path, writer.why
            ));
        }
    }
    found
}

/// The product's own code.
fn is_checked(file: &SourceFile) -> bool {
    let mut parts = file.path.iter();
    let is_source = parts.next().is_some_and(|part| part == "crates")
        && parts.nth(1).is_some_and(|part| part == "src");
    let is_test = file.path.iter().any(|part| part == "tests" || part == "tests.rs");
    let is_of_tests = OF_TESTS.iter().any(|folder| file.path.starts_with(folder));
    is_source && file.is_rust() && !is_test && !is_of_tests
}

fn refused(place: &str) -> String {
    format!(
        "{place}: reaches for a standard stream: what it writes is not made inert there. Return it \
         or use `output` of `schedlab` or `assembly::tell`; a file that must is listed in {LIST}"
    )
}

/// The lines, from 1, in which the code of a file reaches for a standard stream, tests apart.
fn lines(file: &SourceFile) -> Vec<usize> {
    let mut found = Vec::new();
    if WORDS.iter().any(|word| file.text.contains(word)) {
        // What does not parse is told by the check of sizes.
        if let Ok(tokens) = file.text.parse::<TokenStream>() {
            search(tokens, &mut found);
        }
    }
    found.dedup();
    found
}

fn search(tokens: TokenStream, found: &mut Vec<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if is_test_attribute(&tokens, at) {
            at = end_of_item(&tokens, at + 2);
            continue;
        }
        match token {
            TokenTree::Group(group) => search(group.stream(), found),
            TokenTree::Ident(name) if is_stream(&tokens, at, &name.to_string()) => {
                found.push(name.span().start().line);
            }
            _ => {}
        }
        at += 1;
    }
}

fn is_test_attribute(tokens: &[TokenTree], at: usize) -> bool {
    let is_test = |token: &TokenTree| token.to_string().replace(' ', "") == "[cfg(test)]";
    is_sign(tokens.get(at), '#') && tokens.get(at + 1).is_some_and(is_test)
}

/// Behind the braces, or the semicolon, that end the item which begins there.
fn end_of_item(tokens: &[TokenTree], begin: usize) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        other => is_sign(Some(other), ';'),
    };
    let rest = tokens.get(begin..).unwrap_or_default();
    rest.iter().position(is_end).map_or(tokens.len(), |end| begin + end + 1)
}

/// Whether the name at this place is that of a stream, or of a macro that prints.
fn is_stream(tokens: &[TokenTree], at: usize, name: &str) -> bool {
    let before = |signs: usize| at.checked_sub(signs).and_then(|at| tokens.get(at));
    let next = tokens.get(at + 1);
    match name {
        "STDOUT_FILENO" | "STDERR_FILENO" => true,
        "print" | "println" | "eprint" | "eprintln" => is_sign(next, '!'),
        "stdout" | "stderr" => {
            let is_path = is_sign(before(1), ':') && is_sign(before(2), ':');
            let is_method = is_sign(before(1), '.');
            let is_called = matches!(next, Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Parenthesis && group.stream().is_empty());
            is_path || (is_called && !is_method)
        }
        _ => false,
    }
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        of_files(&[SourceFile::new(path, text)])
    }

    #[test]
    fn a_standard_stream_is_refused_in_whatever_way_code_names_it() {
        for code in [
            "let _ = std::io::stdout().write_all(bytes);",
            "let _ = writeln!(std::io::stderr(), \"{text}\");",
            "log(io::stderr);",
            "let output = stdout().lock();",
            "rustix::io::write(rustix::stdio::stdout(), bytes);",
            "let it = libc::STDERR_FILENO;",
            "anstream::println!(\"{text}\");",
            "eprint!(\"{text}\");",
        ] {
            let text = format!("fn f() {{\n    {code}\n}}\n");
            let told = found("crates/lab/src/a.rs", &text);
            assert_eq!(told.len(), 1, "{code}: {told:?}");
            assert!(told[0].starts_with("crates/lab/src/a.rs:2: "), "{told:?}");
        }
    }

    #[test]
    fn streams_of_other_programs_comments_and_tests_are_free() {
        for text in [
            "fn f() { command.stdout(Stdio::piped()); child.stderr.take(); run.stdout() }\n",
            "fn f(stdout: &str, [_, stderr]: [&str; 2]) { print(stdout); g(\"stderr()\") }\n",
            "/// Written to `std::io::stderr()`.\nfn f() {} // println!(\"\")\n",
            "#[cfg(test)]\nmod tests { fn f() { println!(\"{}\", 1) } }\n",
        ] {
            assert_eq!(found("crates/lab/src/a.rs", text), [""; 0], "{text}");
        }
        let code = "fn f() { println!(\"\") }\n";
        for path in [
            "crates/lab/tests/a.rs",
            "crates/lab/build.rs",
            "crates/lab/src/a/tests.rs",
            "crates/testing/src/lib.rs",
            "xtask/src/main.rs",
        ] {
            assert_eq!(found(path, code), [""; 0], "{path}");
        }
        let behind_tests = format!("#[cfg(test)]\nuse a::b;\n{code}");
        assert_eq!(found("crates/lab/src/a.rs", &behind_tests).len(), 1);
    }

    #[test]
    fn a_listed_file_writes_and_makes_its_text_inert() {
        let path = "crates/executor/src/guardian.rs";
        let writes = "fn f() { let _ = writeln!(io::stderr(), \"{}\", inert(line)); }\n";
        let told = found(path, writes);
        assert!(told.len() == 1 && told[0].contains("`legible_lines` is to make"), "{told:?}");
        assert_eq!(found(path, &writes.replace("inert", "model::legible_lines")), [""; 0]);
        let told = found(path, "use model::legible_lines;\n");
        assert!(told.len() == 1 && told[0].contains("take it from the list"), "{told:?}");
        assert!(WRITERS.is_sorted_by_key(|writer| writer.path));
        assert_eq!(check(&[]).len(), WRITERS.len(), "a listed file that is missing is told");
    }
}
