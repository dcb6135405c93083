//! Earliest eligible virtual deadline first: eevdf.md, and Stoica and Abdel-Wahab, 1995.
//!
//! The virtual time V of a queue advances by service over load. A request of length r is
//! eligible from ve on and due at vd = ve + r / w; of those with ve <= V the earliest vd goes
//! first. A task that leaves keeps its lag, w (V - ve), and the lags of the others shift V.

use super::queues::{CHANGE, MOST_CHARGE_NS, PLACE, Pull, Queues};
use super::quota::USED_UP_NS;
use super::rule;
use super::single_queue::SingleQueue;
use super::versions::Versions;
use super::weight::{NICE_0, weight};
use crate::replay::{Replay, Run, Timeline};
use crate::trace::{Flag, OrderedEvent, OrderedEventKind, OrderedTrace};
use crate::verdict::{ModelResult, Rejection, ReplaySummary, Tally};
use std::collections::HashMap;

/// EVENT_BALANCE and EVENT_REQUEST: a request ended, and the next begins.
const BALANCE: OrderedEventKind = super::queues::BALANCE;
const REQUEST: OrderedEventKind = OrderedEventKind::Own(84);
/// A tick at HZ=250: how much more than its slice a task may be served (eevdf.md).
const TICK_NS: u64 = 4_000_000;

struct Model<'r, 't> {
    replay: &'r Replay<'t>,
    queue: SingleQueue<'r, 't>,
    running: Timeline<'r, Run>,
    queues: Queues,
    slice: u64,
    tasks: HashMap<i32, Task>,
    cpus: HashMap<i16, Cpu>,
    /// By change of a queue: the request that ended with it, as far as that was served then.
    requests: HashMap<usize, usize>,
    /// When eligible and when due, by spell.
    keys: Vec<Option<(u64, u64)>>,
    tally: Tally,
}

#[derive(Default, Clone, Copy)]
struct Task {
    ve: u64,
    /// Service before ve that is no whole ns of it, in ns times 1024.
    rest: u64,
    vd: u64,
    used: u64,
    lag: i128,
    /// V of the queue that it joined last, before that.
    joined_at: u64,
    static_prio: u64,
    weight: u64,
    has_yielded: bool,
}

#[derive(Default, Clone, Copy)]
struct Cpu {
    running: Option<i32>,
    since: u64,
    time: u64,
    rest: u64,
    load: u64,
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
        slice: trace.parameter("slice")?,
        tasks: HashMap::new(),
        cpus: HashMap::new(),
        requests: requests(trace),
        keys: vec![None; replay.spells.len()],
        tally,
    };
    let mut versions = Versions::of(trace);
    for (index, event) in trace.events.iter().enumerate() {
        // Another CPU's change may be told after those that came after it.
        for earlier in versions.before(index, event) {
            model.change(earlier, &trace.events[earlier])?;
        }
        if !versions.is_taken(index) {
            model.take(index)?;
        }
    }
    let mut rules = vec![
        rule::LOAD,
        rule::VIRTUAL_TIME,
        rule::REQUEST,
        rule::LAG,
        rule::ELIGIBILITY,
        rule::EARLIEST_DEADLINE,
        rule::PREEMPTION,
        rule::NO_DIRECT_DISPATCH,
        rule::WORK_CONSERVED,
    ];
    if trace.header.cpus > 1 {
        rules.extend([rule::BALANCE, rule::PULL]);
    }
    model.tally.finish(&rules)
}

/// A request ends within a change of its queue, which its CPU tells just before.
fn requests(trace: &OrderedTrace) -> HashMap<usize, usize> {
    let mut changes: HashMap<u16, usize> = HashMap::new();
    let mut requests = HashMap::new();
    for (index, event) in trace.events.iter().enumerate() {
        match event.kind {
            CHANGE => {
                changes.insert(event.cpu, index);
            }
            REQUEST => {
                requests.extend(changes.get(&event.cpu).map(|change| (*change, index)));
            }
            _ => {}
        }
    }
    requests
}

impl Cpu {
    /// Service, in ns times 1024, moves the mean.
    fn shift(&mut self, service: i128) {
        if self.load == 0 {
            self.rest = 0;
            return;
        }
        let sum = i128::from(self.rest) + service;
        let load = i128::from(self.load);
        self.time = self.time.wrapping_add(sum.div_euclid(load) as u64);
        self.rest = sum.rem_euclid(load) as u64;
    }
}

