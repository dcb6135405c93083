//! The words of `schedlab calibrate`.

use clap::Args;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
A full calibration takes most of an hour. With --checkpoint it can be interrupted, by Ctrl-C or by a loss of power: the
same command counts only what the file lacks, and prints the same table. What is in the file holds for one build of
schedlab, one number of repetitions and one --only; with others it is refused. One calibration at a time may have it.

  schedlab calibrate --full --checkpoint calibration.jsonl
  schedlab calibrate --full --only CARRY_OVER";

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// Some seconds: bounds are as wide as so few repetitions ask for
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Every target with 20,000 repetitions (the default)
    #[arg(long)]
    pub full: bool,
    /// Other than the usual number of repetitions
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repetitions: Option<u32>,
    /// Only rows whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Keep each count in this file; after an interruption the same command goes on from it
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}
