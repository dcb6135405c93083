//! What venues are told of the command line.

use crate::cli::Common;
use crate::environment::{agent, cache_directory, log_filter, search_path};
use contract::{Result, TrialCatalogue, VenueContext};
use model::StorageTarget;
use std::path::PathBuf;
use sys::Machine;

impl VenueContext for Common {
    fn machine(&self) -> Result<Machine> {
        super::machine(self)
    }

    fn files_target(&self, machine: &Machine) -> StorageTarget {
        super::files_target(self, machine)
    }

    fn machine_arguments(&self, machine: &Machine) -> Vec<String> {
        assembly::machine_arguments(machine)
    }

    fn catalogue(&self) -> TrialCatalogue {
        crate::catalogue().trials
    }

    fn executable(&self) -> PathBuf {
        assembly::executable()
    }

    fn agent(&self) -> PathBuf {
        agent()
    }

    fn cache(&self) -> Result<PathBuf> {
        cache_directory(self.cache.as_deref())
    }

    fn search_path(&self) -> String {
        search_path()
    }

    fn log_filter(&self) -> Option<String> {
        log_filter()
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
