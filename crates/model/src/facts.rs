//! Facts that decide what is answered. Caveats say them to people, and decide nothing
//! (docs/method.md#m-obstacles).

use crate::{Caveat, CaveatCode};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeSet;

/// A fact of a trial or of an import. Where it is established, the caveat that says it is written
/// beside it.
pub trait DecidingFact: Clone + Ord {
    /// The code of the caveat that says it.
    fn caveat_code(&self) -> CaveatCode;

    /// The fact that a caveat says, where it says one. It is asked of what is stored without facts.
    fn said_by(caveat: &Caveat) -> Option<Self>;
}

/// What a trial met that decides something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialFact {
    /// An emulated processor ran it.
    Emulated,
    /// A probe that acts on every event was attached.
    Observed,
    /// It is the first one after an interruption of its campaign.
    Resumed,
}

impl DecidingFact for TrialFact {
    fn caveat_code(&self) -> CaveatCode {
        match self {
            Self::Emulated => CaveatCode::Tcg,
            Self::Observed => CaveatCode::ObserverCost,
            Self::Resumed => CaveatCode::Interrupted,
        }
    }

    fn said_by(caveat: &Caveat) -> Option<Self> {
        match caveat.code {
            CaveatCode::Tcg => Some(Self::Emulated),
            CaveatCode::ObserverCost => Some(Self::Observed),
            CaveatCode::Interrupted => Some(Self::Resumed),
            _ => None,
        }
    }
}

/// What an importer established of numbers that decides something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportFact {
    /// Others simulated some of them.
    Simulated,
    /// The campaign that they come from was not as it was written.
    ChangedEvidence {
        /// Of which of them that is known, and how.
        told: String,
    },
    /// Nothing bound records of the campaign that they come from.
    UnboundEvidence,
    /// The order of the subjects was not randomised.
    FixedOrder {
        /// The order.
        told: String,
    },
    /// Some of them stand twice; [`crate::Imported::copied`] names the subjects.
    CopiedValues,
    /// A setting, or a column that may be one, differs between subjects.
    UnlikeSettings,
    /// It is not known what an independent replicate is.
    UnknownReplicates,
    /// A margin, a level, a direction, an order or what is judged was given together with them;
    /// [`crate::Imported::given`] has those of it that verdicts depend on.
    GivenWithNumbers,
}

impl DecidingFact for ImportFact {
    fn caveat_code(&self) -> CaveatCode {
        match self {
            Self::Simulated => CaveatCode::Simulated,
            Self::ChangedEvidence { .. } => CaveatCode::EvidenceChanged,
            Self::UnboundEvidence => CaveatCode::EvidenceUnbound,
            Self::FixedOrder { .. } => CaveatCode::OrderConfounded,
            Self::CopiedValues => CaveatCode::Copied,
            Self::UnlikeSettings => CaveatCode::SettingsDiffer,
            Self::UnknownReplicates => CaveatCode::ReplicateLevelUnknown,
            Self::GivenWithNumbers => CaveatCode::PostHocMargin,
        }
    }

    fn said_by(caveat: &Caveat) -> Option<Self> {
        let told = || caveat.detail.clone();
        match caveat.code {
            CaveatCode::Simulated => Some(Self::Simulated),
            CaveatCode::EvidenceChanged => Some(Self::ChangedEvidence { told: told() }),
            CaveatCode::EvidenceUnbound => Some(Self::UnboundEvidence),
            CaveatCode::OrderConfounded => Some(Self::FixedOrder { told: told() }),
            CaveatCode::Copied => Some(Self::CopiedValues),
            CaveatCode::SettingsDiffer => Some(Self::UnlikeSettings),
            CaveatCode::ReplicateLevelUnknown => Some(Self::UnknownReplicates),
            CaveatCode::PostHocMargin => Some(Self::GivenWithNumbers),
            _ => None,
        }
    }
}

