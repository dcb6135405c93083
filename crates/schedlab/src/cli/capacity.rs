//! The words of `schedlab capacity`.

use super::PlanOptions;
use clap::Args;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Rates are doubled until the service does not keep up, and then narrowed down, for the first subject alone. With
--write, an experiment is written that compares all subjects at .3, .6, .8, .95 and 1.2 times what was found.

Examples:
  schedlab capacity suites/bank-host.toml --workload published
  schedlab capacity shop.toml --target 100ms --write shop-rates.toml";

#[derive(Debug, Args)]
pub(crate) struct Capacity {
    /// An experiment with a workload that sends requests at rates (http, service, bank)
    pub file: PathBuf,
    /// Which of its workloads; the first that can be searched when left out
    #[arg(long, value_name = "LABEL")]
    pub workload: Option<String>,
    /// What the 99th percentile of latency may be
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    pub target: String,
    /// How long each rate is tried
    #[arg(long, value_name = "TIME", default_value = "3s")]
    pub step: String,
    /// How many blocks, each of two searches
    #[arg(long, default_value_t = 3)]
    pub blocks: u32,
    /// Write an experiment that compares at parts of the rate that was found
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    #[command(flatten)]
    pub options: PlanOptions,
}
