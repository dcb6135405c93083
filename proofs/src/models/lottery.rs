//! Lottery scheduling: lottery.md, and Waldspurger and Weihl, *Lottery Scheduling*, 1994.
//!
//! The task that holds the drawn ticket runs next. Tickets are weights; one that did not use
//! its whole quantum before it slept has more of them until it runs. A draw counts for a task that
//! gets the CPU in the dispatch that it was part of.

use super::quota::Quota;
use super::rule;
use super::single_queue::{SingleQueue, allows};
use super::weight::weight;
use crate::replay::Replay;
use crate::trace::{Flag, OrderedEvent, OrderedEventKind, OrderedTrace};
use crate::verdict::{ModelResult, Rejection, ReplaySummary, Tally};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::cmp::Reverse;
use std::collections::HashMap;

/// EVENT_DRAW: a random number, tickets in the draw, the winner's, the running task's.
const DRAW: OrderedEventKind = OrderedEventKind::Own(96);
/// Classes of the drawn ticket's place among all, for uniformity.
const CLASSES: usize = 20;
/// What a right scheduler fails once in a thousand traces.
const LEAST_P: f64 = 0.001;
/// Below this the number of wins is too far from normally distributed.
const LEAST_VARIANCE: f64 = 20.0;
/// The least share of a quantum that is compensated for (lottery.md).
const MOST_COMPENSATION: u64 = 64;
/// After so many draws in vain the first that may run is taken (lottery.md).
const MOST_DRAWS: usize = 16;
/// Clocks of two CPUs may differ by this much (replay::span).
const SLACK_NS: u64 = 1_000;

struct Model<'r, 't> {
    replay: &'r Replay<'t>,
    queue: SingleQueue<'r, 't>,
    quantum: u64,
    is_compensated: bool,
    tasks: HashMap<i32, Task>,
    /// By CPU: the draws of the dispatch that is under way.
    drawn: HashMap<u16, Vec<&'t OrderedEvent>>,
    /// By spell.
    tickets: Vec<u64>,
    /// By CPU: from when until when each of its operations took that put a task into the queue,
    /// or took it out for another reason than to run it, in order.
    changes: HashMap<u16, Vec<(u64, u64)>>,
    /// Draws by class of the ticket's place.
    places: [u64; CLASSES],
    /// Wins of the running task: expected number, its variance, and how many there were.
    expected: f64,
    variance: f64,
    wins: u64,
    draws: u64,
    tally: Tally,
}

#[derive(Default)]
struct Task {
    prio: u64,
    /// When it was told that this is its nice value.
    prio_since: u64,
    quota: Quota,
    /// What it ran of the quantum that it did not use up; 0: nothing to compensate for.
    used: u64,
}

pub(super) fn replay(trace: &OrderedTrace) -> Result<ReplaySummary, Rejection> {
    let replay = Replay::new(trace);
    let mut model = Model {
        replay: &replay,
        queue: SingleQueue::new(&replay),
        quantum: trace.parameter("quantum")?,
        is_compensated: trace.parameter("compensation")? != 0,
        tasks: HashMap::new(),
        drawn: HashMap::new(),
        tickets: vec![0; replay.spells.len()],
        changes: changes(&replay),
        places: [0; CLASSES],
        expected: 0.0,
        variance: 0.0,
        wins: 0,
        draws: 0,
        tally: Tally::default(),
    };
    for index in 0..trace.events.len() {
        model.take(index)?;
    }
    model.distribution()?;
    let rules = [
        rule::TICKETS,
        rule::QUANTUM,
        rule::WINNER,
        rule::HOLDER,
        rule::NO_DIRECT_DISPATCH,
        rule::IDLE_FIRST,
        rule::WORK_CONSERVED,
        rule::NO_PREEMPTION,
    ];
    model.tally.finish(&rules)
}

