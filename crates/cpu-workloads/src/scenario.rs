//! The classic mixes of a desktop and a server, each with its throughput, its
//! latency and the regime in which it must have run.

mod mix;
mod regime;

use contract::{
    Configured, Description, Error, LaunchSpec, Load, Measurement, Parameter, Problem, Result,
    Workload, WorkloadFacts,
};
use mix::{Mix, MixKind, Task};
use model::{Direction, Histogram, Metric, Parameters, Reduction, RunReport, Sample, Unit};
use regime::{Observed, Regime};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::Machine;
use workload_parts::crew::Crew;
use workload_parts::instant::sleep_until;
use workload_parts::nanoseconds::{MS, S, US};
use workload_parts::storage::MARGIN;

static DESCRIPTION: Description = Description {
    id: "scenario",
    summary: "Classic mixes: cpu_bound, io_bound, mixed, high_context_switch, streaming",
    doc: "\
**What it is.** Threads of one process that all do the same thing for `duration`:

| mix | one operation |
|---|---|
| `cpu_bound` | `operations` products of matrices that fill `footprint` |
| `io_bound` | write one `block` to a file of its own and wait until it is on the disk (O_DSYNC) |
| `mixed` | the products, then the write |
| `high_context_switch` | one round between two threads that wake each other by futex |
| `streaming` | every `frame_interval` one frame: the products; due at the next interval |

**What it means.** `operations_per_second` is throughput, `operation_latency` the time of one
operation. Streaming reports `frame_latency` from the intended start of a frame to its end,
`missed_fraction`, the frames that ended after the next was due, and `frames_per_second`.

**The regime.** A mix only means something if the machine really ran it so. Each declares
ranges for the CPU share (CPU time over wall time and the CPUs it can fill), the I/O share
(time of a task spent in its writes) and the voluntary switches per second of a task. A run
outside them fails, with its figures: an `io_bound` on a memory file system is not bound by
I/O. Involuntary switches are left out because they are the scheduler's doing, and the
ranges are wide enough for a machine shared with background load.

**What moves it.** CPU-bound: slices and the cost of switching. I/O-bound and mixed: how soon
a task runs again after its I/O. High context switch: wake-up cost and placement. Streaming:
whether a periodic task gets its share before its deadline.

**When it lies.** Work is an amount, not a time, so shares depend on the machine: choose
`operations` to suit it. The I/O mixes measure the disk first. All but streaming are closed
loops: a late operation delays the next question.

**Reference.** None to match; the mixes are those of the EEVDF study. The work is schbench's
matrix product.",
};

contract::keys! {
    PARAMETERS;
    MIX: MixKind = choice("mix", "mixed", "What the tasks do"),
    TASKS: u64 = count(
        "tasks",
        0,
        1024,
        "0",
        "Tasks, or pairs where tasks wake each other; 0: one per CPU",
    ),
    DURATION: u64 = length(10 * MS, 3600 * S, "2s", "How long they do it"),
    OPERATIONS: u64 = count(
        "operations",
        1,
        1_000_000,
        "2",
        "Matrix products of one operation or frame",
    ),
    FOOTPRINT: u64 = size("footprint", 24, 1 << 30, "256k", "Memory of one task's matrices"),
    BLOCK: u64 = size("block", 512, 16 << 20, "4k", "Bytes of one write"),
    FRAME_INTERVAL: u64 = duration(
        "frame_interval",
        100 * US,
        10 * S,
        "10ms",
        "Period of the frames",
    ),
}

/// Longest time after the end until every task has noticed.
const STOP_LIMIT_NS: u64 = 60 * S;

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        // Little computing between two writes, so that a fast disk has its share of the time.
        const { &[(DURATION.name(), "300ms"), (OPERATIONS.name(), "1"), (FOOTPRINT.name(), "64k")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let mix = Mix::of(parameters);
        if mix.kind == MixKind::Streaming && mix.frame_interval_ns > mix.duration_ns {
            return Err(vec![Problem::from(format!(
                "no frame of {} ends within a duration of {}",
                model::format_duration(mix.frame_interval_ns),
                model::format_duration(mix.duration_ns)
            ))]);
        }
        Ok(Box::new(mix))
    }
}

