//! Lottery scheduling: lottery.md, and Waldspurger and Weihl, *Lottery Scheduling*, 1994.
//!
//! Who runs next holds the ticket that is drawn. Tickets are weights; one that did not use
//! its whole quantum before it slept has more of them until it runs.

use super::rule;
use super::single_queue::SingleQueue;
use super::weight::weight;
use crate::replay::Replay;
use crate::trace::{Event, Flag, Kind, Trace};
use crate::verdict::{Rejection, Summary, Tally, Verdict};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::cmp::Reverse;
use std::collections::HashMap;

/// EVENT_DRAW: a random number, tickets in the draw, the winner's, the running task's.
const DRAW: Kind = Kind::Own(96);
/// Classes of the drawn ticket's place among all, for uniformity.
const CLASSES: usize = 20;
/// What a right scheduler fails once in a thousand traces.
const LEAST_P: f64 = 0.001;
/// The least share of a quantum that is compensated for (lottery.md).
const MOST_COMPENSATION: u64 = 64;
/// Clocks of two CPUs may differ by this much (replay::span).
const SLACK_NS: u64 = 1_000;

struct Model<'r, 't> {
    replay: &'r Replay<'t>,
    queue: SingleQueue<'r, 't>,
    quantum: u64,
    is_compensated: bool,
    prio: HashMap<i32, u64>,
    /// The last spell of each task, and the tickets of each spell.
    spells: HashMap<i32, usize>,
    tickets: Vec<u64>,
    /// By CPU: from when until when each of its enqueues took, in order.
    enqueues: HashMap<u16, Vec<(u64, u64)>>,
    /// Draws by class of the ticket's place.
    places: [u64; CLASSES],
    /// Wins of the running task: expected number, its variance, and how many there were.
    expected: f64,
    variance: f64,
    wins: u64,
    draws: u64,
    tally: Tally,
}

pub(super) fn replay(trace: &Trace) -> Result<Summary, Rejection> {
    let replay = Replay::new(trace);
    let mut model = Model {
        replay: &replay,
        queue: SingleQueue::new(&replay),
        quantum: trace.parameter("quantum")?,
        is_compensated: trace.parameter("compensation")? != 0,
        prio: HashMap::new(),
        spells: HashMap::new(),
        tickets: vec![0; replay.spells.len()],
        enqueues: enqueues(&replay),
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
        rule::WINNER,
        rule::HOLDER,
        rule::NO_DIRECT_DISPATCH,
        rule::IDLE_FIRST,
        rule::WORK_CONSERVED,
        rule::NO_PREEMPTION,
    ];
    model.tally.finish(&rules)
}

fn enqueues(replay: &Replay<'_>) -> HashMap<u16, Vec<(u64, u64)>> {
    let mut enqueues: HashMap<u16, Vec<(u64, u64)>> = HashMap::new();
    for spell in &replay.spells {
        let cpu = replay.event(spell.enqueue).cpu;
        enqueues.entry(cpu).or_default().push(replay.whole(spell.enqueue));
    }
    enqueues
}

impl Model<'_, '_> {
    /// Another CPU put a task into the queue while a draw went along it.
    fn is_joined(&self, draw: &Event) -> bool {
        let others = self.enqueues.iter().filter(|(cpu, _)| **cpu != draw.cpu);
        others.map(|(_, enqueues)| enqueues).any(|enqueues| {
            // Operations of one CPU follow each other: only the last can reach into the draw.
            let next = enqueues.partition_point(|(begin, _)| *begin <= draw.end_ns + SLACK_NS);
            let last = enqueues[..next].last();
            last.is_some_and(|(_, over)| over.saturating_add(SLACK_NS) >= draw.begin_ns)
        })
    }

