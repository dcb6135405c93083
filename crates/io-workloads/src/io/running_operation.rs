//! One operation of one thread while it runs: which record is next, what its
//! buffer must hold, what is noted afterwards. Nothing here allocates, locks,
//! formats or calls the system.

use super::operation::{Operation, Order};
use model::Histogram;
use std::sync::atomic::{AtomicBool, Ordering};
use workload_parts::storage::pattern::{Fault, Pattern};

/// What is known of each record of a thread's region.
#[derive(Debug)]
pub(super) struct Book {
    /// Which of the writing operations wrote it last; 0 is none.
    pub generation: Vec<u8>,
    /// The number of the operation that touched it last.
    touched: Vec<u8>,
}

impl Book {
    pub(super) fn new(records: u32) -> Self {
        Self { generation: vec![0; records as usize], touched: vec![0; records as usize] }
    }
}

/// How closely records that were read are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Not at all.
    No,
    /// The first stamp of each.
    Stamp,
    /// Every byte.
    Full,
}

/// One pass over a thread's records.
pub(super) struct Turn<'a> {
    pub order: Order<'a>,
    pub is_write: bool,
    pub record: u64,
    pub records: u32,
    /// Where the region begins in its file or device.
    pub start: u64,
    pub pattern: Pattern,
    pub check: Check,
    /// What records are written as.
    pub generation: u8,
    /// The operation's number, from 1; 0 is an untimed pass, of which nothing is noted.
    pub number: u8,
    pub book: &'a mut Book,
    /// Set when another thread has finished and all must stop.
    pub stop: &'a AtomicBool,
    pub tally: Tally,
    /// How many records have been begun.
    pub index: u32,
}

/// What a pass has done.
#[derive(Debug, Default, Clone)]
pub(super) struct Tally {
    /// Records moved.
    pub records: u64,
    /// Records that had been touched before in the same pass.
    pub repeated: u64,
    /// Records that were not what was written there.
    pub faults: u64,
    /// The first of them.
    pub first_fault: Option<Fault>,
    /// Time of each operation.
    pub latency: Histogram,
}

impl<'a> Turn<'a> {
    /// A pass over all records in this order; the other fields are its caller's to set.
    pub(super) fn new(
        operation: Operation,
        permutation: &'a [u32],
        pattern: Pattern,
        book: &'a mut Book,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            order: operation.order(permutation),
            is_write: operation.is_write(),
            record: 0,
            records: u32::try_from(book.generation.len()).unwrap_or(u32::MAX),
            start: 0,
            pattern,
            check: Check::No,
            generation: 0,
            number: 0,
            book,
            stop,
            tally: Tally::default(),
            index: 0,
        }
    }

    /// The record to move next; none at the end or where all must stop.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.index == self.records || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let record = self.order.nth(self.index, self.records);
        self.index += 1;
        Some(record)
    }

    /// Whether every record has been begun.
    pub(super) fn is_complete(&self) -> bool {
        self.index == self.records
    }

    /// Where a record lies in the file or device.
    #[inline]
    pub(super) fn place(&self, record: u32) -> u64 {
        self.start + self.offset(record)
    }

    #[inline]
    fn offset(&self, record: u32) -> u64 {
        u64::from(record) * self.record
    }

    /// Makes the buffer ready; not part of the operation's time.
    #[inline]
    pub(super) fn before(&self, record: u32, words: &mut [u64]) {
        match (self.check, self.is_write) {
            (Check::No, _) => {}
            (_, true) => self.pattern.stamp(words, self.offset(record), self.generation),
            (Check::Stamp, false) => words[0] = 0,
            (Check::Full, false) => Pattern::poison(words),
        }
    }

    /// Notes an operation that has ended, and looks at what was read.
    #[inline]
    pub(super) fn after(&mut self, record: u32, words: &mut [u64], latency_ns: u64) {
        self.tally.records += 1;
        let place = record as usize;
        if self.number != 0 {
            self.tally.latency.record(latency_ns);
            self.tally.repeated += u64::from(self.book.touched[place] == self.number);
            self.book.touched[place] = self.number;
        }
        if self.is_write {
            self.book.generation[place] = self.generation;
            return;
        }
        let (offset, generation) = (self.offset(record), self.book.generation[place]);
        let is_right = match self.check {
            Check::No => true,
            Check::Stamp => self.pattern.agrees(words, offset, generation),
            Check::Full => self.pattern.check(words, offset, generation).is_none(),
        };
        if !is_right {
            self.fault(words, offset, generation);
        }
    }

    #[cold]
    fn fault(&mut self, words: &mut [u64], offset: u64, generation: u8) {
        self.tally.faults += 1;
        if self.tally.first_fault.is_none() {
            self.tally.first_fault = self.pattern.check(words, offset, generation);
        }
        // What is written from this buffer later must be right again.
        self.pattern.fill(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_moves_nothing_is_found_though_the_buffer_holds_the_right_record() {
        let pattern = Pattern::new(7, 0);
        for check in [Check::Stamp, Check::Full] {
            let mut book = Book::new(1);
            book.generation[0] = 1;
            let stop = AtomicBool::new(false);
            let mut turn = Turn::new(Operation::Read, &[], pattern, &mut book, &stop);
            (turn.record, turn.check) = (4096, check);
            let mut words = vec![0; 512];
            pattern.fill(&mut words);
            pattern.stamp(&mut words, 0, 1);
            let record = turn.next().unwrap();
            turn.after(record, &mut words.clone(), 1);
            assert_eq!(turn.tally.faults, 0, "the record itself is right");
            turn.before(record, &mut words);
            turn.after(record, &mut words, 1);
            assert_eq!(turn.tally.faults, 1, "{check:?}");
        }
    }

    #[test]
    fn a_record_that_is_moved_twice_is_counted() {
        let mut book = Book::new(2);
        let stop = AtomicBool::new(false);
        let mut turn = Turn::new(Operation::Write, &[], Pattern::new(7, 0), &mut book, &stop);
        (turn.record, turn.number) = (512, 1);
        for record in [0, 1, 1] {
            turn.after(record, &mut [0; 64], 5);
        }
        assert_eq!((turn.tally.records, turn.tally.repeated), (3, 1));
        assert_eq!(turn.tally.latency.count(), 3);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(turn.next(), None, "all must stop");
        assert!(!turn.is_complete());
    }
}
