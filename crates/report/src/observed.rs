//! What the records of a campaign show of the steps that a report speaks of.
//!
//! A sentence that states a step rests on one of these, and each names the field that it reads.
//! Where the field is not there the step was *not observed*, whatever the program does.

use crate::view::Report;
use model::{
    Binding, Disturbance, Finding, Imported, ImportedDesign, ImportedOrder, Invocation, Outcome,
    Plan, Question, Record, Role, Verdict,
};
use phrases::noted;
use std::collections::{BTreeMap, BTreeSet};

/// Fewest replicates of which each test of order and drift can find what it looks for
/// (docs/method.md#m-warnings): neighbours that resemble each other (`AUTOCORR`) in six, a drift
/// in five, an effect of the order in four.
pub(crate) const LEAST_TESTED: usize = 6;
/// So many blocks of two subjects or more in one and the same order were not drawn by lot; fewer
/// show neither.
pub(crate) const LEAST_ORDERS: usize = 6;

/// Where the numbers of a report come from, as far as it decides which steps of a run may be stated
/// of them: who ran it, and in which design. What processor it was is no part of that, and so neither
/// this nor [`model::NumberOrigin`] is made of the other; both have it of the plan that numbers were
/// simulated ([`Plan::has_simulated_numbers`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Trials ran, on this machine or in guests.
    Ran,
    /// The simulator made them up.
    Simulated,
    /// They are numbers of others, who told so many replicates by blocks; whether others simulated
    /// them is no part of it.
    ImportedBlocks,
    /// They are numbers of others, without blocks.
    ImportedRows,
}

impl Provenance {
    /// `design.imported` of an import, else `is_simulated` of a simulation. Of an import nobody knows
    /// here how it was simulated.
    pub(crate) fn of(report: &Report) -> Self {
        Self::of_parts(report.is_simulated, report.design.imported.as_ref())
    }

    /// The origin of a plan's numbers.
    pub fn of_plan(plan: &Plan) -> Self {
        Self::of_parts(plan.has_simulated_numbers(), plan.imported.as_ref())
    }

    fn of_parts(is_simulated: bool, imported: Option<&Imported>) -> Self {
        match imported.map(|imported| &imported.design) {
            Some(ImportedDesign::Unblocked { .. }) => Self::ImportedRows,
            Some(ImportedDesign::Blocked) => Self::ImportedBlocks,
            None if is_simulated => Self::Simulated,
            None => Self::Ran,
        }
    }

    /// Whether they are numbers of others.
    pub(crate) fn is_imported(self) -> bool {
        matches!(self, Self::ImportedBlocks | Self::ImportedRows)
    }
}

/// In how many of so many places something was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub seen: usize,
    pub of: usize,
}

impl Extent {
    fn of<T>(places: impl Iterator<Item = T>, is_seen: impl Fn(&T) -> bool) -> Self {
        places.fold(Self { seen: 0, of: 0 }, |extent, place| Self {
            seen: extent.seen + usize::from(is_seen(&place)),
            of: extent.of + 1,
        })
    }

    /// Whether a sentence about it speaks of one: `1 of 5 runs`, `0 of 1 run`.
    pub(crate) fn is_about_one(self) -> bool {
        self.seen == 1 || self.of == 1
    }

    /// Whether it was seen everywhere, and there was somewhere to look.
    pub(crate) fn is_all(self) -> bool {
        self.of > 0 && self.seen == self.of
    }
}

fn completed(report: &Report) -> impl Iterator<Item = &Record> {
    report.records.iter().filter(|record| record.outcome == Outcome::Completed)
}

/// Completed trials in whose record every level of their subject was read before and after the run
/// (`records.levels`). A simulator reads nothing back.
pub(crate) fn levels_read(report: &Report) -> Extent {
    let has_run = Provenance::of(report) == Provenance::Ran;
    Extent::of(completed(report), |record| {
        let subject = report.subjects.iter().find(|one| one.id == record.subject);
        has_run
            && subject.is_some_and(|subject| {
                subject.levels.keys().all(|factor| record.levels.contains_key(factor))
            })
    })
}

