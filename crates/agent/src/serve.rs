//! The agent: one request after the other, as the host sends them.

use crate::channel::{Channel, Incoming};
use crate::logs;
use crate::program::Program;
use contract::{Error, ErrorKind, Event, Interrupt, TrialCatalogue};
use executor::{Executor, ExecutorSettings, LONGEST_STANDSTILL_OF_GUESTS};
use model::{Phase, Plan, Trial};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use sys::Machine;
use wire::{
    Bytes, FailureKind, GuestFailure, ORDERS_FILE, Pty, WIRE_FORMAT, WireAnswer, WireRequest,
};

/// The role's name on the command line.
pub const AGENT_ROLE: &str = "__agent";

/// What the first process could not do, one line each.
pub(crate) const COMPLAINTS_FILE: &str = "/run/schedlab-complaints";

const LOGS: &str = "/tmp/schedlab/logs";
const SCRATCH: &str = "/tmp/schedlab/scratch";
/// Below the disk for workloads' files, in guests that have one.
const SCRATCH_ON_DISK: &str = "schedlab";
/// For how long no output may have come when the program itself has ended.
const DRAIN_TIME: Duration = Duration::from_millis(500);
/// Requests that may wait; a sender of more waits as well.
const QUEUED: usize = 64;
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const CLOCK_PATIENCE: Duration = Duration::from_secs(10);
const ENDED_INTERVAL: Duration = Duration::from_millis(20);

/// What the agent is told about its surroundings.
pub struct AgentSettings {
    /// The guest.
    pub machine: Machine,
    /// Everything that its trials can name.
    pub catalogue: TrialCatalogue,
    /// This binary, to be executed again in its roles.
    pub executable: PathBuf,
    /// How the guardian is told which machine.
    pub machine_arguments: Vec<String>,
    /// Version of this binary.
    pub version: &'static str,
}

/// Serves the role until the machine is switched off. Returns the exit code.
pub fn serve_agent(settings: AgentSettings) -> i32 {
    let (sender, receiver) = sync_channel(QUEUED);
    let interrupt = Interrupt::default();
    let opened = match std::fs::read(ORDERS_FILE) {
        Ok(orders) => Channel::with_orders(&sender, &orders),
        Err(_) => Channel::open(sender.clone(), interrupt.clone()),
    };
    let served = opened.and_then(|channel| {
        let mut agent = Agent { settings, channel, sender, interrupt, executor: None };
        agent.serve(&receiver)
    });
    match served {
        Ok(()) => 0,
        Err(error) => {
            // The console is its standard error, and the host keeps it as a log.
            let _ = io::Write::write_all(&mut io::stderr(), end_lines(&error).as_bytes());
            1
        }
    }
}

/// Why the agent ends: what it quotes is in a log that a person reads on a terminal.
fn end_lines(error: &io::Error) -> String {
    model::legible_lines(&format!("agent: {error}\n")).into_owned()
}

struct Agent {
    settings: AgentSettings,
    channel: Channel,
    sender: SyncSender<Incoming>,
    interrupt: Interrupt,
    executor: Option<Executor>,
}

impl Agent {
    fn serve(&mut self, incoming: &Receiver<Incoming>) -> io::Result<()> {
        loop {
            // The sender is ours, so the queue never ends.
            match incoming.recv().map_err(io::Error::other)? {
                Incoming::Request(request) => {
                    if matches!(*request, WireRequest::PowerOff) {
                        self.channel.flush();
                        return Ok(());
                    }
                    self.act(*request, incoming)?;
                }
                Incoming::Corrupt(corrupt) => self.refuse("cannot read what came", &corrupt.0)?,
                Incoming::Lost(error) => return Err(error),
                // Of a program that was given up.
                Incoming::Output(..) | Incoming::Fed(_) | Incoming::Ended => {}
            }
        }
    }

