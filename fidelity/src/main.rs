//! `cargo xtask fidelity`: do the native workloads measure what their reference
//! tools measure?
//!
//! Reference and native run in pairs of random order, with the same placement,
//! until the 95 % interval of their ratio is narrow enough or the pairs run out.
//! Nothing is installed; what is missing is named. The table goes into
//! `docs/fidelity.md`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "automation talks to a terminal")]

mod cells;
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
use device::LoopDevice;
use std::collections::BTreeSet;
use std::path::PathBuf;
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

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fidelity: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    reference::refuse_missing()?;
    let mut rows = Vec::new();
    let wanted = |name: &str| options.only.as_ref().is_none_or(|part| name.contains(part.as_str()));
    if options.smoke {
        return smoke(options);
    }
    let mut device = None;
    for cell in cells().filter(|cell| wanted(cell.name)) {
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

/// One pair for each workload of ours and each program that it is held against.
fn smoke(options: &Options) -> Result<bool, String> {
    let mut seen = BTreeSet::new();
    let mut device = None;
    for cell in cells().filter(|cell| seen.insert((cell.native().workload, cell.program()))) {
        if cell.needs_device() && device.is_none() {
            device = Some(LoopDevice::make()?);
        }
        let (ours, theirs) = pairs::once(cell, &options.binary, device.as_ref())?;
        println!("{}: ours {ours:.4e}, {} {theirs:.4e}", cell.name, cell.program());
    }
    Ok(true)
}