/// The facts of one trial or of one import, in the order in which they were established.
///
/// Earlier versions stored the caveats that say them, and no facts. These are read as the facts that
/// they say, which are then written no more than they were: digests of what is stored stay the same.
#[derive(Debug, Clone)]
pub struct DecidingFacts<F> {
    all: Vec<F>,
    /// Whether the caveats beside them are all that is written of them.
    is_left_to_caveats: bool,
}

impl<F: DecidingFact> DecidingFacts<F> {
    /// The facts that these caveats say, for what is stored without facts.
    pub fn of_caveats(caveats: &[Caveat]) -> Self {
        let mut known = BTreeSet::new();
        let all: Vec<F> = caveats
            .iter()
            .filter_map(F::said_by)
            .filter(|fact| known.insert(fact.clone()))
            .collect();
        Self { is_left_to_caveats: !all.is_empty(), all }
    }

    /// What is stored: facts, or, where there are none, what the caveats beside them say. Nothing is
    /// established without a caveat, so that neither says more than the other.
    pub(crate) fn stored(facts: Vec<F>, caveats: &[Caveat]) -> Self {
        if facts.is_empty() {
            Self::of_caveats(caveats)
        } else {
            Self { all: facts, is_left_to_caveats: false }
        }
    }

    /// Adds a fact, where it is not there yet.
    pub fn establish(&mut self, fact: F) {
        if !self.all.contains(&fact) {
            self.all.push(fact);
        }
        self.is_left_to_caveats = false;
    }

    /// Whether this fact is among them.
    pub fn contain(&self, fact: &F) -> bool {
        self.all.contains(fact)
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, F> {
        self.all.iter()
    }

    /// Writes no more of them than the caveats beside them.
    pub fn leave_to_caveats(&mut self) {
        self.is_left_to_caveats = !self.all.is_empty();
    }
}

impl<F> DecidingFacts<F> {
    /// Whether nothing is written of them.
    pub(crate) fn are_unwritten(&self) -> bool {
        self.is_left_to_caveats || self.all.is_empty()
    }
}

impl<F> Default for DecidingFacts<F> {
    fn default() -> Self {
        Self { all: Vec::new(), is_left_to_caveats: false }
    }
}

/// How they are written makes no difference.
impl<F: PartialEq> PartialEq for DecidingFacts<F> {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl<F: Serialize> Serialize for DecidingFacts<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Circumstances, Imported, Record};

    const IMPORTED: &str = r#"{"format":"csv","file":"f","digest":"d","design":"blocked"}"#;

    fn trial_facts() -> [TrialFact; 3] {
        [TrialFact::Emulated, TrialFact::Observed, TrialFact::Resumed]
    }

    fn import_facts() -> [ImportFact; 8] {
        let told = "values of b".to_owned();
        [
            ImportFact::Simulated,
            ImportFact::ChangedEvidence { told: told.clone() },
            ImportFact::UnboundEvidence,
            ImportFact::FixedOrder { told },
            ImportFact::CopiedValues,
            ImportFact::UnlikeSettings,
            ImportFact::UnknownReplicates,
            ImportFact::GivenWithNumbers,
        ]
    }

    fn record() -> Record {
        Record::from(Circumstances::of("a", "w"))
    }

    #[test]
    fn each_fact_is_said_by_its_caveat_and_no_other_caveat_says_one() {
        for fact in trial_facts() {
            let caveat = Caveat::new(fact.caveat_code(), "told");
            assert_eq!(TrialFact::said_by(&caveat), Some(fact));
        }
        for fact in import_facts() {
            let caveat = Caveat::new(fact.caveat_code(), "values of b");
            assert_eq!(ImportFact::said_by(&caveat), Some(fact));
        }
        let all = CaveatCode::ALL.iter().map(|code| Caveat::new(*code, "told"));
        let saying: Vec<Caveat> = all
            .filter(|one| TrialFact::said_by(one).is_some() || ImportFact::said_by(one).is_some())
            .collect();
        assert_eq!(saying.len(), trial_facts().len() + import_facts().len());
    }

