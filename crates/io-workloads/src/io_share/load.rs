//! The prepared sharing: processes, a window, and how much each process got.

use super::settings::IoShareSettings;
use super::sharer::{Board, MEASURING, STOPPING, Sharer, Tally, WARMING};
use contract::{Error, LaunchSpec, Load, Measurement, Result};
use model::{Caveat, RunReport, Sample};
use sys::Machine;
use workload_parts::instant::sleep_until;
use workload_parts::process::{ChildProcesses, StartBarrier};
use workload_parts::storage::data_location::{self, DataLocation, Region};
use workload_parts::storage::fairness::jain;
use workload_parts::storage::transfer::{lay_out, unwritable};

pub(super) struct Sharing {
    family: ChildProcesses,
    barrier: StartBarrier,
    board: Board,
    settings: IoShareSettings,
    regions: Vec<Region>,
    host_cache: Option<Caveat>,
}

/// Makes and fills the files, starts the processes.
pub(super) fn prepare(
    machine: &Machine,
    settings: IoShareSettings,
    launch: &LaunchSpec,
) -> Result<Sharing> {
    if launch.io_groups.len() != settings.weights.len() {
        return Err(Error::environment(
            "cannot give each process a group of its own",
            format!("{} groups were made of {}", launch.io_groups.len(), settings.weights.len()),
        ));
    }
    let total = u64::from(settings.processes).saturating_mul(settings.size);
    let place = DataLocation::open(launch, u64::from(settings.processes), settings.size)?;
    let board = Board::new(settings.processes)?;
    board.set_phase(WARMING);
    let barrier = StartBarrier::new()?;
    let mut family = ChildProcesses::new()?;
    let mut regions = Vec::new();
    for number in 0..settings.processes {
        regions.push(place.region(u64::from(number), settings.size, settings.record, true)?);
    }
    for (number, region) in (0..).zip(&regions) {
        let settings = &settings;
        let sharer = Sharer { number, settings, machine, launch, board: &board, region };
        lay_out(region, sharer.pattern(), settings.record, settings.size)
            .map_err(|failed| unwritable(total, &failed))?;
        family.fork("a sharer of the disk", launch, || sharer.live(|| barrier.wait()))?;
    }
    barrier.await_ready(&mut family)?;
    let host_cache = data_location::host_cache(launch);
    Ok(Sharing { family, barrier, board, settings, regions, host_cache })
}

impl Sharing {
    fn tallies(&self) -> Vec<Tally> {
        (0..self.settings.processes).map(|process| self.board.tally(process)).collect()
    }

    fn measurement(&self, window_ns: u64) -> Result<Measurement> {
        let tallies = self.tallies();
        let total: u64 = tallies.iter().map(|tally| tally.bytes).sum();
        let entitled = self.settings.entitled();
        let got: Vec<f64> = tallies
            .iter()
            .zip(&entitled)
            .map(|(tally, entitled)| tally.bytes as f64 / total as f64 / entitled)
            .collect();
        let Some(fairness) = jain(&got).filter(|_| total > 0) else {
            let window = model::format_duration(window_ns);
            return Err(Error::new(
                contract::ErrorKind::Environment,
                "nothing was measured",
                format!("no process finished a transfer within {window}"),
                "lengthen duration, or make record smaller",
            ));
        };
        let furthest = got.iter().map(|got| (got - 1.0).abs()).fold(0.0, f64::max);
        let longest_ns = tallies.iter().map(|tally| tally.longest_ns).max().unwrap_or(0);
        let samples = vec![
            Sample::values("fairness", vec![fairness]),
            Sample::values("share_error", vec![furthest]),
            Sample::quotient("aggregate_throughput", total as f64, window_ns as f64 / 1e9),
            Sample::values("longest_transfer", vec![longest_ns as f64]),
        ];
        Ok(Measurement { samples, operations: Some(total / self.settings.record) })
    }
}

impl Load for Sharing {
    fn run(&mut self) -> Result<Measurement> {
        self.barrier.release()?;
        sleep_until(sys::monotonic_ns() + self.settings.warmup_ns);
        let start_ns = sys::monotonic_ns();
        self.board.set_phase(MEASURING);
        sleep_until(start_ns + self.settings.duration_ns);
        self.board.set_phase(STOPPING);
        let window_ns = sys::monotonic_ns() - start_ns;
        self.family.reap()?;
        self.measurement(window_ns)
    }

    fn verify(&mut self, _: &RunReport) -> Result<(), String> {
        for (process, tally) in self.tallies().iter().enumerate() {
            if tally.faults > 0 {
                return Err(format!("{} reads of process {process} were wrong", tally.faults));
            }
        }
        for region in &self.regions {
            if !data_location::is_direct(&region.file).map_err(|error| error.to_string())? {
                return Err("O_DIRECT was asked for and is not in force".to_owned());
            }
        }
        Ok(())
    }

    fn caveats(&self) -> Vec<Caveat> {
        self.host_cache.iter().cloned().collect()
    }
}
