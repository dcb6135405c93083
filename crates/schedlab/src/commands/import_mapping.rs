//! The mapping of an import is no experiment.

use contract::{Error, Result};
use std::path::Path;

/// Refuses to take the mapping of an import for an experiment.
///
/// # Errors
/// When it is one, or the plan beside it cannot be read.
pub(super) fn refuse(file: &Path, text: &str) -> Result<()> {
    if !store::is_import(text) && !store::is_origin_of_import(file)? {
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
        let error = refuse(&file, &format!("{}[better]\n", store::import_head("csv"))).unwrap_err();
        assert!(error.cause.contains("describes an import"), "{error}");
        refuse(&file, "title = \"import\"\n").unwrap();
        // What else lies in the directory of an experiment is nothing to it.
        std::fs::write(home.path().join("plan.json"), "").unwrap();
        refuse(&file, "title = \"import\"\n").unwrap();
    }
}
