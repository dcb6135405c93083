//! Shares the time over all targets, one worker process for each, and names
//! the input of a worker that did not come back.

use crate::FuzzTarget;
use crate::lanes::{Lanes, TargetResult};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// One run of the fuzzer.
#[derive(Clone)]
pub struct FuzzRun {
    /// Wall-clock seconds for all targets together.
    pub seconds: u64,
    /// Seed; each target derives its own.
    pub seed: u64,
    /// What is fuzzed.
    pub targets: Vec<&'static FuzzTarget>,
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
    let lanes = Lanes::of(session.targets.len());
    let share_ms = lanes.share_ms(session.seconds);
    lanes.run(&session.targets, |target| session.supervise(target, share_ms))
}

impl FuzzRun {
    fn supervise(&self, target: &FuzzTarget, share_ms: u64) -> TargetResult {
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
    use crate::TARGETS;

    fn session(program: &str) -> FuzzRun {
        FuzzRun {
            seconds: 0,
            seed: 9,
            targets: TARGETS.iter().collect(),
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
        let one = FuzzRun { targets: TARGETS.iter().take(1).collect(), ..session("/bin/true") };
        assert_eq!(fuzz(&one).unwrap().lines().count(), 1);
    }
}
