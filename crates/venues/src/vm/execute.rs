//! One program in a guest of its own: `vm exec` and `vm shell`.

use super::accelerator;
use super::boot::{Booter, NotBooted, interrupted};
use super::emulator;
use super::files::GuestFiles;
use super::guest::Lost;
use super::snapshot::{self, Snapshot};
use super::vm_host::{VmHost, tools_image};
use contract::{BootSpec, Error, ErrorKind, Event, Interrupt, Result};
use model::VmSettings;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;
use wire::{Bytes, INPUT_WINDOW, OutputStream, Pty, WireAnswer, WireRequest};

/// How long one look at a running program waits.
const GLANCE: Duration = Duration::from_millis(200);
const INPUT_BYTES: usize = 16 << 10;
/// No campaign's processes carry it; the machine dies with the thread that started it.
const MARK: &str = "SCHEDLAB_MARK=vm-exec";

/// A program to run in a guest.
pub struct Execution {
    /// Where the guest comes from.
    pub origin: Origin,
    /// Program and arguments.
    pub words: Vec<String>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
    /// The terminal it gets, where it gets one.
    pub terminal: Option<Pty>,
    /// Where the guest's console is kept, if anywhere.
    pub console: Option<PathBuf>,
}

/// Where a guest comes from.
pub enum Origin {
    /// It is booted.
    Boot {
        /// What is booted.
        spec: BootSpec,
        /// With what.
        settings: Box<VmSettings>,
        /// Host files that go into the guest, programs with their libraries.
        files: Vec<PathBuf>,
    },
    /// It was saved.
    Snapshot(Box<Snapshot>),
}

/// What the caller does for a program in a guest.
pub trait Streams {
    /// Where its standard input comes from; `None` closes it at once.
    fn input(&self) -> Option<Box<dyn InputSource>>;

    /// Takes what it wrote.
    ///
    /// # Errors
    /// When nobody can take it.
    fn output(&mut self, stream: OutputStream, bytes: &[u8]) -> std::io::Result<()>;

    /// The terminal's new size, where it changed.
    fn resized(&mut self) -> Option<Pty>;

    /// A person may want to know.
    fn note(&mut self, event: &Event);
}

/// Something readable that can be waited for.
pub trait InputSource: Read + AsFd {}
impl<T: Read + AsFd> InputSource for T {}

/// Boots a guest, runs the program, and gives its exit status.
///
/// # Errors
/// When the guest does not boot, or ends before the program does.
pub fn execute(
    host: &VmHost,
    execution: &Execution,
    streams: &mut dyn Streams,
    interrupt: &Interrupt,
) -> Result<i32> {
    let (mut booted, engine) = match &execution.origin {
        Origin::Snapshot(snapshot) => {
            (snapshot::restore(host, snapshot, interrupt)?, snapshot.engine())
        }
        Origin::Boot { spec, settings, files } => {
            let engine = accelerator::choose(host, settings, 0, &spec.kernel, interrupt)?;
            let mark = MARK.to_owned();
            let mut booter = Booter::new(
                host.clone(),
                settings.as_ref().clone(),
                engine,
                mark,
                interrupt.clone(),
            );
            booter.console.clone_from(&execution.console);
            booter.files = GuestFiles::at(host, files)?;
            booter.tools = tools_image(host, &settings.tools)?;
            let booted = booter.boot(spec, &mut |event| streams.note(&event));
            (booted.map_err(NotBooted::into_error)?, engine)
        }
    };
    for complaint in &booted.complaints {
        streams.note(&Event::Notice(format!("in the guest: {complaint}")));
    }
    let outcome = Conversation {
        execution,
        streams,
        interrupt,
        input: None,
        has_signalled: false,
        on_their_way: 0,
    }
    .run(&mut booted.guest);
    match outcome {
        Ok(status) => {
            booted.guest.switch_off();
            Ok(status)
        }
        Err(Lost::Interrupted(signal)) => Err(interrupted(signal)),
        Err(Lost::Refused(failure)) => {
            booted.guest.switch_off();
            let kind = match failure.kind {
                wire::FailureKind::Usage => ErrorKind::Usage,
                _ => ErrorKind::Environment,
            };
            Err(Error::new(kind, failure.attempted, failure.cause, failure.remedy))
        }
        Err(lost) => {
            let words = booted.console.last_lines();
            let vcpus = booted.spec.topology.vcpus() as usize;
            let attempted = match emulator::fault(engine, vcpus, &words) {
                Some(_) => "the emulator lost the guest, not the program",
                None => "the guest was lost before the program ended",
            };
            Err(Error::environment(attempted, format!("{lost}; its console: {words}")))
        }
    }
}

struct Conversation<'e> {
    execution: &'e Execution,
    streams: &'e mut dyn Streams,
    interrupt: &'e Interrupt,
    input: Option<Box<dyn InputSource>>,
    has_signalled: bool,
    /// Bytes of input that the program has not taken.
    on_their_way: u64,
}

impl Conversation<'_> {
    fn run(mut self, guest: &mut super::guest::Guest) -> Result<i32, Lost> {
        guest.send(&WireRequest::Execute {
            words: self.execution.words.clone(),
            environment: self.execution.environment.clone(),
            pty: self.execution.terminal,
        })?;
        self.input = self.streams.input();
        if self.input.is_none() {
            guest.send(&WireRequest::Input { payload: Bytes::default() })?;
        }
        // The program hears of signals itself; waiting must not end because of them.
        let deaf = Interrupt::default();
        loop {
            self.pass_signal(guest)?;
            if let Some(pty) = self.streams.resized() {
                guest.send(&WireRequest::Resize { pty })?;
            }
            let is_open = self.on_their_way < INPUT_WINDOW;
            let source = self.input.as_ref().filter(|_| is_open).map(|input| input.as_fd());
            match guest.wait(GLANCE, source) {
                (_, true) => self.pass_input(guest)?,
                (false, false) => continue,
                (true, false) => {}
            }
            while let Some(answer) = guest.received(&deaf)? {
                match answer {
                    WireAnswer::Output { stream, payload } => {
                        if self.streams.output(stream, &payload.0).is_err() {
                            // Nobody reads any more: the program hears it as a shell's would.
                            guest.send(&WireRequest::Interrupt { signal: libc::SIGPIPE })?;
                        }
                    }
                    WireAnswer::Fed { bytes } => {
                        self.on_their_way = self.on_their_way.saturating_sub(bytes);
                    }
                    WireAnswer::Exited { status } => return Ok(status),
                    WireAnswer::Failed { failure } => return Err(Lost::Refused(failure)),
                    _ => return Err(Lost::Corrupt("the agent answered out of turn".to_owned())),
                }
            }
        }
    }

    fn pass_signal(&mut self, guest: &mut super::guest::Guest) -> Result<(), Lost> {
        if let Some(signal) = self.interrupt.signal().filter(|_| !self.has_signalled) {
            self.has_signalled = true;
            guest.send(&WireRequest::Interrupt { signal })?;
        }
        Ok(())
    }

    fn pass_input(&mut self, guest: &mut super::guest::Guest) -> Result<(), Lost> {
        let Some(input) = &mut self.input else { return Ok(()) };
        let mut bytes = vec![0; INPUT_BYTES];
        match input.read(&mut bytes) {
            Ok(count) if count > 0 => {
                bytes.truncate(count);
                self.on_their_way += count as u64;
                guest.send(&WireRequest::Input { payload: Bytes(bytes) })
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
            // Its end, or a terminal that is gone.
            _ => {
                self.input = None;
                guest.send(&WireRequest::Input { payload: Bytes::default() })
            }
        }
    }
}
