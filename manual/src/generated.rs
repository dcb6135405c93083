//! The generated files below docs/, and whether they are fresh.

use crate::{catalogue_page, exit_codes_page};
use std::fs;
use std::path::Path;

/// Name and content of every generated file.
fn pages() -> Result<Vec<(&'static str, String)>, String> {
    let catalogue = schedlab::catalogue();
    let mut schema = serde_json::to_string_pretty(&plan::schema(&catalogue))
        .map_err(|error| format!("cannot write the schema: {error}"))?;
    schema.push('\n');
    Ok(vec![
        ("catalog.md", catalogue_page::page(&catalogue)),
        ("exit-codes.md", exit_codes_page::page(schedlab::EXIT_CODES)),
        ("experiment.schema.json", schema),
    ])
}

/// Writes every file.
///
/// # Errors
/// The file that could not be written.
pub fn write(docs: &Path) -> Result<(), String> {
    for (name, text) in pages()? {
        let path = docs.join(name);
        fs::write(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Compares every file with what would be written.
///
/// # Errors
/// All files that differ.
pub fn check(docs: &Path) -> Result<(), String> {
    let stale: Vec<String> = pages()?
        .into_iter()
        .filter(|(name, text)| fs::read_to_string(docs.join(name)).ok().as_ref() != Some(text))
        .map(|(name, _)| format!("docs/{name} is stale: run cargo xtask docs"))
        .collect();
    if stale.is_empty() { Ok(()) } else { Err(stale.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_or_missing_page_is_stale() {
        let docs = tempfile::tempdir().unwrap();
        assert_eq!(check(docs.path()).unwrap_err().lines().count(), 3);
        write(docs.path()).unwrap();
        assert_eq!(check(docs.path()), Ok(()));
        fs::write(docs.path().join("catalog.md"), "by hand").unwrap();
        assert_eq!(
            check(docs.path()).unwrap_err(),
            "docs/catalog.md is stale: run cargo xtask docs"
        );
    }
}
