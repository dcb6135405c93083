//! The generated files below docs/ and web/src/generated, the generated part of README.md, and whether they are
//! fresh.

use crate::{catalogue_page, exit_codes_page, front_end_types, schedulers_page};
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

/// Around what is generated in a file that people write.
const BEGIN: &str = "<!-- schedulers: written by cargo xtask docs -->\n";
const END: &str = "<!-- end of schedulers -->\n";

/// README with the table of today between its marks.
fn readme(text: &str) -> Result<String, String> {
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = parts.ok_or("README.md lacks the marks of the table of schedulers")?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", schedulers_page::table()))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Writes the generated part of README.
///
/// # Errors
/// When it cannot be read or written, or has no place for it.
pub fn write_readme(path: &Path) -> Result<(), String> {
    let text = readme(&read(path)?)?;
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Compares the generated part of README with what would be written.
///
/// # Errors
/// When it differs, cannot be read, or has no place for it.
pub fn check_readme(path: &Path) -> Result<(), String> {
    let text = read(path)?;
    if readme(&text)? == text {
        return Ok(());
    }
    Err("README.md is stale: run cargo xtask docs".to_owned())
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
    fn the_part_of_readme_between_its_marks_is_written_and_nothing_else() {
        let text = format!("# Title\n{BEGIN}stale\n{END}by hand\n");
        let fresh = readme(&text).unwrap();
        assert!(fresh.contains("`fair`") && !fresh.contains("stale"), "{fresh}");
        assert!(fresh.starts_with("# Title\n") && fresh.ends_with("by hand\n"));
        assert_eq!(readme(&fresh).unwrap(), fresh);
        assert!(readme("no marks").is_err());
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
