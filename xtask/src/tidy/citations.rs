//! Citations lead somewhere: links between pages, definitions by their anchors, decisions by
//! their numbers. Pages that strangers do not have are not cited.

use super::tree::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Where decisions lie, a page each, named after its number.
const DECISIONS: &str = "docs/adr";
/// Names of pages that the first authors were given and that are no part of the project. Written
/// in two parts, so that this file passes its own check.
const FOREIGN: [&str; 3] = [concat!("STATIS", "TICS"), concat!("DES", "IGN"), concat!("TR", "APS")];
/// What happened stays as it was told.
const HISTORY: &str = "CHANGELOG.md";

/// Checks all files together. `exists` says whether a path below the workspace is there: pictures
/// and directories are linked to, and are no text.
pub fn check(files: &[SourceFile], exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let pages = Pages::of(files, exists);
    files.iter().flat_map(|file| pages.broken_in(file)).collect()
}

/// What can be cited.
struct Pages<'a> {
    /// Every page in Markdown with its anchors.
    anchors: BTreeMap<&'a Path, BTreeSet<String>>,
    /// Numbers of the decisions.
    decisions: BTreeSet<u32>,
    exists: &'a dyn Fn(&Path) -> bool,
}

impl<'a> Pages<'a> {
    fn of(files: &'a [SourceFile], exists: &'a dyn Fn(&Path) -> bool) -> Self {
        let pages = files.iter().filter(|file| is_markdown(&file.path));
        Self {
            anchors: pages.map(|file| (file.path.as_path(), anchors(&file.text))).collect(),
            decisions: files.iter().filter_map(|file| number_of(&file.path)).collect(),
            exists,
        }
    }

    /// Everything that a file cites and should not, or that is not there.
    fn broken_in(&self, file: &SourceFile) -> Vec<String> {
        let is_page = is_markdown(&file.path);
        // A link may spell its page as a citation does: what is wrong is told once.
        let mut broken: BTreeSet<(usize, String)> = BTreeSet::new();
        for (number, line) in file.text.lines().enumerate() {
            let foreign = foreign(line, is_page).filter(|_| file.path != Path::new(HISTORY));
            broken.extend(foreign.map(|page| {
                (number, format!("strangers have no page {page}: say it here, or cite ours"))
            }));
            broken.extend(self.cited(line, is_page).into_iter().map(|what| (number, what)));
        }
        for (number, line) in outside_fences(&file.text).filter(|_| is_page) {
            let targets = targets(line);
            let lost = targets.iter().filter_map(|target| self.linked(&file.path, target));
            broken.extend(lost.map(|what| (number, what)));
        }
        broken.into_iter().map(|(number, what)| format!("{}: {what}", file.at(number))).collect()
    }

    /// What is wrong with the decisions that a line names, and with the pages that it names by
    /// their path below the workspace. Beside these a page knows others by relative paths.
    fn cited(&self, line: &str, is_page: bool) -> Vec<String> {
        let is_meant = |page: &str| {
            page.starts_with("docs/") || (!is_page && self.anchors.contains_key(Path::new(page)))
        };
        let pages = named(line).into_iter().filter(|(page, _)| is_meant(page));
        let lost = pages.filter_map(|(page, anchor)| self.lack(Path::new(page), anchor));
        let unknown = decisions(line).into_iter().filter(|number| !self.decisions.contains(number));
        lost.chain(unknown.map(|number| format!("there is no decision {number}"))).collect()
    }

    /// What is wrong with a page's link.
    fn linked(&self, from: &Path, target: &str) -> Option<String> {
        if target.contains("://") || target.starts_with("mailto:") {
            return None;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let page = if path.is_empty() { from.to_owned() } else { joined(from, path) };
        self.lack(&page, anchor)
    }

    /// What is missing: the file, or the anchor where one is asked of a page.
    fn lack(&self, page: &Path, anchor: &str) -> Option<String> {
        if !(self.exists)(page) {
            return Some(format!("there is no {}", page.display()));
        }
        let anchors = self.anchors.get(page)?;
        let is_lost = !anchor.is_empty() && !anchors.contains(anchor);
        is_lost.then(|| format!("{} has no anchor `{anchor}`", page.display()))
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The number of a decision's page.
fn number_of(path: &Path) -> Option<u32> {
    let name = path.strip_prefix(DECISIONS).ok()?.to_str()?;
    name.split_once('-')?.0.parse().ok()
}

/// Lines outside fenced code, with their numbers.
pub fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fence && !is_fenced
    })
}

