//! The cargo that runs us, and the workspace it runs in.

use crate::problems::{CommandResult, Problems};
use cargo_metadata::{Metadata, MetadataCommand};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The platform that is built for; `.cargo/config.toml` names the same.
pub const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// The workspace of the program that fuzzing is guided in; it has a lock file of its own.
const COVERAGE: &str = "fuzz/coverage";

/// Lints while it compiles: what the compiler is called through, and what `cargo clippy -- -D
/// warnings` tells it.
const LINTING: [(&str, &str); 2] = [
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
];

/// One cargo and one workspace.
#[derive(Clone)]
pub struct Cargo {
    program: OsString,
    root: PathBuf,
    is_linting: bool,
}

impl Cargo {
    /// The cargo that started this program, and the workspace above the current directory.
    pub fn find() -> Result<Self, Problems> {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(&program)
            .args(["locate-project", "--workspace", "--message-format", "plain"])
            .output()
            .map_err(|error| Problems::one(format!("cannot start cargo: {error}")))?;
        let manifest = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end());
        let root = manifest.parent().filter(|_| output.status.success()).ok_or_else(|| {
            Problems::one(format!(
                "cannot find the workspace: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ))
        })?;
        Ok(Self { program, root: root.to_owned(), is_linting: false })
    }

    /// The workspace's directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The same, but what it builds to be run is linted on the way, and a warning of clippy's
    /// refuses it: once through the compiler instead of once for clippy and once for a build.
    pub fn linting(&self) -> Self {
        Self { is_linting: true, ..self.clone() }
    }

    /// The same cargo in another workspace.
    pub fn in_workspace(&self, root: &Path) -> Self {
        Self { root: root.to_owned(), ..self.clone() }
    }

    /// The same cargo in the workspace of the program that fuzzing is guided in.
    pub fn coverage(&self) -> Self {
        self.in_workspace(&self.root.join(COVERAGE))
    }

    /// A program of the workspace, where tests are built.
    pub fn built(&self, name: &str) -> PathBuf {
        self.root.join("target").join(PLATFORM).join("debug").join(name)
    }

    /// A cargo command, to be started in the workspace.
    pub fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.root);
        let is_build = |word: &OsStr| ["nextest", "run", "test"].iter().any(|one| word == *one);
        if self.is_linting && command.get_args().next().is_some_and(is_build) {
            command.envs(LINTING);
        }
        command
    }

    /// Runs cargo and shows what it says.
    pub fn run(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> CommandResult {
        succeed(&mut self.command(arguments))
    }

    /// Name and version of every package that cargo would compile; `arguments`
    /// choose roots and edges. Metadata alone also lists optional packages
    /// that only a weak feature names.
    pub fn compiled(&self, arguments: &[&str]) -> Result<BTreeSet<(String, String)>, Problems> {
        let output = self
            .command(["tree", "--locked", "--prefix", "none", "--format", "{p}"])
            .args(arguments)
            .output()
            .map_err(|error| Problems::one(format!("cannot start cargo tree: {error}")))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(Problems::one(format!("cargo tree failed: {}", why.trim())));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(name_and_version).collect())
    }

    /// The packages and edges of the workspace on the platform that is built for.
    pub fn metadata(&self) -> Result<Metadata, Problems> {
        MetadataCommand::new()
            .cargo_path(PathBuf::from(&self.program))
            .current_dir(&self.root)
            .other_options(["--locked", "--filter-platform", PLATFORM].map(String::from))
            .exec()
            .map_err(|error| Problems::one(format!("cannot read cargo metadata: {error}")))
    }
}

/// From `name v1.2.3`, with or without what follows.
fn name_and_version(line: &str) -> Option<(String, String)> {
    let mut words = line.split(' ');
    let name = words.next()?.to_owned();
    Some((name, words.next()?.strip_prefix('v')?.to_owned()))
}

/// Runs a command to its end; anything but success is a problem that names it.
pub fn succeed(command: &mut Command) -> CommandResult {
    output(command.stdout(Stdio::inherit())).map(drop)
}

/// The same of a command that has nothing to read.
pub fn succeed_without_input(command: &mut Command) -> CommandResult {
    output_with(command.stdout(Stdio::inherit()), Stdio::null()).map(drop)
}

/// The same as [`succeed`], and what it wrote to standard output.
pub fn output(command: &mut Command) -> Result<String, Problems> {
    output_with(command, Stdio::inherit())
}

/// The same, with this as its standard input.
fn output_with(command: &mut Command, input: Stdio) -> Result<String, Problems> {
    let words = told(command);
    match command.stdin(input).stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => Err(Problems::one(format!("`{words}` ended with {}", output.status))),
        Err(error) => Err(Problems::one(format!("cannot start `{words}`: {error}"))),
    }
}

/// Runs a check that may run beside others to its end; what it wrote is told with its problem.
pub fn check(command: &mut Command) -> CommandResult {
    let words = told(command);
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let written = [output.stdout, output.stderr].concat();
            let written = String::from_utf8_lossy(&written);
            Err(Problems::one(format!("{written}`{words}` ended with {}", output.status)))
        }
        Err(error) => Err(Problems::one(format!("cannot start `{words}`: {error}"))),
    }
}

/// Words of a command that are told; the formatter is given a thousand files.
const MOST_WORDS: usize = 20;

/// A command as it is told, without the rest of a long list.
fn told(command: &Command) -> String {
    let all: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    let first = all.iter().take(MOST_WORDS).map(|word| word.to_string_lossy().into_owned());
    let words = first.collect::<Vec<_>>().join(" ");
    match all.len().saturating_sub(MOST_WORDS) {
        0 => words,
        more => format!("{words} … ({more} more words)"),
    }
}

#[cfg(test)]
mod tests {
    use super::told;
    use std::process::Command;

    #[test]
    fn a_long_command_is_told_by_its_beginning() {
        let mut command = Command::new("rustfmt");
        command.arg("--check");
        assert_eq!(told(&command), "rustfmt --check");
        command.args((0..20).map(|number| format!("{number}.rs")));
        assert!(told(&command).ends_with(" 17.rs … (2 more words)"), "{}", told(&command));
    }
}
