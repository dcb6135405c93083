//! In which order queues changed: each change has a number that was given below the queue's lock,
//! and what one CPU changed may be told after what another did later.

use super::queues::CHANGE;
use crate::trace::{OrderedEvent, OrderedTrace};
use std::collections::{BTreeMap, HashSet};

/// The order in which the queues changed, which their locks gave a number.
pub(super) struct Versions {
    /// By queue and version, what is not taken yet.
    left: BTreeMap<(i16, u64), usize>,
    taken: HashSet<usize>,
}

impl Versions {
    pub(super) fn of(trace: &OrderedTrace) -> Self {
        let all = trace.events.iter().enumerate().filter(|(_, event)| event.kind == CHANGE);
        let left = all.map(|(index, event)| ((event.target, event.b >> 32), index)).collect();
        Self { left, taken: HashSet::new() }
    }

    /// Changes of the same queue that came before this one and are told after it.
    pub(super) fn before(&mut self, index: usize, event: &OrderedEvent) -> Vec<usize> {
        if event.kind != CHANGE || self.is_taken(index) {
            return Vec::new();
        }
        let own = (event.target, event.b >> 32);
        let earlier = self.left.range((event.target, 0)..own);
        let (keys, indices): (Vec<(i16, u64)>, Vec<usize>) =
            earlier.map(|(key, index)| (*key, *index)).unzip();
        for key in keys.iter().chain([&own]) {
            self.left.remove(key);
        }
        self.taken.extend(&indices);
        indices
    }

    pub(super) fn is_taken(&self, index: usize) -> bool {
        self.taken.contains(&index)
    }
}
