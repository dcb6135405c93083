//! Order of arrival: fifo.md and rr.md.
//!
//! One queue. A task that becomes runnable, has used up its quantum or yields goes to the tail with
//! a whole one; the head that may run on a CPU goes first; no task is preempted.

use super::quota::{Quota, is_within};
use super::rule;
use super::single_queue::SingleQueue;
use crate::replay::Replay;
use crate::trace::{Flag, OrderedEvent, OrderedEventKind, OrderedTrace};
use crate::verdict::{ModelResult, Rejection, ReplaySummary, Tally};
use std::collections::HashMap;

/// The model of both.
pub(super) struct Arrival<'r, 't> {
    replay: &'r Replay<'t>,
    queue: SingleQueue<'r, 't>,
    quantum: u64,
    /// Those that were seen to come.
    tasks: HashMap<i32, Task>,
    /// By CPU: whether the running task's time was over when its dispatch charged it.
    is_over: HashMap<u16, bool>,
    tally: Tally,
}

#[derive(Default)]
struct Task {
    quota: Quota,
    has_yielded: bool,
}

impl Task {
    /// It comes to the queue, or past it: a task that has used up a quantum or yields gets another.
    fn renew(&mut self, quantum: u64) {
        if self.has_yielded || self.quota.is_used_up() {
            self.quota.left = quantum;
        }
        self.has_yielded = false;
    }
}

impl<'r, 't> Arrival<'r, 't> {
    pub(super) fn replay(trace: &OrderedTrace, quantum: u64) -> Result<ReplaySummary, Rejection> {
        let replay = Replay::new(trace);
        let mut model = Arrival {
            replay: &replay,
            queue: SingleQueue::new(&replay),
            quantum,
            tasks: HashMap::new(),
            is_over: HashMap::new(),
            tally: Tally::default(),
        };
        for index in 0..trace.events.len() {
            model.take(index)?;
        }
        let many: &[_] = &[rule::PREVIOUS_FIRST];
        let one = [
            rule::ARRIVAL_ORDER,
            rule::QUANTUM,
            rule::NO_PREEMPTION,
            rule::NO_DIRECT_DISPATCH,
            rule::IDLE_FIRST,
            rule::WORK_CONSERVED,
            rule::AFFINITY,
        ];
        let rules = if trace.header.cpus > 1 { [&one, many].concat() } else { one.to_vec() };
        model.tally.finish(&rules)
    }

