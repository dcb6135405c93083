//! A word that tasks of one process wait on: futex(2), without the spinning
//! that `std` and most lock libraries do before they sleep.

use rustix::thread::futex::{self, Flags};
use std::sync::atomic::{AtomicU32, Ordering};

/// Waits while `word` holds `value`; may return early, as futex(2) may.
#[inline]
pub fn wait(word: &AtomicU32, value: u32) {
    let _ = futex::wait(word, Flags::PRIVATE, value, None);
}

/// Wakes up to `count` waiters.
#[inline]
pub fn wake(word: &AtomicU32, count: u32) {
    let _ = futex::wake(word, Flags::PRIVATE, count);
}

/// Wakes every waiter.
pub fn wake_all(word: &AtomicU32) {
    wake(word, i32::MAX.cast_unsigned());
}

/// Nobody has posted since [`reset`].
const BLOCKED: u32 = 0;
/// Somebody has posted.
const POSTED: u32 = 1;

/// The two-state protocol of schbench: a post is never lost and never counted
/// twice, and posting to a task that is not asleep costs no system call beyond
/// the first.
#[derive(Debug, Default)]
pub struct Post(AtomicU32);

impl Post {
    /// Forgets an earlier post.
    #[inline]
    pub fn reset(&self) {
        self.0.store(BLOCKED, Ordering::SeqCst);
    }

    /// Posts, and wakes the waiter if this was the first post since [`Self::reset`].
    #[inline]
    pub fn post(&self) {
        if self.0.compare_exchange(BLOCKED, POSTED, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            wake(&self.0, 1);
        }
    }

    /// Waits for a post and takes it; says whether it had to sleep.
    #[inline]
    pub fn wait(&self) -> bool {
        let mut has_slept = false;
        while self.0.compare_exchange(POSTED, BLOCKED, Ordering::SeqCst, Ordering::SeqCst).is_err()
        {
            wait(&self.0, BLOCKED);
            has_slept = true;
        }
        has_slept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_post_before_the_wait_is_not_lost_and_two_posts_are_one() {
        let post = Post::default();
        post.post();
        post.post();
        assert!(!post.wait());
        let post = Arc::new(post);
        let other = Arc::clone(&post);
        let poster = std::thread::spawn(move || {
            crate::instant::sleep_for(5_000_000);
            other.post();
        });
        post.wait();
        poster.join().unwrap();
    }
}
