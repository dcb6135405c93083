//! The messages. A conversation begins with a hello; each request has its answers.

use crate::Bytes;
use model::{Fingerprint, Missing, Phase, Plan, Record, Trial, bounded_text, on_one_line};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The version of these messages; both sides must speak the same.
pub const WIRE_FORMAT: &str = "schedlab.wire/2";

/// From the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "request")]
pub enum WireRequest {
    /// Begins a conversation; numbers of frames begin anew.
    Hello {
        /// [`WIRE_FORMAT`].
        format: String,
        /// Comes back in the answer: an answer to an earlier hello is passed over.
        nonce: u64,
    },
    /// Comes back as it is.
    Echo {
        /// What comes back.
        payload: Bytes,
    },
    /// What these subjects' trials need and this guest lacks.
    Missing {
        /// The plan, with the subjects that would run in this guest.
        plan: Box<Plan>,
    },
    /// The guest as it is.
    Fingerprint,
    /// Makes the guest ready for trials.
    Open {
        /// What runs, for the message to a process that finds the lock taken.
        purpose: String,
    },
    /// Runs a trial: phases, then the record, then its logs.
    Run {
        /// The trial.
        trial: Box<Trial>,
    },
    /// Asks a running trial or program to stop.
    Interrupt {
        /// The signal that the user sent.
        signal: i32,
    },
    /// Runs a program.
    Execute {
        /// The program and its arguments.
        words: Vec<String>,
        /// Variables of its environment beside the guest's own.
        environment: Vec<(String, String)>,
        /// A terminal for it; its standard streams are pipes where there is none.
        pty: Option<Pty>,
    },
    /// Standard input of the program; empty closes it.
    Input {
        /// What was typed.
        payload: Bytes,
    },
    /// The terminal changed its size.
    Resize {
        /// Its size.
        pty: Pty,
    },
    /// Ends what was opened, everything put back.
    Close,
    /// Switches the machine off.
    PowerOff,
}

/// From the guest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum WireAnswer {
    /// To a hello.
    Hello {
        /// [`WIRE_FORMAT`].
        format: String,
        /// Of the hello.
        nonce: u64,
        /// Version of the agent.
        version: String,
        /// Kernel release.
        release: String,
        /// Id of the boot.
        boot_id: String,
        /// Memory that the agent has resident.
        agent_bytes: u64,
        /// What the machine's first process could not do, in words.
        complaints: Vec<String>,
    },
    /// To an echo.
    Echo {
        /// What came.
        payload: Bytes,
    },
    /// What is missing.
    Missing {
        /// Each thing once.
        missing: Vec<Missing>,
    },
    /// The guest as it is.
    Fingerprint {
        /// By key.
        fingerprint: Fingerprint,
    },
    /// Ready for trials.
    Opened,
    /// A running trial entered a phase.
    Phase {
        /// The phase.
        phase: Phase,
    },
    /// Something a person should read now.
    Notice {
        /// In words.
        text: String,
    },
    /// A trial's record.
    Record {
        /// The record.
        record: Box<Record>,
        /// Frames that came or went while the workload ran; none should.
        frames_while_running: u64,
        /// How long each run took by the guest's clock: from the phase that tells of it to the
        /// next one.
        #[serde(default)]
        run_lengths_ns: Vec<u64>,
    },
    /// A log that a trial left; follows its record.
    Log {
        /// File name without directories.
        name: String,
        /// Its last part, where it is long.
        text: Bytes,
    },
    /// All logs of a trial were sent.
    LogsSent,
    /// The program wrote something.
    Output {
        /// Where to.
        stream: OutputStream,
        /// What.
        payload: Bytes,
    },
    /// The program took input, or will never take it: as much more may be sent.
    Fed {
        /// How many bytes.
        bytes: u64,
    },
    /// The program ended.
    Exited {
        /// Its exit status; 128 and the signal's number where one ended it.
        status: i32,
    },
    /// Everything was put back.
    Closed,
    /// The request failed.
    Failed {
        /// Why.
        failure: GuestFailure,
    },
}

/// Bytes of input that may be on their way to a program that has not taken them.
pub const INPUT_WINDOW: u64 = 256 << 10;

/// Streams of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Standard output, and everything of a terminal.
    Output,
    /// Standard error.
    Error,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pty {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// An error of the guest's side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestFailure {
    /// Which kind.
    pub kind: FailureKind,
    /// What was attempted.
    pub attempted: String,
    /// Why it failed.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for GuestFailure {
    /// On one line, and no longer than a text of a report: it becomes the reason of a record.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = on_one_line(&format!("{}: {}", self.attempted, self.cause));
        formatter.write_str(&bounded_text(&told))
    }
}

/// Kinds of errors, as everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Something that cannot be meant.
    Usage,
    /// The guest or its surroundings failed.
    Environment,
    /// This kernel cannot do it.
    Unsupported,
    /// A signal ended it.
    Interrupted,
    /// Something could not be put back.
    RestoreIncomplete,
}

/// Where the guest's first process finds its settings.
pub const SETTINGS_FILE: &str = "/etc/schedlab/guest.json";

/// Where a guest that nobody talks to finds its orders: a list of requests.
pub const ORDERS_FILE: &str = "/etc/schedlab/orders.json";

/// Beginning of a mount's source that is a disk's serial number.
pub const BY_SERIAL: &str = "serial:";

/// Where the disk for workloads' files is mounted, in guests that have one.
pub const SCRATCH_DISK: &str = "/run/schedlab-scratch";

/// What the guest's first process is told: a file of the initramfs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestSettings {
    /// Modules to load, in order: path and arguments.
    pub modules: Vec<(String, String)>,
    /// File systems beside the kernel's own.
    pub mounts: Vec<Mount>,
    /// Controllers that groups of the first level have.
    pub controllers: Vec<String>,
    /// Where programs begin, if not in the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// What the agent logs on its console, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// A file system to mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// The device, or [`BY_SERIAL`] and the serial number of a disk.
    pub source: String,
    /// Where.
    pub target: String,
    /// Its type.
    pub kind: String,
    /// Its options, as mount(2) takes them.
    pub options: String,
    /// Whether nothing may be written.
    pub is_read_only: bool,
}
