//! One request: a short sleep, then work under the lock of its CPU.

use contract::Result;
use rustix::thread::sched_getcpu;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::Machine;
use workload_parts::instant::sleep_for;
use workload_parts::work::Matrices;

/// What every request does, as it was declared.
#[derive(Debug, Clone)]
pub(super) struct Demand {
    /// Sleep before the work.
    pub(super) think_ns: u64,
    /// Matrix products.
    pub(super) operations: u64,
    pub(super) footprint_bytes: u64,
    /// Whether it holds the lock of its CPU meanwhile.
    pub(super) is_locked: bool,
}

/// What every request does.
#[derive(Clone)]
pub(super) struct Request {
    think_ns: u64,
    operations: u64,
    footprint_bytes: u64,
    locks: Option<Arc<CpuLocks>>,
}

impl Request {
    pub(super) fn of(machine: &Machine, demand: &Demand) -> Result<Self> {
        let locks = if demand.is_locked {
            let highest = machine.present_cpus()?.iter().max().unwrap_or(0);
            Some(Arc::new(CpuLocks::new(highest + 1)))
        } else {
            None
        };
        Ok(Self {
            think_ns: demand.think_ns,
            operations: demand.operations,
            footprint_bytes: demand.footprint_bytes,
            locks,
        })
    }

    /// The memory of one worker.
    pub(super) fn matrices(&self) -> Matrices {
        Matrices::new(self.footprint_bytes)
    }

    #[inline]
    pub(super) fn perform(&self, matrices: &mut Matrices) {
        if self.think_ns > 0 {
            sleep_for(self.think_ns);
        }
        let lock = self.locks.as_deref().map(CpuLocks::acquire);
        matrices.multiply_times(self.operations);
        drop(lock);
    }
}

/// One spin lock for each CPU, each in a cache line of its own.
struct CpuLocks(Vec<CpuLock>);

#[repr(align(128))]
#[derive(Default)]
struct CpuLock(AtomicBool);

/// Releases its lock when dropped.
struct Held<'lock>(&'lock AtomicBool);

impl CpuLocks {
    fn new(cpus: usize) -> Self {
        Self((0..cpus.max(1)).map(|_| CpuLock::default()).collect())
    }

    /// Spins for the lock of the CPU it is on, and begins again if it has moved
    /// to another one by the time it holds it.
    fn acquire(&self) -> Held<'_> {
        loop {
            let cpu = sched_getcpu() % self.0.len();
            let lock = &self.0[cpu].0;
            if lock.swap(true, Ordering::Acquire) {
                spin_loop();
                continue;
            }
            let held = Held(lock);
            if sched_getcpu() % self.0.len() == cpu {
                return held;
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_again_after_its_holder() {
        let locks = CpuLocks::new(1);
        let held = locks.acquire();
        assert!(locks.0[0].0.load(Ordering::SeqCst));
        drop(held);
        assert!(!locks.0[0].0.load(Ordering::SeqCst));
        drop(locks.acquire());
    }
}
