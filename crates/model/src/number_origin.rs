//! Where numbers come from, in one word.

use crate::{Finding, Findings, Imported, Plan};
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
    /// The origin of a plan's numbers. That a processor was emulated is known by the findings alone,
    /// and only by those of records: without any that of a guest's numbers is unknown, although some
    /// may have been measured.
    pub fn of(plan: &Plan, findings: Option<&Findings>) -> Self {
        let is_emulated =
            |findings: &Findings| findings.findings.iter().any(|finding| finding.is_emulated);
        Self::by_processor(plan, findings.map(is_emulated))
    }

    /// The origin of the numbers that one finding of the plan rests on: others of it may rest on those
    /// of another processor.
    pub fn of_finding(plan: &Plan, finding: &Finding) -> Self {
        Self::by_processor(plan, Some(finding.is_emulated))
    }

    /// The same by whether a processor was emulated, where any record says it.
    fn by_processor(plan: &Plan, is_emulated: Option<bool>) -> Self {
        if plan.has_simulated_numbers() {
            Self::Simulated
        } else if is_emulated == Some(true) {
            Self::Emulated
        } else if is_emulated.is_none() && plan.boots_guests() {
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

impl Plan {
    /// Whether its numbers were simulated, here or by others of whom they were imported: they say
    /// nothing about any machine.
    pub fn has_simulated_numbers(&self) -> bool {
        self.is_simulated() || self.imported.as_ref().is_some_and(Imported::is_simulated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::PLAN;
    use crate::{ImportFact, VmSettings};

    #[test]
    fn that_others_simulated_its_numbers_is_said_by_an_import_and_by_no_finding() {
        let stored = r#"{"format":"csv","file":"f","digest":"d","design":"blocked"}"#;
        let plan: Plan = serde_json::from_str(PLAN).unwrap();
        let of = |facts: &[ImportFact]| {
            let mut imported: Imported = serde_json::from_str(stored).unwrap();
            facts.iter().for_each(|fact| imported.facts.establish(fact.clone()));
            let venue = "import".to_owned();
            let plan = Plan { venue, imported: Some(imported), ..plan.clone() };
            (NumberOrigin::of(&plan, None), plan.has_simulated_numbers(), plan.is_simulated())
        };
        assert_eq!(of(&[]), (NumberOrigin::Imported, false, false));
        assert_eq!(of(&[ImportFact::UnboundEvidence]), (NumberOrigin::Imported, false, false));
        assert_eq!(of(&[ImportFact::Simulated]), (NumberOrigin::Simulated, true, false));
        assert!(plan.has_simulated_numbers() && plan.is_simulated());
    }

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
