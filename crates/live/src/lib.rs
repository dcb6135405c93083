//! What a campaign does at this moment: how far it is, what is known so far, and how the
//! machine fares.
//!
//! This crate must not know who looks: a dashboard, a terminal and a scraper read the same
//! [`Snapshot`]. It promises to disturb nothing: the campaign writes a line for each event
//! ([`EventLog`]) whether anybody looks or not, and whoever looks reads files that they could
//! not change ([`Follower`], [`Sampler`]).

mod event_log;
mod follower;
mod latencies;
mod lookout;
mod machine;
mod snapshot;

pub use event_log::EventLog;
pub use follower::{Follower, is_running};
pub use lookout::{Lookout, Seen};
pub use machine::{CpuSample, Sample, Sampler};
pub use snapshot::{Current, Latency, LatencyPoint, LiveVerdict, LogLine, Snapshot, State, Trials};
