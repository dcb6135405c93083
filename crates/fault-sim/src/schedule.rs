//! One schedule: a campaign that is run, killed, cut off and gone on with until it ends, and what
//! has to be true of the machine and the records in between and afterwards.

use crate::campaign_runs::CampaignRuns;
use crate::faults::Faults;
use crate::kernel::{AUTOGROUP, BASE_SLICE, Coupling, KNOBS, Knobs, MIGRATION_COST, THP};
use crate::machine::{Death, SimulatedMachine};
use crate::random::Random;
use executor::JournalEntry;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// More operations than a run has; the last are seldom reached.
const OPERATIONS_OF_RUN: usize = 1750;
/// The same of putting back.
const OPERATIONS_OF_RESTORE: usize = 160;
/// Processes of `schedlab run` before those without faults.
const MOST_RUNS: usize = 4;
/// More operations than most processes have that only store records.
const OPERATIONS_OF_STORE: usize = 240;
/// Processes that only store, before one without faults.
const MOST_STORES: usize = 6;
/// Blocks of a campaign that is only stored, of three records each.
const STORED_BLOCKS: u32 = 4;
/// What transparent huge pages may be that no subject has.
const OTHER_THP: [&str; 2] = ["always", "madvise"];
/// What a guardian notes where the journal is not as its writer left it.
pub(crate) const TOLD_OF_HARM: &str = "it was deleted, replaced or damaged while a campaign ran";
/// Restores after which nothing may be left.
const MOST_RESTORES: usize = 3;

/// What a schedule came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ScheduleFacts {
    /// Processes that ended by a fault.
    pub(crate) deaths: u32,
    /// Cuts of power.
    pub(crate) cuts: u32,
    /// Processes that ended by an error.
    pub(crate) errors: u32,
    /// Changes by somebody else that were left alone and told.
    pub(crate) left_alone: u32,
    /// 1 where the journal may lack what a failed sync lost of it, after a cut of power: known and
    /// not mended (docs/adr/0046-one-seam-for-faults-of-files.md). Of many schedules, how many.
    pub(crate) excused: u32,
    /// Runs that were refused, with a remedy, and left all as it was.
    pub(crate) refused: u32,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Orderly,
    Died,
}

/// A knob that somebody else changed.
#[derive(Debug, Clone, Copy)]
struct ForeignChange {
    path: &'static str,
    value: &'static str,
    /// Where a trial had set it, which restoring knows from the journal: operations that had failed
    /// and processes that had ended by then.
    in_trial: Option<(u64, u32)>,
    was_told: bool,
}

struct Schedule {
    random: Random,
    machine: SimulatedMachine,
    campaign: CampaignRuns,
    facts: ScheduleFacts,
    /// What every knob holds that no trial has changed.
    before: Knobs,
    /// What somebody else changed.
    foreign: Option<ForeignChange>,
    /// Whether anything happened that may be told as left alone.
    was_disturbed: bool,
}

/// Goes through the schedule of this number.
///
/// # Errors
/// Which promises were broken.
pub(crate) fn run(seed: u64, is_traced: bool) -> Result<ScheduleFacts, String> {
    Schedule::new(seed, is_traced, 1).outcome(Schedule::go)
}

/// Goes through the schedule of this number, of a campaign whose records are only stored.
///
/// # Errors
/// Which promises were broken.
pub(crate) fn run_stored(seed: u64, is_traced: bool) -> Result<ScheduleFacts, String> {
    Schedule::new(seed, is_traced, STORED_BLOCKS).outcome(Schedule::go_stored)
}

impl Schedule {
    fn new(seed: u64, is_traced: bool, blocks: u32) -> Self {
        let mut random = Random::new(seed);
        let machine = SimulatedMachine::new(random.number(), is_traced);
        let before = machine.state().kernel.knobs().clone();
        let campaign = CampaignRuns::new(machine.clone(), blocks);
        let facts = ScheduleFacts::default();
        Self { random, machine, campaign, facts, before, foreign: None, was_disturbed: false }
    }

