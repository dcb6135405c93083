//! An obstacle with its reason in words and the caveat that tells it.

use model::{Caveat, CaveatCode, Obstacle};

/// An obstacle that stands in the way of one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Raised {
    pub obstacle: Obstacle,
    /// Why, in one sentence: the finding's reason where it decides.
    pub reason: String,
    /// What tells it beside the reason; none where a caveat of the signal does already.
    pub caveat: Option<Caveat>,
}

impl Raised {
    /// An obstacle that a caveat of its signal tells, or none.
    pub(crate) fn silent(obstacle: Obstacle, reason: impl Into<String>) -> Self {
        Self { obstacle, reason: reason.into(), caveat: None }
    }

    /// An obstacle with its caveat.
    pub(crate) fn with_caveat(
        obstacle: Obstacle,
        reason: impl Into<String>,
        code: CaveatCode,
        detail: impl Into<String>,
    ) -> Self {
        Self { obstacle, reason: reason.into(), caveat: Some(Caveat::new(code, detail)) }
    }
}
