//! The multi-level feedback queue: mlfq.md, and the five rules of Arpaci-Dusseau, *Operating
//! Systems: Three Easy Pieces*, with the better accounting.
//!
//! The highest level goes first, in turns; a new task begins at the top; one that has used up the
//! allotment of a level, in however many pieces, goes one down; from time to time all go to
//! the top.

mod boosts;

use super::quota::Quota;
use super::rule;
use super::single_queue::{SingleQueue, allows};
use crate::replay::{Replay, Run, Timeline};
use crate::trace::{Flag, OrderedEvent, OrderedEventKind, OrderedTrace};
use crate::verdict::{ModelResult, Rejection, ReplaySummary, Tally};
use boosts::{BOOST, Boosts, SLACK_NS};
use std::collections::HashMap;

/// EVENT_DEMOTE.
const DEMOTE: OrderedEventKind = OrderedEventKind::Own(113);

struct Model<'r, 't> {
    replay: &'r Replay<'t>,
    queue: SingleQueue<'r, 't>,
    running: Timeline<'r, Run>,
    levels: u64,
    quantum: u64,
    boost_every: u64,
    boosted_at: Option<u64>,
    begun_at: u64,
    boosts: u64,
    all_boosts: Boosts,
    /// By CPU: the begin and the number of the boost that moves waiting tasks.
    walks: HashMap<u16, (u64, u64)>,
    tasks: HashMap<i32, Task>,
    /// The last spell of each task.
    spells: HashMap<i32, usize>,
    /// Levels by spell and by run.
    waiting: Vec<Option<u64>>,
    levels_of_runs: Vec<Option<u64>>,
    tally: Tally,
}

#[derive(Default)]
struct Task {
    quota: Quota,
    level: u64,
    /// Number of the last boost that it has had, where that is certain.
    boost: Option<u64>,
    /// When another CPU last told that it has another level, and which.
    changed: (u64, u16),
    /// Nothing is certain of it until a boost that begins after this.
    unsure_until: Option<u64>,
}

pub(super) fn replay(trace: &OrderedTrace) -> Result<ReplaySummary, Rejection> {
    let replay = Replay::new(trace);
    let mut model = Model {
        replay: &replay,
        queue: SingleQueue::new(&replay),
        running: Timeline::new(&replay.runs),
        levels: trace.parameter("levels")?,
        quantum: trace.parameter("quantum")?,
        boost_every: trace.parameter("boost")?,
        boosted_at: None,
        begun_at: trace.events.first().map_or(0, |event| event.begin_ns),
        boosts: 0,
        all_boosts: Boosts::of(trace),
        walks: HashMap::new(),
        tasks: HashMap::new(),
        spells: HashMap::new(),
        waiting: vec![None; replay.spells.len()],
        levels_of_runs: vec![None; replay.runs.len()],
        tally: Tally::default(),
    };
    for index in 0..trace.events.len() {
        model.take(index)?;
    }
    let rules = [
        rule::HIGHEST_LEVEL,
        rule::ALLOTMENT,
        rule::BOOST,
        rule::PREEMPTION,
        rule::NO_DIRECT_DISPATCH,
        rule::IDLE_FIRST,
        rule::WORK_CONSERVED,
    ];
    model.tally.finish(&rules)
}

impl Task {
    /// What it has is certain: no other CPU changed it at about that time.
    fn is_sure(&self, event: &OrderedEvent) -> bool {
        let (changed_ns, cpu) = self.changed;
        let is_before = cpu == event.cpu || changed_ns + SLACK_NS < event.begin_ns;
        self.unsure_until.is_none() && is_before
    }
}

impl Model<'_, '_> {
    /// All went to the top during an operation or less than a quantum before it: a running task
    /// may not have noticed.
    fn is_boosted(&self, (begin, end): (u64, u64)) -> bool {
        let last = self.all_boosts.last_by(end);
        last.is_some_and(|boost| boost.at.max(boost.recorded_ns) + self.quantum > begin)
    }