    fn take(&mut self, index: usize) -> Verdict {
        let event = self.replay.event(index);
        self.queue.advance(event);
        match event.kind {
            Kind::InitTask | Kind::SetWeight => {
                self.prio.insert(event.pid, event.a);
                Ok(())
            }
            Kind::SelectCpu => self.queue.select_cpu(&mut self.tally, index),
            Kind::Enqueue => {
                if let Some(spell) = self.replay.links[index].spell {
                    self.spells.insert(event.pid, spell);
                    self.tickets[spell] = event.b;
                }
                self.tickets(event)?;
                self.queue.offer(&mut self.tally, index)
            }
            Kind::Dispatch => self.queue.dispatch(&mut self.tally, index),
            Kind::Running => self.queue.start(&mut self.tally, index),
            Kind::Kick => {
                let is_right = !event.has(Flag::Preempt);
                self.tally.check(rule::NO_PREEMPTION, is_right, event, || {
                    "nobody to be preempted".to_owned()
                })
            }
            kind if kind == DRAW => self.draw(index, event),
            _ => Ok(()),
        }
    }

    /// The weight, or weight / f after only the fraction f of a quantum.
    fn tickets(&mut self, event: &Event) -> Verdict {
        let Some(weight) = self.prio.get(&event.pid).map(|prio| weight(*prio)) else {
            return Ok(());
        };
        let ran = event.d;
        let expected = if !self.is_compensated || ran == 0 || ran >= self.quantum {
            weight
        } else if ran < self.quantum / MOST_COMPENSATION {
            weight * MOST_COMPENSATION
        } else {
            weight * self.quantum / ran
        };
        self.tally.check(rule::TICKETS, event.b == expected, event, || {
            format!("{expected} tickets for weight {weight} and {ran} ns of the last quantum")
        })
    }

    /// The running task's tickets come first: whether it wins follows from the draw.
    fn draw(&mut self, index: usize, event: &Event) -> Verdict {
        let (total, own) = (event.b.max(1), event.d);
        let ticket = event.a % total;
        let place = u128::from(ticket) * CLASSES as u128 / u128::from(total);
        // A class is as wide as another only where there are many tickets in each.
        if total >= 20 * CLASSES as u64 {
            self.places[usize::try_from(place).unwrap_or(0).min(CLASSES - 1)] += 1;
        }
        let has_won = ticket < own;
        if own > 0 && own < total {
            let share = own as f64 / total as f64;
            self.expected += share;
            self.variance += share * (1.0 - share);
            self.wins += u64::from(has_won);
        }
        self.draws += 1;
        if event.has(Flag::Retry) {
            self.tally.undecided(rule::WINNER);
            return self
                .tally
                .check(rule::WINNER, !has_won, event, || "the running task to win".to_owned());
        }
        if event.c > total {
            // The winner joined the queue after the tickets were counted.
            self.tally.undecided(rule::WINNER);
            return Ok(());
        }
        let is_right = !has_won || event.c == own;
        self.tally.check(rule::WINNER, is_right, event, || {
            format!("ticket {ticket} of {total}: the running task to win: {has_won}")
        })?;
        if has_won { Ok(()) } else { self.holder(index, event, ticket) }
    }

    /// Along the queue, most tickets first and of equals the first to come, the ticket that was
    /// drawn is the winner's. Certain where those who surely wait have all tickets of the draw.
    fn holder(&mut self, index: usize, event: &Event, ticket: u64) -> Verdict {
        let Some(winner) = self.spells.get(&event.pid).copied() else { return Ok(()) };
        let waiting = self.queue.others(index).map(|(spell, _)| spell);
        let mut queue: Vec<usize> = waiting.chain([winner]).collect();
        let came = |spell: usize| self.replay.whole(self.replay.spells[spell].enqueue);
        queue.sort_by_key(|spell| (Reverse(self.tickets[*spell]), came(*spell).1));
        queue.dedup();
        let all: u64 = queue.iter().map(|spell| self.tickets[*spell]).sum();
        if all + event.d != event.b || self.is_joined(event) {
            self.tally.undecided(rule::HOLDER);
            return Ok(());
        }
        let mut passed = event.d;
        let holder = queue.into_iter().find(|spell| {
            passed += self.tickets[*spell];
            ticket < passed
        });
        let Some(holder) = holder else { return Ok(()) };
        let (own, other) = (came(winner), came(holder));
        let overlap = own.0 <= other.1 && other.0 <= own.1;
        if holder != winner && overlap && self.tickets[holder] == self.tickets[winner] {
            self.tally.undecided(rule::HOLDER);
            return Ok(());
        }
        let holder_pid = self.replay.spells[holder].pid;
        self.tally.check(rule::HOLDER, holder == winner, event, || {
            format!("task {holder_pid} to hold ticket {ticket} of {}", event.b)
        })
    }