fn changes(replay: &Replay<'_>) -> HashMap<u16, Vec<(u64, u64)>> {
    let mut changes: HashMap<u16, Vec<(u64, u64)>> = HashMap::new();
    for (index, event) in replay.trace.events.iter().enumerate() {
        // The kernel takes a task out after `quiescent` and `exit_task`, which took its tickets
        // out: in between it is in the queue and not in the total.
        if matches!(
            event.kind,
            OrderedEventKind::Enqueue | OrderedEventKind::Quiescent | OrderedEventKind::ExitTask
        ) {
            changes.entry(event.cpu).or_default().push(replay.whole(index));
        }
    }
    changes
}

impl<'t> Model<'_, 't> {
    /// Another CPU put a task into the queue, or took one out, while a draw went along it.
    fn is_changed(&self, draw: &OrderedEvent) -> bool {
        let others = self.changes.iter().filter(|(cpu, _)| **cpu != draw.cpu);
        others.map(|(_, changes)| changes).any(|changes| {
            // Operations of one CPU follow each other: only the last can reach into the draw.
            let next = changes.partition_point(|(begin, _)| *begin <= draw.end_ns + SLACK_NS);
            let last = changes[..next].last();
            last.is_some_and(|(_, over)| over.saturating_add(SLACK_NS) >= draw.begin_ns)
        })
    }

    fn take(&mut self, index: usize) -> ModelResult {
        let event = self.replay.event(index);
        self.queue.advance(event);
        match event.kind {
            OrderedEventKind::InitTask => {
                self.tasks.insert(event.pid, Task { prio: event.a, ..Task::default() });
                Ok(())
            }
            OrderedEventKind::SetWeight => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    (task.prio, task.prio_since) = (event.a, event.end_ns);
                }
                Ok(())
            }
            OrderedEventKind::SelectCpu => self.queue.select_cpu(&mut self.tally, index),
            OrderedEventKind::Enqueue => {
                if let Some(spell) = self.replay.links[index].spell {
                    self.tickets[spell] = event.b;
                }
                self.tickets(event)?;
                self.forget_quantum(event.pid);
                self.queue.offer(&mut self.tally, index)
            }
            OrderedEventKind::Rescue => {
                self.forget_quantum(event.pid);
                Ok(())
            }
            OrderedEventKind::Dispatch => self.dispatch(index, event),
            OrderedEventKind::Running => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    if task.quota.is_used_up() {
                        task.quota.left = self.quantum;
                    }
                    task.quota.start(event.a);
                    task.used = 0;
                }
                self.left(event)?;
                self.queue.start(&mut self.tally, index)
            }
            OrderedEventKind::Stopping => {
                if let Some(task) = self.tasks.get_mut(&event.pid) {
                    task.quota.stop(event.a);
                    if !event.has(Flag::Runnable) && !task.quota.is_used_up() {
                        task.used = self.quantum.saturating_sub(task.quota.left).max(1);
                    }
                }
                self.left(event)
            }
            OrderedEventKind::Kick => {
                let is_right = !event.has(Flag::Preempt);
                self.tally.check(rule::NO_PREEMPTION, is_right, event, || {
                    "nobody to be preempted".to_owned()
                })
            }
            kind if kind == DRAW => self.draw(index, event),
            _ => Ok(()),
        }
    }

    /// A task that waits has a whole quantum when it is taken.
    fn forget_quantum(&mut self, pid: i32) {
        if let Some(task) = self.tasks.get_mut(&pid) {
            task.quota.left = 0;
        }
    }

    fn left(&mut self, event: &OrderedEvent) -> ModelResult {
        let Some(left) = self.tasks.get(&event.pid).map(|task| task.quota.left) else {
            return Ok(());
        };
        self.tally.check(rule::QUANTUM, event.d == left, event, || format!("{left} ns left"))
    }

    /// The weight, or weight / f after only the fraction f of a quantum.
    fn tickets(&mut self, event: &OrderedEvent) -> ModelResult {
        let Some(task) = self.tasks.get(&event.pid) else { return Ok(()) };
        let (weight, ran) = (weight(task.prio), task.used);
        let expected = if !self.is_compensated || ran == 0 || ran >= self.quantum {
            weight
        } else if ran < self.quantum / MOST_COMPENSATION {
            weight * MOST_COMPENSATION
        } else {
            weight * self.quantum / ran
        };
        let is_right = (event.b, event.d) == (expected, ran);
        self.tally.check(rule::TICKETS, is_right, event, || {
            format!("{expected} tickets for weight {weight} and {ran} ns of the last quantum")
        })
    }

    /// The place of a ticket, and its holder. Which task gets the CPU, the dispatch says.
    fn draw(&mut self, index: usize, event: &'t OrderedEvent) -> ModelResult {
        self.drawn.entry(event.cpu).or_default().push(event);
        let (total, own) = (event.b.max(1), event.d);
        let ticket = event.a % total;
        let place = u128::from(ticket) * CLASSES as u128 / u128::from(total);
        // A class is as wide as another only where there are many tickets in each.
        if total >= 20 * CLASSES as u64 {
            self.places[usize::try_from(place).unwrap_or(0).min(CLASSES - 1)] += 1;
        }
        self.draws += 1;
        let has_won = has_won(event);
        let is_right = !has_won || (event.c == own && !event.has(Flag::Retry));
        self.tally.check(rule::WINNER, is_right, event, || {
            format!("ticket {ticket} of {total}: the running task to win: {has_won}")
        })?;
        if event.c > total && !event.has(Flag::Retry) {
            // The winner joined the queue after the tickets were counted.
            self.tally.undecided(rule::HOLDER);
            return Ok(());
        }
        if has_won { Ok(()) } else { self.holder(index, event, ticket) }
    }

    /// The CPU goes to the winner of the last draw. Draws before it found no task that may run.
    fn dispatch(&mut self, index: usize, event: &OrderedEvent) -> ModelResult {
        self.queue.dispatch(&mut self.tally, index)?;
        let draws = self.drawn.remove(&event.cpu).unwrap_or_default();
        let previous = i32::try_from(event.a).unwrap_or_default();
        let takes_part = event.has(Flag::Runnable) && !event.has(Flag::Yielded);
        self.own_tickets(event, &draws, takes_part.then_some(previous))?;
        let is_kept = event.has(Flag::Kept) && event.pid == previous;
        for draw in &draws {
            self.count(draw, is_kept && !draw.has(Flag::Retry));
        }
        let is_decided = |draw: &&OrderedEvent| !draw.has(Flag::Retry);
        match draws.iter().copied().find(is_decided) {
            Some(draw) => {
                let is_moved = event.has(Flag::Moved) && !event.has(Flag::Kept);
                let is_other = !event.has(Flag::Runnable) || event.pid != previous;
                let is_obeyed = if has_won(draw) { is_kept } else { is_moved && is_other };
                let is_last = draws.last() == Some(&draw);
                let is_right = is_obeyed && is_last && event.pid == draw.pid;
                self.tally.check(rule::WINNER, is_right, event, || {
                    let (ticket, total) = (draw.a % draw.b.max(1), draw.b);
                    let holds = if has_won(draw) { "holds" } else { "does not hold" };
                    format!("the draw obeyed: task {previous} {holds} ticket {ticket} of {total}")
                })?;
            }
            None => self.undrawn(index, event, draws.len(), takes_part)?,
        }
        if event.has(Flag::Runnable)
            && let Some(task) = self.tasks.get_mut(&previous)
        {
            task.quota.charge(event.b);
            if is_kept {
                task.quota.left = self.quantum;
            }
        }
        Ok(())
    }

    /// The running task has its weight in tickets, and none where it cannot go on or yielded.
    fn own_tickets(
        &mut self,
        event: &OrderedEvent,
        draws: &[&OrderedEvent],
        own: Option<i32>,
    ) -> ModelResult {
        let task = own.map(|pid| self.tasks.get(&pid));
        let expected = match task {
            Some(None) => return Ok(()),
            Some(Some(task)) => weight(task.prio),
            None => 0,
        };
        // Its nice value may change while the dispatch lets go of the run queue.
        let since = task.flatten().map_or(0, |task| task.prio_since);
        let is_changed = since > 0 && since + SLACK_NS >= event.begin_ns;
        for draw in draws {
            if is_changed && draw.d != expected {
                self.tally.undecided(rule::TICKETS);
                continue;
            }
            self.tally.check(rule::TICKETS, draw.d == expected, draw, || {
                format!("{expected} tickets of the running task")
            })?;
        }
        Ok(())
    }

    fn count(&mut self, draw: &OrderedEvent, is_won: bool) {
        if draw.d > 0 && draw.d < draw.b {
            let share = draw.d as f64 / draw.b as f64;
            self.expected += share;
            self.variance += share * (1.0 - share);
            self.wins += u64::from(is_won);
        }
    }

    /// Nobody won: there were no tickets, or too many draws were in vain.
    fn undrawn(
        &mut self,
        index: usize,
        event: &OrderedEvent,
        draws: usize,
        has_own: bool,
    ) -> ModelResult {
        let taken = self.replay.links[index].spell.map(|spell| self.replay.spells[spell].span);
        let waited = taken.is_some_and(|span| span.began_before(event.cpu, event.begin_ns));
        if draws < MOST_DRAWS && (has_own || waited) {
            return self.tally.check(rule::WINNER, false, event, || {
                format!("a draw that decides, not {draws} in vain")
            });
        }
        if event.has(Flag::Kept) {
            let waiting: Vec<i32> = self.queue.others(index).map(|(_, spell)| spell.pid).collect();
            return self.tally.check(rule::WINNER, waiting.is_empty(), event, || {
                format!("one of {waiting:?} to be taken: the running task did not win")
            });
        }
        if draws > 0 {
            self.tally.undecided(rule::WINNER);
        }
        Ok(())
    }

    /// The spell that the dispatch which a draw is part of ended.
    fn taken(&self, index: usize, event: &OrderedEvent) -> Option<usize> {
        let later = index + 1..self.replay.trace.events.len();
        let mut dispatches = later.filter(|later| {
            let later = self.replay.event(*later);
            later.kind == OrderedEventKind::Dispatch && later.cpu == event.cpu
        });
        dispatches.next().and_then(|dispatch| self.replay.links[dispatch].spell)
    }

    /// Along the queue, most tickets first and of equals the first to come, the ticket that was
    /// drawn is the winner's, or that of a task that may not run here, and it is drawn again.
    /// Certain where the tasks that surely wait have all tickets of the draw.
    fn holder(&mut self, index: usize, event: &OrderedEvent, ticket: u64) -> ModelResult {
        let taken = self.taken(index, event).map(|spell| (spell, &self.replay.spells[spell]));
        // A task that is taken after a draw in vain waited during that draw.
        let waited = taken.filter(|(_, spell)| match event.has(Flag::Retry) {
            true => spell.span.began_before(event.cpu, event.begin_ns),
            false => spell.pid == event.pid,
        });
        let winner = waited.filter(|(_, spell)| spell.pid == event.pid).map(|(spell, _)| spell);
        if let Some(winner) = winner {
            let tickets = self.tickets[winner];
            self.tally.check(rule::TICKETS, event.c == tickets, event, || {
                format!("{tickets} tickets of the winner")
            })?;
        }
        let waiting = self.queue.waiting(index).chain(waited).map(|(spell, _)| spell);
        let mut queue: Vec<usize> = waiting.collect();
        queue.sort_by_key(|spell| Reverse(self.tickets[*spell]));
        let all: u64 = queue.iter().map(|spell| self.tickets[*spell]).sum();
        let is_known = winner.is_some() || event.has(Flag::Retry);
        if !is_known || all + event.d != event.b || self.is_changed(event) {
            self.tally.undecided(rule::HOLDER);
            return Ok(());
        }
        let held = self.held(&queue, ticket - event.d);
        let spell = |number: &usize| &self.replay.spells[*number];
        let allowed = |number: &usize| self.replay.event(spell(number).enqueue).c;
        // A task that may not run here wins nothing. When that changed, the trace does not say.
        let is_here = |number: &usize| allows(allowed(number), event.cpu);
        let is_sure = held.iter().all(|holder| allowed(holder) == spell(holder).allowed);
        let is_right = match winner {
            Some(winner) => held.contains(&winner) && is_here(&winner),
            None => held.iter().any(|holder| !is_here(holder)),
        };
        if !is_sure || (is_right && held.len() > 1) {
            self.tally.undecided(rule::HOLDER);
            return Ok(());
        }
        self.tally.check(rule::HOLDER, is_right, event, || {
            let pids: Vec<i32> = held.iter().map(|holder| spell(holder).pid).collect();
            format!("one of {pids:?} to hold ticket {ticket} of {}", event.b)
        })
    }

    /// Possible holders of this ticket of the queue: of equal tickets the first to come is
    /// the first, and of two that came at once either may be.
    fn held(&self, queue: &[usize], ticket: u64) -> Vec<usize> {
        let enqueue = |spell: &usize| self.replay.spells[*spell].enqueue;
        let is_before = |one: &usize, other: &usize| {
            let cpu = |spell: &usize| self.replay.event(enqueue(spell)).cpu;
            let slack = if cpu(one) == cpu(other) { 0 } else { SLACK_NS };
            let over = self.replay.whole(enqueue(one)).1;
            over.saturating_add(slack) <= self.replay.whole(enqueue(other)).0
        };
        let mut passed = 0;
        for equals in queue.chunk_by(|one, other| self.tickets[*one] == self.tickets[*other]) {
            let tickets = self.tickets[equals[0]];
            let place = usize::try_from((ticket - passed) / tickets.max(1)).unwrap_or(usize::MAX);
            if place < equals.len() {
                let may_hold = |spell: &&usize| {
                    let before = equals.iter().filter(|other| is_before(other, spell)).count();
                    let after = equals.iter().filter(|other| is_before(spell, other)).count();
                    before <= place && place + after < equals.len()
                };
                return equals.iter().filter(may_hold).copied().collect();
            }
            passed += tickets * equals.len() as u64;
        }
        Vec::new()
    }

    /// Tickets are drawn with equal probability, and wins are in proportion to tickets.
    fn distribution(&mut self) -> Result<(), Rejection> {
        let counted: u64 = self.places.iter().sum();
        self.tally.figure("draws", self.draws);
        self.tally.figure("draws counted", counted);
        if counted < 20 * CLASSES as u64 {
            return Err(Rejection::Vacuous(rule::HOLDER));
        }
        let mean = counted as f64 / CLASSES as f64;
        let squares = self.places.iter().map(|seen| (*seen as f64 - mean).powi(2) / mean);
        let places = p_value(squares.sum(), CLASSES - 1);
        self.tally.figure("p of the tickets drawn, in millionths", (places * 1e6) as u64);
        // Where sleepers have many tickets for theirs, the running task wins too seldom to tell.
        let mut wins = 1.0;
        if self.variance >= LEAST_VARIANCE {
            wins = p_value((self.wins as f64 - self.expected).powi(2) / self.variance, 1);
            self.tally.figure("p of the shares won, in millionths", (wins * 1e6) as u64);
        }
        match places.min(wins) {
            p if p < LEAST_P => Err(Rejection::Improbable(format!(
                "tickets drawn: p {places:.6}; wins of the running task: p {wins:.6}"
            ))),
            _ => Ok(()),
        }
    }
}

