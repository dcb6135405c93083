//! BFS: bfs.md, and `kernel/sched_bfs.c` of 2.6.38 to 3.2.
//!
//! One queue, earliest virtual deadline first. A deadline is set when a quota is used up,
//! stands while its task sleeps or waits, and moves with the nice value. A woken task goes
//! to an idle CPU, else it preempts the latest deadline. What a CPU drops while it still
//! wants to run stays sticky there.

mod sticky;

use super::quota::{Quota, is_within};
use super::rule;
use super::single_queue::{SingleQueue, allows};
use crate::replay::{Replay, Run, Timeline};
use crate::trace::{Flag, OrderedEvent, OrderedEventKind, OrderedTrace};
use crate::verdict::{ModelResult, Rejection, ReplaySummary, Tally, Violation};
use std::collections::HashMap;
use sticky::Stickiness;

struct Model<'r, 't> {
    replay: &'r Replay<'t>,
    queue: SingleQueue<'r, 't>,
    running: Timeline<'r, Run>,
    sticky: Stickiness,
    rr_interval: u64,
    tasks: HashMap<i32, Task>,
    /// Deadlines by spell, and by run.
    waiting_keys: Vec<Option<u64>>,
    running_keys: Vec<Option<u64>>,
    /// By CPU: the deadline of the running task when its dispatch charged it.
    charged_keys: HashMap<u16, Option<u64>>,
    tally: Tally,
}

struct Task {
    quota: Quota,
    static_prio: u64,
    /// None before its first.
    deadline: Option<u64>,
}

pub(super) fn replay(trace: &OrderedTrace) -> Result<ReplaySummary, Rejection> {
    let rr_interval = trace.parameter("rr_interval")?;
    let replay = Replay::new(trace);
    let mut model = Model {
        replay: &replay,
        queue: SingleQueue::new(&replay),
        running: Timeline::new(&replay.runs),
        sticky: Stickiness::of(&replay),
        rr_interval,
        tasks: HashMap::new(),
        waiting_keys: vec![None; replay.spells.len()],
        running_keys: vec![None; replay.runs.len()],
        charged_keys: HashMap::new(),
        tally: Tally::default(),
    };
    for index in 0..trace.events.len() {
        model.take(index)?;
    }
    let mut rules = vec![
        rule::DEADLINE,
        rule::EARLIEST_DEADLINE,
        rule::PREEMPTION,
        rule::IDLE_FIRST,
        rule::NO_DIRECT_DISPATCH,
        rule::WORK_CONSERVED,
        rule::AFFINITY,
        rule::STICKY,
    ];
    if trace.header.cpus > 1 {
        rules.push(rule::PREVIOUS_FIRST);
    }
    model.tally.finish(&rules)
}

/// 128 for nice -20; each further level 11/10 of the one before, rounded down.
fn prio_ratio(static_prio: u64) -> u64 {
    let levels = static_prio.saturating_sub(100).min(39);
    (0..levels).fold(128, |ratio, _| ratio * 11 / 10)
}

impl Model<'_, '_> {
    fn distance(&self, static_prio: u64) -> u64 {
        prio_ratio(static_prio) * self.rr_interval / 128
    }

