//! Many schedules of each sort. One that fails is told by its number, and is the same again:
//! `SCHEDLAB_FAULT_SEED=NUMBER cargo nextest run --package fault-sim`, with the name of its test.

use crate::schedule::ScheduleFacts;
use crate::{journal_schedule, restore_schedule, schedule};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// How many schedules of campaigns; `cargo xtask nightly` has millions. Half as many of
/// journals and of restoring, and a tenth of storing, because those of campaigns store, too: 10,500
/// in all, which take a minute of two processors.
const COUNT: (&str, u64) = ("SCHEDLAB_FAULT_SCHEDULES", 5_000);
/// The one schedule that is to be repeated.
const SEED: &str = "SCHEDLAB_FAULT_SEED";
/// Failures that are told.
const MOST_TOLD: usize = 5;

/// Goes through the schedule of a number, whose last operations are told where it is traced.
type Run = fn(u64, bool) -> Result<ScheduleFacts, String>;

/// Goes through these schedules on all CPUs, as far as there is not enough to tell; what failed, by
/// its number, and what they came to.
fn all(count: u64, run: Run) -> (Vec<(u64, String)>, ScheduleFacts) {
    let next = AtomicU64::new(0);
    let found = Mutex::new((Vec::new(), ScheduleFacts::default()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return;
            }
            let outcome = run(seed, false);
            let mut found = found.lock().unwrap();
            match outcome {
                Ok(facts) => {
                    found.1.deaths += facts.deaths;
                    found.1.cuts += facts.cuts;
                    found.1.errors += facts.errors;
                    found.1.left_alone += facts.left_alone;
                    found.1.excused += facts.excused;
                    found.1.refused += facts.refused;
                }
                Err(why) => found.0.push((seed, why)),
            }
            if found.0.len() >= MOST_TOLD {
                next.fetch_max(count, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let (mut failed, facts) = found.into_inner().unwrap();
    failed.sort_unstable();
    (failed, facts)
}

/// What a schedule that fails did last, and which promises it broke.
fn explained(run: Run, (seed, first): &(u64, String)) -> String {
    let why = run(*seed, true).err();
    let why = why.unwrap_or_else(|| format!("it succeeds when it is repeated; it was{first}"));
    format!("schedule {seed} ({SEED}={seed} repeats it):\n{why}\n")
}

/// How many schedules of campaigns are asked for.
fn asked() -> u64 {
    testing::number(COUNT.0).unwrap_or(COUNT.1)
}

/// Goes through so many schedules, none of which may fail, and tells what they came to; or repeats
/// the one that is asked for.
fn check(count: u64, run: Run) -> Option<ScheduleFacts> {
    if let Some(seed) = testing::number(SEED) {
        let outcome = run(seed, true);
        assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
        return None;
    }
    let (failed, facts) = all(count, run);
    println!("{count} schedules: {facts:?}");
    let told: String = failed.iter().take(MOST_TOLD).map(|it| explained(run, it)).collect();
    assert!(failed.is_empty(), "{} of at most {count} schedules failed\n{told}", failed.len());
    // A simulator without faults finds nothing.
    let least = u32::try_from(count / 16).unwrap_or(u32::MAX);
    assert!(facts.deaths >= least && facts.cuts >= least && facts.errors >= least, "{facts:?}");
    Some(facts)
}

#[test]
fn no_schedule_of_faults_loses_a_knob_a_record_or_a_warning() {
    let count = asked();
    if let Some(facts) = check(count, schedule::run) {
        // What somebody else changed is never mistaken for ours by rule.
        assert!(u64::from(facts.left_alone) >= count / 1000, "{facts:?}");
        assert!(u64::from(facts.refused) >= count / 1000, "{facts:?}");
    }
}

#[test]
fn no_schedule_of_faults_loses_an_entry_of_a_journal() {
    check(asked() / 2, journal_schedule::run);
}

#[test]
fn no_schedule_of_faults_loses_what_a_setting_was() {
    check(asked() / 2, restore_schedule::run);
}

#[test]
fn no_schedule_of_faults_loses_a_record_that_is_only_stored() {
    check(asked() / 10, schedule::run_stored);
}

#[test]
fn a_schedule_that_fails_is_told_by_the_number_that_repeats_it() {
    let fails: Run = |seed, is_traced| {
        let operations = if is_traced { "its operations, and " } else { "" };
        if seed % 7 == 3 {
            Err(format!("{operations}what broke"))
        } else {
            Ok(ScheduleFacts::default())
        }
    };
    let (failed, _) = all(20, fails);
    assert_eq!(failed.iter().map(|(seed, _)| *seed).collect::<Vec<_>>(), [3, 10, 17]);
    // More are not gone through than can be told.
    let (failed, _) = all(1 << 40, fails);
    assert!((MOST_TOLD..MOST_TOLD + 64).contains(&failed.len()), "{}", failed.len());
    let told = explained(fails, &failed[1]);
    assert!(told.contains("SCHEDLAB_FAULT_SEED=10 repeats it"), "{told}");
    assert!(told.contains("its operations, and what broke"), "{told}");
    let chance: Run =
        |_, is_traced| if is_traced { Ok(ScheduleFacts::default()) } else { Err(String::new()) };
    assert!(explained(chance, &(4, " odd".to_owned())).contains("it succeeds when it is repeated"));
}

#[test]
fn a_schedule_is_the_same_again() {
    let runs: [Run; 4] =
        [schedule::run, journal_schedule::run, restore_schedule::run, schedule::run_stored];
    for run in runs {
        for seed in 0..20 {
            assert_eq!(run(seed, false), run(seed, false), "{seed}");
        }
    }
}
