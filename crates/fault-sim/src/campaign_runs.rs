//! Runs of one campaign, as `lab` has them: the campaign made or gone on with, an executor, a trial
//! and its record after the other. Executor, guardian and store are the product's; a trial sets its
//! levels, has no workload to run, and puts them back.

use crate::kernel::{AUTOGROUP, BASE_SLICE, CPU1, Coupling, Knobs, MIGRATION_COST, THP};
use crate::machine::{DATA, SimulatedMachine};
use crate::random::Random;
use crate::record_damage;
use contract::{Error, ErrorKind, Event, Interrupt, Phase, Result, TrialCatalogue};
use executor::{
    Executor, ExecutorSettings, Guardian, Journal, LONGEST_STANDSTILL, Lock, PermittedChanges,
    StartGuardian, guard, restore_leftovers,
};
use model::{Fingerprint, Outcome, Plan, Record, Sample, Trial};
use rustix::fs::{MemfdFlags, memfd_create};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Attempts, Campaign, CampaignState, fingerprint_digest, load_on};

/// What the plan is said to be made from.
const ORIGIN: &str = "title = \"faults\"\n";
/// The first campaign was made then, in nanoseconds since 1970.
const BEGAN_UNIX_NS: u64 = 1_795_000_000_000_000_000;
/// Values of a record that only stores; more than a sector of text.
const STORED_VALUES: u32 = 90;
/// How the line begins that tells of a torn record behind those of a campaign that goes on.
const TORN_LINE: &str = "the record after number ";
/// What the next record may take.
const RECORD_SPACE: u64 = 16 << 10;
/// What a campaign may have in its directory.
const OF_CAMPAIGN: [&str; 8] = [
    "environment.json",
    "experiment.toml",
    "logs",
    "plan.json",
    "records.jsonl",
    "state.json",
    "traces",
    "writer.lock",
];
/// A factor, its level, the file that it is written to, and what that holds then.
type FactorLevel = (&'static str, &'static str, &'static str, &'static str);
/// The two subjects that have levels.
const LEVELS: [(&str, &[FactorLevel]); 2] = [
    (
        "tuned",
        &[
            ("autogroup", "off", AUTOGROUP, "0"),
            ("base_slice", "4ms", BASE_SLICE, "4000000"),
            ("thp", "never", THP, "never"),
        ],
    ),
    (
        "small",
        &[
            ("base_slice", "2ms", BASE_SLICE, "2000000"),
            ("migration_cost", "5ms", MIGRATION_COST, "5000000"),
            ("online_cpus", "0", CPU1, "0"),
        ],
    ),
];

/// The product's factors, and no workload.
fn catalogue() -> TrialCatalogue {
    TrialCatalogue { workloads: &[], factors: tunables::ENTRIES, probes: &[] }
}

/// A campaign on a simulated machine, and what was promised of it.
pub(crate) struct CampaignRuns {
    machine: SimulatedMachine,
    plan: Plan,
    /// Where it lies, once it is made.
    directory: Option<PathBuf>,
    /// Campaigns that were begun; all but the last had no record.
    begun: u16,
    /// Records that are promised to be on disk.
    promised: Vec<Record>,
    is_finished: bool,
    /// Whether a user was told of something that was not put back.
    pub(crate) was_told: bool,
    /// Lines that a user was told of what somebody else changed.
    pub(crate) left_alone: Vec<String>,
    /// Whether somebody else may change a setting while a trial has it.
    pub(crate) is_shared: bool,
    /// What somebody else would set transparent huge pages to: neither what they were nor a level.
    pub(crate) other_thp: Option<&'static str>,
    /// What somebody else changed in a trial, to what, and how many operations had failed by then.
    pub(crate) changed: Option<(&'static str, &'static str, u64)>,
    /// Where the campaign lay that the last process made and gave up, without a record.
    discarded: Option<PathBuf>,
    /// Runs that were refused and of which it is known that they left all as it was.
    refused: u32,
}

