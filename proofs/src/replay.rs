//! What is certain of a trace whatever the order of operations that overlap: when a task
//! waited, which task a CPU ran, when a CPU was idle, and what belongs to one operation.
//!
//! All of it comes from the kernel's callbacks. What an algorithm makes of it, models say.

mod span;

pub use span::{Idle, Run, Span, Spell, Timeline};

use crate::trace::{Flag, OrderedEvent, OrderedEventKind, OrderedTrace};
use span::NOWHERE;
use std::collections::{HashMap, HashSet};

/// What belongs to an event, by numbers of other events and of spans.
#[derive(Debug, Clone, Default)]
pub struct Link {
    /// Begin of the next operation on this CPU: this one is over by then, and what the
    /// kernel does after it (it inserts a task after `enqueue`) is done.
    pub over_ns: u64,
    /// An enqueue: the spell it began. A dispatch: the spell it ended.
    pub spell: Option<usize>,
    /// The run that began: of a task that starts, or goes on after a dispatch.
    pub run: Option<usize>,
    /// An enqueue: the kick of an idle CPU that was part of it.
    pub idle_kick: Option<usize>,
    /// An enqueue: the preemption that was part of it.
    pub preempt_kick: Option<usize>,
    /// The idle span that ended here, because its CPU was claimed.
    pub claimed: Option<usize>,
    /// A kick: it was part of an enqueue.
    pub is_part: bool,
    /// A start: whether the task came from a dispatch; `None` where that is not certain, where
    /// it only goes on, or before every CPU was seen to ask the scheduler.
    pub is_dispatched: Option<bool>,
}

/// A trace with what is certain of it.
#[derive(Debug)]
pub struct Replay<'t> {
    /// The trace.
    pub trace: &'t OrderedTrace,
    /// One for each of its events.
    pub links: Vec<Link>,
    /// Waiting in a queue.
    pub spells: Vec<Spell>,
    /// Tasks on CPUs.
    pub runs: Vec<Run>,
    /// CPUs without work that nobody has claimed.
    pub idles: Vec<Idle>,
}

/// Where a task is as far as the events so far tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskState {
    Unknown,
    Waiting(usize),
    Taken,
    Running,
    Asleep,
    /// Given to a CPU past the queue, for no reason that the trace knows.
    Bypassing,
}

/// Builds a [`Replay`] event by event.
struct Builder<'t> {
    replay: Replay<'t>,
    places: HashMap<i32, TaskState>,
    /// By CPU: the run that has not ended.
    running: HashMap<u16, usize>,
    /// By CPU: the idle span that has not ended.
    idle: HashMap<u16, usize>,
    /// By CPU: the end of its last claim.
    claims: HashMap<u16, u64>,
    /// By CPU: when it last began to look for a task.
    looks: HashMap<u16, u64>,
    /// By CPU: its last enqueue.
    enqueues: HashMap<u16, usize>,
    /// By CPU: the end of the event before this one.
    ended: HashMap<u16, u64>,
    /// CPUs that go offline some time.
    leaving: HashSet<i16>,
    /// CPUs that may still go past the scheduler.
    bypassing: HashSet<u16>,
}

impl<'t> Replay<'t> {
    /// Finds out what is certain.
    pub fn new(trace: &'t OrderedTrace) -> Self {
        let links = over(&trace.events);
        let replay =
            Replay { trace, links, spells: Vec::new(), runs: Vec::new(), idles: Vec::new() };
        let mut builder = Builder {
            replay,
            places: HashMap::new(),
            running: HashMap::new(),
            idle: HashMap::new(),
            claims: HashMap::new(),
            looks: HashMap::new(),
            enqueues: HashMap::new(),
            ended: HashMap::new(),
            leaving: leaving(&trace.events),
            bypassing: (0..trace.header.cpus).collect(),
        };
        for index in 0..trace.events.len() {
            builder.take(index);
        }
        builder.finish()
    }

    /// The event of this number.
    pub fn event(&self, index: usize) -> &'t OrderedEvent {
        &self.trace.events[index]
    }

    /// From the begin of an operation until it is over with all that followed from it.
    pub fn whole(&self, index: usize) -> (u64, u64) {
        (self.event(index).begin_ns, self.links[index].over_ns)
    }
}

