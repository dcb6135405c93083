//! The I/O priority of a thread, set by itself and read back.

use contract::APART;
use model::IoPriority;
use std::ffi::CString;

/// What a thread takes on, or else what it inherited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority(Option<IoPriority>);

impl Priority {
    /// What the thread inherited.
    pub const INHERITED: Self = Self(None);

    /// Reads `none`, `idle`, `be:0` to `be:7` and `rt:0` to `rt:7`.
    ///
    /// # Errors
    /// In one sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::INHERITED);
        }
        match text.parse() {
            Ok(priority) => Ok(Self(Some(priority))),
            Err(why) => Err(format!("{why}, nor none")),
        }
    }

    /// Gives it to the calling thread, which says by its name that it has one of its own, and
    /// reads it back.
    ///
    /// # Errors
    /// In one sentence.
    pub fn take_on(self) -> Result<(), String> {
        let Some(priority) = self.0 else { return Ok(()) };
        sys::set_io_priority(0, priority).map_err(|error| {
            let help = match priority {
                IoPriority::RealTime(_) => "; the class rt needs root",
                _ => "",
            };
            format!("cannot set the I/O priority {priority}: {error}{help}")
        })?;
        let name = CString::new(APART).map_err(|error| error.to_string())?;
        rustix::thread::set_name(&name)
            .map_err(|error| format!("cannot name a thread: {error}"))?;
        self.check()
    }

    /// Whether the calling thread has it.
    ///
    /// # Errors
    /// What it has instead, in one sentence.
    pub fn check(self) -> Result<(), String> {
        let Some(wanted) = self.0 else { return Ok(()) };
        let actual = sys::io_priority(0).map_err(|error| error.to_string())?;
        if actual == Some(wanted) {
            return Ok(());
        }
        let actual = actual.map_or_else(|| "none".to_owned(), |actual| actual.to_string());
        Err(format!("the I/O priority should be {wanted} and is {actual}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_taken_on_and_one_that_changed_is_told() {
        let told = std::thread::spawn(|| {
            let low = Priority::parse("be:7").unwrap();
            low.take_on().unwrap();
            assert_eq!(std::fs::read_to_string("/proc/thread-self/comm").unwrap().trim(), APART);
            sys::set_io_priority(0, IoPriority::Idle).unwrap();
            low.check().unwrap_err()
        });
        assert_eq!(told.join().unwrap(), "the I/O priority should be be:7 and is idle");
        assert_eq!(Priority::parse("none"), Ok(Priority::INHERITED));
        assert_eq!(Priority::INHERITED.take_on(), Ok(()));
        assert!(Priority::parse("be:8").unwrap_err().contains("be:0 to be:7"));
    }
}
