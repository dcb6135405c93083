//! A build tool that runs in a tree of sources.
//!
//! A build user sees the tree as it is and cannot change it. Directories called `target`, which
//! build tools write into, are others in the user's view: those of the tree stay the caller's. Each
//! command begins with empty ones: an earlier one may have run what nobody had compared yet.

use crate::product::take_file;
use crate::user::{BuildUser, Views};
use artefacts::{Error, Result, files_below, remove_tree};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What build tools write into.
const TARGET: &str = "target";
/// Below the `target` of the tree: those that a build user sees instead.
const OUTPUTS: &str = "target/build-user";
/// That of the tree itself.
const TOP: &str = "top";
/// What a directory with a `target` of its own has beside it.
const DESCRIPTION: &str = "pom.xml";

/// A tree of sources, and as whom a tool runs in it.
#[derive(Debug, Clone, Copy)]
pub struct TreeBuild<'b> {
    /// The sources.
    pub directory: &'b Path,
    /// The user who builds; none: the caller does.
    pub user: Option<&'b BuildUser>,
}

/// A command, and what it needs as long as it runs.
#[derive(Debug)]
pub struct TreeCommand {
    /// To be started.
    pub command: Command,
    _views: Option<Views>,
}

impl TreeBuild<'_> {
    /// A tool in the tree; a build user finds nothing of what earlier commands made. A directory that
    /// it is told of, such as a repository, is an argument that
    /// begins with the given words and ends with its path; it stands before all others.
    ///
    /// # Errors
    /// When the build's directories cannot be made.
    pub fn command(
        &self,
        program: &Path,
        arguments: &[String],
        told: Option<(&str, &Path)>,
    ) -> Result<TreeCommand> {
        let fail = |error: io::Error| Error::file("build in", self.directory, error);
        let Some(user) = self.user else {
            let mut command = Command::new(program);
            command.current_dir(self.directory).stdin(Stdio::null());
            command.args(told.map(|(words, path)| format!("{words}{}", path.display())));
            command.args(arguments);
            return Ok(TreeCommand { command, _views: None });
        };
        match remove_tree(&self.directory.join(OUTPUTS)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        let mut views = Views::new(user).map_err(fail)?;
        let tree = views.show("tree", self.directory).map_err(fail)?;
        for (module, output) in self.modules() {
            // What is mounted over has to be there.
            fs::create_dir_all(self.directory.join(&module).join(TARGET)).map_err(fail)?;
            user.give(&output).map_err(fail)?;
            views.cover(&tree.join(&module).join(TARGET), &output).map_err(fail)?;
        }
        let told = match told {
            Some((words, path)) => {
                let at = views.show("told", path).map_err(fail)?;
                Some(format!("{words}{}", at.display()))
            }
            None => None,
        };
        let mut command = views.command(program, &tree).map_err(fail)?;
        command.args(told).args(arguments);
        Ok(TreeCommand { command, _views: Some(views) })
    }

    /// Where the caller finds what a build leaves in the `target` of each module.
    pub fn outputs(&self) -> Vec<PathBuf> {
        let of = |(module, output): (PathBuf, PathBuf)| match self.user {
            Some(_) => output,
            None => self.directory.join(module).join(TARGET),
        };
        self.modules().into_iter().map(of).collect()
    }

    /// Takes a product, a file or all files of a directory, over to its place in the tree. Without a
    /// build user it is there.
    ///
    /// # Errors
    /// When it is no path of a `target` of the tree, is missing, or has a link in it.
    pub fn take(&self, product: &Path) -> Result<()> {
        if self.user.is_none() {
            return Ok(());
        }
        let own = self.modules().into_iter().find_map(|(module, output)| {
            let place = self.directory.join(module).join(TARGET);
            Some((output, product.strip_prefix(place).ok()?.to_owned()))
        });
        let (output, inside) = own.ok_or_else(|| {
            Error::file("take over", product, "it lies in no `target` of the tree of sources")
        })?;
        let made = output.join(&inside);
        let kind = made.symlink_metadata().map_err(|error| Error::file("find", &made, error))?;
        if !kind.is_dir() {
            return take_file(&output, &inside, product, 0o644);
        }
        // What an earlier build left is none of this one.
        match remove_tree(product) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::file("remove", product, error));
            }
            _ => {}
        }
        for file in files_below(&made)? {
            take_file(&output, &inside.join(&file), &product.join(&file), 0o644)?;
        }
        Ok(())
    }

    /// The tree itself and each directory in it that is built apart, with what the build user has
    /// as its `target`.
    fn modules(&self) -> Vec<(PathBuf, PathBuf)> {
        let outputs = self.directory.join(OUTPUTS);
        let entries = fs::read_dir(self.directory).into_iter().flatten().flatten();
        let names = entries.map(|entry| PathBuf::from(entry.file_name()));
        let has_description =
            |name: &PathBuf| self.directory.join(name).join(DESCRIPTION).is_file();
        let mut names: Vec<PathBuf> = names.filter(has_description).collect();
        names.sort();
        let each = names.into_iter().map(|name| (name.clone(), outputs.join("modules").join(name)));
        std::iter::once((PathBuf::new(), outputs.join(TOP))).chain(each).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::tests::user;
    use std::os::unix::fs::{MetadataExt, symlink};

    /// A tree of two modules, `tree` below a directory that is closed to others.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let closed = tempfile::tempdir().unwrap();
        let tree = closed.path().join("tree");
        fs::create_dir_all(tree.join("service")).unwrap();
        for name in ["pom.xml", "service/pom.xml", "service/source"] {
            fs::write(tree.join(name), "1").unwrap();
        }
        (closed, tree)
    }

    fn run(build: &TreeBuild<'_>, script: &str) -> bool {
        let arguments = ["-c", script].map(str::to_owned);
        let mut prepared = build.command(Path::new("/bin/sh"), &arguments, None).unwrap();
        prepared.command.stderr(Stdio::null()).status().unwrap().success()
    }

    const MAKE: &str = "mkdir -p service/target/lib && cp service/source service/target/lib/a.jar && id -u > target/who";

    #[test]
    fn a_build_user_writes_to_target_alone_and_its_products_become_the_callers() {
        let Some(user) = user() else { return };
        let (_closed, tree) = tree();
        let build = TreeBuild { directory: &tree, user: Some(&user) };
        assert!(!run(&build, "touch service/new"));
        assert!(!run(&build, "echo 2 > service/source"));
        assert!(run(&build, MAKE));
        let lib = tree.join("service/target/lib");
        assert!(!lib.exists(), "the caller's own directory is untouched");
        fs::create_dir_all(&lib).unwrap();
        fs::write(lib.join("old.jar"), "").unwrap();
        build.take(&lib).unwrap();
        assert_eq!(fs::read_to_string(lib.join("a.jar")).unwrap(), "1");
        assert!(!lib.join("old.jar").exists());
        assert_eq!(fs::metadata(lib.join("a.jar")).unwrap().uid(), 0);
        let who = tree.join("target/who");
        build.take(&who).unwrap();
        assert_ne!(fs::read_to_string(who).unwrap(), "0\n");
        // One that leads elsewhere is refused, and so is a path outside.
        symlink("/etc/passwd", build.outputs()[1].join("lib/link.jar")).unwrap();
        assert!(build.take(&lib).is_err());
        assert!(build.take(&tree.join("service/source")).is_err());
    }

    #[test]
    fn a_command_finds_nothing_of_what_an_earlier_one_left() {
        let Some(user) = user() else { return };
        let (_closed, tree) = tree();
        let build = TreeBuild { directory: &tree, user: Some(&user) };
        assert!(run(&build, "touch target/left service/target/left"));
        assert!(build.outputs().iter().all(|output| output.join("left").exists()));
        assert!(run(&build, "[ ! -e target/left ] && [ ! -e service/target/left ]"));
    }

    #[test]
    fn without_a_build_user_the_caller_builds_in_place() {
        let (_closed, tree) = tree();
        let build = TreeBuild { directory: &tree, user: None };
        fs::create_dir(tree.join("target")).unwrap();
        assert!(run(&build, MAKE));
        let jar = tree.join("service/target/lib/a.jar");
        build.take(&jar).unwrap();
        assert!(jar.is_file());
        assert_eq!(build.outputs()[1], tree.join("service/target"));
    }

    #[test]
    fn a_directory_that_is_told_is_the_users_view_of_it() {
        let Some(user) = user() else { return };
        let (closed, tree) = tree();
        let repository = closed.path().join("repository");
        fs::create_dir(&repository).unwrap();
        fs::write(repository.join("a.pom"), "").unwrap();
        let build = TreeBuild { directory: &tree, user: Some(&user) };
        let told = Some(("", repository.as_path()));
        let program = Path::new("/bin/ls");
        let mut prepared = build.command(program, &[], told).unwrap();
        let output = prepared.command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a.pom\n");
    }
}
