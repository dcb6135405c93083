//! The binary under measurement and a directory for what it writes.

use serde_json::Value;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The release binary; its campaigns vanish with this.
pub struct Binary {
    path: PathBuf,
    directory: tempfile::TempDir,
    is_smoke: bool,
    costs: OnceCell<Value>,
}

impl Binary {
    /// A smoke run shows that every measure runs to its end, and no more.
    pub fn new(path: &Path, is_smoke: bool) -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Self { path: path.to_owned(), directory, is_smoke, costs: OnceCell::new() })
    }

    /// So much in a measurement, so little in a smoke run.
    pub fn amount<T>(&self, measured: T, smoke: T) -> T {
        if self.is_smoke { smoke } else { measured }
    }

    /// The binary itself.
    pub fn executable(&self) -> &Path {
        &self.path
    }

    /// Where its files may lie.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Where campaigns go.
    pub fn results(&self) -> PathBuf {
        self.directory.path().join("results")
    }

    /// Writes an experiment and returns its path.
    pub fn experiment(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.directory.path().join(format!("{name}.toml"));
        std::fs::write(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(path)
    }

    /// A command on the real machine, with its real lock unless this is a smoke run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.arg("--results").arg(self.results()).args(arguments).stdin(Stdio::null());
        if self.is_smoke {
            // Beside other tests: with a journal and a lock of its own.
            command.arg("--runtime-dir").arg(self.directory.path().join("run"));
        }
        command
    }

    /// Standard output of a command that must succeed.
    pub fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self
            .command(arguments)
            .output()
            .map_err(|error| format!("cannot run {}: {error}", self.path.display()))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} ended with {}: {told}", arguments.join(" "), output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// One of the costs that `bench-self` measures; it measures them once.
    pub fn cost(&self, key: &str) -> Result<f64, String> {
        let costs = match self.costs.get() {
            Some(costs) => costs,
            None => {
                let costs = self.json(&["bench-self", "--json"])?;
                self.costs.get_or_init(|| costs)
            }
        };
        costs[key].as_f64().ok_or_else(|| format!("bench-self names no {key}"))
    }

    /// The same, as JSON.
    pub fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        serde_json::from_str(&self.output(arguments)?).map_err(|error| error.to_string())
    }
}
