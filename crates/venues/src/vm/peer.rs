//! The second guest: the far side of what the subject's guest measures over their cable. It boots
//! the same for all subjects, so that only their own side differs.

use super::boot::{Booted, Booter, NotBooted, interrupted};
use super::cable::CableEnd;
use super::guest::Lost;
use contract::{BootSpec, Event, Interrupt, PEER_ROLE};
use std::time::{Duration, Instant};
use wire::{Bytes, WireAnswer, WireRequest};

/// How long the far side may take to serve when its guest has booted, and that to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The agent's binary, which serves the role.
const PROGRAM: &str = "/init";

/// A second guest that serves.
pub(crate) struct Peer(Booted);

impl Peer {
    /// Boots it and waits until it serves.
    ///
    /// # Errors
    /// As of any guest.
    pub(crate) fn boot(
        booter: &mut Booter,
        spec: &BootSpec,
        end: &CableEnd,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Self, NotBooted> {
        let booted = booter.boot_at(spec, end, 1, on_event).map_err(NotBooted::of_the_second)?;
        let mut peer = Self(booted);
        match peer.await_serving(&booter.interrupt) {
            Ok(()) => Ok(peer),
            Err(Lost::Interrupted(signal)) => Err(interrupted(signal).into()),
            Err(lost) => {
                let words = peer.0.console.last_lines();
                let silent = NotBooted::Silent(format!("it does not serve: {lost}; {words}"));
                Err(silent.of_the_second())
            }
        }
    }

    /// The process of its machine.
    pub(crate) fn pid(&self) -> i32 {
        self.0.guest.qemu.pid()
    }

    /// Whether its machine was paused since this was asked last.
    pub(crate) fn was_paused(&mut self) -> bool {
        self.0.guest.qemu.control.was_paused()
    }

    fn await_serving(&mut self, interrupt: &Interrupt) -> Result<(), Lost> {
        let words = [PROGRAM, PEER_ROLE].map(str::to_owned).to_vec();
        self.0.guest.send(&WireRequest::Execute { words, environment: Vec::new(), pty: None })?;
        let deadline = Instant::now() + PATIENCE;
        let mut complaint = String::new();
        loop {
            let patience = deadline.saturating_duration_since(Instant::now());
            match self.0.guest.receive(patience, interrupt)? {
                WireAnswer::Output { stream: wire::OutputStream::Output, .. } => return Ok(()),
                WireAnswer::Output { payload, .. } => {
                    complaint.push_str(&String::from_utf8_lossy(&payload.0));
                }
                WireAnswer::Exited { status } => {
                    return Err(Lost::Ended(format!("status {status}: {}", complaint.trim())));
                }
                WireAnswer::Failed { failure } => return Err(Lost::Refused(failure)),
                _ => return Err(Lost::Corrupt("the agent answered out of turn".to_owned())),
            }
        }
    }

    /// Why it serves no longer, if so. While it serves it says nothing unless it is asked, which
    /// is done where a trial failed: a guest that hangs has not ended.
    pub(crate) fn why_lost(&mut self, has_failed: bool, interrupt: &Interrupt) -> Option<String> {
        let guest = &mut self.0.guest;
        let heard = match guest.received(interrupt) {
            Ok(None) if has_failed => {
                let echo = WireRequest::Echo { payload: Bytes(Vec::new()) };
                guest.ask(&echo, PATIENCE, interrupt).map(Some)
            }
            other => other,
        };
        let why = match heard {
            Ok(None | Some(WireAnswer::Echo { .. })) | Err(Lost::Interrupted(_)) => return None,
            Ok(Some(_)) => "its far side ended".to_owned(),
            Err(lost) => lost.to_string(),
        };
        Some(format!("the second guest was lost: {why}; {}", self.0.console.last_lines()))
    }
}
