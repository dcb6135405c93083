//! The I/O priority of a thread (ioprio_set(2)), set by itself and read back.

use std::io;

/// IOPRIO_WHO_PROCESS; 0 is the calling thread (include/uapi/linux/ioprio.h).
const WHO_PROCESS: libc::c_int = 1;
const CLASS_SHIFT: u32 = 13;
const LEVELS: u8 = 8;

/// A class and, where it has them, a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Priority {
    /// What the thread inherited.
    Inherited,
    RealTime(u8),
    BestEffort(u8),
    Idle,
}

impl Priority {
    /// Reads `none`, `idle`, `be:0` to `be:7` and `rt:0` to `rt:7`.
    ///
    /// # Errors
    /// In one sentence.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is none of none, idle, be:0 to be:7, rt:0 to rt:7");
        match text {
            "none" => return Ok(Priority::Inherited),
            "idle" => return Ok(Priority::Idle),
            _ => {}
        }
        let (class, level) = text.split_once(':').ok_or_else(wrong)?;
        let level = level.parse().ok().filter(|level| *level < LEVELS).ok_or_else(wrong)?;
        match class {
            "be" => Ok(Priority::BestEffort(level)),
            "rt" => Ok(Priority::RealTime(level)),
            _ => Err(wrong()),
        }
    }

    fn value(self) -> Option<u32> {
        let value = |class: u32, level: u8| Some(class << CLASS_SHIFT | u32::from(level));
        match self {
            Priority::Inherited => None,
            Priority::RealTime(level) => value(1, level),
            Priority::BestEffort(level) => value(2, level),
            Priority::Idle => value(3, 0),
        }
    }

    /// Gives it to the calling thread and reads it back.
    ///
    /// # Errors
    /// In one sentence.
    pub(super) fn take_on(self) -> Result<(), String> {
        let Some(value) = self.value() else { return Ok(()) };
        // SAFETY: the call takes three integers.
        if unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) } != 0 {
            let error = io::Error::last_os_error();
            let help = match self {
                Priority::RealTime(_) => "; the class rt needs root",
                _ => "",
            };
            return Err(format!("cannot set the I/O priority {self:?}: {error}{help}"));
        }
        self.check()
    }

    /// Whether the calling thread has it.
    ///
    /// # Errors
    /// What it has instead, in one sentence.
    pub(super) fn check(self) -> Result<(), String> {
        let Some(wanted) = self.value() else { return Ok(()) };
        // SAFETY: the call takes two integers.
        let actual = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) };
        if actual == i64::from(wanted) {
            return Ok(());
        }
        Err(format!("the I/O priority should be {wanted:#x} ({self:?}) and is {actual:#x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_read_and_others_are_refused() {
        for (text, priority) in [
            ("none", Priority::Inherited),
            ("idle", Priority::Idle),
            ("be:0", Priority::BestEffort(0)),
            ("rt:7", Priority::RealTime(7)),
        ] {
            assert_eq!(Priority::parse(text), Ok(priority));
        }
        for text in ["", "be", "be:8", "rt:-1", "fifo:1", "idle:0", "be:0:1"] {
            assert!(Priority::parse(text).unwrap_err().contains("be:0 to be:7"), "{text}");
        }
    }

    #[test]
    fn a_thread_has_the_priority_that_it_took_on_and_no_other() {
        let outcome = std::thread::spawn(|| {
            Priority::BestEffort(6).take_on()?;
            Priority::BestEffort(6).check()?;
            Priority::Idle.check()
        });
        let told = outcome.join().unwrap().unwrap_err();
        assert!(told.contains("should be 0x6000 (Idle) and is 0x4006"), "{told}");
    }
}
