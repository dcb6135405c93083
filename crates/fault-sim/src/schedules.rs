//! Many schedules. One that fails is told by its number, and is the same again:
//! `SCHEDLAB_FAULT_SEED=NUMBER cargo nextest run --package fault-sim`.

use crate::schedule::{self, ScheduleFacts};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// How many schedules; `cargo xtask nightly` has millions.
const COUNT: (&str, u64) = ("SCHEDLAB_FAULT_SCHEDULES", 10_000);
/// The one schedule that is to be repeated.
const SEED: &str = "SCHEDLAB_FAULT_SEED";
/// Failures that are told.
const MOST_TOLD: usize = 5;

/// Goes through these schedules on all CPUs; what failed, by its number, and what they came to.
fn all(count: u64) -> (Vec<(u64, String)>, ScheduleFacts) {
    let next = AtomicU64::new(0);
    let found = Mutex::new((Vec::new(), ScheduleFacts::default()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return;
            }
            let outcome = schedule::run(seed, false);
            let mut found = found.lock().unwrap();
            match outcome {
                Ok(facts) => {
                    found.1.deaths += facts.deaths;
                    found.1.cuts += facts.cuts;
                    found.1.errors += facts.errors;
                    found.1.left_alone += facts.left_alone;
                }
                Err(why) => found.0.push((seed, why)),
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
fn explained((seed, first): &(u64, String)) -> String {
    let why = schedule::run(*seed, true).err();
    let why = why.unwrap_or_else(|| format!("it succeeds when it is repeated; it was{first}"));
    format!("schedule {seed} ({SEED}={seed} repeats it):\n{why}\n")
}

#[test]
fn no_schedule_of_faults_loses_a_knob_a_record_or_a_warning() {
    if let Some(seed) = testing::number(SEED) {
        let outcome = schedule::run(seed, true);
        assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
        return;
    }
    let count = testing::number(COUNT.0).unwrap_or(COUNT.1);
    let (failed, facts) = all(count);
    println!("{count} schedules: {facts:?}");
    let told: String = failed.iter().take(MOST_TOLD).map(explained).collect();
    assert!(failed.is_empty(), "{} of {count} schedules failed\n{told}", failed.len());
    // A simulator without faults finds nothing.
    let least = u32::try_from(count / 16).unwrap_or(u32::MAX);
    assert!(facts.deaths >= least && facts.cuts >= least && facts.errors >= least, "{facts:?}");
    // Nor is what somebody else changed ever mistaken for ours by rule.
    assert!(u64::from(facts.left_alone) >= count / 1000, "{facts:?}");
}

#[test]
fn a_schedule_is_the_same_again() {
    for seed in 0..20 {
        assert_eq!(schedule::run(seed, false), schedule::run(seed, false), "{seed}");
    }
}