/// When each operation is over. Parts of an operation have events of their own, before the
/// operation's (inside dispatch) or after it (kicks of an enqueue), and end nothing;
/// `init_task` sleeps, so others run meanwhile.
fn over(events: &[OrderedEvent]) -> Vec<Link> {
    let mut next: HashMap<u16, u64> = HashMap::new();
    let mut links = vec![Link::default(); events.len()];
    for (event, link) in events.iter().zip(&mut links).rev() {
        link.over_ns = next.get(&event.cpu).copied().unwrap_or(u64::MAX);
        if !matches!(
            event.kind,
            OrderedEventKind::Kick
                | OrderedEventKind::Charge
                | OrderedEventKind::Own(_)
                | OrderedEventKind::InitTask
        ) {
            next.insert(event.cpu, event.begin_ns);
        }
    }
    links
}

fn leaving(events: &[OrderedEvent]) -> HashSet<i16> {
    let gone = events
        .iter()
        .filter(|event| event.kind == OrderedEventKind::Cpu && !event.has(Flag::Online));
    gone.map(|event| event.target).collect()
}

/// The CPU that an event is about: another CPU may stop and start a task there, to change
/// its nice value.
fn cpu_of(event: &OrderedEvent) -> u16 {
    u16::try_from(event.target).unwrap_or(event.cpu)
}

impl<'t> Builder<'t> {
    fn take(&mut self, index: usize) {
        let event = self.replay.event(index);
        match event.kind {
            OrderedEventKind::Enqueue => self.enqueue(index, event),
            OrderedEventKind::Dispatch => self.dispatch(index, event),
            OrderedEventKind::Running => self.start(index, event),
            OrderedEventKind::Stopping => self.end_run(event),
            OrderedEventKind::Quiescent => {
                self.leave(event);
                // SCX_DEQ_SLEEP; anything else is put back at once.
                let place = if event.a & 1 != 0 { TaskState::Asleep } else { TaskState::Unknown };
                self.places.insert(event.pid, place);
            }
            OrderedEventKind::ExitTask | OrderedEventKind::InitTask => {
                self.leave_unsure(event.pid);
                self.places.insert(event.pid, TaskState::Unknown);
            }
            OrderedEventKind::Rescue => self.rescue(event),
            OrderedEventKind::SetCpumask => {
                if let TaskState::Waiting(spell) = self.place(event.pid) {
                    self.replay.spells[spell].allowed &= event.c;
                }
            }
            OrderedEventKind::SelectCpu if event.has(Flag::Idle) => {
                self.claim(index, event, (event.begin_ns, event.end_ns));
            }
            OrderedEventKind::Kick => self.kick(index, event),
            OrderedEventKind::Idle => self.idle(event),
            _ => {}
        }
        self.ended.insert(event.cpu, event.end_ns);
    }

    fn place(&self, pid: i32) -> TaskState {
        self.places.get(&pid).copied().unwrap_or(TaskState::Unknown)
    }

    fn enqueue(&mut self, index: usize, event: &OrderedEvent) {
        // Taken out by the kernel without a word, to be put in on another CPU.
        self.leave_unsure(event.pid);
        let spell = self.replay.spells.len();
        let from = self.replay.links[index].over_ns;
        self.replay.spells.push(Spell {
            pid: event.pid,
            enqueue: index,
            allowed: event.c,
            taken_by: None,
            span: Span { from, from_cpu: event.cpu, until: u64::MAX, until_cpu: NOWHERE },
        });
        self.replay.links[index].spell = Some(spell);
        self.places.insert(event.pid, TaskState::Waiting(spell));
        self.enqueues.insert(event.cpu, index);
    }

    fn dispatch(&mut self, index: usize, event: &OrderedEvent) {
        self.looks.insert(event.cpu, event.begin_ns);
        self.bypassing.remove(&event.cpu);
        if event.has(Flag::Moved) {
            let mut place = TaskState::Taken;
            if let TaskState::Waiting(spell) = self.place(event.pid) {
                let enqueue = self.replay.event(self.replay.spells[spell].enqueue);
                // It may have been taken, put back and enqueued before the dispatch was over.
                if enqueue.end_ns >= event.begin_ns {
                    place = TaskState::Unknown;
                }
                let spell_of = &mut self.replay.spells[spell];
                spell_of.taken_by = Some(index);
                spell_of.span.close(event);
                self.replay.links[index].spell = Some(spell);
            }
            self.places.insert(event.pid, place);
        }
        // What the previous task is worth may change here.
        let Some(run) = self.running.get(&event.cpu).copied() else { return };
        let pid = self.replay.runs[run].pid;
        if i64::from(pid).cast_unsigned() == event.a {
            self.end_run(event);
            if event.has(Flag::Kept) {
                self.begin_run(index, pid, event);
            }
        }
    }

