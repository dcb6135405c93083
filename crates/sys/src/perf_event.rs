//! Counters of perf_event_open(2) for a process and everything it starts.

use perf_event_open_sys::bindings;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PerfEvent {
    /// Context switches of the tasks.
    ContextSwitches,
    /// Moves of a task to another CPU.
    CpuMigrations,
    /// Page faults, minor and major.
    PageFaults,
    /// Time on CPU in nanoseconds.
    TaskClock,
    /// CPU cycles.
    Cycles,
    /// Instructions retired.
    Instructions,
    /// Accesses of the last-level cache.
    CacheReferences,
    /// Misses of the last-level cache.
    CacheMisses,
}

impl PerfEvent {
    /// Type and config of perf_event_attr.
    fn code(self) -> (u32, u64) {
        use bindings as b;
        let software = |id: u32| (b::PERF_TYPE_SOFTWARE, u64::from(id));
        let hardware = |id: u32| (b::PERF_TYPE_HARDWARE, u64::from(id));
        match self {
            PerfEvent::ContextSwitches => software(b::PERF_COUNT_SW_CONTEXT_SWITCHES),
            PerfEvent::CpuMigrations => software(b::PERF_COUNT_SW_CPU_MIGRATIONS),
            PerfEvent::PageFaults => software(b::PERF_COUNT_SW_PAGE_FAULTS),
            PerfEvent::TaskClock => software(b::PERF_COUNT_SW_TASK_CLOCK),
            PerfEvent::Cycles => hardware(b::PERF_COUNT_HW_CPU_CYCLES),
            PerfEvent::Instructions => hardware(b::PERF_COUNT_HW_INSTRUCTIONS),
            PerfEvent::CacheReferences => hardware(b::PERF_COUNT_HW_CACHE_REFERENCES),
            PerfEvent::CacheMisses => hardware(b::PERF_COUNT_HW_CACHE_MISSES),
        }
    }
}

/// A counter of one process and of all tasks it starts after the opening.
/// Dropping it closes it.
#[derive(Debug)]
pub struct PerfCounter {
    descriptor: OwnedFd,
}

/// What a counter showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerfReading {
    /// Events counted.
    pub value: u64,
    /// How long it was enabled, summed over tasks.
    pub enabled_ns: u64,
    /// How long it really counted; less where hardware counters were shared.
    pub running_ns: u64,
}

impl PerfReading {
    /// Bytes of one read(2), in the order of PERF_FORMAT_TOTAL_TIME_*.
    pub const BYTES: usize = 24;

    /// Decodes what read(2) gave.
    ///
    /// # Errors
    /// When it gave fewer bytes, or time in which it counted exceeds time in
    /// which it was enabled.
    pub fn decode(bytes: &[u8]) -> io::Result<Self> {
        let bad = || {
            io::Error::new(io::ErrorKind::InvalidData, format!("{bytes:?} is no counter reading"))
        };
        if bytes.len() != Self::BYTES {
            return Err(bad());
        }
        let mut numbers = bytes.chunks_exact(8).map(|chunk| {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        let mut next = || numbers.next().ok_or_else(bad);
        let reading = Self { value: next()?, enabled_ns: next()?, running_ns: next()? };
        if reading.running_ns > reading.enabled_ns { Err(bad()) } else { Ok(reading) }
    }

    /// The count over the whole time, extrapolated where the counter was shared;
    /// `None` where it never counted.
    #[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 are not met")]
    pub fn scaled(&self) -> Option<f64> {
        if self.running_ns == 0 {
            return None;
        }
        Some(self.value as f64 * (self.enabled_ns as f64 / self.running_ns as f64))
    }
}

impl PerfCounter {
    /// Opens a counter, disabled, on a process that has one thread (0: the calling thread); every task
    /// it starts later is counted too, and stays counted when it ends.
    ///
    /// # Errors
    /// EACCES or EPERM under `perf_event_paranoid`, ENOENT or EOPNOTSUPP where
    /// the machine has no such counter, ESRCH where the process is gone.
    pub fn open(event: PerfEvent, pid: i32) -> io::Result<Self> {
        let (kind, config) = event.code();
        let mut attributes = bindings::perf_event_attr {
            type_: kind,
            config,
            size: u32::try_from(size_of::<bindings::perf_event_attr>()).unwrap_or(0),
            read_format: u64::from(
                bindings::PERF_FORMAT_TOTAL_TIME_ENABLED | bindings::PERF_FORMAT_TOTAL_TIME_RUNNING,
            ),
            ..Default::default()
        };
        attributes.set_disabled(1);
        attributes.set_inherit(1);
        let flags = bindings::PERF_FLAG_FD_CLOEXEC;
        // SAFETY: the attributes are complete and outlive the call.
        let descriptor = unsafe {
            perf_event_open_sys::perf_event_open(&raw mut attributes, pid, -1, -1, u64::from(flags))
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given us this descriptor.
        Ok(Self { descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) } })
    }

    /// Begins to count, in every task.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn enable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is a counter of ours; the argument is no pointer.
        let result = unsafe { perf_event_open_sys::ioctls::ENABLE(self.descriptor.as_raw_fd(), 0) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Stops counting, in every task.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn disable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is a counter of ours; the argument is no pointer.
        let result =
            unsafe { perf_event_open_sys::ioctls::DISABLE(self.descriptor.as_raw_fd(), 0) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The sum over the process and all it started.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn read(&self) -> io::Result<PerfReading> {
        let mut bytes = [0; PerfReading::BYTES];
        let length = rustix::io::read(&self.descriptor, &mut bytes)?;
        PerfReading::decode(&bytes[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: u64, enabled: u64, running: u64) -> Vec<u8> {
        [value, enabled, running].into_iter().flat_map(u64::to_ne_bytes).collect()
    }

    #[test]
    fn a_shared_counter_is_extrapolated_and_one_that_never_ran_is_not_zero() {
        let scaled = |value, enabled, running| {
            PerfReading::decode(&bytes(value, enabled, running)).unwrap().scaled()
        };
        assert_eq!(scaled(1_000, 80, 20), Some(4_000.0));
        assert_eq!(scaled(1_000, 80, 80), Some(1_000.0));
        assert_eq!(scaled(0, 80, 80), Some(0.0));
        assert_eq!(scaled(0, 80, 0), None);
    }

    #[test]
    fn bytes_that_are_no_reading_are_an_error() {
        for bad in [vec![], vec![0; 8], bytes(1, 2, 3), [bytes(1, 2, 2), vec![0]].concat()] {
            assert!(PerfReading::decode(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_counter_follows_the_tasks_started_after_it_was_opened() {
        let counter = match PerfCounter::open(PerfEvent::ContextSwitches, 0) {
            Ok(counter) => counter,
            Err(error) => {
                testing::skip(&format!("{error} (perf_event_paranoid)"));
                return;
            }
        };
        let sleep = || {
            std::thread::spawn(|| {
                for _ in 0..20 {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            })
            .join()
            .unwrap();
        };
        sleep();
        assert_eq!(counter.read().unwrap().value, 0, "counts before it is enabled");
        counter.enable().unwrap();
        sleep();
        counter.disable().unwrap();
        let counted = counter.read().unwrap();
        // A sleep that is over before its task stops is no switch.
        assert!(counted.value >= 10, "{counted:?}");
        sleep();
        assert_eq!(counter.read().unwrap().value, counted.value, "counts after it is disabled");
    }
}
