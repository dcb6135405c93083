//! The completely fair scheduler: cfs.md, and kernel/sched/fair.c of 2.6.23 to 6.5.
//!
//! Virtual run time is run time by weight; the lowest goes first. A woken task is placed at
//! most half a latency behind the others, a forked one a slice ahead of them, and what
//! changes its queue keeps its distance to the lowest. A woken task preempts one that is
//! ahead of it by more than a granularity.

mod turns;

use super::queues::{BALANCE, CHANGE, MOST_CHARGE_NS, PLACE, Pull, Queues, TICK};
use super::rule;
use super::single_queue::SingleQueue;
use super::versions::Versions;
use super::weight::{NICE_0, weight};
use crate::replay::{Replay, Run, Timeline};
use crate::trace::{Flag, OrderedEvent, OrderedEventKind, OrderedTrace};
use crate::verdict::{ModelResult, Rejection, ReplaySummary, Tally};
use std::collections::HashMap;

struct Model<'r, 't> {
    replay: &'r Replay<'t>,
    queue: SingleQueue<'r, 't>,
    running: Timeline<'r, Run>,
    queues: Queues,
    latency: u64,
    min_granularity: u64,
    wakeup_granularity: u64,
    tasks: HashMap<i32, Task>,
    cpus: HashMap<i16, Cpu>,
    /// Virtual run times of those that wait, by spell.
    keys: Vec<Option<u64>>,
    tally: Tally,
}

#[derive(Default, Clone, Copy)]
struct Task {
    vruntime: u64,
    /// Of service, in ns times 1024: what is no whole ns of vruntime yet.
    rest: u64,
    static_prio: u64,
    weight: u64,
    /// What it ran since it was chosen, in ns, and by how much the scheduler may differ: another
    /// CPU charges while a choice is made.
    turn: u64,
    turn_margin: u64,
}

#[derive(Default, Clone, Copy)]
struct Cpu {
    running: Option<i32>,
    since: u64,
    min_vruntime: u64,
    /// The running task when the CPU last looked.
    seen: u64,
    /// What it just took from another CPU's queue, if anything.
    pulled: Option<Pull>,
    /// When it last did so in turn.
    balanced_ns: Option<u64>,
}

pub(super) fn replay(trace: &OrderedTrace) -> Result<ReplaySummary, Rejection> {
    let replay = Replay::new(trace);
    let mut tally = Tally::default();
    let interval = trace.parameter("balance_interval")?;
    let queues = Queues::of(&replay, interval, &mut tally)?;
    let mut model = Model {
        replay: &replay,
        queue: SingleQueue::new(&replay),
        running: Timeline::new(&replay.runs),
        queues,
        latency: trace.parameter("latency")?,
        min_granularity: trace.parameter("min_granularity")?,
        wakeup_granularity: trace.parameter("wakeup_granularity")?,
        tasks: HashMap::new(),
        cpus: HashMap::new(),
        keys: vec![None; replay.spells.len()],
        tally,
    };
    let mut versions = Versions::of(trace);
    for (index, event) in trace.events.iter().enumerate() {
        // Another CPU's look at a queue may be told after those that came after it; what a task is
        // charged for depends on their order where one of them is charged the most.
        for earlier in versions.before(index, event) {
            model.change(&trace.events[earlier])?;
        }
        if !versions.is_taken(index) {
            model.take(index)?;
        }
    }
    let mut rules = vec![
        rule::LOAD,
        rule::VIRTUAL_TIME,
        rule::PLACEMENT,
        rule::LEFTMOST,
        rule::GRANULARITY,
        rule::TURN,
        rule::NO_DIRECT_DISPATCH,
        rule::IDLE_FIRST,
        rule::WORK_CONSERVED,
    ];
    if trace.header.cpus > 1 {
        rules.extend([rule::PREVIOUS_FIRST, rule::BALANCE, rule::PULL]);
    }
    model.tally.finish(&rules)
}

impl Task {
    fn serve(&mut self, ran: u64) {
        let service = self.rest + ran * NICE_0;
        let weight = self.weight.max(1);
        self.vruntime = self.vruntime.wrapping_add(service / weight);
        self.rest = service % weight;
        self.turn += ran;
    }

    fn begin_turn(&mut self, margin: u64) {
        (self.turn, self.turn_margin) = (0, margin);
    }
}

/// How far one virtual time is ahead of another.
fn ahead(one: u64, other: u64) -> i64 {
    one.wrapping_sub(other).cast_signed()
}

