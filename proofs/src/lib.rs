//! Our schedulers in real guests: the program that loads one and keeps tasks busy.
//!
//! This crate must not know what an algorithm decides; it makes tasks, watches that the
//! scheduler stays in charge, and records what the scheduler tells.

pub mod crowd;
pub mod recording;
pub mod shares;
mod spinners;
pub mod survival;
pub mod waits;
