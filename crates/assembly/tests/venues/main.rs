//! Venues of the one catalogue, and one more beside them.

#![expect(clippy::unwrap_used, reason = "tests may unwrap, and so may what only they use")]

mod another;
mod tables;
