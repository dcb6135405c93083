//! When the blocks of a soak campaign begin, and the pause until then.
//!
//! A campaign that goes on after an interruption begins its next block at once, and those after
//! it at their distance from that one: time in which nothing ran is neither counted nor made
//! good. What begins anew with it is marked, so that nobody seeks a trend across the gap.

use contract::{Event, Interrupt, Result};
use model::{Plan, Record, TrialFact};
use std::time::{Duration, Instant};

/// How soon a pause notices the wish to stop: at once, for a person.
const WAKES_EVERY: Duration = Duration::from_millis(50);
/// A block that begins later than its time by less than this share of it is on time.
const ON_TIME: u32 = 100;

/// The pace of one run of a soak campaign.
pub(crate) struct Pacing {
    clock: Clock,
    pace: Pace,
    /// What the first record of a run that goes on with a campaign says.
    resumed: Option<String>,
}

impl Pacing {
    /// That of a campaign which goes on for a time; of no other, and of no pilot.
    pub(crate) fn of(plan: &Plan, records: &[Record], clock: Clock) -> Option<Self> {
        let pace = plan.pace.filter(|_| !plan.is_pilot)?;
        Some(Self {
            pace: Pace { every: Duration::from_nanos(pace.every_ns), due: None },
            resumed: records.last().map(|last| resumed(last, clock.unix_ns())),
            clock,
        })
    }

    /// Waits until a block may begin.
    ///
    /// # Errors
    /// When a signal asks to stop meanwhile.
    pub(crate) fn wait(
        &mut self,
        block: u32,
        blocks: usize,
        interrupt: &Interrupt,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let name = format!("block {} of {blocks}", u64::from(block) + 1);
        match self.pace.turn(self.clock.elapsed()) {
            Turn::Now => {}
            Turn::Late(late) => on_event(Event::Notice(format!(
                "{name} begins at once, {} after its time: the one before it took longer than {}",
                spoken(late),
                spoken(self.pace.every)
            ))),
            Turn::In(pause) => {
                on_event(Event::Notice(format!("{name} begins in {}", spoken(pause))));
                let end = self.clock.elapsed() + pause;
                loop {
                    interrupt.check()?;
                    let left = end.saturating_sub(self.clock.elapsed());
                    if left.is_zero() {
                        break;
                    }
                    std::thread::sleep(left.min(WAKES_EVERY));
                }
            }
        }
        self.pace.begin(self.clock.elapsed());
        Ok(())
    }

    /// Civil time.
    pub(crate) fn unix_ns(&self) -> u64 {
        self.clock.unix_ns()
    }

    /// Completes the record of a trial that began then: a venue without a clock of its own
    /// (the simulator) leaves the time out.
    pub(crate) fn mark(&mut self, record: &mut Record, began_unix_ns: u64) {
        if record.started_unix_ns == 0 {
            record.started_unix_ns = began_unix_ns;
        }
        if let Some(told) = self.resumed.take() {
            record.note_fact(TrialFact::Resumed, told);
        }
    }
}

/// A monotonic clock, and the civil time when it began: nobody's correction of the time makes
/// a pause longer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    begun: Instant,
    begun_unix_ns: u64,
}

impl Clock {
    /// One that begins, at this civil time.
    pub(crate) fn since(begun_unix_ns: u64) -> Self {
        Self { begun: Instant::now(), begun_unix_ns }
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(crate) fn unix_ns(&self) -> u64 {
        let elapsed_ns = u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.begun_unix_ns.saturating_add(elapsed_ns)
    }
}

/// When the next block is due, by a clock that somebody else has.
struct Pace {
    every: Duration,
    /// `None` before the first block of this run.
    due: Option<Duration>,
}

/// Whether it is a block's turn.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Now,
    /// So long after its time.
    Late(Duration),
    /// So long before it.
    In(Duration),
}

impl Pace {
    fn turn(&self, now: Duration) -> Turn {
        let Some(due) = self.due.filter(|_| !self.every.is_zero()) else { return Turn::Now };
        match due.checked_sub(now) {
            Some(pause) if !pause.is_zero() => Turn::In(pause),
            _ if self.is_on_time(now - due) => Turn::Now,
            _ => Turn::Late(now - due),
        }
    }

    /// Takes in that a block begins. One that is late moves all after it: two that follow each
    /// other more closely would not be what was declared.
    fn begin(&mut self, now: Duration) {
        let begins = match self.due {
            Some(due) if self.is_on_time(now.saturating_sub(due)) => due,
            _ => now,
        };
        self.due = Some(begins + self.every);
    }

    fn is_on_time(&self, late: Duration) -> bool {
        late <= (self.every / ON_TIME).max(2 * WAKES_EVERY)
    }
}

/// What stands beside the first trial after an interruption.
fn resumed(last: &Record, unix_ns: u64) -> String {
    let ended_ns = last.started_unix_ns.saturating_add(last.duration_ns);
    let stood_still = match unix_ns.checked_sub(ended_ns) {
        Some(gap_ns) if last.started_unix_ns > 0 => {
            format!("stood still for {}", spoken(Duration::from_nanos(gap_ns)))
        }
        _ => "was interrupted".to_owned(),
    };
    format!("the campaign {stood_still} before this trial")
}

/// A duration as a person says it.
fn spoken(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        return format!("{} ms", duration.as_millis());
    }
    let seconds = duration.as_millis().div_ceil(1_000);
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5_999 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    /// What is said of each block, given how long each takes in minutes.
    fn turns(minutes: &[u64]) -> Vec<Turn> {
        let mut pace = Pace { every: HOUR, due: None };
        let mut now = Duration::from_secs(7);
        let mut turns = Vec::new();
        for minutes in minutes {
            let turn = pace.turn(now);
            if let Turn::In(pause) = turn {
                now += pause;
            }
            pace.begin(now);
            now += Duration::from_secs(60 * minutes);
            turns.push(turn);
        }
        turns
    }

    #[test]
    fn a_block_begins_each_hour_whatever_it_takes_within_it() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let pauses =
            [Turn::Now, Turn::In(minutes(50)), Turn::In(minutes(1)), Turn::In(minutes(30))];
        assert_eq!(turns(&[10, 59, 30, 5]), pauses);
    }

    #[test]
    fn a_block_that_takes_longer_is_followed_at_once_and_moves_those_after_it() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let late = [Turn::Now, Turn::Late(minutes(30)), Turn::In(minutes(40))];
        assert_eq!(turns(&[90, 20, 20]), late);
    }

    #[test]
    fn a_moment_is_not_late_and_moves_nothing() {
        let mut pace = Pace { every: HOUR, due: Some(HOUR) };
        let now = HOUR + Duration::from_secs(20);
        assert_eq!(pace.turn(now), Turn::Now);
        pace.begin(now);
        assert_eq!(pace.due, Some(2 * HOUR));
    }

    #[test]
    fn without_a_distance_blocks_follow_each_other() {
        let mut pace = Pace { every: Duration::ZERO, due: None };
        pace.begin(HOUR);
        assert_eq!((pace.turn(HOUR), pace.turn(3 * HOUR)), (Turn::Now, Turn::Now));
    }

    #[test]
    fn durations_are_said_as_people_say_them() {
        for (millis, text) in
            [(350, "350 ms"), (20_000, "20 s"), (200_000, "3 min 20 s"), (9_000_000, "2 h 30 min")]
        {
            assert_eq!(spoken(Duration::from_millis(millis)), text);
        }
    }
}