    fn start(&mut self, index: usize, event: &OrderedEvent) {
        self.replay.links[index].is_dispatched = match self.place(event.pid) {
            // A scheduler takes over CPU by CPU, and those left go past it. A task that wakes and
            // ran last on one of them is given to any idle CPU (kernel/sched/ext.c of 6.18,
            // `select_task_rq_scx`).
            _ if !self.bypassing.is_empty() => None,
            TaskState::Taken => Some(true),
            TaskState::Asleep | TaskState::Bypassing => Some(false),
            TaskState::Waiting(spell) => {
                self.replay.spells[spell].span.void();
                Some(false)
            }
            TaskState::Running | TaskState::Unknown => None,
        };
        self.places.insert(event.pid, TaskState::Running);
        self.end_run(event);
        self.unidle(cpu_of(event), event.begin_ns, event.cpu);
        self.begin_run(index, event.pid, event);
    }

    fn begin_run(&mut self, index: usize, pid: i32, event: &OrderedEvent) {
        let run = self.replay.runs.len();
        let span =
            Span { from: event.end_ns, from_cpu: event.cpu, until: u64::MAX, until_cpu: NOWHERE };
        self.replay.runs.push(Run { pid, cpu: cpu_of(event), begin: index, span });
        self.replay.links[index].run = Some(run);
        self.running.insert(cpu_of(event), run);
    }

    /// The task of the CPU that the event is about runs no more.
    fn end_run(&mut self, event: &OrderedEvent) {
        if let Some(run) = self.running.remove(&cpu_of(event)) {
            self.replay.runs[run].span.close(event);
        }
    }

    fn leave(&mut self, event: &OrderedEvent) {
        if let TaskState::Waiting(spell) = self.place(event.pid) {
            self.replay.spells[spell].span.close(event);
        }
    }

    fn leave_unsure(&mut self, pid: i32) {
        if let TaskState::Waiting(spell) = self.place(pid) {
            self.replay.spells[spell].span.void();
        }
    }

    /// Past the queue go only those whose CPU is going offline, and those that ran and must
    /// not change their CPU.
    fn rescue(&mut self, event: &OrderedEvent) {
        let is_held = event.has(Flag::Runnable)
            && matches!(self.place(event.pid), TaskState::Running | TaskState::Unknown);
        let is_right = is_held || self.leaving.contains(&event.target);
        self.leave_unsure(event.pid);
        self.places
            .insert(event.pid, if is_right { TaskState::Unknown } else { TaskState::Bypassing });
    }

    fn kick(&mut self, index: usize, event: &OrderedEvent) {
        if event.has(Flag::Idle) {
            // The CPU was claimed before the kick, after the event that came before.
            let from_ns = self.ended.get(&event.cpu).copied().unwrap_or(0);
            self.claim(index, event, (from_ns, event.begin_ns));
        }
        let enqueue = self.enqueues.get(&event.cpu).copied();
        let is_part = |enqueue: &usize| {
            self.replay.event(*enqueue).pid == event.pid
                && event.begin_ns < self.replay.links[*enqueue].over_ns
        };
        let Some(enqueue) = enqueue.filter(is_part) else { return };
        self.replay.links[index].is_part = true;
        let link = &mut self.replay.links[enqueue];
        if event.has(Flag::Idle) {
            link.idle_kick = Some(index);
        } else if event.has(Flag::Preempt) {
            link.preempt_kick = Some(index);
        }
    }

    fn idle(&mut self, event: &OrderedEvent) {
        let Ok(cpu) = u16::try_from(event.target) else { return };
        self.unidle(cpu, event.begin_ns, event.cpu);
        // The kernel marks a CPU as idle before it says so: it may have been claimed between.
        let looked_ns = self.looks.get(&cpu).copied().unwrap_or(0);
        let is_claimed = self.claims.get(&cpu).is_some_and(|claimed_ns| *claimed_ns > looked_ns);
        if event.has(Flag::Idle) && !is_claimed {
            self.idle.insert(cpu, self.replay.idles.len());
            let span = Span {
                from: event.end_ns,
                from_cpu: event.cpu,
                until: u64::MAX,
                until_cpu: NOWHERE,
            };
            self.replay.idles.push(Idle { cpu, marked_ns: looked_ns, span });
        }
    }

