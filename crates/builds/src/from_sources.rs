//! Something that a build tool makes from a tree of sources, made anew where they have changed.

use artefacts::digest;
use artefacts::files_below;
use artefacts::programs::{Programs, last_lines};
use artefacts::{Error, ErrorKind, Result, read_entry};
use build_user::{BuildUser, LockedMaven, NOT_FETCHED, TreeBuild, TreeCommand};
use model::CACHE_DOCUMENT_BYTES;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

/// Directories that build tools write into; nothing below them is a source.
const BUILT: &str = "target";
/// The tool whose artefacts may be locked.
const MAVEN: &str = "mvn";
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
        let Ok(stamp) = read_entry(self.stamp, CACHE_DOCUMENT_BYTES.most) else { return Ok(false) };
        let is_made = self.products.iter().all(|product| product.exists());
        Ok(is_made && stamp == self.digest()?.as_bytes())
    }

    /// Makes it. Where there is a build user, that user does, and the products are taken over; else
    /// the caller does. Maven gets what the sources' lock file names and nothing else, where they
    /// have one. `goes_on` is asked now and then whether it shall.
    ///
    /// # Errors
    /// When the tool is missing or fails, a product is missing afterwards, something was fetched that
    /// the lock file does not name, or it shall not go on.
    pub fn build(
        &self,
        search_path: &str,
        user: Option<&BuildUser>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
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
        let build = TreeBuild { directory: self.directory, user };
        let maven = if tool == MAVEN { LockedMaven::of(self.directory)? } else { None };
        let status = match maven {
            None => self.run(build.command(&program, arguments, None)?, &log, goes_on)?,
            Some(maven) => {
                let mut status =
                    self.run(maven.offline(&program, arguments, build)?, &log, goes_on)?;
                if !status.success() && text_of(&log).contains(NOT_FETCHED) {
                    status =
                        self.run(maven.fetching(&program, arguments, build)?, &log, goes_on)?;
                    if status.success() {
                        maven.accept()?;
                        status =
                            self.run(maven.offline(&program, arguments, build)?, &log, goes_on)?;
                    }
                }
                status
            }
        };
        if !status.success() {
            let cause = format!("{tool} ended with {status}: {}", last_lines(&text_of(&log)));
            let remedy = format!("see {}", log.display());
            return Err(Error::new(ErrorKind::Environment, attempted, cause, remedy));
        }
        for product in self.products {
            build.take(product)?;
            if !product.exists() {
                let cause = format!("{tool} ended well, but made no {}", product.display());
                return Err(Error::environment(attempted, cause));
            }
        }
        fs::write(self.stamp, digest).map_err(|error| Error::file("write", self.stamp, error))
    }

    /// Runs a command to its end, or until it shall not go on; what it says is in the log.
    fn run(
        &self,
        mut prepared: TreeCommand,
        log: &Path,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<ExitStatus> {
        let attempted = format!("cannot build {}", self.what);
        let output = File::create(log).map_err(|error| Error::file("write", log, error))?;
        let errors = output.try_clone().map_err(|error| Error::file("write", log, error))?;
        prepared.command.process_group(0).stdout(output).stderr(errors);
        let spawned = prepared.command.spawn();
        let mut child = spawned.map_err(|error| Error::environment(&attempted, error))?;
        loop {
            match child.try_wait().map_err(|error| Error::environment(&attempted, error))? {
                Some(status) => return Ok(status),
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
        }
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

/// What a tool said; nothing where it said far too much.
fn text_of(log: &Path) -> String {
    let is_short = log.metadata().is_ok_and(|found| found.len() <= LONGEST_LOG);
    let bytes = if is_short { fs::read(log).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use build_user::BuildVariables;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

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
            build.build("/usr/bin:/bin", None, &mut || true).unwrap();
            assert!(build.is_fresh().unwrap());
            fs::write(tree.0.path().join("target/junk"), "no source").unwrap();
            assert!(build.is_fresh().unwrap());
            fs::write(tree.0.path().join("source"), "2").unwrap();
            assert!(!build.is_fresh().unwrap());
            build.build("/usr/bin:/bin", None, &mut || true).unwrap();
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
                let error = build.build(path, None, &mut || true).unwrap_err();
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
    fn a_build_user_makes_it_and_the_caller_takes_it_over() {
        let programs = Programs::new("/usr/sbin:/usr/bin:/sbin:/bin");
        let Ok(Some(user)) = BuildUser::find(&programs, &BuildVariables::default()) else {
            testing::skip("builds have a user of their own where root has privileges to give up");
            return;
        };
        let tree = Tree::new();
        // A temporary directory is closed to others; a tree of sources is not.
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(tree.0.path(), open).unwrap();
        let build = |script: &str| {
            tree.with(script, |build| build.build("/usr/bin:/bin", Some(&user), &mut || true))
        };
        build("id -u > target/product").unwrap();
        let product = tree.0.path().join("target/product");
        assert_ne!(fs::read_to_string(&product).unwrap(), "0\n");
        assert_eq!(fs::metadata(&product).unwrap().uid(), 0);
        let error = build("echo 2 > source").unwrap_err();
        assert!(error.to_string().contains("ended with"), "{error}");
        let error = build("ln -sf /etc/shadow target/product").unwrap_err();
        assert!(error.to_string().contains("cannot take over"), "{error}");
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
        let error = tree.with(script, |build| build.build("/usr/bin:/bin", None, &mut goes_on));
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
