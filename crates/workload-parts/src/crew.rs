//! Threads of one workload: all exist and wait at one gate before the run, and
//! stay alive, blocked, until the crew is dropped, so that what the kernel
//! knows of each can still be read after the run.

use crate::futex;
use contract::{Error, LaunchSpec, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What one thread does.
pub trait Member: Send + 'static {
    /// Before the gate: buffers, pinning. Untimed.
    ///
    /// # Errors
    /// In one sentence.
    fn prepare(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// After the gate. What it measured stays in `self`.
    ///
    /// # Errors
    /// In one sentence.
    fn run(&mut self) -> Result<(), String>;
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const ABANDONED: u32 = 2;

#[derive(Debug, Default)]
struct Gate {
    /// `CLOSED`, `OPEN` or `ABANDONED`.
    state: AtomicU32,
    /// 1 once the threads may end.
    is_over: AtomicU32,
}

enum Report<T> {
    Arrived,
    Failed(String),
    Done(usize, T),
}

/// The threads of one workload.
pub struct Crew<T> {
    gate: Arc<Gate>,
    reports: Receiver<Report<T>>,
    threads: Vec<JoinHandle<()>>,
}

impl<T: Member> Crew<T> {
    /// Starts one thread for each member and returns once all have prepared
    /// themselves and wait at the gate.
    ///
    /// # Errors
    /// When a thread cannot be started or prepared.
    pub fn assemble(launch: &LaunchSpec, members: Vec<T>) -> Result<Self> {
        let gate = Arc::new(Gate::default());
        let (sender, reports) = mpsc::channel();
        let mut crew = Self { gate: Arc::clone(&gate), reports, threads: Vec::new() };
        for (index, mut member) in members.into_iter().enumerate() {
            let gate = Arc::clone(&gate);
            let sender = sender.clone();
            let launch = launch.clone();
            let life = move || {
                let prepared = launch
                    .enter_task()
                    .map_err(|error| format!("cannot enter its scheduling policy: {error}"))
                    .and_then(|()| member.prepare());
                let is_prepared = prepared.is_ok();
                let _ = sender.send(match prepared {
                    Ok(()) => Report::Arrived,
                    Err(why) => Report::Failed(why),
                });
                if is_prepared && gate.pass() {
                    let report = match member.run() {
                        Ok(()) => Report::Done(index, member),
                        Err(why) => {
                            // Closes its descriptors, so that a partner is not left waiting.
                            drop(member);
                            Report::Failed(why)
                        }
                    };
                    let _ = sender.send(report);
                }
                gate.stay();
            };
            let thread = std::thread::Builder::new()
                .name(format!("worker-{index}"))
                .spawn(life)
                .map_err(|error| Error::environment("cannot start a thread", error))?;
            crew.threads.push(thread);
        }
        for _ in 0..crew.threads.len() {
            match crew.reports.recv() {
                Ok(Report::Arrived) => {}
                Ok(Report::Failed(why)) => {
                    return Err(Error::environment("cannot prepare a thread", why));
                }
                Ok(Report::Done(..)) | Err(_) => {
                    return Err(Error::environment("cannot prepare a thread", "it ended early"));
                }
            }
        }
        Ok(crew)
    }

    /// Lets every thread run.
    pub fn open(&self) {
        self.gate.set_state(OPEN);
    }

    /// Waits until every thread has run and returns the members in their order.
    ///
    /// # Errors
    /// The first failure, or that a thread did not end within `limit_ns`.
    pub fn collect(&self, limit_ns: u64) -> Result<Vec<T>> {
        let deadline_ns = sys::monotonic_ns().saturating_add(limit_ns);
        let mut members: Vec<Option<T>> = self.threads.iter().map(|_| None).collect();
        for _ in 0..self.threads.len() {
            let left = deadline_ns.saturating_sub(sys::monotonic_ns());
            match self.reports.recv_timeout(Duration::from_nanos(left)) {
                Ok(Report::Done(index, member)) => members[index] = Some(member),
                Ok(Report::Failed(why)) => {
                    return Err(Error::environment("a thread of the workload failed", why));
                }
                Ok(Report::Arrived) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::environment("a thread of the workload ended", "too early"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let missing = members.iter().filter(|member| member.is_none()).count();
                    return Err(Error::environment(
                        "the workload did not finish",
                        format!(
                            "{missing} of {} threads still ran {} after the expected end",
                            members.len(),
                            model::format_duration(limit_ns)
                        ),
                    ));
                }
            }
        }
        Ok(members.into_iter().flatten().collect())
    }
}

impl Gate {
    /// Waits for the gate; false where the run was abandoned.
    fn pass(&self) -> bool {
        while self.state.load(Ordering::SeqCst) == CLOSED {
            futex::wait(&self.state, CLOSED);
        }
        self.state.load(Ordering::SeqCst) == OPEN
    }

    fn stay(&self) {
        while self.is_over.load(Ordering::SeqCst) == 0 {
            futex::wait(&self.is_over, 0);
        }
    }

    fn set_state(&self, state: u32) {
        self.state.store(state, Ordering::SeqCst);
        futex::wake_all(&self.state);
    }
}

/// Ends the threads. A member that is still running must have been told to stop
/// by its load before the crew is dropped.
impl<T> Drop for Crew<T> {
    fn drop(&mut self) {
        if self.gate.state.load(Ordering::SeqCst) == CLOSED {
            self.gate.set_state(ABANDONED);
        }
        self.gate.is_over.store(1, Ordering::SeqCst);
        futex::wake_all(&self.gate.is_over);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Doubler {
        value: u64,
        fails: Option<&'static str>,
    }

    impl Member for Doubler {
        fn prepare(&mut self) -> Result<(), String> {
            if self.fails == Some("prepare") { Err("no buffer".to_owned()) } else { Ok(()) }
        }

        fn run(&mut self) -> Result<(), String> {
            self.value *= 2;
            if self.fails == Some("run") { Err("short read".to_owned()) } else { Ok(()) }
        }
    }

    fn doublers(fails: Option<&'static str>) -> Vec<Doubler> {
        vec![Doubler { value: 1, fails: None }, Doubler { value: 21, fails }]
    }

    #[test]
    fn members_run_only_after_the_gate_and_come_back_in_order() {
        let crew = Crew::assemble(&LaunchSpec::default(), doublers(None)).unwrap();
        crew.open();
        let values: Vec<u64> =
            crew.collect(5_000_000_000).unwrap().iter().map(|member| member.value).collect();
        assert_eq!(values, [2, 42]);
    }

    #[test]
    fn a_failure_is_named_whether_it_happens_before_or_after_the_gate() {
        let launch = LaunchSpec::default();
        let Err(error) = Crew::assemble(&launch, doublers(Some("prepare"))) else { panic!() };
        assert!(error.to_string().contains("no buffer"));
        let crew = Crew::assemble(&launch, doublers(Some("run"))).unwrap();
        crew.open();
        let Err(error) = crew.collect(5_000_000_000) else { panic!() };
        assert!(error.to_string().contains("short read"));
    }

    #[test]
    fn a_crew_that_never_ran_can_be_dropped() {
        drop(Crew::assemble(&LaunchSpec::default(), doublers(None)).unwrap());
    }
}
