//! Soak campaigns on a scripted venue: pauses, their end by a signal, and what goes on later.

use contract::{Description, Event, Interrupt, Missing, Result, Venue, VenueSession};
use fixtures::{invocation, subjects};
use lab::{CampaignProgress, Ended, Order};
use model::{
    CaveatCode, Direction, Fingerprint, Metric, Outcome, PACED_PLAN_FORMAT, Pace, Plan, Record,
    Reduction, Sample, Trial, Unit, WorkloadPlan,
};
use std::path::Path;
use std::time::{Duration, Instant};

const UNIX_NS: u64 = 1_700_000_000_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;

/// A venue whose trials take so long.
struct Timed(Duration);

static DESCRIPTION: Description =
    Description { id: "timed", summary: "takes its time", doc: "For tests." };

impl Venue for Timed {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn recover(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn missing(&self, _: &Plan) -> Vec<Missing> {
        Vec::new()
    }

    fn identity(&self, _: &Plan) -> Result<Fingerprint> {
        Ok(Fingerprint::default())
    }

    fn open(
        &self,
        _: &Plan,
        _: &Path,
        _: &Interrupt,
        _: &mut dyn FnMut(Event),
    ) -> Result<Box<dyn VenueSession>> {
        Ok(Box::new(Opened(self.0)))
    }
}

struct Opened(Duration);

impl VenueSession for Opened {
    fn fingerprint(&mut self) -> Result<Fingerprint> {
        Ok(Fingerprint::default())
    }