/// What a run that is refused leaves as it is.
struct StateBefore {
    knobs: Knobs,
    records: usize,
    /// Whether an earlier process left nothing to put back.
    is_settled: bool,
    /// Operations that had failed, but writing settings.
    failures: u64,
}

/// The trial of a run that has a machine, or the record of one that only stores.
type TrialOf<'a> = &'a mut dyn FnMut(&mut CampaignRuns, &Trial) -> Result<Record>;

impl CampaignRuns {
    /// One of so many blocks that has not begun.
    pub(crate) fn new(machine: SimulatedMachine, blocks: u32) -> Self {
        let subjects = [("stock", &[][..])].into_iter().chain(LEVELS).map(|(id, levels)| {
            let levels: Vec<(&str, &str)> =
                levels.iter().map(|(factor, level, ..)| (*factor, *level)).collect();
            fixtures::subject(id, &levels)
        });
        let workloads = vec![fixtures::workload("nothing", Vec::new())];
        let plan = fixtures::plan(subjects.collect(), workloads, blocks);
        Self {
            machine,
            plan,
            directory: None,
            begun: 0,
            promised: Vec::new(),
            is_finished: false,
            was_told: false,
            left_alone: Vec::new(),
            is_shared: false,
            other_thp: None,
            changed: None,
            discarded: None,
            refused: 0,
        }
    }

    /// Whether it ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// How many records are promised to be on disk.
    pub(crate) fn promised(&self) -> usize {
        self.promised.len()
    }

    /// One process of `schedlab run`.
    pub(crate) fn run(&mut self) -> Result<()> {
        let before = self.state_before();
        let outcome = self.attempt();
        if let Err(error) = &outcome {
            self.hear(error);
            self.check_refusal(error, &before);
        }
        outcome
    }

    /// One process that has the records of so many trials at most, and stores them.
    pub(crate) fn store(&mut self, most: usize) -> Result<()> {
        let outcome = self.attempt_to_store(most);
        if let Err(error) = &outcome {
            self.hear(error);
        }
        outcome
    }

    fn attempt_to_store(&mut self, most: usize) -> Result<()> {
        let mut campaign = self.campaign()?;
        if campaign.state() == CampaignState::Finished {
            self.find_promised(&campaign);
            self.is_finished = true;
            return Ok(());
        }
        self.trials(&mut campaign, most, &mut |runs, trial| Ok(runs.stored_record(trial)))?;
        if self.promised.len() == self.plan.trial_count() {
            campaign.mark_finished()?;
            self.is_finished = true;
        }
        Ok(())
    }

    /// A record of more than one sector: a cut of power may store its end alone.
    fn stored_record(&self, trial: &Trial) -> Record {
        let values = (0..STORED_VALUES).map(|number| f64::from(number) * 0.25).collect();
        let mut record = Record::of(trial, Outcome::Completed);
        record.started_unix_ns = BEGAN_UNIX_NS;
        record.duration_ns = 1;
        record.boot_id = self.machine.state().kernel.boot_id();
        record.invocations =
            vec![fixtures::invocation(vec![Sample::values("time", values)])].into();
        record
    }

    /// The campaign, made or gone on with.
    fn campaign(&mut self) -> Result<Campaign> {
        let files = self.machine.files();
        let Some(directory) = &self.directory else {
            self.begun += 1;
            let begins = (BEGAN_UNIX_NS + u64::from(self.begun), self.begun);
            let results = Path::new(DATA).join("results");
            let plan = Cow::Borrowed(&self.plan);
            let campaign = Campaign::create_on(files, &results, plan, ORIGIN, begins)?;
            self.directory = Some(campaign.directory().to_owned());
            return Ok(campaign);
        };
        Campaign::open_on(files, directory)
    }