/// Completed trials in whose record a level was read, before, during or after the run, that is not
/// their subject's (`records.levels`). The executor lets no such trial complete: it asks the same text
/// of each reading.
pub(crate) fn other_levels(report: &Report) -> Extent {
    Extent::of(completed(report), |record| {
        let subject = report.subjects.iter().find(|one| one.id == record.subject);
        subject.is_some_and(|subject| {
            record.levels.iter().any(|(factor, reading)| {
                let mut read = [&reading.before, &reading.after].into_iter().chain(&reading.during);
                read.any(|level| subject.levels.get(factor) != Some(level))
            })
        })
    })
}

/// Invocations of completed trials whose disturbance show this
/// (`records.invocations.disturbance`).
pub(crate) fn disturbance(report: &Report, is_shown: fn(&Disturbance) -> bool) -> Extent {
    let invocations = completed(report).flat_map(|record| &record.invocations);
    Extent::of(invocations, |one| one.disturbance.as_deref().is_some_and(is_shown))
}

/// Invocations of completed trials that had so much of something that it is a warning, and the most
/// of it (`records.invocations.disturbance`).
pub(crate) fn disturbed(
    report: &Report,
    noticeable: fn(&Disturbance) -> Option<f64>,
) -> (Extent, f64) {
    let invocations = completed(report).flat_map(|record| &record.invocations);
    let amount = |one: &Invocation| one.disturbance.as_deref().and_then(noticeable);
    let amounts: Vec<Option<f64>> = invocations.map(amount).collect();
    let most = amounts.iter().copied().flatten().fold(0.0, f64::max);
    (Extent::of(amounts.into_iter(), Option::is_some), most)
}