impl Task {
    /// A request from ve on.
    fn request(&mut self, slice: u64) {
        self.used = 0;
        self.vd = self.ve.wrapping_add(slice * NICE_0 / self.weight.max(1));
    }

    /// What it has had beyond V, in ns times 1024.
    fn lead(&self, time: u64) -> i128 {
        let ahead = i128::from(self.ve.wrapping_sub(time).cast_signed());
        ahead * i128::from(self.weight) + i128::from(self.rest + self.used * NICE_0)
    }
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
            OrderedEventKind::Yield => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    task.has_yielded = true;
                }
                Ok(())
            }
            OrderedEventKind::SelectCpu => self.queue.select_cpu(&mut self.tally, index),
            OrderedEventKind::Enqueue => self.enqueue(index, event),
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
            kind if kind == CHANGE => self.change(index, event),
            kind if kind == PLACE => self.place(event),
            kind if kind == BALANCE => {
                let cpu = self.cpus.entry(event.target).or_default();
                cpu.pulled = Some(Pull::of(event));
                let weight = self.tasks.get(&event.pid).map(|task| task.weight);
                self.queues.pull(self.replay, &mut self.tally, event, weight)
            }
            _ => Ok(()),
        }
    }

    fn charge(&mut self, cpu: i16, now: u64) {
        let cpu = self.cpus.entry(cpu).or_default();
        let Some(task) = cpu.running.and_then(|pid| self.tasks.get_mut(&pid)) else { return };
        let ran = now.saturating_sub(cpu.since).min(MOST_CHARGE_NS);
        task.used += ran;
        cpu.since = cpu.since.max(now);
        cpu.shift(i128::from(ran * NICE_0));
    }

    fn compare(&mut self, pid: i32, event: &OrderedEvent, key: u64) -> ModelResult {
        let Some(task) = self.tasks.get(&pid).copied() else { return Ok(()) };
        self.tally.check(rule::REQUEST, key == task.vd, event, || {
            format!("a virtual deadline of {}, not {key}", task.vd)
        })
    }

    /// A queue after a look at it, an arrival or a departure.
    fn change(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.charge(event.target, event.a);
        let load = self.queues.after.get(&index).map_or(0, |members| members.load);
        let cpu = self.cpus.entry(event.target).or_default();
        cpu.load = load;
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            if event.has(Flag::Joined) {
                task.weight = weight(task.static_prio);
                task.joined_at = cpu.time;
                let lost = -task.lag;
                let whole = lost.div_euclid(i128::from(task.weight));
                task.ve = cpu.time.wrapping_add(whole as u64);
                task.rest = lost.rem_euclid(i128::from(task.weight)) as u64;
                task.request(self.slice);
                cpu.shift(lost);
            } else if event.has(Flag::Left) {
                let most = i128::from((self.slice + TICK_NS) * NICE_0);
                let lag = -task.lead(cpu.time);
                cpu.shift(lag);
                task.lag = lag.clamp(-most, most);
            }
        }
        let expected = (cpu.time, cpu.rest);
        let told = (event.c, event.d);
        // Another CPU's operation on this queue may have been made in between: then this much
        // may be charged before or after the load changed.
        let margin = (event.end_ns - event.begin_ns) * 70 + 1;
        let off = expected.0.wrapping_sub(told.0).cast_signed().unsigned_abs();
        (cpu.time, cpu.rest) = told;
        if expected != told && off <= margin {
            self.tally.undecided(rule::VIRTUAL_TIME);
        } else {
            self.tally.check(rule::VIRTUAL_TIME, expected == told, event, || {
                format!("virtual time and its rest {expected:?}, not {told:?}")
            })?;
        }
        match self.requests.get(&index) {
            Some(request) => self.request(self.replay.event(*request)),
            None => Ok(()),
        }
    }

    /// Where a newcomer begins: as far behind V as it was when it left, or ahead.
    fn place(&mut self, event: &OrderedEvent) -> ModelResult {
        let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
        let lag = i128::from(event.b.cast_signed());
        // What V was when it left is known within what overlapped then.
        let margin = i128::from(NICE_0) * 200_000;
        let (expected, within) = (task.lag, (lag - task.lag).abs() <= margin);
        task.lag = lag;
        let from = (-lag).div_euclid(i128::from(task.weight.max(1)));
        let from = task.joined_at.wrapping_add(from as u64);
        let off = from.wrapping_sub(event.c).cast_signed().unsigned_abs();
        let is_there = off <= (event.end_ns - event.begin_ns) * 70 + 1;
        (task.ve, task.vd) = (event.c, event.d);
        task.rest = (-lag).rem_euclid(i128::from(task.weight.max(1))) as u64;
        let due = event.c.wrapping_add(self.slice * NICE_0 / task.weight.max(1));
        self.tally.check(rule::LAG, within, event, || format!("a lag of {expected}, not {lag}"))?;
        self.tally.check(rule::LAG, is_there, event, || format!("eligible from {from} on"))?;
        self.tally.check(rule::REQUEST, event.d == due, event, || format!("due at {due}"))
    }

    /// A request ends when it was served, or given back by a yield.
    fn request(&mut self, event: &OrderedEvent) -> ModelResult {
        let slice = self.slice;
        let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
        let is_over = task.used + USED_UP_NS >= slice || task.has_yielded;
        let service = task.rest + task.used * NICE_0;
        let weight = task.weight.max(1);
        task.ve = task.ve.wrapping_add(service / weight);
        task.rest = service % weight;
        task.has_yielded = false;
        task.request(slice);
        let expected = (task.ve, task.vd);
        let is_right = is_over && (event.c, event.d) == expected;
        self.tally.check(rule::REQUEST, is_right, event, || {
            format!("served: {is_over}; the next eligible and due at {expected:?}")
        })
    }

    fn enqueue(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.compare(event.pid, event, event.b)?;
        if let (Some(spell), Some(task)) =
            (self.replay.links[index].spell, self.tasks.get(&event.pid))
        {
            self.keys[spell] = Some((task.ve, task.vd));
        }
        self.queue.offer(&mut self.tally, index)?;
        self.preemption(index, event)
    }

    /// A woken task that is eligible preempts a later deadline on its CPU.
    fn preemption(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        let link = &self.replay.links[index];
        let is_new = event.has(Flag::Wakeup) || event.has(Flag::Fork);
        let kick = link.preempt_kick.map(|kick| self.replay.event(kick));
        let Some(task) = self.tasks.get(&event.pid) else { return Ok(()) };
        if !is_new || link.idle_kick.is_some() || event.has(Flag::Claimed) {
            return self.tally.check(rule::PREEMPTION, kick.is_none(), event, || {
                "nobody to be preempted for this task".to_owned()
            });
        }
        let (begin, over) = self.replay.whole(index);
        let end = kick.map_or(over, |kick| kick.end_ns);
        let mut runs = self.running.throughout(event.cpu, (begin, end));
        let run = runs.find(|(_, run)| i64::from(run.cpu) == i64::from(event.target));
        let running = run.and_then(|(_, run)| self.tasks.get(&run.pid));
        let time = self.cpus.get(&event.target).map(|cpu| cpu.time);
        let (Some(running), Some(time)) = (running, time) else {
            self.tally.undecided(rule::PREEMPTION);
            return Ok(());
        };
        let ahead = |one: u64, other: u64| one.wrapping_sub(other).cast_signed();
        let margin = ((kick.map_or(event.end_ns, |kick| kick.end_ns) - begin) * 70).cast_signed();
        let (is_later, beyond) = (ahead(running.vd, task.vd) > 0, ahead(task.ve, time));
        if is_later && beyond.abs() <= margin && beyond != 0 {
            self.tally.undecided(rule::PREEMPTION);
            return Ok(());
        }
        let is_due = is_later && beyond <= 0;
        self.tally.check(rule::PREEMPTION, kick.is_some() == is_due, event, || {
            format!(
                "preemption: {is_due}; due {} or {}, eligible at {}, it is {time}",
                task.vd, running.vd, task.ve
            )
        })
    }

    fn dispatch(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.queue.dispatch(&mut self.tally, index)?;
        let cpu = self.cpus.entry(event.target).or_default();
        let (pulled, time) = (cpu.pulled.take(), cpu.time);
        if let Some(pull) = pulled {
            let (tally, last) = (&mut self.tally, &mut cpu.balanced_ns);
            return self.queues.pulled(&self.queue, tally, (index, event), pull, last);
        }
        if event.pid == 0 {
            return Ok(());
        }
        // V as of the look at the queue, give or take what changed it meanwhile.
        let margin = ((event.end_ns - event.begin_ns) * 70).cast_signed();
        let ahead = |one: u64, other: u64| one.wrapping_sub(other).cast_signed();
        let own = i32::try_from(event.a).ok().and_then(|pid| self.tasks.get(&pid));
        let own = own.filter(|_| event.has(Flag::Runnable)).map(|task| (task.ve, task.vd));
        let waiting = self.replay.links[index].spell.and_then(|spell| self.keys[spell]);
        let Some(chosen) = (if event.has(Flag::Kept) { own } else { waiting }) else {
            return Ok(());
        };
        let others = self.queue.others(index).filter_map(|(number, rival)| {
            let is_here = self.replay.event(rival.enqueue).target == event.target;
            self.keys[number].filter(|_| is_here).map(|key| (rival.pid, key))
        });
        let mut rivals: Vec<(i32, (u64, u64))> = others.collect();
        if event.has(Flag::Moved) && !event.has(Flag::Yielded) {
            rivals.extend(own.map(|own| (i32::try_from(event.a).unwrap_or(0), own)));
        }
        let is_eligible = ahead(chosen.0, time) <= margin;
        for (pid, key) in rivals {
            if ahead(key.0, time) > -margin {
                self.tally.undecided(rule::EARLIEST_DEADLINE);
                continue;
            }
            self.tally.check(rule::ELIGIBILITY, is_eligible, event, || {
                format!(
                    "task {pid}, eligible from {} on, at {time}, not one from {} on",
                    key.0, chosen.0
                )
            })?;
            let is_first = ahead(chosen.1, key.1) <= 0 || event.has(Flag::Yielded);
            self.tally.check(rule::EARLIEST_DEADLINE, is_first, event, || {
                format!("task {pid}, due at {}, not one due at {}", key.1, chosen.1)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    const SLICE: u64 = 3_000_000;
    const MS: u64 = 1_000_000;
    const OTHER: i32 = 101;

    /// A queue changed: how its load, V and the rest of V are told.
    fn change(script: &mut Script, (at, pid): (u64, i32), told: [u64; 4], flags: &[Flag]) {
        let [version, load, time, rest] = told;
        let change = script.event(0, at, CHANGE, pid).a(at).b(version << 32 | load);
        change.c(time).d(rest).flags(flags);
    }

    /// Two tasks of nice 0; one runs for 2 ms, 1 ms more than its share, leaves, and comes
    /// again. V was 1 ms when it left; it took 1 ms of that along.
    fn comes_again((lag, ve): (i64, u64), time: u64) -> Script {
        let mut script = Script::new("eevdf", 1).parameter("slice", SLICE);
        script = script.parameter("balance_interval", 16 * MS);
        script.init(1_000, TASK, 120);
        script.init(2_000, OTHER, 120);
        for (at, pid, version) in [(10_000, TASK, 1), (20_000, OTHER, 2)] {
            change(&mut script, (at, pid), [version, 1024 * version, 0, 0], &[Flag::Joined]);
            script.event(0, at + 200, PLACE, pid).a(u64::MAX).d(SLICE);
        }
        script.start((0, 50_000), TASK, (SLICE, 0));
        let end = 50_000 + 2 * MS;
        script.stop((0, end), TASK, (SLICE, 0));
        change(&mut script, (end + 1_000, TASK), [3, 1024, 0, 0], &[Flag::Left]);
        change(&mut script, (end + 9_000, TASK), [4, 2048, time, 0], &[Flag::Joined]);
        let place = script.event(0, end + 9_200, PLACE, TASK).b(lag.cast_unsigned());
        place.c(ve).d(ve + SLICE);
        script
    }

    #[test]
    fn a_newcomer_begins_as_far_from_v_as_it_left() {
        let lag = -1024 * MS.cast_signed();
        assert_eq!(comes_again((lag, MS), MS / 2).broken_rule(), None);
        assert_eq!(comes_again((0, 0), MS / 2).broken_rule(), Some(rule::LAG));
        let placed_at_v = comes_again((lag, 0), MS / 2);
        assert_eq!(placed_at_v.broken_rule(), Some(rule::LAG), "the lag is told, but not used");
        assert_eq!(comes_again((lag, MS), 0).broken_rule(), Some(rule::VIRTUAL_TIME));
    }
}
