//! What goes wrong while one process runs, and at which of its operations.

use crate::random::Random;
use libc::{EIO, ENOSPC, EPERM};
use std::collections::BTreeMap;

/// What an operation does, as far as it decides what can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Answers yes or no, or takes a lock: it can end a process and cannot fail.
    Ask,
    /// Opens, reads, lists.
    Look,
    /// Makes or lengthens something.
    Grow,
    /// Renames, removes, cuts.
    Alter,
    /// Waits until something is stored.
    Sync,
    /// Writes a setting of the kernel.
    Set,
}

/// What happens to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is done.
    Done,
    /// It fails with this number of errno(3).
    Fails(i32),
    /// The process ends before it.
    DiesBefore,
    /// The process ends in the middle of it.
    DiesWithin,
    /// The process ends after it.
    DiesAfter,
}

/// How a process can end at an operation.
const ENDS: [Fate; 3] = [Fate::DiesBefore, Fate::DiesWithin, Fate::DiesAfter];
/// Operations of which there is a sync among them, about.
const OPERATIONS_OF_SYNC: usize = 8;
/// Settings that one process writes, about.
const SETTINGS_OF_PROCESS: usize = 6;

/// What goes wrong while a process runs. Operations are counted from 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    /// The process ends at this operation, and how.
    end: Option<(u64, Fate)>,
    /// The process ends at this one of its operations of a kind, and how.
    end_at: Option<(Operation, u64, Fate)>,
    errors: BTreeMap<u64, i32>,
    /// From this operation on the disk is full.
    full_from: Option<u64>,
    /// From this operation on no setting of the kernel can be written.
    refused_from: Option<u64>,
    count: u64,
}

impl Faults {
    /// Those of one process that makes about so many operations.
    pub(crate) fn drawn(random: &mut Random, operations: usize) -> Self {
        let mut faults = Self::default();
        // Half of them early, where most processes come.
        let operations = operations >> random.below(4);
        if !random.one_in(4) {
            if random.one_in(4) {
                faults.end_at_sync(random, operations);
            } else {
                faults.end = Some((random.below(operations) as u64 + 1, *random.pick(&ENDS)));
            }
        }
        for _ in 0..random.below(3) {
            let at = random.below(operations) as u64 + 1;
            faults.errors.insert(at, *random.pick(&[ENOSPC, EIO, EPERM]));
        }
        if random.one_in(8) {
            faults.full_from = Some(random.below(operations) as u64 + 1);
        }
        if random.one_in(8) {
            faults.refused_from = Some(random.below(operations) as u64 + 1);
        }
        faults
    }

    /// One fault at most, of a process that makes about so many operations: what comes after it is
    /// known.
    pub(crate) fn single(random: &mut Random, operations: usize) -> Self {
        let mut faults = Self::default();
        let at = random.below(operations) as u64 + 1;
        match random.below(5) {
            0 => {}
            1 => {
                faults.errors.insert(at, *random.pick(&[ENOSPC, EIO, EPERM]));
            }
            2 => faults.end = Some((at, *random.pick(&ENDS))),
            3 => faults.end_at_sync(random, operations),
            _ => {
                let at = random.below(SETTINGS_OF_PROCESS) as u64 + 1;
                faults.end_at = Some((Operation::Set, at, *random.pick(&ENDS)));
            }
        }
        faults
    }

    /// The process ends at a sync: what was written and not synced is lost with the power.
    fn end_at_sync(&mut self, random: &mut Random, operations: usize) {
        let at = random.below(operations / OPERATIONS_OF_SYNC) as u64 + 1;
        self.end_at = Some((Operation::Sync, at, *random.pick(&ENDS)));
    }

    /// This operation fails, and no other.
    pub(crate) fn failing_at(operation: u64) -> Self {
        Self::failing_with(operation, EIO)
    }

    /// The same with this number of errno(3), where one is that the operation can have.
    pub(crate) fn failing_with(operation: u64, number: i32) -> Self {
        Self { errors: BTreeMap::from([(operation, number)]), ..Self::default() }
    }

    /// This operation and the next one fail.
    pub(crate) fn failing_at_two(operation: u64) -> Self {
        let errors = [operation, operation + 1].map(|at| (at, EIO));
        Self { errors: BTreeMap::from(errors), ..Self::default() }
    }

    /// The disk is full from the beginning.
    pub(crate) fn full() -> Self {
        Self { full_from: Some(1), ..Self::default() }
    }

    /// The process ends before this operation.
    pub(crate) fn ending_before(operation: u64) -> Self {
        Self { end: Some((operation, Fate::DiesBefore)), ..Self::default() }
    }

    /// What happens to the next operation; `has_space` where it needs none that a full disk lacks.
    pub(crate) fn next(&mut self, operation: Operation, has_space: bool) -> Fate {
        self.count += 1;
        if let Some((_, fate)) = self.end.filter(|(at, _)| *at == self.count) {
            return fate;
        }
        if let Some((kind, left, fate)) = &mut self.end_at
            && *kind == operation
        {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return *fate;
            }
        }
        if operation == Operation::Ask {
            return Fate::Done;
        }
        let needs_space = operation == Operation::Grow && !has_space;
        if needs_space && self.full_from.is_some_and(|at| at <= self.count) {
            return Fate::Fails(ENOSPC);
        }
        let is_refused = self.refused_from.is_some_and(|at| at <= self.count);
        if operation == Operation::Set && is_refused {
            return Fate::Fails(EPERM);
        }
        match self.errors.get(&self.count) {
            Some(&ENOSPC) if !needs_space => Fate::Fails(EIO),
            Some(&EPERM) if operation == Operation::Sync => Fate::Fails(EIO),
            Some(number) => Fate::Fails(*number),
            None => Fate::Done,
        }
    }

    /// How many operations there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}
