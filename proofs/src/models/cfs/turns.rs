//! When a tick ends a turn: `sched_slice` and `check_preempt_tick` of kernel/sched/fair.c.

use super::{Model, ahead, rule};
use crate::models::weight::NICE_0;
use crate::trace::{Flag, OrderedEvent};
use crate::verdict::ModelResult;
use std::collections::BTreeSet;

/// The key of a queue in which nobody waits.
const NONE: u64 = u64::MAX;

impl Model<'_, '_> {
    /// The slice is the share of the period by weight, and the turn is over after it, or when
    /// the first one that waits is further behind than that.
    pub(super) fn tick(&mut self, event: &OrderedEvent) -> ModelResult {
        let running = self.cpus.get(&event.target).and_then(|cpu| cpu.running);
        let task = running.and_then(|pid| self.tasks.get(&pid).copied());
        let Some(task) = task.filter(|_| running == Some(event.pid)) else {
            self.tally.undecided(rule::TURN);
            return Ok(());
        };
        let (slice, ran, first) = (event.b, event.c, event.d);
        self.slice_at(event, task.weight)?;
        let window = event.end_ns - event.begin_ns;
        let is_turn = task.turn.abs_diff(ran) <= task.turn_margin + window;
        self.tally.check(rule::TURN, is_turn, event, || {
            format!("a turn of {} ns until now", task.turn)
        })?;
        let lead = ahead(task.vruntime, first.wrapping_add(slice));
        let is_comparable = first != NONE && ran >= self.min_granularity;
        let margin = window * NICE_0 / task.weight.max(1);
        if ran <= slice && is_comparable && lead.unsigned_abs() <= margin {
            self.tally.undecided(rule::TURN);
            return Ok(());
        }
        let is_over = ran > slice || is_comparable && lead > 0;
        self.tally.check(rule::TURN, event.has(Flag::Preempt) == is_over, event, || {
            format!("the turn over: {is_over}; {lead} ns of virtual time further than a slice")
        })
    }

    /// Others may join and leave while the tick looks. Its own look is a change as well, after
    /// which the queue is as before.
    fn slice_at(&mut self, event: &OrderedEvent, weight: u64) -> ModelResult {
        let (told, window) = (event.b, (event.begin_ns, event.end_ns));
        let members = self.queues.during(self.replay, event.target, window);
        let slices: BTreeSet<u64> =
            members.map(|members| self.slice(members.count, members.load, weight)).collect();
        if slices.len() != 1 && !slices.contains(&told) {
            self.tally.undecided(rule::TURN);
            return Ok(());
        }
        self.tally.check(rule::TURN, slices.contains(&told), event, || {
            format!("a slice of {slices:?} ns")
        })
    }
}
