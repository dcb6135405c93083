//! What a trial met that decides something. Records store it as caveats, which are data there:
//! this is the one place that reads them. A finding's caveats decide nothing.

use model::{Caveat, CaveatCode, Doubt, Imported, Plan, Question, Record, UnlikeMix};
use std::collections::BTreeSet;

/// What the record says of the emulated processor that ran it.
pub(crate) fn emulation(record: &Record) -> Option<&Caveat> {
    caveat_of(record, CaveatCode::Tcg)
}

/// Whether a probe that acts on every event was attached.
pub(crate) fn is_observed(record: &Record) -> bool {
    caveat_of(record, CaveatCode::ObserverCost).is_some()
}

/// Whether the campaign went on with that record, after an interruption.
pub(crate) fn is_resumed(record: &Record) -> bool {
    caveat_of(record, CaveatCode::Interrupted).is_some()
}

fn caveat_of(record: &Record, code: CaveatCode) -> Option<&Caveat> {
    record.caveats.iter().find(|caveat| caveat.code == code)
}

/// Whether it is known in which order the subjects of a block ran. Records of an import have places
/// whether it is known or not.
pub(crate) fn is_order_known(plan: &Plan) -> bool {
    plan.imported.as_ref().is_none_or(Imported::has_ordered_blocks)
}

/// What an import says of an order that was not randomised.
pub(crate) fn fixed_order(plan: &Plan) -> Vec<String> {
    let of_import = plan.imported.iter().flat_map(|imported| &imported.caveats);
    let in_order = of_import.filter(|caveat| caveat.code == CaveatCode::OrderConfounded);
    in_order.map(|caveat| caveat.detail.clone()).collect()
}

/// Columns of an import that count as executions and may tell parts of one apart.
pub(crate) fn parts(plan: &Plan) -> Vec<String> {
    plan.imported.iter().flat_map(|imported| &imported.parts).cloned().collect()
}

/// Those of these subjects of which an import says that values stand twice.
pub(crate) fn copied(plan: &Plan, question: &Question) -> Vec<String> {
    let Some(imported) = &plan.imported else { return Vec::new() };
    if imported.caveats.iter().all(|caveat| caveat.code != CaveatCode::Copied) {
        return Vec::new();
    }
    let both = [&question.reference, &question.subject].into_iter();
    // Imports of earlier versions do not say of which.
    let is_copied =
        |subject: &&String| imported.copied.is_empty() || imported.copied.contains(subject);
    both.filter(is_copied).cloned().collect()
}

/// What an import says of unlike shares that these two subjects hold of rows of different kinds.
pub(crate) fn unlike_mix(plan: &Plan, question: &Question) -> Option<String> {
    let both = [&question.reference, &question.subject];
    let is_of_both = |mix: &UnlikeMix| {
        mix.subjects.is_empty() || both.iter().all(|id| mix.subjects.contains(*id))
    };
    let mut mixes = plan.imported.iter().flat_map(|imported| &imported.mixes);
    let found = mixes.find(|mix| mix.metric == question.metric && is_of_both(mix));
    found.map(|mix| mix.told.clone())
}

/// What an import says of how its numbers came about that is not sure.
pub(crate) fn doubts(plan: &Plan) -> Vec<Doubt> {
    let doubt = |caveat: &Caveat| match caveat.code {
        CaveatCode::SettingsDiffer => Some(Doubt::UnlikeSettings),
        CaveatCode::ReplicateLevelUnknown => Some(Doubt::UnknownReplicates),
        _ => None,
    };
    let of_import = plan.imported.iter().flat_map(|imported| &imported.caveats);
    let each: BTreeSet<Doubt> = of_import.filter_map(doubt).collect();
    each.into_iter().collect()
}
