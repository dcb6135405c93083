//! Seeded mutation of every parser of foreign bytes, on stable Rust; where somebody has built
//! `fuzz/coverage`, also inputs that are guided by the code that they reach.
//!
//! This crate must not know what a parser is for: a target gets bytes, says
//! whether it accepted them, and panics where one of its claims is broken. The
//! same seed tries the same inputs in the same order. To add a target, write
//! one file in `targets/` and one line in `targets.rs`; what tools print is a target for each of
//! `outputs::FORMATS`, and what is imported one for each of `importers::IMPORTERS`.

mod choices;
mod corpus;
mod guided;
mod imports;
mod lanes;
mod mutation;
mod supervisor;
mod targets;
mod worker;

pub use corpus::{Corpus, corpus_folder};
pub use guided::{GuidedRun, begin_guided, guide};
pub use mutation::Mutator;
pub use supervisor::{FuzzRun, fuzz};
pub use targets::{FuzzTarget, Reaction, TARGETS, known, target};
pub use worker::{Assignment, work};
