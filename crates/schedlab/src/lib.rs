//! The command line: assembles the one catalogue and hands it down.
//!
//! Only this crate reads the environment, prints and decides exit codes.

mod browser;
mod catalogue;
mod cli;
mod commands;
mod dashboard;
mod exit;
mod known_schedulers;
mod observer;
mod output;
mod progress;
mod roles;
mod screen;
mod surroundings;
mod terminal;

pub use catalogue::catalogue;
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

/// Runs the program of a guest; the result is its exit status.
pub fn run_agent(arguments: &[std::ffi::OsString]) -> u8 {
    roles::serve(arguments).unwrap_or_else(|| roles::serve_guest(arguments))
}

/// Runs the program; the result is its exit status.
pub fn run(arguments: Vec<std::ffi::OsString>) -> u8 {
    if let Some(status) = roles::serve(&arguments) {
        return status;
    }
    commands::run(arguments).number()
}
