//! cyclictest's measurement: how late a periodic task wakes up.

use contract::{
    Configured, Description, Error, LaunchSpec, Load, Measurement, Parameter, Problem, Requirement,
    Result, WordChoice, Workload, WorkloadFacts,
};
use model::{
    CpuList, Direction, Histogram, Metric, Parameters, Reduction, RunReport, Sample, Unit,
};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::Machine;
use workload_parts::crew::{Crew, Member};
use workload_parts::instant::sleep_until;
use workload_parts::nanoseconds::{MS, S, US};

static DESCRIPTION: Description = Description {
    id: "cyclic",
    summary: "Periodic timer wake-ups and how late they are (cyclictest)",
    doc: "\
**What it is.** `threads` threads, each with its own absolute timer on CLOCK_MONOTONIC every
`interval`; thread n adds n x `distance` to its interval.

**What it means.** `latency` is the moment the thread runs minus the moment it was meant to:
timer interrupt, wake-up, waiting for a CPU. `late_fraction` is the share of cycles that
began after the next one was due.

**What moves it.** The scheduling class (a FIFO thread preempts, a fair one may have to wait
for a slice), the load beside it, idle-state exits, steal from a hypervisor. A SCHED_OTHER
sleep also contains the timer slack, 50 us by default; this workload never changes it: that
is the factor `timer_slack`.

**When it lies.** cyclictest skips the periods it has missed, so overload hides: one sleep
of 100 ms counts once instead of a hundred times. `missed = \"count\"` (the default) counts
every period from its intended start; `missed = \"skip\"` is cyclictest's rule and makes tails
conditional on the thread's own pauses. The maximum of a short run is not a statistic.

**Reference.** cyclictest of rt-tests 2.x with --default-system (src/cyclictest/cyclictest.c).
Without that option it holds /dev/cpu_dma_latency at 0, which forbids deep idle states;
`cpu_dma_latency = true` does the same while the workload lives. It locks memory only with
-m; ours touches its histogram before the run instead.",
};

/// What becomes of periods that were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissedPeriods {
    /// Each is counted from its intended start.
    Count,
    /// They are left out, as cyclictest does.
    Skip,
}

impl WordChoice for MissedPeriods {
    const WORDS: &'static [(&'static str, Self)] = &[("count", Self::Count), ("skip", Self::Skip)];
}

contract::keys! {
    PARAMETERS;
    THREADS: u64 = count("threads", 1, 1024, "2", "Periodic threads"),
    INTERVAL: u64 = duration("interval", 10 * US, 10 * S, "1ms", "Period of the first thread"),
    DISTANCE: u64 = duration("distance", 0, S, "0", "Added to the period for each further thread"),
    DURATION: u64 = length(MS, 3600 * S, "3s", "How long the threads run"),
    MISSED: MissedPeriods = choice("missed", "count", "What becomes of periods that were missed"),
    PIN: bool = flag("pin", "false", "Pin thread n to the nth CPU the workload may use"),
    CPU_DMA_LATENCY: bool = flag(
        "cpu_dma_latency",
        "false",
        "Forbid deep idle states during the run",
    ),
}

/// The device whose open descriptor bounds the exit latency of idle states
/// (Documentation/power/pm_qos_interface.rst).
const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

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
        const { &[(DURATION.name(), "20ms")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let cyclic = Cyclic {
            threads: THREADS.of(parameters),
            interval_ns: INTERVAL.of(parameters),
            distance_ns: DISTANCE.of(parameters),
            duration_ns: DURATION.of(parameters),
            skips_missed: match MISSED.of(parameters) {
                MissedPeriods::Count => false,
                MissedPeriods::Skip => true,
            },
            is_pinned: PIN.of(parameters),
            is_latency_bound: CPU_DMA_LATENCY.of(parameters),
        };
        let longest_ns = cyclic.interval_ns + (cyclic.threads - 1) * cyclic.distance_ns;
        if longest_ns > cyclic.duration_ns {
            return Err(vec![Problem::from(format!(
                "a period of {} never ends within a duration of {}",
                model::format_duration(longest_ns),
                model::format_duration(cyclic.duration_ns)
            ))]);
        }
        Ok(Box::new(cyclic))
    }
}

/// The workload, configured.
struct Cyclic {
    threads: u64,
    /// Of the first thread.
    interval_ns: u64,
    /// Added for each further one.
    distance_ns: u64,
    duration_ns: u64,
    skips_missed: bool,
    is_pinned: bool,
    is_latency_bound: bool,
}

