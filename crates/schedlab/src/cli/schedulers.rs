//! The words of `schedlab schedulers`.

use clap::{Args, Subcommand};

pub(crate) const HELP: &str = "\
Names of schedulers:
  fair               the kernel's own
  lab:bfs            one of ours; show tells its algorithm and parameters
  scx_rusty          a published one; the newest in the cache, for fetch the newest on the registry
  scx_rusty@1.1.4    exactly this version

Examples:
  schedlab schedulers list --offered
  schedlab schedulers fetch --dry-run scx_rusty scx_lavd
  schedlab schedulers fetch scx_rusty scx_lavd scx_bpfland scx_layered
  schedlab schedulers show lab:bfs";

#[derive(Debug, Args)]
pub(crate) struct Schedulers {
    #[command(subcommand)]
    pub action: SchedulersAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchedulersAction {
    /// All that are known, with what is here of them
    List(SchedulersList),
    /// Build published schedulers with cargo into the cache
    Fetch(SchedulersFetch),
    /// What a scheduler is, and what is here of it
    Show(SchedulersShow),
    /// Take schedulers out of the cache
    Remove(SchedulersRemove),
}

#[derive(Debug, Args)]
pub(crate) struct SchedulersList {
    /// What the registry has of each: its newest version
    #[arg(long)]
    pub offered: bool,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchedulersFetch {
    /// Published schedulers, each in its newest version or in one
    #[arg(value_name = "NAME[@VERSION]", required_unless_present = "all")]
    pub names: Vec<String>,
    /// Every published scheduler that is known
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Tell what would be built, and stop
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchedulersShow {
    /// A scheduler
    #[arg(value_name = "NAME[@VERSION]")]
    pub name: String,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchedulersRemove {
    /// Cached schedulers
    #[arg(required = true, value_name = "NAME@VERSION")]
    pub names: Vec<String>,
    /// Tell what would be removed, and stop
    #[arg(long)]
    pub dry_run: bool,
}
