//! One program: forked and held before its exec, released, watched, reaped.

pub mod service;

use crate::instant::timespec;
use crate::nanoseconds::S;
use crate::process::{ChildProcesses, read_full, write_full};
use contract::{Error, ErrorKind, Key, LaunchSpec, Problem, Result};
use model::Parameters;
use model::Unit;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use sys::{Machine, Termination};

/// How often the length of the output is looked at: the only thing of ours that
/// runs beside the program.
const WATCH_NS: u64 = 250_000_000;
/// How much of the output an error quotes.
const QUOTED: usize = 200;

/// The same for every trial, so that equal failures are counted together.
pub const WHERE_OUTPUT_IS: &str = "its output is in the campaign's logs/";

/// A forked program that waits for its release.
pub struct ForkedProgram {
    family: ChildProcesses,
    child: i32,
    process: OwnedFd,
    gate: OwnedFd,
    stdout: PathBuf,
    stderr: PathBuf,
    log: PathBuf,
    words: Vec<String>,
    limit_bytes: u64,
    /// How long it may run; none leaves that to the trial.
    limit_ns: Option<u64>,
    launch: LaunchSpec,
}

/// How a run ended.
enum Ended {
    ByItself,
    /// A stream grew beyond the limit.
    Exceeding(&'static str),
    /// It took too long.
    Hung,
}

/// What surrounds a program.
#[derive(Debug, Clone, Default)]
pub struct ProgramEnvironment {
    /// Where it runs; where we run if none.
    pub directory: Option<PathBuf>,
    /// Variables of its environment beside ours.
    pub variables: Vec<(&'static str, String)>,
}

/// Metrics every program has, with unit and meaning; the first is the primary one.
pub const RUN_METRICS: &[(&str, Unit, &str)] = &[
    ("wall_time", Unit::Nanoseconds, "Time until the program has ended"),
    ("user_time", Unit::Nanoseconds, "CPU time in user mode"),
    ("system_time", Unit::Nanoseconds, "CPU time in the kernel"),
    ("cpu_time", Unit::Nanoseconds, "CPU time altogether"),
    ("max_rss", Unit::Bytes, "Largest resident set of one of its processes"),
    ("voluntary_switches", Unit::Count, "Times a task gave up its CPU"),
    ("involuntary_switches", Unit::Count, "Times a task was made to give up its CPU"),
];

/// What one run was.
pub struct ProgramRun {
    /// From its exec until it was reaped.
    pub wall_ns: u64,
    /// How it ended.
    pub termination: Termination,
    /// What it and the children that it has reaped used.
    pub usage: libc::rusage,
    /// What it printed, up to the limit.
    pub stdout: String,
    /// What it printed to standard error, up to the limit.
    pub stderr: String,
    /// A level that the program changed of itself, in words.
    pub changed_level: Option<String>,
}

impl ProgramRun {
    /// The end of what it printed, for an error.
    pub fn last_lines(&self) -> String {
        let text = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        match text.trim().lines().last() {
            Some(line) => format!("; it said: {}", line.chars().take(QUOTED).collect::<String>()),
            None => String::new(),
        }
    }
}

impl ForkedProgram {
    /// Forks the program; it waits before its exec until [`Self::run`].
    ///
    /// # Errors
    /// When there is no such program, or something cannot be set up.
    pub fn start(
        machine: &Machine,
        words: &[String],
        surroundings: ProgramEnvironment,
        limit_bytes: u64,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let path = resolve(machine, words)?;
        let arguments = arguments(&path, words)?;
        let (stdout, stderr) = (launch.scratch.join("stdout"), launch.scratch.join("stderr"));
        let streams = [create(&stdout)?, create(&stderr)?];
        let (gate_reader, gate) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(|error| Error::environment("cannot make a pipe", error))?;
        let mut family = ChildProcesses::new()?;
        // The child's copy of the gate's writing end must not keep the gate open.
        let mut gate = Some(gate);
        let child = family.fork("the program", launch, || {
            gate = None;
            read_full(&gate_reader, &mut [0])?;
            become_program(&arguments, &surroundings, &streams)
        })?;
        let gate = gate.ok_or_else(|| Error::environment("cannot hold the program", "no gate"))?;
        let pid = Pid::from_raw(child)
            .ok_or_else(|| Error::environment("cannot watch the program", "no process id"))?;
        let process = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| {
            Error::unsupported("cannot watch the program", error, "use a kernel from 5.3 on")
        })?;
        let (log, words, launch) = (launch.log.clone(), words.to_vec(), launch.clone());
        let limit_ns = None;
        Ok(Self {
            family,
            child,
            process,
            gate,
            stdout,
            stderr,
            log,
            words,
            limit_bytes,
            limit_ns,
            launch,
        })
    }

