//! One trial on this machine: knobs journalled and read back, the workload in a
//! process of its own, everything put back whatever happens.
//!
//! This crate must not know plans or campaigns, nor any particular workload,
//! factor or probe. Restore is one piece of code ([`restore`]) for the end of a
//! trial, a signal, a later start, `schedlab restore` and the guardian.

mod background;
mod beside;
mod child;
mod ending;
mod fingerprint;
mod groups;
mod guardian;
mod health;
mod journal;
mod keeper;
mod knobs;
mod limits;
mod load_process;
mod lock;
mod needs;
mod outside;
mod restore;
mod running;
mod session;
mod standing;
mod trial;
mod watch;

pub use background::serve_background;
pub use child::BACKGROUND_ROLE;
pub use fingerprint::fingerprint;
pub use guardian::{GUARDIAN_ROLE, serve_guardian};
pub use journal::{Journal, JournalEntry, parse_journal};
pub use load_process::{LOAD_ROLE, LoadAnswer, LoadOrder, serve_load};
pub use lock::{Holder, Lock};
pub use needs::{factor_needs, missing, no_sched_ext, with_target};
pub use outside::{Outside, serve_outside};
pub use restore::{RestoreReport, acknowledge, pending, restore};
pub use session::{Executor, Settings};
pub use standing::{STANDING_ROLE, serve_standing};
pub use watch::{Watch, mark_prefix};
