//! Hidden roles: this binary as guardian, as a workload's process, as hogs.

use crate::catalogue::catalogue;
use crate::exit::ExitCode;
use crate::surroundings;
use contract::Interrupt;
use std::ffi::OsString;
use workloads::NetServer;

/// Serves a role if the first argument names one; the result is the exit status.
pub(crate) fn serve(arguments: &[OsString]) -> Option<u8> {
    let role = arguments.get(1)?.to_str()?;
    let status = match role {
        executor::STANDING_ROLE => executor::serve_standing(&catalogue(), &sys::Machine::host("")),
        executor::LOAD_ROLE => executor::serve_load(&catalogue(), &sys::Machine::host("")),
        executor::BACKGROUND_ROLE => executor::serve_background(),
        schedulers::SCHEDULER_ROLE => keep_scheduler(arguments.get(2..).unwrap_or_default()),
        contract::OUTSIDE_ROLE => executor::serve_outside(&catalogue()),
        contract::PEER_ROLE => serve_peer(),
        executor::GUARDIAN_ROLE => guardian(arguments.get(2..).unwrap_or_default()),
        _ => return None,
    };
    Some(u8::try_from(status).unwrap_or(1))
}

/// The first process of a guest, or its agent.
pub(crate) fn serve_guest(arguments: &[OsString]) -> u8 {
    let is_agent = arguments.get(1).is_some_and(|word| word == agent::AGENT_ROLE);
    let status = match (std::process::id(), is_agent) {
        (1, _) => agent::serve_init(),
        (_, true) => serve_agent(),
        _ => {
            anstream::eprintln!(
                "schedlab-agent: schedlab puts this into its guests; it does nothing elsewhere"
            );
            return ExitCode::Usage.number();
        }
    };
    u8::try_from(status).unwrap_or(1)
}

fn serve_agent() -> i32 {
    let machine = surroundings::guest();
    agent::serve_agent(agent::AgentSettings {
        machine_arguments: surroundings::machine_arguments(&machine),
        machine,
        catalogue: catalogue(),
        executable: surroundings::executable(),
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Keeps one of our schedulers in charge.
fn keep_scheduler(arguments: &[OsString]) -> i32 {
    match arguments {
        [choice] => schedulers::own::serve(&choice.to_string_lossy()),
        _ => {
            anstream::eprintln!("expected a scheduler with its parameters, such as bfs");
            i32::from(ExitCode::Usage.number())
        }
    }
}

/// The far side of network tests in a second guest; its first word says that it serves.
fn serve_peer() -> i32 {
    let served = NetServer::bind(contract::peers_address()).and_then(|server| {
        anstream::println!("{}", server.address());
        // The near side tells what became of its runs.
        server.serve(&Interrupt::default(), |_| {})
    });
    served.map_or_else(
        |error| {
            anstream::eprintln!("{}", error.one_line());
            1
        },
        |()| 0,
    )
}

fn guardian(arguments: &[OsString]) -> i32 {
    match surroundings::machine_of_arguments(arguments) {
        Ok(machine) => executor::serve_guardian(&machine),
        Err(error) => {
            anstream::eprintln!("guardian: {error}");
            1
        }
    }
}
