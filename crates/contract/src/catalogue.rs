//! The one catalogue, assembled by the binary and handed down.

use crate::{Factor, Probe, Workload};

/// Everything that can be named in an experiment.
#[derive(Clone, Copy)]
pub struct Catalogue {
    /// What can run.
    pub workloads: &'static [&'static dyn Workload],
    /// What can be set.
    pub factors: &'static [&'static dyn Factor],
    /// What can be observed.
    pub probes: &'static [&'static dyn Probe],
}

impl Catalogue {
    /// A workload by id.
    pub fn workload(&self, id: &str) -> Option<&'static dyn Workload> {
        self.workloads.iter().copied().find(|workload| workload.describe().id == id)
    }

    /// A factor by id.
    pub fn factor(&self, id: &str) -> Option<&'static dyn Factor> {
        self.factors.iter().copied().find(|factor| factor.describe().id == id)
    }

    /// A probe by id.
    pub fn probe(&self, id: &str) -> Option<&'static dyn Probe> {
        self.probes.iter().copied().find(|probe| probe.describe().id == id)
    }
}

/// Declares the modules of a room and lists their entries:
/// `catalog!(dyn Factor: base_slice, migration_cost);` makes each file a module
/// and `ENTRIES` the list of their `Entry`s.
#[macro_export]
macro_rules! catalog {
    (dyn $trait:path: $($module:ident),* $(,)?) => {
        $(mod $module;)*

        /// Every entry of this room.
        pub static ENTRIES: &[&dyn $trait] = &[$(&$module::Entry),*];
    };
}
