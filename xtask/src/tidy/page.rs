//! Pages that checks hold against the sources.

use super::tree::SourceFile;
use std::path::Path;

/// The page that maps the project.
pub const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// The page that maps the project, or that it is missing.
pub fn architecture(files: &[SourceFile]) -> Result<&SourceFile, String> {
    let page = files.iter().find(|file| file.path == Path::new(ARCHITECTURE));
    page.ok_or_else(|| format!("{ARCHITECTURE}: is not there"))
}

/// The lines below a heading of the second level with their numbers (from 0), up to the next one.
/// There are none where the page lacks the heading.
pub fn section<'f>(page: &'f SourceFile, heading: &str) -> Vec<(usize, &'f str)> {
    let below = page.text.lines().enumerate().skip_while(|(_, line)| *line != heading).skip(1);
    below.take_while(|(_, line)| !line.starts_with("## ")).collect()
}

/// What stands between backticks.
pub fn in_code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let page = SourceFile::new(ARCHITECTURE, "# A\n\n## One\nfirst\n### Part\n## Two\nlast\n");
        assert_eq!(section(&page, "## One"), [(3, "first"), (4, "### Part")]);
        assert_eq!(section(&page, "## Two"), [(6, "last")]);
        assert!(section(&page, "## Three").is_empty());
    }

    #[test]
    fn code_is_what_stands_between_backticks() {
        assert_eq!(in_code("of `a` and `b c`, not d").collect::<Vec<_>>(), ["a", "b c"]);
        assert_eq!(in_code("none").count(), 0);
    }
}
