//! Which waiting tasks are sticky, where, and until when.
//!
//! A CPU that takes another task while its own could go on makes that its sticky task; a
//! task is sticky no more when it runs or wakes, when its CPU has another, and when it may not
//! run there any more.

use crate::models::single_queue::allows;
use crate::replay::Replay;
use crate::trace::{Flag, OrderedEvent, OrderedEventKind};
use std::collections::HashMap;

/// By spell.
pub(super) struct Stickiness {
    spells: Vec<Option<Sticky>>,
}

#[derive(Clone, Copy)]
struct Sticky {
    cpu: u16,
    /// The operation by which the CPU got another: its begin and end.
    lost: Option<(u64, u64)>,
}

/// Clocks of two CPUs may differ by this much (replay::span).
const SLACK_NS: u64 = 1_000;

impl Stickiness {
    /// Goes through the whole trace.
    pub(super) fn of(replay: &Replay<'_>) -> Self {
        let mut spells = vec![None; replay.spells.len()];
        // The sticky task of each CPU, and the spell it is in.
        let mut named: HashMap<u16, i32> = HashMap::new();
        let mut open: HashMap<i32, usize> = HashMap::new();
        for (event, link) in replay.trace.events.iter().zip(&replay.links) {
            match event.kind {
                OrderedEventKind::Dispatch
                    if event.has(Flag::Moved) && event.has(Flag::Runnable) =>
                {
                    let previous = i32::try_from(event.a).unwrap_or_default();
                    if let Some(former) = named.insert(event.cpu, previous)
                        && let Some(spell) = open.get(&former)
                        && former != previous
                        && let Some(sticky) = &mut spells[*spell]
                    {
                        let sticky: &mut Sticky = sticky;
                        sticky.lost = Some((event.begin_ns, event.end_ns));
                    }
                }
                OrderedEventKind::Running => {
                    named.retain(|_, pid| *pid != event.pid);
                    open.remove(&event.pid);
                }
                OrderedEventKind::Enqueue => {
                    if event.has(Flag::Wakeup) {
                        named.retain(|_, pid| *pid != event.pid);
                    }
                    let Some(spell) = link.spell else { continue };
                    open.insert(event.pid, spell);
                    let is_it =
                        |(cpu, pid): &(&u16, &i32)| **pid == event.pid && allows(event.c, **cpu);
                    let cpu = named.iter().find(is_it);
                    spells[spell] = cpu.map(|(cpu, _)| Sticky { cpu: *cpu, lost: None });
                }
                OrderedEventKind::ExitTask => {
                    named.retain(|_, pid| *pid != event.pid);
                    open.remove(&event.pid);
                }
                _ => {}
            }
        }
        Self { spells }
    }

    /// Whether a task is sticky when it is enqueued on this CPU; `None` where its own CPU is
    /// another, which may have changed its mind meanwhile.
    pub(super) fn at_enqueue(&self, spell: usize, cpu: u16) -> Option<bool> {
        match self.spells[spell] {
            None => Some(false),
            Some(sticky) => (sticky.cpu == cpu).then_some(true),
        }
    }

    /// Whether it is surely sticky on another CPU than that of the dispatch.
    pub(super) fn is_elsewhere(&self, spell: usize, dispatch: &OrderedEvent) -> bool {
        self.spells[spell].is_some_and(|sticky| {
            let is_kept = |(begin, _)| dispatch.end_ns + SLACK_NS < begin;
            sticky.cpu != dispatch.cpu && sticky.lost.is_none_or(is_kept)
        })
    }

    /// Whether it is surely not.
    pub(super) fn is_free(&self, spell: usize, dispatch: &OrderedEvent) -> bool {
        self.spells[spell].is_none_or(|sticky| {
            let is_lost = |(_, end)| end + SLACK_NS < dispatch.begin_ns;
            sticky.cpu == dispatch.cpu || sticky.lost.is_some_and(is_lost)
        })
    }
}
