//! What reference tools print: bytes in, numbers out.
//!
//! This crate must not know what its numbers are for: no campaign, no metric and no
//! table. It believes nothing: what it reads is hostile until parsed, a number that is
//! missing is an error and never zero, and every error names its line or its place.

mod format;
mod json;
mod percentile;
mod trouble;

pub use format::{Format, Reaction};
pub use json::{Json, JsonNode, line_of};
pub use percentile::Percentile;
pub use trouble::Trouble;

/// Declares the tools' modules and lists their formats.
macro_rules! formats {
    ($($tool:ident),* $(,)?) => {
        $(pub mod $tool;)*

        /// Every format that is read here; each is a target of the fuzzer.
        pub const FORMATS: &[Format] = &[$($tool::FORMAT),*];
    };
}

formats! { fio, gatling, iozone, iperf3, sockperf, wrk }
