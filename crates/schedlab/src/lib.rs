//! The command line: hands the one catalogue down.
//!
//! Only this crate reads the environment, prints and decides exit codes.

mod browser;
mod cli;
mod commands;
mod dashboard;
mod environment;
mod exit;
mod known_schedulers;
mod output;
#[cfg(any(feature = "server", feature = "top"))]
mod priority;
mod progress;
mod reader_time;
#[cfg(feature = "top")]
mod screen;
mod temporary;
mod terminal;
mod trusted_cache;
#[cfg(feature = "server")]
mod unprivileged;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use assembly::catalogue;
pub use cli::command;
pub use exit::{EXIT_CODES, ExitCode};

/// How reports are written, for the manual.
pub fn report_formats() -> impl Iterator<Item = &'static contract::Description> {
    commands::report_formats()
}

/// Shows the types of the history over campaigns to what declares them for the front end.
#[cfg(feature = "typescript")]
pub fn visit_history(visitor: &mut impl ts_rs::TypeVisitor) {
    commands::visit_history(visitor);
}

/// Runs the program; the result is its exit status.
pub fn run(arguments: Vec<std::ffi::OsString>) -> u8 {
    let start_log =
        || environment::log_filter().map_or(Ok(()), |filter| assembly::start_log(&filter));
    if let Err(error) = outlive_largest_file().and_then(|()| start_log()) {
        output::tell_lines(&format!("schedlab: {error}"));
        return ExitCode::from(&error).number();
    }
    assembly::serve_role_or(&arguments, environment::wants_backtrace(), || {
        commands::dispatch(&arguments).number()
    })
}

/// Lets a write beyond the largest size of a file (`ulimit -f`) fail as one on a full disk does. The
/// signal that comes before it would end what puts things back, and the guardian too. It is caught
/// and not ignored: programs that are started have its default again.
fn outlive_largest_file() -> contract::Result<()> {
    let flag = Arc::new(AtomicBool::new(false));
    match signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag) {
        Ok(_) => Ok(()),
        Err(error) => Err(contract::Error::environment("cannot catch SIGXFSZ", error)),
    }
}
