//! Follows a campaign's directory: what was appended to its files since the last look.

use crate::campaign_loader::CampaignLoader;
use crate::event_log::{EventTail, Happened, Line};
use crate::latencies::Latencies;
use crate::live_campaign::{Current, LiveCampaign, LiveVerdict, LogLine, RunState, Trials};
use contract::{Event, Result};
use lab::CampaignProgress;
use model::{Findings, NumberOrigin, Outcome, Phase, Plan, Role};
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::SystemTime;
use store::{LoadedCampaign, ReadPosition};
use sys::{Machine, Process};

/// Lines of the log that are kept.
const MOST_LINES: usize = 200;
/// Files that are written anew when something changes.
const DOCUMENTS: [&str; 3] = ["plan.json", "state.json", "environment.json"];

/// A campaign that is watched.
#[derive(Debug)]
pub struct Follower {
    machine: Machine,
    loader: CampaignLoader,
    loaded: LoadedCampaign,
    written: Vec<Option<SystemTime>>,
    /// Length and time of the records' file.
    stored: Option<(u64, SystemTime)>,
    records: ReadPosition,
    events: EventTail,
    runner: Option<(Process, String)>,
    progress: CampaignProgress,
    current: Option<Running>,
    latencies: Latencies,
    log: VecDeque<LogLine>,
    findings: Option<Findings>,
    /// Records that the findings were made from.
    judged: usize,
    /// Trials that were done then.
    judged_trials: usize,
}

/// The trial that runs.
#[derive(Debug)]
struct Running {
    block: u32,
    subject: String,
    workload: String,
    phase: Option<Phase>,
    begun_ms: u64,
}