    /// A CPU was claimed within this time. It may be told after another CPU has kicked the same
    /// one, or that has woken up, or even gone idle again.
    fn claim(&mut self, index: usize, event: &OrderedEvent, (from_ns, to_ns): (u64, u64)) {
        let Ok(cpu) = u16::try_from(event.target) else { return };
        self.claims.insert(cpu, to_ns);
        let open = self.idle.get(&cpu).copied();
        let ended = self.replay.idles.iter_mut().enumerate().rev();
        let ended = ended.filter(|(idle, of)| of.cpu == cpu && Some(*idle) != open);
        for (_, idle) in ended.take_while(|(_, idle)| idle.span.until > from_ns) {
            (idle.span.until, idle.span.until_cpu) = (from_ns, event.cpu);
        }
        if open.is_some_and(|open| !self.replay.idles[open].is_marked_after(event.cpu, to_ns)) {
            self.replay.links[index].claimed = open;
            self.unidle(cpu, from_ns, event.cpu);
        }
    }

    fn unidle(&mut self, cpu: u16, at_ns: u64, by_cpu: u16) {
        if let Some(idle) = self.idle.remove(&cpu) {
            let span = &mut self.replay.idles[idle].span;
            (span.until, span.until_cpu) = (at_ns, by_cpu);
        }
    }

    /// What had not ended when the trace did lasted until every CPU had its last event: an
    /// operation that was not over then may have ended it later.
    fn finish(self) -> Replay<'t> {
        let mut replay = self.replay;
        let mut last: HashMap<u16, u64> = HashMap::new();
        for event in &replay.trace.events {
            last.insert(event.cpu, event.end_ns);
        }
        let end = last.values().copied().min().unwrap_or(0);
        let spells = replay.spells.iter_mut().map(|spell| &mut spell.span);
        let runs = replay.runs.iter_mut().map(|run| &mut run.span);
        let idles = replay.idles.iter_mut().map(|idle| &mut idle.span);
        for span in spells.chain(runs).chain(idles) {
            span.until = span.until.min(end);
        }
        replay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    fn waits(script: &Script, cpu: u16, begin: u64, end: u64) -> bool {
        let trace = script.trace();
        let replay = Replay::new(&trace);
        replay.spells.iter().any(|spell| spell.span.covers(cpu, begin, end))
    }

    #[test]
    fn a_task_surely_waits_between_the_operation_after_its_enqueue_and_the_one_that_takes_it() {
        let mut script = Script::new("fifo", 2);
        script.event(0, 10_000, OrderedEventKind::Enqueue, TASK).c(3).flags(&[Flag::Wakeup]);
        script.event(0, 20_000, OrderedEventKind::Idle, 0);
        script.dispatch(1, 40_000, TASK, 0, &[Flag::Moved]);
        script.event(0, 50_000, OrderedEventKind::Yield, TASK);
        let first = script.end_of(0);
        assert!(waits(&script, 0, 20_000, 30_000));
        assert!(!waits(&script, 0, 20_000, 39_500), "clocks differ at the end as well");
        assert!(!waits(&script, 0, first, 30_000), "the kernel inserts after enqueue");
        assert!(!waits(&script, 1, 20_000, 30_000), "clocks of two CPUs may differ a little");
        assert!(waits(&script, 1, 22_000, 30_000));
        assert!(!waits(&script, 0, 22_000, 40_001), "it is taken somewhere in the dispatch");
    }

    #[test]
    fn a_kick_after_an_enqueue_belongs_to_it_and_claims_the_cpu_from_its_end_on() {
        let mut script = Script::new("fifo", 2);
        script.event(1, 1_000, OrderedEventKind::Idle, 0).target(1).flags(&[Flag::Idle]);
        script.event(0, 10_000, OrderedEventKind::Enqueue, TASK).c(3).flags(&[Flag::Wakeup]);
        script.event(0, 11_000, OrderedEventKind::Kick, TASK).target(1).flags(&[Flag::Idle]);
        script.event(0, 20_000, OrderedEventKind::Yield, TASK);
        script.event(1, 20_000, OrderedEventKind::Yield, TASK);
        let trace = script.trace();
        let replay = Replay::new(&trace);
        let enqueue =
            trace.events.iter().position(|event| event.kind == OrderedEventKind::Enqueue).unwrap();
        assert!(replay.links[enqueue].idle_kick.is_some());
        assert_eq!(replay.whole(enqueue), (10_000, 20_000));
        assert_eq!(replay.idles[0].span.until, 10_100);
    }

