//! What goes into a guest: its first process, the agent, and the executor's roles.

use std::ffi::OsString;
use std::process::ExitCode;
use sys::Machine;

/// Where a guest keeps its journal: its memory goes with the guest.
const RUNTIME: &str = "/run/schedlab";
/// The exit status of a start outside of a guest.
const USAGE: i32 = 2;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let log = std::env::var(assembly::LOG_VARIABLE).unwrap_or_default();
    if let Err(error) = assembly::start_log(&log) {
        // The host that asks for it has refused what cannot be meant.
        assembly::tell(&format!("schedlab-agent: {error}"));
    }
    let with_backtrace = std::env::var_os("RUST_BACKTRACE").is_some();
    let status = assembly::serve_role_or(&arguments, with_backtrace, || {
        let is_agent = arguments.get(1).is_some_and(|word| word == agent::AGENT_ROLE);
        let status = match (std::process::id(), is_agent) {
            (1, _) => agent::serve_init(),
            (_, true) => serve_agent(),
            _ => {
                assembly::tell(
                    "schedlab-agent: schedlab puts this into its guests; it does nothing elsewhere",
                );
                USAGE
            }
        };
        u8::try_from(status).unwrap_or(1)
    });
    ExitCode::from(status)
}

fn serve_agent() -> i32 {
    let search_path = std::env::var("PATH").unwrap_or_default();
    let machine = Machine::host(RUNTIME).with_search_path(search_path).thrown_away();
    agent::serve_agent(agent::AgentSettings {
        machine_arguments: assembly::machine_arguments(&machine),
        machine,
        catalogue: assembly::trial_catalogue(),
        executable: assembly::executable(),
        version: env!("CARGO_PKG_VERSION"),
    })
}