impl Follower {
    /// Follows the campaign in a directory, from its first record. What speaks against its evidence,
    /// the loader says.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(directory: &Path, machine: &Machine, loader: &CampaignLoader) -> Result<Self> {
        let mut follower = Self {
            machine: machine.clone(),
            loader: loader.clone(),
            loaded: store::load_without_records(directory)?,
            written: written(directory),
            stored: stored(directory),
            records: ReadPosition::default(),
            events: EventTail::default(),
            runner: None,
            progress: CampaignProgress::default(),
            current: None,
            latencies: Latencies::default(),
            log: VecDeque::new(),
            findings: None,
            judged: 0,
            judged_trials: 0,
        };
        follower.update()?;
        Ok(follower)
    }

    /// Reads what is there since the last call; whether anything was.
    ///
    /// # Errors
    /// When a file cannot be read or understood.
    pub fn update(&mut self) -> Result<bool> {
        let directory = self.loaded.directory.clone();
        let (now, stored) = (written(&directory), stored(&directory));
        if self.is_rewritten(&now, stored) {
            *self = Self::open(&directory, &self.machine, &self.loader)?;
            return Ok(true);
        }
        self.stored = stored;
        let mut is_changed = now != self.written;
        if is_changed {
            let records = std::mem::take(&mut self.loaded.records);
            self.loaded = LoadedCampaign { records, ..store::load_without_records(&directory)? };
            self.written = now;
        }
        // Events first: a record is on disk before its event is, so each event finds its record.
        let lines = self.events.read(&directory);
        let records = self.records.read(&directory)?;
        is_changed |= !lines.is_empty() || !records.is_empty();
        for record in &records {
            self.latencies.note(&self.loaded.plan, record);
        }
        self.loaded.records.extend(records);
        for line in lines {
            self.note(line);
        }
        Ok(is_changed)
    }

    /// Whether the files are not those that were read, and not only longer: a campaign that is over has
    /// no reason to change, and no record goes away.
    fn is_rewritten(&self, now: &[Option<SystemTime>], stored: Option<(u64, SystemTime)>) -> bool {
        let was_cut = stored.zip(self.stored).is_some_and(|(now, before)| now.0 < before.0);
        was_cut || self.loaded.is_finished && (stored != self.stored || now != self.written)
    }

    fn note(&mut self, line: Line) {
        let at_ms = line.at_ms;
        if let Some(event) = self.event(line.happened, at_ms) {
            self.progress.note(&event);
            if let Some(text) = lab::event_line(&event) {
                self.log.push_back(LogLine { at_ms, text });
                let surplus = self.log.len().saturating_sub(MOST_LINES);
                self.log.drain(..surplus);
            }
        }
    }

    /// The event that a line tells of; `None` of what is no event of the campaign's progress.
    fn event(&mut self, happened: Happened, at_ms: u64) -> Option<Event> {
        match happened {
            Happened::Opened { process, boot_id } => {
                self.runner = Some((process, boot_id));
                self.current = None;
                None
            }
            Happened::Started { trials_done, trials_left } => {
                self.progress = CampaignProgress::default();
                let plan = Box::new(self.loaded.plan.clone());
                Some(Event::CampaignStarted { plan, trials_done, trials_left })
            }
            Happened::TrialStarted { block, subject, workload, trials_left } => {
                self.current = Some(Running {
                    block,
                    subject: subject.clone(),
                    workload: workload.clone(),
                    phase: None,
                    begun_ms: at_ms,
                });
                Some(Event::TrialStarted { block, subject, workload, trials_left })
            }
            Happened::Phase { phase } => {
                if let Some(current) = &mut self.current {
                    current.phase = Some(phase);
                }
                None
            }
            Happened::TrialFinished { sequence } => {
                self.current = None;
                let at = usize::try_from(sequence).ok()?;
                let record = Box::new(self.loaded.records.get(at)?.clone());
                Some(Event::TrialFinished { record })
            }
            Happened::BlockRepeated { block, again } => Some(Event::BlockRepeated { block, again }),
            Happened::Notice { text } => Some(Event::Notice(text)),
            Happened::Ended => {
                (self.current, self.runner) = (None, None);
                None
            }
        }
    }

    /// Judges what is there, where that is more than was judged last; whether it was.
    pub fn judge(&mut self) -> bool {
        let is_news = self.findings.is_none() || self.judged != self.revision();
        if is_news {
            self.check_evidence();
            self.findings = Some(lab::judge_records(&self.loaded));
            self.judged = self.revision();
            self.judged_trials = self.trials().done;
        }
        is_news
    }

    /// Looks at what speaks against the evidence, where nothing is written: by the campaign itself, by
    /// its experiment and by what the machine remembers. What is found is told in the log, too.
    fn check_evidence(&mut self) {
        if !self.loaded.is_finished && self.runner().is_some() {
            return;
        }
        let Ok(whole) = self.loader.load(&self.loaded.directory) else { return };
        (self.loaded.flaws, self.loaded.binding) = (whole.flaws, whole.binding);
        self.loaded.caveats = whole.caveats;
        let at_ms = sys::unix_ns() / 1_000_000;
        for flaw in &self.loaded.flaws {
            let text = format!("{}: {}", flaw.code, flaw.detail);
            if self.log.iter().all(|line| line.text != text) {
                self.log.push_back(LogLine { at_ms, text });
            }
        }
        let surplus = self.log.len().saturating_sub(MOST_LINES);
        self.log.drain(..surplus);
    }

    /// What was judged last.
    pub fn findings(&self) -> Option<&Findings> {
        self.findings.as_ref()
    }

    /// The same where it rests on a record, which alone says what a guest's processor was.
    fn findings_of_records(&self) -> Option<&Findings> {
        let has_records = self.judged > usize::from(self.loaded.is_finished);
        self.findings.as_ref().filter(|_| has_records)
    }

    /// Everything that the directory says.
    pub fn loaded(&self) -> &LoadedCampaign {
        &self.loaded
    }

    /// Grows with each record, and once more when the campaign ends.
    pub fn revision(&self) -> usize {
        self.loaded.records.len() + usize::from(self.loaded.is_finished)
    }

    /// The process that runs the campaign, where one does.
    pub fn runner(&self) -> Option<Process> {
        let (process, boot_id) = self.runner.as_ref()?;
        is_alive(&self.machine, *process, boot_id).then_some(*process)
    }

    /// What it looks like.
    pub fn snapshot(&self) -> LiveCampaign {
        let plan = &self.loaded.plan;
        let state = RunState::of(self.loaded.state, || self.runner().is_some());
        let is_running = state == RunState::Running;
        let rested = self.findings_of_records();
        let hides_absolute = match rested {
            Some(findings) => findings.findings.iter().any(|finding| finding.is_emulated),
            // Until then nobody knows whether a guest's processor is a real one.
            None => plan.boots_guests(),
        };
        LiveCampaign {
            name: self.name(),
            title: plan.title.clone(),
            venue: plan.venue.clone(),
            origin: NumberOrigin::of(plan, rested),
            is_quick: plan.is_quick,
            hides_absolute,
            state,
            begun_ms: self.loaded.created_unix_ns / 1_000_000,
            trials: self.trials(),
            left_ms: is_running.then(|| self.progress.left_ns() / 1_000_000),
            current: self.current.as_ref().filter(|_| is_running).map(|one| current(plan, one)),
            revision: self.judged,
            judged_trials: self.judged_trials,
            verdicts: self.findings.iter().flat_map(verdicts).collect(),
            latencies: if hides_absolute { Vec::new() } else { self.latencies.all().to_vec() },
            log: self.log.iter().cloned().collect(),
        }
    }

    /// The directory's name.
    pub fn name(&self) -> String {
        let name = self.loaded.directory.file_name();
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn trials(&self) -> Trials {
        let records = &self.loaded.records;
        let count =
            |is: fn(&Outcome) -> bool| records.iter().filter(|one| is(&one.outcome)).count();
        let (done, total) = self.progress.trials();
        // One without a log was run by a version that wrote none.
        let is_told = total > 0;
        Trials {
            done: if is_told { done } else { records.len() },
            total: if is_told { total } else { self.loaded.plan.trial_count() },
            failed: count(|outcome| matches!(outcome, Outcome::Failed { .. })),
            invalid: count(|outcome| matches!(outcome, Outcome::Invalid { .. })),
        }
    }
}

