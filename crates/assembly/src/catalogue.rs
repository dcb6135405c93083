//! The one catalogue, from all rooms.

use contract::{Catalogue, Factor, TrialCatalogue, Workload};
use std::sync::OnceLock;

/// Everything that can be named in an experiment.
#[must_use]
pub fn catalogue() -> Catalogue {
    Catalogue { trials: trial_catalogue(), venues: venues::ENTRIES }
}

/// What a trial is made of: all but venues. A process that runs one needs no way to open another
/// venue, and the program that goes into guests stays without QEMU and archives.
#[must_use]
pub fn trial_catalogue() -> TrialCatalogue {
    static FACTORS: OnceLock<Vec<&'static dyn Factor>> = OnceLock::new();
    let factors = FACTORS.get_or_init(|| {
        let simulated: &'static dyn Factor = &venues::SimEffect;
        let held: [&'static dyn Factor; 2] = [&storage::Entry, &schedulers::Entry];
        let boot: [&'static dyn Factor; 3] =
            [&venues::KernelFactor, &venues::CommandLine, &venues::Vcpus];
        let tunables = tunables::ENTRIES.iter().copied();
        tunables.chain(held).chain(boot).chain([simulated]).collect()
    });
    TrialCatalogue { workloads: workloads(), factors, probes: probes::ENTRIES }
}

/// Every workload, in the order of the catalogue's page.
fn workloads() -> &'static [&'static dyn Workload] {
    static WORKLOADS: OnceLock<Vec<&'static dyn Workload>> = OnceLock::new();
    WORKLOADS.get_or_init(|| {
        let rooms = [
            cpu_workloads::ENTRIES,
            net_workloads::ENTRIES,
            service_workloads::ENTRIES,
            io_workloads::ENTRIES,
            tool_workloads::ENTRIES,
        ];
        rooms.concat()
    })
}
