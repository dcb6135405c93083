//! `cargo xtask bars`: does the release binary meet the project's quality bars here?
//!
//! Timings belong neither into tests nor into claims without a figure: this
//! measures them and prints each beside its limit. It takes about three minutes
//! and wants a quiet machine.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "automation talks to a terminal")]

mod aa_comparison;
mod binary;
mod dashboard;
mod idle;
mod large;
mod listing;
mod own_cost;

use binary::Binary;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "bars", about = "The quality bars, measured on this machine")]
struct Options {
    /// The release binary
    #[arg(long)]
    binary: PathBuf,
    /// Only show that every measure runs to its end: amounts of seconds, and no bar is missed
    #[arg(long)]
    smoke: bool,
    /// Only measures whose word contains this
    #[arg(long)]
    only: Option<String>,
}

/// One bar with what was measured.
struct Bar {
    /// What is limited.
    name: &'static str,
    /// The figure with its unit.
    measured: String,
    /// The limit with its unit.
    limit: String,
    /// Whether the figure keeps it.
    holds: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bars: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures one bar.
type Measure = fn(&Binary) -> Result<Bar, String>;

/// All of them, each with the word that `--only` selects it by.
const MEASURES: &[(&str, Measure)] = &[
    ("sample", own_cost::sample),
    ("transfer", own_cost::transfer),
    ("verified-transfer", own_cost::verified_transfer),
    ("generator-rate", own_cost::generator_rate),
    ("generator-lateness", own_cost::generator_lateness),
    ("judging", own_cost::judging),
    ("large-judging", large::judging),
    ("large-page", large::page),
    ("large-import", large::import),
    ("calibrating", large::calibrating),
    ("quick-calibration", large::quick_calibration),
    ("listing", listing::bar),
    ("idle", idle::bar),
    ("dashboard-cost", dashboard::cost),
    ("dashboard-same", dashboard::same),
    ("aa-comparison", aa_comparison::bar),
];

fn run(options: &Options) -> Result<bool, String> {
    let binary = Binary::new(&options.binary, options.smoke)?;
    let mut all_hold = true;
    let only = options.only.as_deref().unwrap_or_default();
    let wanted: Vec<_> = MEASURES.iter().filter(|(word, _)| word.contains(only)).collect();
    if wanted.is_empty() {
        let words: Vec<_> = MEASURES.iter().map(|(word, _)| *word).collect();
        return Err(format!("no measure is called {only}; there are {}", words.join(", ")));
    }
    for (_, measure) in wanted {
        let bar = measure(&binary)?;
        let result = match (options.smoke, bar.holds) {
            (true, _) => "not measured",
            (false, true) => "holds",
            (false, false) => "MISSED",
        };
        println!("{:<52} {:>14}  limit {:<16} {result}", bar.name, bar.measured, bar.limit);
        all_hold &= options.smoke || bar.holds;
    }
    Ok(all_hold)
}
