//! What is left of a task's quota, from the clock readings of its events.

use crate::trace::OrderedEvent;

/// Less than this left is used up: RESCHED_US of BFS, and said on every page.
pub(super) const USED_UP_NS: u64 = 100_000;

/// One task's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quota {
    /// Nanoseconds.
    pub left: u64,
    /// Begin of the time that is not charged yet, while it runs.
    since: Option<u64>,
}

impl Quota {
    /// It starts to run.
    pub(super) fn start(&mut self, now: u64) {
        self.since = Some(now);
    }

    /// It ran until now, and goes on. A charge that is told after a later one adds nothing.
    pub(super) fn charge(&mut self, now: u64) -> u64 {
        let Some(since) = self.since else { return 0 };
        let ran = now.saturating_sub(since);
        self.left = self.left.saturating_sub(ran);
        self.since = Some(now.max(since));
        ran
    }

    /// It ran until now, and no longer.
    pub(super) fn stop(&mut self, now: u64) -> u64 {
        let ran = self.charge(now);
        self.since = None;
        ran
    }

    /// Whether it is used up.
    pub(super) fn is_used_up(&self) -> bool {
        self.left < USED_UP_NS
    }
}

/// Whether a clock reading was taken within its operation.
pub(super) fn is_within(clock: u64, event: &OrderedEvent) -> bool {
    (event.begin_ns..=event.end_ns).contains(&clock)
}
