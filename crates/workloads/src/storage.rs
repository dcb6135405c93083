//! What the I/O workloads share: where their files and devices lie, memory that
//! O_DIRECT accepts, a pattern that gives wrong blocks away, and empty caches.

pub(crate) mod buffer;
pub(crate) mod caches;
pub(crate) mod direct;
pub(crate) mod fairness;
pub(crate) mod pattern;
pub(crate) mod place;
pub(crate) mod priority;
pub(crate) mod target;
pub(crate) mod transfer;