/// Whether a process runs the campaign in a directory.
pub fn is_running(directory: &Path, machine: &Machine) -> bool {
    let mut runner = None;
    EventTail::default().all(directory, |line| match line.happened {
        Happened::Opened { process, boot_id } => runner = Some((process, boot_id)),
        Happened::Ended => runner = None,
        _ => {}
    });
    runner.is_some_and(|(process, boot_id)| is_alive(machine, process, &boot_id))
}

fn is_alive(machine: &Machine, process: Process, boot_id: &str) -> bool {
    machine.boot_id().is_ok_and(|now| now == boot_id)
        && machine
            .process_stat(process.pid)
            .is_ok_and(|stat| stat.start_ticks == process.start_ticks && stat.state != 'Z')
}

fn current(plan: &Plan, running: &Running) -> Current {
    let expected_ns = plan.workload(&running.workload).map(|workload| {
        model::sum_ns([workload.trial_expected_ns(&running.subject), plan.settle_ns])
    });
    Current {
        block: running.block.saturating_add(1),
        blocks: plan.blocks.len(),
        subject: running.subject.clone(),
        workload: running.workload.clone(),
        phase: running.phase.map_or("preparing", phase_name).to_owned(),
        begun_ms: running.begun_ms,
        expected_ms: expected_ns.map(|expected_ns| expected_ns / 1_000_000),
    }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Booting => "booting",
        Phase::Starting => "starting",
        Phase::Resting => "resting",
        Phase::Setting => "setting",
        Phase::Settling => "settling",
        Phase::Preparing { .. } => "preparing",
        Phase::Running { .. } => "running",
        Phase::Restoring => "restoring",
    }
}