    /// A task at the end of an operation is at the top when a boost came after it; whether
    /// the operation itself saw a boost meanwhile is not certain.
    fn level_during(&self, number: usize, run: &Run, end: u64) -> Option<u64> {
        let begin = self.replay.event(run.begin);
        let last = self.all_boosts.last_by(end);
        match last.filter(|boost| boost.recorded_ns + SLACK_NS >= begin.begin_ns) {
            None => self.levels_of_runs[number],
            Some(boost) => (boost.at > begin.end_ns + SLACK_NS).then_some(0),
        }
    }

    fn allotment(&self, level: u64) -> u64 {
        self.quantum << level
    }

    fn take(&mut self, index: usize) -> ModelResult {
        let event = self.replay.event(index);
        self.queue.advance(event);
        self.running.advance(event.end_ns);
        match event.kind {
            OrderedEventKind::InitTask => {
                self.tasks.insert(event.pid, Task { boost: Some(0), ..Task::default() });
                Ok(())
            }
            OrderedEventKind::SelectCpu => self.queue.select_cpu(&mut self.tally, index),
            OrderedEventKind::Enqueue => self.enqueue(index, event),
            OrderedEventKind::Dispatch => self.dispatch(index, event),
            OrderedEventKind::Running => self.start(index, event),
            OrderedEventKind::Stopping => {
                let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
                task.quota.stop(event.a);
                self.compare(event.pid, event, event.b, event.d)
            }
            OrderedEventKind::Charge => {
                let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
                task.quota.charge(event.a);
                self.compare(event.pid, event, event.b, event.d)
            }
            kind if kind == BOOST => self.boost(event),
            kind if kind == DEMOTE => self.demote(event),
            _ => Ok(()),
        }
    }

    fn compare(&mut self, pid: i32, event: &OrderedEvent, level: u64, left: u64) -> ModelResult {
        let Some(task) = self.tasks.get(&pid) else { return Ok(()) };
        if task.unsure_until.is_some() {
            self.tally.undecided(rule::ALLOTMENT);
            return Ok(());
        }
        let expected = (task.level, task.quota.left);
        self.tally.check(rule::ALLOTMENT, expected == (level, left), event, || {
            format!("level and rest of the allotment {expected:?}, not {:?}", (level, left))
        })
    }

    /// One goes to the top, from the level that it had: once for each boost.
    fn lift(&mut self, event: &OrderedEvent) -> ModelResult {
        let (allotment, seen) = (self.allotment(0), self.all_boosts.seen_by(event));
        let walk = self.walks.get(&event.cpu).filter(|(begin, _)| *begin == event.begin_ns);
        let (least, most) = walk.map_or(seen, |(_, number)| (*number, *number));
        let is_known = (least..=most).contains(&event.b);
        self.tally.check(rule::BOOST, is_known, event, || {
            format!("the last boost, of number {least} to {most}")
        })?;
        let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
        let is_sure = task.is_sure(event);
        let (level, boost) = (task.level, task.boost);
        if task.unsure_until.is_some_and(|until| event.begin_ns > until) {
            task.unsure_until = None;
        }
        task.quota.charge(event.a);
        (task.level, task.quota.left) = (0, allotment);
        task.boost = task.unsure_until.is_none().then_some(event.b);
        task.changed = (event.end_ns, event.cpu);
        if let Some(spell) = self.spells.get(&event.pid) {
            self.waiting[*spell] = task.unsure_until.is_none().then_some(0);
        }
        if !is_sure {
            self.tally.undecided(rule::BOOST);
            return Ok(());
        }
        let is_right = event.c == level && boost != Some(event.b);
        self.tally.check(rule::BOOST, is_right, event, || {
            format!("one from level {level} that had had boost {boost:?}")
        })
    }