    fn attempt(&mut self) -> Result<()> {
        let mut campaign = self.campaign()?;
        if campaign.state() == CampaignState::Finished {
            // A process ended between its last operation and its end.
            self.find_promised(&campaign);
            self.is_finished = true;
            return Ok(());
        }
        let start = Arc::new(SimulatedGuardians(self.machine.clone()));
        let settings = self.settings(campaign.directory());
        let opened = Executor::open_with(settings, &Interrupt::default(), start)
            .and_then(|executor| executor.able_to_undo(&self.plan.subjects));
        let mut executor = match opened {
            Ok(executor) => executor,
            Err(error) => {
                if campaign.record_count() == 0 {
                    self.discarded = self.directory.take();
                    // As `lab` does; one that stays does no harm.
                    let _ = campaign.discard();
                }
                return Err(error);
            }
        };
        let outcome = self
            .trials(&mut campaign, usize::MAX, &mut |runs, trial| runs.trial(&mut executor, trial));
        executor.close()?;
        outcome?;
        campaign.mark_finished()?;
        self.is_finished = true;
        Ok(())
    }

    fn settings(&self, directory: &Path) -> ExecutorSettings {
        ExecutorSettings {
            machine: self.machine.machine(),
            catalogue: catalogue(),
            executable: PathBuf::from("/nonexistent"),
            machine_arguments: Vec::new(),
            logs: directory.join("logs"),
            scratch: directory.join("scratch"),
            purpose: "a schedule of faults".to_owned(),
            longest_standstill: LONGEST_STANDSTILL,
        }
    }

    fn trials(
        &mut self,
        campaign: &mut Campaign,
        most: usize,
        trial_of: TrialOf<'_>,
    ) -> Result<()> {
        let attempts = Attempts::on(self.machine.files(), &Path::new(DATA).join("state"));
        let release = ("kernel.release".to_owned(), "simulated".to_owned());
        let digest = campaign.save_fingerprint(&Fingerprint(BTreeMap::from([release])))?;
        let boot_id = self.machine.state().kernel.boot_id();
        let unix_ns = BEGAN_UNIX_NS + campaign.record_count();
        if let Some(known) = campaign.resume(&boot_id, unix_ns, Some(&attempts))? {
            self.machine
                .blame(format!("of {known} records that the machine knows not all are there"));
        }
        self.find_promised(campaign);
        let blocks = campaign.plan().blocks.clone();
        let trials: Vec<Trial> =
            blocks.iter().flat_map(|block| plan::trials(&self.plan, block)).collect();
        for trial in trials.iter().skip(self.promised.len()).take(most) {
            campaign.reserve(RECORD_SPACE)?;
            let mut record = trial_of(self, trial)?;
            record.sequence = campaign.record_count();
            record.fingerprint.clone_from(&digest);
            campaign.append(&mut record)?;
            self.promised.push(record);
            // Without it records that are removed later are not missed.
            let _ = campaign.keep_count(&attempts);
        }
        Ok(())
    }

    /// A process that went on found what was promised, and one record more at most: of a process
    /// that ended before it could promise it.
    fn find_promised(&mut self, campaign: &Campaign) {
        self.check_records();
        let count = campaign.record_count();
        if count == self.promised.len() as u64 + 1 {
            let loaded = self
                .machine
                .undisturbed(|| load_on(&*self.machine.files(), campaign.directory()).ok());
            self.promised = loaded.map(|loaded| loaded.records.to_vec()).unwrap_or_default();
        }
        if count != self.promised.len() as u64 {
            let promised = self.promised.len();
            self.machine.blame(format!("{promised} records were promised, a run found {count}"));
        }
    }