impl Model<'_, '_> {
    fn take(&mut self, index: usize) -> ModelResult {
        let event = self.replay.event(index);
        self.queue.advance(event);
        self.running.advance(event.end_ns);
        match event.kind {
            OrderedEventKind::InitTask => {
                let task = Task { static_prio: event.a, ..Task::default() };
                self.tasks.insert(event.pid, task);
                Ok(())
            }
            OrderedEventKind::SetWeight => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    task.static_prio = event.a;
                }
                Ok(())
            }
            OrderedEventKind::SelectCpu => self.queue.select_cpu(&mut self.tally, index),
            OrderedEventKind::Enqueue => self.enqueue(index, event),
            OrderedEventKind::Rescue => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    task.begin_turn(0);
                }
                Ok(())
            }
            OrderedEventKind::Dispatch => self.dispatch(index, event),
            OrderedEventKind::Running => {
                self.compare(event.pid, event, event.b)?;
                let cpu = self.cpus.entry(event.target).or_default();
                (cpu.running, cpu.since) = (Some(event.pid), event.a);
                self.queue.start(&mut self.tally, index)
            }
            OrderedEventKind::Stopping => {
                self.charge(event.target, event.a);
                self.cpus.entry(event.target).or_default().running = None;
                self.compare(event.pid, event, event.b)
            }
            kind if kind == CHANGE => self.change(event),
            kind if kind == PLACE => self.place(index, event),
            kind if kind == TICK => self.tick(event),
            kind if kind == BALANCE => self.pull(event),
            _ => Ok(()),
        }
    }

    /// The running task of a CPU ran until now.
    fn charge(&mut self, cpu: i16, now: u64) {
        let cpu = self.cpus.entry(cpu).or_default();
        if let Some(task) = cpu.running.and_then(|pid| self.tasks.get_mut(&pid)) {
            task.serve(now.saturating_sub(cpu.since).min(MOST_CHARGE_NS));
            cpu.since = cpu.since.max(now);
            cpu.seen = task.vruntime;
        }
    }

    fn compare(&mut self, pid: i32, event: &OrderedEvent, key: u64) -> ModelResult {
        let Some(task) = self.tasks.get_mut(&pid) else { return Ok(()) };
        let off = ahead(key, task.vruntime);
        // Another CPU that looked at the queue meanwhile may have charged it up to its own
        // clock, or not any more: as much as it ran while this went on.
        let weight = task.weight.max(1);
        let within = (event.end_ns - event.begin_ns) * NICE_0 / weight + 1;
        if off != 0 && off.unsigned_abs() <= within {
            task.vruntime = key;
            self.tally.undecided(rule::VIRTUAL_TIME);
            return Ok(());
        }
        let expected = task.vruntime;
        self.tally.check(rule::VIRTUAL_TIME, off == 0, event, || {
            format!("virtual run time {expected}, not {key}")
        })
    }

    /// A look at a queue: the lowest of its members, but never less than before.
    fn change(&mut self, event: &OrderedEvent) -> ModelResult {
        self.charge(event.target, event.a);
        let cpu = self.cpus.entry(event.target).or_default();
        let former = cpu.min_vruntime;
        // Changes whose events overlap come in another order than they were made in.
        cpu.min_vruntime = if ahead(event.d, former) > 0 { event.d } else { former };
        if ahead(event.d, former) <= 0 {
            return Ok(());
        }
        let margin = (event.end_ns - event.begin_ns).cast_signed() * 70;
        let Some(running) = cpu.running else { return Ok(()) };
        let Some(running) = self.tasks.get(&running) else { return Ok(()) };
        let is_right = ahead(event.d, running.vruntime) <= margin;
        self.tally.check(rule::PLACEMENT, is_right, event, || {
            format!("no lowest virtual run time beyond {}, which runs", running.vruntime)
        })
    }

    /// The share of the period that a task has by its weight.
    fn slice(&self, count: u64, load: u64, weight: u64) -> u64 {
        let period = (count * self.min_granularity).max(self.latency);
        (period * weight / load.max(1)).max(self.min_granularity)
    }

    fn place(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        let join = self.queues.joined_by.get(&index).copied();
        let Some((join, task)) = join.zip(self.tasks.get(&event.pid).copied()) else {
            return Ok(());
        };
        let members = self.queues.after.get(&join).copied().unwrap_or_default();
        let lowest = self.replay.event(join).d;
        let from = event.a.cast_signed();
        self.compare(event.pid, event, event.c)?;
        let weight = weight(task.static_prio);
        let mut vruntime = self.tasks.get(&event.pid).map_or(0, |task| task.vruntime);
        if from < 0 {
            vruntime = lowest;
        } else if from != i64::from(event.target) {
            vruntime = vruntime.wrapping_add(lowest).wrapping_sub(event.b);
        }
        let credit = lowest.wrapping_sub(self.latency / 2);
        if event.has(Flag::Fork) {
            let slice = self.slice(members.count, members.load, weight);
            vruntime = vruntime.wrapping_add(slice * NICE_0 / weight);
        } else if event.has(Flag::Wakeup) && ahead(vruntime, credit) < 0 {
            vruntime = credit;
        }
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            (task.vruntime, task.weight) = (vruntime, weight);
            task.begin_turn(0);
        }
        self.tally.check(rule::PLACEMENT, event.d == vruntime, event, || {
            format!("to be placed at {vruntime}: {lowest} is the lowest, of {members:?}")
        })
    }

    fn enqueue(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.compare(event.pid, event, event.b)?;
        let task = self.tasks.get_mut(&event.pid);
        let vruntime = task.map(|task| {
            task.begin_turn(0);
            task.vruntime
        });
        if let Some(spell) = self.replay.links[index].spell {
            self.keys[spell] = vruntime;
        }
        self.queue.offer(&mut self.tally, index)?;
        self.preemption(index, event)
    }

    /// A woken task preempts the running one where that is ahead by more than a granularity.
    fn preemption(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        let link = &self.replay.links[index];
        let is_new = event.has(Flag::Wakeup) || event.has(Flag::Fork);
        let is_served = link.idle_kick.is_some() || event.has(Flag::Claimed);
        let Some(task) = self.tasks.get(&event.pid) else { return Ok(()) };
        let kick = link.preempt_kick.map(|kick| self.replay.event(kick));
        if is_served || !is_new {
            return self.tally.check(rule::GRANULARITY, kick.is_none(), event, || {
                "nobody to be preempted for this task".to_owned()
            });
        }
        let (begin, over) = self.replay.whole(index);
        let end = kick.map_or(over, |kick| kick.end_ns);
        let mut runs = self.running.throughout(event.cpu, (begin, end));
        let run = runs.find(|(_, run)| i64::from(run.cpu) == i64::from(event.target));
        let Some(running) = run.and_then(|(_, run)| self.tasks.get(&run.pid)) else {
            self.tally.undecided(rule::GRANULARITY);
            return Ok(());
        };
        let granularity = self.wakeup_granularity * NICE_0 / task.weight.max(1);
        let lead = ahead(running.vruntime, task.vruntime.wrapping_add(granularity));
        // It goes on running until the look at it, which is somewhere in the operation.
        let margin = (event.end_ns - begin + 1_000) * NICE_0 / running.weight.max(1);
        let margin = margin.cast_signed();
        if lead.abs() <= margin {
            self.tally.undecided(rule::GRANULARITY);
            return Ok(());
        }
        self.tally.check(rule::GRANULARITY, kick.is_some() == (lead > 0), event, || {
            format!("a preemption: {}; the running task is {lead} ns beyond the limit", lead > 0)
        })
    }

    fn pull(&mut self, event: &OrderedEvent) -> ModelResult {
        let cpu = self.cpus.entry(event.target).or_default();
        cpu.pulled = Some(Pull::of(event));
        let weight = self.tasks.get(&event.pid).map(|task| task.weight);
        self.queues.pull(self.replay, &mut self.tally, event, weight)
    }

    fn dispatch(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.queue.dispatch(&mut self.tally, index)?;
        let cpu = self.cpus.entry(event.target).or_default();
        let (pulled, seen) = (cpu.pulled.take(), cpu.seen);
        if let (true, Some(task)) = (event.has(Flag::Kept), self.tasks.get_mut(&event.pid)) {
            task.begin_turn(event.end_ns - event.begin_ns);
        }
        if let Some(pull) = pulled {
            let (tally, last) = (&mut self.tally, &mut cpu.balanced_ns);
            return self.queues.pulled(&self.queue, tally, (index, event), pull, last);
        }
        if event.pid == 0 {
            return Ok(());
        }
        let yielded = if event.has(Flag::Yielded) { self.wakeup_granularity } else { 0 };
        let own = event.has(Flag::Runnable).then(|| seen.wrapping_add(yielded));
        let chosen = self.replay.links[index].spell.and_then(|spell| self.keys[spell]);
        // What another CPU charged meanwhile.
        let margin = (event.end_ns - event.begin_ns).cast_signed() * 70;
        if let (true, Some(own), Some(chosen)) = (event.has(Flag::Moved), own, chosen) {
            self.tally.check(rule::LEFTMOST, ahead(chosen, own) <= margin, event, || {
                format!("task {} at {own} to go on, not one at {chosen}", event.a)
            })?;
        }
        let (bound, margin) = match (event.has(Flag::Kept), own, chosen) {
            (true, Some(own), _) => (own, margin),
            (false, _, Some(chosen)) => (chosen, 0),
            _ => return Ok(()),
        };
        let others: Vec<_> = self.queue.others(index).collect();
        for (number, rival) in others {
            let is_here = self.replay.event(rival.enqueue).target == event.target;
            let Some(key) = self.keys[number].filter(|_| is_here) else { continue };
            self.tally.check(rule::LEFTMOST, ahead(bound, key) <= margin, event, || {
                format!("task {} at {key}, not one at {bound}", rival.pid)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    const LATENCY: u64 = 6_000_000;
    const INTERVAL: u64 = 16_000_000;
    const OTHER: i32 = 101;

    /// Two tasks of nice 0 join the queue of CPU 0, this far apart; the lowest is `lowest`.
    fn script(lowest: u64, other: u64, load: u64) -> Script {
        let script = Script::new("cfs", 1).parameter("latency", LATENCY);
        let script = script.parameter("min_granularity", 750_000);
        let script = script.parameter("balance_interval", INTERVAL);
        let mut script = script.parameter("wakeup_granularity", 1_000_000);
        script.init(1_000, TASK, 120);
        script.init(2_000, OTHER, 120);
        for (at, pid, version, load, placed) in
            [(10_000, TASK, 1, 1024, 0), (20_000, OTHER, 2, load, other)]
        {
            let lowest = if pid == TASK { 0 } else { lowest };
            let change = script.event(0, at, CHANGE, pid).a(at).b(version << 32 | load).d(lowest);
            change.flags(&[Flag::Joined]);
            let flags = if pid == TASK { [Flag::Wakeup] } else { [Flag::Fork] };
            let place = script.event(0, at + 200, PLACE, pid).a(u64::MAX).d(placed);
            place.flags(&flags);
            script.enqueue((0, at + 400), pid, (placed, 0), &flags);
        }
        script
    }

    /// What a forked task of nice 0 among two begins with: half of the period.
    const DEBIT: u64 = LATENCY / 2;

    fn chosen(pid: i32) -> Script {
        let mut script = script(0, DEBIT, 2048);
        script.dispatch(0, 30_000, pid, 0, &[Flag::Moved]);
        script.event(0, 40_000, OrderedEventKind::Yield, pid);
        script
    }

    #[test]
    fn the_lowest_virtual_run_time_goes_first() {
        assert_eq!(chosen(TASK).broken_rule(), None);
        assert_eq!(chosen(OTHER).broken_rule(), Some(rule::LEFTMOST));
    }

    #[test]
    fn a_load_or_a_place_that_is_not_the_models_is_wrong() {
        assert_eq!(script(0, DEBIT, 2047).broken_rule(), Some(rule::LOAD));
        assert_eq!(script(0, 0, 2048).broken_rule(), Some(rule::PLACEMENT));
    }

    /// One ran for so long, in a turn that began at 50 us.
    fn ran(for_ns: u64, told: u64) -> Script {
        let mut script = chosen(TASK);
        script.start((0, 50_000), TASK, (0, 0));
        script.stop((0, 50_000 + for_ns), TASK, (told, 0));
        script
    }

    #[test]
    fn virtual_run_time_is_run_time_by_weight() {
        assert_eq!(ran(2_000_000, 2_000_000).broken_rule(), None);
        assert_eq!(ran(2_000_000, 1_000_000).broken_rule(), Some(rule::VIRTUAL_TIME));
    }

    /// A tick so many ns after the turn of one of two began; the other one's key is `DEBIT`.
    fn ticked(ran: u64, (slice, told): (u64, u64), flags: &[Flag]) -> Option<&'static str> {
        let mut script = chosen(TASK);
        script.start((0, 50_000), TASK, (0, 0));
        let at = 50_000 + ran;
        script.event(0, at, CHANGE, 0).a(at).b(3 << 32 | 2048).c(DEBIT).d(DEBIT.min(ran));
        let tick = script.event(0, at + 200, TICK, TASK).begin(at - 100);
        tick.a(at).b(slice).c(told).d(DEBIT).flags(flags);
        script.broken_rule()
    }

    #[test]
    fn a_turn_is_over_after_a_slice_of_the_period_or_a_slice_ahead() {
        const MS: u64 = 1_000_000;
        let half = LATENCY / 2;
        assert_eq!(ticked(2 * MS, (half, 2 * MS), &[]), None);
        assert_eq!(ticked(4 * MS, (half, 4 * MS), &[Flag::Preempt]), None);
        assert_eq!(ticked(4 * MS, (half, 4 * MS), &[]), Some(rule::TURN));
        assert_eq!(ticked(2 * MS, (half, 2 * MS), &[Flag::Preempt]), Some(rule::TURN));
        assert_eq!(ticked(4 * MS, (2 * half, 4 * MS), &[]), Some(rule::TURN), "no such slice");
        assert_eq!(ticked(4 * MS, (half, MS), &[]), Some(rule::TURN), "no such turn");
    }

    #[test]
    fn a_look_that_is_told_late_is_charged_before_the_one_that_came_after_it() {
        const MS: u64 = 1_000_000;
        // CPU 1 looked 5 ms after the turn began, and was stopped before it told. CPU 0 was, too:
        // of the 15 ms since then no more than 12 are charged.
        let turn = |told| {
            let mut script = Script::new("cfs", 2).parameter("latency", LATENCY);
            for (name, value) in [
                ("min_granularity", 750_000),
                ("balance_interval", INTERVAL),
                ("wakeup_granularity", 1_000_000),
            ] {
                script = script.parameter(name, value);
            }
            script.init(1_000, TASK, 120);
            let joins = script.event(0, 10_000, CHANGE, TASK).a(10_000).b(1 << 32 | 1024);
            joins.flags(&[Flag::Joined]);
            script.event(0, 10_200, PLACE, TASK).a(u64::MAX).flags(&[Flag::Wakeup]);
            script.enqueue((0, 10_400), TASK, (0, 0), &[Flag::Wakeup]);
            script.dispatch(0, 30_000, TASK, 0, &[Flag::Moved]);
            script.start((0, 50_000), TASK, (0, 0));
            let (early, late) = (50_000 + 5 * MS, 50_000 + 20 * MS);
            script.event(0, late, CHANGE, 0).a(late).b(3 << 32 | 1024).c(u64::MAX);
            let tick = script.event(0, late + 200, TICK, TASK).begin(late - 100);
            tick.a(late).b(LATENCY).c(told).d(u64::MAX).flags(&[Flag::Preempt]);
            let look = script.event(1, late + 400, CHANGE, 0).begin(early - 100).a(early);
            look.b(2 << 32 | 1024).c(u64::MAX).target(0);
            script.broken_rule()
        };
        assert_eq!(turn(17 * MS), None);
        assert_eq!(turn(12 * MS), Some(rule::TURN));
    }

    /// CPU 1, which is empty, pulls a task of nice 0 from CPU 0, where two are; and then
    /// another, after so long.
    fn pulls((source, here): (u64, u64), weight: u64, why: &[Flag], again: Option<u64>) -> Script {
        let mut script = script(0, DEBIT, 2048);
        for (at, pid) in [Some((100_000, TASK)), again.map(|after| (100_000 + after, OTHER))]
            .into_iter()
            .flatten()
        {
            let pull = script.event(1, at, BALANCE, pid).a(0).b(source).c(here).d(weight);
            pull.flags(why);
            script.dispatch(1, at + 200, pid, 0, &[Flag::Moved]);
        }
        script.event(0, 100_000_000, OrderedEventKind::Yield, TASK);
        script.event(1, 100_000_000, OrderedEventKind::Yield, TASK);
        script
    }

    #[test]
    fn a_pull_in_turn_needs_a_difference_the_true_loads_and_its_turn() {
        let broken = |loads, weight, again| pulls(loads, weight, &[], again).broken_rule();
        assert_eq!(broken((2048, 0), 1024, None), None);
        assert_eq!(broken((2048, 0), 1024, Some(INTERVAL)), None);
        for (loads, weight, again) in [
            ((2048, 1024), 1024, None),
            ((4096, 0), 1024, None),
            ((2048, 0), 512, None),
            ((2048, 0), 1024, Some(INTERVAL - 1)),
        ] {
            assert_eq!(broken(loads, weight, again), Some(rule::BALANCE), "{loads:?} {weight}");
        }
    }

    #[test]
    fn a_pull_out_of_turn_needs_an_idle_cpu() {
        assert_eq!(pulls((1, 1), 1, &[Flag::Idle], Some(1_000)).broken_rule(), None);
        let mut script = script(0, DEBIT, 2048);
        script.event(0, 100_000, BALANCE, OTHER).a(1).flags(&[Flag::Idle]);
        script.dispatch(0, 100_200, OTHER, 0, &[Flag::Moved]);
        script.event(0, 200_000, OrderedEventKind::Yield, TASK);
        assert_eq!(script.broken_rule(), Some(rule::PULL), "one waits here");
    }
}
