//! Queues of single CPUs and their members, for cfs and eevdf: how many there are and what
//! they weigh, after each change. A queue numbers its changes, so that their order is known
//! where the operations overlap.

use super::rule;
use super::single_queue::SingleQueue;
use super::weight::weight;
use crate::replay::Replay;
use crate::trace::{Flag, OrderedEvent, OrderedEventKind};
use crate::verdict::{ModelResult, Tally};
use std::collections::HashMap;

/// EVENT_QUEUE, a change of a queue; EVENT_PLACE, where a newcomer was put.
pub(super) const CHANGE: OrderedEventKind = OrderedEventKind::Own(80);
pub(super) const PLACE: OrderedEventKind = OrderedEventKind::Own(81);
/// EVENT_TICK: a look at the running task, of cfs.
pub(super) const TICK: OrderedEventKind = OrderedEventKind::Own(82);
/// EVENT_BALANCE: a CPU took a task from another's queue.
pub(super) const BALANCE: OrderedEventKind = OrderedEventKind::Own(83);

/// A task is charged for no more than this at once: longer without a tick, and it was the
/// guest that did not run (per_cpu_queues.bpf.h, and on the pages).
pub(super) const MOST_CHARGE_NS: u64 = 12_000_000;

/// A queue after a change.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Members {
    pub count: u64,
    pub load: u64,
}

/// By number of the event; and for each placement the change that it was part of.
pub(super) struct Queues {
    pub after: HashMap<usize, Members>,
    pub joined_by: HashMap<usize, usize>,
    /// The changes of each queue, in the order in which they were made.
    changes: HashMap<i16, Vec<usize>>,
    /// How often a CPU looks at the loads of others, ns.
    interval: u64,
}

/// Changes whose events overlap may begin in another order than they were made in; by no more
/// than so many, of a few CPUs.
const DISORDER: usize = 16;

/// Why a CPU took a task from another's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pull {
    /// It had nothing to run.
    Idle,
    /// It compares loads, each so often.
    InTurn,
}

impl Pull {
    pub(super) fn of(balance: &OrderedEvent) -> Self {
        if balance.has(Flag::Idle) { Pull::Idle } else { Pull::InTurn }
    }
}

impl Queues {
    /// Counts members and weights, and holds the scheduler's sums against them.
    pub(super) fn of(
        replay: &Replay<'_>,
        interval: u64,
        tally: &mut Tally,
    ) -> Result<Self, Box<crate::verdict::Violation>> {
        let mut prio: HashMap<i32, u64> = HashMap::new();
        let mut weights: HashMap<i32, u64> = HashMap::new();
        // By queue: version, event, and what it adds.
        let mut changes: HashMap<i16, Vec<(u64, usize, i64)>> = HashMap::new();
        let mut last: HashMap<(u16, i32), usize> = HashMap::new();
        let mut joined_by = HashMap::new();
        for (index, event) in replay.trace.events.iter().enumerate() {
            match event.kind {
                OrderedEventKind::InitTask | OrderedEventKind::SetWeight => {
                    prio.insert(event.pid, event.a);
                }
                kind if kind == CHANGE => {
                    let mut adds = 0;
                    if event.has(Flag::Joined) {
                        adds = weight(prio.get(&event.pid).copied().unwrap_or(120)).cast_signed();
                        weights.insert(event.pid, adds.cast_unsigned());
                        last.insert((event.cpu, event.pid), index);
                    } else if event.has(Flag::Left) {
                        adds = -weights.get(&event.pid).copied().unwrap_or(0).cast_signed();
                    }
                    changes.entry(event.target).or_default().push((event.b >> 32, index, adds));
                }
                kind if kind == PLACE => {
                    if let Some(join) = last.get(&(event.cpu, event.pid)) {
                        joined_by.insert(index, *join);
                    }
                }
                _ => {}
            }
        }
        let mut after = HashMap::new();
        for changes in changes.values_mut() {
            changes.sort_unstable();
            let mut members = Members::default();
            for (_, index, adds) in changes {
                members.load = members.load.saturating_add_signed(*adds);
                members.count = members.count.saturating_add_signed(adds.signum());
                sum(tally, replay.event(*index), members)?;
                after.insert(*index, members);
            }
        }
        let made = |changes: Vec<(u64, usize, i64)>| changes.into_iter().map(|(_, index, _)| index);
        let changes =
            changes.into_iter().map(|(queue, changes)| (queue, made(changes).collect())).collect();
        Ok(Self { after, joined_by, changes, interval })
    }

