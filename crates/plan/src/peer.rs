//! What a workload has beside its guest: a second guest as its far side, or load from the host.

use crate::document::SourceLocation;
use crate::problems::Problems;
use crate::settings::ExperimentSettings;
use crate::workloads::Planned;

/// Reports where the experiment's machines cannot have one beside them.
pub(crate) fn check(
    workload: &str,
    place: &SourceLocation,
    settings: &ExperimentSettings,
    problems: &mut Problems,
) {
    if settings.venue == "vm" {
        return check_reachable(workload, "a second guest", place, settings, problems);
    }
    let why = "its far side is a second guest, which only the venue `vm` has";
    let hint = "write venue = \"vm\" and a kernel";
    problems.report(place, format!("`{workload}`: {why}")).hint(hint);
}

/// Reports where nothing can reach the experiment's guests, and this neither.
pub(crate) fn check_reachable(
    workload: &str,
    what: &str,
    place: &SourceLocation,
    settings: &ExperimentSettings,
    problems: &mut Problems,
) {
    let vm = &settings.vm;
    let (why, hint) = match settings.venue.as_str() {
        "vm" if vm.is_from_snapshot => {
            (format!("{what} has no part in the state that `snapshot` saves"), "remove `snapshot`")
        }
        "vm" if vm.is_deterministic => (
            format!("`deterministic` lets nothing reach a guest, {what} neither"),
            "remove `deterministic`",
        ),
        _ => return,
    };
    problems.report(place, format!("`{workload}`: {why}")).hint(hint);
}

/// Whether any of them has one.
pub(crate) fn is_needed(workloads: &[Planned]) -> bool {
    workloads.iter().any(|one| one.needs_peer)
}
