//! Which of a sequence of datagrams came, came again, and came after a later one.

/// How far back a repetition is known from a late first arrival, in datagrams.
///
/// RFC 4303 asks an anti-replay window for 32 at least; this one covers a flood's socket buffers.
const WINDOW: u64 = 1 << 16;
const BITS: u64 = u64::BITS as u64;

/// The accounts of one sequence. Invariant: `distinct + repeated + stale` is what came.
#[derive(Debug, Clone)]
pub(super) struct Sequence {
    /// One more than the highest that came.
    next: u64,
    /// Which of the last [`WINDOW`] came, a bit each.
    came: Vec<u64>,
    /// That came, each counted once.
    pub(super) distinct: u64,
    /// That had come before.
    pub(super) repeated: u64,
    /// That came after a higher one (RFC 4737, type-P-reordered), each counted once.
    pub(super) reordered: u64,
    /// So late that nobody knows whether they had come: counted as lost.
    pub(super) stale: u64,
}

impl Sequence {
    pub(super) fn new() -> Self {
        let words = usize::try_from(WINDOW / BITS).unwrap_or(1);
        Self { next: 0, came: vec![0; words], distinct: 0, repeated: 0, reordered: 0, stale: 0 }
    }

    /// This one came. Costs as much as the gap before it, and no more than the window.
    #[inline]
    pub(super) fn note(&mut self, number: u64) {
        if number >= self.next {
            // Those between have not come: their places still hold what came a window earlier.
            let gap = (number - self.next).min(WINDOW - 1);
            for skipped in number - gap..number {
                self.forget(skipped);
            }
            self.next = number.saturating_add(1);
            self.mark(number);
            self.distinct += 1;
        } else if self.next - number > WINDOW {
            self.stale += 1;
        } else if self.has(number) {
            self.repeated += 1;
        } else {
            self.mark(number);
            self.distinct += 1;
            self.reordered += 1;
        }
    }

    fn place(number: u64) -> (usize, u64) {
        let place = number % WINDOW;
        (usize::try_from(place / BITS).unwrap_or(0), 1 << (place % BITS))
    }

    fn mark(&mut self, number: u64) {
        let (word, bit) = Self::place(number);
        self.came[word] |= bit;
    }

    fn forget(&mut self, number: u64) {
        let (word, bit) = Self::place(number);
        self.came[word] &= !bit;
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.came[word] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn check(numbers: &[u64], distinct: u64, repeated: u64, reordered: u64, stale: u64) {
        let mut sequence = Sequence::new();
        numbers.iter().for_each(|number| sequence.note(*number));
        let counted = (sequence.distinct, sequence.repeated, sequence.reordered, sequence.stale);
        assert_eq!(counted, (distinct, repeated, reordered, stale), "{numbers:?}");
    }

    #[test]
    fn loss_repetition_and_order_are_told_apart() {
        check(&[], 0, 0, 0, 0);
        check(&[0, 1, 2, 3], 4, 0, 0, 0);
        // One is lost: nothing is reordered by that.
        check(&[0, 2, 3], 3, 0, 0, 0);
        // One came late, once.
        check(&[0, 2, 1, 3], 4, 0, 1, 0);
        check(&[0, 2, 1, 1, 3, 3], 4, 2, 1, 0);
        check(&[5, 4, 3], 3, 0, 2, 0);
        check(&[u64::MAX, u64::MAX - 1], 2, 0, 1, 0);
    }

    #[test]
    fn what_is_older_than_the_window_is_not_taken_for_an_arrival() {
        check(&[0, WINDOW, 0], 2, 0, 0, 1);
        check(&[1, WINDOW, 1], 2, 1, 0, 0);
        // A jump over the whole window forgets it.
        check(&[0, 3 * WINDOW, 2 * WINDOW + 1], 3, 0, 1, 0);
    }

    proptest! {
        /// Against the slow way: remembering every number.
        #[test]
        fn the_window_counts_as_an_endless_memory_does(
            numbers in proptest::collection::vec(0_u64..3000, 0..400),
            stride in 1_u64..20,
        ) {
            let mut sequence = Sequence::new();
            let (mut seen, mut repeated, mut reordered) = (BTreeSet::new(), 0, 0);
            for number in numbers.into_iter().map(|number| number * stride) {
                sequence.note(number);
                let is_late = seen.last().is_some_and(|highest| number < *highest);
                if !seen.insert(number) {
                    repeated += 1;
                } else if is_late {
                    reordered += 1;
                }
            }
            prop_assert_eq!(sequence.distinct, seen.len() as u64);
            prop_assert_eq!(sequence.repeated, repeated);
            prop_assert_eq!(sequence.reordered, reordered);
            prop_assert_eq!(sequence.stale, 0);
        }
    }
}
