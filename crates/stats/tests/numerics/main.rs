//! The numerics against oracles, and on data that nothing was made for.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

mod degenerate;
mod oracles;
