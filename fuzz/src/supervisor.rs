//! Shares the time over all targets, one worker process for each, and names
//! the input of a worker that did not come back.

use crate::{FuzzTarget, TARGETS};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// One run of the fuzzer.
#[derive(Clone)]
pub struct FuzzRun {
    /// Wall-clock seconds for all targets together.
    pub seconds: u64,
    /// Seed; each target derives its own.
    pub seed: u64,
    /// Only this one.
    pub only: Option<&'static FuzzTarget>,
    /// Our own program, started again for each worker.
    pub program: PathBuf,
    /// Where inputs that broke something are kept.
    pub artifacts: PathBuf,
}

/// Runs all workers, as many at once as there are CPUs; the result is one line
/// for each target.
///
/// # Errors
/// All targets that broke, each with the input that did it.
pub fn fuzz(session: &FuzzRun) -> Result<String, String> {
    let targets: Vec<&'static FuzzTarget> =
        TARGETS.iter().filter(|target| session.is_wanted(target)).collect();
    let lanes = thread::available_parallelism().map_or(1, usize::from).min(targets.len());
    let rounds = targets.len().div_ceil(lanes.max(1)).max(1) as u64;
    let share_ms = session.seconds * 1_000 / rounds;
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = session.supervise(target, share_ms);
                    let mut results = results.lock().unwrap_or_else(|broken| broken.into_inner());
                    results.push((target.name.as_str(), result));
                }
            });
        }
    });
    summary(results.into_inner().unwrap_or_else(|broken| broken.into_inner()))
}

fn summary(mut results: Vec<(&str, Result<String, String>)>) -> Result<String, String> {
    results.sort();
    let (mut report, mut failures) = (String::new(), String::new());
    for (name, result) in results {
        let _ = match result {
            Ok(line) => writeln!(report, "{name}: {line}"),
            Err(why) => writeln!(failures, "{name}: {why}"),
        };
    }
    if failures.is_empty() { Ok(report) } else { Err(failures) }
}

impl FuzzRun {
    fn is_wanted(&self, target: &FuzzTarget) -> bool {
        self.only.is_none_or(|only| only.name == target.name)
    }

    fn supervise(&self, target: &FuzzTarget, share_ms: u64) -> Result<String, String> {
        let input = self.artifacts.join(&target.name).join(format!("seed-{}", self.seed));
        let output = Command::new(&self.program)
            .arg(format!("--worker={}", target.name))
            .arg(format!("--milliseconds={share_ms}"))
            .arg(format!("--seed={}", self.seed))
            .arg(format!("--input={}", input.display()))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot start a worker: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let size = fs::metadata(&input).map_or(0, |metadata| metadata.len());
        Err(format!(
            "{} on the {size} bytes in {}\n{}",
            output.status,
            input.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(program: &str) -> FuzzRun {
        FuzzRun {
            seconds: 0,
            seed: 9,
            only: None,
            program: program.into(),
            artifacts: "kept".into(),
        }
    }

    #[test]
    fn every_worker_that_ends_badly_is_named_with_its_input() {
        let failures = fuzz(&session("/bin/false")).unwrap_err();
        for target in TARGETS.iter() {
            let input = format!("kept/{}/seed-9", target.name);
            assert!(failures.contains(&input), "{failures}");
        }
    }

    #[test]
    fn a_session_reports_one_line_for_each_target() {
        let report = fuzz(&session("/bin/true")).unwrap();
        assert_eq!(report.lines().count(), TARGETS.len());
        let one = FuzzRun { only: TARGETS.first(), ..session("/bin/true") };
        assert_eq!(fuzz(&one).unwrap().lines().count(), 1);
    }
}
