//! The words of `schedlab net`.

use clap::{Args, Subcommand};
use std::net::SocketAddr;

const SERVE_HELP: &str = "\
It answers runs of the workload `net` on other machines, one at a time of each, of ten minutes at
most, and contacts nobody by itself. Whoever reaches the address may ask for one: listen where you
know who does. Data comes in on a port of its own that the kernel chooses for each run, by TCP, and
by UDP for datagrams.

  schedlab net serve --listen 192.0.2.7:7171       and on the other machine, in an experiment:

  [[workloads]]
  use = \"net\"
  test = \"request\"
  address = \"192.0.2.7:7171\"";

/// A command of `schedlab net`.
#[derive(Debug, Args)]
pub(crate) struct Net {
    #[command(subcommand)]
    pub action: NetAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NetAction {
    /// The far side of the workload `net`, until Ctrl-C
    #[command(after_help = SERVE_HELP)]
    Serve {
        /// Address and port; port 0 is one that is free
        #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7171")]
        listen: SocketAddr,
    },
}
