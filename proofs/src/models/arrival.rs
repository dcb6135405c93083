//! Order of arrival: fifo.md and rr.md.
//!
//! One queue. Who becomes runnable, has used up its quantum or yields goes to the tail with
//! a whole one; the head that may run on a CPU goes first; nobody is preempted.

use super::quota::{Quota, is_within};
use super::rule;
use super::single_queue::SingleQueue;
use crate::replay::Replay;
use crate::trace::{Event, Flag, Kind, Trace};
use crate::verdict::{Rejection, Summary, Tally, Verdict};
use std::collections::HashMap;

/// The model of both.
pub(super) struct Arrival<'r, 't> {
    replay: &'r Replay<'t>,
    queue: SingleQueue<'r, 't>,
    quantum: u64,
    /// Those that were seen to come.
    tasks: HashMap<i32, Task>,
    tally: Tally,
}

#[derive(Default)]
struct Task {
    quota: Quota,
    has_yielded: bool,
}

impl<'r, 't> Arrival<'r, 't> {
    pub(super) fn replay(trace: &Trace, quantum: u64) -> Result<Summary, Rejection> {
        let replay = Replay::new(trace);
        let mut model = Arrival {
            replay: &replay,
            queue: SingleQueue::new(&replay),
            quantum,
            tasks: HashMap::new(),
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

    fn take(&mut self, index: usize) -> Verdict {
        let event = self.replay.event(index);
        self.queue.advance(event);
        match event.kind {
            Kind::InitTask => {
                self.tasks.insert(event.pid, Task::default());
                Ok(())
            }
            Kind::SelectCpu => self.queue.select_cpu(&mut self.tally, index),
            Kind::Enqueue => self.enqueue(index, event),
            Kind::Dispatch => self.dispatch(index, event),
            Kind::Running => self.start(index, event),
            Kind::Stopping => self.stop(event),
            Kind::Yield => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    task.has_yielded = true;
                }
                Ok(())
            }
            Kind::Kick => {
                let is_right = !event.has(Flag::Preempt);
                self.tally.check(rule::NO_PREEMPTION, is_right, event, || {
                    "nobody to be preempted".to_owned()
                })
            }
            _ => Ok(()),
        }
    }

    fn enqueue(&mut self, index: usize, event: &Event) -> Verdict {
        let tally = &mut self.tally;
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            let is_anew = event.has(Flag::Wakeup) || task.has_yielded || task.quota.is_used_up();
            if is_anew {
                task.quota.left = self.quantum;
            }
            task.has_yielded = false;
            let left = task.quota.left;
            tally.check(rule::QUANTUM, event.d == left, event, || format!("{left} ns left"))?;
        }
        let is_now = is_within(event.a, event);
        tally.check(rule::ARRIVAL_ORDER, is_now, event, || "the time of arrival".to_owned())?;
        self.queue.offer(tally, index)
    }

    fn start(&mut self, index: usize, event: &Event) -> Verdict {
        if let Some(task) = self.tasks.get_mut(&event.pid) {
            task.quota.start(event.a);
        }
        self.queue.start(&mut self.tally, index)
    }

    fn stop(&mut self, event: &Event) -> Verdict {
        let Some(task) = self.tasks.get_mut(&event.pid) else { return Ok(()) };
        task.quota.stop(event.a);
        let left = task.quota.left;
        self.tally.check(rule::QUANTUM, event.d == left, event, || format!("{left} ns left"))
    }

    fn dispatch(&mut self, index: usize, event: &Event) -> Verdict {
        self.queue.dispatch(&mut self.tally, index)?;
        self.order(index, event)?;
        if !event.has(Flag::Runnable) {
            return Ok(());
        }
        let previous = i32::try_from(event.a).unwrap_or_default();
        let Some(task) = self.tasks.get_mut(&previous) else { return Ok(()) };
        task.quota.charge(event.b);
        let is_over = task.quota.is_used_up() || task.has_yielded;
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
    fn order(&mut self, index: usize, event: &Event) -> Verdict {
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
