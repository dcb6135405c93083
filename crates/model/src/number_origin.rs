//! Where numbers come from, in one word.

use crate::{CaveatCode, Findings, Plan};
use serde::Serialize;

/// Where the numbers of a campaign come from; of several origins the first that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NumberOrigin {
    /// No machine was measured, here or by others.
    Simulated,
    /// An emulated processor ran, here or with others: they are those of no real one.
    Emulated,
    /// They are numbers of others.
    Imported,
    /// They were measured here.
    Measured,
}

impl NumberOrigin {
    /// The origin of a plan's numbers. That others simulated them, and that a processor was emulated,
    /// is known by the findings alone: without any nothing was measured yet.
    pub fn of(plan: &Plan, findings: Option<&Findings>) -> Self {
        let is_simulated = |findings: &Findings| {
            findings.caveats.iter().any(|caveat| caveat.code == CaveatCode::Simulated)
        };
        let is_emulated =
            |findings: &Findings| findings.findings.iter().any(|finding| finding.is_emulated);
        if plan.is_simulated() || findings.is_some_and(is_simulated) {
            Self::Simulated
        } else if findings.is_some_and(is_emulated) {
            Self::Emulated
        } else if plan.imported.is_some() {
            Self::Imported
        } else {
            Self::Measured
        }
    }

    /// The word for it: `simulated`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Emulated => "emulated",
            Self::Imported => "imported",
            Self::Measured => "measured",
        }
    }

    /// The same, where it has to be said: nothing of what was measured.
    pub fn word_unless_measured(self) -> Option<&'static str> {
        (self != Self::Measured).then(|| self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::PLAN;

    #[test]
    fn a_plan_tells_that_nothing_is_measured() {
        let of = |text: &str| NumberOrigin::of(&serde_json::from_str(text).unwrap(), None);
        assert_eq!(of(PLAN), NumberOrigin::Simulated);
        let on_host = PLAN.replace(r#""venue":"sim""#, r#""venue":"host""#);
        assert_eq!(of(&on_host), NumberOrigin::Measured);
    }

    #[test]
    fn the_word_is_what_is_stored() {
        for origin in [
            NumberOrigin::Simulated,
            NumberOrigin::Emulated,
            NumberOrigin::Imported,
            NumberOrigin::Measured,
        ] {
            assert_eq!(serde_json::to_value(origin).unwrap(), origin.word());
        }
    }
}
