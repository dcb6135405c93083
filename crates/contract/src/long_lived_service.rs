//! What outlives trials: started once, used by every trial that asks for the same.

use crate::Result;
use std::collections::BTreeMap;
use std::time::Duration;

/// A service that stands: started before the first trial that asks for it, ended with the last
/// one, or by a trial that fails. Dropping it stops and reaps it.
pub trait LongLivedService {
    /// What a trial's load needs to know of it ([`crate::LaunchSpec::long_lived`]).
    fn facts(&self) -> BTreeMap<String, String>;

    /// Whether it still stands.
    ///
    /// # Errors
    /// How it ended, in words.
    fn check(&mut self) -> Result<()>;

    /// How long it may take to end when asked to.
    fn ends_within(&self) -> Duration;
}
