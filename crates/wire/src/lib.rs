//! What a host and the agent in its guest say to each other: versioned messages in
//! frames that survive a channel without sessions.
//!
//! This crate must not know sockets, devices or machines. It turns messages into
//! bytes and bytes into messages; whatever a broken or hostile other side sends is
//! refused with a reason and never believed.

mod bytes;
mod frame;
mod message;

pub use bytes::Bytes;
pub use frame::{Corrupt, Decoder, Encoder, LONGEST_PAYLOAD};
pub use message::{
    BY_SERIAL, FailureKind, GuestFailure, GuestSettings, INPUT_WINDOW, Mount, ORDERS_FILE,
    OutputStream, Pty, SCRATCH_DISK, SETTINGS_FILE, WIRE_FORMAT, WireAnswer, WireRequest,
};
