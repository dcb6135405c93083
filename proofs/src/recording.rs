//! Records what a scheduler tells while tasks are busy under it.

use crate::mixed::Mixed;
use contract::Error;
use schedulers::own::trace::{EVENT_BYTES, Malformed, Trace, TraceEvent};
use schedulers::own::{Choice, Options, Running};
use std::cell::RefCell;
use std::thread;
use std::time::{Duration, Instant};
use sys::Machine;

/// The buffer in the kernel: a million events, seconds of what a guest does.
const BUFFER_BYTES: u32 = 64 << 20;

/// So many events are read between two looks at the clock: a guest may make them as fast as
/// it reads them.
const AT_ONCE: usize = 20_000;

/// The most events kept: 64 bytes each must fit into a guest of 512 MiB beside the buffer.
const MOST_EVENTS: usize = 3_000_000;

#[derive(Default)]
struct Received {
    events: Vec<TraceEvent>,
    passed_over: u64,
    malformed: Option<Malformed>,
}

/// Loads a scheduler with tracing, runs tasks of every kind for a while, and returns what
/// was told, from the first task under the scheduler until before it leaves: then the kernel
/// goes past it.
///
/// # Errors
/// It did not load, the kernel ended it, or what it told cannot be read or is not complete.
pub fn record(machine: &Machine, choice: &Choice, duration: Duration) -> Result<Trace, Error> {
    let attempted = format!("cannot record lab:{choice}");
    let fail = |cause: String| Error::environment(attempted.as_str(), cause);
    let options = Options { trace_bytes: Some(BUFFER_BYTES) };
    let mut running = Running::start(machine, choice, &options)?;
    let received = RefCell::new(Received::default());
    let ring = running.events(|bytes| receive(&mut received.borrow_mut(), bytes))?;
    let take = || ring.take(AT_ONCE).map_err(|error| fail(error.to_string()));
    let mixed = Mixed::start().map_err(|error| fail(error.to_string()))?;
    let until = Instant::now() + duration;
    while Instant::now() < until {
        let has_more = take()? == AT_ONCE;
        if let Some(exit) = running.exit() {
            return Err(fail(exit.to_string()));
        }
        if !has_more {
            // Seldom enough to leave the CPUs to the tasks, often enough for the buffer.
            thread::sleep(Duration::from_millis(20));
        }
    }
    mixed.end();
    // No more than the buffer holds: what is told from now on is not waited for.
    let mut left = BUFFER_BYTES as usize / EVENT_BYTES;
    while left > 0 {
        let taken = take()?;
        left = if taken < AT_ONCE { 0 } else { left.saturating_sub(taken) };
    }
    let lost = running.events_lost()?;
    let exit = running.exit().or_else(|| running.stop());
    if let Some(exit) = exit.filter(|exit| !exit.is_clean()) {
        return Err(fail(exit.to_string()));
    }
    let received = received.take();
    if let Some(malformed) = received.malformed {
        return Err(fail(malformed.to_string()));
    }
    let (choice, kernel) = (choice.to_string(), machine.kernel_release()?);
    let trace =
        Trace { choice, kernel, lost: lost + received.passed_over, events: received.events };
    match trace.gaps() {
        gaps if gaps.is_empty() => Ok(trace),
        gaps => Err(fail(format!("the trace is no proof: {}", gaps.join("; ")))),
    }
}

fn receive(received: &mut Received, bytes: &[u8]) {
    match TraceEvent::decode(bytes) {
        Ok(event) if received.events.len() < MOST_EVENTS => received.events.push(event),
        Ok(_) => received.passed_over += 1,
        Err(malformed) => received.malformed = Some(malformed),
    }
}
