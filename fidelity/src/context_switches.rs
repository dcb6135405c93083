//! The context switches of a command, counted by `perf stat`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `perf stat` around a command, its counts in a file.
pub fn counted(counts: &Path, prefix: &[&str]) -> Command {
    let mut command = Command::new("perf");
    command
        .args(["stat", "-x,", "-e", "context-switches", "-o"])
        .arg(counts)
        .arg("--")
        .args(prefix);
    command
}

/// The count that `perf stat` wrote; the file is removed.
pub fn switches(counts: &Path) -> Result<f64, String> {
    let text = std::fs::read_to_string(counts)
        .map_err(|error| format!("cannot read the counts: {error}"))?;
    std::fs::remove_file(counts).map_err(|error| format!("cannot remove the counts: {error}"))?;
    let line = text.lines().find(|line| line.contains("context-switches"));
    let count = line.and_then(|line| line.split(',').next()).and_then(|field| field.parse().ok());
    count.ok_or_else(|| format!("perf stat counted no switches:\n{text}"))
}

/// A name of our own in the temporary directory.
pub fn tempfile(purpose: &str) -> Result<PathBuf, String> {
    let path =
        std::env::temp_dir().join(format!("schedlab-fidelity-{purpose}-{}", std::process::id()));
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", path.display()))
        }
        _ => Ok(path),
    }
}
