//! What a trial met, or an importer established, that decides something: typed facts of records and
//! plans, and nothing else. Caveats beside them are passed on as data; they decide nothing, and
//! neither do a finding's.

use crate::rulebook::Unchosen;
use model::{
    Caveat, DEFAULT_ALPHA, Doubt, ImportFact, Imported, ImportedDesign, Metric, Plan, Question,
    Record, TrialFact, UnlikeMix,
};
use stats::ln;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Whether an emulated processor ran it.
pub(crate) fn is_emulated(record: &Record) -> bool {
    record.facts.contain(&TrialFact::Emulated)
}

/// Whether a probe that acts on every event was attached.
pub(crate) fn is_observed(record: &Record) -> bool {
    record.facts.contain(&TrialFact::Observed)
}

/// Whether the campaign went on with that record, after an interruption.
pub(crate) fn is_resumed(record: &Record) -> bool {
    record.facts.contain(&TrialFact::Resumed)
}

/// What is told of an emulated processor that ran it; none where no such one did.
pub(crate) fn emulation(record: &Record) -> Option<Caveat> {
    record.caveat_of(TrialFact::Emulated, "an emulated processor")
}

/// The facts that an import established.
fn import_facts(plan: &Plan) -> impl Iterator<Item = &ImportFact> {
    plan.imported.iter().flat_map(|imported| imported.facts.iter())
}