    #[test]
    fn a_cpu_that_is_claimed_before_it_says_that_it_is_idle_is_not_surely_idle() {
        let idle_spans = |claimed_ns: u64| {
            let mut script = Script::new("fifo", 2);
            script.dispatch(1, 1_000, 0, 0, &[]);
            script
                .event(0, claimed_ns, OrderedEventKind::SelectCpu, TASK)
                .target(1)
                .flags(&[Flag::Idle]);
            script.event(1, 5_000, OrderedEventKind::Idle, 0).target(1).flags(&[Flag::Idle]);
            script.event(0, 20_000, OrderedEventKind::Yield, TASK);
            script.event(1, 20_000, OrderedEventKind::Yield, TASK);
            let trace = script.trace();
            Replay::new(&trace).idles.len()
        };
        assert_eq!(idle_spans(4_000), 0);
        assert_eq!(idle_spans(500), 1, "that was the time before");
    }

    #[test]
    fn a_claim_that_is_told_late_ends_what_was_idle_when_it_may_have_been_made() {
        let mut script = Script::new("fifo", 2);
        script.event(1, 1_000, OrderedEventKind::Idle, 0).target(1).flags(&[Flag::Idle]);
        script.event(0, 10_000, OrderedEventKind::Enqueue, TASK).c(3).flags(&[Flag::Wakeup]);
        script.event(1, 18_000, OrderedEventKind::Yield, TASK + 1);
        script.event(1, 20_000, OrderedEventKind::Kick, TASK + 1).target(1).flags(&[Flag::Idle]);
        script.dispatch(1, 21_000, 0, 0, &[]);
        script.event(1, 22_000, OrderedEventKind::Idle, 0).target(1).flags(&[Flag::Idle]);
        script
            .event(0, 30_000, OrderedEventKind::Kick, TASK)
            .target(1)
            .flags(&[Flag::Idle])
            .begin(19_000);
        script.event(0, 40_000, OrderedEventKind::Yield, TASK);
        script.event(1, 40_000, OrderedEventKind::Yield, TASK);
        let trace = script.trace();
        let ends: Vec<u64> = Replay::new(&trace).idles.iter().map(|idle| idle.span.until).collect();
        assert_eq!(ends[0], 10_100);
        assert!(ends[1] > 40_000, "that began after the claim: {ends:?}");
    }

    #[test]
    fn a_claim_at_the_moment_at_which_a_cpu_says_that_it_is_idle_counts() {
        let mut script = Script::new("fifo", 2);
        script.dispatch(1, 1_000, 0, 0, &[]);
        script.event(1, 2_000, OrderedEventKind::Idle, 0).target(1).flags(&[Flag::Idle]);
        script.event(0, 2_050, OrderedEventKind::SelectCpu, TASK).target(1).flags(&[Flag::Idle]);
        script.event(0, 9_000, OrderedEventKind::Yield, TASK);
        script.event(1, 9_000, OrderedEventKind::Yield, TASK);
        let trace = script.trace();
        assert!(Replay::new(&trace).idles[0].span.until <= 2_050);
    }

    #[test]
    fn a_claim_before_a_cpu_says_that_it_is_idle_counts_when_it_is_told_after_that() {
        let mut script = Script::new("fifo", 2);
        script.dispatch(1, 1_000, 0, 0, &[]);
        script.event(1, 15_000, OrderedEventKind::Idle, 0).target(1).flags(&[Flag::Idle]);
        script
            .event(0, 20_000, OrderedEventKind::Kick, TASK)
            .target(1)
            .flags(&[Flag::Idle])
            .begin(13_000);
        script.event(0, 40_000, OrderedEventKind::Yield, TASK);
        script.event(1, 40_000, OrderedEventKind::Yield, TASK);
        let trace = script.trace();
        assert!(Replay::new(&trace).idles[0].span.until < 15_000);
    }

    #[test]
    fn a_start_tells_whether_a_dispatch_came_before_it() {
        let mut script = Script::new("fifo", 2);
        script.dispatch(0, 100, 0, 0, &[]);
        script.event(0, 300, OrderedEventKind::Quiescent, TASK).a(1);
        script.event(0, 500, OrderedEventKind::Running, TASK).target(0);
        script.dispatch(1, 700, 0, 0, &[]);
        script.event(0, 1_000, OrderedEventKind::Quiescent, TASK).a(1);
        script.event(0, 2_000, OrderedEventKind::Running, TASK).target(0);
        script.event(0, 3_000, OrderedEventKind::Enqueue, TASK).c(1);
        script.dispatch(0, 4_000, TASK, 0, &[Flag::Moved]);
        script.event(0, 5_000, OrderedEventKind::Running, TASK).target(0);
        let trace = script.trace();
        let replay = Replay::new(&trace);
        let starts: Vec<_> = replay.links.iter().filter_map(|link| link.is_dispatched).collect();
        assert_eq!(starts, [false, true], "and the first came before CPU 1 asked for a task");
    }
}
