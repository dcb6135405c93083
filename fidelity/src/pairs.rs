//! Pairs of runs in random order until the ratio is known well enough.

use crate::comparison::{ReferenceComparison, Switches};
use crate::device::LoopDevice;
use crate::io_cells::CPU;
use crate::waker::Waker;
use crate::{native, reference};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use stats::{SignedRank, TTest, exp, ln, median, standard_deviation};
use std::path::Path;

/// Fewest pairs.
const LEAST_PAIRS: usize = 7;
/// The interval is narrow enough when it reaches no further to either side.
const NARROW: f64 = 0.07;
/// Level of the intervals.
const ALPHA: f64 = 0.05;

/// What a cell's pairs showed.
pub struct FidelityRow {
    pub cell: &'static ReferenceComparison,
    pub pairs: usize,
    pub native: f64,
    pub reference: f64,
    /// Ratio native / reference with its 95 % interval, by the paired t on logs.
    pub ratio: [f64; 3],
    /// The same by signed ranks, which a single wild run does not move.
    pub ranks: [f64; 3],
    /// Ratio of context switches or of CPU time, and its interval by signed ranks.
    pub switches: [f64; 3],
    /// How much the reference's own runs differ: standard deviation of the log of
    /// their context switches.
    pub spread: f64,
}

impl FidelityRow {
    /// Whether the whole interval lies in the band, and the switches agree.
    pub fn holds(&self) -> bool {
        let (low, high) = self.cell.band;
        let is_inside = self.ranks[1] >= low && self.ranks[2] <= high;
        let agrees = match self.cell.switches {
            Switches::Agree(limit) => (self.switches[0] - 1.0).abs() <= limit,
            Switches::CpuPerTransfer => self.switches[1] <= 1.0,
            Switches::Vary | Switches::OtherThreads => true,
        };
        is_inside && agrees
    }
}

/// One run of each, ours first: a reference that reads finds what was written.
pub fn once(
    cell: &'static ReferenceComparison,
    binary: &Path,
    device: Option<&LoopDevice>,
) -> Result<(f64, f64), String> {
    let ours = native::run(cell, cell.native(), binary, device)?;
    Ok((ours.0, reference::run(cell, binary, device)?.0))
}

/// Runs a cell.
pub fn compare(
    cell: &'static ReferenceComparison,
    binary: &Path,
    device: Option<&LoopDevice>,
    most: usize,
) -> Result<FidelityRow, String> {
    let mut random = ChaCha12Rng::seed_from_u64(cell.name.len() as u64);
    let (mut native_values, mut reference_values) = (Vec::new(), Vec::new());
    let (mut ratios, mut switch_ratios) = (Vec::new(), Vec::new());
    let mut reference_switches = Vec::new();
    let is_io = cell.needs_device();
    let _waker = if is_io { Some(Waker::start(CPU)?) } else { None };
    if is_io {
        // The reference must not read what was never written.
        native::run(cell, cell.native(), binary, device)?;
    }
    loop {
        let is_native_first: bool = random.random();
        let (ours, theirs) = if is_native_first {
            let ours = native::run(cell, cell.native(), binary, device)?;
            (ours, reference::run(cell, binary, device)?)
        } else {
            let theirs = reference::run(cell, binary, device)?;
            (native::run(cell, cell.native(), binary, device)?, theirs)
        };
        native_values.push(ours.0);
        reference_values.push(theirs.0);
        ratios.push(ln(ours.0 / theirs.0));
        switch_ratios.push(ln(ours.1 / theirs.1));
        reference_switches.push(ln(theirs.1));
        if ratios.len() < LEAST_PAIRS {
            continue;
        }
        let ranks = by_ranks(&ratios);
        let is_narrow = ranks[2] / ranks[0] <= 1.0 + NARROW && ranks[1] / ranks[0] >= 1.0 - NARROW;
        if is_narrow || ratios.len() >= most {
            return Ok(FidelityRow {
                cell,
                pairs: ratios.len(),
                native: median(&native_values).unwrap_or(f64::NAN),
                reference: median(&reference_values).unwrap_or(f64::NAN),
                ratio: by_t(&ratios),
                ranks,
                switches: by_ranks(&switch_ratios),
                spread: standard_deviation(&reference_switches).unwrap_or(f64::NAN),
            });
        }
    }
}

fn by_t(logs: &[f64]) -> [f64; 3] {
    TTest::of(logs).map_or([f64::NAN; 3], |test| {
        let (low, high) = test.interval(ALPHA);
        [test.mean, low, high].map(exp)
    })
}

fn by_ranks(logs: &[f64]) -> [f64; 3] {
    SignedRank::of(logs, ALPHA)
        .map_or([f64::NAN; 3], |ranks| [ranks.pseudo_median, ranks.low, ranks.high].map(exp))
}