/// What an import says of evidence that is not as it was written, on which its numbers rest. Its
/// findings have a caveat of it already.
pub(crate) fn changed_evidence(plan: &Plan) -> Option<&str> {
    import_facts(plan).find_map(|fact| match fact {
        ImportFact::ChangedEvidence { told } => Some(told.as_str()),
        _ => None,
    })
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
    let in_order = imported.facts.iter().filter_map(|fact| match fact {
        ImportFact::FixedOrder { told } => Some(told.clone()),
        _ => None,
    });
    let mut told: Vec<String> = in_order.collect();
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
    if !imported.facts.contain(&ImportFact::CopiedValues) {
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
    let doubt = |fact: &ImportFact| match fact {
        ImportFact::UnlikeSettings => Some(Doubt::UnlikeSettings),
        ImportFact::UnknownReplicates => Some(Doubt::UnknownReplicates),
        _ => None,
    };
    let mut turned = plan.imported.iter().flat_map(|imported| &imported.given.turned);
    let of_direction = turned.any(|id| id == metric).then_some(Doubt::TurnedDirection);
    let of_runs = lacks_runs.then_some(Doubt::AbsentRuns);
    let of_question = of_direction.into_iter().chain(of_runs);
    let each: BTreeSet<Doubt> = import_facts(plan).filter_map(doubt).chain(of_question).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record};
    use crate::{GateLimit, gate, judge, withhold};
    use model::{
        DecidingFact, DecidingFacts, Direction, Histogram, ImportedOrder, NumberOrigin, Reduction,
        Sample,
    };

    /// Ten replicates of `a` and of `b`, which takes a fifth less, in turns.
    fn campaign(imported: Option<Imported>) -> (Plan, Vec<Record>) {
        let metrics = vec![
            metric("m", Direction::Lower, Reduction::Mean),
            metric("p50", Direction::Lower, Reduction::Quantile(0.5)),
        ];
        let is_blocked =
            imported.as_ref().is_none_or(|from| from.design == ImportedDesign::Blocked);
        let venue = if imported.is_some() { "import" } else { "host" }.to_owned();
        let blocks = if is_blocked { 10 } else { 0 };
        let mut plan = Plan { imported, venue, ..plan(&["a", "b"], metrics, blocks) };
        plan.workloads[0].primary = ["m", "p50"].map(str::to_owned).into();
        let one = |row: u32| {
            let (subject, replicate) = ((row + row / 2) % 2, row / 2);
            let wobble = 1.0 + 0.006 * (f64::from((row * 7) % 5) - 2.0);
            let value = 100.0 * wobble * (1.0 - 0.2 * f64::from(subject));
            let mut histogram = Histogram::new();
            histogram.record_many((100.0 * value) as u64, 1_000);
            let samples =
                vec![Sample::values("m", vec![value]), Sample::histogram("p50", histogram)];
            let mut one = record(replicate, ["a", "b"][subject as usize], "w", vec![samples]);
            one.position = row % 2;
            one.sequence = u64::from(row);
            one
        };
        (plan, (0..20).map(one).collect())
    }

    /// Verdicts with all that caps them, gates, and where the numbers come from.
    fn decided(plan: &Plan, records: &[Record]) -> Vec<String> {
        let mut findings = judge(plan, records);
        withhold(&mut findings, plan, &[]);
        let limits = ["m", "p50"].map(|metric| GateLimit {
            workload: String::new(),
            metric: metric.to_owned(),
            fraction: 0.03,
        });
        let of_gates = gate(&findings, &limits).unwrap();
        let of_gates =
            of_gates.iter().map(|one| format!("{:?} {:?} {}", one.outcome, one.p, one.reason));
        let of_findings = findings.findings.iter().map(|one| {
            let caps = (one.obstacle, &one.further_obstacles, &one.doubts);
            let flags = [one.is_emulated, one.is_order_fixed];
            format!("{:?} {:?} {:?} {caps:?} {flags:?}", one.verdict, one.strength, one.reason)
        });
        let is_unbound = plan.imported.as_ref().is_some_and(Imported::is_unbound);
        let origin = format!("{:?} {is_unbound}", NumberOrigin::of(plan, Some(&findings)));
        of_findings.chain(of_gates).chain([origin]).collect()
    }

    #[test]
    fn a_fact_of_trials_decides_the_same_without_its_caveat_and_the_caveat_alone_decides_nothing() {
        let rows = fixtures::imported(ImportedDesign::Blocked, ImportedOrder::Rows);
        for (fact, imported) in [
            (TrialFact::Emulated, None),
            (TrialFact::Observed, None),
            (TrialFact::Emulated, Some(rows)),
            (TrialFact::Emulated, Some(unblocked())),
        ] {
            let (plan, mut records) = campaign(imported);
            let before = decided(&plan, &records);
            records.iter_mut().for_each(|one| one.note_fact(fact, "told"));
            let told = decided(&plan, &records);
            assert_ne!(told, before, "{fact:?}");
            let mut untold = records.clone();
            untold.iter_mut().for_each(|one| one.caveats.clear());
            assert_eq!(decided(&plan, &untold), told, "{fact:?}");
            records.iter_mut().for_each(|one| one.facts = DecidingFacts::default());
            assert_eq!(decided(&plan, &records), before, "{fact:?}");
        }
    }

    fn unblocked() -> Imported {
        let design = ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
        fixtures::imported(design, ImportedOrder::Rows)
    }

    #[test]
    fn a_fact_of_an_import_decides_the_same_without_its_caveat_and_the_caveat_alone_nothing() {
        let told = || "told".to_owned();
        let of = |imported: &Imported| {
            let (plan, records) = campaign(Some(imported.clone()));
            decided(&plan, &records)
        };
        for fact in [
            ImportFact::Simulated,
            ImportFact::ChangedEvidence { told: told() },
            ImportFact::UnboundEvidence,
            ImportFact::FixedOrder { told: told() },
            ImportFact::CopiedValues,
            ImportFact::UnlikeSettings,
            ImportFact::UnknownReplicates,
        ] {
            let blocked = fixtures::imported(ImportedDesign::Blocked, ImportedOrder::Rows);
            for mut imported in [blocked, unblocked()] {
                let before = of(&imported);
                imported.caveats.push(Caveat::new(fact.caveat_code(), "told"));
                assert_eq!(of(&imported), before, "{fact:?}");
                imported.facts.establish(fact.clone());
                let with_fact = of(&imported);
                // Only blocks have one order.
                let is_asked = imported.design == ImportedDesign::Blocked
                    || !matches!(fact, ImportFact::FixedOrder { .. });
                assert_eq!(with_fact != before, is_asked, "{fact:?}");
                imported.caveats.clear();
                assert_eq!(of(&imported), with_fact, "{fact:?}");
            }
        }
    }
}
