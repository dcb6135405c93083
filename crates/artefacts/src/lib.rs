//! What a cache of artefacts needs: one writer at a time, digests, entries that appear in one step,
//! and programs of this machine, run without a shell.
//!
//! This crate must not know what is cached. It is given a cache directory and a program search path
//! and never looks for either; it never changes the system's package state.

pub mod commit_entry;
pub mod digest;
mod error;
mod guest_path;
pub mod lock;
pub mod programs;
mod regular_file;
mod replaced_file;
mod tree;

pub use error::{Error, ErrorKind, Result};
pub use guest_path::{MERGED, guest_path};
pub use regular_file::{open_regular, read_entry, read_regular};
pub use removal::{GRACE_PERIOD, open_directory, remove_tree, sweep_left};
pub use replaced_file::{replace, replace_by, sweep_drafts};
pub use tree::files_below;
