//! What targets of every kind have alike: the rule that a lost one breaks, and what they tell.

use model::StorageTarget;

/// Rule broken by a target that went away during a trial.
pub(crate) const TARGET_LOST: &str = "TARGET_LOST";

/// What to do where a device would be left behind.
pub(crate) const ELSEWHERE: &str = "use a virtual machine (venue = \"vm\")";

/// What every target tells a record.
pub(crate) fn facts(target: &StorageTarget) -> Vec<(String, String)> {
    let mut facts =
        vec![("device".to_owned(), target.device.clone().unwrap_or_else(|| "none".to_owned()))];
    if let Some(why) = &target.cached_by {
        facts.push(("cached_by".to_owned(), why.clone()));
    }
    facts
}
