//! ARCHITECTURE.md lists the formats that the product writes, each with its versions, and no other.

use super::page::{ARCHITECTURE, architecture, in_code, section};
use super::tree::SourceFile;

const HEADING: &str = "## Where state lives";
/// What the name of every format begins with.
const PREFIX: &str = "schedlab.";
/// What the name of a constant ends with that holds a format as it is written. A version that is
/// only read has another name.
const WRITTEN: &str = "FORMAT";

/// Checks all files together.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let page = match architecture(files) {
        Ok(page) => page,
        Err(problem) => return vec![problem],
    };
    let listed = listed(&section(page, HEADING));
    let written: Vec<(String, &str)> =
        files.iter().filter(|file| is_of_product(file)).flat_map(written).collect();
    let mut found = Vec::new();
    for (place, format) in &written {
        if !listed.iter().any(|(_, one)| one == format) {
            found.push(format!("{place}: {format} is not below `{HEADING}` of {ARCHITECTURE}"));
        }
    }
    for (number, format) in &listed {
        if !written.iter().any(|(_, one)| one == format) {
            found.push(format!("{}: no constant is {format}", page.at(*number)));
        }
    }
    found
}

fn is_of_product(file: &SourceFile) -> bool {
    file.is_rust() && file.path.starts_with("crates")
}

/// The formats of lines of the page with the numbers of these lines. `/4` is another version of
/// the format before it.
fn listed(lines: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut listed = Vec::new();
    let mut name = "";
    for &(number, line) in lines {
        for code in in_code(line) {
            let Some((before, version)) = code.rsplit_once('/') else { continue };
            if !is_version(version) {
                continue;
            }
            if before.starts_with(PREFIX) {
                name = before;
            } else if !before.is_empty() {
                continue;
            }
            listed.push((number, format!("{name}/{version}")));
        }
    }
    listed
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The formats that constants of a source hold, each with its place.
fn written(file: &SourceFile) -> Vec<(String, &str)> {
    let lines = file.text.lines().enumerate();
    lines.filter_map(|(number, line)| Some((file.at(number), written_by(line)?))).collect()
}

/// The format that a line declares as one that is written.
fn written_by(line: &str) -> Option<&str> {
    let (declaration, rest) = line.split_once(": &str = \"")?;
    let (kind, name) = declaration.rsplit_once(' ')?;
    let format = rest.strip_suffix("\";")?;
    let is_constant = kind.ends_with("const") && name.ends_with(WRITTEN);
    (is_constant && format.starts_with(PREFIX)).then_some(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "/// A plan.\npub const PLAN_FORMAT: &str = \"schedlab.plan/3\";\n\
        pub const PACED_PLAN_FORMAT: &str = \"schedlab.plan/4\";\n\
        const FORMAT: &str = \"schedlab.kernel-index/12\";\n";

    fn found(list: &str, path: &str, source: &str) -> Vec<String> {
        let page = format!("# Map\n\n## Where state lives\n\n{list}\n\n## Words\n\n`/8`\n");
        check(&[SourceFile::new(ARCHITECTURE, page), SourceFile::new(path, source)])
    }

    #[test]
    fn what_is_listed_and_written_is_told_nothing_of() {
        let list = "In `/run/x`: `schedlab.plan/3`, `/4` with a pace; `a.json` of \
            `schedlab.kernel-index/12`, and `schedlab.outside`, 1`/`2.";
        assert_eq!(found(list, "crates/a/src/x.rs", SOURCE), [""; 0]);
    }

    #[test]
    fn a_version_that_the_page_lacks_is_told_with_its_place() {
        let list = "`schedlab.plan/3`; `schedlab.kernel-index/12`";
        let problem = "crates/a/src/x.rs:3: schedlab.plan/4 is not below `## Where state lives` \
            of ARCHITECTURE.md";
        assert_eq!(found(list, "crates/a/src/x.rs", SOURCE), [problem]);
        assert_eq!(found("", "crates/a/src/x.rs", SOURCE).len(), 3);
        // Only the product's sources count.
        assert_eq!(found("", "xtask/src/x.rs", SOURCE), [""; 0]);
        assert_eq!(found("", "crates/a/notes.txt", SOURCE), [""; 0]);
    }

    #[test]
    fn a_version_that_nothing_writes_is_told_with_its_line() {
        let list = "`schedlab.plan/3`, `/4`, `/5`; `schedlab.kernel-index/12`";
        let problem = "ARCHITECTURE.md:5: no constant is schedlab.plan/5";
        assert_eq!(found(list, "crates/a/src/x.rs", SOURCE), [problem]);
        assert_eq!(check(&[]).len(), 1);
    }

    #[test]
    fn what_is_only_read_or_no_format_need_not_be_listed() {
        for line in [
            "pub const UNBOUND_STATE: &str = \"schedlab.state/1\";",
            "const FORMAT: &str = \"csv\";",
            "const FORMATS: [&str; 1] = [\"schedlab.state/2\"];",
            "let text = \"schedlab.state/2\";",
        ] {
            assert_eq!(found("", "crates/a/src/x.rs", line), [""; 0], "{line}");
        }
    }
}
