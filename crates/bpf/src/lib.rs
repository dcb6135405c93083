//! BPF objects: what this kernel can load, loading, attaching, and reading what they tell.
//!
//! This crate must not know what an object is for: schedulers and probes bring their own.
