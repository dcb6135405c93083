//! Hidden roles: this binary as guardian, as a workload's process, as hogs.

use crate::catalogue::catalogue;
use crate::surroundings;
use std::ffi::OsString;

/// Serves a role if the first argument names one; the result is the exit status.
pub(crate) fn serve(arguments: &[OsString]) -> Option<u8> {
    let role = arguments.get(1)?.to_str()?;
    let status = match role {
        executor::LOAD_ROLE => executor::serve_load(&catalogue(), &sys::Machine::host("")),
        executor::BACKGROUND_ROLE => executor::serve_background(),
        executor::GUARDIAN_ROLE => guardian(arguments.get(2..).unwrap_or_default()),
        _ => return None,
    };
    Some(u8::try_from(status).unwrap_or(1))
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
