//! Something that a build tool makes from a tree of sources, made anew where they have changed.

use artefacts::digest;
use artefacts::files_below;
use artefacts::programs::{Programs, last_lines};
use artefacts::{Error, ErrorKind, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Directories that build tools write into; nothing below them is a source.
const BUILT: &str = "target";
/// Between looks whether the build has ended.
const LOOK: Duration = Duration::from_millis(100);
/// A log from which the reason of a failure is read is no longer than this.
const LONGEST_LOG: u64 = 64 << 20;

/// What is made, from what, and how.
#[derive(Debug, Clone, Copy)]
pub struct FromSources<'s> {
    /// What it is, in words.
    pub what: &'s str,
    /// The tree of sources; the tool runs here.
    pub directory: &'s Path,
    /// The tool and its arguments.
    pub words: &'s [String],
    /// Files or directories that it makes.
    pub products: &'s [PathBuf],
    /// A file for the digest of the sources that the products were made of; the build's log
    /// lies beside it.
    pub stamp: &'s Path,
}

impl FromSources<'_> {
    /// Whether its products are there and made of these very sources, with this tool and words.
    ///
    /// # Errors
    /// When the sources cannot be read.
    pub fn is_fresh(&self) -> Result<bool> {
        let Ok(stamp) = fs::read_to_string(self.stamp) else { return Ok(false) };
        let is_made = self.products.iter().all(|product| product.exists());
        Ok(is_made && stamp == self.digest()?)
    }

    /// Makes it. `goes_on` is asked now and then whether it shall.
    ///
    /// # Errors
    /// When the tool is missing or fails, a product is missing afterwards, or it shall not go on.
    pub fn build(&self, search_path: &str, goes_on: &mut dyn FnMut() -> bool) -> Result<()> {
        let attempted = format!("cannot build {}", self.what);
        let (tool, arguments) = self
            .words
            .split_first()
            .ok_or_else(|| Error::usage(&attempted, "no tool is named", ""))?;
        let program = Programs::new(search_path).need(tool, &attempted, "install it")?;
        // What is changed while it builds is built the next time.
        let digest = self.digest()?;
        let beside = self.stamp.parent().unwrap_or(self.directory);
        fs::create_dir_all(beside).map_err(|error| Error::file("make", beside, error))?;
        let log = beside.join("build.log");
        let output = File::create(&log).map_err(|error| Error::file("write", &log, error))?;
        let errors = output.try_clone().map_err(|error| Error::file("write", &log, error))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.directory).process_group(0);
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let mut child = command.spawn().map_err(|error| Error::environment(&attempted, error))?;
        let status = loop {
            match child.try_wait().map_err(|error| Error::environment(&attempted, error))? {
                Some(status) => break status,
                None if goes_on() => std::thread::sleep(LOOK),
                None => {
                    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
                        // One that has ended by itself meanwhile needs no killing.
                        let _ = kill_process_group(group, Signal::KILL);
                    }
                    let _ = child.wait();
                    return Err(Error::environment(attempted, "it was asked to stop"));
                }
            }
        };
        if !status.success() {
            let reason = failure_reason(&log);
            let cause = format!("{tool} ended with {status}: {reason}");
            let remedy = format!("see {}", log.display());
            return Err(Error::new(ErrorKind::Environment, attempted, cause, remedy));
        }
        if let Some(product) = self.products.iter().find(|product| !product.exists()) {
            let cause = format!("{tool} ended well, but made no {}", product.display());
            return Err(Error::environment(attempted, cause));
        }
        fs::write(self.stamp, digest).map_err(|error| Error::file("write", self.stamp, error))
    }

    /// Of the names and contents of all sources, and of the words.
    fn digest(&self) -> Result<String> {
        let mut text = format!("{:?}\n", self.words);
        for inside in files_below(self.directory)? {
            if inside.iter().any(|part| part == BUILT) {
                continue;
            }
            let path = self.directory.join(&inside);
            // A link that leads nowhere is a source by its name.
            let digest = if path.is_file() { digest::of_file(&path)?.0 } else { String::new() };
            text += &format!("{} {digest}\n", inside.display());
        }
        Ok(digest::of_bytes(text.as_bytes()))
    }
}

/// The reason of a failure, from the log.
fn failure_reason(log: &Path) -> String {
    let is_short = log.metadata().is_ok_and(|found| found.len() <= LONGEST_LOG);
    let bytes = if is_short { fs::read(log).unwrap_or_default() } else { Vec::new() };
    last_lines(&String::from_utf8_lossy(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        ["sh", "-c", text].map(str::to_owned).to_vec()
    }

    /// Builds in a directory with one source; what came of it.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            fs::write(tree.0.path().join("source"), "1").unwrap();
            tree
        }

        fn with<T>(&self, script: &str, act: impl FnOnce(&FromSources<'_>) -> T) -> T {
            let (words, directory) = (words(script), self.0.path());
            let products = [directory.join("target/product")];
            let stamp = directory.join("target/built");
            let (what, products) = ("a thing", &products[..]);
            act(&FromSources { what, directory, words: &words, products, stamp: &stamp })
        }
    }

    const COPY: &str = "cp source target/product; echo made >> target/times";

    #[test]
    fn it_is_made_once_and_again_when_a_source_changes_or_a_product_is_gone() {
        let tree = Tree::new();
        tree.with(COPY, |build| {
            assert!(!build.is_fresh().unwrap());
            build.build("/usr/bin:/bin", &mut || true).unwrap();
            assert!(build.is_fresh().unwrap());
            fs::write(tree.0.path().join("target/junk"), "no source").unwrap();
            assert!(build.is_fresh().unwrap());
            fs::write(tree.0.path().join("source"), "2").unwrap();
            assert!(!build.is_fresh().unwrap());
            build.build("/usr/bin:/bin", &mut || true).unwrap();
            fs::remove_file(&build.products[0]).unwrap();
            assert!(!build.is_fresh().unwrap());
        });
        tree.with("true; cp source target/product", |other| assert!(!other.is_fresh().unwrap()));
    }

    #[test]
    fn what_fails_is_told_with_its_last_words_and_is_not_fresh() {
        let tree = Tree::new();
        let why = |script: &str, path: &str| {
            tree.with(script, |build| {
                let error = build.build(path, &mut || true).unwrap_err();
                assert!(!build.is_fresh().unwrap());
                error.to_string()
            })
        };
        let told = why("echo no room >&2; exit 3", "/usr/bin:/bin");
        assert!(told.contains("no room") && told.contains("build.log"), "{told}");
        assert!(why("true", "/usr/bin:/bin").contains("made no"), "nothing was made");
        assert!(why("true", "/nowhere").contains("has no `sh`"));
    }

    #[test]
    fn one_that_shall_stop_leaves_nobody() {
        let tree = Tree::new();
        let mut looks = 0;
        let mut goes_on = || {
            looks += 1;
            looks < 3
        };
        let script = "sleep 600 & echo $! > target/pid; wait";
        let error = tree.with(script, |build| build.build("/usr/bin:/bin", &mut goes_on));
        assert!(error.unwrap_err().to_string().contains("asked to stop"));
        let pid = fs::read_to_string(tree.0.path().join("target/pid")).unwrap();
        let is_gone = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        // A signal takes effect when its process runs next.
        let began = std::time::Instant::now();
        while !is_gone() {
            assert!(began.elapsed() < Duration::from_secs(60), "the sleeper sleeps on");
            std::thread::sleep(LOOK);
        }
    }
}
