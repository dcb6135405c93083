//! Digests of the user's programs and of directories they consist of: a benchmark that was
//! built anew is another one.

use crate::HostSettings;
use crate::errors::artefact_error;
use contract::{Error, Result};
use model::{Fingerprint, Level, Missing, Plan};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Stands for the content of a link to a directory.
const LINK: &str = "link";
/// How much is read at once.
const CHUNK: usize = 1 << 16;

/// The program files of a plan. What was read is remembered until a file changes.
pub(crate) struct Programs {
    files: BTreeSet<PathBuf>,
    known: BTreeMap<PathBuf, (Stamp, String)>,
}

/// What tells a changed file without reading it: inode, length, time of its change.
type Stamp = (u64, u64, i64, i64);

impl Programs {
    pub(crate) fn of(settings: &HostSettings, plan: &Plan) -> Self {
        let mut files = BTreeSet::new();
        for (_, _, configured) in settings.catalogue.configured(plan) {
            files.extend(configured.facts().files(&settings.machine));
        }
        files.extend(of_levels(settings, plan).into_iter().map(|(path, _)| path));
        Self { files, known: BTreeMap::new() }
    }

    /// Of files that are named.
    pub(crate) fn at(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { files: files.into_iter().collect(), known: BTreeMap::new() }
    }

    /// `program.PATH` and the SHA-256 of each file, in hexadecimal; of a directory that of the
    /// names and digests of what is in it.
    ///
    /// # Errors
    /// When one cannot be read although it is there.
    pub(crate) fn digests(&mut self) -> Result<Fingerprint> {
        let mut digests = Fingerprint::default();
        for path in self.files.clone() {
            let digest = if path.is_dir() { self.of_all_in(&path) } else { self.of_one(&path) };
            digests.0.insert(format!("program.{}", path.display()), digest?);
        }
        Ok(digests)
    }

    fn of_all_in(&mut self, directory: &Path) -> Result<String> {
        let mut hash = Sha256::new();
        for inside in artefacts::files_below(directory).map_err(artefact_error)? {
            let path = directory.join(&inside);
            // A link to a directory: what it leads to is not followed.
            let digest = if path.is_dir() { LINK.to_owned() } else { self.of_one(&path)? };
            hash.update(inside.as_os_str().as_bytes());
            hash.update(format!("\0{digest}\n"));
        }
        Ok(hexadecimal(&hash.finalize()))
    }

    fn of_one(&mut self, path: &Path) -> Result<String> {
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok("gone".to_owned());
            }
            Err(error) => return Err(unreadable(path, &error)),
        };
        let stamp = stamp(&metadata);
        let known = self.known.get(path).filter(|(seen, _)| *seen == stamp);
        let digest = match known {
            Some((_, digest)) => digest.clone(),
            None => digest(path).map_err(|error| unreadable(path, &error))?,
        };
        self.known.insert(path.to_owned(), (stamp, digest.clone()));
        Ok(digest)
    }
}

/// The program files that levels are made of, each with its level.
pub(crate) fn of_levels(settings: &HostSettings, plan: &Plan) -> Vec<(PathBuf, Level)> {
    let mut files = BTreeMap::new();
    for (id, level) in plan.subjects.iter().flat_map(|subject| &subject.levels) {
        if let Some(factor) = settings.catalogue.factor(id) {
            let own = factor.programs(&settings.machine, level).into_iter();
            files.extend(own.map(|path| (path, level.clone())));
        }
    }
    files.into_iter().collect()
}

/// Files that levels are made of and that are not here to be taken along.
pub(crate) fn absent(settings: &HostSettings, plan: &Plan) -> Vec<Missing> {
    let mut absent: Vec<Missing> = Vec::new();
    for (id, level) in plan.subjects.iter().flat_map(|subject| &subject.levels) {
        let Some(factor) = settings.catalogue.factor(id) else { continue };
        let needs = factor.requires(level);
        for need in needs.iter().filter(|need| need.is_taken_along()) {
            let lack = need.met(&settings.machine).err();
            // Subjects may share a scheduler, on two kernels for instance.
            absent.extend(lack.filter(|lack| !absent.contains(lack)));
        }
    }
    absent
}

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.ino(), metadata.len(), metadata.ctime(), metadata.ctime_nsec())
}

fn digest(path: &Path) -> std::io::Result<String> {
    let mut file = sys::open_regular(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            length => hash.update(&chunk[..length]),
        }
    }
    Ok(hexadecimal(&hash.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::environment(format!("cannot read the program {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_another_one_when_anything_in_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let lib = directory.path().join("lib");
        std::fs::create_dir(&lib).unwrap();
        std::fs::write(lib.join("a.jar"), "a").unwrap();
        std::fs::write(lib.join("b.jar"), "b").unwrap();
        std::os::unix::fs::symlink(directory.path(), lib.join("up")).unwrap();
        let mut programs = Programs::at([lib.clone(), directory.path().join("none")]);
        let mut digests = || {
            let all = programs.digests().unwrap().0;
            assert_eq!(all.len(), 2);
            assert_eq!(all[&format!("program.{}/none", directory.path().display())], "gone");
            all[&format!("program.{}", lib.display())].clone()
        };
        let first = digests();
        assert_eq!(first, digests());
        std::fs::write(lib.join("a.jar"), "other").unwrap();
        let second = digests();
        std::fs::rename(lib.join("b.jar"), lib.join("c.jar")).unwrap();
        let third = digests();
        assert!(first != second && second != third, "{first} {second} {third}");
    }
}
