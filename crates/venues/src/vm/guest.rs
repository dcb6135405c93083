//! A guest that was booted: requests go in, answers come out, and whatever ends it is
//! noticed.

use super::qemu::Qemu;
use contract::Interrupt;
use model::bounded_text;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};
use wire::{Decoder, Encoder, GuestFailure, WIRE_FORMAT, WireAnswer, WireRequest};

/// How long one wait lasts before signals and the process are looked at.
const GLANCE: Duration = Duration::from_millis(100);
/// A hello that nobody answered is sent again, in case it vanished.
const HELLO_INTERVAL: Duration = Duration::from_secs(5);
const READ_BYTES: usize = 64 << 10;

/// Why a guest cannot be talked to any more.
#[derive(Debug)]
pub(crate) enum Lost {
    /// QEMU ended.
    Ended(String),
    /// It did not answer in time.
    Silent(Duration),
    /// What it sent cannot be trusted.
    Corrupt(String),
    /// It refuses what it was asked.
    Refused(GuestFailure),
    /// It is of another version.
    Foreign(String),
    /// It used up its time on the host's processors.
    Exhausted(Duration),
    /// The user wants to stop.
    Interrupted(i32),
}

impl fmt::Display for Lost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::Ended(how) => write!(formatter, "the machine ended ({how})"),
            Lost::Silent(patience) => {
                write!(formatter, "the guest did not answer for {} s", patience.as_secs())
            }
            Lost::Corrupt(what) => write!(formatter, "the guest sent a corrupted frame: {what}"),
            Lost::Foreign(why) => {
                write!(formatter, "the agent does not fit: {}", bounded_text(why))
            }
            Lost::Exhausted(budget) => {
                write!(formatter, "the guest used up its {} s of CPU time", budget.as_secs())
            }
            Lost::Refused(failure) => write!(formatter, "the guest refused: {failure}"),
            Lost::Interrupted(signal) => write!(formatter, "stopped by signal {signal}"),
        }
    }
}

/// What a guest says of itself when it answers for the first time.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    pub version: String,
    pub boot_id: String,
    pub agent_bytes: u64,
    pub complaints: Vec<String>,
}

/// A running guest.
pub(crate) struct Guest {
    pub qemu: Qemu,
    encoder: Encoder,
    decoder: Decoder,
    nonce: u64,
}

impl Guest {
    /// A guest whose agent has not been heard of yet.
    pub(crate) fn new(qemu: Qemu) -> Self {
        Self { qemu, encoder: Encoder::default(), decoder: Decoder::new(), nonce: 0 }
    }

