//! The generated files below docs/ and web/src/generated, the generated parts of README.md,
//! docs/words.md, docs/method.md and docs/manual/restoring.md, and whether they are fresh.

use crate::{
    catalogue_page, caveats_table, exit_codes_page, front_end_types, schedulers_page, undo_table,
};
use std::fs;
use std::path::Path;

/// Path below the project and content of every generated file.
fn files() -> Result<Vec<(String, String)>, String> {
    let catalogue = schedlab::catalogue();
    let mut schema = serde_json::to_string_pretty(&plan::schema(&catalogue))
        .map_err(|error| format!("cannot write the schema: {error}"))?;
    schema.push('\n');
    let docs = [
        ("catalog.md", catalogue_page::page(&catalogue)),
        ("exit-codes.md", exit_codes_page::page(schedlab::EXIT_CODES)),
        ("experiment.schema.json", schema),
        ("schedulers.md", schedulers_page::page()),
    ];
    let docs = docs.into_iter().map(|(name, text)| (format!("docs/{name}"), text));
    let types = front_end_types::files()?;
    let types = types.into_iter().map(|(name, text)| (format!("web/src/generated/{name}"), text));
    Ok(docs.chain(types).collect())
}

/// What is generated in a page that people write, between two marks.
struct Part {
    /// Path below the project.
    page: &'static str,
    name: &'static str,
    text: fn() -> String,
}

const PARTS: &[Part] = &[
    Part { page: "README.md", name: "schedulers", text: schedulers_page::table },
    Part { page: "docs/words.md", name: "caveats", text: caveats_table::table },
    Part { page: "docs/method.md", name: "rules", text: caveats_table::rules },
    Part { page: "docs/method.md", name: "obstacles", text: caveats_table::obstacles },
    Part { page: "docs/manual/restoring.md", name: "undo", text: undo_table::table },
];

impl Part {
    /// The page with the part of today between its marks.
    fn fresh(&self, page: &str) -> Result<String, String> {
        let begin = format!("<!-- {}: written by cargo xtask docs -->\n", self.name);
        let end = format!("<!-- end of {} -->\n", self.name);
        let around = page.split_once(&begin).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(&end)?;
            Some((before, after))
        });
        let (before, after) =
            around.ok_or_else(|| format!("{} lacks the marks of {}", self.page, self.name))?;
        Ok(format!("{before}{begin}{}{end}{after}", (self.text)()))
    }
}

/// Writes the generated parts of pages that people write.
///
/// # Errors
/// When a page cannot be read or written, or has no place for its part.
pub fn write_parts(project: &Path) -> Result<(), String> {
    for part in PARTS {
        let path = project.join(part.page);
        let text = part.fresh(&read(&path)?)?;
        fs::write(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Compares the generated parts of pages that people write with what would be written.
///
/// # Errors
/// All pages that differ, cannot be read, or have no place for their part.
pub fn check_parts(project: &Path) -> Result<(), String> {
    let stale = |part: &Part| -> Result<(), String> {
        let text = read(&project.join(part.page))?;
        let is_fresh = part.fresh(&text)? == text;
        is_fresh
            .then_some(())
            .ok_or_else(|| format!("{} is stale: run cargo xtask docs", part.page))
    };
    let stale: Vec<String> = PARTS.iter().filter_map(|part| stale(part).err()).collect();
    if stale.is_empty() { Ok(()) } else { Err(stale.join("\n")) }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Writes every file.
///
/// # Errors
/// The file that could not be written.
pub fn write(project: &Path) -> Result<(), String> {
    for (name, text) in files()? {
        let path = project.join(name);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Compares every file with what would be written.
///
/// # Errors
/// All files that differ.
pub fn check(project: &Path) -> Result<(), String> {
    let stale: Vec<String> = files()?
        .into_iter()
        .filter(|(name, text)| fs::read_to_string(project.join(name)).ok().as_ref() != Some(text))
        .map(|(name, _)| format!("{name} is stale: run cargo xtask docs"))
        .collect();
    if stale.is_empty() { Ok(()) } else { Err(stale.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_between_its_marks_is_written_and_nothing_else() {
        let (begin, end) =
            ("<!-- schedulers: written by cargo xtask docs -->\n", "<!-- end of schedulers -->\n");
        let text = format!("# Title\n{begin}stale\n{end}by hand\n");
        let fresh = PARTS[0].fresh(&text).unwrap();
        assert!(fresh.contains("`fair`") && !fresh.contains("stale"), "{fresh}");
        assert!(fresh.starts_with("# Title\n") && fresh.ends_with("by hand\n"));
        assert_eq!(PARTS[0].fresh(&fresh).unwrap(), fresh);
        assert!(PARTS[0].fresh("no marks").is_err());
    }

    #[test]
    fn a_changed_or_missing_file_is_stale() {
        let project = tempfile::tempdir().unwrap();
        assert_eq!(check(project.path()).unwrap_err().lines().count(), 6);
        write(project.path()).unwrap();
        assert_eq!(check(project.path()), Ok(()));
        for name in ["docs/catalog.md", "web/src/generated/page.ts"] {
            fs::write(project.path().join(name), "by hand").unwrap();
        }
        assert_eq!(
            check(project.path()).unwrap_err(),
            "docs/catalog.md is stale: run cargo xtask docs\n\
             web/src/generated/page.ts is stale: run cargo xtask docs"
        );
    }
}
