//! The command line: assembles the one catalogue and hands it down.
//!
//! Only this crate reads the environment, prints and decides exit codes.

mod catalogue;
mod cli;
mod commands;
mod exit;
mod output;
mod progress;
mod roles;
mod surroundings;

pub use catalogue::catalogue;
pub use cli::command;
pub use exit::{EXIT_CODES, ExitCode};

/// Runs the program; the result is its exit status.
pub fn run(arguments: Vec<std::ffi::OsString>) -> u8 {
    if let Some(status) = roles::serve(&arguments) {
        return status;
    }
    commands::run(arguments).number()
}
