//! Inputs that are guided by the code that they reach. libFuzzer makes them, in a program that is
//! built with counters (`fuzz/coverage`); here its processes are started, one for each target, and
//! what they tell is read.

use crate::lanes::{Lanes, TargetResult};
use crate::mutation::LONGEST;
use crate::{FuzzTarget, corpus_folder, targets};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The variable that names the target of a guided process.
const TARGET: &str = "SCHEDLAB_FUZZ_TARGET";
/// What an input may cost: no file of a stranger may take more.
const MEMORY_LIMIT_MB: u64 = 512;
const TIME_LIMIT_SECONDS: u64 = 10;
/// libFuzzer draws a seed of its own where it is given 0, and knows none above.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=u32::MAX as u64;
/// What stands before the name of a file with an input that broke something.
const KEPT: &str = "Test unit written to ";

/// One run of the guided fuzzer.
#[derive(Clone)]
pub struct GuidedRun {
    /// Wall-clock seconds for all targets together; each of them has one at least.
    pub seconds: u64,
    /// Seed of every target.
    pub seed: u64,
    /// Ends a target earlier, after so many inputs.
    pub most_inputs: Option<u64>,
    /// What is fuzzed.
    pub targets: Vec<&'static FuzzTarget>,
    /// The program of `fuzz/coverage`.
    pub program: PathBuf,
    /// Where inputs are kept that reach more than the corpus does; the next run begins with them.
    pub finds: PathBuf,
    /// Where inputs that broke something are kept.
    pub artifacts: PathBuf,
}

/// Guides all targets, as many at once as there are CPUs; the result is one line for each.
///
/// # Errors
/// All targets that broke, each with the input that did it, and those whose process told nothing
/// of code that it reached.
pub fn guide(session: &GuidedRun) -> Result<String, String> {
    let lanes = Lanes::of(session.targets.len());
    // libFuzzer goes on for ever where it is given 0.
    let seconds = (lanes.share_ms(session.seconds) / 1_000).max(1);
    lanes.run(&session.targets, |target| session.supervise(target, seconds))
}

/// Begins a guided process: the target that its environment names, and the limit of memory.
///
/// libFuzzer looks once a second how much memory was taken, and then blames the input of that
/// moment. With this limit it is the input that asks for too much whose allocation fails.
///
/// # Errors
/// When no target or an unknown one is named, or memory cannot be limited.
pub fn begin_guided() -> Result<&'static FuzzTarget, String> {
    let name = std::env::var(TARGET).map_err(|_| format!("{TARGET} names no target"))?;
    let target = targets::known(&name)?;
    let limit = Some(MEMORY_LIMIT_MB << 20);
    setrlimit(Resource::Data, Rlimit { current: limit, maximum: limit })
        .map_err(|error| format!("cannot limit memory: {error}"))?;
    Ok(target)
}

impl GuidedRun {
    fn supervise(&self, target: &FuzzTarget, seconds: u64) -> TargetResult {
        let finds = self.finds.join(&target.name);
        let artifacts = self.artifacts.join(&target.name);
        let words = self.finds.join(format!("{}.words", target.name));
        let failed = |error: io::Error| format!("cannot write what its process needs: {error}");
        fs::create_dir_all(&finds).map_err(failed)?;
        fs::create_dir_all(&artifacts).map_err(failed)?;
        let dictionary = dictionary(&target.words);
        fs::write(&words, &dictionary).map_err(failed)?;
        let mut command = Command::new(&self.program);
        command.env(TARGET, &target.name).args(self.settings(seconds));
        command.arg(format!("-artifact_prefix={}/", artifacts.display()));
        if !dictionary.is_empty() {
            // An empty one is refused.
            command.arg(format!("-dict={}", words.display()));
        }
        // Only the first folder is written to.
        command.arg(&finds).arg(corpus_folder(target));
        let output = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.program.display()))?;
        outcome(&output, &artifacts)
    }

    fn settings(&self, seconds: u64) -> Vec<String> {
        let seed = self.seed.clamp(*SEEDS.start(), *SEEDS.end());
        let mut settings = vec![
            format!("-max_len={LONGEST}"),
            format!("-rss_limit_mb={MEMORY_LIMIT_MB}"),
            format!("-timeout={TIME_LIMIT_SECONDS}"),
            format!("-max_total_time={seconds}"),
            format!("-seed={seed}"),
        ];
        settings.extend(self.most_inputs.map(|count| format!("-runs={count}")));
        settings
    }
}

/// A target's words as libFuzzer reads them: one a line, every byte by its number.
fn dictionary(words: &[&str]) -> String {
    let line = |word: &&str| {
        let bytes: String = word.bytes().map(|byte| format!("\\x{byte:02X}")).collect();
        format!("\"{bytes}\"\n")
    };
    words.iter().filter(|word| !word.is_empty()).map(line).collect()
}

