//! Programs of this machine, found on a given path and run without a shell.

use crate::{Error, Result};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where programs are looked for.
#[derive(Debug, Clone)]
pub struct Programs {
    directories: Vec<PathBuf>,
}

impl Programs {
    /// From a search path such as `/usr/bin:/bin`. Relative parts are left out:
    /// a program must not depend on the working directory.
    pub fn new(search_path: &str) -> Self {
        let directories =
            search_path.split(':').filter(|part| part.starts_with('/')).map(PathBuf::from);
        Self { directories: directories.collect() }
    }

    /// The search path that it looks in.
    pub fn search_path(&self) -> String {
        let parts: Vec<String> =
            self.directories.iter().map(|part| part.display().to_string()).collect();
        parts.join(":")
    }

    /// The program's path.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        self.directories.iter().map(|directory| directory.join(name)).find(|path| {
            path.metadata()
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
    }

    /// The first of these that is here, or why it matters that none is.
    pub fn need(&self, name: &str, attempted: &str, remedy: &str) -> Result<PathBuf> {
        self.find(name).ok_or_else(|| {
            Error::unsupported(attempted, format!("this machine has no `{name}`"), remedy)
        })
    }
}

/// A command that ends with the thread that started it, speaks English, and reads nothing.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").stdin(Stdio::null());
    // SAFETY: prctl(2) is async-signal-safe, and nothing else happens between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let signal = rustix::process::Signal::TERM;
            Ok(rustix::process::set_parent_process_death_signal(Some(signal))?)
        });
    }
    command
}

/// What a command that succeeded printed.
pub fn output_of(command: &mut Command, attempted: &str) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| Error::environment(attempted, format!("cannot run {name}: {error}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(Error::environment(attempted, format!("{name}: {}", last_lines(&told))))
}

/// The line of a program's complaints that says most: the first error, or the last line.
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let error = lines.iter().find(|line| line.starts_with("E: ") || line.contains("error:"));
    let line = error.or(lines.last()).copied().unwrap_or("it failed without a word");
    line.strip_prefix("E: ").unwrap_or(line).to_owned()
}
