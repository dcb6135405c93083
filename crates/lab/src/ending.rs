//! Whether a campaign ended as its state says (docs/method.md#m-evidence): the word of `state.json`
//! is held against the records.

use crate::recorded_trials::{RecordedTrials, TrialName, trial};
use crate::schedule::is_hopeless;
use contract::Result;
use model::{Block, Caveat, CaveatCode, Plan, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use store::{CampaignState, HeldRecords, LoadedCampaign};

/// Reads a campaign, and holds what it says of its end against its records.
///
/// # Errors
/// Those of [`store::load`].
pub fn load(directory: &Path) -> Result<LoadedCampaign> {
    Ok(examined(store::load(directory)?))
}

/// The same of a campaign whose records this process has just stored and holds.
///
/// # Errors
/// Those of [`store::load_held`].
pub fn load_held(directory: &Path, held: HeldRecords) -> Result<LoadedCampaign> {
    Ok(examined(store::load_held(directory, held)?))
}

/// A campaign with what its records say against its end.
fn examined(mut loaded: LoadedCampaign) -> LoadedCampaign {
    let told = [
        unplanned(&loaded),
        misplaced(&loaded),
        unfounded(&loaded),
        other_look(&loaded),
        unrecorded(&loaded),
    ];
    let flaws = told.into_iter().flatten();
    // What names values says more than digests that no longer fit, of which there may be many.
    loaded.flaws.splice(..0, flaws.map(|flaw| Caveat::new(CaveatCode::EvidenceChanged, flaw)));
    loaded
}

/// Trials that have a record and are not in the plan.
fn unplanned(loaded: &LoadedCampaign) -> Option<String> {
    // Rows of a file stand for themselves.
    if trials(&loaded.plan.blocks).next().is_none() && loaded.plan.imported.is_some() {
        return None;
    }
    // A plan may have many more trials than there are records.
    let recorded = RecordedTrials::of(&loaded.records);
    let mut is_planned = vec![false; recorded.count()];
    for place in trials(&loaded.plan.blocks).filter_map(|planned| recorded.place(planned)) {
        is_planned[place] = true;
    }
    if !is_planned.contains(&false) {
        return None;
    }
    let is_strange =
        |record: &&Record| recorded.place(trial(record)).is_some_and(|place| !is_planned[place]);
    let first = loaded.records.iter().find(is_strange)?;
    let count = loaded.records.iter().filter(is_strange).count();
    Some(format!(
        "{} of trials that plan.json does not have, the first of block {}, {}, {}",
        part_of(count, loaded.records.len(), "record"),
        u64::from(first.block) + 1,
        first.subject,
        first.workload
    ))
}

/// Records of another subject than the plan has at their place in their block. Names that were
/// exchanged in the records alone are of planned trials, and stand at each other's places.
fn misplaced(loaded: &LoadedCampaign) -> Option<String> {
    // Nobody planned the order of an import.
    if loaded.plan.imported.is_some() {
        return None;
    }
    let blocks: BTreeMap<u32, &Block> =
        loaded.plan.blocks.iter().map(|block| (block.index, block)).collect();
    let planned = |record: &Record| {
        let place = usize::try_from(record.position).ok()?;
        Some(blocks.get(&record.block)?.sittings.get(place)?.subject.as_str())
    };
    let is_other =
        |record: &&Record| planned(record).is_some_and(|subject| subject != record.subject);
    let first = loaded.records.iter().find(is_other)?;
    Some(format!(
        "records.jsonl: subject is {} in place {} of block {}, and plan.json gives {}; {} of \
         another subject than plan.json has there",
        first.subject,
        u64::from(first.position) + 1,
        u64::from(first.block) + 1,
        planned(first)?,
        part_of(loaded.records.iter().filter(is_other).count(), loaded.records.len(), "record")
    ))
}

fn trials(blocks: &[Block]) -> impl Iterator<Item = TrialName<'_>> {
    blocks.iter().flat_map(|block| {
        block.sittings.iter().flat_map(move |sitting| {
            let subject = sitting.subject.as_str();
            sitting.workloads.iter().map(move |workload| (block.index, subject, workload.as_str()))
        })
    })
}

