//! What became of the requests of a run, by kind.

use model::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Different reasons that are told apart for one kind; the rest is one.
const MOST_REASONS: usize = 20;
const OTHER_REASONS: &str = "for other reasons";

/// What became of all requests of a kind, measured or not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fates {
    /// Answers by their status.
    pub(crate) answered: BTreeMap<u16, u64>,
    /// Requests that were sent and got no answer: nobody knows whether they were carried out.
    pub(crate) lost: u64,
}

impl Fates {
    /// Answers with this status.
    pub(crate) fn with(&self, status: u16) -> u64 {
        self.answered.get(&status).copied().unwrap_or(0)
    }
}

impl AddAssign<&Self> for Fates {
    fn add_assign(&mut self, more: &Self) {
        for (status, count) in &more.answered {
            *self.answered.entry(*status).or_default() += count;
        }
        self.lost += more.lost;
    }
}

/// The requests of one kind that belong to the measurement.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// From when a right answer's request was due, and from when it was sent.
    pub(super) latency: Histogram,
    pub(super) service_time: Histogram,
    pub(super) failures: BTreeMap<String, u64>,
    /// Of all requests of the kind.
    pub(super) fates: Fates,
}

impl Outcomes {
    /// A right answer.
    #[inline]
    pub(super) fn answered(&mut self, latency_ns: u64, service_ns: u64) {
        self.latency.record(latency_ns);
        self.service_time.record(service_ns);
    }

    /// No answer, or a wrong one.
    pub(super) fn failed(&mut self, why: String) {
        if let Some(count) = self.failures.get_mut(&why) {
            *count += 1;
            return;
        }
        let is_new_one_told = self.failures.len() < MOST_REASONS;
        let why = if is_new_one_told { why } else { OTHER_REASONS.to_owned() };
        *self.failures.entry(why).or_default() += 1;
    }

    fn failed_count(&self) -> u64 {
        self.failures.values().sum()
    }
}

/// All of a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By kind, in the scenario's order.
    pub(super) kinds: Vec<Outcomes>,
    /// How much later than due the generator saw that a request was due.
    pub(super) lateness: Histogram,
    /// How much later than due a request got a connection.
    pub(super) waited: Histogram,
    /// Right answers that came within the measured time, whenever they were asked for.
    pub(super) answers_in_time: u64,
    /// Measured requests that were due.
    pub(super) offered: u64,
    /// All requests that were sent, measured or not, and the generator's CPU time for them.
    pub(super) sent: u64,
    pub(super) cpu_ns: u64,
}

impl Tally {
    /// Without requests.
    pub(super) fn new(kinds: usize) -> Self {
        Self { kinds: (0..kinds).map(|_| Outcomes::default()).collect(), ..Self::default() }
    }

    /// Measured requests that got no right answer.
    pub(super) fn failed(&self) -> u64 {
        self.kinds.iter().map(Outcomes::failed_count).sum()
    }

    /// Measured requests that got a right answer.
    pub(super) fn answered(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.latency.count()).sum()
    }

    /// The latencies of all kinds.
    pub(super) fn latency(&self) -> Histogram {
        Histogram::merged(self.kinds.iter().map(|kind| &kind.latency))
    }

    /// The same from when requests were sent.
    pub(super) fn service_time(&self) -> Histogram {
        Histogram::merged(self.kinds.iter().map(|kind| &kind.service_time))
    }

    /// Why requests failed: how many, kind, reason; most first.
    pub(super) fn failures(&self, names: &[&str]) -> Vec<(u64, String, String)> {
        let kinds = self.kinds.iter().zip(names);
        let mut all: Vec<_> = kinds
            .flat_map(|(kind, name)| {
                kind.failures.iter().map(|(why, count)| (*count, (*name).to_owned(), why.clone()))
            })
            .collect();
        all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2))));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_counted_once() {
        let mut tally = Tally::new(2);
        tally.kinds[0].answered(2000, 1000);
        for why in ["status 500", "status 404", "status 500"] {
            tally.kinds[1].failed(why.to_owned());
        }
        assert_eq!((tally.answered(), tally.failed()), (1, 3));
        assert_eq!(tally.latency().max(), Some(2000));
        assert_eq!(tally.service_time().max(), Some(1000));
        let told = |count, why: &str| (count, "b".to_owned(), why.to_owned());
        assert_eq!(tally.failures(&["a", "b"]), [told(2, "status 500"), told(1, "status 404")]);
    }

    #[test]
    fn fates_of_several_loads_add_up() {
        let one = Fates { answered: [(200, 3), (409, 1)].into(), lost: 2 };
        let mut all = one.clone();
        all += &Fates { answered: [(200, 4)].into(), lost: 1 };
        assert_eq!((all.with(200), all.with(409), all.with(201), all.lost), (7, 1, 0, 3));
    }

    #[test]
    fn reasons_without_end_are_one_reason() {
        let mut outcomes = Outcomes::default();
        for number in 0..100 {
            outcomes.failed(format!("reason {number}"));
        }
        assert_eq!(outcomes.failures.len(), MOST_REASONS + 1);
        assert_eq!(outcomes.failed_count(), 100);
        assert_eq!(outcomes.failures[OTHER_REASONS], 80);
    }
}
