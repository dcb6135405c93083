//! Whole campaigns on a scripted venue: what is repeated, given up and resumed.

use contract::{
    Description, Error, ErrorKind, Event, Interrupt, Missing, Result, Venue, VenueSession,
};
use fixtures::{invocation, subjects, workload};
use lab::Order;
use model::{
    Block, Direction, Fingerprint, Metric, Outcome, Plan, Record, Reduction, Sample, Trial, Unit,
    Verdict,
};
use std::path::Path;

/// What the venue answers to a trial.
#[derive(Clone, Copy)]
enum Answer {
    Completed,
    /// Completed with this value.
    Measured(f64),
    Invalid(&'static str),
    /// The machine went down before the trial ended.
    Lost,
}

type Script = fn(&Trial) -> Answer;

struct Scripted {
    boot: &'static str,
    missing: Vec<Missing>,
    script: Script,
}

static DESCRIPTION: Description =
    Description { id: "scripted", summary: "answers as it is told", doc: "For tests." };

impl Venue for Scripted {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn recover(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn missing(&self, _: &Plan) -> Vec<Missing> {
        self.missing.clone()
    }

    fn identity(&self, _: &Plan) -> Result<Fingerprint> {
        Ok(Fingerprint([("kernel.release".to_owned(), "6.12".to_owned())].into()))
    }

    fn open(
        &self,
        _: &Plan,
        _: &Path,
        _: &Interrupt,
        _: &mut dyn FnMut(Event),
    ) -> Result<Box<dyn VenueSession>> {
        Ok(Box::new(Opened { boot: self.boot, script: self.script }))
    }
}

struct Opened {
    boot: &'static str,
    script: Script,
}

impl VenueSession for Opened {
    fn fingerprint(&mut self) -> Result<Fingerprint> {
        let facts = [("boot.id", self.boot), ("kernel.release", "6.12")];
        Ok(Fingerprint(facts.map(|(key, text)| (key.to_owned(), text.to_owned())).into()))
    }

