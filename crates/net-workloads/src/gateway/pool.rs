//! Memory of frames that is used again instead of being given back to the allocator.

use super::frame::Frame;
use crossbeam_queue::ArrayQueue;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory that all workers share: a frame that one took another may give back.
pub(super) struct Pool {
    free: Option<ArrayQueue<Vec<u8>>>,
    misses: AtomicU64,
}

impl Pool {
    /// None: every frame is allocated and freed.
    pub(super) fn none() -> Self {
        Self { free: None, misses: AtomicU64::new(0) }
    }

    /// Room for `count` frames of at most `length` bytes, all of it touched.
    pub(super) fn new(count: usize, length: usize) -> Self {
        let free = ArrayQueue::new(count.max(1));
        for _ in 0..count {
            // Zeroes of the allocator's own would be pages that are not there yet.
            let mut bytes = vec![1; length];
            bytes.clear();
            let _ = free.push(bytes);
        }
        Self { free: Some(free), misses: AtomicU64::new(0) }
    }

    /// A copy in memory of the pool; in memory of the allocator where there is no pool, or none
    /// of it is free.
    pub(super) fn copy(&self, bytes: &[u8]) -> Vec<u8> {
        let Some(free) = &self.free else { return bytes.to_vec() };
        let Some(mut room) = free.pop() else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return bytes.to_vec();
        };
        room.clear();
        room.extend_from_slice(bytes);
        room
    }

    /// Takes a frame's memory back.
    pub(super) fn give(&self, frame: Frame) {
        if let Some(free) = &self.free {
            // Where it is full, the memory was the allocator's.
            let _ = free.push(frame.into_bytes());
        }
    }

    /// Frames for which it had no room.
    pub(super) fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_was_given_back_is_used_again_and_a_miss_is_counted() {
        let pool = Pool::new(2, 200);
        let first = pool.copy(&[1; 150]);
        let place = first.as_ptr();
        let second = pool.copy(&[2; 150]);
        assert_eq!(pool.misses(), 0);
        let third = pool.copy(&[3; 150]);
        assert_eq!((pool.misses(), third.len()), (1, 150));
        pool.give(Frame::from_bytes(first));
        let again = pool.copy(&[4; 100]);
        assert_eq!((again.as_ptr(), again.as_slice()), (place, &[4; 100][..]));
        pool.give(Frame::from_bytes(second));
        pool.give(Frame::from_bytes(third));
        assert_eq!(Pool::none().copy(&[5]), [5]);
    }
}
