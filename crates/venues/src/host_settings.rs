//! What a venue is told about its surroundings.

use contract::{TrialCatalogue, VenueContext};
use std::path::PathBuf;
use sys::Machine;

/// What the host venue is told about its surroundings.
#[derive(Clone)]
pub struct HostSettings {
    /// The machine.
    pub machine: Machine,
    /// Everything that its trials can name.
    pub catalogue: TrialCatalogue,
    /// This binary.
    pub executable: PathBuf,
    /// How the guardian is told which machine.
    pub machine_arguments: Vec<String>,
}

impl HostSettings {
    /// What the command line knows, of that machine.
    pub(crate) fn of(context: &dyn VenueContext, machine: Machine) -> Self {
        Self {
            machine_arguments: context.machine_arguments(&machine),
            machine,
            catalogue: context.catalogue(),
            executable: context.executable(),
        }
    }
}
