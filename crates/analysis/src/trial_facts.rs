//! What a trial met, or an import says, that decides something. Records and plans store it as
//! caveats, which are data there: this is the one place that decides by them, and elsewhere they are
//! only passed on. A finding's caveats decide nothing.

use crate::rulebook::Unchosen;
use model::{
    Caveat, CaveatCode, DEFAULT_ALPHA, Doubt, Imported, ImportedDesign, Metric, Plan, Question,
    Record, UnlikeMix,
};
use stats::ln;
use std::borrow::Cow;
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

/// What an import says of evidence that is not as it was written, on which its numbers rest. Its
/// findings have that caveat already.
pub(crate) fn changed_evidence(plan: &Plan) -> Option<&Caveat> {
    let mut caveats = plan.imported.iter().flat_map(|imported| &imported.caveats);
    caveats.find(|caveat| caveat.code == CaveatCode::EvidenceChanged)
}

/// Whether it is known in which order the subjects of a block ran. Records of an import have places
/// whether it is known or not.
pub(crate) fn is_order_known(plan: &Plan) -> bool {
    plan.imported.as_ref().is_none_or(Imported::has_ordered_blocks)
}

/// What is said of imported blocks of which nothing tells the order, and what would.
const UNKNOWN_ORDER: &str = "the order in which the subjects of a block ran is not known: their rows lie in several files, whose times are not compared with each other, or apart from each other without a column of times, or an earlier version imported them; one file of all rows with a column of times, or of the sequence of the runs (--order), tells it";

/// What an import says of an order that was not randomised, or that its blocks have none that is known:
/// of such an order no test can show that it is not the difference.
pub(crate) fn fixed_order(plan: &Plan) -> Vec<String> {
    let Some(imported) = &plan.imported else { return Vec::new() };
    let in_order =
        imported.caveats.iter().filter(|caveat| caveat.code == CaveatCode::OrderConfounded);
    let mut told: Vec<String> = in_order.map(|caveat| caveat.detail.clone()).collect();
    let is_unknown = imported.design == ImportedDesign::Blocked && imported.order.is_unknown();
    if told.is_empty() && is_unknown {
        told.push(UNKNOWN_ORDER.to_owned());
    }
    told
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

/// What an import says of how its numbers came about that is not sure, for a metric; `lacks_runs` where
/// runs of one subject are absent.
pub(crate) fn doubts(plan: &Plan, metric: &str, lacks_runs: bool) -> Vec<Doubt> {
    let doubt = |caveat: &Caveat| match caveat.code {
        CaveatCode::SettingsDiffer => Some(Doubt::UnlikeSettings),
        CaveatCode::ReplicateLevelUnknown => Some(Doubt::UnknownReplicates),
        _ => None,
    };
    let of_import = plan.imported.iter().flat_map(|imported| &imported.caveats);
    let mut turned = plan.imported.iter().flat_map(|imported| &imported.given.turned);
    let of_direction = turned.any(|id| id == metric).then_some(Doubt::TurnedDirection);
    let of_runs = lacks_runs.then_some(Doubt::AbsentRuns);
    let of_question = of_direction.into_iter().chain(of_runs);
    let each: BTreeSet<Doubt> = of_import.filter_map(doubt).chain(of_question).collect();
    each.into_iter().collect()
}

/// Whether the order of an import's rows was chosen together with its numbers, and is one that
/// neither times nor the file support.
pub(crate) fn is_order_chosen(plan: &Plan) -> bool {
    plan.imported.as_ref().is_some_and(|imported| imported.given.is_order_chosen)
}

/// The margin and the level that a question of an import has without a choice, where another of
/// either was given together with its numbers. `alpha` is the level that it is judged at.
pub(crate) fn unchosen(plan: &Plan, metric: &Metric, alpha: f64) -> Option<Unchosen> {
    let imported = plan.imported.as_ref()?;
    let usual = imported.given.usual_margins.get(&metric.id).copied();
    (usual.is_some() || alpha != DEFAULT_ALPHA)
        .then(|| Unchosen { theta: ln(1.0 + usual.unwrap_or(metric.margin)), alpha: DEFAULT_ALPHA })
}

/// The largest error rate at which gates decide: the default one, where a larger one was given
/// together with imported numbers. None where nothing bounds it.
pub(crate) fn strictest_alpha(plan: &Plan) -> Option<f64> {
    (plan.imported.is_some() && plan.alpha > DEFAULT_ALPHA).then_some(DEFAULT_ALPHA)
}

/// The plan at that level.
pub(crate) fn at_strictest_level(plan: &Plan) -> Cow<'_, Plan> {
    match strictest_alpha(plan) {
        Some(alpha) => Cow::Owned(Plan { alpha, ..plan.clone() }),
        None => Cow::Borrowed(plan),
    }
}
