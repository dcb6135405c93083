//! Files of a simulated kernel that a test puts there beside its knobs: settings of devices with
//! what writing one does to another, and the processes that `/proc` and control groups show.

use libc::EPERM;
use std::collections::BTreeMap;
use sys::Machine;

/// What writing a file does to another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SideEffect {
    pub(crate) written: &'static str,
    /// With this value; with any where none is named.
    pub(crate) value: Option<&'static str>,
    pub(crate) other: &'static str,
    /// What the other one holds then; it is gone where nothing is named.
    pub(crate) becomes: Option<&'static str>,
}

/// What one of these files holds.
#[derive(Debug)]
enum Content {
    Text(String),
    /// The kernel shows it to nobody (EPERM).
    Locked,
    /// The processes of a control group, of which those are shown that run.
    Members(Vec<i32>),
}

/// Files that are put there, and processes that are shown.
#[derive(Debug, Default)]
pub(crate) struct ExtraFiles {
    contents: BTreeMap<&'static str, Content>,
    effects: Vec<SideEffect>,
    processes: Vec<i32>,
}

impl ExtraFiles {
    /// Puts a file with this text there, which takes whatever is written.
    pub(crate) fn put(&mut self, path: &'static str, text: &str) {
        self.contents.insert(path, Content::Text(text.to_owned()));
    }

    /// Puts a file there that nobody can read.
    pub(crate) fn put_locked(&mut self, path: &'static str) {
        self.contents.insert(path, Content::Locked);
    }

    /// Puts the list of a control group's processes there.
    pub(crate) fn put_members(&mut self, path: &'static str, members: &[i32]) {
        self.contents.insert(path, Content::Members(members.to_owned()));
    }

    /// From now on writing one file does this to another.
    pub(crate) fn add_effect(&mut self, effect: SideEffect) {
        self.effects.push(effect);
    }

    /// Shows a process of this machine in `/proc`.
    pub(crate) fn show_process(&mut self, pid: i32) {
        self.processes.push(pid);
    }

    /// Names of the processes that are shown in `/proc`.
    pub(crate) fn process_names(&self) -> impl Iterator<Item = String> {
        self.processes.iter().map(i32::to_string)
    }

    /// The text of a file, or why it is not shown; nothing where there is none of that name.
    pub(crate) fn text(&self, path: &str) -> Option<Result<String, i32>> {
        Some(match self.contents.get(path)? {
            Content::Text(text) => Ok(text.clone()),
            Content::Locked => Err(EPERM),
            Content::Members(members) => {
                let running = members.iter().filter(|pid| is_running(**pid));
                Ok(running.map(i32::to_string).collect::<Vec<_>>().join("\n"))
            }
        })
    }

    /// Whether a file has that name, or lies below a directory of that name.
    pub(crate) fn has(&self, path: &str) -> bool {
        let is_it = |name: &&str| {
            name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.contents.keys().any(is_it)
    }

    /// Writes a file, with what that does to others. Whether there is one of that name.
    pub(crate) fn write(&mut self, path: &str, text: &str) -> bool {
        let Some(content) = self.contents.get_mut(path) else { return false };
        *content = Content::Text(text.to_owned());
        for effect in &self.effects {
            if effect.written != path || effect.value.is_some_and(|value| value != text) {
                continue;
            }
            match effect.becomes {
                Some(now) => {
                    self.contents.insert(effect.other, Content::Text(now.to_owned()));
                }
                None => {
                    self.contents.remove(effect.other);
                }
            }
        }
        true
    }
}

/// Whether a process of this machine runs; one that has ended and is not reaped does not.
pub(crate) fn is_running(pid: i32) -> bool {
    Machine::host("").live_process(pid).is_some()
}
