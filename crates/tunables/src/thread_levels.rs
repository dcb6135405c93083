//! Attributes of threads: trying one in a thread that is thrown away, and
//! reading one back from a workload's threads.

use contract::{Error, Result};
use model::Level;
use std::io;
use sys::SchedulingAttributes;

/// Runs `attempt` in a thread of its own, which ends with it: the kernel's own
/// answer to "may I", and nothing of this process has changed.
pub(crate) fn in_throwaway_thread<T: Send>(
    attempt: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, attempt)?;
        thread.join().map_err(|_| io::Error::other("the trial thread panicked"))?
    })
}

/// Sets attributes in a throw-away thread and returns what the kernel made of them.
pub(crate) fn try_attributes(
    change: impl FnOnce(&mut SchedulingAttributes) + Send,
) -> io::Result<SchedulingAttributes> {
    in_throwaway_thread(|| {
        let mut attributes = sys::scheduling_attributes(0)?;
        // Zero asks for the default slice; the value read would pin one.
        attributes.runtime_ns = 0;
        attributes.clamp = None;
        change(&mut attributes);
        sys::set_scheduling_attributes(0, &attributes)?;
        sys::scheduling_attributes(0)
    })
}

/// `wanted` where every thread has it, else the first other level. Threads that
/// ended meanwhile are passed over.
///
/// # Errors
/// When no thread could be read, or the kernel refuses to tell.
pub(crate) fn uniform(
    factor: &str,
    threads: &[i32],
    wanted: &Level,
    read: impl Fn(i32) -> Result<Option<Level>>,
) -> Result<Level> {
    let mut is_seen = false;
    for thread in threads {
        match read(*thread)? {
            Some(level) if level != *wanted => return Ok(level),
            Some(_) => is_seen = true,
            None => {}
        }
    }
    if is_seen {
        return Ok(wanted.clone());
    }
    Err(Error::environment(
        format!("cannot read {factor} back"),
        "none of the workload's threads exists any more",
    ))
}

/// The answer of a system call about a thread; a thread that is gone is `None`.
pub(crate) fn alive<T>(factor: &str, thread: i32, answer: io::Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => {
            Err(Error::environment(format!("cannot read {factor} of thread {thread}"), error))
        }
    }
}

/// The text of a file of a thread; a thread that is gone is `None`.
pub(crate) fn alive_text(machine: &sys::Machine, path: &str) -> Result<Option<String>> {
    match machine.read_with_names(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_absent() || error.source.raw_os_error() == Some(libc::ESRCH) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Level of the scheduling attributes, in the terms of `level_of`.
pub(crate) fn attributes_read_back(
    factor: &str,
    threads: &[i32],
    wanted: &Level,
    level_of: impl Fn(&SchedulingAttributes) -> Level,
) -> Result<Level> {
    uniform(factor, threads, wanted, |thread| {
        Ok(alive(factor, thread, sys::scheduling_attributes(thread))?.as_ref().map(&level_of))
    })
}

/// What to do about a refusal of sched_setattr(2) (kernel/sched/syscalls.c, 6.12).
pub(crate) fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "run as root or with CAP_SYS_NICE, or use a virtual machine"
        }
        Some(libc::EOPNOTSUPP) => "choose a kernel built with this feature (in a virtual machine)",
        Some(libc::EBUSY) => "free deadline bandwidth, or ask for less",
        _ => "choose another level, or another kernel (in a virtual machine)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_with_another_level_is_what_is_read_back() {
        let wanted = Level::canonical("a");
        let read = |thread: i32| {
            Ok(match thread {
                1 => Some(Level::canonical("a")),
                2 => Some(Level::canonical("b")),
                _ => None,
            })
        };
        assert_eq!(uniform("x", &[1, 3], &wanted, read).unwrap(), wanted);
        assert_eq!(uniform("x", &[1, 2, 1], &wanted, read).unwrap().as_str(), "b");
        assert!(uniform("x", &[3, 4], &wanted, read).is_err(), "nothing read is not agreement");
    }

    #[test]
    fn trying_an_attribute_leaves_the_calling_thread_as_it_was() {
        let before = sys::scheduling_attributes(0).unwrap();
        let tried = try_attributes(|attributes| attributes.nice = before.nice + 1).unwrap();
        assert_eq!(tried.nice, before.nice + 1);
        assert_eq!(sys::scheduling_attributes(0).unwrap(), before);
    }
}
