//! Any program: what it used, and metrics picked from what it printed.

use crate::program_stub::ProgramStub;
use contract::shared_names;
use contract::{
    Configured, Description, Error, LaunchSpec, Load, Measurement, Parameter, Problem, ProgramFile,
    Requirement, Result, Tables, Workload, WorkloadFacts,
};
use model::{Direction, Metric, Parameters, Reduction, Sample, Unit};
use std::path::{Path, PathBuf};
use sys::{Machine, Termination};
use workload_parts::extraction::{Pick, picks};
use workload_parts::nanoseconds::{MS, S};
use workload_parts::program::{
    ForkedProgram, ProgramEnvironment, ProgramRun, RUN_METRICS, WHERE_OUTPUT_IS,
};

static DESCRIPTION: Description = Description {
    id: "command",
    summary: "Any program: its time, its resources and figures from its output",
    doc: r#"**What it is.** Runs `run` once for each invocation, never through a shell, with
/dev/null as its input, and waits for it. The program is already forked, with its levels
set, when the run begins, so `wall_time` holds its exec and nothing of ours.

**What it means.** `wall_time` until it has ended; `user_time`, `system_time` and `cpu_time`
(their sum), `voluntary_switches`, `involuntary_switches` and `max_rss` as wait4(2) reports
them: of the program and of the descendants it waited for.

**Metrics of your own.** A table for each, with exactly one of

- `regex`: the first capture group of every match is a value; `^` and `$` match at lines;
- `json`: a JSON pointer into the first JSON document of the output; an array gives one
  value for each of its elements;
- `csv`: the name of a column; each row is a value;

and `direction = "lower"` or `"higher"` (required: nobody guesses), `unit` (`ns`, `us`, `ms`,
`s`, `per_second`, `bytes`, `count`, `fraction`; plain otherwise), `reduction` (`median` or
`mean` of an invocation's values) and `from` (`stdout` or `stderr`).

```toml
[[workloads]]
use = "command"
run = "sysbench cpu --time=1 run"
[workloads.metrics.events_per_second]
regex = 'events per second:\s+([0-9.]+)'
direction = "higher"
unit = "per_second"
```

**When it fails.** An exit code other than `expect_exit`, a signal, output beyond
`output_limit`, a pattern that finds nothing, a value that is not a finite number of at
least zero: each is a failure that counts against the subject, never a zero.

**When it lies.** `max_rss` is never below that of the process that forked it, a few MiB.
Descendants that the program does not wait for are not counted; those that are still there
when it has ended are ended too, and the record says so (`LEFT_PROCESSES`). A program that prints
through a pipe to a terminal may buffer differently into a file. `wall_time` includes
loading the program: give it work for a second or more. For variables of the environment
run `env NAME=value program`. Under SCHED_DEADLINE the program itself cannot fork
(sched_setattr(2)).

**Reference.** hyperfine and GNU time measure the same; sources: getrusage(2), execve(2)."#,
};

contract::keys! {
    PARAMETERS;
    RUN: [String] = words(
        shared_names::COMMAND_LINE,
        "",
        "The program and its arguments; a text is split as a shell splits words",
    ).required(),
    DIRECTORY: str = text(
        shared_names::DIRECTORY,
        "",
        "Where it runs; empty: where schedlab was started",
    ),
    METRICS: Tables = table(shared_names::PICKED, "Figures picked from its output"),
    EXPECT_EXIT: u64 = count("expect_exit", 0, 255, "0", "The exit code of success"),
    OUTPUT_LIMIT: u64 = size(
        "output_limit",
        1 << 10,
        1 << 30,
        "16M",
        "Longest stdout, and stderr, that is kept",
    ),
    EXPECTED: u64 = duration(
        "expected",
        MS,
        24 * 3600 * S,
        "2s",
        "About how long it runs, for the plan",
    ),
}

/// Names of programs whose first file argument is the real program begin so.
const INTERPRETERS: [&str; 11] =
    ["sh", "bash", "dash", "zsh", "env", "python", "perl", "ruby", "node", "java", "lua"];

/// Stands for the program in tests.
pub(crate) const STUB: ProgramStub = ProgramStub {
    program: "any-program",
    version: None,
    parameters: &[(RUN.name(), "any-program")],
};

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        const { &[(RUN.name(), "sleep 0.01")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let (picks, problems) = picks(METRICS.of(parameters));
        let mut problems: Vec<Problem> = problems.into_iter().map(Problem::from).collect();
        let words = RUN.of(parameters);
        let Some(program) = words.first() else {
            problems.push("`run` names no program".into());
            return Err(problems);
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Box::new(CommandSettings {
            program: program.clone(),
            words: words.to_vec(),
            directory: PathBuf::from(DIRECTORY.of(parameters)),
            picks,
            expected_exit: i32::try_from(EXPECT_EXIT.of(parameters)).unwrap_or(0),
            limit_bytes: OUTPUT_LIMIT.of(parameters),
            expected_ns: EXPECTED.of(parameters),
        }))
    }

    fn usual_metrics(&self) -> Vec<Metric> {
        built_in_metrics()
    }
}

/// What was declared.
struct CommandSettings {
    /// The first of the words.
    program: String,
    words: Vec<String>,
    /// Where it runs; empty: where we do.
    directory: PathBuf,
    picks: Vec<Pick>,
    expected_exit: i32,
    /// Bytes of each stream that are kept.
    limit_bytes: u64,
    expected_ns: u64,
}

impl Configured for CommandSettings {
    fn metrics(&self) -> Vec<Metric> {
        built_in_metrics().into_iter().chain(self.picks.iter().map(Pick::metric)).collect()
    }

    fn facts(&self) -> WorkloadFacts {
        let mut requirements = vec![Requirement::program(self.program.clone(), "")];
        if !self.directory.as_os_str().is_empty() {
            let path = self.directory.clone();
            let directory = path.display().to_string();
            requirements.push(Requirement::check(
                format!("the directory {directory}"),
                move |_| {
                    if path.is_dir() {
                        return Ok(());
                    }
                    Err((
                        format!("{directory} is not a directory"),
                        "check the spelling".to_owned(),
                    ))
                },
            ));
        }
        WorkloadFacts {
            requirements,
            programs: self.programs(),
            ..WorkloadFacts::open_loop(self.expected_ns)
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        let has_directory = !self.directory.as_os_str().is_empty();
        let directory = has_directory.then(|| self.directory.clone());
        let surroundings = ProgramEnvironment { directory, ..ProgramEnvironment::default() };
        let program =
            ForkedProgram::start(machine, &self.words, surroundings, self.limit_bytes, launch)?;
        let (picks, expected) = (self.picks.clone(), self.expected_exit);
        Ok(Box::new(Command { program, picks, expected, changed_level: None }))
    }
}

impl CommandSettings {
    fn programs(&self) -> Vec<ProgramFile> {
        let mut files = vec![ProgramFile::Program(self.program.clone())];
        let name = Path::new(&self.program).file_name().unwrap_or_default().to_string_lossy();
        if INTERPRETERS.iter().any(|known| name.starts_with(known)) {
            // Other arguments may be files that the program itself writes.
            let arguments = self.words[1..].iter().map(|word| self.directory.join(word));
            let script = arguments.into_iter().find(|path| path.is_file());
            let interpreter = self.program.clone();
            files.extend(script.map(|path| ProgramFile::Script { interpreter, path }));
        }
        files
    }
}

/// The metrics that every program has.
fn built_in_metrics() -> Vec<Metric> {
    let metric = |(id, unit, summary): &(&str, Unit, &str)| {
        Metric::new(*id, *unit, Direction::Lower, Reduction::Median, *summary)
    };
    RUN_METRICS.iter().map(metric).collect()
}

struct Command {
    program: ForkedProgram,
    picks: Vec<Pick>,
    expected: i32,
    changed_level: Option<String>,
}

impl Load for Command {
    fn changed_level(&self) -> Option<String> {
        self.changed_level.clone()
    }

    fn run(&mut self) -> Result<Measurement> {
        let run = self.program.run()?;
        self.changed_level.clone_from(&run.changed_level);
        if run.termination != Termination::Exited(self.expected) {
            let last = run.last_lines();
            return Err(Error::new(
                contract::ErrorKind::Environment,
                format!("{} failed", self.program.name()),
                format!("{}, expected exit code {}{last}", run.termination, self.expected),
                WHERE_OUTPUT_IS,
            ));
        }
        let mut samples = built_in_samples(&run);
        for pick in &self.picks {
            let values = pick.values(&run.stdout, &run.stderr).map_err(|cause| {
                Error::new(
                    contract::ErrorKind::Environment,
                    format!("cannot read the metric `{}` of {}", pick.id(), self.program.name()),
                    cause,
                    WHERE_OUTPUT_IS,
                )
            })?;
            samples.push(Sample::values(pick.id(), values));
        }
        Ok(Measurement { samples, operations: None })
    }
}

fn built_in_samples(run: &ProgramRun) -> Vec<Sample> {
    let time_ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    let (user_ns, system_ns) = (time_ns(run.usage.ru_utime), time_ns(run.usage.ru_stime));
    let values = [
        run.wall_ns as f64,
        user_ns,
        system_ns,
        user_ns + system_ns,
        run.usage.ru_maxrss as f64 * 1024.0,
        run.usage.ru_nvcsw as f64,
        run.usage.ru_nivcsw as f64,
    ];
    RUN_METRICS
        .iter()
        .zip(values)
        .map(|((id, ..), value)| Sample::values(id, vec![value]))
        .collect()
}
