//! What a campaign does at this moment: how far it is, what is known so far, and how the
//! machine fares.
//!
//! This crate must not know its clients: a dashboard, a terminal and a scraper read the same
//! [`LiveCampaign`]. It promises to disturb nothing: the campaign writes a line for each event
//! ([`EventLog`]) whether a client reads it or not, and clients read files that they could
//! not change ([`Follower`], [`Sampler`]).

mod campaign_loader;
mod campaign_poller;
mod event_log;
mod follower;
mod latencies;
mod live_campaign;
mod machine;

pub use campaign_loader::CampaignLoader;
pub use campaign_poller::{CampaignPoller, PollResult};
pub use event_log::EventLog;
pub use follower::{Follower, is_running};
pub use live_campaign::{
    Current, LatencyPoint, LatencySeries, LiveCampaign, LiveVerdict, LogLine, RunState, Trials,
};
pub use machine::{CpuSample, MachineSample, Sampler};