    fn outcome(
        mut self,
        go: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<ScheduleFacts, String> {
        let panicked = go(&mut self).err();
        self.facts.refused = self.campaign.refused();
        outcome_of(&self.machine, panicked, self.facts)
    }

    fn go(&mut self) -> Result<(), String> {
        for _ in 0..=self.random.below(MOST_RUNS) {
            if self.campaign.is_finished() {
                break;
            }
            let faults = Faults::drawn(&mut self.random, OPERATIONS_OF_RUN);
            self.campaign.is_shared = self.foreign.is_none();
            let thp = self.before.get(THP).map_or("", String::as_str);
            self.campaign.other_thp = OTHER_THP.into_iter().find(|other| *other != thp);
            let end = self.process(faults, |campaign| campaign.run().is_ok())?;
            self.campaign.is_shared = false;
            self.after(end)?;
            self.campaign.check_records();
            if self.random.one_in(3) {
                let faults = Faults::drawn(&mut self.random, OPERATIONS_OF_RESTORE);
                self.process(faults, |campaign| campaign.restore().is_some())?;
            }
        }
        self.put_back()?;
        if !self.campaign.is_finished() {
            self.finish(CampaignRuns::run)?;
        }
        self.put_back()?;
        self.campaign.check_records();
        self.check_left_names()?;
        self.check_end();
        Ok(())
    }

    /// Nothing is left beside the campaign. A draft that a process left goes when the next one
    /// opens the campaign; that may have failed to remove it.
    fn check_left_names(&mut self) -> Result<(), String> {
        // A cut of power may bring a name back that was removed and not synced.
        if self.facts.cuts > 0 || self.campaign.left_names().is_empty() {
            return Ok(());
        }
        self.finish(CampaignRuns::run)?;
        let left = self.campaign.left_names();
        if !left.is_empty() {
            self.machine.blame(format!("these are left beside the campaign: {left:?}"));
        }
        Ok(())
    }

    /// A campaign whose trials take no time: its records are made, stored and counted. Power is cut
    /// after processes that ended in order, too.
    fn go_stored(&mut self) -> Result<(), String> {
        for _ in 0..=self.random.below(MOST_STORES) {
            if self.campaign.is_finished() {
                break;
            }
            let faults = Faults::single(&mut self.random, OPERATIONS_OF_STORE);
            let most = *self.random.pick(&[0, 0, 1, 3, usize::MAX]);
            self.process(faults, |campaign| campaign.store(most).is_ok())?;
            if self.random.one_in(2) {
                self.facts.cuts += 1;
                self.machine.lose_power();
            }
            self.campaign.check_records();
        }
        self.finish(|campaign| campaign.store(usize::MAX))?;
        if !self.campaign.is_finished() {
            self.machine.blame("a campaign whose records are all there has no end");
        }
        self.campaign.check_records();
        self.check_end();
        Ok(())
    }

    /// A process without faults, which has no reason to fail.
    fn finish(
        &mut self,
        work: impl FnOnce(&mut CampaignRuns) -> contract::Result<()>,
    ) -> Result<(), String> {
        let mut why = None;
        self.process(Faults::default(), |campaign| {
            why = work(campaign).err();
            why.is_none()
        })?;
        why.map_or(Ok(()), |error| Err(format!("a run without faults fails: {error}")))
    }

    fn check_end(&mut self) {
        let (at, bit) = (self.random.number(), self.random.number());
        self.campaign.check_end(at, bit, &mut self.random);
    }

    /// Runs a process, to which this happens; anything but the end that was planned is a fault.
    fn process(
        &mut self,
        faults: Faults,
        work: impl FnOnce(&mut CampaignRuns) -> bool,
    ) -> Result<End, String> {
        self.machine.begin_process(faults);
        let campaign = &mut self.campaign;
        let outcome = catch_unwind(AssertUnwindSafe(|| work(campaign)));
        self.machine.end_process();
        if let Some((path, value, failures)) = self.campaign.changed.take() {
            let in_trial = Some((failures, self.facts.deaths));
            self.foreign = Some(ForeignChange { path, value, in_trial, was_told: false });
            self.was_disturbed = true;
        }
        self.check_left_alone();
        Ok(match ended(outcome, &mut self.facts)? {
            None => End::Died,
            Some(is_ok) => {
                self.facts.errors += u32::from(!is_ok);
                End::Orderly
            }
        })
    }

    /// What happens to the machine between two processes.
    fn after(&mut self, end: End) -> Result<(), String> {
        if end == End::Died && self.random.one_in(3) {
            self.facts.cuts += 1;
            self.machine.lose_power();
            self.before.clone_from(self.machine.state().kernel.knobs());
            self.foreign = None;
            return Ok(());
        }
        // A guardian that is killed, too, leaves its work to the next start.
        let is_watched = self.machine.pipe().is_some() && !self.random.one_in(4);
        let harm = self.random.below(8);
        let was_harmed = self.machine.state().is_harmed;
        let is_copy_needed =
            is_watched && harm < 2 && self.machine.harm_watched_journal(&mut self.random);
        if harm == 2 {
            self.campaign.was_told = false;
            self.was_disturbed = true;
            self.machine.harm_journal(&mut self.random);
        }
        if self.foreign.is_none() && self.random.one_in(6) {
            self.change_as_somebody_else();
        }
        if is_copy_needed {
            self.guard_with_the_copy()?;
            self.machine.state().is_harmed = was_harmed;
        } else if is_watched {
            let faults = Faults::drawn(&mut self.random, OPERATIONS_OF_RESTORE);
            let told = self.told_of_harm();
            self.process(faults, |campaign| campaign.guard().is_some())?;
            self.check_guarded(told);
        }
        self.machine.end_guardian();
        Ok(())
    }

    /// How often the journal says that a guardian found it harmed.
    fn told_of_harm(&self) -> usize {
        let machine = self.machine.machine();
        let journal = self.machine.undisturbed(|| executor::Journal::read(&machine));
        let is_told = |entry: &&JournalEntry| match entry {
            JournalEntry::LeftAlone { line, .. } => line.contains(TOLD_OF_HARM),
            _ => false,
        };
        journal.map_or(0, |text| text.entries.iter().filter(is_told).count())
    }

    /// Where nothing failed and nobody touched the journal, its guardian, which has told so often
    /// of harm before, has nothing to tell of it.
    fn check_guarded(&self, told: usize) {
        let state = self.machine.state();
        let is_untouched = !state.is_harmed && state.failures == 0;
        drop(state);
        if is_untouched && self.told_of_harm() > told {
            self.machine.blame("a guardian tells of harm that nobody did to the journal");
        }
    }

    /// A guardian that nothing happens to needs no journal: its copy is as good, and what was done
    /// to the journal is told to the next process that reads it.
    fn guard_with_the_copy(&mut self) -> Result<(), String> {
        let mut report = None;
        self.process(Faults::default(), |campaign| {
            report = campaign.guard();
            report.is_some()
        })?;
        if report.as_ref().is_none_or(|report| !report.failed.is_empty()) {
            self.machine.blame(format!("a guardian with a copy did not put back all: {report:?}"));
        }
        let machine = self.machine.machine();
        let journal = self.machine.undisturbed(|| executor::Journal::read(&machine));
        if journal.is_ok_and(|text| text.entries.is_empty()) {
            self.machine.blame("nobody will be told what was done to the journal");
        }
        Ok(())
    }

    fn change_as_somebody_else(&mut self) {
        let changes = [
            (THP, "always"),
            (AUTOGROUP, "1"),
            (BASE_SLICE, "5000000"),
            (MIGRATION_COST, "300000"),
        ];
        let mut state = self.machine.state();
        // Rather what a trial has changed. What moves with the cost is nobody's change.
        let is_coupled = state.kernel.coupling() != Coupling::None;
        let changes: Vec<_> = changes
            .into_iter()
            .filter(|(path, _)| !(is_coupled && *path == MIGRATION_COST))
            .collect();
        let is_changed = |path: &str| state.kernel.knobs().get(path) != self.before.get(path);
        let changed: Vec<_> =
            changes.iter().copied().filter(|(path, _)| is_changed(path)).collect();
        let among = if changed.is_empty() { &changes } else { &changed };
        let (path, value) = *self.random.pick(among);
        if state.kernel.write(path, value).is_ok() {
            self.foreign = Some(ForeignChange { path, value, in_trial: None, was_told: false });
            self.was_disturbed = true;
        }
    }

    /// `schedlab restore` without faults: afterwards the machine is as before, or a user was told
    /// what is not (invariant 2), and nothing of ours is left (invariant 11).
    fn put_back(&mut self) -> Result<(), String> {
        let was_harmed = self.machine.state().is_harmed;
        let mut is_empty = false;
        for _ in 0..MOST_RESTORES {
            let mut report = None;
            self.process(Faults::default(), |campaign| {
                report = campaign.restore();
                report.is_some()
            })?;
            let Some(report) = report else { continue };
            if !report.failed.is_empty() {
                // Pages that a failed sync lost read as zeros after a cut of power; what they said is
                // of another boot, and is told as unknown.
                let has_holes = self.facts.cuts > 0 && self.machine.state().has_lost_journal;
                if !was_harmed && has_holes {
                    self.facts.excused = 1;
                } else if !was_harmed {
                    self.machine.blame(format!("could not be put back: {:?}", report.failed));
                }
                // A user reads what is damaged, and removes it.
                self.machine.remove_journal();
                self.machine.state().kernel.repair();
            }
            is_empty = report.is_empty();
        }
        if !is_empty {
            self.machine.blame("restoring has no end");
        }
        self.machine.state().is_harmed = false;
        self.check_knobs(was_harmed);
        self.check_journal();
        Ok(())
    }

    /// What is told as left alone holds what somebody else wrote.
    fn check_left_alone(&mut self) {
        let told = take(&mut self.campaign.left_alone);
        let told_of = |path: &str| told.iter().any(|line| line.contains(path));
        if !self.was_disturbed && !self.machine.state().is_harmed && KNOBS.into_iter().any(told_of)
        {
            self.machine
                .blame(format!("nobody else changed anything, and this was told: {told:?}"));
        }
        let Some(foreign) = &mut self.foreign else { return };
        let (path, value) = (foreign.path, foreign.value);
        if told_of(path) {
            foreign.was_told = true;
            self.facts.left_alone += 1;
            let now = self.machine.state().kernel.knobs().get(path).cloned();
            if now.as_deref() != Some(value) {
                self.machine.blame(format!("{path} was left alone as {value} and is {now:?}"));
            }
        }
    }

    fn check_knobs(&mut self, was_harmed: bool) {
        let now = self.machine.state().kernel.knobs().clone();
        if !was_harmed {
            self.check_foreign(&now);
        }
        for (path, value) in &now {
            let is_foreign =
                self.foreign.is_some_and(|other| other.path == *path && other.value == value);
            let is_before = self.before.get(path) == Some(value);
            let is_told = was_harmed && self.campaign.was_told;
            if !is_before && !is_foreign && !is_told {
                let before = self.before.get(path).map_or("", String::as_str);
                self.machine.blame(format!("{path} was {before} and is {value}"));
            }
        }
        // From here on it is what its owner wants.
        self.before = now;
        self.foreign = None;
    }

    /// What somebody else changed in a trial is theirs, and a user is told of it, whatever processes
    /// ended since (invariant 2); where an operation failed, its value may not have been known, and
    /// one that told may have ended before anybody read it.
    fn check_foreign(&self, now: &Knobs) {
        let Some(ForeignChange { path, value, in_trial: Some(since), was_told }) = self.foreign
        else {
            return;
        };
        if self.machine.state().failures != since.0 {
            return;
        }
        let found = now.get(path).map_or("", String::as_str);
        if found != value {
            self.machine.blame(format!("somebody else made {path} {value}, and it is {found}"));
        }
        if self.facts.deaths == since.1 && !was_told {
            self.machine.blame(format!("nobody was told that somebody else made {path} {value}"));
        }
    }

    fn check_journal(&self) {
        let machine = self.machine.machine();
        let journal = self.machine.undisturbed(|| executor::Journal::read(&machine));
        if !journal.is_ok_and(|text| text.is_empty()) {
            self.machine.blame("the journal is not empty");
        }
    }
}

/// What came of a process: nothing where it ended by a fault.
///
/// # Errors
/// When it panicked.
pub(crate) fn ended<T>(
    outcome: thread::Result<T>,
    facts: &mut ScheduleFacts,
) -> Result<Option<T>, String> {
    let payload = match outcome {
        Ok(worked) => return Ok(Some(worked)),
        Err(payload) => payload,
    };
    if payload.is::<Death>() {
        facts.deaths += 1;
        return Ok(None);
    }
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(|it| (*it).to_owned()));
    Err(format!("a process panicked: {}", text.unwrap_or_default()))
}

/// What a schedule came to, or which promises were broken, after the last operations.
pub(crate) fn outcome_of(
    machine: &SimulatedMachine,
    panicked: Option<String>,
    facts: ScheduleFacts,
) -> Result<ScheduleFacts, String> {
    let (violations, told) = machine.verdict();
    if violations.is_empty() && panicked.is_none() {
        return Ok(facts);
    }
    let broken = panicked.into_iter().chain(violations).collect::<Vec<_>>().join("\n  ");
    Err(format!("{}\n  {broken}", told.join("\n")))
}
