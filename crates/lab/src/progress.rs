//! How far a campaign is, from its events alone. They may come from a file that anybody can have
//! written: sums stop at the largest number, and what is done twice leaves nothing.

use contract::Event;
use model::Plan;

/// Trials done and the time left, scaled by how the estimates held so far.
#[derive(Debug, Default, Clone)]
pub struct Progress {
    plan: Option<Plan>,
    total: usize,
    done: usize,
    expected_done_ns: u64,
    spent_ns: u64,
    current: Option<(u32, String, String)>,
}

impl Progress {
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
                self.spent_ns = self.spent_ns.saturating_add(record.duration_ns);
                let expected_ns = self.expected_ns(&record.subject, &record.workload);
                self.expected_done_ns = self.expected_done_ns.saturating_add(expected_ns);
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
        let share = self.total.saturating_sub(self.done) as f64 / plan.trial_count().max(1) as f64;
        let scale = if self.expected_done_ns == 0 {
            1.0
        } else {
            self.spent_ns as f64 / self.expected_done_ns as f64
        };
        (plan.expected_ns() as f64 * share * scale) as u64
    }

    fn expected_ns(&self, subject: &str, workload: &str) -> u64 {
        let plan = self.plan.as_ref();
        let workload =
            plan.and_then(|plan| plan.workload(workload).map(|workload| (plan, workload)));
        workload.map_or(0, |(plan, workload)| {
            let set_ns = plan.setting_ns.get(subject).copied().unwrap_or_default();
            workload.trial_expected_ns(subject) + plan.settle_ns + set_ns
        })
    }
}