    fn act(&mut self, request: WireRequest, incoming: &Receiver<Incoming>) -> io::Result<()> {
        tracing::trace!(?request, "was asked");
        match request {
            WireRequest::Hello { format, nonce } => self.greet(&format, nonce),
            WireRequest::Echo { payload } => self.channel.send(&WireAnswer::Echo { payload }),
            WireRequest::Missing { plan } => self.missing(&plan),
            WireRequest::Fingerprint => self.fingerprint(),
            WireRequest::Open { purpose } => self.open(purpose),
            WireRequest::Run { trial } => self.run(&trial),
            WireRequest::Execute { words, environment, pty } => {
                self.execute(&words, &environment, pty, incoming)
            }
            WireRequest::Close => self.close(),
            // Of a trial or program that ended meanwhile.
            WireRequest::Interrupt { .. }
            | WireRequest::Input { .. }
            | WireRequest::Resize { .. } => Ok(()),
            WireRequest::PowerOff => Ok(()),
        }
    }

    fn greet(&mut self, format: &str, nonce: u64) -> io::Result<()> {
        if format != WIRE_FORMAT {
            return self.refuse("cannot talk", &format!("I speak {WIRE_FORMAT}, not {format}"));
        }
        let machine = &self.settings.machine;
        let complaints = std::fs::read_to_string(COMPLAINTS_FILE).unwrap_or_default();
        let hello = WireAnswer::Hello {
            format: WIRE_FORMAT.to_owned(),
            nonce,
            version: self.settings.version.to_owned(),
            release: machine.kernel_release().unwrap_or_default(),
            boot_id: machine.boot_id().unwrap_or_default(),
            agent_bytes: resident_bytes(machine),
            complaints: complaints.lines().map(str::to_owned).collect(),
        };
        self.channel.send(&hello)
    }

    fn missing(&mut self, plan: &Plan) -> io::Result<()> {
        let missing = executor::missing(&self.settings.machine, &self.settings.catalogue, plan);
        self.channel.send(&WireAnswer::Missing { missing })
    }

    fn fingerprint(&mut self) -> io::Result<()> {
        settle_clock(&self.settings.machine);
        match executor::fingerprint(&self.settings.machine, &self.settings.catalogue) {
            Ok(fingerprint) => self.channel.send(&WireAnswer::Fingerprint { fingerprint }),
            Err(error) => self.fail(&error),
        }
    }

    fn open(&mut self, purpose: String) -> io::Result<()> {
        settle_clock(&self.settings.machine);
        let settings = ExecutorSettings {
            machine: self.settings.machine.clone(),
            catalogue: self.settings.catalogue,
            executable: self.settings.executable.clone(),
            machine_arguments: self.settings.machine_arguments.clone(),
            logs: LOGS.into(),
            scratch: scratch(),
            purpose,
            longest_standstill: LONGEST_STANDSTILL_OF_GUESTS,
        };
        match Executor::open(settings, &self.interrupt) {
            Ok(executor) => {
                self.executor = Some(executor);
                self.channel.send(&WireAnswer::Opened)
            }
            Err(error) => self.fail(&error),
        }
    }

    fn run(&mut self, trial: &Trial) -> io::Result<()> {
        let Some(executor) = &mut self.executor else {
            return self.refuse("cannot run a trial", "nothing was opened");
        };
        let mut watch = FrameCounter::at(&mut self.channel);
        let (subject, workload) = (&trial.subject.id, &trial.workload.label);
        tracing::debug!(block = trial.block, subject, workload, "a trial begins");
        let outcome = executor.run(trial, &mut |event| watch.note(&event));
        tracing::debug!(outcome = ?outcome.as_ref().map(|record| &record.outcome), "it ended");
        let FrameCounter { frames, run_lengths_ns, lost, .. } = watch;
        if let Some(error) = lost {
            return Err(error);
        }
        match outcome {
            Ok(record) => self.channel.send(&WireAnswer::Record {
                record: Box::new(record),
                frames_while_running: frames,
                run_lengths_ns,
            })?,
            Err(error) => return self.fail(&error),
        }
        for (name, text) in logs::take(LOGS.as_ref()) {
            self.channel.send(&WireAnswer::Log { name, text: Bytes(text) })?;
        }
        self.channel.send(&WireAnswer::LogsSent)
    }