/// Whether the running task holds the ticket: its tickets come first.
fn has_won(draw: &OrderedEvent) -> bool {
    draw.a % draw.b.max(1) < draw.d
}

/// Chi-square beyond this much.
fn p_value(chi_square: f64, degrees: usize) -> f64 {
    ChiSquared::new(degrees as f64).map_or(0.0, |distribution| distribution.sf(chi_square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    const QUANTUM: u64 = 10_000_000;

    fn script() -> Script {
        let mut script =
            Script::new("lottery", 1).parameter("quantum", QUANTUM).parameter("compensation", 1);
        script.init(1_000, TASK, 120);
        script
    }

    fn rule_of(script: &Script) -> Option<&'static str> {
        match replay(&script.trace()) {
            Err(Rejection::Violation(violation)) => Some(violation.rule),
            _ => None,
        }
    }

    /// A ticket is drawn: of how many, the winner and its tickets, the running task's.
    type Draw = (u64, u64, (i32, u64), u64);

    fn draw(script: &mut Script, at: u64, (ticket, total, winner, own): Draw) {
        let (pid, tickets) = winner;
        let draw = script.event(0, at, DRAW, pid).a(ticket).b(total).c(tickets).d(own);
        if pid == 0 {
            draw.flags(&[Flag::Retry]);
        }
    }

    /// A task that waits alone gets the idle CPU.
    fn take(script: &mut Script, at: u64, pid: i32, tickets: u64) {
        draw(script, at, (5, tickets, (pid, tickets), 0));
        script.dispatch(0, at + 100, pid, 0, &[Flag::Moved]);
        script.start((0, at + 1_000), pid, (tickets, QUANTUM));
    }

    /// It wakes up, runs for so long, and sleeps.
    fn slept(script: &mut Script, at: u64, pid: i32, ran: u64) {
        script.enqueue((0, at), pid, (1_024, 0), &[Flag::Wakeup]);
        take(script, at + 1_000, pid, 1_024);
        let end = at + 2_000 + ran;
        script.event(0, end, OrderedEventKind::Stopping, pid).a(end).b(1_024).d(QUANTUM - ran);
        script.event(0, end + 1_000, OrderedEventKind::Quiescent, pid).a(1);
    }

    #[test]
    fn tickets_are_weights_and_more_after_a_part_of_a_quantum() {
        let with = |tickets, ran, told| {
            let mut script = script();
            if ran > 0 {
                slept(&mut script, 10_000, TASK, ran);
            }
            script.enqueue((0, 2 * QUANTUM), TASK, (tickets, told), &[Flag::Wakeup]);
            rule_of(&script)
        };
        assert_eq!(with(1024, 0, 0), None);
        assert_eq!(with(2048, QUANTUM / 2, QUANTUM / 2), None);
        assert_eq!(with(1024, QUANTUM / 2, QUANTUM / 2), Some(rule::TICKETS));
        assert_eq!(with(1024, QUANTUM / 2, 0), Some(rule::TICKETS), "it forgot what it ran");
        assert_eq!(with(2048, 0, QUANTUM / 2), Some(rule::TICKETS), "it never ran");
        assert_eq!(with(64 * 1024, 5, 5), None, "there is a limit");
    }

    #[test]
    fn a_winner_has_a_whole_quantum_and_is_charged_for_what_it_runs() {
        let with = |whole, left| {
            let mut script = script();
            script.enqueue((0, 10_000), TASK, (1_024, 0), &[Flag::Wakeup]);
            draw(&mut script, 20_000, (5, 1_024, (TASK, 1_024), 0));
            script.dispatch(0, 20_100, TASK, 0, &[Flag::Moved]);
            script.start((0, 30_000), TASK, (1_024, whole));
            script.stop((0, 1_030_000), TASK, (1_024, left));
            rule_of(&script)
        };
        assert_eq!(with(QUANTUM, QUANTUM - 1_000_000), None);
        assert_eq!(with(QUANTUM, QUANTUM), Some(rule::QUANTUM));
        assert_eq!(with(2 * QUANTUM, 2 * QUANTUM - 1_000_000), Some(rule::QUANTUM));
    }

    /// Draws of a running task with half of the tickets.
    fn drawn(
        random: impl Fn(u64) -> u64,
        wins: impl Fn(u64) -> bool,
    ) -> Result<ReplaySummary, Rejection> {
        let mut script = script();
        for number in 0..2_000 {
            let (random, at) = (random(number), 2_000 + number * 1_000);
            let is_won = wins(random);
            let (winner, how) = if is_won { (TASK, Flag::Kept) } else { (7, Flag::Moved) };
            let tickets = if is_won { 1_024 } else { 500 };
            draw(&mut script, at, (random, 2_048, (winner, tickets), 1_024));
            script.dispatch(0, at + 100, winner, TASK, &[Flag::Runnable, how]);
        }
        replay(&script.trace())
    }

    const OTHER: i32 = 101;

    /// Two wait, one of them with twice the tickets; this ticket is drawn, and this one wins.
    fn held(ticket: u64, winner: i32) -> Option<&'static str> {
        let mut script = script();
        script.init(2_000, OTHER, 120);
        slept(&mut script, 10_000, OTHER, QUANTUM / 2);
        script.enqueue((0, QUANTUM), TASK, (1_024, 0), &[Flag::Wakeup]);
        script.enqueue((0, QUANTUM + 10_000), OTHER, (2_048, QUANTUM / 2), &[Flag::Wakeup]);
        let (at, tickets) = (QUANTUM + 20_000, if winner == TASK { 1_024 } else { 2_048 });
        draw(&mut script, at, (ticket, 3_072, (winner, if winner == 0 { 0 } else { tickets }), 0));
        let (winner, tickets) = if winner == 0 { (OTHER, 2_048) } else { (winner, tickets) };
        script.dispatch(0, at + 100, winner, 0, &[Flag::Moved]).begin(at).c(tickets);
        script.event(0, at + 10_000, OrderedEventKind::Yield, winner);
        rule_of(&script)
    }

    #[test]
    fn the_holder_of_the_ticket_is_found_along_the_queue_most_tickets_first() {
        assert_eq!(held(2_047, OTHER), None);
        assert_eq!(held(2_048, TASK), None);
        assert_eq!(held(2_047, TASK), Some(rule::HOLDER));
        assert_eq!(held(2_048, OTHER), Some(rule::HOLDER));
        assert_eq!(held(2_047, 0), Some(rule::HOLDER), "a task that may run here holds it");
    }

    #[test]
    fn a_ticket_of_a_task_that_may_not_run_here_is_drawn_again() {
        let with = |ticket, winner, tickets| {
            let mut script = script();
            script.init(2_000, OTHER, 120);
            script.enqueue((0, 10_000), TASK, (1_024, 0), &[Flag::Wakeup]);
            script
                .event(0, 20_000, OrderedEventKind::Enqueue, OTHER)
                .b(1_024)
                .c(2)
                .flags(&[Flag::Wakeup]);
            draw(&mut script, 30_000, (ticket, 2_048, (winner, tickets), 0));
            draw(&mut script, 30_200, (5, 2_048, (TASK, 1_024), 0));
            script.dispatch(0, 30_400, TASK, 0, &[Flag::Moved]).begin(30_000).c(1_024);
            script.event(0, 40_000, OrderedEventKind::Yield, TASK);
            rule_of(&script)
        };
        assert_eq!(with(1_500, 0, 0), None);
        assert_eq!(with(1_000, 0, 0), Some(rule::HOLDER));
    }

    /// Three wait with equal tickets, and another CPU takes the first of them out, so that its
    /// tickets are not in the total; over by then it is when that CPU does the next thing.
    fn leaving(over: u64) -> Option<&'static str> {
        const LEAVING: i32 = 102;
        let mut script =
            Script::new("lottery", 2).parameter("quantum", QUANTUM).parameter("compensation", 1);
        for pid in [LEAVING, TASK, OTHER] {
            script.init(1_000, pid, 120);
        }
        for (at, pid) in [(10_000, LEAVING), (20_000, TASK), (30_000, OTHER)] {
            script.enqueue((0, at), pid, (1_024, 0), &[Flag::Wakeup]);
        }
        script.event(1, 35_000, OrderedEventKind::Quiescent, LEAVING).a(1);
        script.event(1, over, OrderedEventKind::Yield, 7);
        // Along the queue the ticket is the second's while the first is there, else the third's.
        draw(&mut script, 50_000, (1_500, 2_048, (TASK, 1_024), 0));
        script.dispatch(0, 50_100, TASK, 0, &[Flag::Moved]).begin(50_000).c(1_024);
        script.event(0, 60_000, OrderedEventKind::Yield, TASK);
        script.event(1, 90_000, OrderedEventKind::Yield, 7);
        rule_of(&script)
    }

    #[test]
    fn a_task_that_is_being_taken_out_may_still_be_passed_along_the_queue() {
        assert_eq!(leaving(70_000), None, "nobody knows when it was taken out");
        assert_eq!(leaving(40_000), Some(rule::HOLDER), "it was gone");
    }

    /// A task runs, with so many tickets, when another waits.
    fn contested(draws: &[Draw], (chosen, how): (i32, Flag)) -> Option<&'static str> {
        let mut script = script();
        script.init(2_000, OTHER, 120);
        script.enqueue((0, 10_000), TASK, (1_024, 0), &[Flag::Wakeup]);
        take(&mut script, 20_000, TASK, 1_024);
        script.enqueue((0, 30_000), OTHER, (1_024, 0), &[Flag::Wakeup]);
        for (number, drawn) in draws.iter().enumerate() {
            draw(&mut script, 40_000 + 200 * number as u64, *drawn);
        }
        let dispatch = script.dispatch(0, 50_000, chosen, TASK, &[Flag::Runnable, how]);
        dispatch.begin(39_000).b(39_000);
        script.event(0, 60_000, OrderedEventKind::Yield, chosen);
        rule_of(&script)
    }

    #[test]
    fn the_cpu_goes_to_the_winner() {
        let (kept, moved) = ((TASK, Flag::Kept), (OTHER, Flag::Moved));
        let won = |ticket, winner| (ticket, 2_048, (winner, 1_024), 1_024);
        assert_eq!(contested(&[won(1_023, TASK)], kept), None);
        assert_eq!(contested(&[won(1_024, OTHER)], moved), None);
        assert_eq!(contested(&[won(1_024, TASK)], kept), Some(rule::WINNER), "it lost");
        assert_eq!(contested(&[won(1_024, OTHER)], kept), Some(rule::WINNER), "told, not obeyed");
        assert_eq!(contested(&[won(1_023, TASK)], moved), Some(rule::WINNER), "it had won");
        let again = [won(1_024, OTHER), won(1_023, TASK)];
        assert_eq!(contested(&again, kept), Some(rule::WINNER), "one draw decides");
        let rich = (2_047, 3_072, (TASK, 2_048), 2_048);
        assert_eq!(contested(&[rich], kept), Some(rule::TICKETS));
    }

    #[test]
    fn nobody_is_chosen_without_a_draw_but_after_many_in_vain() {
        // Other tasks wait that may not run here.
        let vain = (1_500, 4_096, (0, 0), 1_024);
        let with = |draws: usize, outcome| contested(&vec![vain; draws], outcome);
        assert_eq!(with(MOST_DRAWS, (OTHER, Flag::Moved)), None);
        assert_eq!(with(MOST_DRAWS - 1, (OTHER, Flag::Moved)), Some(rule::WINNER));
        assert_eq!(with(0, (OTHER, Flag::Moved)), Some(rule::WINNER));
        assert_eq!(with(0, (TASK, Flag::Kept)), Some(rule::WINNER));
        assert_eq!(with(MOST_DRAWS, (TASK, Flag::Kept)), Some(rule::WINNER), "one could be taken");
    }

    /// Knuth's multiplicative hash: in order, but spread evenly.
    fn spread(number: u64) -> u64 {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
    }

    #[test]
    fn a_draw_decides_and_draws_are_uniform() {
        let fair = drawn(spread, |random| random % 2_048 < 1_024);
        assert!(matches!(fair, Err(Rejection::Vacuous(_))), "{fair:?}");
        let ignored = drawn(spread, |random| random % 2_048 >= 1_024);
        assert!(
            matches!(&ignored, Err(Rejection::Violation(broken)) if broken.rule == rule::WINNER),
            "{ignored:?}"
        );
        let loaded = drawn(|number| number % 1_500, |random| random < 1_024);
        assert!(matches!(loaded, Err(Rejection::Improbable(_))), "{loaded:?}");
        let few = drawn(|_| 3, |random| random < 1_024);
        assert!(matches!(few, Err(Rejection::Improbable(_))), "{few:?}");
    }
}
