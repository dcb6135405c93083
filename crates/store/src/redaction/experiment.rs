//! An experiment's text without its comments and secrets. Its layout and the order of its tables
//! stay: the first subject is the reference.

use super::documents::{PATHS, command, learn_command, path};
use super::kind::SecretKind;
use super::replacer::Replacer;
use contract::shared_names::{COMMAND_LINES, PICKS};

/// Keys whose text is one of our own words.
const OURS: [&str; 6] = ["accelerator", "direction", "reduction", "unit", "use", "venue"];

/// One part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A string, and what it means.
    Text(String),
    /// Anything between strings and comments.
    Bare(String),
}

/// The words of its command lines are secrets elsewhere too.
pub(super) fn learn(text: &str, replacer: &mut Replacer, is_ordinary: &dyn Fn(&str) -> bool) {
    let mut key = String::new();
    let mut before = String::new();
    let mut quoted = String::new();
    let mut parts = parts(text).into_iter().flatten().peekable();
    while let Some(part) = parts.next() {
        match part {
            Part::Bare(bare) => {
                note_key(&bare, &quoted, &mut key);
                before = bare;
            }
            Part::Text(text) => {
                quoted.clone_from(&text);
                if COMMAND_LINES.contains(&key.as_str()) && !is_key(&before, parts.peek()) {
                    let words: Vec<&str> = text.split_whitespace().collect();
                    learn_command(&words, replacer, is_ordinary);
                }
                for (kind, name) in super::patterns::names(&text) {
                    if !is_ordinary(&name) {
                        replacer.add(kind, &name);
                    }
                }
            }
        }
    }
}

/// The text with placeholders; `None` where it is no TOML, so that nothing can be promised.
pub(super) fn redacted(text: &str, replacer: &mut Replacer) -> Option<String> {
    text.parse::<toml::Table>().ok()?;
    let mut redacted = String::new();
    let mut key = String::new();
    let mut before = String::new();
    let mut quoted = String::new();
    let mut parts = parts(text)?.into_iter().peekable();
    while let Some(part) = parts.next() {
        match part {
            Part::Bare(bare) => {
                redacted += &names(&bare, replacer);
                note_key(&bare, &quoted, &mut key);
                before = bare;
            }
            Part::Text(text) => {
                quoted.clone_from(&text);
                let text = match key.as_str() {
                    _ if is_key(&before, parts.peek()) => replacer.text(&text),
                    key if COMMAND_LINES.contains(&key) => {
                        command(&gathered(text, &mut parts), replacer)
                    }
                    key => replaced(key, &text, replacer),
                };
                redacted += &toml::Value::String(text).to_string();
            }
        }
    }
    let lines: Vec<&str> = redacted.lines().map(str::trim_end).collect();
    let redacted = lines.join("\n").trim_start().to_owned() + "\n";
    redacted.parse::<toml::Table>().ok().map(|_| redacted)
}

/// Whether the string between these is a key: of a line, or of a table's heading, which the last
/// string of a list looks like.
fn is_key(before: &str, next: Option<&Part>) -> bool {
    let Some(Part::Bare(next)) = next else {
        return false;
    };
    let line = before.rsplit('\n').next().unwrap_or("").trim_start();
    let is_of_heading = line.starts_with(['[', '.']) && next.trim_start().starts_with(']');
    is_of_heading || next.trim_start().starts_with(['=', '.'])
}

fn replaced(key: &str, text: &str, replacer: &mut Replacer) -> String {
    match key {
        key if OURS.contains(&key) => text.to_owned(),
        key if PATHS.contains(&key) => path(text, replacer),
        key if PICKS.contains(&key) => replacer.placeholder(SecretKind::Pattern, text),
        _ => replacer.text(text),
    }
}

/// All words of a command line that is a list.
fn gathered(first: String, parts: &mut std::iter::Peekable<std::vec::IntoIter<Part>>) -> String {
    let mut words = vec![first];
    while let Some(Part::Bare(between)) = parts.peek() {
        if between.trim() != "," {
            break;
        }
        parts.next();
        if let Some(Part::Text(text)) = parts.peek() {
            words.push(text.clone());
            parts.next();
        }
    }
    words.join(" ")
}

/// Bare keys hold names too; numbers and what stands between stay.
fn names(bare: &str, replacer: &mut Replacer) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut redacted = String::new();
    let mut rest = bare;
    while !rest.is_empty() {
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(length);
        redacted += &if is_number(name) { name.to_owned() } else { replacer.text(name) };
        let next = behind.find(is_name).unwrap_or(behind.len());
        redacted += &behind[..next];
        rest = &behind[next..];
    }
    redacted
}

/// Whether it is a number, or a part of one or of a time (TOML 1.0): a key may begin with a digit
/// as well.
fn is_number(name: &str) -> bool {
    let digits = name.trim_start_matches('-');
    let is_based = ["0x", "0o", "0b"].iter().any(|base| digits.starts_with(base));
    let is_of_number = |c: char| c.is_ascii_digit() || "_-eETtZz".contains(c);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && (is_based || digits.chars().all(is_of_number))
}