    fn trial(&mut self, executor: &mut Executor, trial: &Trial) -> Result<Record> {
        // No process is simulated: nothing runs between setting and putting back.
        let mut trial = trial.clone();
        trial.workload.invocations = 0;
        let mut was_settled = false;
        let mut record = executor.run(&trial, &mut |event| {
            if matches!(event, Event::TrialPhase(Phase::Settling)) {
                was_settled = true;
                self.check_levels(&trial.subject.id);
                let is_looked_at = self.machine.state().random.one_in(4);
                if is_looked_at {
                    self.check_lock();
                }
                self.share(&trial.subject.id);
            }
        })?;
        self.check_changed_level(&record.outcome, &trial.subject.id);
        let is_completed = record.outcome == Outcome::Completed;
        if is_completed && !was_settled {
            self.machine.blame("a trial without its levels is complete");
        }
        let samples = vec![Sample::values("time", vec![1.0, 2.0])];
        let invocations = vec![fixtures::invocation(samples)];
        // The real clock would make records of other lengths, and another schedule.
        record.started_unix_ns = BEGAN_UNIX_NS;
        record.duration_ns = 1;
        record.invocations = if is_completed { invocations } else { Vec::new() }.into();
        Ok(record)
    }

    /// Somebody else may change what a trial has set, to what neither it nor they had before: that
    /// is left alone (invariant 2).
    fn share(&mut self, subject: &str) {
        let mut state = self.machine.state();
        if !self.is_shared || self.changed.is_some() || !state.random.one_in(6) {
            return;
        }
        let is_coupled = state.kernel.coupling() != Coupling::None;
        let change = match subject {
            "tuned" if state.random.one_in(2) => Some((BASE_SLICE, "5000000")),
            "tuned" => self.other_thp.map(|other| (THP, other)),
            // Where the cost moves the slice, whose change it was is not known.
            "small" if !is_coupled => Some((MIGRATION_COST, "300000")),
            _ => None,
        };
        if let Some((path, value)) = change
            && state.kernel.write(path, value).is_ok()
        {
            self.changed = Some((path, value, state.failures));
        }
    }

    /// A trial that goes on has its levels in force (invariant 3).
    fn check_levels(&self, subject: &str) {
        let state = self.machine.state();
        let wanted = LEVELS.iter().find(|(id, _)| *id == subject).map_or(&[][..], |(_, it)| *it);
        let wrong = wanted.iter().find(|(_, _, path, value)| {
            state.kernel.knobs().get(path).is_none_or(|now| now != value)
        });
        let wrong = wrong.map(|(_, _, path, value)| format!("{path} is not {value} in a trial"));
        drop(state);
        if let Some(wrong) = wrong {
            self.machine.blame(wrong);
        }
    }

    /// A level that the kernel changed is told with what was written, and to which file.
    fn check_changed_level(&self, outcome: &Outcome, subject: &str) {
        let Outcome::Invalid { detail, .. } = outcome else { return };
        // What is written back before a level is set is not its value.
        if !detail.contains(", the kernel keeps ") || detail.contains("could not be undone") {
            return;
        }
        let wanted = LEVELS.iter().find(|(id, _)| *id == subject).map_or(&[][..], |(_, it)| *it);
        let is_told = |(factor, level, path, value): &FactorLevel| {
            let words = format!("{factor} = {level}: wrote {value} to {path}, the kernel keeps ");
            detail.contains(&words)
        };
        if !wanted.iter().any(is_told) {
            self.machine.blame(format!("no level of {subject} is told by: {detail}"));
        }
    }

    /// Nobody else may begin while a campaign runs (invariant 5).
    fn check_lock(&self) {
        let machine = self.machine.machine();
        let second =
            self.machine.undisturbed(|| Lock::acquire(&machine, "a second campaign").err());
        match second {
            Some(error) if error.cause.contains("a schedule of faults") => {}
            Some(error) => self.machine.blame(format!("refused without a reason: {error}")),
            None => self.machine.blame("a second campaign took the lock"),
        }
    }

