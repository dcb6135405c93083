//! Looks out for the campaign to show, and at the machine meanwhile. Judges so seldom that
//! judging stays a hundredth of the time.

use crate::follower::{Follower, is_running};
use crate::machine::{Sample, Sampler};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use store::Found;
use sys::Machine;

/// How often another campaign is looked for.
const SOUGHT_EVERY: Duration = Duration::from_secs(2);
/// After work, this many times as long nothing is judged.
const REST_OF_WORK: u32 = 99;
/// But never longer than this.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// Follows whatever runs: the newest campaign that does, or the newest.
#[derive(Debug)]
pub struct Lookout {
    results: PathBuf,
    machine: Machine,
    sampler: Sampler,
    follower: Option<Follower>,
    sought: Option<Instant>,
    rests_until: Instant,
}

/// What a look has brought.
#[derive(Debug, Default)]
pub struct Seen {
    /// Whether the campaign's files changed, or it is another one.
    pub is_news: bool,
    /// Whether it was judged anew.
    pub is_judged: bool,
    /// The machine since the last look.
    pub sample: Option<Sample>,
}

impl Lookout {
    /// Looks out for campaigns below `results`.
    pub fn new(results: PathBuf, machine: Machine) -> Self {
        Self {
            results,
            sampler: Sampler::new(machine.clone()),
            machine,
            follower: None,
            sought: None,
            rests_until: Instant::now(),
        }
    }

    /// Looks.
    pub fn look(&mut self, at_ms: u64) -> Seen {
        let mut seen = Seen { is_news: self.seek(), ..Seen::default() };
        if let Some(follower) = &mut self.follower {
            match follower.update() {
                Ok(is_changed) => seen.is_news |= is_changed,
                // It was removed, or is being written by another version: look for another.
                Err(_) => (self.follower, self.sought) = (None, None),
            }
        }
        let is_over = self.follower.as_ref().is_some_and(|one| one.loaded().is_finished);
        seen.is_judged = (is_over || Instant::now() >= self.rests_until) && self.judge();
        let runner = self.follower.as_ref().and_then(Follower::runner);
        seen.sample = self.sampler.sample(runner, at_ms);
        seen
    }

    /// Judges what is there, however recently that was done; whether it was news.
    pub fn judge(&mut self) -> bool {
        let began = Instant::now();
        let is_judged = self.follower.as_mut().is_some_and(Follower::judge);
        self.rest_after(began.elapsed());
        is_judged
    }

    /// Work of somebody else that each judging brings about counts as well.
    pub fn rest_after(&mut self, work: Duration) {
        let rest = work.saturating_mul(REST_OF_WORK).min(LONGEST_REST);
        self.rests_until = self.rests_until.max(Instant::now() + rest);
    }

    /// The campaign that is followed.
    pub fn follower(&self) -> Option<&Follower> {
        self.follower.as_ref()
    }

    /// Whether somebody runs it.
    pub fn is_running(&self) -> bool {
        self.follower.as_ref().is_some_and(|follower| follower.runner().is_some())
    }

    /// Another campaign, where the one that is followed does not run; whether there is one.
    fn seek(&mut self) -> bool {
        let is_due = self.sought.is_none_or(|sought| sought.elapsed() >= SOUGHT_EVERY);
        if !is_due || self.is_running() {
            return false;
        }
        self.sought = Some(Instant::now());
        let found = store::all(&self.results).unwrap_or_default();
        let runs = |found: &&Found| is_running(&found.directory, &self.machine);
        let Some(best) = found.iter().find(runs).or_else(|| found.first()) else { return false };
        let is_followed =
            self.follower.as_ref().is_some_and(|one| one.loaded().directory == best.directory);
        if is_followed {
            return false;
        }
        self.follower = Follower::open(&best.directory, &self.machine).ok();
        self.rests_until = Instant::now();
        true
    }
}
