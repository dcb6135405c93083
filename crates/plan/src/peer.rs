//! The second guest that can be a workload's far side.

use crate::document::Place;
use crate::problems::Problems;
use crate::settings::Settings;
use crate::workloads::Planned;

/// Reports where the experiment's machines cannot have one beside them.
pub(crate) fn check(workload: &str, place: &Place, settings: &Settings, problems: &mut Problems) {
    let vm = &settings.vm;
    let (why, hint) = match settings.venue.as_str() {
        "vm" if vm.is_from_snapshot => {
            ("a second guest has no part in the state that `snapshot` saves", "remove `snapshot`")
        }
        "vm" if vm.is_deterministic => (
            "`deterministic` lets nothing reach a guest, a second one neither",
            "remove `deterministic`",
        ),
        "vm" => return,
        _ => (
            "its far side is a second guest, which only the venue `vm` has",
            "write venue = \"vm\" and a kernel",
        ),
    };
    problems.report(place, format!("`{workload}`: {why}")).hint(hint);
}

/// Whether any of them has one.
pub(crate) fn is_needed(workloads: &[Planned]) -> bool {
    workloads
        .iter()
        .any(|one| one.plan.all_parameters().any(|parameters| one.entry.needs_peer(parameters)))
}
