//! `cargo xtask fidelity`: do the native workloads measure what their reference
//! tools measure?
//!
//! Reference and native run in pairs of random order, with the same placement,
//! until the 95 % interval of their ratio is narrow enough or the pairs run out.
//! Nothing is installed; what is missing is named. The table goes into
//! `docs/fidelity.md`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "automation talks to a terminal")]

mod cells;
mod comparison;
mod context_switches;
mod device;
mod io_cells;
mod native;
mod net_cells;
mod pairs;
mod reference;
mod table;
mod waker;

use cells::cells;
use clap::Parser;
use comparison::ReferenceComparison;
use device::LoopDevice;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "fidelity", about = "Native workloads against their reference tools")]
struct Options {
    /// The release binary
    #[arg(long)]
    binary: PathBuf,
    /// Where the table is written
    #[arg(long, default_value = "docs/fidelity.md")]
    output: PathBuf,
    /// Only cells whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Most pairs of one cell
    #[arg(long, default_value_t = 31)]
    pairs: usize,
    /// Only show that workloads and references still answer: one pair of one cell for each of
    /// them, no interval and no table
    #[arg(long)]
    smoke: bool,
}

/// How a run ends that needs what this machine or its user lacks, as tests of Automake do.
const CANNOT_RUN_HERE: u8 = 77;

fn main() -> ExitCode {
    let options = Options::parse();
    if let Err(error) = refuse_without_root().and_then(|()| reference::refuse_missing()) {
        eprintln!("fidelity: {error}");
        return ExitCode::from(CANNOT_RUN_HERE);
    }
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fidelity: {error}");
            ExitCode::FAILURE
        }
    }
}

fn refuse_without_root() -> Result<(), String> {
    if sys::Machine::host("").is_root() {
        return Ok(());
    }
    Err("real-time policies and loop devices need root: run as root".to_owned())
}

fn run(options: &Options) -> Result<bool, String> {
    let only = options.only.as_deref().unwrap_or_default();
    let wanted: Vec<_> = cells().filter(|cell| cell.name.contains(only)).collect();
    if wanted.is_empty() {
        return Err(format!("no cell's name contains {only}"));
    }
    if options.smoke {
        return smoke(options, wanted);
    }
    let mut rows = Vec::new();
    let mut device = None;
    for cell in wanted {
        eprintln!("fidelity: {}", cell.name);
        if cell.needs_device() && device.is_none() {
            device = Some(LoopDevice::make()?);
        }
        let row = pairs::compare(cell, &options.binary, device.as_ref(), options.pairs)?;
        eprintln!("fidelity: {}", table::line(&row));
        rows.push(row);
    }
    if options.only.is_none() {
        let text = table::page(&rows)?;
        std::fs::write(&options.output, text)
            .map_err(|error| format!("cannot write {}: {error}", options.output.display()))?;
    }
    Ok(rows.iter().all(|row| row.holds()))
}

/// How often a pair is tried by a smoke run: beside a busy neighbour a program of others may measure
/// nothing in its two seconds, which says nothing of whether it still answers.
const SMOKE_TRIES: usize = 3;

/// What both measured, of the first try in which both did. Every other one is told.
fn answer(
    cell: &'static ReferenceComparison,
    binary: &Path,
    device: Option<&LoopDevice>,
) -> Result<(f64, f64), String> {
    let mut left = SMOKE_TRIES;
    loop {
        left -= 1;
        match pairs::once(cell, binary, device) {
            Err(why) if left > 0 => eprintln!("fidelity: {}: tried again: {why}", cell.name),
            ended => return ended,
        }
    }
}

/// One pair for each workload of ours and each program that it is held against.
fn smoke(options: &Options, mut cells: Vec<&'static ReferenceComparison>) -> Result<bool, String> {
    let mut seen = BTreeSet::new();
    let mut device = None;
    cells.retain(|cell| seen.insert((cell.native().workload, cell.program())));
    for cell in cells {
        if cell.needs_device() && device.is_none() {
            device = Some(LoopDevice::make()?);
        }
        let (ours, theirs) = answer(cell, &options.binary, device.as_ref())?;
        println!("{}: ours {ours:.4e}, {} {theirs:.4e}", cell.name, cell.program());
    }
    Ok(true)
}
