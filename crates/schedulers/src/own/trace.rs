//! Events of a traced scheduler (trace.bpf.h), as a model reads them.

/// Bytes of one event.
pub const EVENT_BYTES: usize = 64;
