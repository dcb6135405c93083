//! What one transfer costs besides the transfer: the price of our own loop.

use super::engine::{Null, drive};
use super::operation::{Operation, permutation};
use super::running_operation::{Book, Check, Turn};
use std::sync::atomic::AtomicBool;
use workload_parts::storage::buffer::Buffer;
use workload_parts::storage::pattern::Pattern;

/// Bytes of a transfer: the smallest that is usual, where the loop weighs most.
const RECORD: u64 = 4096;
const RECORDS: u32 = 1 << 16;
const BATCHES: usize = 20;

/// The time, in nanoseconds, that `io` adds to one transfer of 4 KiB in random
/// order: two readings of the clock, histogram and bookkeeping, and with
/// `is_verified` the stamps of what is written. The best of several batches,
/// because anything else that runs only adds to it.
///
/// # Errors
/// When there is no memory for it, in one sentence.
pub fn io_transfer_cost(is_verified: bool) -> Result<f64, String> {
    let (mut loops, mut best_ns) = (Loop::new()?, u64::MAX);
    for number in 1..=BATCHES {
        let start_ns = sys::monotonic_ns();
        let moved = loops.batch(number as u8, is_verified)?;
        best_ns = best_ns.min(sys::monotonic_ns() - start_ns);
        assert_eq!(moved, u64::from(RECORDS), "a pass is over all records");
    }
    Ok(best_ns as f64 / f64::from(RECORDS))
}

/// What the loop works on.
struct Loop {
    pattern: Pattern,
    permutation: Vec<u32>,
    book: Book,
    buffer: Buffer,
    stop: AtomicBool,
}

impl Loop {
    fn new() -> Result<Self, String> {
        let pattern = Pattern::new(1, 0);
        let mut buffer = Buffer::new(RECORD as usize, 0)?;
        pattern.fill(buffer.words_mut());
        Ok(Self {
            pattern,
            permutation: permutation(&[Operation::RandomWrite], RECORDS, 1, 0),
            book: Book::new(RECORDS),
            buffer,
            stop: AtomicBool::new(false),
        })
    }

    /// Writes all records to nowhere; says how many those were.
    fn batch(&mut self, number: u8, is_verified: bool) -> Result<u64, String> {
        let Self { pattern, permutation, book, buffer, stop } = self;
        let mut turn = Turn::new(Operation::RandomWrite, permutation, *pattern, book, stop);
        turn.record = RECORD;
        turn.check = if is_verified { Check::Stamp } else { Check::No };
        turn.number = number;
        turn.generation = number;
        drive(&mut Null, &mut turn, buffer).map_err(|failure| failure.error.to_string())?;
        Ok(turn.tally.records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_has_a_cost() {
        for is_verified in [false, true] {
            let cost_ns = io_transfer_cost(is_verified).unwrap();
            assert!(cost_ns > 1.0 && cost_ns.is_finite(), "{cost_ns}");
        }
    }

    #[test]
    fn stamping_is_part_of_a_verified_transfer_and_of_no_other() {
        let mut loops = Loop::new().unwrap();
        let filled = loops.buffer.bytes().to_vec();
        loops.batch(1, false).unwrap();
        assert!(loops.buffer.bytes() == filled, "nothing was stamped");
        loops.batch(2, true).unwrap();
        let last = u64::from(loops.permutation[RECORDS as usize - 1]) * RECORD;
        assert_eq!(loops.pattern.check(loops.buffer.words_mut(), last, 2), None);
    }
}
