//! Builds of what others wrote, without the privileges of root: build scripts, macros and plugins
//! run while something is built, and nobody here has read them all.
//!
//! Where root builds, a user without privileges does it instead, and can write to nothing but the
//! directories that were made for the build (ADR 35). No process of the build outlives it, and of the
//! caller's environment it gets what is listed.
//! What that user leaves is taken over as bytes, never by following a link. Artefacts of Maven come
//! from a repository that holds nothing but what a lock file names.
//!
//! This crate must not know what is built, nor why; it reads no environment.

mod maven;
mod product;
mod tree_build;
mod user;
mod variables;
mod view_root;

pub use maven::{LockedMaven, NOT_FETCHED};
pub use product::take_file;
pub use tree_build::{TreeBuild, TreeCommand};
pub use user::{BuildUser, Views};
pub use variables::BuildVariables;
