//! A scheduler of ours in charge of this machine.

use super::{Choice, SchedulerStatistics, can_load};
use bpf::{AttachedProgram, LoadedObject, OpenedObject, RingReader};
use contract::Error;
use std::fmt;
use sys::Machine;

/// How a scheduler is loaded.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Bytes of the ring buffer that events are written to; `None`: no tracing. A power
    /// of two from 4 KiB on.
    pub trace_bytes: Option<u32>,
}

/// A scheduler in charge. Dropping it gives the CPUs back to the kernel's own classes.
#[derive(Debug)]
pub struct Running {
    /// Before `loaded`, so that it is detached before its maps go.
    attached: Option<AttachedProgram>,
    loaded: LoadedObject,
}

/// Why the kernel ended a scheduler (`struct scx_exit_info`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// `enum scx_exit_kind`: 64 and more is regular, 1024 and more an error.
    pub kind: u64,
    /// The code that was given.
    pub code: i64,
    /// The kernel's words.
    pub reason: String,
    /// Details; may be empty.
    pub message: String,
}

impl Running {
    /// Loads a scheduler and puts it in charge.
    ///
    /// # Errors
    /// This kernel cannot, another scheduler is loaded, or the kernel refuses.
    pub fn start(machine: &Machine, choice: &Choice, options: &Options) -> Result<Self, Error> {
        let attempted = format!("cannot load the scheduler lab:{choice}");
        can_load(machine)
            .map_err(|unable| Error::unsupported(attempted.as_str(), &unable, unable.remedy()))?;
        let fail = |error: bpf::Error| Error::environment(attempted.as_str(), error);
        let algorithm = choice.algorithm();
        let mut opened = OpenedObject::open(algorithm.id, algorithm.object).map_err(fail)?;
        for (name, bytes) in choice.constants() {
            opened.set(&name, &bytes).map_err(fail)?;
        }
        if let Some(bytes) = options.trace_bytes {
            opened.set("tracing", &[1]).map_err(fail)?;
            opened.resize("events", bytes).map_err(fail)?;
        }
        let mut loaded = opened.load().map_err(fail)?;
        match loaded.attach("scheduler_operations") {
            Ok(attached) => Ok(Self { attached: Some(attached), loaded }),
            Err(error) => {
                // The kernel tells why in the exit record, where it came as far as that.
                let told = read_exit(&loaded).map(|exit| format!(" ({exit})")).unwrap_or_default();
                Err(Error::environment(attempted.as_str(), format!("{error}{told}")))
            }
        }
    }

    /// Why the kernel ended it; `None` while it is in charge.
    pub fn exit(&self) -> Option<Exit> {
        read_exit(&self.loaded)
    }

    /// Gives the CPUs back and waits until that is done; then tells how it ended.
    pub fn stop(&mut self) -> Option<Exit> {
        self.attached = None;
        self.exit()
    }

    /// What it counted.
    ///
    /// # Errors
    /// The counters cannot be read.
    pub fn statistics(&self) -> Result<SchedulerStatistics, Error> {
        let values = self.loaded.per_cpu("statistics", 0).map_err(cannot_read)?;
        Ok(SchedulerStatistics::sum(&values))
    }

    /// Reads events as they come; each is 64 bytes for [`super::trace::TraceEvent::decode`].
    ///
    /// # Errors
    /// The buffer cannot be read.
    pub fn events<'a>(&self, each: impl FnMut(&[u8]) + 'a) -> Result<RingReader<'a>, Error> {
        self.loaded.ring("events", each).map_err(cannot_read)
    }

    /// How many events found the buffer full.
    ///
    /// # Errors
    /// The counter cannot be read.
    pub fn events_lost(&self) -> Result<u64, Error> {
        let bytes = self.loaded.variable("events_lost").map_err(cannot_read)?;
        Ok(word(&bytes, 0).unwrap_or(u64::MAX))
    }
}

fn cannot_read(error: bpf::Error) -> Error {
    Error::environment("cannot read what the scheduler tells", error)
}

/// `struct exit_record` in scheduler.bpf.h: 128 and 1024 bytes of text, code, kind.
fn read_exit(loaded: &LoadedObject) -> Option<Exit> {
    let record = loaded.variable("exit_record").ok()?;
    let kind = word(&record, 1160).filter(|kind| *kind != 0)?;
    let text = |bytes: Option<&[u8]>| {
        let bytes = bytes.unwrap_or_default().split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    Some(Exit {
        kind,
        code: word(&record, 1152)?.cast_signed(),
        reason: text(record.get(..128)),
        message: text(record.get(128..1152)),
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

impl Exit {
    /// Whether the scheduler left because it was asked to by its own process
    /// (SCX_EXIT_UNREG).
    pub fn is_clean(&self) -> bool {
        self.kind == 64
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.reason.is_empty() {
            "no reason given"
        } else {
            &self.reason
        })?;
        if !self.message.is_empty() {
            write!(formatter, ": {}", self.message)?;
        }
        write!(formatter, " (kind {}, code {})", self.kind, self.code)
    }
}