/// The anchors of a page: those that are written, and those that GitHub gives headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut headings: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in outside_fences(text) {
        let written = line.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        anchors.extend(written.map(str::to_owned));
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        if (1..=6).contains(&level) && heading.starts_with(' ') {
            let slug = slug(heading);
            let earlier = headings.entry(slug.clone()).or_default();
            anchors.insert(if *earlier == 0 { slug } else { format!("{slug}-{earlier}") });
            *earlier += 1;
        }
    }
    anchors
}

/// A heading's anchor: lower case, spaces as `-`, and no punctuation but `-` and `_`.
fn slug(heading: &str) -> String {
    let heading = heading.trim().to_lowercase();
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// What a line of Markdown links to: `[text](target)`, but not in code.
fn targets(line: &str) -> Vec<String> {
    let parts: Vec<&str> = line.split('`').collect();
    let has_code = parts.len() % 2 == 1;
    let plain: String =
        if has_code { parts.into_iter().step_by(2).collect() } else { line.to_owned() };
    let targets = plain.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    targets.filter(|target| !target.is_empty()).map(str::to_owned).collect()
}

/// Pages that a line names, each with the anchor that follows it.
fn named(line: &str) -> Vec<(&str, &str)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/._-#".contains(letter);
    let words = line.split(|letter: char| !is_part(letter));
    let pages = words.filter_map(|word| {
        let word = word.trim_end_matches('.');
        let (page, anchor) = word.split_once('#').unwrap_or((word, ""));
        page.ends_with(".md").then_some((page, anchor))
    });
    pages.collect()
}

/// Numbers of the decisions that a line names.
fn decisions(line: &str) -> Vec<u32> {
    let number = |(at, word): (usize, &str)| {
        let is_word = !line[..at].ends_with(char::is_alphanumeric);
        let rest = line[at + word.len()..].trim_start_matches('s').strip_prefix(' ')?;
        let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok().filter(|_| is_word)
    };
    line.match_indices("ADR").filter_map(number).collect()
}

/// The page of others that a line of a page, or the comment of a line of code, names.
fn foreign(line: &str, is_page: bool) -> Option<&'static str> {
    let told = if is_page { line } else { comment(line)? };
    let is_inside = |letter: char| letter.is_alphanumeric() || letter == '_';
    FOREIGN.into_iter().find(|page| {
        told.match_indices(*page).any(|(at, _)| {
            !told[..at].ends_with(is_inside) && !told[at + page.len()..].starts_with(is_inside)
        })
    })
}

/// From where a line of code is a comment, in each of the project's languages.
fn comment(line: &str) -> Option<&str> {
    let trimmed = line.trim_start();
    if trimmed.starts_with('*') {
        return Some(trimmed);
    }
    let begins = ["//", "/*", "#"].into_iter().filter_map(|mark| line.find(mark));
    begins.min().map(|at| &line[at..])
}

