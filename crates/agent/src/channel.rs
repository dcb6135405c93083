//! The agent's side of the channel: a virtio serial port with the name `schedlab`.
//!
//! One thread reads; whatever comes is queued for the agent's main thread, except the
//! wish to stop, which reaches a running trial at once.

use contract::Interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};
use sys::Machine;
use wire::{Corrupt, Decoder, Encoder, WireAnswer, WireRequest};

/// The port's name, which the machine was started with.
const PORT: &str = "schedlab";
/// The port's device appears a moment after its driver.
const PORT_PATIENCE: Duration = Duration::from_secs(20);
/// How long a read waits before it tries again while no host is connected.
const ABSENT_PAUSE: Duration = Duration::from_millis(20);
const READ_BYTES: usize = 64 << 10;

/// What the main thread acts on.
pub(crate) enum Incoming {
    /// The host wants something.
    Request(Box<WireRequest>),
    /// What the host sent cannot be trusted.
    Corrupt(Corrupt),
    /// A program's output.
    Output(wire::OutputStream, Vec<u8>),
    /// A program took input.
    Fed(u64),
    /// A stream of a program ended.
    Ended,
    /// The channel is gone.
    Lost(io::Error),
}

/// The channel: writing here, reading in a thread of its own.
pub(crate) struct Channel {
    file: File,
    encoder: Encoder,
    frames: Arc<AtomicU64>,
}

impl Channel {
    /// Opens the port and starts the reader.
    pub(crate) fn open(incoming: SyncSender<Incoming>, interrupt: Interrupt) -> io::Result<Self> {
        let path = find_port()?;
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        let reader = file.try_clone()?;
        let frames = Arc::new(AtomicU64::new(0));
        let counted = frames.clone();
        std::thread::Builder::new()
            .name("channel".to_owned())
            .spawn(move || read(reader, &incoming, &interrupt, &counted))?;
        Ok(Self { file, encoder: Encoder::default(), frames })
    }

    /// A channel into which nothing comes: the orders are in a file.
    pub(crate) fn with_orders(incoming: &SyncSender<Incoming>, orders: &[u8]) -> io::Result<Self> {
        let orders: Vec<WireRequest> = serde_json::from_slice(orders).map_err(io::Error::other)?;
        for order in orders {
            incoming.send(Incoming::Request(Box::new(order))).map_err(io::Error::other)?;
        }
        let frames = Arc::new(AtomicU64::new(0));
        Ok(Self { file: open_answers()?, encoder: Encoder::default(), frames })
    }

    /// One that writes into a file, and its counter.
    #[cfg(test)]
    pub(crate) fn into_file(file: File) -> (Self, Arc<AtomicU64>) {
        let frames = Arc::new(AtomicU64::new(0));
        let channel = Self { file, encoder: Encoder::default(), frames: frames.clone() };
        (channel, frames)
    }

    /// Waits until everything that was sent is on its way.
    pub(crate) fn flush(&self) {
        // A virtio port has no such call and needs none.
        let _ = rustix::termios::tcdrain(&self.file);
    }

    /// Sends an answer.
    pub(crate) fn send(&mut self, answer: &WireAnswer) -> io::Result<()> {
        if matches!(answer, WireAnswer::Hello { .. }) {
            self.encoder.restart();
        }
        let frame = self.encoder.encode(answer).map_err(io::Error::other)?;
        self.file.write_all(&frame)?;
        self.frames.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    /// Frames that came or went so far.
    pub(crate) fn frames(&self) -> u64 {
        self.frames.load(Ordering::SeqCst)
    }
}

/// Where a guest that nobody talks to writes its answers.
const ANSWERS: &str = "/dev/ttyS1";

/// The answers' serial port, which passes bytes on as they are.
fn open_answers() -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(ANSWERS)?;
    let mut settings = rustix::termios::tcgetattr(&file)?;
    settings.make_raw();
    settings.set_speed(115_200)?;
    rustix::termios::tcsetattr(&file, rustix::termios::OptionalActions::Now, &settings)?;
    Ok(file)
}

fn find_port() -> io::Result<PathBuf> {
    let deadline = Instant::now() + PORT_PATIENCE;
    loop {
        if let Some(device) = sys::virtio_port(&Machine::host(""), PORT) {
            return Ok(device);
        }
        if Instant::now() >= deadline {
            let why = format!("no virtio port is called {PORT}");
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn read(
    mut file: File,
    incoming: &SyncSender<Incoming>,
    interrupt: &Interrupt,
    frames: &AtomicU64,
) {
    let mut decoder = Decoder::new();
    let mut bytes = vec![0; READ_BYTES];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => std::thread::sleep(ABSENT_PAUSE),
            Ok(count) => decoder.push(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if is_absent(&file) => {
                let _ = error;
                std::thread::sleep(ABSENT_PAUSE);
            }
            Err(error) => {
                let _ = incoming.send(Incoming::Lost(error));
                return;
            }
        }
        if !deliver(&mut decoder, incoming, interrupt, frames) {
            return;
        }
    }
}

/// Whether no host is connected at the other end.
fn is_absent(file: &File) -> bool {
    let mut descriptors = [PollFd::new(file, PollFlags::IN)];
    let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut descriptors, Some(&now)).is_ok() && descriptors[0].revents().contains(PollFlags::HUP)
}

/// Hands on what is whole; false when nobody listens any more.
fn deliver(
    decoder: &mut Decoder,
    incoming: &SyncSender<Incoming>,
    interrupt: &Interrupt,
    frames: &AtomicU64,
) -> bool {
    loop {
        let message = match decoder.take::<WireRequest>() {
            Ok(Some(request)) => {
                frames.fetch_add(1, Ordering::SeqCst);
                if let WireRequest::Interrupt { signal } = request {
                    interrupt.request(signal);
                }
                Incoming::Request(Box::new(request))
            }
            Ok(None) => return true,
            Err(corrupt) => {
                // A hello of a new conversation may be among what was pushed.
                decoder.restart();
                Incoming::Corrupt(corrupt)
            }
        };
        if incoming.send(message).is_err() {
            return false;
        }
    }
}
