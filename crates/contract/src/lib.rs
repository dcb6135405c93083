//! What the rooms agree on: traits, errors, requirements and the catalogue.
//!
//! This crate must not know any workload, factor, probe or venue; it only says
//! what each of them promises. To add one, read this crate and no other.

mod boot;
mod catalogue;
mod description;
pub mod document;
mod error;
mod event;
mod factor;
mod facts;
mod held;
mod host_load;
mod interrupt;
mod key;
mod launch;
mod log;
mod long_lived_service;
mod nearest;
mod parameter;
mod private_network;
mod probe;
mod problem;
mod rate_search;
mod recipe;
mod requirement;
mod service;
pub mod shared_names;
mod trial_catalogue;
mod undo_check;
mod venue;
mod venue_entry;
mod workload;

pub use boot::{BootSpec, Topology};
pub use catalogue::Catalogue;
pub use description::Description;
pub use error::{Error, ErrorKind, Result};
pub use event::Event;
pub use factor::{
    BootKnob, FIRST_KNOB, Factor, Knob, LaunchKnob, ON_TOP, Setting, SystemKnob, is_file_of,
    is_name_of,
};
pub use facts::{ProgramFile, WorkloadFacts};
pub use held::{Held, HeldKnob, HolderProcess, Lost, NOT_PUT_BACK, NotHeld, Program, Supervisor};
pub use host_load::{
    HOST_LOAD_HOST, HOST_LOAD_LINK, HOST_LOAD_NETWORK, HOST_LOAD_PORT, HOST_LOAD_ROLE,
    HostLoadAnswer, HostLoadOrder, HostLoadSettings,
};
pub use interrupt::Interrupt;
pub use key::{Key, Readable, Tables, WordChoice, count_declared, join_declared};
pub use launch::{APART, CpuQuota, IoGroup, LaunchSpec, ServerGroups};
pub use log::{LOG_PREFIX, LOG_VARIABLE, is_log_line};
pub use long_lived_service::LongLivedService;
pub use model::{Missing, Phase};
pub use nearest::nearest;
pub use parameter::{Parameter, ParameterKind, join_words, split_words};
pub use private_network::{
    PEER_ROLE, PEERS_LINK, PRIVATE_PREFIX, PrivateLink, SUBJECTS_LINK, peers_address,
};
pub use probe::{AttachedProbe, Cost, Probe, ProbeTarget};
pub use problem::Problem;
pub use rate_search::RateSearch;
pub use recipe::Recipe;
pub use requirement::Requirement;
pub use service::{Service, ServiceFacts};
pub use trial_catalogue::TrialCatalogue;
pub use undo_check::{KnownLimit, UndoCheck};
pub use venue::{Venue, VenueSession};
pub use venue_entry::{
    ConfiguredVenue, Footprint, Neighbour, Refusal, RequiredFactor, VenueContext, VenueEntry,
    VenueExample, VenueFacts, VenuePrerequisite,
};
pub use workload::{Configured, Load, Measurement, Workload};
