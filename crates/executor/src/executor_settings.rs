//! What an executor is told when it is opened.

use contract::TrialCatalogue;
use std::path::PathBuf;
use std::time::Duration;
use sys::Machine;

/// What an executor is told about its surroundings.
#[derive(Clone)]
pub struct ExecutorSettings {
    /// The machine under test.
    pub machine: Machine,
    /// Everything that its trials can name.
    pub catalogue: TrialCatalogue,
    /// This binary, to be executed again in its roles.
    pub executable: PathBuf,
    /// How the guardian is told which machine: words of this binary's command line.
    pub machine_arguments: Vec<String>,
    /// Directory of logs.
    pub logs: PathBuf,
    /// Directory for workloads' files; made, and removed again.
    pub scratch: PathBuf,
    /// What is running, for the message to a process that finds the lock taken.
    pub purpose: String,
    /// A trial is invalid where something stood still for longer.
    pub longest_standstill: Duration,
}