    /// Tickets are drawn with equal probability, and wins are in proportion to tickets.
    fn distribution(&mut self) -> Result<(), Rejection> {
        let counted: u64 = self.places.iter().sum();
        self.tally.figure("draws", self.draws);
        self.tally.figure("draws counted", counted);
        if counted < 20 * CLASSES as u64 || self.variance < 20.0 {
            return Err(Rejection::Vacuous(rule::WINNER));
        }
        let mean = counted as f64 / CLASSES as f64;
        let squares = self.places.iter().map(|seen| (*seen as f64 - mean).powi(2) / mean);
        let places = p_value(squares.sum(), CLASSES - 1);
        let wins = p_value((self.wins as f64 - self.expected).powi(2) / self.variance, 1);
        self.tally.figure("p of the tickets drawn, in millionths", (places * 1e6) as u64);
        self.tally.figure("p of the shares won, in millionths", (wins * 1e6) as u64);
        match places.min(wins) {
            p if p < LEAST_P => Err(Rejection::Improbable(format!(
                "tickets drawn: p {places:.6}; wins of the running task: p {wins:.6}"
            ))),
            _ => Ok(()),
        }
    }
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

    #[test]
    fn tickets_are_weights_and_more_after_a_part_of_a_quantum() {
        let with = |tickets, ran| {
            let mut script = script();
            script.enqueue((0, 10_000), TASK, (tickets, ran), &[Flag::Wakeup]);
            rule_of(&script)
        };
        assert_eq!(with(1024, 0), None);
        assert_eq!(with(2048, QUANTUM / 2), None);
        assert_eq!(with(1024, QUANTUM / 2), Some(rule::TICKETS));
        assert_eq!(with(64 * 1024, 5), None, "there is a limit");
    }

    /// Draws of a running task with half of the tickets.
    fn drawn(
        random: impl Fn(u64) -> u64,
        wins: impl Fn(u64) -> bool,
    ) -> Result<Summary, Rejection> {
        let mut script = script();
        for number in 0..2_000 {
            let (random, at) = (random(number), 2_000 + number * 1_000);
            let pid = if wins(random) { TASK } else { 7 };
            let draw = script.event(0, at, DRAW, pid).a(random).b(2_048);
            draw.c(if wins(random) { 1_024 } else { 500 }).d(1_024);
        }
        replay(&script.trace())
    }

    const OTHER: i32 = 101;

    /// Two wait, one of them with twice the tickets; this ticket is drawn, and this one wins.
    fn held(ticket: u64, winner: i32) -> Option<&'static str> {
        let mut script = script();
        script.init(2_000, OTHER, 120);
        script.enqueue((0, 10_000), TASK, (1_024, 0), &[Flag::Wakeup]);
        script.enqueue((0, 20_000), OTHER, (2_048, QUANTUM / 2), &[Flag::Wakeup]);
        let tickets = if winner == TASK { 1_024 } else { 2_048 };
        script.event(0, 30_050, DRAW, winner).a(ticket).b(3_072).c(tickets);
        script.dispatch(0, 30_000, winner, 0, &[Flag::Moved]);
        script.event(0, 40_000, Kind::Yield, winner);
        rule_of(&script)
    }

    #[test]
    fn the_holder_of_the_ticket_is_found_along_the_queue_most_tickets_first() {
        assert_eq!(held(2_047, OTHER), None);
        assert_eq!(held(2_048, TASK), None);
        assert_eq!(held(2_047, TASK), Some(rule::HOLDER));
        assert_eq!(held(2_048, OTHER), Some(rule::HOLDER));
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
