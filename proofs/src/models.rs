//! One model for each algorithm, by its published definition and its page.

mod arrival;
mod bfs;
mod cfs;
mod eevdf;
mod fifo;
mod lottery;
mod mlfq;
mod queues;
mod quota;
mod rr;
mod single_queue;
mod versions;
mod weight;

use crate::trace::{OrderedTrace, Unusable};
use crate::verdict::{Rejection, ReplaySummary};

/// Names of the rules. A rejection carries one.
pub mod rule {
    /// A task gets onto a CPU only by that CPU's choice.
    pub const NO_DIRECT_DISPATCH: &str = "no direct dispatch";
    /// A task runs only where it may.
    pub const AFFINITY: &str = "affinity";
    /// A woken task is offered to an idle CPU where there is one.
    pub const IDLE_FIRST: &str = "idle first";
    /// Of idle CPUs the one it ran on last.
    pub const PREVIOUS_FIRST: &str = "previous CPU first";
    /// No CPU goes without while a task waits that it may take.
    pub const WORK_CONSERVED: &str = "work conserved";
    /// The task that came first goes first.
    pub const ARRIVAL_ORDER: &str = "arrival order";
    /// What a task may use before it is somebody else's turn.
    pub const QUANTUM: &str = "quantum";
    /// Nobody is preempted.
    pub const NO_PREEMPTION: &str = "no preemption";
    /// What a virtual deadline is, and when it changes.
    pub const DEADLINE: &str = "deadline";
    /// The earliest deadline goes first.
    pub const EARLIEST_DEADLINE: &str = "earliest deadline";
    /// A CPU keeps what it had for itself.
    pub const STICKY: &str = "sticky";
    /// Which task is preempted for which.
    pub const PREEMPTION: &str = "preemption";
    /// The highest level goes first.
    pub const HIGHEST_LEVEL: &str = "highest level";
    /// What a task may use of a level before it goes one down.
    pub const ALLOTMENT: &str = "allotment";
    /// All go to the top, each so often.
    pub const BOOST: &str = "boost";
    /// How many tickets a task has.
    pub const TICKETS: &str = "tickets";
    /// Whether the running task holds the ticket that is drawn.
    pub const WINNER: &str = "winner";
    /// Which of those that wait holds it.
    pub const HOLDER: &str = "holder";
    /// What a request is, and when it ends.
    pub const REQUEST: &str = "request";
    /// What a task is owed, or owes, stays with it.
    pub const LAG: &str = "lag";
    /// No task goes that had more than its share.
    pub const ELIGIBILITY: &str = "eligibility";
    /// What a queue's members weigh together.
    pub const LOAD: &str = "load";
    /// What a task has had, by its weight.
    pub const VIRTUAL_TIME: &str = "virtual time";
    /// Where a task begins that wakes, is forked or comes from another queue.
    pub const PLACEMENT: &str = "placement";
    /// The lowest virtual run time goes first.
    pub const LEFTMOST: &str = "leftmost first";
    /// The task that is preempted by a woken one, and by how much that is behind.
    pub const GRANULARITY: &str = "granularity";
    /// How long a turn is, and when a tick ends it.
    pub const TURN: &str = "turn";
    /// When a busy CPU takes a task from another's queue, and from which.
    pub const BALANCE: &str = "balance";
    /// A CPU takes one out of turn only when it has nothing to run.
    pub const PULL: &str = "pull when idle";
}

/// Replays a trace through the model of its algorithm.
///
/// # Errors
/// The trace is not that of this algorithm, or puts a rule never to the test.
pub fn replay(trace: &OrderedTrace) -> Result<ReplaySummary, Rejection> {
    match trace.header.algorithm.as_str() {
        "fifo" => fifo::replay(trace),
        "rr" => rr::replay(trace),
        "bfs" => bfs::replay(trace),
        "cfs" => cfs::replay(trace),
        "eevdf" => eevdf::replay(trace),
        "lottery" => lottery::replay(trace),
        "mlfq" => mlfq::replay(trace),
        other => Err(Unusable(format!("there is no model of `{other}`")).into()),
    }
}
