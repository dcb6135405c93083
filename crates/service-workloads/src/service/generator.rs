//! Other programs that send the load: wrk, Gatling, or any that prints figures.

use super::{DRIVE, GENERATOR, METRICS, Sender};
use crate::application::Drive;
use contract::{
    Error, ErrorKind, LaunchSpec, Measurement, Problem, ProgramFile, Result, split_words,
};
use model::{Direction, Histogram, Metric, Parameters, Reduction, Sample, Unit};
use outputs::gatling::Log;
use outputs::wrk;
use std::io;
use std::path::{Path, PathBuf};
use sys::{Machine, Termination};
use workload_parts::extraction::{Pick, picks};
use workload_parts::program::{ForkedProgram, ProgramEnvironment, ProgramRun, WHERE_OUTPUT_IS};

/// In the words of a generator: the directory for its results.
const RESULTS: &str = "@results@";
/// Gatling's file of all requests, below the directory of a run.
const SIMULATION_LOG: &str = "simulation.log";
/// Its report, in the same directory.
const REPORT: &str = "index.html";
/// A log of a day at a thousand requests per second is no longer.
const LONGEST_LOG: u64 = 8 << 30;
/// What a generator may print.
const MOST_PRINTED: u64 = 16 << 20;
/// Gatling's exit code where an assertion of its simulation failed: the run itself is whole.
const ASSERTION_FAILED: i32 = 2;

/// Which program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GeneratorKind {
    Wrk,
    Gatling,
    /// Any, whose figures are picked.
    Command,
}

/// A program that sends the load.
#[derive(Debug, Clone)]
pub(super) struct Generator {
    kind: GeneratorKind,
    /// The program and its arguments.
    words: Vec<String>,
    /// Figures of what it prints; none where it is one that we know.
    picks: Vec<Pick>,
}

/// Which program was declared; none where the load is sent by ourselves.
fn kind(parameters: &Parameters) -> Option<GeneratorKind> {
    match GENERATOR.of(parameters) {
        Sender::Ours => None,
        Sender::Program(kind) => Some(kind),
    }
}

/// Whether a program was declared to send the load.
pub(super) fn is_declared(parameters: &Parameters) -> bool {
    kind(parameters).is_some()
}

/// What is called to send the load, as it was declared; nothing where that cannot be read.
pub(super) fn words(parameters: &Parameters) -> Vec<String> {
    split_words(DRIVE.of(parameters)).unwrap_or_default()
}

impl Generator {
    /// Which one was declared; none where the load is sent by ourselves.
    ///
    /// # Errors
    /// All that cannot be meant.
    pub(super) fn of(parameters: &Parameters) -> Result<Option<Self>, Vec<Problem>> {
        let Some(kind) = kind(parameters) else { return Ok(None) };
        let mut wrong: Vec<String> = Vec::new();
        let words = split_words(DRIVE.of(parameters))
            .map_err(|why| {
                wrong.push(format!("`drive` names no program that sends the load: {why}"));
            })
            .unwrap_or_default();
        if kind == GeneratorKind::Wrk
            && !words.is_empty()
            && !words.iter().any(|word| word == "--latency")
        {
            wrong.push("`drive`: wrk tells percentiles with --latency only".to_owned());
        }
        if kind == GeneratorKind::Gatling && !words.iter().any(|word| word.contains(RESULTS)) {
            let why =
                "`drive`: Gatling's results are looked for where @results@ stands (-rf @results@)";
            wrong.push(why.to_owned());
        }
        let (picks, problems) = match kind {
            GeneratorKind::Command => picks(METRICS.of(parameters)),
            GeneratorKind::Wrk | GeneratorKind::Gatling => (Vec::new(), Vec::new()),
        };
        if kind == GeneratorKind::Command && picks.is_empty() {
            wrong.push("`metrics` picks no figure of what the program prints".to_owned());
        }
        wrong.extend(problems);
        if !wrong.is_empty() {
            return Err(wrong.into_iter().map(Problem::from).collect());
        }
        Ok(Some(Self { kind, words, picks }))
    }

    /// Whether it tells how much was answered.
    pub(super) fn counts_answers(&self) -> bool {
        self.kind != GeneratorKind::Command
    }

    /// Whether each of its requests waits for the answer to the one before it.
    pub(super) fn is_closed_loop(&self) -> bool {
        self.kind == GeneratorKind::Wrk
    }

