//! What is held for the length of a trial by a process of its own, and ends with it: a
//! scheduler.

use crate::{Error, Result};
use model::{Level, StorageTarget};
use std::ffi::OsString;
use std::path::PathBuf;
use sys::Machine;

/// The fact of a record whose trial left something behind on its machine: what, in words.
pub const NOT_PUT_BACK: &str = "not_put_back";

/// A knob whose level lasts as long as somebody holds it.
pub trait HeldKnob: Sync {
    /// Brings the level into force and returns when it is.
    ///
    /// # Errors
    /// When the level cannot be had here, or the wait for it was broken off.
    fn acquire(
        &self,
        machine: &Machine,
        level: &Level,
        supervisor: &mut dyn Supervisor,
    ) -> Result<Box<dyn Held>, NotHeld>;

    /// Names of directories that the executor makes for what is held, and removes with all that
    /// is in them, with one `*` for the number of a process and a time (`77-123456`): restoring
    /// removes no others.
    fn makes(&self) -> &'static [&'static str] {
        &[]
    }
}

/// A level in force.
pub trait Held {
    /// Whether it has been in force, and nothing else, since it was acquired. Cheap: it is
    /// asked while a workload runs.
    ///
    /// # Errors
    /// How it was lost.
    fn check(&mut self) -> Result<(), Lost>;

    /// The group of the process that holds it, where one has to.
    fn group(&self) -> Option<i32>;

    /// What it turned out to be, for the record: keys below the factor's own.
    fn facts(&self) -> Vec<(String, String)>;

    /// Where the trial's files and devices lie, where that is what is held.
    fn target(&self) -> Option<StorageTarget> {
        None
    }

    /// Gives it up and returns when it is no longer in force.
    ///
    /// # Errors
    /// When it still is.
    fn release(self: Box<Self>) -> Result<()>;
}

/// Why a level did not come into force.
#[derive(Debug)]
pub enum NotHeld {
    /// It cannot be had: the subject is invalid, in words.
    Refused(String),
    /// The machine or the user ends the wait.
    Stopped(Error),
}

impl From<Error> for NotHeld {
    fn from(error: Error) -> Self {
        NotHeld::Stopped(error)
    }
}

/// How a level was lost while it should have been in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The rule that this breaks.
    pub rule: &'static str,
    /// What was seen.
    pub detail: String,
}

/// A program to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// This binary in one of its roles.
    Own(&'static str),
    /// A file.
    File(PathBuf),
}

/// Starts holder processes: they carry the executor's mark, are journalled
/// at once, and end with the executor whatever happens.
pub trait Supervisor {
    /// Starts a program in a process group of its own. Its input stays open until it is to
    /// end; what it writes goes into a log.
    ///
    /// # Errors
    /// When it cannot be started.
    fn start(
        &mut self,
        program: &Program,
        arguments: &[OsString],
    ) -> Result<Box<dyn HolderProcess>>;

    /// Lets a little time pass.
    ///
    /// # Errors
    /// When a signal asked to stop.
    fn pause(&mut self) -> Result<()>;
}

/// A started process. Dropping it kills its group and reaps it.
pub trait HolderProcess {
    /// Its process group.
    fn group(&self) -> i32;

    /// How it ended, where it has.
    fn ended(&mut self) -> Option<String>;

    /// The last lines it wrote.
    fn last_lines(&self) -> String;

    /// Asks it to end; the caller waits.
    fn terminate(&mut self);
}