    /// One that counts as hung when it runs longer.
    pub fn ending_within(self, limit_ns: u64) -> Self {
        Self { limit_ns: Some(limit_ns), ..self }
    }

    /// Its process.
    pub fn pid(&self) -> i32 {
        self.child
    }

    /// Its name as it was declared, for messages.
    pub fn name(&self) -> &str {
        self.words.first().map_or("the program", String::as_str)
    }

    /// Releases it and waits until it has ended.
    ///
    /// # Errors
    /// When it could not be executed or printed more than the limit.
    pub fn run(&mut self) -> Result<ProgramRun> {
        let start_ns = sys::monotonic_ns();
        write_full(&self.gate, b".")
            .map_err(|error| Error::environment("cannot release the program", error))?;
        let ended = self.watch(start_ns);
        let wall_ns = sys::monotonic_ns() - start_ns;
        let stopped = match ended? {
            Ended::ByItself => None,
            Ended::Exceeding(stream) => Some(self.too_long(stream)),
            Ended::Hung => Some(self.hung(wall_ns)),
        };
        if let Some(error) = stopped {
            self.family.kill();
            self.keep_output()?;
            return Err(error);
        }
        // It has ended and is not reaped: the last moment to see what it was.
        let changed_level = self.launch.difference(self.child).map_err(|error| {
            Error::environment("cannot read the program's levels back at its end", error)
        })?;
        let (termination, usage) = self
            .family
            .reap_one(self.child)
            .map_err(|error| Error::environment("cannot wait for the program", error))?;
        if let Some(complaint) = self.family.complaint() {
            return Err(Error::new(
                ErrorKind::Environment,
                format!("cannot execute {}", self.name()),
                complaint,
                "check that it is an executable for this machine and that its directory exists",
            ));
        }
        if let Some(stream) = self.exceeding()? {
            self.keep_output()?;
            return Err(self.too_long(stream));
        }
        let (stdout, stderr) = self.keep_output()?;
        Ok(ProgramRun { wall_ns, termination, usage, stdout, stderr, changed_level })
    }

    /// Waits for its end, or until it must be ended.
    fn watch(&self, start_ns: u64) -> Result<Ended> {
        loop {
            let mut ended = [PollFd::new(&self.process, PollFlags::IN)];
            match poll(&mut ended, Some(&timespec(WATCH_NS))) {
                Ok(0) => {
                    if let Some(stream) = self.exceeding()? {
                        return Ok(Ended::Exceeding(stream));
                    }
                    let ran_ns = sys::monotonic_ns() - start_ns;
                    if self.limit_ns.is_some_and(|limit_ns| ran_ns > limit_ns) {
                        return Ok(Ended::Hung);
                    }
                }
                Ok(_) => return Ok(Ended::ByItself),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::environment("cannot watch the program", error)),
            }
        }
    }

    fn hung(&self, ran_ns: u64) -> Error {
        let ran = model::format_duration(ran_ns);
        let attempted = format!("{} did not end", self.name());
        let cause =
            format!("it was ended after {ran}: its server may have accepted and said nothing");
        Error::new(ErrorKind::Environment, attempted, cause, WHERE_OUTPUT_IS)
    }