fn verdicts(findings: &Findings) -> impl Iterator<Item = LiveVerdict> {
    let asked = findings.findings.iter().filter(|one| one.question.role != Role::Screen);
    asked.map(|finding| {
        let (question, effect) = (&finding.question, finding.effect.as_ref());
        let interval = finding.shown_interval();
        LiveVerdict {
            workload: question.workload.clone(),
            metric: question.metric.clone(),
            unit: question.unit,
            direction: question.direction,
            subject: question.subject.clone(),
            reference: question.reference.clone(),
            role: question.role,
            verdict: finding.verdict,
            margin: finding.margin,
            pairs: finding.pairs,
            alpha: findings.shown_alpha(finding),
            is_sequence: finding.is_sequence(),
            ratio: effect.map(|effect| effect.ratio),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high).filter(|high| high.is_finite()),
        }
    })
}

fn written(directory: &Path) -> Vec<Option<SystemTime>> {
    let of = |name: &&str| fs::metadata(directory.join(name)).and_then(|of| of.modified()).ok();
    DOCUMENTS.iter().map(of).collect()
}

fn stored(directory: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(directory.join("records.jsonl")).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventLog;
    use model::{Caveat, CaveatCode, Finding, ImportedDesign, ImportedOrder, Record, VmSettings};
    use store::{Attempts, Campaign};

    #[test]
    fn verdicts_say_after_how_many_trials_they_were_made() {
        let results = tempfile::tempdir().unwrap();
        let machine = Machine::host("/nonexistent");
        let workloads = vec![fixtures::workload("wakeup", Vec::new())];
        let plan = fixtures::plan(fixtures::subjects(&["baseline"]), workloads, 1);
        let campaign = Campaign::create(results.path(), &plan, "", 1, 0xbeef).unwrap();
        let directory = campaign.directory().to_owned();
        let mut log = EventLog::new(&machine);
        let started = |trials_done| {
            let plan = Box::new(plan.clone());
            Event::CampaignStarted { plan, trials_done, trials_left: 9 }
        };
        log.note(&Event::CampaignOpened { directory: directory.clone() }, 1);
        log.note(&started(2), 1);
        let loader = CampaignLoader::new(lab::load);
        let mut follower = Follower::open(&directory, &machine, &loader).unwrap();
        assert!(follower.judge());
        log.note(&started(3), 2);
        follower.update().unwrap();
        let told = follower.snapshot();
        assert_eq!((told.judged_trials, told.trials.done), (2, 3));
    }

    #[test]
    fn a_trial_of_the_longest_time_there_is_is_expected_to_take_no_longer() {
        let mut workload = fixtures::workload("wakeup", Vec::new());
        workload.expected_ns = u64::MAX;
        let plan = fixtures::plan(fixtures::subjects(&["baseline"]), vec![workload], 1);
        let plan = Plan { settle_ns: 1, ..plan };
        let running = Running {
            block: 0,
            subject: "baseline".to_owned(),
            workload: "wakeup".to_owned(),
            phase: None,
            begun_ms: 0,
        };
        assert_eq!(current(&plan, &running).expected_ms, Some(u64::MAX / 1_000_000));
    }

    #[test]
    fn a_snapshot_says_where_the_numbers_of_its_verdicts_come_from() {
        let machine = Machine::host("/nonexistent");
        let loader = CampaignLoader::new(lab::load);
        let workloads = vec![fixtures::workload("w", Vec::new())];
        let plan = fixtures::plan(fixtures::subjects(&["a", "b"]), workloads, 1);
        let simulated = Plan { venue: "sim".to_owned(), ..plan.clone() };
        let from = fixtures::imported(ImportedDesign::Blocked, ImportedOrder::Rows);
        let imported = Plan { imported: Some(from), ..plan.clone() };
        let vm = Some(VmSettings::default());
        let guest = Plan { venue: "vm".to_owned(), vm, ..plan.clone() };
        let question = fixtures::question("w", "m", "b", "a");
        // The last is how many records were judged.
        for (plan, is_emulated, origin, judged) in [
            (&plan, false, NumberOrigin::Measured, 1),
            (&plan, true, NumberOrigin::Emulated, 1),
            (&simulated, false, NumberOrigin::Simulated, 1),
            (&imported, false, NumberOrigin::Imported, 1),
            (&guest, false, NumberOrigin::Measured, 1),
            (&guest, true, NumberOrigin::Emulated, 1),
            (&guest, false, NumberOrigin::Unknown, 0),
        ] {
            let results = tempfile::tempdir().unwrap();
            let campaign = Campaign::create(results.path(), plan, "", 1, 0xbeef).unwrap();
            let mut follower = Follower::open(campaign.directory(), &machine, &loader).unwrap();
            let finding = Finding { is_emulated, ..fixtures::finding(question.clone()) };
            assert_eq!(follower.snapshot().hides_absolute, plan.boots_guests());
            follower.findings = Some(fixtures::findings(vec![finding]));
            follower.judged = judged;
            let told = follower.snapshot();
            assert_eq!(told.hides_absolute, is_emulated || judged == 0, "{}", plan.venue);
            assert_eq!((told.origin, told.verdicts.len()), (origin, 1), "{}", plan.venue);
        }
    }

    /// A campaign of three records, all of which the machine remembers, and what says so.
    fn remembered(home: &Path) -> (Campaign, CampaignLoader) {
        let workloads = vec![fixtures::workload("wakeup", Vec::new())];
        let plan = fixtures::plan(fixtures::subjects(&["baseline"]), workloads, 3);
        let mut campaign = Campaign::create(&home.join("results"), &plan, "", 1, 0xbeef).unwrap();
        for block in 0..3 {
            let one = fixtures::record("baseline", "wakeup");
            let mut one = Record { block, sequence: u64::from(block), ..one };
            campaign.append(&mut one).unwrap();
        }
        let attempts = Attempts::of(&home.join("state"));
        campaign.keep_count(&attempts).unwrap();
        let loader = CampaignLoader::new(move |directory| {
            let known = attempts.known_records(directory);
            let mut loaded = lab::load(directory)?;
            let told = known.and_then(|known| known.contradiction(&loaded));
            loaded.flaws.extend(told.map(|told| Caveat::new(CaveatCode::EvidenceChanged, told)));
            Ok(loaded)
        });
        (campaign, loader)
    }

    /// Removes the last record; whether the follower says what the machine knew.
    fn tells_a_cut(follower: &mut Follower) -> bool {
        let path = follower.loaded().directory.join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let end = text.trim_end().rfind('\n').unwrap() + 1;
        fs::write(&path, &text[..end]).unwrap();
        assert!(follower.update().unwrap());
        assert!(follower.judge(), "what is there is other than what was judged");
        let told = "records were removed: this machine knew 3, and 2 are there";
        let findings = follower.findings().unwrap();
        let is_withheld = findings.caveats.iter().any(|caveat| caveat.detail == told);
        let log = follower.snapshot().log;
        is_withheld && log.iter().any(|line| line.text == format!("EVIDENCE_CHANGED: {told}"))
    }

    #[test]
    fn records_that_the_machine_remembers_and_that_are_gone_are_told_while_they_are_followed() {
        let machine = Machine::host("/nonexistent");
        for is_over in [false, true] {
            let home = tempfile::tempdir().unwrap();
            let (mut campaign, loader) = remembered(home.path());
            let directory = campaign.directory().to_owned();
            if is_over {
                campaign.mark_finished().unwrap();
            }
            let mut follower = Follower::open(&directory, &machine, &loader).unwrap();
            assert!(follower.judge());
            assert!(follower.loaded().flaws.is_empty(), "{:?}", follower.loaded().flaws);
            assert!(tells_a_cut(&mut follower), "{is_over}");
        }
    }
}
