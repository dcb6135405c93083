//! What an import keeps where a run keeps its experiment: the mapping that repeats it.

use contract::{Error, Result};
use std::path::Path;

/// How the first line of one begins.
const BEGIN: &str = "# The mapping of an import, written by `schedlab import";

/// The comment above the mapping of an import of this format.
pub(super) fn head(format: &str) -> String {
    format!(
        "{BEGIN} {format}`: it is no experiment.\n\
         # Repeat the import with: schedlab import {format} FILE --mapping THIS-FILE\n\n"
    )
}

/// Refuses to take the mapping of an import for an experiment.
///
/// # Errors
/// When it is one, or the plan beside it cannot be read.
pub(super) fn refuse(file: &Path, text: &str) -> Result<()> {
    if !text.starts_with(BEGIN) && !store::is_origin_of_import(file)? {
        return Ok(());
    }
    Err(Error::usage(
        format!("cannot plan {}", file.display()),
        "it describes an import and is no experiment: its numbers were measured elsewhere",
        format!(
            "repeat the import: schedlab import FORMAT FILE --mapping {}; `schedlab new` begins \
             an experiment",
            file.display()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_told_from_an_experiment_wherever_it_was_copied_to() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("copy.toml");
        let error = refuse(&file, &format!("{}[better]\n", head("csv"))).unwrap_err();
        assert!(error.cause.contains("describes an import"), "{error}");
        refuse(&file, "title = \"import\"\n").unwrap();
    }
}
