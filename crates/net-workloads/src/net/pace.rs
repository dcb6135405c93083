//! When operations are due, and how late they were.

use model::Histogram;
use std::io;
use sys::monotonic_ns;

/// How long after the end an open loop may still send what was due before it.
const GRACE_NS: u64 = 10_000_000_000;

/// The span of a run and, in an open loop, the moments within it.
#[derive(Debug)]
pub(super) struct Pace {
    began_ns: u64,
    measured_from_ns: u64,
    ends_ns: u64,
    /// Between operations; none: each follows the one before it.
    gap_ns: Option<f64>,
    /// Of the next operation, counted from 0.
    number: u64,
    /// The place of this connection's first operation in the first gap, so that those of several
    /// do not fall together.
    offset_ns: f64,
    pub(super) lateness: Histogram,
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// When it is due; in a closed loop, when it was asked for.
    pub(super) due_ns: u64,
    /// Whether it belongs to the measurement.
    pub(super) is_measured: bool,
}

impl Pace {
    /// For the nth of so many connections that share a rate (0: none), from this moment on.
    pub(super) fn new(
        began_ns: u64,
        (warm_up_ns, duration_ns): (u64, u64),
        rate: u64,
        (index, connections): (u64, u64),
    ) -> Self {
        let gap_ns = (rate > 0).then(|| 1e9 * connections as f64 / rate as f64);
        let part = index as f64 / connections as f64;
        Self {
            began_ns,
            measured_from_ns: began_ns + warm_up_ns,
            ends_ns: began_ns + warm_up_ns + duration_ns,
            gap_ns,
            number: 0,
            offset_ns: gap_ns.unwrap_or(0.0) * part,
            lateness: Histogram::new(),
        }
    }

    /// Whether operations are due at moments, whatever became of those before.
    pub(super) fn is_open(&self) -> bool {
        self.gap_ns.is_some()
    }

    /// The next operation, none after the end. In an open loop it may be due later: nothing
    /// waits here.
    pub(super) fn peek(&self) -> Option<Turn> {
        let due_ns = match self.gap_ns {
            Some(gap_ns) => self.began_ns + (self.offset_ns + gap_ns * self.number as f64) as u64,
            None => monotonic_ns(),
        };
        let is_measured = due_ns >= self.measured_from_ns;
        (due_ns < self.ends_ns).then_some(Turn { due_ns, is_measured })
    }

    /// The operation of this turn begins at this moment.
    ///
    /// # Errors
    /// When it begins so late that the rate is not kept up with.
    #[inline]
    pub(super) fn begin(&mut self, turn: Turn, now_ns: u64) -> io::Result<()> {
        self.number += 1;
        if !self.is_open() {
            return Ok(());
        }
        if now_ns > self.ends_ns + GRACE_NS {
            let late = model::format_duration(now_ns - turn.due_ns);
            return Err(io::Error::other(format!(
                "an operation came {late} after it was due: this rate is more than both sides can do"
            )));
        }
        if turn.is_measured {
            self.lateness.record(now_ns.saturating_sub(turn.due_ns));
        }
        Ok(())
    }

    /// Waits for the next operation, and begins it; none after the end.
    ///
    /// # Errors
    /// As [`Self::begin`].
    #[inline]
    pub(super) fn next(&mut self) -> io::Result<Option<Turn>> {
        let Some(turn) = self.peek() else { return Ok(None) };
        if self.is_open() {
            workload_parts::instant::sleep_until(turn.due_ns);
            self.begin(turn, monotonic_ns())?;
        } else {
            self.number += 1;
        }
        Ok(Some(turn))
    }

    /// When the measured time begins.
    pub(super) fn measured_from_ns(&self) -> u64 {
        self.measured_from_ns
    }

    /// When nothing more is due.
    pub(super) fn ends_ns(&self) -> u64 {
        self.ends_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_loop_has_as_many_turns_as_its_rate_says() {
        const MS: u64 = 1_000_000;
        let began_ns = monotonic_ns();
        let mut all = 0;
        for index in 0..3 {
            let mut pace = Pace::new(began_ns, (10 * MS, 30 * MS), 3000, (index, 3));
            let (mut early, mut measured) = (0, 0);
            while let Some(turn) = pace.peek() {
                pace.begin(turn, turn.due_ns + 5).unwrap();
                if turn.is_measured { measured += 1 } else { early += 1 }
            }
            assert_eq!(pace.lateness.count(), measured);
            assert_eq!(pace.lateness.max(), Some(5));
            assert_eq!((early, measured), (10, 30));
            all += measured;
        }
        assert_eq!(all, 90);
    }

    #[test]
    fn a_rate_that_cannot_be_kept_up_with_is_an_error() {
        let mut pace = Pace::new(0, (0, 1_000_000_000), 10, (0, 1));
        let turn = pace.peek().unwrap();
        let error = pace.begin(turn, 12_000_000_000).unwrap_err();
        assert!(error.to_string().contains("12s after it was due"), "{error}");
    }

    #[test]
    fn a_closed_loop_ends_with_its_time() {
        let began_ns = monotonic_ns();
        let mut pace = Pace::new(began_ns, (0, 2_000_000), 0, (0, 1));
        while pace.next().unwrap().is_some() {}
        assert!(monotonic_ns() >= began_ns + 2_000_000);
        assert_eq!(pace.lateness.count(), 0);
        // A processor that others have may be gone for longer than a short one lasts.
        let mut pace = Pace::new(began_ns, (0, 3_600_000_000_000), 0, (0, 1));
        assert!((0..3).all(|_| pace.next().unwrap().is_some()));
    }
}