    /// A task that is looked at after a boost has had it.
    fn has_boost(&mut self, pid: i32, event: &OrderedEvent) -> ModelResult {
        let Some(last) = self.all_boosts.last_over(event.begin_ns).map(|boost| boost.number) else {
            return Ok(());
        };
        let Some(boost) = self.tasks.get(&pid).and_then(|task| task.boost) else { return Ok(()) };
        self.tally.check(rule::BOOST, boost >= last, event, || {
            format!("task {pid} to have had boost {last}, not {boost} as the last")
        })
    }

    /// All to the top, when the time has come: one event for all, and one for each.
    fn boost(&mut self, event: &OrderedEvent) -> ModelResult {
        if event.pid != 0 {
            return self.lift(event);
        }
        self.walks.insert(event.cpu, (event.begin_ns, event.b));
        for (pid, over_ns) in self.all_boosts.contested(event) {
            if let Some(task) = self.tasks.get_mut(&pid) {
                (task.unsure_until, task.boost) = (Some(over_ns.saturating_add(SLACK_NS)), None);
            }
        }
        let is_due =
            self.boosted_at.is_none_or(|last| event.a.saturating_sub(last) >= self.boost_every);
        (self.boosted_at, self.boosts) = (Some(event.a), event.b);
        let every = self.boost_every;
        self.tally.check(rule::BOOST, is_due, event, || format!("a boost each {every} ns"))
    }

    /// The allotment is used up: a level down, with the allotment of that.
    fn demote(&mut self, event: &OrderedEvent) -> ModelResult {
        let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
        task.quota.charge(event.a);
        let (is_over, is_sure) = (task.quota.is_used_up(), task.is_sure(event));
        let below = (task.level + 1).min(self.levels - 1);
        let former = std::mem::replace(&mut task.level, below);
        task.quota.left = self.quantum << below;
        task.changed = (event.end_ns, event.cpu);
        if !is_sure {
            self.tally.undecided(rule::ALLOTMENT);
            return Ok(());
        }
        let is_right = is_over && (event.c, event.d) == (former, below);
        self.tally.check(rule::ALLOTMENT, is_right, event, || {
            format!("from level {former} to {below}, when the allotment is used up: {is_over}")
        })
    }

