//! Stamps of steps: what depends on nothing but some files and programs need not be repeated while
//! these are the same.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Below the workspace; those of proofs lie there, too.
const STAMPS: &str = "target/tests/stamps";
/// What is made from the files beside it.
const MADE: &[&str] = &["node_modules", "target", "dist", "dist-headless"];

/// What a step rests on.
#[derive(Debug, Clone, Copy)]
pub struct StepInputs {
    /// Files and folders below the workspace.
    pub files: &'static [&'static str],
    /// Programs that tell their versions when they are run so.
    pub programs: &'static [&'static [&'static str]],
}

/// What a step leaves that passed.
pub struct StepStamp {
    path: PathBuf,
    digest: String,
}

impl StepStamp {
    /// That of a step as things are now.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of(root: &Path, name: &str, inputs: &StepInputs) -> io::Result<Self> {
        let mut hasher = DefaultHasher::new();
        for place in inputs.files {
            add(root, Path::new(place), &mut hasher)?;
        }
        Ok(Self::with(root, name, hasher, inputs.programs))
    }

    /// That of a step that rests on any file of the project: all that git knows or would add.
    ///
    /// # Errors
    /// When git does not tell them, or one cannot be read.
    pub fn of_project(root: &Path, name: &str, programs: &[&[&str]]) -> io::Result<Self> {
        let mut command = Command::new("git");
        command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let output = command.current_dir(root).stdin(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(io::Error::other("git does not list the files of the project"));
        }
        let mut hasher = DefaultHasher::new();
        let paths = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        for path in paths.map(|bytes| Path::new(OsStr::from_bytes(bytes))) {
            // One that was deleted is still listed until that is committed.
            let bytes = match fs::read(root.join(path)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                read => Some(read?),
            };
            (path, bytes).hash(&mut hasher);
        }
        Ok(Self::with(root, name, hasher, programs))
    }

    fn with(root: &Path, name: &str, mut hasher: DefaultHasher, programs: &[&[&str]]) -> Self {
        for words in programs {
            words.hash(&mut hasher);
            version(words).hash(&mut hasher);
        }
        let path = root.join(STAMPS).join(name.replace(' ', "-"));
        Self { path, digest: format!("{:016x}", hasher.finish()) }
    }

    /// Whether the step passed with the same inputs.
    pub fn is_fresh(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|text| text == self.digest)
    }

    /// Leaves it. Without a stamp the step runs again, which is all that can happen.
    pub fn leave(&self) {
        let _ = self.path.parent().map(fs::create_dir_all);
        let _ = fs::write(&self.path, &self.digest);
    }
}

/// Names and bytes of a file, or of all below a folder, in order.
fn add(root: &Path, place: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let path = root.join(place);
    if !path.is_dir() {
        place.hash(hasher);
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(path)?.collect();
    let mut names: Vec<_> = entries?.into_iter().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names.iter().filter(|name| MADE.iter().all(|made| *name != made)) {
        add(root, &place.join(name), hasher)?;
    }
    Ok(())
}

/// What a program says of itself; nothing where it is not there.
fn version(words: &[&str]) -> Option<Vec<u8>> {
    let (program, arguments) = words.split_first()?;
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    Some([output.stdout, output.stderr].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: StepInputs =
        StepInputs { files: &["web", "one"], programs: &[&["no-such-program"]] };

    #[test]
    fn a_step_is_fresh_until_a_file_of_its_is_another() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("web/src/a.ts", "a");
        write("web/dist/index.html", "made");
        write("one", "1");
        let stamp = || StepStamp::of(root.path(), "a step", &INPUTS).unwrap();
        assert!(!stamp().is_fresh());
        stamp().leave();
        assert!(stamp().is_fresh());
        write("web/dist/index.html", "made anew");
        assert!(stamp().is_fresh(), "what is made is no input");
        for (name, text) in [("web/src/b.ts", "a"), ("web/src/a.ts", "b"), ("one", "2")] {
            write(name, text);
            assert!(!stamp().is_fresh(), "{name}");
            stamp().leave();
        }
        fs::remove_file(root.path().join("one")).unwrap();
        assert!(StepStamp::of(root.path(), "a step", &INPUTS).is_err());
    }

    #[test]
    fn what_rests_on_the_project_is_fresh_until_any_file_of_it_is_another() {
        let root = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            let status = Command::new("git").args(words).current_dir(root.path()).status().unwrap();
            assert!(status.success(), "{words:?}");
        };
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        let stamp = || StepStamp::of_project(root.path(), "tests", &[]).unwrap();
        git(&["init", "--quiet"]);
        for (name, text) in [(".gitignore", "target\n"), ("known", "1"), ("new", "1")] {
            write(name, text);
        }
        git(&["add", "known"]);
        stamp().leave();
        assert!(stamp().is_fresh());
        for (name, text) in [("known", "2"), ("new", "2"), ("another", "1")] {
            write(name, text);
            assert!(!stamp().is_fresh(), "{name}");
            stamp().leave();
        }
        fs::remove_file(root.path().join("known")).unwrap();
        assert!(!stamp().is_fresh(), "deleted");
        fs::remove_dir_all(root.path().join(".git")).unwrap();
        assert!(StepStamp::of_project(root.path(), "tests", &[]).is_err());
    }
}
