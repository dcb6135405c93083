//! A kernel made of files, for tests: it refuses, clamps and rewrites as the
//! real one does, and can kill its own process at any step.
//!
//! The rules lie in `kernel-rules.json` below the root, so that a process
//! started anew (the guardian, a later run) meets the same kernel.

use crate::machine_error::MachineError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How one file behaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FakeRule {
    /// open(2) fails with EPERM, as debugfs under lockdown does.
    Refuse,
    /// A number outside the range is silently moved to its nearer end.
    Clamp {
        /// Lowest value kept.
        low: u64,
        /// Highest value kept.
        high: u64,
    },
    /// write(2) fails with EINVAL unless the value is one of these.
    Choice {
        /// The values accepted, shown with brackets around the current one.
        choices: Vec<String>,
    },
    /// Words that are switched by writing `NAME` or `NO_NAME`.
    Flags,
    /// Writing also rewrites other files, as hotplug rescales slices.
    Rescale {
        /// Path to the text it gets for each value written here.
        others: BTreeMap<String, BTreeMap<String, String>>,
    },
}

/// The rules of a fake kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FakeRules {
    /// Absolute path to its rule; a file without one keeps what is written.
    #[serde(default)]
    pub files: BTreeMap<String, FakeRule>,
    /// SIGKILL this process at the nth step (journal or knob), from 1.
    #[serde(default)]
    pub kill_at_step: Option<u64>,
    /// Only the first process to get there dies: the guardian lives on.
    #[serde(default)]
    pub is_one_kill: bool,
    /// From the nth step of a process on, its journal finds no space left.
    #[serde(default)]
    pub full_from_step: Option<u64>,
}

impl FakeRules {
    /// Name of the rules' file below the root.
    pub const FILE: &'static str = "kernel-rules.json";
    /// Left below the root by the process that died of `is_one_kill`.
    pub const KILLED: &'static str = "killed";
}

#[derive(Debug, Clone)]
pub(crate) struct FakeKernel {
    root: Arc<Path>,
    rules: Arc<FakeRules>,
    steps: Arc<AtomicU64>,
}

impl FakeKernel {
    pub(crate) fn load(root: &Path) -> Result<Self, MachineError> {
        let path = root.join(FakeRules::FILE);
        let fail = |action, source| MachineError { action, path: path.clone(), source };
        let rules = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_slice(text.as_bytes()).map_err(|error| {
                fail("understand", io::Error::new(io::ErrorKind::InvalidData, error))
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => FakeRules::default(),
            Err(error) => return Err(fail("read", error)),
        };
        Ok(Self { root: root.into(), rules: Arc::new(rules), steps: Arc::default() })
    }

    /// Counts one step, and dies if it is the appointed one.
    pub(crate) fn step(&self) {
        let step = self.steps.fetch_add(1, Ordering::SeqCst) + 1;
        if self.rules.kill_at_step == Some(step) && self.may_kill() {
            // The point of the test: no destructor, no handler, no flush.
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    }

    pub(crate) fn check_space(&self) -> io::Result<()> {
        let taken = self.steps.load(Ordering::SeqCst);
        if self.rules.full_from_step.is_some_and(|step| taken >= step) {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        Ok(())
    }

    fn may_kill(&self) -> bool {
        !self.rules.is_one_kill || fs::File::create_new(self.root.join(FakeRules::KILLED)).is_ok()
    }

    pub(crate) fn check_open(&self, absolute: &str) -> io::Result<()> {
        match self.rules.files.get(absolute) {
            Some(FakeRule::Refuse) => Err(io::Error::from_raw_os_error(libc::EPERM)),
            _ => Ok(()),
        }
    }

    pub(crate) fn write(&self, path: &Path, absolute: &str, value: &str) -> io::Result<()> {
        self.check_open(absolute)?;
        let current = fs::read_to_string(path)?;
        self.step();
        let value = value.trim();
        let text = match self.rules.files.get(absolute) {
            Some(FakeRule::Clamp { low, high }) => {
                let number: u64 = value.parse().map_err(|_| invalid())?;
                number.clamp(*low, *high).to_string()
            }
            Some(FakeRule::Choice { choices }) => bracketed(choices, value, &current)?,
            Some(FakeRule::Flags) => flipped(&current, value)?,
            Some(FakeRule::Rescale { others }) => {
                self.rescale(path, absolute, others, value)?;
                value.to_owned()
            }
            Some(FakeRule::Refuse) | None => value.to_owned(),
        };
        fs::write(path, format!("{text}\n"))?;
        self.step();
        Ok(())
    }

    fn rescale(
        &self,
        path: &Path,
        absolute: &str,
        others: &BTreeMap<String, BTreeMap<String, String>>,
        value: &str,
    ) -> io::Result<()> {
        let depth = absolute.trim_start_matches('/').split('/').count();
        let root = path.ancestors().nth(depth).unwrap_or(path);
        for (other, texts) in others {
            if let Some(text) = texts.get(value) {
                fs::write(root.join(other.trim_start_matches('/')), format!("{text}\n"))?;
            }
        }
        Ok(())
    }
}

fn invalid() -> io::Error {
    io::Error::from_raw_os_error(libc::EINVAL)
}

/// Brackets around the current choice; parentheses where the file had them, as
/// sched/preempt does.
fn bracketed(choices: &[String], value: &str, current: &str) -> io::Result<String> {
    if !choices.iter().any(|choice| choice == value) {
        return Err(invalid());
    }
    let (open, close) = if current.contains('(') { ('(', ')') } else { ('[', ']') };
    let show = |choice: &String| {
        if choice == value { format!("{open}{choice}{close}") } else { choice.clone() }
    };
    Ok(choices.iter().map(show).collect::<Vec<_>>().join(" "))
}

fn flipped(current: &str, value: &str) -> io::Result<String> {
    let name = value.strip_prefix("NO_").unwrap_or(value);
    let is_name = |word: &str| word.strip_prefix("NO_").unwrap_or(word) == name;
    if !current.split_whitespace().any(is_name) {
        return Err(invalid());
    }
    let flip = |word: &str| if is_name(word) { value.to_owned() } else { word.to_owned() };
    Ok(current.split_whitespace().map(flip).collect::<Vec<_>>().join(" "))
}
