//! Declared background load: busy loops beside a workload.
//!
//! Hogs are in the workload's session by default, hence in its autogroup: in
//! another session they would compete as one group against the whole workload,
//! which is a different experiment (measured: facts on autogroup).

use crate::child::{BACKGROUND_ROLE, RoleChild, Waited, answer, die_with_parent, receive};
use crate::context::ExecutorContext;
use crate::journal::Journal;
use crate::journal_entry::JournalEntry;
use contract::{Error, Result};
use model::{Background, CpuList};
use serde::{Deserialize, Serialize};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use sys::Machine;

/// How long hogs may take to start.
const START_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Serialize, Deserialize)]
struct BackgroundOrder {
    parent: i32,
    background: Background,
    cpus: CpuList,
}

/// Running hogs; dropping ends them.
pub(crate) struct Hogs {
    child: RoleChild,
    count: usize,
}

impl Hogs {
    /// Starts the hogs and waits until all of them spin.
    pub(crate) fn start(
        context: &mut ExecutorContext,
        background: &Background,
        cpus: &CpuList,
    ) -> Result<Self> {
        let log = context.log("background.log");
        let marking = context.marking(&log, None);
        let mut child = RoleChild::spawn(BACKGROUND_ROLE, background.session, &marking)?;
        context.journal().append(&JournalEntry::Group { group: child.pid() })?;
        child.send(&BackgroundOrder {
            parent: std::process::id().cast_signed(),
            background: background.clone(),
            cpus: cpus.clone(),
        })?;
        let deadline = Instant::now() + START_PATIENCE;
        loop {
            match child.wait_frame::<Result<(), String>>(Duration::from_millis(250))? {
                Waited::Frame(Ok(())) => {
                    return Ok(Self { child, count: background.hogs as usize });
                }
                Waited::Frame(Err(reason)) => {
                    return Err(Error::environment("cannot start background load", reason));
                }
                Waited::Ended(how) => {
                    return Err(Error::environment(
                        "cannot start background load",
                        format!("it ended with {how}"),
                    ));
                }
                Waited::Nothing if Instant::now() >= deadline => {
                    return Err(Error::environment(
                        "cannot start background load",
                        "it does not answer",
                    ));
                }
                Waited::Nothing => {}
            }
        }
    }

    /// The process that holds the hogs' threads.
    pub(crate) fn pid(&self) -> i32 {
        self.child.pid()
    }

    /// What is wrong where not all of them are still there: they end only when killed.
    pub(crate) fn ended(&self, machine: &Machine) -> Option<String> {
        // The main thread waits for its end. A killed process keeps one thread, as a zombie.
        let threads = machine.thread_ids(self.pid()).map_or(0, |threads| threads.len());
        let left = threads.saturating_sub(1);
        (left < self.count)
            .then(|| format!("{left} of {} CPU hogs were left when the workload ended", self.count))
    }

    /// Ends and reaps them.
    pub(crate) fn stop(mut self, journal: &mut Journal) -> Result<()> {
        self.child.finish(Duration::ZERO);
        journal.append(&JournalEntry::GroupEnded { group: self.child.pid() })
    }
}

/// Serves the role: spins until killed or until its input ends. Returns the exit code.
pub fn serve_background() -> i32 {
    match serve() {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn serve() -> std::io::Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let Some(order) = receive::<BackgroundOrder>(&mut input)? else { return Ok(()) };
    die_with_parent(order.parent)?;
    let prepared = start_spinning(&order).map_err(|error| error.to_string());
    answer(&mut output, &prepared)?;
    receive::<()>(&mut input)?;
    Ok(())
}

/// One thread for each hog; all of them spin when this returns.
fn start_spinning(order: &BackgroundOrder) -> std::io::Result<()> {
    let cpus: Vec<usize> = order.cpus.iter().collect();
    for hog in 0..order.background.hogs as usize {
        let (started, hears) = mpsc::sync_channel(1);
        let pin =
            order.background.is_pinned.then(|| CpuList::from_iter([cpus[hog % cpus.len().max(1)]]));
        let thread = std::thread::Builder::new().name(format!("hog-{hog}")).stack_size(64 << 10);
        thread.spawn(move || {
            let pinned = pin.map_or(Ok(()), |cpu| sys::set_affinity(0, &cpu));
            let is_placed = pinned.is_ok();
            // A receiver that is gone has given up already.
            let _ = started.send(pinned);
            if is_placed {
                loop {
                    std::hint::spin_loop();
                }
            }
        })?;
        let placed = hears
            .recv_timeout(START_PATIENCE)
            .map_err(|_| std::io::Error::other(format!("hog {hog} did not start")))?;
        placed.map_err(|error| std::io::Error::other(format!("cannot pin hog {hog}: {error}")))?;
    }
    Ok(())
}