    fn enqueue(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        let (allotment, (least, most)) = (self.allotment(0), self.all_boosts.seen_by(event));
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            if event.has(Flag::Fork) && task.quota.left == 0 {
                (task.level, task.quota.left) = (0, allotment);
                task.boost = (least == most).then_some(least);
                task.changed = (event.end_ns, event.cpu);
            }
            let level = task.unsure_until.is_none().then_some(task.level);
            if let Some(spell) = self.replay.links[index].spell {
                self.waiting[spell] = level;
                self.spells.insert(event.pid, spell);
            }
            self.has_boost(event.pid, event)?;
            self.compare(event.pid, event, event.b, event.d)?;
            if let Some(level) = level {
                self.preemption(index, event, level)?;
            }
        }
        self.queue.offer(&mut self.tally, index)
    }

    /// A task that arrives takes the CPU of the lowest level, where that is below its own.
    fn preemption(&mut self, index: usize, event: &OrderedEvent, level: u64) -> ModelResult {
        let link = &self.replay.links[index];
        let arrives = event.has(Flag::Wakeup) || event.has(Flag::Fork);
        let kick = link.preempt_kick.map(|kick| self.replay.event(kick));
        if !arrives || link.idle_kick.is_some() || event.has(Flag::Claimed) {
            return self.tally.check(rule::PREEMPTION, kick.is_none(), event, || {
                "nobody to be preempted for this task".to_owned()
            });
        }
        let (begin, over) = self.replay.whole(index);
        let end = kick.map_or(over, |kick| kick.end_ns);
        // A boost lifts those that run as well.
        let is_boosted = self.is_boosted((begin, end));
        let runs = self.running.throughout(event.cpu, (begin, end));
        let rivals: Vec<(u16, u64)> = runs
            .filter(|(_, run)| allows(event.c, run.cpu))
            .filter_map(|(number, run)| Some((run.cpu, self.level_during(number, run, end)?)))
            .collect();
        let lowest = rivals.iter().copied().max_by_key(|(_, level)| *level);
        let Some((cpu, lowest)) = lowest.filter(|_| !is_boosted) else {
            self.tally.undecided(rule::PREEMPTION);
            return Ok(());
        };
        let Some(kick) = kick else {
            return self.tally.check(rule::PREEMPTION, lowest <= level, event, || {
                format!("CPU {cpu} to be preempted: it runs level {lowest}, below {level}")
            });
        };
        let victim = rivals.iter().find(|(cpu, _)| i64::from(*cpu) == i64::from(kick.target));
        let Some((_, victim)) = victim.copied() else {
            self.tally.undecided(rule::PREEMPTION);
            return Ok(());
        };
        self.tally.check(rule::PREEMPTION, victim > level && victim >= lowest, kick, || {
            format!("the lowest of {rivals:?} (CPU, level), if below {level}")
        })
    }

    fn start(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            if task.quota.is_used_up() {
                task.quota.left = self.quantum << task.level;
            }
            task.quota.start(event.a);
            if let Some(run) = self.replay.links[index].run {
                // One that has not noticed a boost yet is at the top all the same.
                let is_sure = task.unsure_until.is_none();
                let boost = task.boost.filter(|_| is_sure);
                self.levels_of_runs[run] =
                    boost.map(|boost| if boost == self.boosts { task.level } else { 0 });
            }
        }
        self.compare(event.pid, event, event.b, event.d)?;
        self.queue.start(&mut self.tally, index)
    }

    /// A task that waited all through the last boost is taken from the top.
    fn is_moved(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        let Some(spell) = self.replay.links[index].spell else { return Ok(()) };
        let last = self.all_boosts.last_over(event.begin_ns).map(|boost| boost.begin_ns);
        let (Some(level), Some(last)) = (self.waiting[spell], last) else { return Ok(()) };
        let span = &self.replay.spells[spell].span;
        if !span.began_before(u16::MAX, last) {
            return Ok(());
        }
        self.tally.check(rule::BOOST, level == 0, event, || {
            format!("task {} to be at the top since {last}, not at {level}", event.pid)
        })
    }

    fn dispatch(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.queue.dispatch(&mut self.tally, index)?;
        self.walks.remove(&event.cpu);
        self.is_moved(index, event)?;
        // Every choice looks whether the time has come. Nobody chooses while the host takes the
        // CPUs away.
        let begun = self.all_boosts.last_by(event.end_ns).map_or(self.begun_at, |boost| boost.at);
        if event.b > begun + 2 * self.boost_every {
            self.tally.check(rule::BOOST, false, event, || {
                format!("a boost since {begun}, each {} ns", self.boost_every)
            })?;
        }
        let mut own = None;
        if event.has(Flag::Runnable) {
            let previous = i32::try_from(event.a).unwrap_or_default();
            self.has_boost(previous, event)?;
            if let Some(task) = self.tasks.get(&previous) {
                own = task.unsure_until.is_none().then_some(task.level);
                if let Some(run) = self.replay.links[index].run {
                    self.levels_of_runs[run] = own;
                }
            }
        }
        let chosen = self.replay.links[index].spell.and_then(|spell| self.waiting[spell]);
        // One that goes on does so before all that are below it.
        let level = if event.has(Flag::Kept) { own } else { chosen };
        let is_boosted = self.is_boosted((event.begin_ns, event.end_ns));
        let Some(level) = level.filter(|_| !is_boosted) else {
            self.tally.undecided(rule::HIGHEST_LEVEL);
            return Ok(());
        };
        let others: Vec<_> = self.queue.others(index).collect();
        for (number, rival) in others {
            let Some(above) = self.waiting[number] else { continue };
            let enqueued = self.replay.event(rival.enqueue).begin_ns;
            if self.boosted_at.is_some_and(|at| at > enqueued) {
                self.tally.undecided(rule::HIGHEST_LEVEL);
                continue;
            }
            self.tally.check(rule::HIGHEST_LEVEL, above >= level, event, || {
                format!("task {} of level {above}, not one of {level}", rival.pid)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    const QUANTUM: u64 = 8_000_000;
    const OTHER: i32 = 101;
    const THIRD: i32 = 102;

    fn script() -> Script {
        let script = Script::new("mlfq", 2).parameter("levels", 3);
        let mut script = script.parameter("quantum", QUANTUM).parameter("boost", 500_000_000);
        for (number, pid) in [TASK, OTHER, THIRD].into_iter().enumerate() {
            let at = 1_000 * (number as u64 + 1);
            script.init(at, pid, 120);
            script.enqueue((0, at + 5_000), pid, (0, QUANTUM), &[Flag::Fork]);
            script.event(0, at + 5_500, OrderedEventKind::Quiescent, pid).a(1);
        }
        script
    }

    /// A task runs for so long, goes a level down, and waits there with one above it; then
    /// this one is taken.
    fn demoted(ran: u64, taken: i32) -> Script {
        let mut script = script();
        script.enqueue((0, 20_000), TASK, (0, QUANTUM), &[Flag::Wakeup]);
        script.dispatch(0, 30_000, TASK, 0, &[Flag::Moved]);
        script.start((0, 40_000), TASK, (0, QUANTUM));
        let at = 40_000 + ran;
        script.event(0, at, DEMOTE, TASK).a(at).c(0).d(1);
        script.stop((0, at + 1_000), TASK, (1, 2 * QUANTUM - 1_000));
        script.enqueue((0, at + 2_000), TASK, (1, 2 * QUANTUM - 1_000), &[]);
        script.enqueue((0, at + 3_000), OTHER, (0, QUANTUM), &[Flag::Wakeup]);
        script.dispatch(0, at + 4_000, taken, 0, &[Flag::Moved]);
        script.event(0, at + 5_000, OrderedEventKind::Yield, taken);
        script
    }

    #[test]
    fn a_task_that_used_up_the_allotment_goes_a_level_down_and_waits_for_those_above() {
        assert_eq!(demoted(QUANTUM, OTHER).broken_rule(), None);
        assert_eq!(demoted(QUANTUM, TASK).broken_rule(), Some(rule::HIGHEST_LEVEL));
        assert_eq!(demoted(QUANTUM / 2, OTHER).broken_rule(), Some(rule::ALLOTMENT));
    }

    #[test]
    fn a_sleep_gives_no_new_allotment() {
        let mut script = script();
        script.enqueue((0, 20_000), TASK, (0, QUANTUM), &[Flag::Wakeup]);
        script.dispatch(0, 30_000, TASK, 0, &[Flag::Moved]);
        script.start((0, 40_000), TASK, (0, QUANTUM));
        script.stop((0, 140_000), TASK, (0, QUANTUM - 100_000));
        script.enqueue((0, 150_000), TASK, (0, QUANTUM), &[Flag::Wakeup]);
        assert_eq!(script.broken_rule(), Some(rule::ALLOTMENT));
    }

    #[test]
    fn boosts_come_each_so_often_and_not_more_seldom() {
        let with = |at: u64| {
            let mut script = script();
            script.event(0, 20_000, BOOST, 0).a(20_000).b(1);
            script.event(0, at, BOOST, 0).a(at).b(2);
            script.broken_rule()
        };
        assert_eq!(with(500_020_000), None);
        assert_eq!(with(400_000_000), Some(rule::BOOST));
        let mut late = script();
        late.event(0, 20_000, BOOST, 0).a(20_000).b(1);
        late.dispatch(0, 1_100_000_000, 0, 0, &[]);
        assert_eq!(late.broken_rule(), Some(rule::BOOST));
        let mut never = script();
        never.dispatch(0, 1_100_000_000, 0, 0, &[]);
        assert_eq!(never.broken_rule(), Some(rule::BOOST));
    }

    /// A task has sunk by then.
    fn sunk() -> (Script, u64) {
        let mut script = script();
        script.enqueue((0, 20_000), TASK, (0, QUANTUM), &[Flag::Wakeup]);
        script.dispatch(0, 30_000, TASK, 0, &[Flag::Moved]);
        script.start((0, 40_000), TASK, (0, QUANTUM));
        let at = 40_000 + QUANTUM;
        script.event(0, at, DEMOTE, TASK).a(at).c(0).d(1);
        script.stop((0, at + 1_000), TASK, (1, 2 * QUANTUM - 1_000));
        (script, at + 2_000)
    }

    /// It sleeps through a boost. Then it is told to have had these, of a number and from a level.
    fn slept(lifts: &[(u64, u64)]) -> Option<&'static str> {
        let (mut script, at) = sunk();
        script.event(0, at, OrderedEventKind::Quiescent, TASK).a(1);
        script.event(0, at + 1_000, BOOST, 0).a(at + 1_000).b(1);
        script.dispatch(0, at + 2_000, 0, 0, &[]);
        let mut key = (1, 2 * QUANTUM - 1_000);
        for (number, (boost, from)) in lifts.iter().enumerate() {
            let at = at + 10_000 + 1_000 * number as u64;
            script.event(0, at, BOOST, TASK).a(at).b(*boost).c(*from);
            key = (0, QUANTUM);
        }
        script.enqueue((0, at + 20_000), TASK, key, &[Flag::Wakeup]);
        script.broken_rule()
    }

    #[test]
    fn a_task_that_slept_through_a_boost_has_it_once_when_it_wakes_up() {
        assert_eq!(slept(&[(1, 1)]), None);
        assert_eq!(slept(&[(0, 1)]), Some(rule::BOOST), "that is none");
        assert_eq!(slept(&[(2, 1)]), Some(rule::BOOST), "there was no second");
        assert_eq!(slept(&[(1, 0)]), Some(rule::BOOST), "it had sunk");
        assert_eq!(slept(&[(1, 1), (1, 0)]), Some(rule::BOOST), "once is enough");
        assert_eq!(slept(&[]), Some(rule::BOOST), "it was passed by");
    }

    /// It waits during a boost, which tells of it, or not, and is taken afterwards.
    fn waited(lift: Option<(u64, u64)>) -> Option<&'static str> {
        let (mut script, at) = sunk();
        script.enqueue((0, at), TASK, (1, 2 * QUANTUM - 1_000), &[]);
        script.event(0, at + 1_000, OrderedEventKind::Yield, OTHER);
        script.event(1, at + 10_000, BOOST, 0).a(at + 10_000).b(1);
        if let Some((number, from)) = lift {
            let lift = script.event(1, at + 10_200, BOOST, TASK).begin(at + 10_000);
            lift.a(at + 10_000).b(number).c(from);
        }
        script.dispatch(1, at + 10_400, THIRD, THIRD, &[Flag::Kept]);
        script.dispatch(0, at + 20_000, TASK, 0, &[Flag::Moved]);
        script.event(0, at + 30_000, OrderedEventKind::Yield, TASK);
        script.broken_rule()
    }

    #[test]
    fn a_task_that_waits_during_a_boost_is_moved_from_its_level() {
        assert_eq!(waited(Some((1, 1))), None);
        assert_eq!(waited(Some((1, 2))), Some(rule::BOOST), "it was not there");
        assert_eq!(waited(Some((0, 1))), Some(rule::BOOST), "that is none");
        assert_eq!(waited(None), Some(rule::BOOST), "it was passed by");
    }

    #[test]
    fn nothing_is_certain_of_a_task_that_is_taken_while_a_boost_moves_it() {
        let (mut script, at) = sunk();
        script.enqueue((0, at), TASK, (1, 2 * QUANTUM - 1_000), &[]);
        script.event(1, at + 10_000, BOOST, 0).a(at + 10_000).b(1);
        script.dispatch(0, at + 10_200, TASK, 0, &[Flag::Moved]);
        script.start((0, at + 10_400), TASK, (0, QUANTUM));
        let lift = script.event(1, at + 10_600, BOOST, TASK).begin(at + 10_000);
        lift.a(at + 10_000).b(1).c(1);
        script.dispatch(1, at + 10_800, THIRD, THIRD, &[Flag::Kept]);
        script.stop((0, at + 20_400), TASK, (0, QUANTUM - 10_000));
        assert_eq!(script.broken_rule(), None);
        script.event(1, 600_000_000, BOOST, 0).a(600_000_000).b(2);
        script.dispatch(1, 600_001_000, THIRD, THIRD, &[Flag::Kept]);
        script.event(0, 600_010_000, BOOST, TASK).a(600_010_000).b(2).c(0);
        script.enqueue((0, 600_020_000), TASK, (1, QUANTUM), &[Flag::Wakeup]);
        assert_eq!(script.broken_rule(), Some(rule::ALLOTMENT), "the next makes it certain");
    }

    #[test]
    fn whether_a_long_dispatch_saw_a_boost_is_not_certain() {
        let (mut script, at) = sunk();
        script.enqueue((0, at), TASK, (1, 2 * QUANTUM - 1_000), &[]);
        script.dispatch(1, at + 10_000, TASK, 0, &[Flag::Moved]);
        script.start((1, at + 20_000), TASK, (1, 2 * QUANTUM - 1_000));
        script.event(0, at + 1_000_000, BOOST, 0).a(at + 1_000_000).b(1);
        script.dispatch(0, at + 1_001_000, 0, 0, &[]);
        let end = at + QUANTUM;
        let long = script.dispatch(1, end, TASK, TASK, &[Flag::Runnable, Flag::Kept]);
        long.begin(at + 30_000).b(at + 30_000);
        let wake = end + 2 * QUANTUM;
        script.event(0, wake, BOOST, OTHER).a(wake).b(1).c(0);
        script.enqueue((0, wake + 1_000), OTHER, (0, QUANTUM), &[Flag::Wakeup]);
        for cpu in [0, 1] {
            script.event(cpu, wake + 9_000, OrderedEventKind::Yield, OTHER);
        }
        assert_eq!(script.broken_rule(), None);
    }

    /// A task of this level runs on CPU 1 when one of the top wakes.
    fn wake(level: u64, kick: bool) -> Script {
        let mut script = script();
        script.enqueue((1, 20_000), TASK, (0, QUANTUM), &[Flag::Wakeup]);
        script.dispatch(1, 30_000, TASK, 0, &[Flag::Moved]);
        script.start((1, 40_000), TASK, (0, QUANTUM));
        let at = 40_000 + QUANTUM;
        if level == 1 {
            script.event(1, at, DEMOTE, TASK).a(at).c(0).d(1);
        }
        script.dispatch(1, at, TASK, TASK, &[Flag::Runnable, Flag::Kept]);
        script.enqueue((0, at + 5_000), OTHER, (0, QUANTUM), &[Flag::Wakeup]);
        if kick {
            script
                .event(0, at + 6_000, OrderedEventKind::Kick, OTHER)
                .target(1)
                .flags(&[Flag::Preempt]);
        }
        for cpu in [0, 1] {
            script.event(cpu, at + 9_000, OrderedEventKind::Yield, TASK);
            script.event(cpu, at + 19_000, OrderedEventKind::Yield, TASK);
        }
        script
    }

    #[test]
    fn a_task_that_arrives_preempts_a_level_below_its_own() {
        assert_eq!(wake(1, true).broken_rule(), None);
        assert_eq!(wake(1, false).broken_rule(), Some(rule::PREEMPTION));
        assert_eq!(wake(0, true).broken_rule(), Some(rule::PREEMPTION));
    }
}