    fn take(&mut self, index: usize) -> ModelResult {
        let event = self.replay.event(index);
        self.queue.advance(event);
        self.running.advance(event.end_ns);
        match event.kind {
            OrderedEventKind::InitTask => {
                let task = Task { quota: Quota::default(), static_prio: event.a, deadline: None };
                self.tasks.insert(event.pid, task);
                Ok(())
            }
            OrderedEventKind::SelectCpu => self.queue.select_cpu(&mut self.tally, index),
            OrderedEventKind::Enqueue => self.enqueue(index, event),
            OrderedEventKind::Dispatch => self.dispatch(index, event),
            OrderedEventKind::Running => self.start(index, event),
            OrderedEventKind::Stopping => {
                self.charge(event.pid, event.a, true);
                self.compare(event.pid, event, event.b, Some(event.d))
            }
            OrderedEventKind::Charge => {
                self.charge(event.pid, event.a, false);
                let deadline = self.tasks.get(&event.pid).and_then(|task| task.deadline);
                self.charged_keys.insert(event.cpu, deadline);
                self.compare(event.pid, event, event.b, Some(event.d))
            }
            OrderedEventKind::SetWeight => self.set_weight(event),
            OrderedEventKind::Kick if event.has(Flag::Preempt) => {
                // What is right for that enqueue is checked there.
                let is_part = self.replay.links[index].is_part;
                self.tally.check(rule::PREEMPTION, is_part, event, || {
                    "nobody to be preempted but for a task that wakes".to_owned()
                })
            }
            _ => Ok(()),
        }
    }

    /// A quota that is used up is renewed, and the deadline with it.
    fn renew_if_used_up(&mut self, pid: i32, now: u64) {
        let Some(task) = self.tasks.get(&pid) else { return };
        let distance = self.distance(task.static_prio);
        if let Some(task) = self.tasks.get_mut(&pid)
            && task.quota.is_used_up()
        {
            task.quota.left = self.rr_interval;
            task.deadline = Some(now + distance);
        }
    }

    fn charge(&mut self, pid: i32, now: u64, is_end: bool) {
        if let Some(task) = self.tasks.get_mut(&pid) {
            let _ = if is_end { task.quota.stop(now) } else { task.quota.charge(now) };
        }
        self.renew_if_used_up(pid, now);
    }

    /// The scheduler's deadline and quota are the model's.
    fn compare(
        &mut self,
        pid: i32,
        event: &OrderedEvent,
        key: u64,
        left: Option<u64>,
    ) -> ModelResult {
        let Some(task) = self.tasks.get(&pid) else { return Ok(()) };
        let (deadline, expected) = (task.deadline.unwrap_or(0), task.quota.left);
        self.tally.check(rule::DEADLINE, key == deadline, event, || {
            format!("deadline {deadline}, not {key}")
        })?;
        let Some(left) = left else { return Ok(()) };
        self.tally.check(rule::DEADLINE, left == expected, event, || {
            format!("{expected} ns of the quota left, not {left}")
        })
    }