    /// What was promised is there, in order and bound, and one record more at most (invariant 4).
    pub(crate) fn check_records(&self) {
        let Some(directory) = &self.directory else { return };
        let loaded = self.machine.undisturbed(|| load_on(&*self.machine.files(), directory));
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return self.machine.blame(format!("the campaign is lost: {error}")),
        };
        let count = self.promised.len();
        if loaded.records.get(..count) != Some(&self.promised[..]) {
            let found = loaded.records.len();
            self.machine
                .blame(format!("{count} records were promised, {found} are there, or others"));
        }
        if loaded.records.len() > count + 1 {
            self.machine.blame("there are more records than trials");
        }
        for flaw in &loaded.flaws {
            self.machine.blame(format!("evidence that nobody touched is flawed: {}", flaw.detail));
        }
        for unbound in loaded.unbound.iter().filter(|line| !line.starts_with(TORN_LINE)) {
            self.machine.blame(format!("evidence that nobody touched is not bound: {unbound}"));
        }
        let environment = loaded.environment.as_ref().map(fingerprint_digest);
        let is_own = |record: &Record| environment.as_deref() == Some(record.fingerprint.as_str());
        if !loaded.records.iter().all(is_own) {
            self.machine.blame("a record does not name the machine that it was made on");
        }
    }

    /// All that was planned has one record each, a bit that flips in any of them is seen, and of other
    /// damage it is named which record does not follow what is before it, and why.
    pub(crate) fn check_end(&self, at: u64, bit: u64, random: &mut Random) {
        let Some(directory) = &self.directory else { return };
        let found = self.promised.iter().map(|record| (record.block, record.subject.as_str()));
        let wanted = self.plan.blocks.iter().flat_map(|block| {
            block.sittings.iter().map(|sitting| (block.index, sitting.subject.as_str()))
        });
        if !found.eq(wanted) {
            self.machine.blame("records were lost, or are there twice");
        }
        let place = self.flip_record(directory, at, bit);
        let loaded = load_on(&*self.machine.files(), directory);
        if place.is_some() && loaded.is_ok_and(|loaded| loaded.flaws.is_empty()) {
            self.machine.blame(format!("a bit of byte {place:?} of the records flips unseen"));
        }
        self.flip_record(directory, at, bit);
        record_damage::check(&self.machine, directory, random);
    }

    /// Flips a bit of the records, and tells of which byte.
    fn flip_record(&self, directory: &Path, at: u64, bit: u64) -> Option<usize> {
        let mut state = self.machine.state();
        let file = state.disk.file(&directory.join("records.jsonl"))?;
        let length = state.disk.bytes(file).len() as u64;
        let place = usize::try_from(at.checked_rem(length)?).ok()?;
        state.disk.flip(file, place, usize::try_from(bit % 8).ok()?);
        Some(place)
    }

    /// Names in the campaign's directory that are none of its files, as those of workloads and of
    /// documents that were not written to their end.
    pub(crate) fn left_names(&self) -> Vec<String> {
        let state = self.machine.state();
        let names = self.directory.as_ref().and_then(|directory| state.disk.names(directory).ok());
        let mut names = names.unwrap_or_default();
        names.retain(|name| !OF_CAMPAIGN.contains(&name.as_str()));
        names
    }

    /// Runs that were refused and left all as it was.
    pub(crate) fn refused(&self) -> u32 {
        self.refused
    }

    fn state_before(&mut self) -> StateBefore {
        self.discarded = None;
        let machine = self.machine.machine();
        let journal = self.machine.undisturbed(|| Journal::read(&machine));
        let state = self.machine.state();
        StateBefore {
            knobs: state.kernel.knobs().clone(),
            records: self.promised.len(),
            is_settled: !state.is_harmed && journal.is_ok_and(|text| text.is_empty()),
            failures: state.failures - state.refused_settings,
        }
    }

    /// What this machine cannot do is refused with a remedy; nothing ran, and nothing was changed
    /// (invariant 10). Where more failed than writing settings, what was changed meanwhile may be
    /// left to the next process.
    fn check_refusal(&mut self, error: &Error, before: &StateBefore) {
        if error.kind != ErrorKind::Unsupported {
            return;
        }
        if error.remedy.is_empty() {
            self.machine.blame(format!("a refusal says nothing of what to do: {error:?}"));
        }
        if self.promised.len() != before.records {
            self.machine.blame(format!("trials ran before a refusal: {error:?}"));
        }
        let state = self.machine.state();
        let has_failed = state.failures - state.refused_settings != before.failures;
        let is_as_before = *state.kernel.knobs() == before.knobs;
        let is_left = self.discarded.as_ref().is_some_and(|left| state.disk.node(left).is_some());
        drop(state);
        if has_failed || !before.is_settled {
            return;
        }
        self.refused += 1;
        if !is_as_before {
            self.machine.blame(format!("something was changed before a refusal: {error:?}"));
        }
        if is_left {
            self.machine.blame(format!("a run that was refused left a directory: {error:?}"));
        }
    }

    /// One process of `schedlab restore`. Nothing is returned where it could not be begun.
    pub(crate) fn restore(&mut self) -> Option<executor::RestoreReport> {
        let machine = self.machine.machine();
        let permitted = PermittedChanges::of(&catalogue());
        match restore_leftovers(&machine, permitted, "schedlab restore") {
            Ok(report) => {
                self.was_told |= !report.is_complete();
                self.left_alone.extend(report.left_alone.iter().cloned());
                Some(report)
            }
            Err(error) => {
                self.hear(&error);
                None
            }
        }
    }

    /// What a guardian does that is left by its executor. Nothing is returned where it could not.
    pub(crate) fn guard(&mut self) -> Option<executor::RestoreReport> {
        let watched = watch(&self.machine.machine(), self.machine.pipe()?);
        // It has nobody to tell.
        watched.map_err(|error| self.judge(&error)).ok()
    }

    /// A user reads what went wrong.
    fn hear(&mut self, error: &Error) {
        self.was_told |= error.kind == ErrorKind::RestoreIncomplete;
        let lines = error.cause.split("; ").filter(|line| line.ends_with("left alone)"));
        self.left_alone.extend(lines.map(str::to_owned));
        self.judge(error);
    }

    /// Every refusal says what was attempted and why it failed (invariant 10).
    fn judge(&self, error: &Error) {
        if error.attempted.is_empty() || error.cause.is_empty() {
            self.machine.blame(format!("an error tells nothing: {error:?}"));
        }
    }
}

