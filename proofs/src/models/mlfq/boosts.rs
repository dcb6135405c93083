//! All boosts of a trace: which of them an operation may have seen, and of which tasks a boost
//! leaves nothing certain, because others took them while it moved them.

use crate::trace::{OrderedEvent, OrderedEventKind, OrderedTrace};
use std::collections::HashSet;

/// EVENT_BOOST: pid went to the top, or all that do not wait.
pub(super) const BOOST: OrderedEventKind = OrderedEventKind::Own(112);
/// Clocks of two CPUs may differ by this much (replay::span).
pub(super) const SLACK_NS: u64 = 1_000;

/// All go to the top.
pub(super) struct Boost {
    pub number: u64,
    /// The clock that it was due by.
    pub at: u64,
    pub begin_ns: u64,
    /// When it had been recorded: others may record what they do meanwhile.
    pub recorded_ns: u64,
    /// When all that waited had been moved.
    over_ns: u64,
    /// Those that another CPU had to do with while they were moved: what it made of them may
    /// be told before the move or after it, whichever came first.
    contested: Vec<i32>,
}

/// In their order.
pub(super) struct Boosts(Vec<Boost>);

impl Boosts {
    /// The events for all, with what those for each tell of them.
    pub(super) fn of(trace: &OrderedTrace) -> Self {
        let numbered = trace.events.iter().enumerate();
        let all = numbered.filter(|(_, event)| event.kind == BOOST && event.pid == 0);
        Self(all.map(|(index, event)| Boost::of(event, &trace.events[index + 1..])).collect())
    }

    /// The last that was due by then.
    pub(super) fn last_by(&self, at: u64) -> Option<&Boost> {
        self.last(|boost| boost.at <= at)
    }

    /// The last that surely was over when an operation began.
    pub(super) fn last_over(&self, begin: u64) -> Option<&Boost> {
        self.last(|boost| boost.over_ns.saturating_add(SLACK_NS) < begin)
    }

    /// The least and the greatest number of boosts that there may have been when an operation
    /// looked.
    pub(super) fn seen_by(&self, event: &OrderedEvent) -> (u64, u64) {
        let begun = self.last(|boost| boost.begin_ns <= event.end_ns + SLACK_NS);
        let number = |boost: Option<&Boost>| boost.map_or(0, |boost| boost.number);
        (number(self.last_over(event.begin_ns)), number(begun))
    }

    /// Tasks of which nothing is certain from this boost on, and until when it moves them.
    pub(super) fn contested(&self, event: &OrderedEvent) -> Vec<(i32, u64)> {
        let this = self.0.iter().filter(|boost| boost.number == event.b);
        this.flat_map(|boost| boost.contested.iter().map(|pid| (*pid, boost.over_ns))).collect()
    }

    fn last(&self, is_before: impl Fn(&Boost) -> bool) -> Option<&Boost> {
        self.0[..self.0.partition_point(is_before)].last()
    }
}

impl Boost {
    fn of(event: &OrderedEvent, later: &[OrderedEvent]) -> Self {
        let (mut others, mut contested, mut over_ns) = (HashSet::new(), Vec::new(), u64::MAX);
        for later in later {
            let is_move = later.kind == BOOST && later.begin_ns == event.begin_ns;
            if later.cpu != event.cpu {
                others.insert(later.pid);
            } else if later.kind == OrderedEventKind::Dispatch {
                over_ns = later.end_ns;
                break;
            } else if is_move && others.contains(&later.pid) {
                contested.push(later.pid);
            }
        }
        let (number, at, begin_ns, recorded_ns) = (event.b, event.a, event.begin_ns, event.end_ns);
        Self { number, at, begin_ns, recorded_ns, over_ns, contested }
    }
}