/// What a finished campaign would have records of, and has not.
fn unrecorded(loaded: &LoadedCampaign) -> Option<String> {
    if loaded.state != CampaignState::Finished {
        return None;
    }
    let plan = &loaded.plan;
    // Of a plan without blocks nothing is missing, and its records are many: rows of a file.
    if plan.blocks.is_empty() {
        return None;
    }
    let recorded = Recorded::of(plan, &loaded.records);
    let open: Vec<&Block> = plan.blocks.iter().filter(|block| !recorded.is_whole(block)).collect();
    let run_again = plan.blocks_run_again();
    let (repeated, missing): (Vec<&Block>, Vec<&Block>) =
        open.iter().copied().partition(|block| run_again.contains(&block.index));
    let added = added_blocks(loaded).filter(|added| *added < repeated.len());
    if missing.is_empty() && added.is_none() {
        return None;
    }
    let whole = plan.blocks.len() - open.len();
    if added.is_none() && ends_at_a_look(loaded, whole, &missing) {
        return None;
    }
    let Some(first) = missing.first() else {
        return Some(format!(
            "plan.json says that {} ran again, and was given {} for it",
            model::counted(repeated.len(), "block"),
            model::counted(added.unwrap_or_default(), "block")
        ));
    };
    let mut lacking = trials(std::slice::from_ref(*first)).filter(|trial| !recorded.has(*trial));
    let (subject, workload) = lacking.next().map_or(("", ""), |(_, one, other)| (one, other));
    Some(format!(
        "state.json says that the campaign is finished, and {} not whole: block {} has no record of \
         {subject}, {workload}",
        part_of(missing.len(), plan.blocks.len(), "planned block"),
        u64::from(first.index) + 1
    ))
}

/// So many of all of a thing, with the verb: `1 of 1 planned block is`, `3 of 6 planned blocks are`.
fn part_of(count: usize, all: usize, noun: &str) -> String {
    let verb = if count == 1 || all == 1 { "is" } else { "are" };
    format!("{count} of {} {verb}", model::counted(all, noun))
}

/// Blocks that were added since the first record was stored; nobody knows of campaigns that earlier
/// versions began, nor of a redaction, whose first record was made when all were there.
fn added_blocks(loaded: &LoadedCampaign) -> Option<usize> {
    if loaded.redaction.is_some() {
        return None;
    }
    let began = loaded.records.first()?.chain.as_ref()?.beginning.as_ref()?;
    let planned = usize::try_from(began.blocks).ok()?;
    Some(loaded.plan.blocks.len().saturating_sub(planned))
}

/// The blocks behind the first `planned` ones, each with the one that it runs again, as the plan
/// says it.
pub fn repetitions(plan: &Plan, planned: usize) -> Vec<(&Block, Option<&Block>)> {
    let added = plan.blocks.get(planned..).unwrap_or_default();
    if added.is_empty() {
        return Vec::new();
    }
    let blocks: BTreeMap<u32, &Block> =
        plan.blocks.iter().map(|block| (block.index, block)).collect();
    if plan.repeated_blocks.is_empty() {
        // Notes alone tell them, in the order in which they were added.
        let known = |index: u32| blocks.get(&index).copied();
        let mut originals = plan.blocks_of_notes().filter_map(known);
        return added.iter().map(|block| (block, originals.next())).collect();
    }
    let originals: BTreeMap<u32, u32> =
        plan.repeated_blocks.iter().map(|one| (one.index, one.runs_again)).collect();
    let original = |index: u32| blocks.get(originals.get(&index)?).copied();
    added.iter().map(|block| (block, original(block.index))).collect()
}

/// Whether a block that was added is none that runs again: it has other sittings than the block that
/// it stands for, or there is none.
fn unfounded(loaded: &LoadedCampaign) -> Option<String> {
    let added = added_blocks(loaded)?;
    let planned = loaded.plan.blocks.len() - added;
    let is_unfounded = |pair: &&(&Block, Option<&Block>)| {
        pair.1.is_none_or(|original| trials_of(pair.0) != trials_of(original))
    };
    let all = repetitions(&loaded.plan, planned);
    let (block, original) = all.iter().find(is_unfounded)?;
    let number = u64::from(block.index) + 1;
    Some(match original {
        None => format!(
            "plan.json: block {number} was added, and nothing says which block it runs again"
        ),
        Some(original) => format!(
            "plan.json: block {number} was added, and has other trials than block {}, which it runs \
             again",
            u64::from(original.index) + 1
        ),
    })
}

