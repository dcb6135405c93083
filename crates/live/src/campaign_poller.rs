//! Polls for the campaign to show, and samples the machine meanwhile. Judges so seldom that
//! judging stays a hundredth of the time.

use crate::campaign_loader::CampaignLoader;
use crate::follower::{Follower, is_running};
use crate::machine::{MachineSample, Sampler};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use store::{CampaignEntry, CampaignState};
use sys::Machine;

/// How often another campaign is looked for.
const SOUGHT_EVERY: Duration = Duration::from_secs(2);
/// After work, this many times as long nothing is judged.
const REST_OF_WORK: u32 = 99;
/// But never longer than this.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// Follows whatever runs: the newest campaign that does, or the newest.
#[derive(Debug)]
pub struct CampaignPoller {
    results: PathBuf,
    machine: Machine,
    loader: CampaignLoader,
    sampler: Sampler,
    follower: Option<Follower>,
    problems: Vec<String>,
    sought: Option<Instant>,
    rests_until: Instant,
}

/// What a poll has brought.
#[derive(Debug, Default)]
pub struct PollResult {
    /// Whether the campaign's files changed, or it is another one.
    pub is_news: bool,
    /// Whether it was judged anew.
    pub is_judged: bool,
    /// The machine since the last look.
    pub sample: Option<MachineSample>,
}

impl CampaignPoller {
    /// Polls for campaigns below `results`; what speaks against the evidence of one, the loader says.
    pub fn new(results: PathBuf, machine: Machine, loader: CampaignLoader) -> Self {
        Self {
            results,
            loader,
            sampler: Sampler::new(machine.clone()),
            machine,
            follower: None,
            problems: Vec::new(),
            sought: None,
            rests_until: Instant::now(),
        }
    }

    /// Looks.
    pub fn look(&mut self, at_ms: u64) -> PollResult {
        let mut seen = PollResult { is_news: self.seek(), ..PollResult::default() };
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
        let began = sys::cpu_time();
        let is_judged = self.follower.as_mut().is_some_and(Follower::judge);
        self.rest_after(sys::cpu_time().saturating_sub(began));
        is_judged
    }

    /// Rests after so much CPU time. Work of somebody else that each judging brings about counts
    /// as well; waiting for a CPU does not, or a process of the lowest priority would hardly judge.
    pub fn rest_after(&mut self, work: Duration) {
        let rest = work.saturating_mul(REST_OF_WORK).min(LONGEST_REST);
        self.rests_until = self.rests_until.max(Instant::now() + rest);
    }

    /// The campaign that is followed.
    pub fn follower(&self) -> Option<&Follower> {
        self.follower.as_ref()
    }

    /// Campaigns that would rather have been followed, and why they cannot be read.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Whether somebody runs it. A process may outlive what it ran.
    pub fn is_running(&self) -> bool {
        let runs = |one: &Follower| !one.loaded().is_finished && one.runner().is_some();
        self.follower.as_ref().is_some_and(runs)
    }

    /// Another campaign, where the one that is followed does not run; whether there is one.
    fn seek(&mut self) -> bool {
        let is_due = self.sought.is_none_or(|sought| sought.elapsed() >= SOUGHT_EVERY);
        if !is_due || self.is_running() {
            return false;
        }
        self.sought = Some(Instant::now());
        self.problems.clear();
        let found = store::all(&self.results).unwrap_or_default();
        let running = found.iter().find(|one| self.runs(one));
        let is_other =
            |one: &&CampaignEntry| running.is_none_or(|running| running.directory != one.directory);
        for candidate in running.into_iter().chain(found.iter().filter(is_other)) {
            let is_followed = |one: &Follower| one.loaded().directory == candidate.directory;
            if self.follower.as_ref().is_some_and(is_followed) {
                return false;
            }
            match Follower::open(&candidate.directory, &self.machine, &self.loader) {
                Ok(follower) => {
                    self.follower = Some(follower);
                    self.rests_until = Instant::now();
                    return true;
                }
                Err(error) => {
                    let name = candidate.name();
                    self.problems.push(format!("{name} is left out: {}", error.one_line()));
                }
            }
        }
        false
    }

    /// Only of one that can go on the runner is looked up: that reads its whole log.
    fn runs(&self, found: &CampaignEntry) -> bool {
        found.state == Some(CampaignState::Unfinished)
            && is_running(&found.directory, &self.machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventLog;
    use contract::Event;
    use model::Plan;
    use std::fs;
    use store::Campaign;

    fn plan(name: &str) -> Plan {
        let subjects = fixtures::subjects(&["baseline"]);
        let workloads = vec![fixtures::workload("wakeup", Vec::new())];
        Plan { name: name.to_owned(), ..fixtures::plan(subjects, workloads, 1) }
    }

    /// A campaign of this process, created so many seconds after the first.
    fn created(results: &std::path::Path, name: &str, seconds: u64) -> Campaign {
        let unix_ns = 1_795_000_000_000_000_000 + seconds * 1_000_000_000;
        let campaign = Campaign::create(results, &plan(name), "", unix_ns, 0xbeef).unwrap();
        let directory = campaign.directory().to_owned();
        EventLog::new(&Machine::host("/nonexistent")).note(&Event::CampaignOpened { directory }, 1);
        campaign
    }

    fn poller(results: &std::path::Path) -> CampaignPoller {
        let machine = Machine::host("/nonexistent");
        CampaignPoller::new(results.to_owned(), machine, CampaignLoader::new(lab::load))
    }

    fn followed(poller: &mut CampaignPoller) -> Option<String> {
        poller.sought = None;
        poller.seek();
        let title = |one: &Follower| one.loaded().plan.name.clone();
        poller.follower().map(title)
    }

    #[test]
    fn what_cannot_be_read_is_named_and_the_next_is_followed() {
        let results = tempfile::tempdir().unwrap();
        let mut poller = poller(results.path());
        for (name, seconds) in [("oldest", 0), ("older", 1), ("newest", 2)] {
            created(results.path(), name, seconds).mark_finished().unwrap();
        }
        assert_eq!(followed(&mut poller).as_deref(), Some("newest"));
        assert!(poller.problems().is_empty());

        let newest = poller.follower().unwrap().loaded().directory.clone();
        fs::write(newest.join("plan.json"), "{").unwrap();
        poller.follower = None;
        for _ in 0..2 {
            assert_eq!(followed(&mut poller).as_deref(), Some("older"));
            let [problem] = poller.problems() else { panic!("{:?}", poller.problems()) };
            assert!(problem.starts_with("newest-") && problem.contains("is left out"), "{problem}");
        }
        // One that runs comes before all that do not.
        let running = created(results.path(), "running", 3);
        assert_eq!(followed(&mut poller).as_deref(), Some("running"));
        drop(running);
    }

    #[test]
    fn nobody_runs_what_is_over() {
        let results = tempfile::tempdir().unwrap();
        let mut poller = poller(results.path());
        // The process that its log names lives on: it is this one.
        created(results.path(), "over", 0).mark_finished().unwrap();
        let newer = created(results.path(), "newer", 1);
        fs::write(newer.directory().join("logs/events.jsonl"), "").unwrap();
        assert_eq!(followed(&mut poller).as_deref(), Some("newer"));
    }
}
