//! sched_setattr(2), sched_setaffinity(2) and timer slack.

use model::CpuList;
use std::io;

/// Scheduling policies (include/uapi/linux/sched.h, 6.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// SCHED_OTHER, the default.
    Other,
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    RoundRobin,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_DEADLINE.
    Deadline,
    /// SCHED_EXT.
    Ext,
}

impl Policy {
    /// The kernel's number.
    pub fn number(self) -> u32 {
        match self {
            Policy::Other => 0,
            Policy::Fifo => 1,
            Policy::RoundRobin => 2,
            Policy::Batch => 3,
            Policy::Idle => 5,
            Policy::Deadline => 6,
            Policy::Ext => 7,
        }
    }

    /// Its name in levels, as in `fifo:10`.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Other => "other",
            Policy::Fifo => "fifo",
            Policy::RoundRobin => "rr",
            Policy::Batch => "batch",
            Policy::Idle => "idle",
            Policy::Deadline => "deadline",
            Policy::Ext => "ext",
        }
    }

    /// The policy of a number.
    pub fn from_number(number: u32) -> Option<Self> {
        [
            Policy::Other,
            Policy::Fifo,
            Policy::RoundRobin,
            Policy::Batch,
            Policy::Idle,
            Policy::Deadline,
            Policy::Ext,
        ]
        .into_iter()
        .find(|policy| policy.number() == number)
    }
}

/// struct sched_attr, as far as it is used. `runtime_ns` is the custom slice of
/// a fair task (since 6.12) and the budget of a deadline task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SchedulingAttributes {
    /// The policy.
    pub policy: Policy,
    /// Nice value of fair policies.
    pub nice: i32,
    /// Priority of FIFO and RR, 1..99.
    pub priority: u32,
    /// Slice or budget; 0 asks for the default slice.
    pub runtime_ns: u64,
    /// Deadline of SCHED_DEADLINE.
    pub deadline_ns: u64,
    /// Period of SCHED_DEADLINE.
    pub period_ns: u64,
    /// Utilisation clamps, 0..1024.
    pub clamp: Option<(u32, u32)>,
}

/// The kernel's layout, version 1 (include/uapi/linux/sched/types.h, 5.3).
#[repr(C)]
#[derive(Default)]
struct RawAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
    util_min: u32,
    util_max: u32,
}

const RAW_SIZE: u32 = 56;
/// SCHED_FLAG_UTIL_CLAMP_MIN | SCHED_FLAG_UTIL_CLAMP_MAX.
const FLAG_CLAMP: u64 = 0x20 | 0x40;

/// Reads a thread's attributes; 0 is the calling thread.
///
/// A default fair task reports the current base slice as its runtime, so
/// writing back what was read pins a custom slice: set `runtime_ns` to 0 to
/// restore the default.
///
/// # Errors
/// What the kernel answers.
pub fn scheduling_attributes(thread: i32) -> io::Result<SchedulingAttributes> {
    let mut raw = RawAttributes::default();
    // SAFETY: the kernel writes at most RAW_SIZE bytes, the size of `raw`.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_getattr, thread, &raw mut raw, RAW_SIZE, 0_u32) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let policy = Policy::from_number(raw.policy).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("unknown policy {}", raw.policy))
    })?;
    Ok(SchedulingAttributes {
        policy,
        nice: raw.nice,
        priority: raw.priority,
        runtime_ns: raw.runtime,
        deadline_ns: raw.deadline,
        period_ns: raw.period,
        clamp: (raw.util_max != 0).then_some((raw.util_min, raw.util_max)),
    })
}

/// Sets a thread's attributes; 0 is the calling thread. Children inherit them.
///
/// # Errors
/// EPERM without the privilege, EINVAL for values the kernel refuses,
/// EOPNOTSUPP for clamps on a kernel without CONFIG_UCLAMP_TASK, EBUSY where
/// deadline bandwidth is used up.
pub fn set_scheduling_attributes(thread: i32, attributes: &SchedulingAttributes) -> io::Result<()> {
    let (util_min, util_max) = attributes.clamp.unwrap_or_default();
    let raw = RawAttributes {
        size: RAW_SIZE,
        policy: attributes.policy.number(),
        flags: if attributes.clamp.is_some() { FLAG_CLAMP } else { 0 },
        nice: attributes.nice,
        priority: attributes.priority,
        runtime: attributes.runtime_ns,
        deadline: attributes.deadline_ns,
        period: attributes.period_ns,
        util_min,
        util_max,
    };
    // SAFETY: `raw` is a complete struct sched_attr of the size it names.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const raw, 0_u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The CPUs a thread may run on; 0 is the calling thread.
///
/// # Errors
/// What the kernel answers.
pub fn affinity(thread: i32) -> io::Result<CpuList> {
    let set = rustix::thread::sched_getaffinity(rustix::thread::Pid::from_raw(thread))?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// Restricts a thread to `cpus`; 0 is the calling thread.
///
/// # Errors
/// EINVAL where none of them is online and allowed.
pub fn set_affinity(thread: i32, cpus: &CpuList) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| *cpu < rustix::thread::CpuSet::MAX_CPU) {
        set.set(cpu);
    }
    rustix::thread::sched_setaffinity(rustix::thread::Pid::from_raw(thread), &set)?;
    Ok(())
}

/// The calling thread's timer slack in nanoseconds.
///
/// # Errors
/// What the kernel answers.
pub fn timer_slack() -> io::Result<u64> {
    // SAFETY: PR_GET_TIMERSLACK takes no pointer.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    u64::try_from(slack).map_err(|_| io::Error::last_os_error())
}

/// Sets the calling thread's timer slack; children inherit it. 0 asks for the default.
///
/// # Errors
/// What the kernel answers.
pub fn set_timer_slack(slack_ns: u64) -> io::Result<()> {
    // SAFETY: PR_SET_TIMERSLACK takes no pointer.
    let result = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack_ns, 0, 0, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The nice value in `/proc/PID/autogroup` text (`/autogroup-4 nice 0`).
pub fn nice_of_autogroup(text: &str) -> Option<i32> {
    text.trim().rsplit_once("nice ").and_then(|(_, nice)| nice.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_attributes_are_read_from_the_real_kernel() {
        let attributes = scheduling_attributes(0).unwrap();
        assert!(Policy::from_number(attributes.policy.number()).is_some());
        assert!(!affinity(0).unwrap().is_empty());
        assert!(timer_slack().unwrap() <= 1_000_000_000);
    }

    #[test]
    fn a_threads_nice_value_is_set_and_read_back() {
        std::thread::spawn(|| {
            let mut attributes = scheduling_attributes(0).unwrap();
            attributes.nice += 1;
            attributes.runtime_ns = 0;
            set_scheduling_attributes(0, &attributes).unwrap();
            assert_eq!(scheduling_attributes(0).unwrap().nice, attributes.nice);
        })
        .join()
        .unwrap();
    }
}