/// Subjects and workloads of a block, whatever their order.
fn trials_of(block: &Block) -> BTreeSet<(&str, &str)> {
    let of_block = trials(std::slice::from_ref(block));
    of_block.map(|(_, subject, workload)| (subject, workload)).collect()
}

/// How often a run went on with a campaign and what ran again, in one sentence; `None` where neither
/// was.
pub fn resumed(loaded: &LoadedCampaign) -> Option<String> {
    let mut parts = Vec::new();
    if !loaded.resumptions.is_empty() {
        let times = model::counted(loaded.resumptions.len(), "time");
        let after = match loaded.resumptions.as_slice() {
            [only] => model::counted(only.records, "record"),
            several => {
                let after: Vec<String> =
                    several.iter().map(|one| one.records.to_string()).collect();
                format!("{} records", after.join(", "))
            }
        };
        parts.push(format!("it was resumed {times}, after {after}"));
    }
    if let Some(added) = added_blocks(loaded).filter(|added| *added > 0) {
        parts.push(format!("{} ran again", model::counted(added, "block")));
    }
    // Rows of a file stand for themselves.
    if loaded.plan.imported.is_none() {
        let repeated = loaded.records.len() - RecordedTrials::of(&loaded.records).count();
        if repeated > 0 {
            parts.push(match repeated {
                1 => "1 record repeats a trial".to_owned(),
                _ => format!("{repeated} records repeat a trial"),
            });
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether an adaptive campaign ended after so many whole blocks by its rule, and no record is of a
/// block behind them. It ran as many as it may, or its plan keeps why it stopped there, or it would
/// stop there again.
fn ends_at_a_look(loaded: &LoadedCampaign, whole: usize, missing: &[&Block]) -> bool {
    let plan = &loaded.plan;
    let Some(look) = plan.looks.iter().find(|look| **look as usize == whole) else { return false };
    let begun: BTreeSet<u32> = loaded.records.iter().map(|record| record.block).collect();
    if missing.iter().any(|block| begun.contains(&block.index)) {
        return false;
    }
    let is_last = plan.looks.last() == Some(look);
    is_last
        || plan.ending_look() == Some(*look)
        || analysis::answered_at(plan, &loaded.records) == Some(*look)
}

/// A look that the plan says the campaign stopped at, where fewer blocks are whole.
fn other_look(loaded: &LoadedCampaign) -> Option<String> {
    let most = loaded.plan.ending_look()?;
    let recorded = Recorded::of(&loaded.plan, &loaded.records);
    let whole = loaded.plan.blocks.iter().filter(|block| recorded.is_whole(block)).count();
    (whole < most as usize).then(|| {
        let verb = if whole == 1 { "is" } else { "are" };
        format!(
            "plan.json says that the campaign stopped at the look after {}, and {} {verb} whole",
            model::counted(most, "block"),
            model::counted(whole, "block")
        )
    })
}

/// What has a record.
struct Recorded<'a> {
    trials: RecordedTrials<'a>,
    /// Subjects that were given up.
    given_up: BTreeSet<&'a str>,
    /// Whether a file may lack values.
    is_imported: bool,
}

impl<'a> Recorded<'a> {
    fn of(plan: &'a Plan, records: &'a [Record]) -> Self {
        let subjects = plan.subjects.iter().map(|subject| subject.id.as_str());
        Self {
            trials: RecordedTrials::of(records),
            given_up: subjects.filter(|subject| is_hopeless(records, subject)).collect(),
            is_imported: plan.imported.is_some(),
        }
    }

    fn has(&self, (block, subject, workload): TrialName<'_>) -> bool {
        self.given_up.contains(subject)
            || self.trials.place((block, subject, workload)).is_some()
            || (self.is_imported && self.trials.has_sitting(block, subject))
    }

    fn is_whole(&self, block: &Block) -> bool {
        trials(std::slice::from_ref(block)).all(|trial| self.has(trial))
    }
}
