//! Names of files, words that do not belong, and what a crate must not reach for.

use super::tree::SourceFile;

/// Names that say where a file lies instead of what it holds.
const NAMELESS: &[&str] =
    &["mod.rs", "common.rs", "imp.rs", "util.rs", "utils.rs", "helper.rs", "helpers.rs", "misc.rs"];

/// Crates that are pure, and those that may read the environment.
const PURE: &[&str] = &["model", "stats", "plan", "analysis"];
const REACHES_OUT: &[&str] = &[
    "std::fs",
    "std::env",
    "std::process",
    "std::net",
    "SystemTime",
    "Instant::now",
    "rand::rng(",
];
const MAY_READ_ENVIRONMENT: &[&str] = &["schedlab", "schedlab-agent", "testing"];
/// It has one file open for each level of a tree, which others may have made as deep as they like.
const RECURSIVE_REMOVAL: &str = "remove_dir_all";

/// Checks one file of any kind.
pub fn check(file: &SourceFile) -> Vec<String> {
    let mut found = Vec::new();
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    if NAMELESS.contains(&name.as_ref()) {
        found.push(format!("{}: name the file after what it holds", file.path.display()));
    }
    let own_crate = crate_of(file);
    let mut is_in_tests = file.path.components().any(|part| part.as_os_str() == "tests");
    for (number, line) in file.text.lines().enumerate() {
        is_in_tests |= line.trim() == "#[cfg(test)]";
        let mut say = |what: String| found.push(format!("{}: {what}", file.at(number)));
        if let Some(place) = machine_path(line) {
            say(format!("`{place}` is a path of one machine"));
        }
        if file.is_rust() {
            for what in comment_problems(line) {
                say(what.to_owned());
            }
            if let Some(own_crate) = own_crate.as_deref().filter(|_| !is_in_tests)
                && let Some(reached) = reaches_out(own_crate, line)
            {
                say(format!("{own_crate} must not use {reached}: pass what is needed"));
            }
            if own_crate.is_some() && !is_in_tests && code_of(line).contains(RECURSIVE_REMOVAL) {
                say(format!(
                    "{RECURSIVE_REMOVAL} fails on a tree that others made deep: remove_tree of \
                     crates/removal"
                ));
            }
        }
    }
    found
}

/// The crate below `crates/` that a source file belongs to.
fn crate_of(file: &SourceFile) -> Option<String> {
    let mut parts = file.path.iter().map(|part| part.to_string_lossy().into_owned());
    let is_crate = parts.next()? == "crates";
    let name = parts.next()?;
    let is_source = parts.next()? == "src";
    (is_crate && is_source).then_some(name)
}

/// A line without its comment.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn reaches_out(own_crate: &str, line: &str) -> Option<&'static str> {
    let code = code_of(line);
    if PURE.contains(&own_crate) {
        return REACHES_OUT.iter().find(|word| code.contains(**word)).copied();
    }
    let reads_environment = code.contains("env::var");
    (reads_environment && !MAY_READ_ENVIRONMENT.contains(&own_crate)).then_some("std::env")
}

fn comment_problems(line: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    // Written in two parts, so that this file passes its own check.
    let later = concat!("TO", "DO");
    let broken = [concat!("FIX", "ME"), concat!("XX", "X:"), concat!("HA", "CK")];
    if let Some((_, rest)) = line.split_once(later)
        && !rest.trim_start_matches('(').starts_with('#')
    {
        found.push("name the issue of what is left to do: (#12)");
    }
    // Whole words: hackbench is a program.
    let is_word = |word: &&str| {
        let starts = line.match_indices(*word).map(|(start, _)| start);
        let mut ends = starts.map(|start| line[start + word.len()..].chars().next());
        ends.any(|next| !next.is_some_and(char::is_alphanumeric))
    };
    if broken.iter().any(is_word) {
        found.push("repair it, or open an issue");
    }
    let trimmed = line.trim_start();
    let Some(comment) = trimmed.strip_prefix("//") else { return found };
    let text = comment.trim_start_matches(['/', '!']).trim();
    if text.len() > 4 && text.chars().all(|character| "=-*#~+/".contains(character)) {
        found.push("no banners: a file holds one idea");
    }
    let is_doc = comment.starts_with(['/', '!']);
    if !is_doc && (text.ends_with(';') || text.ends_with('{')) {
        found.push("this looks like code in a comment: delete it");
    }
    found
}

/// A path that exists on one person's machine only.
fn machine_path(line: &str) -> Option<&'static str> {
    const PLACES: [&str; 4] = [
        concat!("/ho", "me/"),
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
    ];
    PLACES.into_iter().find(|place| {
        line.match_indices(place).any(|(index, _)| {
            let before = line[..index].chars().next_back();
            !before
                .is_some_and(|character| character.is_alphanumeric() || "_-.}/".contains(character))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&SourceFile::new(path, text)).len()
    }

    #[test]
    fn each_slip_is_found_and_good_lines_are_not() {
        for (line, count) in [
            ("// Why it is so.", 0),
            (concat!("// TO", "DO: later"), 1),
            (concat!("// TO", "DO(#12): later"), 0),
            (concat!("// FIX", "ME"), 1),
            ("// ==========", 1),
            ("// let old = 1;", 1),
            ("/// let example = 1;", 0),
            (concat!("let path = \"/ho", "me/me/x\";"), 1),
            ("let path = \"/sys/kernel/sched_ext/root/ops\";", 0),
        ] {
            assert_eq!(found("crates/lab/src/a.rs", line), count, "{line}");
        }
    }

    #[test]
    fn a_file_is_named_after_what_it_holds() {
        assert_eq!(found("crates/lab/src/mod.rs", ""), 1);
        assert_eq!(found("crates/lab/src/utils.rs", ""), 1);
        assert_eq!(found("crates/lab/src/campaign.rs", ""), 0);
    }

    #[test]
    fn a_tree_is_removed_by_the_own_way_outside_of_tests() {
        let code = "std::fs::remove_dir_all(&path)";
        assert_eq!(found("crates/store/src/a.rs", code), 1);
        assert_eq!(found("crates/store/src/a.rs", "// no remove_dir_all here"), 0);
        assert_eq!(
            found("crates/store/src/a.rs", &format!("#[cfg(test)]\nmod tests {{ {code} }}")),
            0
        );
        for path in ["crates/store/tests/a.rs", "xtask/src/a.rs"] {
            assert_eq!(found(path, code), 0, "{path}");
        }
    }

    #[test]
    fn pure_crates_reach_for_nothing_outside_their_tests() {
        assert_eq!(found("crates/plan/src/a.rs", "use std::fs;"), 1);
        assert_eq!(found("crates/plan/src/a.rs", "#[cfg(test)]\nmod tests { use std::fs; }"), 0);
        assert_eq!(found("crates/store/src/a.rs", "use std::fs;"), 0);
        assert_eq!(found("crates/store/src/a.rs", "std::env::var(\"X\")"), 1);
        assert_eq!(found("crates/schedlab/src/a.rs", "std::env::var(\"X\")"), 0);
    }
}
