//! Hidden roles: a program as guardian, as a workload's process, as hogs.

use crate::catalogue::trial_catalogue;
use crate::own_fault::told;
use crate::standard_error::tell;
use contract::{Error, Interrupt, Result};
use net_workloads::NetServer;
use std::ffi::OsString;
use std::path::PathBuf;
use sys::Machine;

/// The exit status of a role that was started with arguments it does not know.
const USAGE: i32 = 2;

/// Serves a role if the first argument names one, and does something else if not; the result is the exit
/// status. A panic of either ends in a message and [`crate::OWN_FAULT`], with the backtrace that a
/// developer asks for.
pub fn serve_role_or(
    arguments: &[OsString],
    with_backtrace: bool,
    otherwise: impl FnOnce() -> u8,
) -> u8 {
    told(with_backtrace, || serve_role(arguments).unwrap_or_else(otherwise))
}

fn serve_role(arguments: &[OsString]) -> Option<u8> {
    let role = arguments.get(1)?.to_str()?;
    let status = match role {
        executor::LONG_LIVED_ROLE => {
            executor::serve_long_lived(&trial_catalogue(), &Machine::host(""))
        }
        executor::LOAD_ROLE => executor::serve_load(&trial_catalogue(), &Machine::host("")),
        executor::BACKGROUND_ROLE => executor::serve_background(),
        schedulers::SCHEDULER_ROLE => keep_scheduler(arguments.get(2..).unwrap_or_default()),
        contract::HOST_LOAD_ROLE => executor::serve_host_load(&trial_catalogue()),
        contract::PEER_ROLE => serve_peer(),
        executor::GUARDIAN_ROLE => guardian(arguments.get(2..).unwrap_or_default()),
        _ => return None,
    };
    Some(u8::try_from(status).unwrap_or(1))
}

/// Keeps one of our schedulers in charge.
fn keep_scheduler(arguments: &[OsString]) -> i32 {
    match arguments {
        [choice] => schedulers::own::serve(&choice.to_string_lossy()),
        _ => {
            tell("expected a scheduler with its parameters, such as bfs");
            USAGE
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
            tell(&error.one_line());
            1
        },
        |()| 0,
    )
}

fn guardian(arguments: &[OsString]) -> i32 {
    match machine_of_arguments(arguments) {
        Ok(machine) => executor::serve_guardian(&machine, &trial_catalogue()),
        Err(error) => {
            tell(&format!("guardian: {error}"));
            1
        }
    }
}

/// The arguments that tell the guardian the same machine.
#[must_use]
pub fn machine_arguments(machine: &Machine) -> Vec<String> {
    let mut arguments = vec![machine.runtime().display().to_string()];
    if machine.is_fake() {
        arguments.push(machine.root().display().to_string());
    }
    arguments
}

/// The machine of [`machine_arguments`].
fn machine_of_arguments(arguments: &[OsString]) -> Result<Machine> {
    match arguments {
        [runtime] => Ok(Machine::host(runtime)),
        [runtime, root] => Ok(Machine::fake(root, runtime)?),
        _ => Err(Error::usage("cannot serve as guardian", "expected a runtime directory", "")),
    }
}

/// This program, for its roles. The link works even when the file was replaced.
#[must_use]
pub fn executable() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OWN_FAULT;

    #[test]
    fn a_panic_is_an_own_fault_and_what_else_ends_a_role_or_a_command_is_its_own() {
        let of = |word: &str, otherwise: fn() -> u8| {
            serve_role_or(&["schedlab", word].map(OsString::from), false, otherwise)
        };
        assert_eq!(of("list", || 5), 5);
        assert_eq!(of("list", || panic!("index 7 is out of bounds")), OWN_FAULT);
        // A guardian that is not told its machine.
        assert_eq!(of(executor::GUARDIAN_ROLE, || panic!("it is a role")), 1);
    }
}
