//! Targets beside each other: as many at once as there are CPUs, and one line for each.

use crate::targets::FuzzTarget;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What a target came to: a line about it, or what broke it.
pub(crate) type TargetResult = Result<String, String>;

/// How many targets run at once, and how many one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes {
    count: usize,
    rounds: u64,
}

impl Lanes {
    /// Those of so many targets on this machine.
    pub(crate) fn of(targets: usize) -> Self {
        let count = thread::available_parallelism().map_or(1, usize::from).min(targets);
        Self { count, rounds: targets.div_ceil(count.max(1)).max(1) as u64 }
    }

    /// Milliseconds of one target, where all of them together have so many seconds.
    pub(crate) fn share_ms(self, seconds: u64) -> u64 {
        seconds * 1_000 / self.rounds
    }

    /// Runs all; the result is one line for each target.
    ///
    /// # Errors
    /// All targets that broke, each with what it told.
    pub(crate) fn run(
        self,
        targets: &[&'static FuzzTarget],
        supervise: impl Fn(&FuzzTarget) -> TargetResult + Sync,
    ) -> Result<String, String> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..self.count {
                scope.spawn(|| {
                    while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = supervise(target);
                        let mut results =
                            results.lock().unwrap_or_else(|broken| broken.into_inner());
                        results.push((target.name.as_str(), result));
                    }
                });
            }
        });
        summary(results.into_inner().unwrap_or_else(|broken| broken.into_inner()))
    }
}

fn summary(mut results: Vec<(&str, TargetResult)>) -> Result<String, String> {
    results.sort();
    let (mut report, mut failures) = (String::new(), String::new());
    for (name, result) in results {
        let _ = match result {
            Ok(line) => writeln!(report, "{name}: {line}"),
            Err(why) => writeln!(failures, "{name}: {why}"),
        };
    }
    if failures.is_empty() { Ok(report) } else { Err(failures) }
}
