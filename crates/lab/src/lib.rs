//! The campaign: a plan times a venue gives records, and records give findings.
//!
//! This crate must not know how a venue runs a trial or how anything is shown.
//! It promises that a record is on disk before the next trial begins, that the
//! same command goes on with a campaign, and that everything that happens is in
//! one event stream.

mod campaign;
mod ending;
mod event_line;
mod pacing;
mod progress;
mod recorded_trials;
mod schedule;

pub use campaign::{Ended, Order, judge, judge_records, qualified, run};
pub use ending::{load, load_held, repetitions, resumed};
pub use event_line::event_line;
pub use progress::CampaignProgress;