/// What the records of each block tell, which come in their order; by block. An import has hundreds
/// of thousands of blocks, of which nothing else is held.
fn of_blocks<'r, T>(report: &'r Report, told: impl Fn(&[&'r Record]) -> T) -> Vec<T> {
    let mut records: Vec<&Record> = report.records.iter().collect();
    records.sort_by_key(|record| record.block);
    records.chunk_by(|one, other| one.block == other.block).map(told).collect()
}

/// The subjects of each block in the order in which they ran, and whether each has a place of its
/// own (`records.position`); of a trial that ran again the last one counts.
fn orders(report: &Report) -> Vec<(Vec<&str>, bool)> {
    of_blocks(report, |of_block| {
        let places = of_block.iter().map(|record| (record.subject.as_str(), record.position));
        order(places.collect())
    })
}

fn order(places: BTreeMap<&str, u32>) -> (Vec<&str>, bool) {
    let distinct: BTreeSet<u32> = places.values().copied().collect();
    let is_whole = distinct.len() == places.len();
    let mut order: Vec<(u32, &str)> = places.into_iter().map(|(id, at)| (at, id)).collect();
    order.sort_unstable();
    (order.into_iter().map(|(_, id)| id).collect(), is_whole)
}

/// Blocks whose records give each subject a place of its own (`records.position`).
pub(crate) fn places(report: &Report) -> Extent {
    Extent::of(orders(report).into_iter(), |(_, is_whole)| *is_whole)
}

/// Whether each block is whole: it holds a completed trial for each of its workloads of every
/// subject that this one runs for (`records.outcome`); of a trial that ran again the last one counts.
fn wholeness(report: &Report) -> Vec<bool> {
    of_blocks(report, |of_block| {
        let mut trials: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        for record in of_block {
            let is_completed = record.outcome == Outcome::Completed;
            trials.insert((record.subject.as_str(), record.workload.as_str()), is_completed);
        }
        let workloads: BTreeSet<&str> = trials.keys().map(|(_, workload)| *workload).collect();
        report.subjects.iter().all(|subject| {
            let mut own =
                workloads.iter().filter(|workload| report.runs_for(workload, &subject.id));
            own.all(|workload| trials.get(&(subject.id.as_str(), *workload)) == Some(&true))
        })
    })
}

/// Blocks that hold a completed trial of every subject (`records.outcome`).
pub(crate) fn whole_blocks(report: &Report) -> Extent {
    Extent::of(wholeness(report).into_iter(), |is_whole| *is_whole)
}

/// Whether the records show blocks as slots of time in which each subject ran once, in more than
/// one order: nobody else measured (`design.imported`), each subject of a block has a place of its
/// own, and not all of six whole blocks or more have one order (`records.position`).
pub(crate) fn has_varied_order(report: &Report) -> bool {
    if Provenance::of(report).is_imported() {
        return false;
    }
    let orders = orders(report);
    let of_whole = orders.iter().zip(wholeness(report)).filter(|(_, is_whole)| *is_whole);
    let whole: Vec<&Vec<&str>> = of_whole.map(|((order, _), _)| order).collect();
    let distinct: BTreeSet<&Vec<&str>> = whole.iter().copied().collect();
    let is_varied = whole.len() >= LEAST_ORDERS && distinct.len() > 1;
    places(report).is_all() && is_varied
}

/// Whether a column of the file that was imported tells in which order its values were measured
/// (`design.imported.order`).
pub(crate) fn tells_order(report: &Report) -> bool {
    let imported = report.design.imported.as_ref();
    imported.is_some_and(|imported| imported.order == ImportedOrder::Column)
}

/// Whether `records.position` tells in which order the subjects of a block were measured; of an
/// import that is the order of its rows, unless a column tells it.
pub(crate) fn places_are_known(report: &Report) -> bool {
    !Provenance::of(report).is_imported() || tells_order(report)
}

/// Whether that may be said of the campaign: nobody edited what shows it.
pub(crate) fn has_drawn_order(report: &Report) -> bool {
    !report.is_evidence_changed() && has_varied_order(report)
}

/// The findings that verdicts are about.
fn judged(report: &Report) -> impl Iterator<Item = &Finding> {
    let all = report.findings.findings.iter();
    all.filter(|finding| finding.question.role == Role::Primary)
}

/// Most blocks of a comparison.
pub(crate) fn most_blocks(report: &Report) -> usize {
    judged(report).map(|finding| finding.blocks.len()).max().unwrap_or(0)
}

/// Whether a comparison has as many replicates as the tests need: its blocks, or the boots that
/// they share, which its degrees of freedom tell.
fn has_replicates(finding: &Finding) -> bool {
    let of_boots = finding.effect.as_ref().map(|effect| effect.degrees + 1.0);
    finding.blocks.len() >= LEAST_TESTED
        && of_boots.is_none_or(|count| count >= LEAST_TESTED as f64)
}

/// Comparisons that were tested for a drift, for an effect of the order and for neighbours that
/// resemble each other (`findings.diagnostics`: `p_trend`, `p_order`, `lag_one`).
pub(crate) fn order_tested(report: &Report) -> Extent {
    Extent::of(judged(report), |finding| {
        let has_tests = |one: &model::Diagnostics| {
            [one.p_trend, one.p_order, one.lag_one].iter().all(Option::is_some)
        };
        has_replicates(finding) && finding.diagnostics.as_ref().is_some_and(has_tests)
    })
}

/// Comparisons that were tested for what a sitting leaves behind for the next
/// (`findings.diagnostics.p_predecessor`).
pub(crate) fn predecessor_tested(report: &Report) -> Extent {
    Extent::of(judged(report), |finding| is_predecessor_tested(finding))
}

fn is_predecessor_tested(finding: &Finding) -> bool {
    finding.diagnostics.as_ref().is_some_and(|one| one.p_predecessor.is_some())
}

/// Whether the records show of any sitting which one came before it in the same boot
/// (`records.sequence`, `records.boot_id`).
pub(crate) fn has_predecessors(report: &Report) -> bool {
    !followed(report).is_empty()
}

/// Block and subject of each sitting of which the records show what came before it in the same boot.
fn followed(report: &Report) -> BTreeSet<(u32, &str)> {
    fn sitting(record: &Record) -> (u32, &str) {
        (record.block, record.subject.as_str())
    }
    let known = report.records.windows(2).filter_map(|two| {
        let [before, after] = [&two[0], &two[1]];
        let is_one_boot = before.boot_id == after.boot_id && !after.boot_id.is_empty();
        let is_known = before.sequence < after.sequence && is_one_boot;
        (is_known && sitting(before) != sitting(after)).then(|| sitting(after))
    });
    known.collect()
}

/// How many blocks show, for both subjects of a comparison, what ran before: the fewest among the
/// comparisons that were not tested for it. `None` where all were tested.
pub(crate) fn followed_by_least(report: &Report) -> Option<usize> {
    let followed = followed(report);
    let untested = judged(report).filter(|finding| !is_predecessor_tested(finding));
    let count = |finding: &Finding| {
        let Question { subject, reference, .. } = &finding.question;
        let has_both = |block: u32| {
            [subject, reference].iter().all(|id| followed.contains(&(block, id.as_str())))
        };
        finding.blocks.iter().filter(|effect| has_both(effect.block)).count()
    };
    untested.map(count).min()
}

/// Invocations of completed trials whose work was counted
/// (`records.invocations.run.operations`).
pub(crate) fn work_counted(report: &Report) -> Extent {
    let invocations = completed(report).flat_map(|record| &record.invocations);
    let has_run = Provenance::of(report) == Provenance::Ran;
    Extent::of(invocations, |one| {
        has_run && one.run.as_ref().is_some_and(|run| run.operations.is_some())
    })
}

/// The replicates of the comparison that has fewest: its pairs, or its completed trials that hold
/// samples (`records.invocations.samples`), whichever are fewer. `None` where nothing is compared.
pub(crate) fn least_replicates(report: &Report) -> Option<usize> {
    let has_samples =
        |record: &&Record| record.invocations.iter().any(|one| !one.samples.is_empty());
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for record in completed(report).filter(has_samples) {
        let of_subject = counts.entry(&record.subject).or_default();
        *of_subject.entry(&record.workload).or_default() += 1;
    }
    let workloads: BTreeSet<&str> = report.design.workloads.iter().map(String::as_str).collect();
    let of = |finding: &Finding| {
        let question = &finding.question;
        // A margin over imported workloads is called after what they share.
        let is_label = workloads.contains(question.workload.as_str());
        let count = |subject: &str| {
            let Some(own) = counts.get(subject) else { return 0 };
            match is_label {
                true => own.get(question.workload.as_str()).copied().unwrap_or(0),
                false => own.values().sum(),
            }
        };
        finding.pairs.min(count(&question.subject)).min(count(&question.reference))
    };
    judged(report).map(of).min()
}

/// What is in force for a subject that sets nothing: the machine's own, of which a file of others
/// and a simulator show nothing.
pub(crate) fn unset(report: &Report) -> &'static str {
    report.language.word(match Provenance::of(report) {
        Provenance::Ran => noted!("as the machine is"),
        Provenance::Simulated => noted!("nothing"),
        Provenance::ImportedBlocks | Provenance::ImportedRows => noted!("not known"),
    })
}

