//! `schedlab net`: the far side of the workload of that name.

use super::signals::hear_signals;
use crate::cli::net::NetAction;
use crate::exit::ExitCode;
use crate::output::{print, tell};
use contract::Result;
use net_workloads::NetServer;

pub(super) fn run(action: &NetAction) -> Result<ExitCode> {
    let NetAction::Serve { listen } = action;
    let server = NetServer::bind(*listen)?;
    let interrupt = hear_signals()?;
    tell(
        "this is the `address` of the workload `net`; whoever reaches it may measure (Ctrl-C ends it)",
    );
    print(&format!("{}\n", server.address()))?;
    server.serve(&interrupt, tell)?;
    Ok(interrupt.signal().map_or(ExitCode::Done, ExitCode::Signal))
}