    /// What it reports.
    pub(super) fn metrics(&self) -> Vec<Metric> {
        let (lower, higher) = (Direction::Lower, Direction::Higher);
        let answers = |summary: &str| {
            let (unit, rate) = (Unit::PerSecond, Reduction::Quotient);
            Metric::new("answers_per_second", unit, higher, rate, summary)
        };
        let failed = |summary: &str| {
            let (unit, reduction) = (Unit::Fraction, Reduction::Proportion);
            Metric::new("failed", unit, lower, reduction, summary)
        };
        let ns = Unit::Nanoseconds;
        let summary = "CPU time of the generator per right answer";
        let cost = Metric {
            is_description: true,
            ..Metric::new("generator_cpu", ns, lower, Reduction::Quotient, summary)
        };
        match self.kind {
            GeneratorKind::Wrk => {
                let quantile = |percent: f64| {
                    let id = format!("latency_p{percent}");
                    let summary =
                        format!("The {percent}th percentile of latency, as wrk prints it");
                    Metric::new(id, ns, lower, Reduction::Median, summary)
                };
                let mut metrics: Vec<Metric> = WRK_PERCENTILES.map(quantile).into();
                metrics.push(answers("Right answers per second"));
                metrics.push(failed("Requests with a wrong answer, or none in time"));
                metrics.push(cost);
                metrics
            }
            GeneratorKind::Gatling => {
                let summary = "Time from the beginning of a request to its answer, by milliseconds";
                let mut metrics = Metric::latency_quantiles("latency", summary);
                metrics.push(answers("Requests per second that did not fail"));
                metrics.push(failed("Requests that failed"));
                metrics.push(cost);
                metrics
            }
            GeneratorKind::Command => self.picks.iter().map(Pick::metric).collect(),
        }
    }

    /// Starts it; it waits to be told.
    ///
    /// # Errors
    /// When there is no such program.
    pub(super) fn start(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Drive>> {
        let results = launch.scratch.join("results");
        let at = results.display().to_string();
        let words: Vec<String> = self.words.iter().map(|word| word.replace(RESULTS, &at)).collect();
        // It has no levels: those are the service's.
        let own = LaunchSpec {
            seed: launch.seed,
            scratch: launch.scratch.clone(),
            log: launch.log.clone(),
            ..LaunchSpec::default()
        };
        let program = ForkedProgram::start(
            machine,
            &words,
            ProgramEnvironment::default(),
            MOST_PRINTED,
            &own,
        )?;
        Ok(Box::new(Driver { kind: self.kind, program, results, picks: self.picks.clone() }))
    }
}

/// A program that sends, and what decides what it is: the script of wrk, the jars of Java. Other
/// words may be files that it writes.
pub(super) fn files(words: &[String]) -> Vec<ProgramFile> {
    let program = words.first().cloned().map(ProgramFile::Program);
    let named = words.windows(2).filter(|pair| READ.contains(&pair[0].as_str()));
    let named = named.flat_map(|pair| pair[1].split(':')).filter_map(|text| {
        let path = Path::new(text.strip_suffix("/*").unwrap_or(text));
        let is_there = if text.ends_with("/*") { path.is_dir() } else { path.is_file() };
        (is_there && !path.as_os_str().is_empty()).then(|| path.to_owned())
    });
    program.into_iter().chain(named.map(ProgramFile::File)).collect()
}

/// What comes after these is read: by wrk, by Java.
const READ: [&str; 5] = ["-s", "-jar", "-cp", "-classpath", "--class-path"];

/// wrk's, as `--latency` prints them.
const WRK_PERCENTILES: [f64; 4] = [50.0, 75.0, 90.0, 99.0];

struct Driver {
    kind: GeneratorKind,
    program: ForkedProgram,
    results: PathBuf,
    picks: Vec<Pick>,
}

impl Drive for Driver {
    fn pid(&self) -> i32 {
        self.program.pid()
    }

    fn run(&mut self) -> Result<Measurement> {
        let run = self.program.run()?;
        let is_whole = match run.termination {
            Termination::Exited(0) => true,
            Termination::Exited(code) => {
                self.kind == GeneratorKind::Gatling && code == ASSERTION_FAILED
            }
            Termination::Signalled(_) => false,
        };
        if !is_whole {
            let cause = format!("{}{}", run.termination, run.last_lines());
            return Err(self.failed(cause));
        }
        let (mut samples, operations) = match self.kind {
            GeneratorKind::Wrk => of_wrk(&run).map_err(|cause| self.failed(cause))?,
            GeneratorKind::Gatling => {
                of_gatling(&self.results).map_err(|cause| self.failed(cause))?
            }
            GeneratorKind::Command => (self.picked(&run)?, None),
        };
        if let Some(answers) = operations {
            let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
            let cpu_ns = ns(run.usage.ru_utime) + ns(run.usage.ru_stime);
            samples.push(Sample::quotient("generator_cpu", cpu_ns, answers.max(1) as f64));
        }
        Ok(Measurement { samples, operations })
    }

    fn keep(&self, directory: &Path) -> io::Result<()> {
        let runs = std::fs::read_dir(&self.results).into_iter().flatten().flatten();
        let mut runs = runs.map(|entry| entry.path());
        let Some(run) = runs.find(|run| run.join(REPORT).is_file()) else { return Ok(()) };
        // Of a trial of the same name that was given up.
        let _ = sys::remove_tree(directory);
        copy(&run, directory)
    }
}

impl Driver {
    fn failed(&self, cause: String) -> Error {
        let attempted = format!("the generator {} failed", self.program.name());
        Error::new(ErrorKind::Environment, attempted, cause, WHERE_OUTPUT_IS)
    }