    /// A CPU took a task of this weight from another's queue: because it had nothing to run, or
    /// in turn, where the loads differ by more than the weight.
    pub(super) fn pull(
        &self,
        replay: &Replay<'_>,
        tally: &mut Tally,
        event: &OrderedEvent,
        weight: Option<u64>,
    ) -> ModelResult {
        if event.has(Flag::Idle) {
            return Ok(());
        }
        let (source, here, weighs) = (event.b, event.c, event.d);
        tally.check(rule::BALANCE, source.saturating_sub(here) > weighs, event, || {
            "a load that differs by more than the task's weight".to_owned()
        })?;
        tally.check(rule::BALANCE, weight.is_none_or(|weight| weight == weighs), event, || {
            format!("a task of weight {weight:?}")
        })?;
        let window = (event.begin_ns, event.end_ns);
        let from = i16::try_from(event.a).unwrap_or(-1);
        for (queue, told) in [(from, source), (event.target, here)] {
            let mut loads = self.during(replay, queue, window).map(|members| members.load);
            let changes = self.changes.get(&queue).map_or(&[][..], Vec::as_slice);
            let first = changes.first().map(|first| replay.event(*first).end_ns);
            let was_empty = told == 0 && first.is_none_or(|first| first >= window.0);
            let is_known = was_empty || loads.any(|load| load == told);
            tally.check(rule::BALANCE, is_known, event, || {
                format!("queue {queue} to have had a load of {told}")
            })?;
        }
        Ok(())
    }

    /// A dispatch that took another CPU's task: when it had nothing to run, or in turn, so long
    /// after the last time.
    pub(super) fn pulled(
        &self,
        queue: &SingleQueue<'_, '_>,
        tally: &mut Tally,
        event: (usize, &OrderedEvent),
        pull: Pull,
        last: &mut Option<u64>,
    ) -> ModelResult {
        let (index, event) = event;
        if pull == Pull::InTurn {
            let since = last.replace(event.b);
            let is_time = since.is_none_or(|last| event.b.saturating_sub(last) >= self.interval);
            return tally.check(rule::BALANCE, is_time, event, || {
                format!("no look at other loads within {} ns", self.interval)
            });
        }
        let here =
            queue.others(index).find(|(_, spell)| queue.enqueue_of(spell).target == event.target);
        let is_right = here.is_none() && !event.has(Flag::Runnable);
        tally.check(rule::PULL, is_right, event, || {
            "no pull from another queue while there is something to run".to_owned()
        })
    }

    /// What a queue may have been at some time of an operation.
    pub(super) fn during(
        &self,
        replay: &Replay<'_>,
        queue: i16,
        (begin, end): (u64, u64),
    ) -> impl Iterator<Item = Members> {
        let changes = self.changes.get(&queue).map_or(&[][..], Vec::as_slice);
        let next = changes.partition_point(|change| replay.event(*change).begin_ns <= end);
        let is_within = move |at: usize| {
            let is_made = replay.event(changes[at]).begin_ns <= end;
            let follower = changes.get(at + 1);
            is_made && follower.is_none_or(|follower| replay.event(*follower).end_ns >= begin)
        };
        let upto = (next + DISORDER).min(changes.len());
        let near = (0..upto).rev().scan(0, move |outside, at| {
            *outside = if is_within(at) { 0 } else { *outside + 1 };
            (*outside <= 2 * DISORDER).then_some((*outside == 0, at))
        });
        near.filter(|(is_within, _)| *is_within)
            .filter_map(|(_, at)| self.after.get(&changes[at]).copied())
    }
}

fn sum(tally: &mut Tally, event: &OrderedEvent, members: Members) -> ModelResult {
    let told = event.b & u64::from(u32::MAX);
    tally.check(rule::LOAD, told == members.load, event, || {
        format!("a load of {}, the sum of the weights of {} members", members.load, members.count)
    })
}