    /// Says hello until the agent answers.
    pub(crate) fn greet(
        &mut self,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<Greeting, Lost> {
        let deadline = Instant::now() + patience;
        loop {
            self.say_hello()?;
            let until = deadline.min(Instant::now() + HELLO_INTERVAL);
            match self.hello_answered(until, interrupt) {
                Ok(Some(greeting)) => return Ok(greeting),
                Ok(None) if Instant::now() < deadline => {}
                Ok(None) => return Err(Lost::Silent(patience)),
                Err(lost) => return Err(lost),
            }
        }
    }

    fn say_hello(&mut self) -> Result<(), Lost> {
        self.nonce += 1;
        tracing::trace!(nonce = self.nonce, "says hello");
        self.encoder.restart();
        self.decoder.restart();
        self.send(&WireRequest::Hello { format: WIRE_FORMAT.to_owned(), nonce: self.nonce })
    }

    /// The answer to the last hello; answers to earlier ones are passed over.
    fn hello_answered(
        &mut self,
        until: Instant,
        interrupt: &Interrupt,
    ) -> Result<Option<Greeting>, Lost> {
        loop {
            let patience = until.saturating_duration_since(Instant::now());
            match self.receive(patience, interrupt) {
                Ok(WireAnswer::Hello {
                    format,
                    nonce,
                    version,
                    boot_id,
                    agent_bytes,
                    complaints,
                    ..
                }) if nonce == self.nonce => {
                    if format != WIRE_FORMAT {
                        let why = format!("it speaks {format}, and this is {WIRE_FORMAT}");
                        return Err(Lost::Foreign(why));
                    }
                    return Ok(Some(Greeting { version, boot_id, agent_bytes, complaints }));
                }
                Ok(WireAnswer::Failed { failure }) => return Err(Lost::Refused(failure)),
                Ok(_) | Err(Lost::Corrupt(_)) => self.decoder.restart(),
                Err(Lost::Silent(_)) => return Ok(None),
                Err(lost) => return Err(lost),
            }
        }
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, request: &WireRequest) -> Result<(), Lost> {
        let frame = self.encoder.encode(request).map_err(|corrupt| Lost::Corrupt(corrupt.0))?;
        match self.qemu.channel.write_all(&frame) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.how_it_ended(&error.to_string())),
        }
    }

    /// The next answer.
    pub(crate) fn receive(
        &mut self,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<WireAnswer, Lost> {
        let deadline = Instant::now() + patience;
        let mut bytes = vec![0; READ_BYTES];
        loop {
            match self.decoder.take::<WireAnswer>() {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => {}
                Err(corrupt) => {
                    tracing::debug!(why = corrupt.0, "a frame was lost");
                    return Err(Lost::Corrupt(corrupt.0));
                }
            }
            if let Some(signal) = interrupt.signal() {
                return Err(Lost::Interrupted(signal));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if self.is_readable(left.min(GLANCE)) {
                match self.qemu.channel.read(&mut bytes) {
                    Ok(0) => return Err(self.how_it_ended("its channel closed")),
                    Ok(count) => self.decoder.push(&bytes[..count]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(self.how_it_ended(&error.to_string())),
                }
            } else if left.is_zero() {
                return Err(Lost::Silent(patience));
            }
        }
    }

    /// Waits for the guest, or for a source of input: whether each has something.
    pub(crate) fn wait(&self, patience: Duration, input: Option<BorrowedFd<'_>>) -> (bool, bool) {
        let mut descriptors = vec![PollFd::new(&self.qemu.channel, PollFlags::IN)];
        descriptors.extend(input.map(|input| PollFd::from_borrowed_fd(input, PollFlags::IN)));
        if poll(&mut descriptors, Some(&timespec(patience))).is_err() {
            return (false, false);
        }
        let is_ready = |descriptor: &PollFd<'_>| !descriptor.revents().is_empty();
        (is_ready(&descriptors[0]), descriptors.get(1).is_some_and(is_ready))
    }

    /// An answer that arrived already, if one did.
    pub(crate) fn received(&mut self, interrupt: &Interrupt) -> Result<Option<WireAnswer>, Lost> {
        match self.receive(Duration::ZERO, interrupt) {
            Ok(answer) => Ok(Some(answer)),
            Err(Lost::Silent(_)) => Ok(None),
            Err(lost) => Err(lost),
        }
    }

    /// Sends a request and waits for its only answer.
    pub(crate) fn ask(
        &mut self,
        request: &WireRequest,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<WireAnswer, Lost> {
        self.send(request)?;
        self.receive(patience, interrupt)
    }

    /// Switches the machine off and waits for its end.
    pub(crate) fn switch_off(mut self) {
        if self.send(&WireRequest::PowerOff).is_ok() {
            // One that does not end by itself is ended.
            let _ = self.qemu.wait_off();
        }
    }

    fn is_readable(&self, patience: Duration) -> bool {
        self.wait(patience, None).0
    }

    /// The process may take a moment to end after its channel closed.
    fn how_it_ended(&mut self, otherwise: &str) -> Lost {
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if let Some(status) = self.qemu.ended() {
                tracing::debug!(%status, otherwise, "QEMU ended");
                return Lost::Ended(status.to_string());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Lost::Ended(otherwise.to_owned())
    }
}

fn timespec(patience: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(patience.subsec_nanos()),
    }
}
