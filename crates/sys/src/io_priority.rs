//! ioprio_set(2) and ioprio_get(2).

use model::IoPriority;
use std::io;

/// IOPRIO_WHO_PROCESS (include/uapi/linux/ioprio.h, 6.12): one thread.
const ONE_THREAD: libc::c_int = 1;
/// IOPRIO_CLASS_SHIFT.
const CLASS_SHIFT: u32 = 13;
const CLASS_NONE: u32 = 0;
const CLASS_REAL_TIME: u32 = 1;
const CLASS_BEST_EFFORT: u32 = 2;
const CLASS_IDLE: u32 = 3;
/// IOPRIO_LEVEL_MASK: other bits of a priority are hints.
const LEVEL: u32 = 7;

/// Sets the priority of a thread; 0 is the calling one. `None` lets the kernel derive it from the
/// nice value again.
///
/// # Errors
/// EPERM without CAP_SYS_NICE for real time, ESRCH when the thread is gone.
pub fn set_io_priority(thread: i32, priority: impl Into<Option<IoPriority>>) -> io::Result<()> {
    let (class, level) = match priority.into() {
        Some(IoPriority::RealTime(level)) => (CLASS_REAL_TIME, level),
        Some(IoPriority::BestEffort(level)) => (CLASS_BEST_EFFORT, level),
        Some(IoPriority::Idle) => (CLASS_IDLE, 0),
        None => (CLASS_NONE, 0),
    };
    let value = (class << CLASS_SHIFT) | u32::from(level);
    // SAFETY: all arguments are numbers.
    let outcome = unsafe { libc::syscall(libc::SYS_ioprio_set, ONE_THREAD, thread, value) };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The priority of a thread; 0 is the calling one. `None` where nobody set one: the kernel
/// then derives it from the nice value.
///
/// # Errors
/// ESRCH when the thread is gone, and a class that is none of these.
pub fn io_priority(thread: i32) -> io::Result<Option<IoPriority>> {
    // SAFETY: all arguments are numbers.
    let value = unsafe { libc::syscall(libc::SYS_ioprio_get, ONE_THREAD, thread) };
    let value = u32::try_from(value).map_err(|_| io::Error::last_os_error())?;
    let level = (value & LEVEL) as u8;
    match value >> CLASS_SHIFT {
        CLASS_NONE => Ok(None),
        CLASS_REAL_TIME => Ok(Some(IoPriority::RealTime(level))),
        CLASS_BEST_EFFORT => Ok(Some(IoPriority::BestEffort(level))),
        CLASS_IDLE => Ok(Some(IoPriority::Idle)),
        other => Err(io::Error::other(format!("I/O priority class {other} is not known"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_priority_that_it_was_given_and_others_keep_theirs() {
        let before = io_priority(0).unwrap();
        let of_thread = std::thread::spawn(|| {
            set_io_priority(0, IoPriority::BestEffort(7)).unwrap();
            let low = io_priority(0).unwrap();
            set_io_priority(0, IoPriority::Idle).unwrap();
            (low, io_priority(0).unwrap())
        });
        let (low, idle) = of_thread.join().unwrap();
        assert_eq!(low, Some(IoPriority::BestEffort(7)));
        assert_eq!(idle, Some(IoPriority::Idle));
        assert_eq!(io_priority(0).unwrap(), before);
        assert!(io_priority(i32::MAX).is_err());
    }
}
