//! One schedule: a campaign that is run, killed, cut off and gone on with until it ends, and what
//! has to be true of the machine and the records in between and afterwards.

use crate::campaign_runs::CampaignRuns;
use crate::faults::Faults;
use crate::kernel::{AUTOGROUP, BASE_SLICE, KNOBS, Knobs, MIGRATION_COST, THP};
use crate::machine::{Death, SimulatedMachine};
use crate::random::Random;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// More operations than a run has; the last are seldom reached.
const OPERATIONS_OF_RUN: usize = 1750;
/// The same of putting back.
const OPERATIONS_OF_RESTORE: usize = 160;
/// Processes of `schedlab run` before those without faults.
const MOST_RUNS: usize = 4;
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
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Orderly,
    Died,
}

struct Schedule {
    random: Random,
    machine: SimulatedMachine,
    campaign: CampaignRuns,
    facts: ScheduleFacts,
    /// What every knob holds that no trial has changed.
    before: Knobs,
    /// A knob that somebody else changed, and to what.
    foreign: Option<(&'static str, &'static str)>,
    /// Whether anything happened that may be told as left alone.
    was_disturbed: bool,
}

/// Goes through the schedule of this number.
///
/// # Errors
/// Which promises were broken.
pub(crate) fn run(seed: u64, is_traced: bool) -> Result<ScheduleFacts, String> {
    let mut random = Random::new(seed);
    let machine = SimulatedMachine::new(random.number(), is_traced);
    let before = machine.state().kernel.knobs().clone();
    let campaign = CampaignRuns::new(machine.clone());
    let facts = ScheduleFacts::default();
    let mut schedule =
        Schedule { random, machine, campaign, facts, before, foreign: None, was_disturbed: false };
    let panicked = schedule.go().err();
    let (violations, told) = schedule.machine.verdict();
    if violations.is_empty() && panicked.is_none() {
        return Ok(schedule.facts);
    }
    let broken = panicked.into_iter().chain(violations).collect::<Vec<_>>().join("\n  ");
    Err(format!("{}\n  {broken}", told.join("\n")))
}

impl Schedule {
    fn go(&mut self) -> Result<(), String> {
        for _ in 0..=self.random.below(MOST_RUNS) {
            if self.campaign.is_finished() {
                break;
            }
            let faults = Faults::drawn(&mut self.random, OPERATIONS_OF_RUN);
            let end = self.process(faults, |campaign| campaign.run().is_ok())?;
            self.after(end)?;
            self.campaign.check_records();
            if self.random.one_in(3) {
                let faults = Faults::drawn(&mut self.random, OPERATIONS_OF_RESTORE);
                self.process(faults, |campaign| campaign.restore().is_some())?;
            }
        }
        self.put_back()?;
        if !self.campaign.is_finished() {
            let mut why = None;
            self.process(Faults::default(), |campaign| {
                why = campaign.run().err();
                why.is_none()
            })?;
            if let Some(error) = why {
                return Err(format!("a run without faults fails: {error}"));
            }
        }
        self.put_back()?;
        self.campaign.check_records();
        // A cut of power may bring a name back that was removed and not synced.
        if self.facts.cuts == 0 && self.campaign.has_scratch() {
            self.machine.blame("files of workloads are left");
        }
        let (at, bit) = (self.random.number(), self.random.number());
        self.campaign.check_end(at, bit);
        Ok(())
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
        self.check_left_alone();
        match outcome {
            Ok(is_ok) => {
                self.facts.errors += u32::from(!is_ok);
                Ok(End::Orderly)
            }
            Err(payload) if payload.is::<Death>() => {
                self.facts.deaths += 1;
                Ok(End::Died)
            }
            Err(payload) => {
                let text = payload.downcast_ref::<String>().cloned();
                let text =
                    text.or_else(|| payload.downcast_ref::<&str>().map(|it| (*it).to_owned()));
                Err(format!("a process panicked: {}", text.unwrap_or_default()))
            }
        }
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
            self.process(faults, |campaign| campaign.guard().is_some())?;
        }
        self.machine.end_guardian();
        Ok(())
    }

    /// A guardian that nothing happens to needs no journal: its copy is as good, and what was done
    /// to the journal is told to the next who asks.
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
        // Rather what a trial has changed.
        let is_changed = |path: &str| state.kernel.knobs().get(path) != self.before.get(path);
        let changed: Vec<_> = changes.into_iter().filter(|(path, _)| is_changed(path)).collect();
        let among = if changed.is_empty() { &changes[..] } else { &changed[..] };
        let (path, value) = *self.random.pick(among);
        if state.kernel.write(path, value).is_ok() {
            self.foreign = Some((path, value));
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
                let has_holes = self.facts.cuts > 0 && self.machine.state().has_lost_pages;
                if !was_harmed && !has_holes {
                    self.machine.blame(format!("could not be put back: {:?}", report.failed));
                }
                // A user reads what is damaged, and removes it.
                self.machine.remove_journal();
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
        let Some((path, value)) = self.foreign else { return };
        if told_of(path) {
            self.facts.left_alone += 1;
            let now = self.machine.state().kernel.knobs().get(path).cloned();
            if now.as_deref() != Some(value) {
                self.machine.blame(format!("{path} was left alone as {value} and is {now:?}"));
            }
        }
    }

    fn check_knobs(&mut self, was_harmed: bool) {
        let now = self.machine.state().kernel.knobs().clone();
        for (path, value) in &now {
            let is_foreign = self.foreign == Some((*path, value.as_str()));
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

    fn check_journal(&self) {
        let machine = self.machine.machine();
        let journal = self.machine.undisturbed(|| executor::Journal::read(&machine));
        if !journal.is_ok_and(|text| text.is_empty()) {
            self.machine.blame("the journal is not empty");
        }
    }
}