    fn set_weight(&mut self, event: &OrderedEvent) -> ModelResult {
        let Some(former) = self.tasks.get(&event.pid).map(|task| task.static_prio) else {
            return Ok(());
        };
        let (before, after) = (self.distance(former), self.distance(event.a));
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            task.static_prio = event.a;
            task.deadline = task.deadline.map(|deadline| deadline + after - before);
        }
        self.compare(event.pid, event, event.d, None)
    }

    fn enqueue(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.renew_if_used_up(event.pid, event.a);
        let is_now = is_within(event.a, event);
        self.tally.check(rule::DEADLINE, is_now, event, || "the time it is".to_owned())?;
        let deadline = self.tasks.get(&event.pid).and_then(|task| task.deadline);
        if let Some(spell) = self.replay.links[index].spell {
            self.waiting_keys[spell] = deadline;
            match self.sticky.at_enqueue(spell, event.cpu) {
                None => self.tally.undecided(rule::STICKY),
                Some(false) => {
                    self.queue.offer(&mut self.tally, index)?;
                    self.preemption(index, event, deadline)?;
                }
                Some(true) => {
                    // Left to its own CPU: nobody is woken and nobody preempted for it.
                    let link = &self.replay.links[index];
                    let is_left = link.idle_kick.is_none() && link.preempt_kick.is_none();
                    self.tally.check(rule::STICKY, is_left, event, || {
                        "a sticky task to be left to its CPU".to_owned()
                    })?;
                }
            }
        }
        self.compare(event.pid, event, event.b, Some(event.d))
    }

    /// A woken task for which no CPU is idle preempts the latest deadline, where that is
    /// later than its own.
    fn preemption(
        &mut self,
        index: usize,
        event: &OrderedEvent,
        deadline: Option<u64>,
    ) -> ModelResult {
        let link = &self.replay.links[index];
        let preempts = (event.has(Flag::Wakeup) || event.has(Flag::Fork)) && !event.has(Flag::Sync);
        let (begin, over) = self.replay.whole(index);
        if link.idle_kick.is_some() || event.has(Flag::Claimed) || !preempts {
            return match link.preempt_kick.map(|kick| self.replay.event(kick)) {
                None => Ok(()),
                Some(kick) => self.tally.check(rule::PREEMPTION, false, kick, || {
                    "nobody to be preempted for this task".to_owned()
                }),
            };
        }
        let Some(deadline) = deadline else {
            self.tally.undecided(rule::PREEMPTION);
            return Ok(());
        };
        let kick = link.preempt_kick.map(|kick| self.replay.event(kick));
        let end = kick.map_or(over, |kick| kick.end_ns);
        let rivals = self.running.throughout(event.cpu, (begin, end));
        let rivals: Vec<(u16, u64)> = rivals
            .filter(|(_, run)| allows(event.c, run.cpu))
            .filter_map(|(number, run)| Some((run.cpu, self.running_keys[number]?)))
            .collect();
        let latest = rivals.iter().copied().max_by_key(|(_, key)| *key);
        let Some(kick) = kick else {
            let Some((cpu, key)) = latest else {
                self.tally.undecided(rule::PREEMPTION);
                return Ok(());
            };
            return self.tally.check(rule::PREEMPTION, key <= deadline, event, || {
                format!("CPU {cpu} to be preempted: it runs deadline {key}, later than {deadline}")
            });
        };
        let is_allowed = u16::try_from(kick.target).is_ok_and(|cpu| allows(event.c, cpu));
        self.tally.check(rule::AFFINITY, is_allowed, kick, || "a CPU it may use".to_owned())?;
        let victim = rivals.iter().find(|(cpu, _)| i64::from(*cpu) == i64::from(kick.target));
        let (Some((_, victim)), Some((cpu, key))) = (victim.copied(), latest) else {
            self.tally.undecided(rule::PREEMPTION);
            return Ok(());
        };
        self.tally.check(rule::PREEMPTION, victim > deadline && key <= victim, kick, || {
            format!("the latest of {rivals:?} (CPU, deadline), if later than {deadline}: CPU {cpu}")
        })
    }

    fn start(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            task.quota.start(event.a);
            if let Some(run) = self.replay.links[index].run {
                self.running_keys[run] = task.deadline;
            }
        }
        self.queue.start(&mut self.tally, index)?;
        self.compare(event.pid, event, event.b, Some(event.d))
    }

    fn dispatch(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.queue.dispatch(&mut self.tally, index)?;
        let mut own = None;
        if event.has(Flag::Runnable) {
            own = self.charged_keys.get(&event.cpu).copied().flatten();
        }
        if event.has(Flag::Kept) {
            let current = self.kept_deadline(index, event)?;
            if own != current {
                // Which of the two it was held against depends on when it changed.
                self.tally.undecided(rule::EARLIEST_DEADLINE);
                return Ok(());
            }
        }
        let chosen = self.replay.links[index].spell;
        let key = chosen.and_then(|chosen| self.waiting_keys[chosen]);
        if event.has(Flag::Moved) && event.has(Flag::Runnable) {
            self.displaces(index, event, own, key)?;
        }
        // What the chosen one had to beat, and whether an equal one would have gone first.
        let (bound, or_equal) = match (event.has(Flag::Kept), own, key) {
            (true, Some(own), _) => (own, true),
            (false, _, Some(key)) => (key, false),
            _ => return Ok(()),
        };
        self.earliest(index, event, bound, or_equal)
    }

    /// The deadline by which a task goes on. While its dispatch looks for another one, somebody may
    /// change its nice value: the dispatch lets go of the lock of its CPU meanwhile.
    fn kept_deadline(
        &mut self,
        index: usize,
        event: &OrderedEvent,
    ) -> Result<Option<u64>, Box<Violation>> {
        let current = self.tasks.get(&event.pid).and_then(|task| task.deadline);
        if let Some(run) = self.replay.links[index].run {
            self.running_keys[run] = current;
        }
        if let Some(current) = current {
            self.tally.check(rule::DEADLINE, event.c == current, event, || {
                format!("to go on by deadline {current}, not by {}", event.c)
            })?;
        }
        Ok(current)
    }

    /// What replaces a task that could go on is no later, and not sticky elsewhere.
    fn displaces(
        &mut self,
        index: usize,
        event: &OrderedEvent,
        own: Option<u64>,
        key: Option<u64>,
    ) -> ModelResult {
        if let (Some(own), Some(key)) = (own, key) {
            self.tally.check(rule::EARLIEST_DEADLINE, key <= own, event, || {
                format!("task {} to go on, whose deadline {own} is before {key}", event.a)
            })?;
        }
        let Some(chosen) = self.replay.links[index].spell else { return Ok(()) };
        let is_elsewhere = self.sticky.is_elsewhere(chosen, event);
        self.tally.check(rule::STICKY, !is_elsewhere, event, || {
            "a task that is sticky on another CPU to be left there".to_owned()
        })
    }

    /// No task that surely could have been taken had to go before the one that runs.
    fn earliest(
        &mut self,
        index: usize,
        event: &OrderedEvent,
        bound: u64,
        or_equal: bool,
    ) -> ModelResult {
        let chosen = self.replay.links[index].spell;
        let was_sticky = chosen.is_some_and(|chosen| self.sticky.is_elsewhere(chosen, event));
        let mut rivals = 0;
        for (number, rival) in self.queue.others(index) {
            let Some(key) = self.waiting_keys[number] else { continue };
            if !self.sticky.is_free(number, event) {
                if !self.sticky.is_elsewhere(number, event) {
                    self.tally.undecided(rule::EARLIEST_DEADLINE);
                }
                continue;
            }
            rivals += 1;
            self.tally.check(rule::STICKY, !was_sticky, event, || {
                format!("task {}, which is not sticky on another CPU", rival.pid)
            })?;
            let is_right = bound < key || (bound == key && !or_equal);
            self.tally.check(rule::EARLIEST_DEADLINE, is_right, event, || {
                format!("task {} with deadline {key}, not one with {bound}", rival.pid)
            })?;
        }
        if rivals == 0 {
            self.tally.undecided(rule::EARLIEST_DEADLINE);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    const RR_INTERVAL: u64 = 6_000_000;
    const OTHER: i32 = 101;
    const THIRD: i32 = 102;

    fn deadline(now: u64, static_prio: u64) -> u64 {
        now + prio_ratio(static_prio) * RR_INTERVAL / 128
    }

    #[test]
    fn ratios_are_those_of_bfs() {
        // sched_init of kernel/sched_bfs.c, by hand.
        let first: Vec<u64> = (100..106).map(prio_ratio).collect();
        assert_eq!(first, [128, 140, 154, 169, 185, 203]);
    }

    fn script() -> Script {
        let mut script = Script::new("bfs", 2).parameter("rr_interval", RR_INTERVAL);
        script.init(1_000, TASK, 120);
        script.init(2_000, OTHER, 110);
        script.init(3_000, THIRD, 130);
        script
    }

    fn at(now: u64, static_prio: u64) -> (u64, u64) {
        (deadline(now, static_prio), RR_INTERVAL)
    }

    /// Two tasks wait, and this one goes first.
    fn choice(first: i32) -> Script {
        let mut script = script();
        script.enqueue((0, 10_000), TASK, at(10_000, 120), &[Flag::Wakeup]);
        script.enqueue((0, 20_000), OTHER, at(20_000, 110), &[Flag::Wakeup]);
        script.dispatch(0, 30_000, first, 0, &[Flag::Moved]);
        script.event(0, 40_000, OrderedEventKind::Yield, first);
        script
    }

    #[test]
    fn the_earliest_deadline_goes_first_not_the_earliest_arrival() {
        assert_eq!(choice(OTHER).broken_rule(), None);
        assert_eq!(choice(TASK).broken_rule(), Some(rule::EARLIEST_DEADLINE));
    }

    #[test]
    fn a_deadline_or_a_quota_that_is_not_the_published_one_is_wrong() {
        for (key, left) in [(1, 0), (0, 1)] {
            let mut script = script();
            let (deadline, quota) = at(10_000, 120);
            script.enqueue((0, 10_000), TASK, (deadline + key, quota - left), &[Flag::Wakeup]);
            script.event(0, 40_000, OrderedEventKind::Yield, TASK);
            assert_eq!(script.broken_rule(), Some(rule::DEADLINE));
        }
    }

    /// A late deadline runs on CPU 1, and an earlier one wakes; then this follows.
    fn wake(flags: &[Flag], kick: Option<i16>) -> Script {
        let mut script = script();
        script.enqueue((1, 10_000), THIRD, at(10_000, 130), &[Flag::Wakeup]);
        script.dispatch(1, 20_000, THIRD, 0, &[Flag::Moved]);
        script.start((1, 30_000), THIRD, at(10_000, 130));
        script.enqueue((0, 50_000), OTHER, at(50_000, 110), flags);
        if let Some(cpu) = kick {
            script
                .event(0, 51_000, OrderedEventKind::Kick, OTHER)
                .target(cpu)
                .flags(&[Flag::Preempt]);
        }
        script.event(0, 60_000, OrderedEventKind::Yield, TASK);
        script.event(0, 90_000, OrderedEventKind::Yield, TASK);
        script.event(1, 90_000, OrderedEventKind::Yield, TASK);
        script
    }

    #[test]
    fn a_woken_task_preempts_a_later_deadline_unless_its_waker_is_about_to_sleep() {
        assert_eq!(wake(&[Flag::Wakeup], Some(1)).broken_rule(), None);
        assert_eq!(wake(&[Flag::Wakeup], None).broken_rule(), Some(rule::PREEMPTION));
        assert_eq!(wake(&[Flag::Wakeup, Flag::Sync], None).broken_rule(), None);
        let sync = wake(&[Flag::Wakeup, Flag::Sync], Some(1));
        assert_eq!(sync.broken_rule(), Some(rule::PREEMPTION));
        assert_eq!(wake(&[], Some(1)).broken_rule(), Some(rule::PREEMPTION));
    }

    /// Somebody makes a running task nicer while its dispatch looks for another one, and one wakes
    /// whose deadline lies between its former deadline and the new one.
    fn made_nicer_within_a_dispatch(kick: bool, kept: u64) -> Option<&'static str> {
        let mut script = script();
        let (former, key) = (deadline(10_000, 110), deadline(10_000, 130));
        script.enqueue((1, 10_000), OTHER, at(10_000, 110), &[Flag::Wakeup]);
        script.dispatch(1, 20_000, OTHER, 0, &[Flag::Moved]);
        script.start((1, 30_000), OTHER, at(10_000, 110));
        script.charge((1, 40_000), OTHER, (former, RR_INTERVAL - 10_000));
        let left = RR_INTERVAL - 12_000;
        let stop = script.event(0, 42_000, OrderedEventKind::Stopping, OTHER).target(1);
        stop.a(42_000).b(former).d(left).flags(&[Flag::Runnable]);
        script.event(0, 44_000, OrderedEventKind::SetWeight, OTHER).a(130).b(110).d(key);
        let start = script.event(0, 46_000, OrderedEventKind::Running, OTHER).target(1);
        start.a(46_000).b(key).d(left);
        let how = [Flag::Runnable, Flag::Kept];
        script.dispatch(1, 48_000, OTHER, OTHER, &how).b(40_000).c(kept);
        script.enqueue((0, 70_000), TASK, at(70_000, 120), &[Flag::Wakeup]);
        if kick {
            let kick = script.event(0, 71_000, OrderedEventKind::Kick, TASK);
            kick.target(1).flags(&[Flag::Preempt]);
        }
        script.event(0, 75_000, OrderedEventKind::Yield, TASK);
        script.event(0, 90_000, OrderedEventKind::Yield, TASK);
        script.event(1, 90_000, OrderedEventKind::Yield, TASK);
        script.broken_rule()
    }

    #[test]
    fn a_task_that_is_made_nicer_within_a_dispatch_is_preempted_by_its_new_deadline() {
        let key = deadline(10_000, 130);
        assert_eq!(made_nicer_within_a_dispatch(true, key), None);
        assert_eq!(made_nicer_within_a_dispatch(false, key), Some(rule::PREEMPTION));
        let former = deadline(10_000, 110);
        assert_eq!(made_nicer_within_a_dispatch(true, former), Some(rule::DEADLINE));
    }

    /// CPU 0 drops a task for an earlier one; CPU 1 takes that although another waits.
    fn drop_and_take(flags: &[Flag], has_other: bool, allowed: u64) -> Script {
        let mut script = script();
        script.enqueue((0, 10_000), THIRD, at(10_000, 130), &[Flag::Wakeup]);
        script.dispatch(0, 20_000, THIRD, 0, &[Flag::Moved]);
        script.start((0, 30_000), THIRD, at(10_000, 130));
        script.enqueue((0, 40_000), OTHER, at(40_000, 110), &[Flag::Wakeup]);
        script.event(0, 41_000, OrderedEventKind::Kick, OTHER).target(0).flags(&[Flag::Preempt]);
        let both = [Flag::Runnable, Flag::Moved];
        let key = deadline(10_000, 130);
        script.charge((0, 50_000), THIRD, (key, RR_INTERVAL - 20_000));
        script.dispatch(0, 50_000, OTHER, THIRD, &both);
        let left = RR_INTERVAL - 30_000;
        script.stop((0, 60_000), THIRD, (key, left));
        script.enqueue((0, 70_000), THIRD, (key, left), flags).c(allowed);
        script.start((0, 80_000), OTHER, at(40_000, 110));
        if has_other {
            script.enqueue((0, 90_000), TASK, at(90_000, 120), &[Flag::Wakeup, Flag::Sync]);
        }
        script.event(0, 99_000, OrderedEventKind::Yield, TASK);
        script.dispatch(1, 120_000, THIRD, 0, &[Flag::Moved]);
        script.event(0, 190_000, OrderedEventKind::Yield, TASK);
        script.event(1, 190_000, OrderedEventKind::Yield, TASK);
        script
    }

    #[test]
    fn a_sticky_task_is_taken_only_where_nobody_else_waits() {
        let broken = |flags: &[Flag], has_other| drop_and_take(flags, has_other, 3).broken_rule();
        assert_eq!(broken(&[Flag::Sticky], false), None);
        assert_eq!(broken(&[Flag::Sticky], true), Some(rule::STICKY));
        assert_eq!(broken(&[], false), None, "the flag is not believed");
    }

    #[test]
    fn nobody_is_sticky_where_it_may_not_run() {
        let broken = |flags: &[Flag], has_other| drop_and_take(flags, has_other, 2).broken_rule();
        assert_eq!(broken(&[], false), None);
        assert_eq!(broken(&[], true), Some(rule::EARLIEST_DEADLINE), "a rival as any other");
    }
}