/// Whether the margins stood in the plan before there were numbers: nobody else measured
/// (`design.imported`; only of an import anything is given later), each record is bound to its plan
/// (`records.chain`, as `binding` says), and nothing was edited since.
pub(crate) fn has_declared_margins(report: &Report) -> bool {
    let is_bound = report.binding == Binding::Checked && !report.records.is_empty();
    !Provenance::of(report).is_imported() && is_bound && !report.is_evidence_changed()
}

/// Whether trials were compared with the machine of the campaign's beginning
/// (`records.fingerprint`), and nobody edited what shows it.
pub(crate) fn has_fingerprints(report: &Report) -> bool {
    let has_run = Provenance::of(report) == Provenance::Ran && !report.is_evidence_changed();
    Extent::of(report.records.iter(), |record| has_run && !record.fingerprint.is_empty()).is_all()
}

/// A fact of the machine when the campaign began (`environment`); none of a simulator's, which are
/// no machine's.
pub(crate) fn fact<'r>(report: &'r Report, key: &str) -> Option<&'r str> {
    let known = report.environment.0.get(key).map(String::as_str);
    known.filter(|_| Provenance::of(report) == Provenance::Ran)
}

/// Whether every verdict was tried without each of its replicates and by another method
/// (`findings.diagnostics.left_out`, `findings.companion`), and there is one.
pub(crate) fn has_sensitivity(report: &Report) -> bool {
    let is_verdict = |finding: &&Finding| {
        finding.question.role == Role::Primary
            && matches!(finding.verdict, Verdict::Better | Verdict::Worse | Verdict::Equivalent)
    };
    let verdicts = report.findings.findings.iter().filter(is_verdict);
    Extent::of(verdicts, |finding| {
        let left_out = finding.diagnostics.as_ref().map(|one| !one.left_out.is_empty());
        left_out == Some(true) && finding.companion.is_some()
    })
    .is_all()
}
