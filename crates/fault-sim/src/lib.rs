//! Faults at every operation on files of executor, journal, guardian and store, by seeded
//! schedules: operations that fail, processes that are killed, power that is cut, bits that flip
//! (docs/adr/0046-one-seam-for-faults-of-files.md).
//!
//! This crate has tests alone, and must not know how the product works inside: what runs is the
//! executor, the guardian and the store as they are delivered, on a simulated machine below
//! `sys::Files`. A schedule is a number; the same number is the same schedule.

#[cfg(test)]
mod attempt_faults;
#[cfg(test)]
mod campaign_calls;
#[cfg(test)]
mod campaign_runs;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod document_faults;
#[cfg(test)]
mod ended_processes;
#[cfg(test)]
mod extra_files;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod guardian_copies;
#[cfg(test)]
mod host_campaigns;
#[cfg(test)]
mod journal_damage;
#[cfg(test)]
mod journal_faults;
#[cfg(test)]
mod journal_schedule;
#[cfg(test)]
mod journal_words;
#[cfg(test)]
mod kernel;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod open_file;
#[cfg(test)]
mod random;
#[cfg(test)]
mod record_damage;
#[cfg(test)]
mod record_faults;
#[cfg(test)]
mod record_flaws;
#[cfg(test)]
mod restore_schedule;
#[cfg(test)]
mod restore_words;
#[cfg(test)]
mod schedule;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod simulated_files;
#[cfg(test)]
mod stored_campaign;
#[cfg(test)]
mod trial_factors;
#[cfg(test)]
mod trial_levels;
