//! What is built from sources before a run: kernels, published schedulers, services of the user's.
//!
//! This crate must not know what an experiment, a venue or a guest is, and never runs what it has
//! built.

mod build;
mod fragment;
mod from_sources;
mod scheduler_name;
mod schedulers;

pub use build_user::{BuildUser, BuildVariables};

pub use build::{Build, KernelSource, build};
pub use from_sources::FromSources;
pub use scheduler_name::SchedulerName;
pub use schedulers::{Scheduler, SchedulerOffer, SchedulerProgress, Schedulers, Toolchain};