    fn exceeding(&self) -> Result<Option<&'static str>> {
        for (name, path) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let length = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?.len();
            if length > self.limit_bytes {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    fn too_long(&self, stream: &str) -> Error {
        Error::new(
            ErrorKind::Environment,
            format!("{} printed too much", self.name()),
            format!("its {stream} is longer than {}", model::format_size(self.limit_bytes)),
            "make it print less, or raise output_limit",
        )
    }

    /// Appends what it printed, at most the limit of each stream, to the log.
    fn keep_output(&self) -> Result<(String, String)> {
        let stdout = self.read(&self.stdout)?;
        let stderr = self.read(&self.stderr)?;
        let fail = |error: io::Error| {
            Error::environment(format!("cannot write the log {}", self.log.display()), error)
        };
        let mut log = File::options().create(true).append(true).open(&self.log).map_err(fail)?;
        write!(log, "$ {}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n", self.words.join(" "))
            .map_err(fail)?;
        Ok((stdout, stderr))
    }

    fn read(&self, path: &Path) -> Result<String> {
        use std::io::Read;
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(self.limit_bytes).read_to_end(&mut bytes))
            .map_err(|error| unreadable(path, &error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// What a program answers, on both streams. It is not measured, and is over before this
/// returns.
///
/// # Errors
/// When it cannot be started or fails.
pub fn answer_of(machine: &Machine, words: &[String], attempted: &str) -> Result<String> {
    let path = resolve(machine, words)?;
    let ran = std::process::Command::new(path)
        .args(words.iter().skip(1))
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| Error::environment(attempted, error))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let answer = text(&ran.stdout) + &text(&ran.stderr);
    if ran.status.success() {
        return Ok(answer);
    }
    let last: String = answer.trim().lines().last().unwrap_or("").chars().take(QUOTED).collect();
    let cause = format!("`{}` ended with {}; it said: {last}", words.join(" "), ran.status);
    Err(Error::environment(attempted, cause))
}

/// A duration of a program that takes whole seconds.
///
/// # Errors
/// When it is none.
pub fn whole_seconds(key: &Key<u64>, parameters: &Parameters) -> Result<u64, Problem> {
    match key.of(parameters) {
        ns if ns.is_multiple_of(S) => Ok(ns / S),
        _ => Err(format!("{}: this program takes whole seconds", key.name()).into()),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::environment(format!("cannot read the output in {}", path.display()), error)
}

fn create(path: &Path) -> Result<File> {
    File::create(path)
        .map_err(|error| Error::environment(format!("cannot make {}", path.display()), error))
}

/// The program's file, absolute, because it may run in another directory.
fn resolve(machine: &Machine, words: &[String]) -> Result<PathBuf> {
    let name = words.first().map_or("", String::as_str);
    let found = machine.program(name).ok_or_else(|| {
        Error::unsupported(
            format!("cannot run `{name}`"),
            if name.contains('/') {
                "it is not an executable file"
            } else {
                "there is no such program on PATH"
            },
            "check the spelling, or give its path",
        )
    })?;
    std::path::absolute(&found)
        .map_err(|error| Error::environment(format!("cannot find {}", found.display()), error))
}

/// What execv(3) wants: the path, then the arguments.
fn arguments(path: &Path, words: &[String]) -> Result<Vec<CString>> {
    let text = |bytes: &[u8]| {
        CString::new(bytes)
            .map_err(|error| Error::usage("cannot pass an argument", error, "remove the zero byte"))
    };
    let mut arguments = vec![text(path.as_os_str().as_bytes())?];
    for word in words {
        arguments.push(text(word.as_bytes())?);
    }
    Ok(arguments)
}

/// In the child: turns into the program, or says why it cannot.
fn become_program(
    arguments: &[CString],
    surroundings: &ProgramEnvironment,
    [stdout, stderr]: &[File; 2],
) -> io::Result<()> {
    if let Some(directory) = &surroundings.directory {
        std::env::set_current_dir(directory)?;
    }
    for (name, value) in &surroundings.variables {
        // SAFETY: a process that has just been forked by one with one thread has one thread.
        unsafe { std::env::set_var(name, value) };
    }
    let stdin = File::open("/dev/null")?;
    for (file, number) in [(&stdin, 0), (stdout, 1), (stderr, 2)] {
        // SAFETY: `file` is open; whatever `number` was is not used by us any more.
        if unsafe { libc::dup2(file.as_raw_fd(), number) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    sys::reset_signal_dispositions();
    let mut pointers: Vec<*const libc::c_char> =
        arguments[1..].iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: the path and the arguments are terminated, the array ends with
    // null, and all of them live until the call, which returns only on failure.
    unsafe { libc::execv(arguments[0].as_ptr(), pointers.as_ptr()) };
    Err(io::Error::last_os_error())
}
