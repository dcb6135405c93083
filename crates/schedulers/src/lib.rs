//! Which scheduler is in charge: the kernel's own classes, a published sched_ext program, or
//! one of ours.
//!
//! This crate must not know experiments, trials or journals: it says what a scheduler is
//! started with and how to tell that it is in charge. The executor starts and ends it.

mod factor;
mod in_charge;
mod level;
pub mod own;
mod published;

pub use factor::{Entry, SCHEDULER_ROLE};
pub use level::meant;
pub use published::{PUBLISHED, Published, how_to_get, published};
