//! One trial on this machine: knobs journalled and read back, the workload in a
//! process of its own, everything put back whatever happens.
//!
//! This crate must not know plans or campaigns, nor any particular workload,
//! factor or probe. Restore is one piece of code ([`restore`]) for the end of a
//! trial, a signal, a later start, `schedlab restore` and the guardian.

mod background;
mod change;
#[cfg(test)]
mod changed_knob;
mod child;
mod context;
mod executor;
mod executor_settings;
#[cfg(test)]
mod failing_files;
mod fingerprint;
mod groups;
mod guarded_machine;
mod guardian;
mod health;
mod heartbeat;
mod host_load;
mod inert_lines;
mod journal;
mod journal_copy;
mod journal_damage;
mod journal_entry;
mod journal_messages;
mod journal_text;
mod kill_processes;
mod knobs;
mod left_processes;
mod leftovers;
mod limits;
mod load_process;
mod lock;
mod long_lived_service;
mod needs;
mod permitted_changes;
mod restore;
mod running;
mod runtime_directory;
mod standstill;
mod supervisor;
mod trial;
mod trial_resources;
mod undo;
mod user_directories;

pub use background::serve_background;
pub use child::BACKGROUND_ROLE;
pub use executor::Executor;
pub use executor_settings::ExecutorSettings;
pub use fingerprint::fingerprint;
pub use guarded_machine::{GuardedMachine, mark_prefix};
pub use guardian::{GUARDIAN_LOG, GUARDIAN_ROLE, Guardian, StartGuardian, guard, serve_guardian};
pub use heartbeat::{Heartbeat, HeartbeatReport, LONGEST_STANDSTILL, LONGEST_STANDSTILL_OF_GUESTS};
pub use host_load::{HostLoadProcess, serve_host_load};
pub use journal::Journal;
pub use journal_entry::JournalEntry;
pub use journal_text::{JournalText, journal_line, journal_text, parse_journal};
pub use leftovers::restore_leftovers;
pub use load_process::{LOAD_ROLE, LoadAnswer, LoadOrder, serve_load};
pub use lock::{Lock, LockHolder};
pub use long_lived_service::{LONG_LIVED_ROLE, serve_long_lived};
pub use needs::{factor_needs, missing, no_sched_ext, with_target};
pub use permitted_changes::PermittedChanges;
pub use restore::{RestoreReport, acknowledge, pending, restore};
pub use runtime_directory::check_runtime_directory;
pub use user_directories::{TemporaryRuntime, other_runtime_directories};
