//! Why a trial ends before its last invocation, and what is checked of it meanwhile.

use crate::change::Refusal;
use crate::trial_resources::TrialResources;
use contract::{Error, Lost};
use model::{Level, Outcome, Trial};
use std::collections::BTreeMap;
use sys::{Machine, SchedExt};

/// Rule broken by a level that is not in force when the run begins.
pub(super) const LEVEL_NOT_SET: &str = "LEVEL_NOT_SET";
/// Rule broken by a level that changed while the workload ran.
pub(super) const LEVEL_CHANGED: &str = "LEVEL_CHANGED";
/// Rule broken by another scheduler that took charge, or left.
pub(super) const SCHEDULER_CHANGED: &str = "SCHEDULER_CHANGED";

/// Why a trial ends before its last invocation.
#[derive(Debug)]
pub(super) enum Stop {
    /// It has an outcome.
    Outcome(Outcome),
    /// The machine or the user ends it.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotInForce(detail) => Stop::invalid(LEVEL_NOT_SET, detail),
            Refusal::Lost(error) => Stop::Error(error),
        }
    }
}

impl From<Lost> for Stop {
    fn from(lost: Lost) -> Self {
        Stop::invalid(lost.rule, lost.detail)
    }
}

impl Stop {
    pub(super) fn invalid(rule: &str, detail: String) -> Self {
        Stop::Outcome(Outcome::Invalid { rule: rule.to_owned(), detail })
    }

    pub(super) fn failed(reason: String) -> Self {
        Stop::Outcome(Outcome::Failed { reason })
    }
}

/// Each level is the one that the trial is to have; `rule` is what another one breaks.
pub(super) fn check_levels(
    trial: &Trial,
    levels: &BTreeMap<String, Level>,
    rule: &str,
) -> Result<(), Stop> {
    for (factor, actual) in levels {
        let wanted = trial.subject.levels.get(factor);
        if wanted != Some(actual) {
            let wanted = wanted.map_or_else(String::new, Level::to_string);
            return Err(Stop::invalid(
                rule,
                format!("{factor} should be {wanted} and is {actual}"),
            ));
        }
    }
    Ok(())
}

/// The scheduler that the trial began with is still in charge.
pub(super) fn check_scheduler(
    machine: &Machine,
    began: &SchedExt,
    resources: &mut TrialResources,
) -> Result<(), Stop> {
    let now = SchedExt::read(machine);
    if now == *began {
        return Ok(());
    }
    // The holder process knows why the scheduler left, also where it left since the last check.
    resources.check()?;
    let detail = format!("the trial began with {began}, now there is {now}");
    Err(Stop::invalid(SCHEDULER_CHANGED, detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial_resources::HeldLevel;
    use contract::{Held, Result};

    /// A scheduler that left, and knows why.
    struct Ejected;

    impl Held for Ejected {
        fn check(&mut self) -> Result<(), Lost> {
            Err(Lost { rule: "EJECTED", detail: "runnable task stall".to_owned() })
        }

        fn group(&self) -> Option<i32> {
            None
        }

        fn facts(&self) -> Vec<(String, String)> {
            Vec::new()
        }

        fn release(self: Box<Self>) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_scheduler_that_leaves_within_a_check_is_reported_by_its_holder_process() {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        let rule = |began: &SchedExt, resources: &mut TrialResources| match check_scheduler(
            &machine, began, resources,
        ) {
            Err(Stop::Outcome(Outcome::Invalid { rule, .. })) => Some(rule),
            Err(_) => panic!("a changed scheduler makes a trial invalid"),
            Ok(()) => None,
        };
        let none = SchedExt::default();
        let began = SchedExt { ops: Some("bfs".to_owned()), ..none.clone() };
        let held = Box::new(Ejected);
        let mut resources = TrialResources::default();
        resources.add_held(HeldLevel::new("scheduler", Level::canonical("lab:bfs"), held));
        assert_eq!(rule(&began, &mut resources).as_deref(), Some("EJECTED"));
        assert_eq!(
            rule(&began, &mut TrialResources::default()).as_deref(),
            Some(SCHEDULER_CHANGED)
        );
        assert_eq!(rule(&none, &mut TrialResources::default()), None);
    }
}