    fn take(&mut self, index: usize) -> ModelResult {
        let event = self.replay.event(index);
        self.queue.advance(event);
        match event.kind {
            OrderedEventKind::InitTask => {
                self.tasks.insert(event.pid, Task::default());
                Ok(())
            }
            OrderedEventKind::SelectCpu => self.queue.select_cpu(&mut self.tally, index),
            OrderedEventKind::Enqueue => self.enqueue(index, event),
            OrderedEventKind::Dispatch => self.dispatch(index, event),
            OrderedEventKind::Running => self.start(index, event),
            OrderedEventKind::Charge => self.charge(event),
            OrderedEventKind::Rescue => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    task.renew(self.quantum);
                }
                Ok(())
            }
            OrderedEventKind::Stopping => self.stop(event),
            OrderedEventKind::Yield => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    task.has_yielded = true;
                }
                Ok(())
            }
            OrderedEventKind::Kick => {
                let is_right = !event.has(Flag::Preempt);
                self.tally.check(rule::NO_PREEMPTION, is_right, event, || {
                    "nobody to be preempted".to_owned()
                })
            }
            _ => Ok(()),
        }
    }

    fn enqueue(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        let tally = &mut self.tally;
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            if event.has(Flag::Wakeup) {
                task.quota.left = self.quantum;
            }
            task.renew(self.quantum);
            let left = task.quota.left;
            tally.check(rule::QUANTUM, event.d == left, event, || format!("{left} ns left"))?;
        }
        let is_now = is_within(event.a, event);
        tally.check(rule::ARRIVAL_ORDER, is_now, event, || "the time of arrival".to_owned())?;
        self.queue.offer(tally, index)
    }

    fn start(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            task.quota.start(event.a);
        }
        self.queue.start(&mut self.tally, index)
    }

    /// Whether its time is over is decided here.
    fn charge(&mut self, event: &OrderedEvent) -> ModelResult {
        let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
        task.quota.charge(event.a);
        let left = task.quota.left;
        let is_over = task.quota.is_used_up() || task.has_yielded;
        self.is_over.insert(event.cpu, is_over);
        self.tally.check(rule::QUANTUM, event.d == left, event, || format!("{left} ns left"))
    }

    fn stop(&mut self, event: &OrderedEvent) -> ModelResult {
        let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
        task.quota.stop(event.a);
        let left = task.quota.left;
        self.tally.check(rule::QUANTUM, event.d == left, event, || format!("{left} ns left"))
    }

    fn dispatch(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.queue.dispatch(&mut self.tally, index)?;
        self.order(index, event)?;
        if !event.has(Flag::Runnable) {
            return Ok(());
        }
        let previous = i32::try_from(event.a).unwrap_or_default();
        let Some(task) = self.tasks.get_mut(&previous) else { return Ok(()) };
        let is_over = self.is_over.get(&event.cpu).copied().unwrap_or_default();
        if event.has(Flag::Kept) {
            if is_over {
                task.quota.left = self.quantum;
            }
            task.has_yielded = false;
        }
        if !is_over {
            return self.tally.check(rule::NO_PREEMPTION, event.has(Flag::Kept), event, || {
                format!("task {previous} to go on: {} ns are left", task.quota.left)
            });
        }
        let waiting: Vec<i32> = self.queue.others(index).map(|(_, spell)| spell.pid).collect();
        if event.has(Flag::Kept) && waiting.is_empty() {
            return Ok(());
        }
        self.tally.check(rule::QUANTUM, event.has(Flag::Moved), event, || {
            format!("one of {waiting:?} to take turns with task {previous}")
        })
    }

    /// Nobody surely came before the chosen task and could have been taken instead.
    fn order(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        let Some(chosen) = self.replay.links[index].spell else { return Ok(()) };
        let chosen = self.replay.event(self.replay.spells[chosen].enqueue);
        let mut has_rivals = false;
        for (_, rival) in self.queue.others(index) {
            let is_earlier = rival.span.began_before(chosen.cpu, chosen.begin_ns);
            let is_later = self.replay.event(rival.enqueue).begin_ns > chosen.end_ns;
            has_rivals |= is_earlier || is_later;
            if !is_earlier && !is_later {
                self.tally.undecided(rule::ARRIVAL_ORDER);
            }
            if is_earlier {
                self.tally.check(rule::ARRIVAL_ORDER, false, event, || {
                    format!("task {}, which came before task {}", rival.pid, event.pid)
                })?;
            }
        }
        if has_rivals {
            self.tally.check(rule::ARRIVAL_ORDER, true, event, String::new)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    const QUANTUM: u64 = 10_000_000;
    const OTHER: i32 = 101;
    /// When the first task starts, and when it is looked at again.
    const START: u64 = 50_000;

    /// One CPU: two tasks come, the first runs for so long, then `next` runs.
    fn turns(first: i32, ran: u64, next: i32, left: u64) -> Script {
        let mut script = Script::new("rr", 1).parameter("quantum", QUANTUM);
        script.init(1_000, TASK, 120);
        script.init(2_000, OTHER, 120);
        script.enqueue((0, 10_000), TASK, (10_000, QUANTUM), &[Flag::Wakeup]);
        script.enqueue((0, 20_000), OTHER, (20_000, left), &[Flag::Wakeup]);
        script.dispatch(0, 40_000, first, 0, &[Flag::Moved]);
        script.start((0, START), first, (10_000, QUANTUM));
        let how = if next == first { Flag::Kept } else { Flag::Moved };
        let previous = u64::try_from(first).unwrap();
        let at = START + ran;
        script.charge((0, at), first, (10_000, QUANTUM - ran));
        script.dispatch(0, at, next, first, &[Flag::Runnable, how]).a(previous);
        script.event(0, at + 1_000, OrderedEventKind::Yield, next);
        script
    }

    /// CPU 1 sets the nice value of the running task while CPU 0 looks for another.
    #[test]
    fn a_task_that_is_stopped_and_started_within_a_dispatch_is_charged_once() {
        let with = |left: u64| {
            let mut script = Script::new("rr", 2).parameter("quantum", QUANTUM);
            script.init(1_000, TASK, 120);
            script.enqueue((0, 10_000), TASK, (10_000, QUANTUM), &[Flag::Wakeup]);
            script.dispatch(0, 20_000, TASK, 0, &[Flag::Moved]);
            script.start((0, 30_000), TASK, (10_000, QUANTUM));
            script.charge((0, 130_000), TASK, (10_000, QUANTUM - 100_000));
            script.stop((1, 140_000), TASK, (10_000, QUANTUM - 110_000));
            script.start((1, 150_000), TASK, (10_000, QUANTUM - 110_000));
            script.dispatch(0, 160_000, TASK, TASK, &[Flag::Runnable, Flag::Kept]).b(130_000);
            script.stop((0, 170_000), TASK, (10_000, left));
            script.broken_rule()
        };
        assert_eq!(with(QUANTUM - 130_000), None);
        assert_eq!(with(QUANTUM - 150_000), Some(rule::QUANTUM));
    }

    #[test]
    fn turns_in_order_of_arrival_are_right() {
        assert_eq!(turns(TASK, QUANTUM, OTHER, QUANTUM).broken_rule(), None);
        assert_eq!(turns(TASK, QUANTUM / 2, TASK, QUANTUM).broken_rule(), None);
    }

    #[test]
    fn each_wrong_turn_has_its_rule() {
        let wrong = |script: Script, rule| assert_eq!(script.broken_rule(), Some(rule));
        wrong(turns(OTHER, QUANTUM, TASK, QUANTUM), rule::ARRIVAL_ORDER);
        wrong(turns(TASK, QUANTUM, TASK, QUANTUM), rule::QUANTUM);
        wrong(turns(TASK, QUANTUM / 2, OTHER, QUANTUM), rule::NO_PREEMPTION);
        wrong(turns(TASK, QUANTUM, OTHER, QUANTUM - 1), rule::QUANTUM);
        let mut kick = turns(TASK, QUANTUM, OTHER, QUANTUM);
        kick.event(0, 90_000_000, OrderedEventKind::Kick, TASK).flags(&[Flag::Preempt]);
        wrong(kick, rule::NO_PREEMPTION);
    }

    #[test]
    fn nobody_runs_past_the_queue_or_where_it_may_not() {
        let mut direct = Script::new("rr", 1).parameter("quantum", QUANTUM);
        direct.init(1_000, TASK, 120);
        direct.dispatch(0, 5_000, 0, 0, &[]);
        direct.enqueue((0, 10_000), TASK, (10_000, QUANTUM), &[Flag::Wakeup]);
        direct.start((0, 20_000), TASK, (10_000, QUANTUM));
        assert_eq!(direct.broken_rule(), Some(rule::NO_DIRECT_DISPATCH));
        let mut elsewhere = Script::new("rr", 2).parameter("quantum", QUANTUM);
        elsewhere
            .event(0, 10_000, OrderedEventKind::Enqueue, TASK)
            .a(10_000)
            .c(1)
            .flags(&[Flag::Wakeup]);
        elsewhere.dispatch(1, 20_000, TASK, 0, &[Flag::Moved]);
        assert_eq!(elsewhere.broken_rule(), Some(rule::AFFINITY));
    }

    /// CPU 1 idles; a task that ran there last wakes and goes to `target`.
    fn wake(target: i16, flags: &[Flag]) -> Script {
        let mut script = Script::new("rr", 2).parameter("quantum", QUANTUM);
        script.event(0, 5_000, OrderedEventKind::Idle, 0).flags(&[Flag::Idle]);
        script.event(1, 5_000, OrderedEventKind::Idle, 0).flags(&[Flag::Idle]);
        script
            .event(1, 20_000, OrderedEventKind::SelectCpu, TASK)
            .target(target)
            .a(1)
            .c(3)
            .flags(flags);
        script.event(0, 30_000, OrderedEventKind::Yield, TASK);
        script.event(1, 30_000, OrderedEventKind::Yield, TASK);
        script
    }

    #[test]
    fn a_woken_task_goes_to_the_idle_cpu_that_it_ran_on_last() {
        assert_eq!(wake(1, &[Flag::Idle]).broken_rule(), None);
        assert_eq!(wake(1, &[]).broken_rule(), Some(rule::IDLE_FIRST));
        assert_eq!(wake(0, &[Flag::Idle]).broken_rule(), Some(rule::PREVIOUS_FIRST));
    }

    #[test]
    fn a_cpu_that_finds_nothing_while_a_task_waits_is_wrong_unless_that_came_meanwhile() {
        let script = |at| {
            let mut script = Script::new("rr", 2).parameter("quantum", QUANTUM);
            script
                .event(0, 10_000, OrderedEventKind::Enqueue, TASK)
                .a(10_000)
                .c(3)
                .flags(&[Flag::Wakeup]);
            script.event(0, 20_000, OrderedEventKind::Yield, TASK);
            script.dispatch(1, at, 0, 0, &[]);
            script.event(0, 90_000, OrderedEventKind::Yield, TASK);
            script.event(1, 90_000, OrderedEventKind::Yield, TASK);
            script
        };
        assert_eq!(script(50_000).broken_rule(), Some(rule::WORK_CONSERVED));
        assert_eq!(script(10_050).broken_rule(), None);
    }

    /// A task runs, is put back past the queue, and runs again.
    fn past_the_queue(flags: &[Flag], is_leaving: bool) -> Option<&'static str> {
        let mut script = turns(TASK, 2_000_000, TASK, QUANTUM);
        let at = START + 3_000_000;
        script.stop((0, at), TASK, (10_000, QUANTUM - 3_000_000));
        script.event(0, at + 1_000, OrderedEventKind::Rescue, TASK).flags(flags);
        script.start((0, at + 2_000), TASK, (10_000, QUANTUM - 3_000_000));
        if is_leaving {
            script.event(0, at + 3_000, OrderedEventKind::Cpu, 0);
        }
        script.broken_rule()
    }

    #[test]
    fn past_the_queue_goes_a_task_that_must_stay_or_whose_cpu_leaves() {
        assert_eq!(past_the_queue(&[Flag::Runnable], false), None);
        assert_eq!(past_the_queue(&[], true), None);
        assert_eq!(past_the_queue(&[], false), Some(rule::NO_DIRECT_DISPATCH));
    }
}