    fn run(&mut self, trial: &Trial, _: &mut dyn FnMut(Event)) -> Result<Record> {
        let answer = (self.script)(trial);
        let outcome = match answer {
            Answer::Completed | Answer::Measured(_) => Outcome::Completed,
            Answer::Invalid(rule) => {
                Outcome::Invalid { rule: rule.to_owned(), detail: "as told".to_owned() }
            }
            Answer::Lost => {
                return Err(Error::new(ErrorKind::Environment, "lost", "the power went", ""));
            }
        };
        let value = if let Answer::Measured(value) = answer { value } else { 1.0 };
        let samples = vec![Sample::values("time", vec![value])];
        let mut record = Record::of(trial, outcome);
        record.duration_ns = 1;
        self.boot.clone_into(&mut record.boot_id);
        record.invocations = vec![invocation(samples)].into();
        Ok(record)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

const SUBJECTS: [&str; 3] = ["reference", "steady", "refused"];

fn plan(blocks: u32) -> Plan {
    let time =
        Metric::new("time", Unit::Nanoseconds, Direction::Lower, Reduction::Median, "for tests");
    fixtures::plan(subjects(&SUBJECTS), vec![workload("w", vec![time])], blocks)
}

/// Runs or goes on with the campaign below `results`; its records and plan as stored.
fn run(results: &Path, boot: &'static str, script: Script) -> (Result<()>, store::LoadedCampaign) {
    run_plan(results, &plan(5), boot, script)
}

fn run_plan(
    results: &Path,
    plan: &Plan,
    boot: &'static str,
    script: Script,
) -> (Result<()>, store::LoadedCampaign) {
    let venue = Scripted { boot, missing: Vec::new(), script };
    let ended = lab::run(&order(results, plan, &venue), &mut |_| ());
    let directory = std::fs::read_dir(results).unwrap().next().unwrap().unwrap().path();
    (ended.map(drop), store::load(&directory).unwrap())
}

fn order<'a>(results: &'a Path, plan: &'a Plan, venue: &'a Scripted) -> Order<'a> {
    static NEVER: std::sync::OnceLock<Interrupt> = std::sync::OnceLock::new();
    Order {
        results,
        plan,
        experiment: "",
        venue,
        interrupt: NEVER.get_or_init(Interrupt::default),
        is_fresh: false,
        unix_ns: 0,
        unique: 0,
        attempts: None,
        watched: &|| None,
    }
}

/// How many trials of a subject there are in a block.
fn count(loaded: &store::LoadedCampaign, subject: &str, block: u32) -> usize {
    let is_it = |record: &&Record| record.subject == subject && record.block == block;
    loaded.records.iter().filter(is_it).count()
}

fn refuses_always(trial: &Trial) -> Answer {
    match trial.subject.id.as_str() {
        "refused" => Answer::Invalid("LEVEL_NOT_SET"),
        _ => Answer::Completed,
    }
}

#[test]
fn a_subject_that_is_refused_twice_is_given_up_and_the_others_go_on() {
    let results = tempfile::tempdir().unwrap();
    let (ended, loaded) = run(results.path(), "boot-1", refuses_always);
    ended.unwrap();
    let refused = |block: u32| count(&loaded, "refused", block);
    assert_eq!((0..6).map(refused).collect::<Vec<_>>(), [1, 1, 0, 0, 0, 0]);
    // One refusal may be chance: the first block runs again, and no other.
    assert_eq!(loaded.plan.blocks.len(), 6);
    assert!((0..6).all(|block| count(&loaded, "steady", block) == 1));
    assert!(loaded.is_finished);
}

#[test]
fn a_block_runs_again_for_a_subject_with_hope_beside_one_that_was_given_up() {
    let results = tempfile::tempdir().unwrap();
    let script = |trial: &Trial| match (trial.subject.id.as_str(), trial.block) {
        ("refused", _) => Answer::Invalid("LEVEL_NOT_SET"),
        // The cap of one block in five is spent on this one: block 0 keeps its refusal.
        ("steady", 0) => Answer::Invalid("LEVEL_CHANGED"),
        _ => Answer::Completed,
    };
    let (ended, loaded) = run(results.path(), "boot-1", script);
    ended.unwrap();
    assert_eq!(loaded.plan.blocks.len(), 6);
    assert_eq!(count(&loaded, "steady", 5), 1);
    let cause = "block 1 runs again at the end, in a new order: a trial broke a validity rule";
    assert_eq!(loaded.plan.notes, [cause]);
    let repeated: Vec<(u32, u32)> =
        loaded.plan.repeated_blocks.iter().map(|one| (one.index, one.runs_again)).collect();
    assert_eq!(repeated, [(5, 0)]);
}

#[test]
fn a_late_invalid_trial_repeats_its_block_although_another_subject_was_given_up() {
    let results = tempfile::tempdir().unwrap();
    let script = |trial: &Trial| match (trial.subject.id.as_str(), trial.block) {
        // Given up after the second block, of which neither runs again for it alone:
        // the first one does, once.
        ("refused", _) => Answer::Invalid("LEVEL_NOT_SET"),
        ("steady", 4) => Answer::Invalid("LEVEL_CHANGED"),
        _ => Answer::Completed,
    };
    let plan = plan(10);
    let venue = Scripted { boot: "boot-1", missing: Vec::new(), script };
    lab::run(&order(results.path(), &plan, &venue), &mut |_| ()).unwrap();
    let directory = std::fs::read_dir(results.path()).unwrap().next().unwrap().unwrap().path();
    let loaded = store::load(&directory).unwrap();
    let repeated: Vec<bool> = [1, 5]
        .map(|block| loaded.plan.notes.iter().any(|note| note.contains(&format!("block {block} "))))
        .into();
    assert_eq!(repeated, [true, true], "{:?}", loaded.plan.notes);
    assert_eq!(loaded.plan.blocks.len(), 12);
}

/// The plan of a campaign whose first two subjects share a boot in each block.
fn booted_plan() -> Plan {
    let mut plan = plan(5);
    for sitting in plan.blocks.iter_mut().flat_map(|block| &mut block.sittings) {
        sitting.boot = Some(u32::from(sitting.subject == "refused"));
    }
    plan
}

#[test]
fn a_block_whose_boot_was_cut_off_runs_again_as_a_whole() {
    let results = tempfile::tempdir().unwrap();
    let script = |trial: &Trial| match (trial.subject.id.as_str(), trial.block) {
        ("steady", 2) => Answer::Lost,
        _ => Answer::Completed,
    };
    let (ended, loaded) = run_plan(results.path(), &booted_plan(), "boot-1", script);
    ended.unwrap_err();
    assert_eq!(loaded.records.len(), 7);
    // The machine that goes on is the same one: what counts is the guest's boot.
    let always = |_: &Trial| Answer::Completed;
    let (ended, loaded) = run_plan(results.path(), &booted_plan(), "boot-1", always);
    ended.unwrap();
    let note = "block 3 runs again at the end, in a new order: one of its boots was cut off";
    assert_eq!(loaded.plan.notes, [note]);
    let of_block = |block: u32| SUBJECTS.map(|subject| count(&loaded, subject, block));
    assert_eq!((of_block(2), of_block(5)), ([1, 0, 0], [1, 1, 1]));
    let again = &loaded.plan.blocks[5].sittings;
    let boot = |id: &str| again.iter().find(|sitting| sitting.subject == id).unwrap().boot;
    assert_eq!(boot("reference"), boot("steady"));
    assert_ne!(boot("reference"), boot("refused"));
}

/// Runs or goes on with a campaign; trials done and in all when it began and when it ended.
fn counted(results: &Path, plan: &Plan, script: Script) -> [(usize, usize); 2] {
    let venue = Scripted { boot: "boot-1", missing: Vec::new(), script };
    let mut progress = lab::CampaignProgress::default();
    let mut begun = (0, 0);
    let _ = lab::run(&order(results, plan, &venue), &mut |event| {
        progress.note(&event);
        if matches!(event, Event::CampaignStarted { .. }) {
            begun = progress.trials();
        }
    });
    [begun, progress.trials()]
}

#[test]
fn progress_counts_the_trials_that_will_run_and_no_others() {
    let results = tempfile::tempdir().unwrap();
    let script = |trial: &Trial| match (trial.subject.id.as_str(), trial.block) {
        ("steady", 2) => Answer::Lost,
        _ => Answer::Completed,
    };
    assert_eq!(counted(results.path(), &booted_plan(), script), [(0, 15), (7, 15)]);
    // Two trials of block 2 do not run; its repetition has three.
    let always = |_: &Trial| Answer::Completed;
    assert_eq!(counted(results.path(), &booted_plan(), always), [(7, 16), (16, 16)]);
    // One block runs again for the refused subject, which is given up after the second.
    let results = tempfile::tempdir().unwrap();
    assert_eq!(counted(results.path(), &plan(5), refuses_always), [(0, 15), (14, 14)]);
}

/// Seconds left after trials that took so many seconds, each in this boot; ten were expected.
fn left_s(mut plan: Plan, trials: &[(&str, u64)]) -> u64 {
    const SECOND_NS: u64 = 1_000_000_000;
    plan.workloads[0].expected_ns = 10 * SECOND_NS;
    let mut progress = lab::CampaignProgress::default();
    let all = plan.trial_count();
    progress.note(&Event::CampaignStarted {
        plan: Box::new(plan.clone()),
        trials_done: 0,
        trials_left: all,
    });
    for (boot, seconds) in trials {
        let mut record = fixtures::record(SUBJECTS[0], "w");
        (*boot).clone_into(&mut record.boot_id);
        record.duration_ns = seconds * SECOND_NS;
        progress.note(&Event::TrialFinished { record: Box::new(record) });
    }
    progress.left_ns() / SECOND_NS
}

#[test]
fn a_trial_that_is_expected_to_take_the_longest_time_there_is_is_counted_like_any_other() {
    let mut plan = plan(5);
    plan.workloads[0].expected_ns = u64::MAX;
    plan.settle_ns = 1;
    let mut progress = lab::CampaignProgress::default();
    let started = Event::CampaignStarted { plan: Box::new(plan), trials_done: 0, trials_left: 15 };
    progress.note(&started);
    let record = Box::new(fixtures::record(SUBJECTS[0], "w"));
    progress.note(&Event::TrialFinished { record });
    assert_eq!(progress.trials(), (1, 15));
}

#[test]
fn what_the_first_trial_of_a_boot_starts_is_expected_once_for_each_boot() {
    assert_eq!(left_s(plan(5), &[]), 150);
    assert_eq!(left_s(plan(5), &[("host", 300)]), 140, "it serves all trials to come");
    assert_eq!(left_s(plan(5), &[("host", 300), ("host", 20)]), 260);
    assert_eq!(left_s(booted_plan(), &[("one", 4), ("two", 6)]), 65, "half of 130");
    let boots: u64 = booted_plan().blocks.iter().map(Block::boot_count).sum();
    assert!(boots > 5, "more than one in a block");
    assert_eq!(left_s(booted_plan(), &[("one", 300)]), 140 + (boots - 1) * 290);
    assert_eq!(left_s(booted_plan(), &[("one", 300), ("two", 100)]), 130 + (boots - 2) * 190);
}

#[test]
fn a_block_that_ended_between_two_boots_is_completed() {
    let results = tempfile::tempdir().unwrap();
    let script = |trial: &Trial| match (trial.subject.id.as_str(), trial.block) {
        ("refused", 2) => Answer::Lost,
        _ => Answer::Completed,
    };
    let (ended, loaded) = run_plan(results.path(), &booted_plan(), "boot-1", script);
    ended.unwrap_err();
    assert_eq!(loaded.records.len(), 8);
    let always = |_: &Trial| Answer::Completed;
    let (ended, loaded) = run_plan(results.path(), &booted_plan(), "boot-2", always);
    ended.unwrap();
    assert_eq!(loaded.plan.notes, Vec::<String>::new());
    assert_eq!(loaded.plan.blocks.len(), 5);
    assert!(SUBJECTS.iter().all(|subject| count(&loaded, subject, 2) == 1));
}

#[test]
fn blocks_that_are_spread_over_boots_wait_for_each_of_them() {
    let results = tempfile::tempdir().unwrap();
    let plan = Plan { boots: Some(3), ..plan(7) };
    let always = |_: &Trial| Answer::Completed;
    let goes_on = |boot| {
        let venue = Scripted { boot, missing: Vec::new(), script: always };
        let ended = lab::run(&order(results.path(), &plan, &venue), &mut |_| ()).unwrap();
        let loaded = store::load(&ended.directory).unwrap();
        let blocks: std::collections::BTreeSet<u32> =
            loaded.records.iter().map(|record| record.block).collect();
        (ended.awaits_boot, blocks.len(), loaded.is_finished)
    };
    assert_eq!(goes_on("boot-1"), (Some(1), 3, false));
    assert_eq!(goes_on("boot-1"), (Some(1), 3, false), "nothing runs in the same boot");
    assert_eq!(goes_on("boot-2"), (Some(2), 5, false));
    assert_eq!(goes_on("boot-1"), (Some(2), 5, false), "nor in one that had its part");
    assert_eq!(goes_on("boot-3"), (None, 7, true));
    let entries = std::fs::read_dir(results.path()).unwrap().count();
    assert_eq!(entries, 1, "one campaign");
}

#[test]
fn a_block_that_a_reboot_cut_off_runs_again_and_finished_ones_do_not() {
    let results = tempfile::tempdir().unwrap();
    let script = |trial: &Trial| match (trial.subject.id.as_str(), trial.block) {
        ("refused", 0 | 1) => Answer::Invalid("LEVEL_NOT_SET"),
        ("steady", 3) => Answer::Lost,
        _ => Answer::Completed,
    };
    let (ended, loaded) = run(results.path(), "boot-1", script);
    ended.unwrap_err();
    assert!(!loaded.is_finished);
    let before = loaded.records.len();
    let (ended, loaded) = run(results.path(), "boot-2", refuses_always);
    ended.unwrap();
    assert!(loaded.is_finished);
    assert!(loaded.records.len() > before);
    let cut_off: Vec<&String> =
        loaded.plan.notes.iter().filter(|note| note.contains("reboot")).collect();
    // Blocks 1 to 3 lack nothing but the subject that was given up.
    assert_eq!(cut_off, ["block 4 runs again at the end, in a new order: a reboot cut it off"]);
    assert_eq!(count(&loaded, "steady", 3), 0);
    assert_eq!((0..3).map(|block| count(&loaded, "steady", block)).sum::<usize>(), 3);
    assert_eq!(lab::load(&loaded.directory).unwrap().flaws, [], "its repetition is whole");
}

#[test]
fn a_finished_campaign_lacks_nothing_but_what_was_given_up() {
    let results = tempfile::tempdir().unwrap();
    let (ended, loaded) = run(results.path(), "boot-1", refuses_always);
    ended.unwrap();
    assert_eq!(lab::load(&loaded.directory).unwrap().flaws, []);
    let path = loaded.directory.join("records.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let told = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let flaws = lab::load(&loaded.directory).unwrap().flaws;
        flaws.into_iter().map(|flaw| flaw.detail + "\n").collect::<String>()
    };
    let cut: String = whole.lines().take(13).map(|line| format!("{line}\n")).collect();
    let cut = told(&cut);
    assert!(cut.contains("1 of 6 planned blocks is not whole: block 6 has no record of"), "{cut}");
    let strange = told(&whole.replace("\"subject\":\"steady\"", "\"subject\":\"other\""));
    assert!(
        strange.contains("6 of 14 records are of trials that plan.json does not have"),
        "{strange}"
    );
    assert_eq!(told(&whole), "");
}

#[test]
fn a_block_that_was_added_runs_one_again_or_is_named() {
    let results = tempfile::tempdir().unwrap();
    let (ended, loaded) = run(results.path(), "boot-1", refuses_always);
    ended.unwrap();
    let [(again, original)] = lab::repetitions(&loaded.plan, 5)[..] else {
        panic!("{:?}", loaded.plan.notes)
    };
    assert!(original.is_some_and(|original| original.index < again.index));
    let resumed = lab::resumed(&lab::load(&loaded.directory).unwrap());
    assert_eq!(resumed.as_deref(), Some("1 block ran again"));
    let told = |plan: &Plan| {
        store::Campaign::open(&loaded.directory).unwrap().save_plan(plan).unwrap();
        let flaws = lab::load(&loaded.directory).unwrap().flaws;
        flaws.into_iter().map(|flaw| flaw.detail + "\n").collect::<String>()
    };
    let mut emptied = loaded.plan.clone();
    emptied.blocks[5].sittings.clear();
    let emptied = told(&emptied);
    assert!(emptied.contains("block 6 was added, and has other trials than block"), "{emptied}");
    let without_field = Plan { repeated_blocks: Vec::new(), ..loaded.plan.clone() };
    let unnamed = told(&Plan { notes: Vec::new(), ..without_field.clone() });
    assert!(unnamed.contains("nothing says which block it runs again"), "{unnamed}");
    // An earlier version told it by a note, and no note decides where the field is there.
    for plan in [without_field, Plan { notes: Vec::new(), ..loaded.plan.clone() }] {
        let found = lab::repetitions(&plan, 5);
        let pairs: Vec<(u32, Option<u32>)> =
            found.iter().map(|(block, of)| (block.index, of.map(|of| of.index))).collect();
        assert_eq!(pairs, [(again.index, original.map(|original| original.index))]);
        assert!(!told(&plan).contains("runs again"), "{}", told(&plan));
    }
    assert_eq!(told(&loaded.plan), "");
}

#[test]
fn a_run_that_goes_on_is_counted() {
    let results = tempfile::tempdir().unwrap();
    let script = |trial: &Trial| match (trial.subject.id.as_str(), trial.block) {
        ("steady", 3) => Answer::Lost,
        _ => Answer::Completed,
    };
    let (ended, loaded) = run(results.path(), "boot-1", script);
    ended.unwrap_err();
    let found = loaded.records.len();
    assert!(loaded.resumptions.is_empty());
    let (ended, loaded) = run(results.path(), "boot-1", |_| Answer::Completed);
    ended.unwrap();
    assert_eq!(loaded.resumptions.len(), 1);
    assert_eq!(loaded.resumptions[0].boot_id, "boot-1");
    let resumed = lab::resumed(&lab::load(&loaded.directory).unwrap()).unwrap();
    assert_eq!(resumed, format!("it was resumed 1 time, after {found} records"));
}

#[test]
fn what_is_missing_refuses_the_run_and_leaves_no_directory() {
    let results = tempfile::tempdir().unwrap();
    let lack = Missing { what: "a knob".into(), why: "it is absent".into(), remedy: "none".into() };
    let venue = Scripted { boot: "boot-1", missing: vec![lack], script: refuses_always };
    let plan = plan(2);
    let error = lab::run(&order(results.path(), &plan, &venue), &mut |_| ()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.cause.contains("it is absent"), "{error}");
    assert_eq!(std::fs::read_dir(results.path()).unwrap().count(), 0);
}

#[test]
fn an_adaptive_campaign_ends_when_its_time_is_used_up_and_says_so() {
    let results = tempfile::tempdir().unwrap();
    // Noise that no number of blocks decides.
    let script = |trial: &Trial| {
        let turn = trial.block as usize * 7 + trial.subject.id.len() * 3;
        Answer::Measured(1.0 + (turn % 11) as f64 / 11.0)
    };
    // Three trials of 1 ns in each block: room for seven blocks.
    let plan = Plan { looks: vec![6, 10, 16], budget_ns: Some(23), ..plan(16) };
    let venue = Scripted { boot: "boot-1", missing: Vec::new(), script };
    let mut notices = Vec::new();
    lab::run(&order(results.path(), &plan, &venue), &mut |event| {
        if let Event::Notice(text) = event {
            notices.push(text);
        }
    })
    .unwrap();
    let directory = std::fs::read_dir(results.path()).unwrap().next().unwrap().unwrap().path();
    let loaded = store::load(&directory).unwrap();
    assert!(loaded.is_finished && loaded.state == store::CampaignState::StoppedEarly);
    let ran = loaded.records.iter().map(|record| record.block).max().unwrap() + 1;
    assert_eq!((ran, loaded.records.len()), (8, 24), "a begun block is brought to its end");
    assert!(notices.iter().any(|text| text.contains("budget")), "{notices:?}");
    let findings = lab::judge_records(&loaded);
    let open = findings.findings.iter().find(|finding| finding.verdict == Verdict::Inconclusive);
    let open = open.unwrap();
    assert_eq!(open.look, None, "no level of a look that was not reached is spent");
    assert!(open.is_sequence(), "its interval holds at every block");
    assert!(findings.caveats.iter().any(|c| c.code == model::CaveatCode::StoppedEarly));
}