/// Keeps the key that stands before the last sign of equality; where none does, it was `quoted`.
fn note_key(bare: &str, quoted: &str, key: &mut String) {
    let Some((before, behind)) = bare.rsplit_once('=') else {
        return;
    };
    // A string behind a list or a number belongs to no key that is known yet.
    let is_between = behind.trim().is_empty() || behind.trim_start().starts_with(['[', '{']);
    let name = before.trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    let name = name.into_iter().next().filter(|name| !name.is_empty()).unwrap_or(quoted);
    *key = if is_between { name.to_owned() } else { String::new() };
}

/// Strings with their meaning, and what is between them, without comments; `None` where a
/// string does not end.
fn parts(text: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut bare = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        match letter {
            '#' => rest = &rest[rest.find('\n').unwrap_or(rest.len())..],
            '"' | '\'' => {
                let length = string(rest, letter)?;
                let (literal, behind) = rest.split_at(length);
                let table: toml::Table = format!("x = {literal}").parse().ok()?;
                parts.push(Part::Bare(std::mem::take(&mut bare)));
                parts.push(Part::Text(table.get("x")?.as_str()?.to_owned()));
                rest = behind;
            }
            letter => {
                bare.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    parts.push(Part::Bare(bare));
    Some(parts)
}

/// The bytes of the string that `text` begins with.
fn string(text: &str, quote: char) -> Option<usize> {
    let long = quote.to_string().repeat(3);
    let end = if text.starts_with(&long) { long } else { quote.to_string() };
    let mut at = end.len();
    loop {
        let rest = text.get(at..)?;
        if rest.starts_with(&end) {
            at += end.len();
            // Up to two more quotes before the closing ones belong to the text (TOML 1.0).
            while end.len() == 3 && text[at..].starts_with(quote) {
                at += 1;
            }
            return Some(at);
        }
        let letter = rest.chars().next()?;
        at += letter.len_utf8();
        if letter == '\\' && quote == '"' {
            at += text[at..].chars().next()?.len_utf8();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# alice measures on buildbox
title = "Does alice's service gain?"   # a secret
venue = "host"
blocks = 8
[subjects.other]
[subjects.alice-tuned]
slice = '3ms'
[[workloads]]
use = "command"
run = ["./acme # no comment", "--key=\u0061lice"]
directory = "/var/home/alice/x"
[workloads.metrics."alice_rate"]
regex = '''acme: (\d+)'''
direction = "higher"
[[workloads]]
use = "command"
run = "./acme '# no comment' --key"
"#;

    #[test]
    fn comments_go_secrets_become_placeholders_and_the_layout_stays() {
        let mut replacer = Replacer::default();
        learn(TEXT, &mut replacer, &|_| false);
        let text = redacted(TEXT, &mut replacer).unwrap();
        let expected = r#"title = "Does redacted-user-1's service gain?"
venue = "host"
blocks = 8
[subjects.other]
[subjects.redacted-user-1-tuned]
slice = "3ms"
[[workloads]]
use = "command"
run = ["redacted-command-1"]
directory = "/redacted-path-1"
[workloads.metrics."redacted-user-1_rate"]
regex = "redacted-pattern-1"
direction = "higher"
[[workloads]]
use = "command"
run = "redacted-command-2"
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn keys_that_are_quoted_or_begin_with_a_digit_are_searched_as_others_are() {
        let text = r#"blocks = 1_000
alpha = 5e-2
[subjects.9-alice]
slice = -3
[subjects."alice 2"]
[[workloads]]
"use" = "command"
"run" = ["./acme", "--key"]
[workloads.metrics]
"regex" = "acme (.*)"
"alice" = { csv = "acme" }
[[workloads]]
use = "fio"
"job_file" = "alices/secret.fio"
directory = "scratch"
[[workloads]]
run = ["quux"]
"#;
        let mut replacer = Replacer::default();
        replacer.add(SecretKind::User, "alice");
        learn(text, &mut replacer, &|_| false);
        let text = redacted(text, &mut replacer).unwrap();
        let expected = r#"blocks = 1_000
alpha = 5e-2
[subjects.9-redacted-user-1]
slice = -3
[subjects."redacted-user-1 2"]
[[workloads]]
"use" = "command"
"run" = ["redacted-command-1"]
[workloads.metrics]
"regex" = "redacted-pattern-1"
"redacted-user-1" = { csv = "redacted-pattern-2" }
[[workloads]]
use = "fio"
"job_file" = "/redacted-path-1"
directory = "/redacted-path-2"
[[workloads]]
run = ["redacted-command-2"]
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn the_command_lines_of_a_service_and_of_what_sends_its_load_are_replaced_too() {
        let text = r#"[[workloads]]
use = "service"
start = "java -jar acme.jar"
generator = "wrk"
drive = "wrk --latency http://acme/"
"#;
        let mut replacer = Replacer::default();
        learn(text, &mut replacer, &|word| word == "wrk");
        let text = redacted(text, &mut replacer).unwrap();
        let expected = r#"[[workloads]]
use = "service"
start = "redacted-command-1"
generator = "wrk"
drive = "redacted-command-2"
"#;
        assert_eq!(text, expected);
        assert!(!replacer.text("acme.jar is lost").contains("acme"));
    }

    #[test]
    fn what_is_no_toml_promises_nothing() {
        for text in ["a = \"", "a = 'x", "no toml", "a = \"\"\"x"] {
            assert_eq!(redacted(text, &mut Replacer::default()), None, "{text}");
        }
    }
}
