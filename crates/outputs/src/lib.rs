//! What reference tools print: bytes in, numbers out.
//!
//! This crate must not know what its numbers are for: no campaign, no metric and no
//! table. It believes nothing: what it reads is hostile until parsed, a number that is
//! missing is an error and never zero, and every error names its line or its place.

pub mod fio;
pub mod gatling;
pub mod iozone;
pub mod iperf3;
mod json;
mod percentile;
pub mod sockperf;
mod trouble;
pub mod wrk;

pub use json::{Json, Place, line_of};
pub use percentile::Percentile;
pub use trouble::Trouble;
