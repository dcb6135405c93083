//! What one transfer costs besides the transfer: the price of our own loop.

use super::engine::{Null, drive};
use super::operation::{Operation, permutation};
use super::turn::{Book, Check, Turn};
use crate::storage::buffer::Buffer;
use crate::storage::pattern::Pattern;
use std::sync::atomic::AtomicBool;

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
    let pattern = Pattern::new(1, 0);
    let permutation = permutation(&[Operation::RandomWrite], RECORDS, 1, 0);
    let mut book = Book::new(RECORDS);
    let mut buffer = Buffer::new(RECORD as usize, 0)?;
    pattern.fill(buffer.words_mut());
    let stop = AtomicBool::new(false);
    let mut best_ns = u64::MAX;
    for number in 1..=BATCHES {
        let mut turn =
            Turn::new(Operation::RandomWrite, &permutation, pattern, &mut book, &stop);
        turn.record = RECORD;
        turn.check = if is_verified { Check::Stamp } else { Check::No };
        turn.number = number as u8;
        turn.generation = number as u8;
        let start_ns = sys::monotonic_ns();
        drive(&mut Null, &mut turn, &mut buffer)
            .map_err(|failure| failure.error.to_string())?;
        best_ns = best_ns.min(sys::monotonic_ns() - start_ns);
        assert_eq!(turn.tally.records, u64::from(RECORDS), "a pass is over all records");
    }
    Ok(best_ns as f64 / f64::from(RECORDS))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_transfer_has_a_cost_and_stamping_is_part_of_it() {
        let [plain_ns, verified_ns] = [false, true].map(|is_verified| {
            super::io_transfer_cost(is_verified).unwrap()
        });
        assert!(plain_ns > 1.0 && plain_ns.is_finite(), "{plain_ns}");
        assert!(verified_ns > 1.0 && verified_ns.is_finite(), "{verified_ns}");
    }
}