    fn picked(&self, run: &ProgramRun) -> Result<Vec<Sample>> {
        let values = |pick: &Pick| {
            let values = pick.values(&run.stdout, &run.stderr).map_err(|cause| {
                self.failed(format!("cannot read the metric `{}`: {cause}", pick.id()))
            })?;
            Ok(Sample::values(pick.id(), values))
        };
        self.picks.iter().map(values).collect()
    }
}

type Samples = (Vec<Sample>, Option<u64>);

fn of_wrk(run: &ProgramRun) -> std::result::Result<Samples, String> {
    let report = wrk::WrkReport::parse(&run.stdout).map_err(|failure| match failure {
        wrk::WrkFailure::Reported(said) => said,
        wrk::WrkFailure::Unreadable(trouble) => trouble.to_string(),
    })?;
    let percentiles = report.latency.and_then(|latency| latency.percentiles);
    let percentiles = percentiles.ok_or("no answer came in time")?;
    let mut samples: Vec<Sample> = WRK_PERCENTILES
        .iter()
        .zip(percentiles)
        .map(|(percent, time)| Sample::values(&format!("latency_p{percent}"), vec![time.ns as f64]))
        .collect();
    samples.push(Sample::quotient("answers_per_second", report.right() as f64, report.seconds));
    let asked = report.asked();
    samples.push(Sample::proportion("failed", asked - report.right(), asked));
    Ok((samples, Some(report.right())))
}

fn of_gatling(results: &Path) -> std::result::Result<Samples, String> {
    let path = simulation_log(results)?;
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", path.display());
    let length = std::fs::metadata(&path).map_err(unreadable)?.len();
    if length > LONGEST_LOG {
        return Err(format!("{} is longer than {LONGEST_LOG} bytes", path.display()));
    }
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    let log = Log::parse(&bytes).map_err(|trouble| format!("{}: {trouble}", path.display()))?;
    let span_ms = log.span_ms().ok_or("Gatling sent no request")?;
    let kinds = log.kinds(0..u64::MAX);
    let latency = Histogram::merged(kinds.iter().map(|kind| &kind.latency));
    let failed: u64 = kinds.iter().flat_map(|kind| kind.failures.values()).sum();
    let right = latency.count();
    if right == 0 {
        return Err("every request failed".to_owned());
    }
    let seconds = (span_ms.end - span_ms.start).max(1) as f64 / 1e3;
    let samples = vec![
        Sample::histogram("latency", latency),
        Sample::quotient("answers_per_second", right as f64, seconds),
        Sample::proportion("failed", failed, right + failed),
    ];
    Ok((samples, Some(right)))
}

/// Copies a directory; what is neither a file nor a directory is left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to)?;
        } else if kind.is_file() && entry.file_name() != SIMULATION_LOG {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// The log of the only run below the directory of results.
fn simulation_log(results: &Path) -> std::result::Result<PathBuf, String> {
    let entries = std::fs::read_dir(results)
        .map_err(|error| format!("it left nothing in {}: {error}", results.display()))?;
    let logs = entries.flatten().map(|entry| entry.path().join(SIMULATION_LOG));
    let logs: Vec<PathBuf> = logs.filter(|path| path.is_file()).collect();
    match logs.as_slice() {
        [log] => Ok(log.clone()),
        [] => Err(format!("there is no {SIMULATION_LOG} below {}", results.display())),
        _ => Err(format!("there are {} runs below {}", logs.len(), results.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_one_run_is_found_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        assert!(simulation_log(&at("none")).unwrap_err().contains("left nothing"));
        std::fs::create_dir_all(at("one")).unwrap();
        assert!(simulation_log(directory.path()).unwrap_err().contains("no simulation.log"));
        std::fs::write(at("one").join(SIMULATION_LOG), "").unwrap();
        assert_eq!(simulation_log(directory.path()).unwrap(), at("one").join(SIMULATION_LOG));
        std::fs::create_dir_all(at("two")).unwrap();
        std::fs::write(at("two").join(SIMULATION_LOG), "").unwrap();
        assert!(simulation_log(directory.path()).unwrap_err().contains("2 runs"));
    }

    #[test]
    fn what_a_program_reads_decides_what_it_is_and_what_it_writes_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("jars")).unwrap();
        for name in ["load.lua", "own.jar", "out.json"] {
            std::fs::write(at(name), "").unwrap();
        }
        let text = |name: &str| at(name).display().to_string();
        let classes = format!("{}:{}/*:/*:{}", text("own.jar"), text("jars"), text("gone.jar"));
        let words = ["none", "-s", &text("load.lua"), "-cp", &classes, "-o", &text("out.json")];
        let words = words.map(str::to_owned);
        let found = files(&words);
        let read = ["load.lua", "own.jar", "jars"].map(at).map(ProgramFile::File);
        assert_eq!(found[0], ProgramFile::Program("none".to_owned()));
        assert_eq!(found[1..], read);
    }
}