/// A guardian's work from what it was sent.
fn watch(machine: &sys::Machine, mut pipe: File) -> Result<executor::RestoreReport> {
    pipe.rewind().map_err(|error| Error::environment("cannot read the pipe", error))?;
    guard(machine, PermittedChanges::of(&catalogue()), BufReader::new(pipe))
}

/// Starts guardians that do nothing before their executor has ended.
struct SimulatedGuardians(SimulatedMachine);

impl StartGuardian for SimulatedGuardians {
    fn start(&self, _: &ExecutorSettings, _: &Lock) -> Result<(Box<dyn Guardian>, File)> {
        let failed = |error| Error::environment("cannot start the guardian", error);
        // The kernel keeps what was sent when the sender ends.
        let pipe = memfd_create("fault-sim", MemfdFlags::CLOEXEC).map_err(failed)?;
        let pipe = File::from(pipe);
        let own = pipe
            .try_clone()
            .map_err(|error| Error::environment("cannot start the guardian", error))?;
        self.0.start_guardian(own);
        Ok((Box::new(SimulatedGuardian(self.0.clone())), pipe))
    }
}

/// A guardian that watches.
struct SimulatedGuardian(SimulatedMachine);

impl Guardian for SimulatedGuardian {
    fn is_alive(&mut self) -> bool {
        true
    }

    /// It works while its executor waits; what happens to it then is no end of the executor.
    fn dismiss(self: Box<Self>) -> Result<()> {
        let Some(pipe) = self.0.pipe() else { return Ok(()) };
        let watched = self.0.undisturbed(|| watch(&self.0.machine(), pipe));
        self.0.end_guardian();
        let report = watched?;
        if report.is_complete() {
            return Ok(());
        }
        Err(Error::environment("the guardian failed", "exit status: 1"))
    }
}
