//! Names of parameters by which other code than their own workload finds them.
//!
//! A workload declares such a parameter by the constant, so that no code which looks for it is
//! left behind where it gets another name. What is stored keeps the name of its time: code that
//! reads stored campaigns then looks for both.

/// How long a load goes on, which `--quick` halves: what [`crate::Key::length`] declares.
pub const LENGTH: &str = "duration";

/// The program of a workload that runs any, with its arguments.
pub const COMMAND_LINE: &str = "run";
/// The program of a workload that serves, with its arguments.
pub const SERVICE_COMMAND_LINE: &str = "start";
/// The program that sends the load of such a workload in its stead, with its arguments.
pub const GENERATOR_COMMAND_LINE: &str = "drive";
/// All of these: what a user tells to be started.
pub const COMMAND_LINES: [&str; 3] = [COMMAND_LINE, SERVICE_COMMAND_LINE, GENERATOR_COMMAND_LINE];
/// The directory that a program of the user's runs in.
pub const DIRECTORY: &str = "directory";
/// A file of the user's that says what a program does.
pub const JOB_FILE: &str = "job_file";

/// Tables that say how figures are picked from what a program prints.
pub const PICKED: &str = "metrics";
/// In such a table: the pattern that finds a figure.
pub const REGEX: &str = "regex";
/// In such a table: the pointer to a figure in JSON.
pub const JSON: &str = "json";
/// In such a table: the column of a figure.
pub const CSV: &str = "csv";
/// In such a table: all that say where a figure is found.
pub const PICKS: [&str; 3] = [CSV, JSON, REGEX];
