//! What a thread used while it served, and where it ran.

use rustix::thread::sched_getcpu;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// Of one thread, from its first frame to [`Usage::end`]: what it did while others got ready,
/// such as to poll, belongs to no request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Usage {
    /// Frames it dealt with.
    pub(super) frames: u64,
    /// CPU time in nanoseconds.
    pub(super) cpu_ns: u64,
    /// Times it gave the CPU away, and had it taken.
    pub(super) switches: (u64, u64),
    /// Frames by the CPU on which it dealt with them.
    pub(super) by_cpu: BTreeMap<usize, u64>,
    /// CPUs it might have run on when it ended.
    pub(super) allowed: String,
    /// Its scheduling policy then, as levels spell it.
    pub(super) policy: String,
    #[serde(skip)]
    began: Option<(u64, (u64, u64))>,
}

impl Usage {
    /// One frame more, on the CPU where this is called.
    #[inline]
    pub(super) fn count(&mut self) {
        if self.frames == 0 {
            self.began = Some(so_far());
        }
        self.frames += 1;
        *self.by_cpu.entry(sched_getcpu()).or_default() += 1;
    }

    /// Others have begun to serve: what it uses from now on belongs to their frames, until it has
    /// one of its own. A thread that polls for frames that never come uses a CPU all the same.
    pub(super) fn enter(&mut self) {
        if self.frames == 0 {
            self.began = Some(so_far());
        }
    }

    /// # Errors
    /// When the kernel does not tell where the thread may run.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let (cpu_ns, switches) = so_far();
        // One that slept while others served used nothing.
        let (began_ns, began) = self.began.take().unwrap_or((cpu_ns, switches));
        self.cpu_ns = cpu_ns.saturating_sub(began_ns);
        self.switches = (switches.0 - began.0, switches.1 - began.1);
        self.allowed = sys::affinity(0)?.to_string();
        let now = sys::scheduling_attributes(0)?;
        self.policy = super::policy::level_text(now.policy, now.priority);
        Ok(())
    }

    /// Adds what another thread used.
    pub(super) fn merge(&mut self, other: &Usage) {
        self.frames += other.frames;
        self.cpu_ns += other.cpu_ns;
        self.switches.0 += other.switches.0;
        self.switches.1 += other.switches.1;
        for (cpu, frames) in &other.by_cpu {
            *self.by_cpu.entry(*cpu).or_default() += frames;
        }
    }

    /// Frames that it dealt with on this CPU.
    pub(super) fn on(&self, cpu: usize) -> u64 {
        self.by_cpu.get(&cpu).copied().unwrap_or(0)
    }

    /// The CPU on which it dealt with most of them.
    pub(super) fn most_on(&self) -> Option<usize> {
        self.by_cpu.iter().max_by_key(|(_, frames)| **frames).map(|(cpu, _)| *cpu)
    }
}

/// CPU time and switches of the calling thread.
fn so_far() -> (u64, (u64, u64)) {
    // SAFETY: all bytes zero are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place; RUSAGE_THREAD exists since Linux 2.6.26.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    let ns = |time: libc::timeval| {
        time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1_000
    };
    let cpu_ns = ns(usage.ru_utime) + ns(usage.ru_stime);
    (cpu_ns, (usage.ru_nvcsw.unsigned_abs(), usage.ru_nivcsw.unsigned_abs()))
}
