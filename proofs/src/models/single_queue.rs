//! What every scheduler with one queue for all CPUs promises: a woken task goes to an idle
//! CPU where there is one, no CPU goes without while a task waits, and every task passes
//! through the queue.

use super::rule;
use crate::replay::{Idle, Replay, Spell, Timeline};
use crate::trace::{Flag, OrderedEvent};
use crate::verdict::{ModelResult, Tally};

/// The promises, checked as a replay goes on.
pub(super) struct SingleQueue<'r, 't> {
    replay: &'r Replay<'t>,
    waiting: Timeline<'r, Spell>,
    idle: Timeline<'r, Idle>,
}

impl<'r, 't> SingleQueue<'r, 't> {
    pub(super) fn new(replay: &'r Replay<'t>) -> Self {
        let (waiting, idle) = (Timeline::new(&replay.spells), Timeline::new(&replay.idles));
        Self { replay, waiting, idle }
    }

    /// Goes on to an event.
    pub(super) fn advance(&mut self, event: &OrderedEvent) {
        self.waiting.advance(event.end_ns);
        self.idle.advance(event.end_ns);
    }

    /// Tasks other than the chosen one that waited at every moment of an operation.
    pub(super) fn waiting(&self, index: usize) -> impl Iterator<Item = (usize, &'r Spell)> {
        let event = self.replay.event(index);
        let waiting = self.waiting.throughout(event.cpu, (event.begin_ns, event.end_ns));
        let own = self.replay.links[index].spell;
        waiting.filter(move |(spell, _)| Some(*spell) != own)
    }

    /// Those of them that the CPU of a dispatch could have taken.
    pub(super) fn others(&self, index: usize) -> impl Iterator<Item = (usize, &'r Spell)> {
        let cpu = self.replay.event(index).cpu;
        self.waiting(index).filter(move |(_, item)| allows(item.allowed, cpu))
    }

    /// By which a task began to wait.
    pub(super) fn enqueue_of(&self, spell: &Spell) -> &'t OrderedEvent {
        self.replay.event(spell.enqueue)
    }

    /// `select_cpu`: an idle CPU is claimed where one is idle all the time, and the previous
    /// one where that is.
    pub(super) fn select_cpu(&self, tally: &mut Tally, index: usize) -> ModelResult {
        let event = self.replay.event(index);
        let mut idle = self.idle_within(event, (event.begin_ns, event.end_ns), event.c);
        let claimed = self.replay.links[index].claimed.map(|claimed| &self.replay.idles[claimed]);
        let is_sure = |idle: &&Idle| idle.span.began_before(event.cpu, event.begin_ns);
        idle.extend(claimed.filter(is_sure).map(|idle| idle.cpu));
        if idle.is_empty() {
            return Ok(());
        }
        tally.check(rule::IDLE_FIRST, event.has(Flag::Idle), event, || {
            format!("one of the idle CPUs {idle:?} to be claimed")
        })?;
        if idle.iter().any(|cpu| u64::from(*cpu) == event.a) {
            let target = i64::from(event.target).cast_unsigned();
            tally.check(rule::PREVIOUS_FIRST, target == event.a, event, || {
                format!("CPU {}, which it ran on last and which is idle", event.a)
            })?;
        }
        Ok(())
    }

    /// `enqueue` of a task for which no CPU was claimed: an idle one is woken.
    pub(super) fn offer(&self, tally: &mut Tally, index: usize) -> ModelResult {
        let event = self.replay.event(index);
        let link = &self.replay.links[index];
        if event.has(Flag::Claimed) {
            return Ok(());
        }
        if let Some(kick) = link.idle_kick.map(|kick| self.replay.event(kick)) {
            let is_allowed = u16::try_from(kick.target).is_ok_and(|cpu| allows(event.c, cpu));
            tally.check(rule::AFFINITY, is_allowed, kick, || {
                format!("a CPU of {:#x} to be woken", event.c)
            })?;
            return tally.check(rule::IDLE_FIRST, true, kick, String::new);
        }
        let (begin, over) = self.replay.whole(index);
        let end = link.preempt_kick.map_or(over, |kick| self.replay.event(kick).begin_ns);
        let idle = self.idle_within(event, (begin, end), event.c);
        if idle.is_empty() {
            return Ok(());
        }
        tally.check(rule::IDLE_FIRST, false, event, || {
            format!("one of the idle CPUs {idle:?} to be woken")
        })
    }

    fn idle_within(&self, event: &OrderedEvent, operation: (u64, u64), allowed: u64) -> Vec<u16> {
        let idle = self.idle.throughout(event.cpu, operation);
        idle.filter(|(_, idle)| allows(allowed, idle.cpu)).map(|(_, idle)| idle.cpu).collect()
    }

    /// A task starts to run: a dispatch of this CPU took it.
    pub(super) fn start(&self, tally: &mut Tally, index: usize) -> ModelResult {
        match self.replay.links[index].is_dispatched {
            None => Ok(()),
            Some(is_dispatched) => {
                let event = self.replay.event(index);
                tally.check(rule::NO_DIRECT_DISPATCH, is_dispatched, event, || {
                    "a dispatch to take the task from the queue first".to_owned()
                })
            }
        }
    }

    /// A dispatch: a task that may run here, and none only where none waits.
    pub(super) fn dispatch(&self, tally: &mut Tally, index: usize) -> ModelResult {
        let event = self.replay.event(index);
        if event.pid == 0 {
            let waiting: Vec<i32> = self.others(index).map(|(_, spell)| spell.pid).collect();
            tally.check(rule::WORK_CONSERVED, waiting.is_empty(), event, || {
                format!("one of the tasks {waiting:?} that wait to be taken")
            })?;
        }
        let Some(spell) = self.replay.links[index].spell else { return Ok(()) };
        let allowed = self.replay.event(self.replay.spells[spell].enqueue).c;
        let is_allowed = allows(allowed | self.replay.spells[spell].allowed, event.cpu);
        tally.check(rule::AFFINITY, is_allowed, event, || {
            format!("the task to stay on CPUs {allowed:#x}")
        })
    }
}

/// Whether a mask has a CPU.
pub(super) fn allows(mask: u64, cpu: u16) -> bool {
    // Events have the first 64 CPUs; guests have no more.
    mask.checked_shr(u32::from(cpu)).unwrap_or(0) & 1 == 1
}