impl Configured for Cyclic {
    fn metrics(&self) -> Vec<Metric> {
        let mut metrics =
            Metric::latency_quantiles("latency", "Delay from the intended wake-up to running");
        let late = Metric::new(
            "late_fraction",
            Unit::Fraction,
            Direction::Lower,
            Reduction::Proportion,
            "Cycles that began after the next one was due",
        );
        metrics.push(Metric { follows_latency: true, ..late });
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let expected_ns = self.duration_ns + 50 * MS;
        let bound = || Requirement::writable(vec![DMA_LATENCY.to_owned()]);
        WorkloadFacts {
            is_closed_loop: self.skips_missed,
            writes: self.is_latency_bound.then_some(DMA_LATENCY).into_iter().collect(),
            requirements: self.is_latency_bound.then(bound).into_iter().collect(),
            ..WorkloadFacts::open_loop(expected_ns)
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        let latency_bound = self.is_latency_bound.then(|| bound_latency(machine)).transpose()?;
        let pins = if self.is_pinned {
            Some(workload_parts::placement::allowed_cpus(launch)?)
        } else {
            None
        };
        let is_stopped = Arc::new(AtomicBool::new(false));
        let duration_ns = self.duration_ns;
        let members: Vec<Timer> = (0..self.threads)
            .map(|index| Timer {
                index: usize::try_from(index).unwrap_or(0),
                interval_ns: self.interval_ns + index * self.distance_ns,
                duration_ns,
                skips_missed: self.skips_missed,
                pins: pins.clone(),
                is_stopped: Arc::clone(&is_stopped),
                latency: Histogram::new(),
                late: 0,
            })
            .collect();
        let expected = members.iter().map(Timer::expected_cycles).sum();
        let crew = Crew::assemble(launch, members)?;
        Ok(Box::new(Cycles {
            crew,
            is_stopped,
            duration_ns,
            expected: (!self.skips_missed).then_some(expected),
            _latency_bound: latency_bound,
        }))
    }
}

/// The bound lasts as long as the descriptor, so nothing is left behind.
fn bound_latency(machine: &Machine) -> Result<File> {
    let path = machine.path(DMA_LATENCY);
    let attempted = format!("cannot bound the idle latency through {}", path.display());
    let mut file = File::options().write(true).open(&path).map_err(|error| {
        Error::unsupported(&attempted, error, "run as root, or leave cpu_dma_latency = false")
    })?;
    file.write_all(&0_i32.to_ne_bytes()).map_err(|error| Error::environment(&attempted, error))?;
    Ok(file)
}

/// One periodic thread and what it measured.
struct Timer {
    index: usize,
    interval_ns: u64,
    duration_ns: u64,
    skips_missed: bool,
    pins: Option<CpuList>,
    is_stopped: Arc<AtomicBool>,
    latency: Histogram,
    late: u64,
}

impl Timer {
    fn expected_cycles(&self) -> u64 {
        self.duration_ns / self.interval_ns
    }
}

impl Member for Timer {
    fn prepare(&mut self) -> Result<(), String> {
        match &self.pins {
            Some(cpus) => workload_parts::placement::pin_to_nth(cpus, self.index),
            None => Ok(()),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let start_ns = sys::monotonic_ns();
        let last_ns = start_ns + self.expected_cycles() * self.interval_ns;
        let mut next_ns = start_ns + self.interval_ns;
        while next_ns <= last_ns && !self.is_stopped.load(Ordering::Relaxed) {
            sleep_until(next_ns);
            let now_ns = sys::monotonic_ns();
            let latency_ns = now_ns - next_ns;
            self.latency.record(latency_ns);
            self.late += u64::from(latency_ns > self.interval_ns);
            next_ns += self.interval_ns;
            if self.skips_missed {
                while now_ns > next_ns {
                    next_ns += self.interval_ns;
                }
            }
        }
        Ok(())
    }
}

struct Cycles {
    crew: Crew<Timer>,
    is_stopped: Arc<AtomicBool>,
    duration_ns: u64,
    /// Exact where every period counts.
    expected: Option<u64>,
    _latency_bound: Option<File>,
}

impl Load for Cycles {
    fn run(&mut self) -> Result<Measurement> {
        self.crew.open();
        let timers = self.crew.collect(self.duration_ns * 2 + 5 * S)?;
        let mut latency = Histogram::new();
        let mut late = 0;
        for timer in &timers {
            latency.merge(&timer.latency);
            late += timer.late;
        }
        let cycles = latency.count();
        Ok(Measurement {
            samples: vec![
                Sample::histogram("latency", latency),
                Sample::proportion("late_fraction", late, cycles),
            ],
            operations: Some(cycles),
        })
    }

    fn verify(&mut self, report: &RunReport) -> Result<(), String> {
        match (self.expected, report.operations) {
            (Some(expected), Some(cycles)) if cycles != expected => {
                Err(format!("{cycles} cycles were measured instead of {expected}"))
            }
            (_, Some(0)) => Err("no cycle was measured".to_owned()),
            _ => Ok(()),
        }
    }
}

impl Drop for Cycles {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
    }
}