    fn close(&mut self) -> io::Result<()> {
        match self.executor.take().map_or(Ok(()), Executor::close) {
            Ok(()) => self.channel.send(&WireAnswer::Closed),
            Err(error) => self.fail(&error),
        }
    }

    fn execute(
        &mut self,
        words: &[String],
        environment: &[(String, String)],
        pty: Option<Pty>,
        incoming: &Receiver<Incoming>,
    ) -> io::Result<()> {
        let mut program = match Program::start(words, environment, pty, &self.sender) {
            Ok(program) => program,
            Err(error) => {
                let name = words.first().map_or("", String::as_str);
                let failure = GuestFailure {
                    kind: FailureKind::Usage,
                    attempted: format!("cannot start {name} in the guest"),
                    cause: error.to_string(),
                    remedy:
                        "name a program that the guest has; `--file` and `--tools` bring others"
                            .to_owned(),
                };
                return self.channel.send(&WireAnswer::Failed { failure });
            }
        };
        let status = self.attend(&mut program, incoming)?;
        self.channel.send(&WireAnswer::Exited { status })
    }

    /// Passes streams and signals on until the program has ended.
    fn attend(&mut self, program: &mut Program, incoming: &Receiver<Incoming>) -> io::Result<i32> {
        let mut status = None;
        let mut ended_at: Option<Instant> = None;
        loop {
            match incoming.recv_timeout(ENDED_INTERVAL) {
                Ok(Incoming::Output(stream, bytes)) => {
                    self.channel.send(&WireAnswer::Output { stream, payload: Bytes(bytes) })?;
                    // Sending takes longer than the program did: it left more than this.
                    ended_at = ended_at.map(|_| Instant::now());
                }
                Ok(Incoming::Fed(bytes)) => self.channel.send(&WireAnswer::Fed { bytes })?,
                Ok(Incoming::Ended) => program.open_streams -= 1,
                Ok(Incoming::Request(request)) => match *request {
                    WireRequest::Input { payload } => program.feed(payload.0),
                    WireRequest::Resize { pty } => program.resize(pty),
                    WireRequest::Interrupt { signal } => program.signal(signal),
                    WireRequest::Echo { payload } => {
                        self.channel.send(&WireAnswer::Echo { payload })?
                    }
                    _ => self.refuse("cannot do that", "a program runs")?,
                },
                Ok(Incoming::Corrupt(corrupt)) => {
                    self.refuse("cannot read what came", &corrupt.0)?;
                }
                Ok(Incoming::Lost(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {}
                Err(error @ RecvTimeoutError::Disconnected) => return Err(io::Error::other(error)),
            }
            if status.is_none() {
                status = program.ended()?;
                ended_at = status.map(|_| Instant::now());
            }
            // A child that lives on in the background may keep a stream open.
            let is_over = ended_at.is_some_and(|at| at.elapsed() > DRAIN_TIME);
            if let (Some(status), true) = (status, is_over || program.open_streams == 0) {
                return Ok(status);
            }
        }
    }

    fn refuse(&mut self, attempted: &str, cause: &str) -> io::Result<()> {
        self.fail(&Error::environment(attempted, cause))
    }

    fn fail(&mut self, error: &Error) -> io::Result<()> {
        tracing::debug!(error = error.one_line(), "refuses");
        let kind = match error.kind {
            ErrorKind::Usage => FailureKind::Usage,
            ErrorKind::Environment => FailureKind::Environment,
            ErrorKind::Unsupported => FailureKind::Unsupported,
            ErrorKind::Interrupted => FailureKind::Interrupted,
            ErrorKind::RestoreIncomplete => FailureKind::RestoreIncomplete,
        };
        let failure = GuestFailure {
            kind,
            attempted: error.attempted.clone(),
            cause: error.cause.clone(),
            remedy: error.remedy.clone(),
        };
        self.channel.send(&WireAnswer::Failed { failure })
    }
}

/// Waits while the clock is the one of the first seconds, `tsc-early` (arch/x86/kernel/tsc.c):
/// a trial must not begin with one and end with another.
fn settle_clock(machine: &Machine) {
    let deadline = Instant::now() + CLOCK_PATIENCE;
    let is_early = || machine.read(CLOCK_SOURCE).is_ok_and(|text| text.trim().ends_with("-early"));
    while is_early() && Instant::now() < deadline {
        std::thread::sleep(ENDED_INTERVAL);
    }
}

/// Where workloads' files go: on the disk, where there is one.
fn scratch() -> PathBuf {
    let disk = Path::new(wire::SCRATCH_DISK);
    if disk.is_dir() { disk.join(SCRATCH_ON_DISK) } else { PathBuf::from(SCRATCH) }
}

/// Resident memory of this process (proc(5), statm: the second field, in pages).
fn resident_bytes(machine: &Machine) -> u64 {
    let text = machine.read("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = text.split(' ').nth(1).and_then(|field| field.parse().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// Passes phases on, and counts the frames and the time between the start of a run and the first
/// phase after it.
struct FrameCounter<'c> {
    channel: &'c mut Channel,
    /// How many frames there were, and when, as the run in progress began.
    running: Option<(u64, u64)>,
    frames: u64,
    run_lengths_ns: Vec<u64>,
    lost: Option<io::Error>,
}

impl<'c> FrameCounter<'c> {
    fn at(channel: &'c mut Channel) -> Self {
        Self { channel, running: None, frames: 0, run_lengths_ns: Vec::new(), lost: None }
    }

    fn note(&mut self, event: &Event) {
        if let Some((before, began_ns)) = self.running.take() {
            self.frames += self.channel.frames() - before;
            self.run_lengths_ns.push(sys::monotonic_ns().saturating_sub(began_ns));
        }
        let answer = match event {
            Event::TrialPhase(phase) => WireAnswer::Phase { phase: *phase },
            Event::Notice(text) => WireAnswer::Notice { text: text.clone() },
            _ => return,
        };
        if let Err(error) = self.channel.send(&answer) {
            self.lost.get_or_insert(error);
        }
        if matches!(event, Event::TrialPhase(Phase::Running { .. })) {
            self.running = Some((self.channel.frames(), sys::monotonic_ns()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn only_frames_between_the_start_of_a_run_and_the_phase_after_it_are_counted() {
        let (mut channel, frames) = Channel::into_file(tempfile::tempfile().unwrap());
        let mut watch = FrameCounter::at(&mut channel);
        let phases = [
            Phase::Setting,
            Phase::Preparing { invocation: 0 },
            Phase::Running { invocation: 0 },
            Phase::Preparing { invocation: 1 },
            Phase::Running { invocation: 1 },
            Phase::Restoring,
        ];
        for phase in phases {
            watch.note(&Event::TrialPhase(phase));
        }
        assert_eq!(watch.frames, 0, "phases themselves are told outside the runs");
        assert_eq!(watch.run_lengths_ns.len(), 2, "each run has its length");
        watch.note(&Event::TrialPhase(Phase::Running { invocation: 2 }));
        // As the reader counts what the host sends meanwhile.
        frames.fetch_add(2, Ordering::SeqCst);
        watch.note(&Event::TrialPhase(Phase::Restoring));
        assert_eq!(watch.frames, 2);
    }

    #[test]
    fn a_terminal_obeys_nothing_of_what_ends_an_agent() {
        let error = io::Error::other("cannot open \u{1b}[2J\u{202e}\nthe channel");
        assert_eq!(end_lines(&error), "agent: cannot open \\u001b[2J\\u202e\nthe channel\n");
    }
}