    #[test]
    fn a_caveat_of_a_trial_is_noted_with_the_fact_that_it_says_and_no_other() {
        for code in CaveatCode::ALL {
            let caveat = Caveat::new(*code, "told");
            let mut record = record();
            record.note_caveat(caveat.clone());
            assert!(record.facts.iter().copied().eq(TrialFact::said_by(&caveat)), "{code:?}");
            assert_eq!(record.caveats, [caveat]);
        }
    }

    #[test]
    fn a_fact_is_said_by_its_records_own_caveat_or_in_other_words_and_what_was_not_met_by_none() {
        for fact in trial_facts() {
            let own = Caveat::new(fact.caveat_code(), "its own");
            let mut record = record();
            record.caveats.push(own.clone());
            assert_eq!(record.caveat_of(fact, "else"), None, "a caveat alone says nothing");
            record.facts.establish(fact);
            record.caveats.push(Caveat::new(fact.caveat_code(), "again"));
            assert_eq!(record.caveat_of(fact, "else"), Some(own));
            record.caveats.clear();
            let other = Caveat::new(fact.caveat_code(), "else");
            assert_eq!(record.caveat_of(fact, "else"), Some(other));
        }
    }

    #[test]
    fn facts_are_read_again_whatever_becomes_of_their_caveats_and_none_leaves_no_trace() {
        let mut imported: Imported = serde_json::from_str(IMPORTED).unwrap();
        assert_eq!(serde_json::to_string(&imported).unwrap(), IMPORTED);
        import_facts().into_iter().for_each(|fact| imported.facts.establish(fact));
        let text = serde_json::to_string(&imported).unwrap();
        assert!(text.contains(r#""facts":["simulated",{"changed_evidence":{"told":"#), "{text}");
        let back: Imported = serde_json::from_str(&text).unwrap();
        assert_eq!(back, imported);
        assert!(back.facts.iter().eq(&import_facts()) && back.caveats.is_empty());

        let mut record = record();
        assert!(!serde_json::to_string(&record).unwrap().contains("facts"));
        trial_facts().into_iter().for_each(|fact| record.note_fact(fact, "told"));
        assert_eq!(record.caveats.len(), 3);
        record.caveats.clear();
        let text = serde_json::to_string(&record).unwrap();
        assert!(text.contains(r#""facts":["emulated","observed","resumed"]"#), "{text}");
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    }

    #[test]
    fn what_earlier_versions_stored_has_the_facts_of_its_caveats_and_is_written_as_it_was() {
        for fact in import_facts() {
            let caveat = Caveat::new(fact.caveat_code(), "values of b");
            let caveats = serde_json::to_string(&[caveat.clone(), caveat]).unwrap();
            let stored = IMPORTED.replace('}', &format!(r#","caveats":{caveats}}}"#));
            let read: Imported = serde_json::from_str(&stored).unwrap();
            assert!(read.facts.iter().eq([&fact]), "{fact:?}");
            assert_eq!(serde_json::to_string(&read).unwrap(), stored);
        }
        for fact in trial_facts() {
            let mut earlier = record();
            earlier.caveats.push(Caveat::new(fact.caveat_code(), "told"));
            let stored = serde_json::to_string(&earlier).unwrap();
            assert!(!stored.contains("facts"), "{stored}");
            let read: Record = serde_json::from_str(&stored).unwrap();
            assert!(read.facts.iter().eq([&fact]), "{fact:?}");
            assert_eq!(serde_json::to_string(&read).unwrap(), stored);
            // What comes to it later is written with all of them.
            let mut later = read;
            later.note_fact(TrialFact::Resumed, "told");
            assert!(serde_json::to_string(&later).unwrap().contains(r#""resumed"]"#));
        }
    }
}
