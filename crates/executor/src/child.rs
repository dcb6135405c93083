//! Processes of ours: this binary, executed again in a hidden role, in a
//! process group of its own, marked so that it can be found whatever happens.

use contract::{Error, Result};
use model::BackgroundSession;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::time::Timespec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use sys::Termination;

/// The role of CPU hogs.
pub const BACKGROUND_ROLE: &str = "__background";

/// A frame longer than this is not one of ours: histograms are some kilobytes.
const LONGEST_FRAME: usize = 256 << 20;

/// A child that speaks JSON lines on its standard streams.
#[derive(Debug)]
pub(crate) struct RoleChild {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    partial: Vec<u8>,
}

/// What waiting for a frame brought.
pub(crate) enum Waited<T> {
    /// A frame.
    Frame(T),
    /// Nothing within the time.
    Nothing,
    /// The child ended.
    Ended(Termination),
}

/// What every child needs to know to die with its parent.
pub(crate) struct Marking<'a> {
    /// This binary.
    pub executable: &'a Path,
    /// `NAME=value` of the environment.
    pub mark: &'a str,
    /// Where its error output goes.
    pub log: &'a Path,
    /// Bytes by which its environment is longer: where a program's stack begins moves
    /// its speed by more than many settings (Mytkowicz and others, ASPLOS 2009), so
    /// each block begins it elsewhere, for all subjects alike.
    pub padding: usize,
}

/// The environment's variable that takes up the room.
const PADDING: &str = "SCHEDLAB_PADDING";
/// A page moves the stack through every alignment that matters.
const LARGEST_PADDING: u64 = 4096;

/// The padding that a seed draws.
pub(crate) fn padding(seed: u64) -> usize {
    // The high bits: seeds of neighbouring invocations differ in the low ones.
    ((seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % LARGEST_PADDING) as usize
}

impl RoleChild {
    /// Starts a role. It does nothing until it is sent its order, and ends when
    /// its input ends, so a crash between here and the journal leaves nothing.
    pub(crate) fn spawn(
        role: &str,
        session: BackgroundSession,
        marking: &Marking<'_>,
    ) -> Result<Self> {
        let attempted = || format!("cannot start {} {role}", marking.executable.display());
        let log = sys::append_to(marking.log).map_err(|error| {
            Error::environment(format!("cannot open {}", marking.log.display()), error)
        })?;
        let (name, value) = marking.mark.split_once('=').unwrap_or((marking.mark, ""));
        let mut command = Command::new(marking.executable);
        command
            .arg(role)
            .env(name, value)
            .env(PADDING, "x".repeat(marking.padding))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(log));
        match session {
            BackgroundSession::Same => {
                command.process_group(0);
            }
            BackgroundSession::Separate => {
                // SAFETY: setsid(2) is async-signal-safe and allocates nothing.
                unsafe {
                    command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?));
                }
            }
        }
        let mut child = command.spawn().map_err(|error| Error::environment(attempted(), error))?;
        tracing::debug!(role, pid = child.id(), log = %marking.log.display(), "a process was started");
        let input = child.stdin.take();
        let output =
            child.stdout.take().ok_or_else(|| Error::environment(attempted(), "no output pipe"))?;
        Ok(Self { child, input, output: BufReader::new(output), partial: Vec::new() })
    }

    /// Its process id, which is also its group's.
    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Sends a frame.
    pub(crate) fn send(&mut self, frame: &impl Serialize) -> Result<()> {
        let attempted = "cannot send an order to a process of ours";
        let mut line =
            serde_json::to_vec(frame).map_err(|error| Error::environment(attempted, error))?;
        line.push(b'\n');
        let input = self
            .input
            .as_mut()
            .ok_or_else(|| Error::environment(attempted, "its input is closed"))?;
        input.write_all(&line).map_err(|error| Error::environment(attempted, error))
    }

    /// Closes its input: the sign to end.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for a frame, at most `patience`. Returns early on a signal.
    pub(crate) fn wait_frame<T: DeserializeOwned>(
        &mut self,
        patience: Duration,
    ) -> Result<Waited<T>> {
        let attempted = "cannot read from a process of ours";
        if !self.output.buffer().contains(&b'\n') && !self.is_readable(patience)? {
            return Ok(Waited::Nothing);
        }
        let available =
            self.output.fill_buf().map_err(|error| Error::environment(attempted, error))?;
        if available.is_empty() {
            let status = self.child.wait().map_err(|error| Error::environment(attempted, error))?;
            return Ok(Waited::Ended(status.into()));
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |position| position + 1);
        self.partial.extend_from_slice(&available[..taken]);
        self.output.consume(taken);
        if self.partial.len() > LONGEST_FRAME {
            return Err(Error::environment(
                attempted,
                format!("a frame exceeds {LONGEST_FRAME} bytes"),
            ));
        }
        if end.is_none() {
            return Ok(Waited::Nothing);
        }
        let line = std::mem::take(&mut self.partial);
        serde_json::from_slice(&line)
            .map(Waited::Frame)
            .map_err(|error| Error::environment(attempted, error))
    }

    fn is_readable(&self, patience: Duration) -> Result<bool> {
        let mut descriptors = [PollFd::new(self.output.get_ref(), PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(Error::environment("cannot wait for a process of ours", error)),
        }
    }

    /// Lets it end by itself: its input is closed, which is its sign to, and it may take so long.
    /// It is not reaped, so that until [`Self::finish`] no other process group has its number.
    pub(crate) fn let_end(&mut self, patience: Duration) {
        self.close_input();
        let Some(pid) = Pid::from_raw(self.pid()) else { return };
        let looked = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let deadline = Instant::now() + patience;
        // One that was reaped already is no child any more, which is an error.
        while Instant::now() < deadline && matches!(waitid(WaitId::Pid(pid), looked), Ok(None)) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills its group and reaps it; `patience` is for a clean end first.
    pub(crate) fn finish(&mut self, patience: Duration) {
        self.let_end(patience);
        if let Some(group) = Pid::from_raw(self.pid()) {
            // An empty group is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Reaping a child that was reaped already fails, and that is fine.
        let _ = self.child.wait();
    }
}

impl Drop for RoleChild {
    fn drop(&mut self) {
        self.finish(Duration::ZERO);
    }
}

/// In a role: die with the parent, even when it died before this call.
pub(crate) fn die_with_parent(parent: i32) -> std::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let is_orphan =
        rustix::process::getppid().is_none_or(|pid| pid.as_raw_nonzero().get() != parent);
    if is_orphan {
        return Err(std::io::Error::other("the executor is gone"));
    }
    Ok(())
}

/// In a role: one JSON line from standard input; `None` at its end.
pub(crate) fn receive<T: DeserializeOwned>(input: &mut impl BufRead) -> std::io::Result<Option<T>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    serde_json::from_slice(line.as_bytes()).map(Some).map_err(std::io::Error::other)
}

/// In a role: one JSON line to the executor.
pub(crate) fn answer(
    output: &mut (impl Write + AsFd),
    frame: &impl Serialize,
) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(frame).map_err(std::io::Error::other)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}