/// What a process came to that has ended.
fn outcome(output: &Output, artifacts: &Path) -> TargetResult {
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let kept = told.lines().find_map(|line| Some(line.rsplit_once(KEPT)?.1.to_owned()));
        let kept = kept.unwrap_or_else(|| {
            format!("an input that it could not keep in {}", artifacts.display())
        });
        return Err(format!("{} on {kept}\n{}", output.status, without_progress(&told)));
    }
    let (Some(begin), Some(end)) = (progress(&told, "INITED"), progress(&told, "DONE")) else {
        return Err(format!("told nothing of code that it reached: {}", without_progress(&told)));
    };
    Ok(format!(
        "{} inputs, {} edges of the code reached, {} of them by inputs that were there before",
        end.inputs, end.edges, begin.edges
    ))
}

/// What a line of libFuzzer tells.
#[derive(Debug, PartialEq, Eq)]
struct Progress {
    /// How many inputs were tried.
    inputs: u64,
    /// How many edges between blocks of the code they reached together.
    edges: u64,
}

/// The last line about an event: `#9 DONE cov: 57 ft: 80 corp: 3/9b ..`. Without any counter in
/// the code it has no `cov:`.
fn progress(told: &str, event: &str) -> Option<Progress> {
    told.lines().rev().find_map(|line| {
        let mut words = line.strip_prefix('#')?.split_whitespace();
        let inputs = words.next()?.parse().ok()?;
        if words.next()? != event {
            return None;
        }
        let edges = words.skip_while(|word| *word != "cov:").nth(1)?.parse().ok()?;
        Some(Progress { inputs, edges })
    })
}

/// What was told of a fault: there are thousands of lines about progress.
fn without_progress(told: &str) -> String {
    let is_progress = |line: &&str| line.starts_with('#') || line.starts_with("INFO:");
    let lines: Vec<&str> = told.lines().filter(|line| !is_progress(line)).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TARGETS;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    const DONE: &str = "INFO: Seed: 9\n#2\tINITED cov: 812 ft: 813 corp: 2/9b exec/s: 0 rss: 40Mb\n\
        #5\tNEW    cov: 813 ft: 814 corp: 3/12b lim: 4 exec/s: 0 rss: 40Mb L: 3/4 MS: 1 EraseBytes-\n\
        #1234\tDONE   cov: 1140 ft: 1500 corp: 9/80b lim: 4 exec/s: 617 rss: 41Mb\n\
        Done 1234 runs in 2 second(s)\n";

    fn session(program: &str, folder: &Path) -> GuidedRun {
        GuidedRun {
            seconds: 0,
            seed: 0,
            most_inputs: None,
            targets: TARGETS.iter().collect(),
            program: program.into(),
            finds: folder.join("finds"),
            artifacts: folder.join("artifacts"),
        }
    }

    fn ended(raw: i32, told: &str) -> TargetResult {
        let output = Output {
            status: ExitStatus::from_raw(raw),
            stdout: Vec::new(),
            stderr: told.as_bytes().to_vec(),
        };
        outcome(&output, Path::new("kept"))
    }

    #[test]
    fn a_target_tells_how_many_inputs_it_had_and_what_they_reached() {
        assert_eq!(
            ended(0, DONE).unwrap(),
            "1234 inputs, 1140 edges of the code reached, 812 of them by inputs that were there \
             before"
        );
    }

    #[test]
    fn a_program_without_counters_is_no_success() {
        let failure = ended(0, &DONE.replace(" cov: 1140", "")).unwrap_err();
        assert!(failure.starts_with("told nothing of code that it reached"), "{failure}");
        let folder = tempfile::tempdir().unwrap();
        assert!(guide(&session("/bin/true", folder.path())).is_err());
    }

    #[test]
    fn an_input_that_breaks_a_target_is_named_and_only_the_fault_is_told() {
        let told = "INFO: Seed: 9\n#2\tINITED cov: 812\nthread '<unnamed>' panicked at a.rs:1:2:\n\
                    artifact_prefix='kept/'; Test unit written to kept/crash-0a\n";
        let failure = ended(77 << 8, told).unwrap_err();
        assert!(failure.contains("on kept/crash-0a\n"), "{failure}");
        assert!(failure.contains("panicked at a.rs"), "{failure}");
        assert!(!failure.contains("INITED") && !failure.contains("INFO"), "{failure}");
        let killed = ended(9, "").unwrap_err();
        assert!(killed.contains("an input that it could not keep in kept"), "{killed}");
    }

    #[test]
    fn every_target_that_ends_badly_fails_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let failures = guide(&session("/bin/false", folder.path())).unwrap_err();
        for target in TARGETS.iter() {
            assert!(failures.contains(&format!("{}: exit status: 1", target.name)), "{failures}");
        }
    }

    #[test]
    fn an_input_has_the_limits_that_files_of_strangers_have() {
        let session = session("/bin/true", Path::new("."));
        let settings = session.settings(1).join(" ");
        assert_eq!(
            settings,
            "-max_len=65536 -rss_limit_mb=512 -timeout=10 -max_total_time=1 -seed=1"
        );
        let short = GuidedRun { most_inputs: Some(50), seed: u64::MAX, ..session };
        assert!(short.settings(1).join(" ").ends_with("-seed=4294967295 -runs=50"));
    }

    #[test]
    fn words_of_a_target_are_told_byte_by_byte() {
        assert_eq!(dictionary(&["a\"", "", "\n-"]), "\"\\x61\\x22\"\n\"\\x0A\\x2D\"\n");
        assert_eq!(dictionary(&[]), "");
    }
}