    fn run(&mut self, trial: &Trial, _: &mut dyn FnMut(Event)) -> Result<Record> {
        std::thread::sleep(self.0);
        let samples = vec![Sample::values("time", vec![1.0 + f64::from(trial.block)])];
        let invocations = vec![invocation(samples)].into();
        let duration_ns = u64::try_from(self.0.as_nanos()).unwrap();
        let mut record = Record { invocations, ..Record::of(trial, Outcome::Completed) };
        record.duration_ns = duration_ns;
        Ok(record)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn plan(every_ms: u64) -> Plan {
    let time =
        Metric::new("time", Unit::Nanoseconds, Direction::Lower, Reduction::Median, "for tests");
    let workload =
        WorkloadPlan { expected_ns: MILLISECOND_NS, ..fixtures::workload("w", vec![time]) };
    let every_ns = every_ms * MILLISECOND_NS;
    Plan {
        format: PACED_PLAN_FORMAT.to_owned(),
        name: "soak".to_owned(),
        pace: Some(Pace { duration_ns: 6 * every_ns, every_ns }),
        ..fixtures::plan(subjects(&["reference", "other"]), vec![workload], 6)
    }
}

/// Runs or goes on with a campaign: how it ended, and what was told.
fn run(
    results: &Path,
    plan: &Plan,
    venue: &Timed,
    interrupt: &Interrupt,
    on_event: &mut dyn FnMut(&Event),
) -> Ended {
    run_at(UNIX_NS, results, plan, venue, interrupt, on_event)
}

/// The same at another time.
fn run_at(
    unix_ns: u64,
    results: &Path,
    plan: &Plan,
    venue: &Timed,
    interrupt: &Interrupt,
    on_event: &mut dyn FnMut(&Event),
) -> Ended {
    let order = Order {
        results,
        plan,
        experiment: "",
        venue,
        interrupt,
        is_fresh: false,
        unix_ns,
        unique: 0,
        attempts: None,
        watched: &|| None,
    };
    lab::run(&order, &mut |event| on_event(&event)).unwrap()
}

fn notices(told: &mut Vec<String>) -> impl FnMut(&Event) {
    |event| {
        if let Event::Notice(text) = event {
            told.push(text.clone());
        }
    }
}

/// When the first trial of each block began, after the campaign's beginning.
fn beginnings_ms(loaded: &store::LoadedCampaign) -> Vec<u64> {
    let of = |block: u32| {
        let own = loaded.records.iter().filter(move |record| record.block == block);
        own.map(|record| record.started_unix_ns - UNIX_NS).min()
    };
    (0..6).filter_map(of).map(|began_ns| began_ns / MILLISECOND_NS).collect()
}

/// Distances of blocks in milliseconds: each is tried where all blocks were late at the one before.
const DISTANCES_MS: [u64; 3] = [200, 1_000, 5_000];

#[test]
fn blocks_begin_at_their_distance_and_pauses_are_told() {
    let is_told = DISTANCES_MS.into_iter().any(|every_ms| {
        let told = blocks_begin_at(every_ms);
        told.iter().any(|text| text.contains(" begins in "))
    });
    assert!(is_told, "every block was late at each of {DISTANCES_MS:?}");
}

/// Runs blocks at this distance; what was told of pauses.
fn blocks_begin_at(every_ms: u64) -> Vec<String> {
    let results = tempfile::tempdir().unwrap();
    let mut told = Vec::new();
    let (plan, venue) = (plan(every_ms), Timed(Duration::ZERO));
    let ended = run(results.path(), &plan, &venue, &Interrupt::default(), &mut notices(&mut told));
    let loaded = store::load(&ended.directory).unwrap();
    let began = beginnings_ms(&loaded);
    assert_eq!(began.len(), 6);
    // A machine that is busy may be late, and never early.
    assert!((0..).zip(&began).all(|(block, began)| *began >= every_ms * block), "{began:?}");
    // One that is late has no pause, and that is told instead.
    for block in 2..=6 {
        let begins = |how: &str| format!("block {block} of 6 begins {how}");
        let is_told = |text: &&String| {
            text.starts_with(&begins("in ")) || text.starts_with(&begins("at once, "))
        };
        assert_eq!(told.iter().filter(is_told).count(), 1, "{block}: {told:?}");
    }
    let has_gap = |record: &Record| {
        record.caveats.iter().any(|caveat| caveat.code == CaveatCode::Interrupted)
    };
    assert!(!loaded.records.iter().any(has_gap));
    let findings = lab::judge_records(&loaded);
    assert_eq!(findings.trends.len(), 2, "records of a venue without a clock have times");
    assert!(findings.trends.iter().all(|trend| trend.points.len() == 6));
    told
}

#[test]
fn blocks_longer_than_their_distance_follow_each_other_and_that_is_told() {
    let results = tempfile::tempdir().unwrap();
    let mut told = Vec::new();
    let venue = Timed(Duration::from_millis(150));
    run(results.path(), &plan(100), &venue, &Interrupt::default(), &mut notices(&mut told));
    let late = told.iter().filter(|text| text.contains(" begins at once, "));
    assert_eq!(late.count(), 5, "{told:?}");
    assert!(told.iter().any(|text| text.ends_with("the one before it took longer than 100 ms")));
}

#[test]
fn a_pause_ends_at_once_with_a_signal_and_the_next_block_goes_on_later() {
    let results = tempfile::tempdir().unwrap();
    let venue = Timed(Duration::ZERO);
    let interrupt = Interrupt::default();
    let asked = interrupt.clone();
    let mut begun = None;
    let hour = Plan {
        pace: Some(Pace { duration_ns: 6 * 3_600_000_000_000, every_ns: 3_600_000_000_000 }),
        ..plan(0)
    };
    let ended = run(results.path(), &hour, &venue, &interrupt, &mut |event| {
        if matches!(event, Event::Notice(text) if text.contains("block 2 of 6 begins in ")) {
            begun = Some(Instant::now());
            asked.request(2);
        }
    });
    assert_eq!(ended.signal, Some(2));
    assert!(begun.unwrap().elapsed() < Duration::from_secs(600), "no hour");
    let loaded = store::load(&ended.directory).unwrap();
    assert_eq!((loaded.records.len(), loaded.is_finished), (2, false));
    // It goes on at once, with the next block, and marks where.
    let interrupt = Interrupt::default();
    let asked = interrupt.clone();
    let later_ns = UNIX_NS + 7_200_000 * MILLISECOND_NS;
    let again = run_at(later_ns, results.path(), &hour, &venue, &interrupt, &mut |event| {
        if matches!(event, Event::Notice(text) if text.contains("block 3 of 6 begins in ")) {
            asked.request(15);
        }
    });
    assert_eq!((again.directory.as_path(), again.signal), (ended.directory.as_path(), Some(15)));
    let loaded = store::load(&ended.directory).unwrap();
    let blocks: Vec<u32> = loaded.records.iter().map(|record| record.block).collect();
    assert_eq!(blocks, [0, 0, 1, 1]);
    let gaps = loaded.records.iter().map(|record| {
        record.caveats.iter().filter(|caveat| caveat.code == CaveatCode::Interrupted).count()
    });
    assert_eq!(gaps.collect::<Vec<_>>(), [0, 0, 1, 0], "the first trial of the second run");
    let detail = &loaded.records[2].caveats[0].detail;
    let is_told = detail.starts_with("the campaign stood still for ") && detail.contains(" h ");
    assert!(is_told, "{detail}");
}

#[test]
fn the_time_left_holds_the_pauses() {
    let mut progress = CampaignProgress::default();
    let plan = Box::new(plan(3_600_000));
    let started = |trials_done, trials_left| Event::CampaignStarted {
        plan: plan.clone(),
        trials_done,
        trials_left,
    };
    progress.note(&started(0, 12));
    let hours = |progress: &CampaignProgress| progress.left_ns() as f64 / 3.6e12;
    assert!((hours(&progress) - 5.0).abs() < 1e-3, "{}", hours(&progress));
    progress.note(&started(7, 5));
    assert!((hours(&progress) - 2.0).abs() < 1e-3, "one runs, and two are to come");
    progress.note(&started(12, 0));
    assert_eq!(progress.left_ns(), 0);
}
