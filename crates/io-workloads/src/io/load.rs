//! The prepared workload: leads the threads through their steps and says what
//! became of them.

use super::checks;
use super::operation::Operation;
use super::phases::Phases;
use super::settings::{Drops, EngineKind, IoSettings};
use super::suspicion::suspicions;
use super::worker::{Shared, Step, Worker, steps};
use contract::{Error, LaunchSpec, Load, Measurement, Result};
use model::{Caveat, CaveatCode, Histogram, RunReport, Sample};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use sys::Machine;
use workload_parts::crew::Crew;
use workload_parts::storage::caches;
use workload_parts::storage::data_location::{self, DataLocation};

/// A run that takes longer is reported, not waited for.
const LIMIT_NS: u64 = 24 * 3600 * 1_000_000_000;
/// What one operation of all threads came to.
struct Figure {
    operation: Operation,
    bytes: f64,
    /// The sum of the threads' own rates.
    rate: f64,
    /// From the first thread's begin to the last one's end.
    wall_ns: u64,
}

pub(super) struct IoLoad {
    crew: Crew<Worker>,
    shared: Arc<Shared>,
    settings: Arc<IoSettings>,
    machine: Machine,
    /// Why answers may come from elsewhere, as far as is known beforehand.
    host_cache: Option<Caveat>,
    is_rotating: bool,
    workers: Vec<Worker>,
    figures: Vec<Figure>,
}

/// Makes files, lays out data, drops caches, starts threads.
pub(super) fn prepare(
    machine: &Machine,
    settings: IoSettings,
    launch: &LaunchSpec,
) -> Result<IoLoad> {
    let settings = Arc::new(settings);
    let place = Arc::new(DataLocation::open(launch, u64::from(settings.threads), settings.size)?);
    let shared = Arc::new(Shared {
        phases: Phases::new(settings.threads),
        stop: AtomicBool::new(false),
        resident: AtomicU64::new(0),
        latencies: Mutex::new(vec![Histogram::new(); settings.operations.len()]),
    });
    let mut workers = Vec::new();
    for index in 0..settings.threads {
        let mut worker = Worker::new(index, &settings, &shared, &place, launch.seed)?;
        if settings.needs_layout() {
            worker.lay_out().map_err(|why| Error::environment("cannot lay out the data", why))?;
        }
        workers.push(worker);
    }
    if settings.drops != Drops::No {
        caches::drop_all(machine)?;
        for worker in &workers {
            let region = &worker.region;
            let pages = caches::evict(&region.file, region.start, worker.length())
                .map_err(|error| Error::environment("cannot drop the cached pages", error))?;
            shared.resident.fetch_add(pages, Ordering::SeqCst);
        }
    }
    Ok(IoLoad {
        crew: Crew::assemble(launch, workers)?,
        shared,
        settings,
        machine: machine.clone(),
        host_cache: data_location::host_cache(launch),
        is_rotating: launch.is_rotating,
        workers: Vec::new(),
        figures: Vec::new(),
    })
}

/// CPU time of all threads of this process, those of the kernel's that work for it included.
fn cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

impl IoLoad {
    fn figure(&self, index: usize) -> Figure {
        let shares = || self.workers.iter().map(|worker| &worker.shares[index]);
        let bytes = |records: u64| (records * self.settings.record) as f64;
        let start_ns = shares().map(|share| share.start_ns).min().unwrap_or(0);
        let end_ns = shares().map(|share| share.end_ns).max().unwrap_or(0);
        Figure {
            operation: self.settings.operations[index],
            bytes: shares().map(|share| bytes(share.records)).sum(),
            rate: shares()
                .map(|share| {
                    let seconds = share.end_ns.saturating_sub(share.start_ns).max(1) as f64 / 1e9;
                    bytes(share.records) / seconds
                })
                .sum(),
            wall_ns: end_ns.saturating_sub(start_ns).max(1),
        }
    }

    fn samples(&self, cpu_ns: u64) -> Vec<Sample> {
        let mut samples = Vec::new();
        for figure in &self.figures {
            let name = figure.operation.name();
            // The threads' rates are added up, so bytes are divided by the time that their sum
            // would have taken: over invocations, that weighs each by what it moved.
            samples.push(Sample::quotient(
                &format!("{name}_throughput"),
                figure.bytes,
                figure.bytes / figure.rate,
            ));
            if self.settings.threads > 1 {
                let seconds = figure.wall_ns as f64 / 1e9;
                samples.push(Sample::quotient(&format!("{name}_aggregate"), figure.bytes, seconds));
            }
        }
        let mut latencies = self.shared.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        for (figure, latency) in self.figures.iter().zip(latencies.iter_mut()) {
            let source = format!("{}_latency", figure.operation.name());
            samples.push(Sample::histogram(&source, std::mem::take(latency)));
        }
        let bytes = self.figures.iter().map(|figure| figure.bytes).sum();
        samples.push(Sample::quotient("cpu_per_byte", cpu_ns as f64, bytes));
        samples
    }
}

impl Load for IoLoad {
    fn run(&mut self) -> Result<Measurement> {
        self.crew.open();
        let mut used_ns = 0;
        for step in steps(&self.settings) {
            if step == Step::Dropped {
                caches::drop_all(&self.machine)?;
            }
            self.shared.stop.store(false, Ordering::SeqCst);
            let before_ns = cpu_ns();
            let is_taken = self.shared.phases.take();
            if let Step::Operate(_) = step {
                used_ns += cpu_ns() - before_ns;
            }
            if !is_taken {
                break;
            }
        }
        self.workers = self.crew.collect(LIMIT_NS)?;
        self.figures =
            (0..self.settings.operations.len()).map(|index| self.figure(index)).collect();
        let shares = self.workers.iter().flat_map(|worker| &worker.shares);
        let operations = shares.map(|share| share.records).sum();
        Ok(Measurement { samples: self.samples(used_ns), operations: Some(operations) })
    }

    fn verify(&mut self, _: &RunReport) -> Result<(), String> {
        checks::counts(&self.settings, &self.workers)?;
        checks::data(&self.settings, &self.workers)?;
        let settings = &self.settings;
        if let Some(worker) =
            self.workers.iter().find(|worker| worker.is_direct != settings.is_direct)
        {
            return Err(format!(
                "O_DIRECT was asked to be {} and was {}",
                settings.is_direct, worker.is_direct
            ));
        }
        let pages = self.shared.resident.load(Ordering::SeqCst);
        if pages > 0 {
            return Err(format!(
                "{pages} pages of the data were still in memory after the caches had been dropped"
            ));
        }
        Ok(())
    }

    fn caveats(&self) -> Vec<Caveat> {
        if self.settings.engine == EngineKind::Null {
            return Vec::new();
        }
        let rates: Vec<(Operation, f64)> =
            self.figures.iter().map(|figure| (figure.operation, figure.rate)).collect();
        let details =
            if self.settings.is_direct { suspicions(&rates, self.is_rotating) } else { Vec::new() };
        let seen =
            details.into_iter().map(|detail| Caveat::new(CaveatCode::HostCacheSuspected, detail));
        self.host_cache.iter().cloned().chain(seen).collect()
    }
}

/// Tells the threads to stop before the crew waits for them.
impl Drop for IoLoad {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.phases.abandon();
    }
}
