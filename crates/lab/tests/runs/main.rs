//! Whole campaigns on venues that are scripts.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

mod campaigns;
mod soak;