impl Configured for Mix {
    fn metrics(&self) -> Vec<Metric> {
        let rate = |id: &str, summary: &str| {
            Metric::new(id, Unit::PerSecond, Direction::Higher, Reduction::Quotient, summary)
        };
        if self.kind == MixKind::Streaming {
            let mut metrics = Metric::latency_quantiles(
                "frame_latency",
                "Time from a frame's intended start to its end",
            );
            let missed = Metric::new(
                "missed_fraction",
                Unit::Fraction,
                Direction::Lower,
                Reduction::Proportion,
                "Frames that ended after the next one was due",
            );
            metrics.push(Metric { follows_latency: true, ..missed });
            metrics.push(rate("frames_per_second", "Frames finished per second"));
            return metrics;
        }
        let mut metrics = vec![rate("operations_per_second", "Operations finished per second")];
        metrics.extend(Metric::latency_quantiles("operation_latency", "Time of one operation"));
        if matches!(self.kind, MixKind::IoBound | MixKind::Mixed) {
            for metric in &mut metrics {
                metric.margin = metric.margin.max(MARGIN);
            }
        }
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let expected_ns = self.duration_ns + 100 * MS;
        match self.kind {
            MixKind::Streaming => WorkloadFacts::open_loop(expected_ns),
            _ => WorkloadFacts::closed_loop(expected_ns),
        }
    }

    fn prepare(&self, _: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        let cpus = workload_parts::placement::allowed_cpus(launch)?.len();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let mut files = Vec::new();
        let members = self.members(cpus, &launch.scratch, &is_stopped, &mut files)?;
        let tasks = members.len();
        Ok(Box::new(Scenario {
            crew: Crew::assemble(launch, members)?,
            is_stopped,
            regime: Regime::of(self),
            is_streaming: self.kind == MixKind::Streaming,
            duration_ns: self.duration_ns,
            tasks,
            cpus: cpus.min(tasks),
            io_share: 0.0,
            files,
        }))
    }
}

struct Scenario {
    crew: Crew<Task>,
    is_stopped: Arc<AtomicBool>,
    regime: Regime,
    is_streaming: bool,
    duration_ns: u64,
    tasks: usize,
    /// The CPUs that so many tasks can fill.
    cpus: usize,
    io_share: f64,
    files: Vec<PathBuf>,
}

impl Load for Scenario {
    fn run(&mut self) -> Result<Measurement> {
        let start_ns = sys::monotonic_ns();
        self.crew.open();
        if !self.is_streaming {
            sleep_until(start_ns + self.duration_ns);
            self.is_stopped.store(true, Ordering::SeqCst);
        }
        let limit_ns = STOP_LIMIT_NS + if self.is_streaming { 2 * self.duration_ns } else { 0 };
        let tasks = self.crew.collect(limit_ns)?;
        let window_ns = (sys::monotonic_ns() - start_ns) as f64;
        let mut latency = Histogram::new();
        let (mut io_ns, mut missed) = (0, 0);
        for task in &tasks {
            latency.merge(&task.latency);
            io_ns += task.io_ns;
            missed += task.missed;
        }
        let operations = latency.count();
        if operations == 0 {
            return Err(Error::new(
                contract::ErrorKind::Environment,
                "no operation was finished",
                format!("none ended within {}", model::format_duration(self.duration_ns)),
                "lengthen duration, or use fewer operations",
            ));
        }
        self.io_share = io_ns as f64 / (window_ns * self.tasks as f64);
        let (count, seconds) = (operations as f64, window_ns / 1e9);
        let samples = if self.is_streaming {
            vec![
                Sample::histogram("frame_latency", latency),
                Sample::proportion("missed_fraction", missed, operations),
                Sample::quotient("frames_per_second", count, seconds),
            ]
        } else {
            vec![
                Sample::quotient("operations_per_second", count, seconds),
                Sample::histogram("operation_latency", latency),
            ]
        };
        Ok(Measurement { samples, operations: Some(operations) })
    }

    fn verify(&mut self, report: &RunReport) -> Result<(), String> {
        self.regime.check(&Observed::of(report, self.tasks, self.cpus, self.io_share))
    }
}

/// Stops the tasks before the crew waits for them, and removes their files.
impl Drop for Scenario {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
    }
}
