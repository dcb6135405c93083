//! Inputs kept in the project. A file whose name begins with `ok` must be
//! accepted, one with `bad` refused; a corpus has at least one of each.

use crate::{FuzzTarget, Reaction};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A target's inputs, by file name.
pub struct Corpus(pub Vec<(String, Vec<u8>)>);

/// Where a target's inputs lie.
pub fn corpus_folder(target: &FuzzTarget) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(&target.name)
}

impl Corpus {
    /// Reads every file of a folder, in order of name.
    ///
    /// # Errors
    /// When the folder or a file cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut inputs = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            inputs.push((name, fs::read(&path)?));
        }
        inputs.sort();
        Ok(Self(inputs))
    }

    /// Files that the target does not read as their names say.
    pub fn surprises(&self, target: &FuzzTarget) -> Vec<String> {
        let mut surprises = Vec::new();
        for prefix in ["ok", "bad"] {
            if !self.0.iter().any(|(name, _)| name.starts_with(prefix)) {
                surprises.push(format!("{}: no input begins with `{prefix}`", target.name));
            }
        }
        for (name, input) in &self.0 {
            let expected = if name.starts_with("ok") {
                Reaction::Accepted
            } else if name.starts_with("bad") {
                Reaction::Refused
            } else {
                surprises.push(format!("{}/{name}: begins with neither ok nor bad", target.name));
                continue;
            };
            let reaction = target.run(input);
            if reaction != expected {
                surprises.push(format!("{}/{name}: was {reaction:?}", target.name));
            }
        }
        surprises
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TARGETS;

    #[test]
    fn every_corpus_is_read_as_its_file_names_say() {
        for target in TARGETS.iter() {
            let corpus = Corpus::read(&corpus_folder(target)).unwrap();
            assert_eq!(corpus.surprises(target), Vec::<String>::new());
        }
    }

    #[test]
    fn every_corpus_folder_has_a_target() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        for entry in fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(crate::target(&name).is_some(), "{name} belongs to no target");
        }
    }

    #[test]
    fn a_corpus_that_is_not_read_as_named_is_told() {
        let target = crate::target("cpu-list").unwrap();
        let corpus = Corpus(vec![("bad-a".into(), b"0".to_vec()), ("other".into(), b"0".to_vec())]);
        assert_eq!(corpus.surprises(target).len(), 3);
    }
}