/// A path as a page links to it, from the workspace.
fn joined(from: &Path, path: &str) -> PathBuf {
    let mut joined = from.to_owned();
    joined.pop();
    for part in Path::new(path).components() {
        if part == Component::ParentDir {
            joined.pop();
        } else if let Component::Normal(name) = part {
            joined.push(name);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| SourceFile::new(PathBuf::from(path), *text);
        let files: Vec<SourceFile> = files.iter().map(file).collect();
        let exists = |path: &Path| files.iter().any(|file| file.path.starts_with(path));
        check(&files, &exists)
    }

    /// What is found in a file beside a page of definitions, a decision and a map.
    fn found_in(path: &str, text: &str) -> Vec<String> {
        found(&[
            ("docs/method.md", "<a id=\"m-verdict\"></a>\n## The verdict\n"),
            ("docs/adr/0007-a-fake-kernel-in-a-directory.md", "# 0007: A fake kernel\n"),
            ("ARCHITECTURE.md", "## Layers\n"),
            (path, text),
        ])
    }

    #[test]
    fn a_citation_in_a_comment_needs_its_page_its_anchor_and_its_decision() {
        for line in [
            "// By docs/method.md#m-verdict, docs/method.md#the-verdict; see docs/method.md.",
            "// The table of ARCHITECTURE.md#layers (ADR 7, ADR 0007, ADRs 7 and more).",
            "// docs/adr/0007-a-fake-kernel-in-a-directory.md, docs/*.md, ADR n, soak.md#of-another",
        ] {
            assert_eq!(found_in("a.rs", line), Vec::<String>::new(), "{line}");
        }
        // Spelled in two parts, because this file is checked as well.
        for (line, what) in [
            (concat!("// docs/meth", "od.md#m-lost."), "docs/method.md has no anchor `m-lost`"),
            (concat!("// See do", "cs/lost.md."), concat!("there is no do", "cs/lost.md")),
            (concat!("// Measured, see AD", "R 99."), "there is no decision 99"),
            (concat!("// ARCHITECT", "URE.md#cellar"), "ARCHITECTURE.md has no anchor `cellar`"),
        ] {
            assert_eq!(found_in("a.rs", line), [format!("a.rs:1: {what}")]);
        }
    }

    #[test]
    fn a_link_is_followed_from_the_page_that_has_it() {
        let page = "docs/manual/soak.md";
        for line in [
            "[a](../method.md#m-verdict) and [`b`](../method.md#the-verdict), [c](#here)",
            "[c](../../ARCHITECTURE.md#layers \"a title\") ![d](../adr) [e](https://x.example/#y)",
            "`[f](lost.md)` is code",
            "```\n[f](lost.md)\n```",
        ] {
            assert_eq!(found_in(page, &format!("# Here\n{line}\n")).len(), 0, "{line}");
        }
        let broken = found_in(page, "[a](../method.md#m-lost)\n[b](lost.md#x) [c](#there)\n");
        let expected = [
            format!("{page}:1: docs/method.md has no anchor `m-lost`"),
            format!("{page}:2: {page} has no anchor `there`"),
            format!("{page}:2: there is no docs/manual/{}", "lost.md"),
        ];
        assert_eq!(broken, expected);
        let told_once = concat!("[docs/meth", "od.md#m-lost](docs/meth", "od.md#m-lost)");
        assert_eq!(found_in("README.md", told_once).len(), 1);
    }

    #[test]
    fn headings_have_the_anchors_that_github_gives_them() {
        let text = "# `[vm]`: Alike, for *every* boot\n## Under_score\n## Twice\n## Twice\n\
                    ```\n# No heading\n```\n#none\n<a id=\"m-own\"></a>Text\n";
        let expected = ["m-own", "twice", "twice-1", "under_score", "vm-alike-for-every-boot"];
        assert_eq!(anchors(text).iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn pages_that_strangers_lack_are_cited_by_the_changelog_alone() {
        let [page, other, _] = FOREIGN;
        for (path, line, count) in [
            ("a.rs", format!("/// One number ({page} 2.3)."), 1),
            ("a.rs", format!("const {other}: u8 = 0; // as {other}.md says"), 1),
            ("a.rs", format!("const {other}: &str = \"UNBLOCKED_{other}\";"), 0),
            ("a.rs", format!("// UNBLOCKED_{other} is a code."), 0),
            ("a.c", format!(" * see {page}"), 1),
            ("a.toml", format!("libm = \"0.2\" # {page}: reproducibility"), 1),
            ("docs/ci.md", format!("What {other} says."), 1),
            ("CHANGELOG.md", format!("{page} went."), 0),
        ] {
            assert_eq!(found_in(path, &line).len(), count, "{path}: {line}");
        }
    }
}
