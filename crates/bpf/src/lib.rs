//! BPF objects: what this kernel can load, loading, attaching, and reading what they tell.
//!
//! This crate must not know what an object is for: schedulers and probes bring their own.
//! Without the feature `libbpf` every function is there and answers that this build cannot.

mod btf;
mod error;
#[cfg(feature = "libbpf")]
mod layout;
mod probe;

#[cfg(feature = "libbpf")]
mod loading;
#[cfg(not(feature = "libbpf"))]
#[path = "without_libbpf.rs"]
mod loading;

pub use error::{Error, Result};
pub use loading::{AttachedProgram, LoadedObject, OpenedObject, RingReader, print_to};
pub use probe::{Unable, can_load_schedulers};
