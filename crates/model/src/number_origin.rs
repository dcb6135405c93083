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
    /// A guest ran them or will, and nothing says yet whether its processor is a real one.
    Unknown,
    /// They are numbers of others.
    Imported,
    /// They were measured here.
    Measured,
}

impl NumberOrigin {
    /// The origin of a plan's numbers. That others simulated them, and that a processor was emulated,
    /// is known by the findings alone, and only by those of records: without any that of a guest's
    /// numbers is unknown, although some may have been measured.
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
        } else if findings.is_none() && plan.boots_guests() {
            Self::Unknown
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
            Self::Unknown => "unknown",
            Self::Imported => "imported",
            Self::Measured => "measured",
        }
    }

    /// What is said of it where nothing else says that it is about the origin; nothing of what was
    /// measured.
    pub fn told_unless_measured(self) -> Option<&'static str> {
        match self {
            Self::Measured => None,
            Self::Unknown => Some("origin unknown"),
            _ => Some(self.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VmSettings;
    use crate::fixtures::PLAN;

    #[test]
    fn without_findings_a_plan_tells_of_a_simulator_and_not_which_processor_a_guest_has() {
        let simulated: Plan = serde_json::from_str(PLAN).unwrap();
        let host = Plan { venue: "host".to_owned(), ..simulated.clone() };
        let vm = Some(VmSettings::default());
        let guest = Plan { venue: "vm".to_owned(), vm, ..simulated.clone() };
        assert_eq!(NumberOrigin::of(&simulated, None), NumberOrigin::Simulated);
        assert_eq!(NumberOrigin::of(&host, None), NumberOrigin::Measured);
        assert_eq!(NumberOrigin::of(&guest, None), NumberOrigin::Unknown);
    }

    #[test]
    fn that_an_origin_is_unknown_is_said_with_what_is() {
        assert_eq!(NumberOrigin::Unknown.told_unless_measured(), Some("origin unknown"));
        assert_eq!(NumberOrigin::Emulated.told_unless_measured(), Some("emulated"));
        assert_eq!(NumberOrigin::Measured.told_unless_measured(), None);
    }

    #[test]
    fn the_word_is_what_is_stored() {
        for origin in [
            NumberOrigin::Simulated,
            NumberOrigin::Emulated,
            NumberOrigin::Unknown,
            NumberOrigin::Imported,
            NumberOrigin::Measured,
        ] {
            assert_eq!(serde_json::to_value(origin).unwrap(), origin.word());
        }
    }
}
