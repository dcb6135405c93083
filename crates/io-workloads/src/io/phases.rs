//! Steps that a crew takes together: each begins for all at once, and none
//! begins before all have ended the one before.

use std::sync::atomic::{AtomicU32, Ordering};
use workload_parts::futex;

/// The number of the last step that may begin when everything is given up.
const ABANDONED: u32 = u32::MAX;

/// The common gate. Steps count from 1.
#[derive(Debug)]
pub(super) struct Phases {
    members: u32,
    step: AtomicU32,
    /// How many members have ended the current step.
    arrived: AtomicU32,
}

impl Phases {
    pub(super) fn new(members: u32) -> Self {
        Self { members, step: AtomicU32::new(0), arrived: AtomicU32::new(0) }
    }

    /// Lets every member take the next step and waits until all have; false where one gave up.
    pub(super) fn take(&self) -> bool {
        self.arrived.store(0, Ordering::SeqCst);
        let begin = |step: u32| (step != ABANDONED).then(|| step + 1);
        if self.step.fetch_update(Ordering::SeqCst, Ordering::SeqCst, begin).is_err() {
            return false;
        }
        futex::wake_all(&self.step);
        loop {
            let arrived = self.arrived.load(Ordering::SeqCst);
            if self.step.load(Ordering::SeqCst) == ABANDONED {
                return false;
            }
            if arrived == self.members {
                return true;
            }
            futex::wait(&self.arrived, arrived);
        }
    }

    /// A member waits for a step to begin; false where everything was given up.
    pub(super) fn wait_for(&self, step: u32) -> bool {
        loop {
            let now = self.step.load(Ordering::SeqCst);
            if now >= step {
                return now != ABANDONED;
            }
            futex::wait(&self.step, now);
        }
    }

    /// A member has ended the current step.
    pub(super) fn arrive(&self) {
        if self.arrived.fetch_add(1, Ordering::SeqCst) + 1 == self.members {
            futex::wake_all(&self.arrived);
        }
    }

    /// Ends every wait, now and later.
    pub(super) fn abandon(&self) {
        self.step.store(ABANDONED, Ordering::SeqCst);
        futex::wake_all(&self.step);
        // Changes the word, so that a wait that is about to begin does not.
        self.arrived.fetch_add(1, Ordering::SeqCst);
        futex::wake_all(&self.arrived);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn no_member_is_ever_a_step_ahead() {
        const STEPS: u32 = 200;
        let phases = Arc::new(Phases::new(3));
        let sum = Arc::new(AtomicU32::new(0));
        let members: Vec<_> = (0..3)
            .map(|_| {
                let (phases, sum) = (Arc::clone(&phases), Arc::clone(&sum));
                std::thread::spawn(move || {
                    for step in 1..=STEPS {
                        assert!(phases.wait_for(step));
                        sum.fetch_add(1, Ordering::SeqCst);
                        phases.arrive();
                    }
                })
            })
            .collect();
        for step in 1..=STEPS {
            assert!(phases.take());
            assert_eq!(sum.load(Ordering::SeqCst), 3 * step);
        }
        members.into_iter().for_each(|member| member.join().unwrap());
    }

    #[test]
    fn one_that_gives_up_ends_every_wait() {
        let phases = Arc::new(Phases::new(2));
        let [first, second] = [false, true].map(|gives_up| {
            let phases = Arc::clone(&phases);
            std::thread::spawn(move || {
                assert!(phases.wait_for(1));
                // After the other has passed, or that one would not see the first step.
                while gives_up && phases.arrived.load(Ordering::SeqCst) == 0 {
                    std::thread::yield_now();
                }
                if gives_up {
                    phases.abandon()
                } else {
                    phases.arrive()
                }
                phases.wait_for(2)
            })
        });
        assert!(!phases.take());
        assert!(!first.join().unwrap());
        assert!(!second.join().unwrap());
        assert!(!phases.take());
    }
}
