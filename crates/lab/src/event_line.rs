//! What a person must read of an event.

use contract::Event;
use model::Outcome;

/// One line for a log; `None` of what only progress tells.
pub fn event_line(event: &Event) -> Option<String> {
    match event {
        Event::Notice(text) => Some(text.clone()),
        Event::BlockRepeated { block, again } => {
            Some(format!("block {} runs again as block {}", number(*block), number(*again)))
        }
        Event::TrialFinished { record } => match &record.outcome {
            Outcome::Failed { reason } | Outcome::Invalid { detail: reason, .. } => Some(format!(
                "block {} {} {}: {}",
                number(record.block),
                record.subject,
                record.workload,
                reason.lines().next().unwrap_or_default()
            )),
            Outcome::Completed => None,
        },
        Event::CampaignOpened { .. }
        | Event::CampaignStarted { .. }
        | Event::TrialStarted { .. }
        | Event::TrialPhase(_)
        | Event::CampaignFinished { .. } => None,
    }
}

/// Which block it is for people, who count from 1.
fn number(block: u32) -> u64 {
    u64::from(block) + 1
}
