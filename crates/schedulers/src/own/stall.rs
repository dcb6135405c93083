//! A scheduler that breaks, for tests: no experiment can name it.

use super::{Algorithm, Choice};

static ALGORITHM: Algorithm = Algorithm {
    id: "stall",
    summary: "fifo for four seconds, then no task runs",
    doc: "",
    parameters: &[],
    object: object!("stall"),
};

/// It.
pub fn stall() -> Choice {
    Choice::of(&ALGORITHM)
}
