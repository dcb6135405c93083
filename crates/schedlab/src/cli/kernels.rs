//! The words of `schedlab kernels`.

use clap::{Args, Subcommand};

pub(crate) const HELP: &str = "\
Names of kernels:
  debian:6.12                  the newest of a series in Debian's archive
  debian:6.12.117-1~deb12u1    exactly that package, now and later
  debian:6.1..6.18             the newest of each series in a range
  debian:cfs|eevdf|scx         the newest of each series of a class
  path:IMAGE[,modules=DIR][,config=FILE]   one of your own
  build:NAME                   one that `schedlab kernels build` made
  host                         the one this machine runs

Examples:
  schedlab kernels list --offered
  schedlab kernels fetch debian:6.1 debian:6.12 debian:6.18
  schedlab kernels fetch --dry-run debian:scx
  schedlab kernels show debian:6.12";

#[derive(Debug, Args)]
pub(crate) struct Kernels {
    #[command(subcommand)]
    pub action: KernelsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KernelsAction {
    /// The kernels of the cache, or what the archive offers
    List(KernelsList),
    /// Bring kernels into the cache; each is verified with the distribution's keyring
    Fetch(KernelsFetch),
    /// Build a small kernel from source, for build:NAME
    #[command(after_help = BUILD_HELP)]
    Build(KernelsBuild),
    /// All about a kernel that is here
    Show(KernelsShow),
    /// Take kernels out of the cache
    Remove(KernelsRemove),
}

#[derive(Debug, Args)]
pub(crate) struct KernelsList {
    /// What Debian's archive offers: the newest of each series
    #[arg(long)]
    pub offered: bool,
    /// Every kernel it offers
    #[arg(long, requires = "offered")]
    pub all: bool,
    /// Ask the archive again, even if that was done within a day
    #[arg(long, requires = "offered")]
    pub refresh: bool,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KernelsFetch {
    /// Kernels, ranges or classes of Debian
    #[arg(required = true, value_name = "KERNEL")]
    pub names: Vec<String>,
    /// Tell what would be downloaded, and stop
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KernelsShow {
    /// A kernel
    #[arg(value_name = "KERNEL")]
    pub name: String,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KernelsRemove {
    /// Cached kernels
    #[arg(required = true, value_name = "KERNEL")]
    pub names: Vec<String>,
    /// Tell what would be removed, and stop
    #[arg(long)]
    pub dry_run: bool,
}

const BUILD_HELP: &str = "\
The configuration is small: what a virtual machine needs, everything built in, and the fragments that are named:
sched-ext (BPF schedulers; needs pahole 1.26), schedstats, or files with lines such as CONFIG_HZ_1000=y. The last
fragment that names an option decides, and every line must take effect.

Examples:
  schedlab kernels build --name mine ./linux
  schedlab kernels build --name patched --fragment schedstats --fragment my.config ./linux
  schedlab kernels build --name small debian:6.12";

#[derive(Debug, Args)]
pub(crate) struct KernelsBuild {
    /// A source tree, or debian:SERIES for Debian's source
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// What it will be called: build:NAME
    #[arg(long)]
    pub name: String,
    /// sched-ext, schedstats, or a file; repeatable
    #[arg(long = "fragment", value_name = "FRAGMENT")]
    pub fragments: Vec<String>,
    /// Jobs at once; all CPUs when left out
    #[arg(short, long)]
    pub jobs: Option<usize>,
}
