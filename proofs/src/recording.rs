//! Records what a scheduler of ours decides while tasks of every kind keep it busy.

use crate::mixed::Mixed;
use crate::trace::{FORMAT, Header};
use contract::Error;
use schedulers::own::{Choice, Options, Running};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};
use sys::Machine;

/// 72 bytes an event in the ring: room for 400,000, which is more than ten seconds of a
/// scheduler in an emulated guest, so that a late reader loses nothing.
const RING_BYTES: u32 = 32 << 20;
/// The reader is a task like any other, and seldom enough not to matter.
const INTERVAL: Duration = Duration::from_millis(50);

/// A trace to be written.
#[derive(Debug)]
pub struct Recording {
    header: Header,
    events: Vec<u8>,
}

/// Loads the scheduler, runs tasks, and unloads it.
///
/// # Errors
/// It did not load, the kernel ended it, or events were lost.
pub fn record(machine: &Machine, choice: &Choice, duration: Duration) -> Result<Recording, Error> {
    let attempted = format!("cannot record lab:{choice}");
    let fail = |cause: String| Error::environment(attempted.as_str(), cause);
    let options = Options { trace_bytes: Some(RING_BYTES) };
    let mut running = Running::start(machine, choice, &options)?;
    let events = RefCell::new(Vec::new());
    {
        let ring = running.events(|event| events.borrow_mut().extend_from_slice(event))?;
        let take = || ring.take().map_err(|error| fail(error.to_string()));
        let mixed = Mixed::start().map_err(|error| fail(error.to_string()))?;
        let until = Instant::now() + duration;
        while Instant::now() < until {
            thread::sleep(INTERVAL);
            take()?;
        }
        mixed.end();
        // Whatever comes after this is of a scheduler that is about to leave.
        take()?;
    }
    let lost = running.events_lost()?;
    if let Some(exit) = running.exit() {
        return Err(fail(exit.to_string()));
    }
    running.stop();
    if lost > 0 {
        return Err(fail(format!("{lost} events were lost: the ring was full")));
    }
    let events = events.into_inner();
    let header = Header {
        format: FORMAT,
        algorithm: choice.algorithm().id.to_owned(),
        parameters: parameters(choice),
        scheduler: choice.to_string(),
        cpus: u16::try_from(thread::available_parallelism().map_or(1, usize::from)).unwrap_or(1),
        kernel: machine.read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
        lost,
        events: (events.len() / crate::trace::EVENT_BYTES) as u64,
    };
    Ok(Recording { header, events })
}

/// The numbers among a scheduler's parameters.
fn parameters(choice: &Choice) -> BTreeMap<String, u64> {
    use model::ParameterValue::{Count, Duration, Flag, Size};
    let declared = choice.algorithm().parameters.iter();
    declared
        .filter_map(|parameter| match choice.value(parameter.name)? {
            Count(value) | Duration(value) | Size(value) => Some((parameter.name, value)),
            Flag(value) => Some((parameter.name, u64::from(value))),
            _ => None,
        })
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

impl Recording {
    /// Writes a line of JSON and the events.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *to, &self.header)?;
        to.write_all(b"\n")?;
        to.write_all(&self.events)?;
        to.flush()
    }
}
