//! The seven operations and the order in which each visits the records.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One of iozone's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Write,
    Rewrite,
    Read,
    Reread,
    ReverseRead,
    RandomRead,
    RandomWrite,
}

impl Operation {
    /// All of them, in iozone's order.
    pub(super) const ALL: [Operation; 7] = [
        Operation::Write,
        Operation::Rewrite,
        Operation::Read,
        Operation::Reread,
        Operation::ReverseRead,
        Operation::RandomRead,
        Operation::RandomWrite,
    ];

    /// Its word in parameters and metrics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Operation::Write => "write",
            Operation::Rewrite => "rewrite",
            Operation::Read => "read",
            Operation::Reread => "reread",
            Operation::ReverseRead => "reverse_read",
            Operation::RandomRead => "random_read",
            Operation::RandomWrite => "random_write",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    pub(super) fn is_write(self) -> bool {
        matches!(self, Operation::Write | Operation::Rewrite | Operation::RandomWrite)
    }

    /// The order of its records.
    pub(super) fn order(self, permutation: &[u32]) -> Order<'_> {
        match self {
            Operation::ReverseRead => Order::Backward,
            Operation::RandomRead | Operation::RandomWrite => Order::Permuted(permutation),
            _ => Order::Forward,
        }
    }

    fn is_random(self) -> bool {
        matches!(self, Operation::RandomRead | Operation::RandomWrite)
    }
}

/// In which order records are visited.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order<'a> {
    Forward,
    Backward,
    Permuted(&'a [u32]),
}

impl Order<'_> {
    /// The record that is visited as the nth of `records`.
    #[inline]
    pub(super) fn nth(&self, index: u32, records: u32) -> u32 {
        match self {
            Order::Forward => index,
            Order::Backward => records - 1 - index,
            Order::Permuted(order) => order[index as usize],
        }
    }
}

/// All record numbers in an order drawn from the seed (Fisher and Yates, as Durstenfeld 1964
/// writes it); empty where no operation is random.
pub(super) fn permutation(
    operations: &[Operation],
    records: u32,
    seed: u64,
    thread: u32,
) -> Vec<u32> {
    if !operations.iter().any(|operation| operation.is_random()) {
        return Vec::new();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(thread));
    let mut order: Vec<u32> = (0..records).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.random_range(0..=last));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_visits_every_record_once() {
        let permutation = permutation(&Operation::ALL, 1000, 7, 0);
        for operation in Operation::ALL {
            let order = operation.order(&permutation);
            let mut visited: Vec<u32> = (0..1000).map(|index| order.nth(index, 1000)).collect();
            if operation == Operation::ReverseRead {
                assert_eq!(visited[..2], [999, 998]);
            }
            visited.sort_unstable();
            assert_eq!(visited, (0..1000).collect::<Vec<u32>>(), "{}", operation.name());
        }
    }

    #[test]
    fn the_permutation_is_the_seeds_and_the_threads() {
        let of = |seed, thread| permutation(&[Operation::RandomRead], 1000, seed, thread);
        assert_eq!(of(7, 0), of(7, 0));
        assert_ne!(of(7, 0), of(8, 0));
        assert_ne!(of(7, 0), of(7, 1));
        assert_ne!(of(7, 0), (0..1000).collect::<Vec<u32>>());
        assert_eq!(permutation(&[Operation::Read], 1000, 7, 0), Vec::<u32>::new());
    }

    #[test]
    fn names_are_read_back() {
        for operation in Operation::ALL {
            assert_eq!(Operation::of(operation.name()), Some(operation));
        }
        assert_eq!(Operation::of("erase"), None);
    }
}
