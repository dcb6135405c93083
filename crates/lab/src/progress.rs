//! How far a campaign is, from its events alone. They may come from a file that anybody can have
//! written: sums stop at the largest number, and what is done twice leaves nothing.

use contract::Event;
use model::{Block, Plan};
use std::collections::BTreeSet;

/// What some trials took, and were expected to.
#[derive(Debug, Default, Clone, Copy)]
struct Taken {
    trials: u64,
    spent_ns: u64,
    expected_ns: u64,
}

/// Trials done and the time left, scaled by how the estimates held so far. The first trial of a boot
/// is apart: a long-lived service is started and warmed up in it.
#[derive(Debug, Default, Clone)]
pub struct CampaignProgress {
    plan: Option<Plan>,
    total: usize,
    done: usize,
    boots: BTreeSet<String>,
    first: Taken,
    later: Taken,
    current: Option<(u32, String, String)>,
}

impl CampaignProgress {
    /// Takes in an event.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::CampaignStarted { plan, trials_done, trials_left } => {
                self.done = *trials_done;
                self.total = self.done.saturating_add(*trials_left);
                self.plan = Some((**plan).clone());
            }
            Event::TrialStarted { block, subject, workload, trials_left } => {
                self.total = self.done.saturating_add(*trials_left);
                self.current = Some((*block, subject.clone(), workload.clone()));
            }
            Event::TrialFinished { record } => {
                self.done = self.done.saturating_add(1);
                let expected_ns = self.expected_ns(&record.subject, &record.workload);
                let is_first = self.boots.insert(record.boot_id.clone());
                let taken = if is_first { &mut self.first } else { &mut self.later };
                taken.trials = taken.trials.saturating_add(1);
                taken.spent_ns = taken.spent_ns.saturating_add(record.duration_ns);
                taken.expected_ns = taken.expected_ns.saturating_add(expected_ns);
                self.current = None;
            }
            Event::CampaignOpened { .. }
            | Event::TrialPhase(_)
            | Event::BlockRepeated { .. }
            | Event::Notice(_)
            | Event::CampaignFinished { .. } => {}
        }
    }

    /// Trials done and in all.
    pub fn trials(&self) -> (usize, usize) {
        (self.done, self.total)
    }

    /// Block index, subject and workload of the trial that runs.
    pub fn current(&self) -> Option<(u32, &str, &str)> {
        self.current
            .as_ref()
            .map(|(block, subject, workload)| (*block, subject.as_str(), workload.as_str()))
    }

    /// Time left in nanoseconds.
    pub fn left_ns(&self) -> u64 {
        let Some(plan) = &self.plan else { return 0 };
        let left = self.total.saturating_sub(self.done) as f64;
        let share = left / plan.trial_count().max(1) as f64;
        let scale = match (self.later.expected_ns, self.first.expected_ns) {
            (0, 0) => 1.0,
            // How much longer they were may be what they started.
            (0, expected_ns) => (self.first.spent_ns as f64 / expected_ns as f64).min(1.0),
            (expected_ns, _) => self.later.spent_ns as f64 / expected_ns as f64,
        };
        let booted = plan.blocks.iter().map(Block::boot_count).sum::<u64>();
        let start_ns = self.start_ns(scale);
        let Some(pace) = plan.pace.filter(|pace| pace.every_ns > 0 && left > 0.0) else {
            let boots = booted.max(1) as f64;
            let starts = (boots - self.first.trials as f64).min((boots * share).ceil()).max(0.0);
            return (plan.expected_ns() as f64 * share * scale + starts * start_ns) as u64;
        };
        // Of the blocks to come, the last is not followed by a pause, nor is what is left of
        // the one that runs.
        let blocks = plan.blocks.len() as f64;
        let all_ns = model::sum_ns(plan.blocks.iter().map(|block| plan.block_expected_ns(block)));
        let block_ns = (all_ns as f64 * scale + booted as f64 * start_ns) / blocks;
        let blocks_left = share * blocks;
        let whole = (blocks_left.ceil() - 1.0).max(0.0);
        let paced_ns = block_ns.max(pace.every_ns as f64);
        (whole * paced_ns + (blocks_left - whole) * block_ns) as u64
    }

    /// How much longer the first trial of a boot takes than those after it.
    fn start_ns(&self, scale: f64) -> f64 {
        let Taken { trials, spent_ns, expected_ns } = self.first;
        let longer_ns = spent_ns as f64 - expected_ns as f64 * scale;
        longer_ns.max(0.0) / trials.max(1) as f64
    }

    fn expected_ns(&self, subject: &str, workload: &str) -> u64 {
        let plan = self.plan.as_ref();
        let workload =
            plan.and_then(|plan| plan.workload(workload).map(|workload| (plan, workload)));
        workload.map_or(0, |(plan, workload)| {
            let set_ns = plan.setting_ns.get(subject).copied().unwrap_or_default();
            model::sum_ns([workload.trial_expected_ns(subject), plan.settle_ns, set_ns])
        })
    }
}
