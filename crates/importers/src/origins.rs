//! Where the numbers of files that schedlab wrote come from, by the caveats in them: an import of
//! numbers that were edited, or that nobody can know to be as they were written, says so, and one of
//! simulated or emulated numbers is no import of measured ones (docs/method.md#m-imported-origins).
//!
//! The caveats are text of a stranger's file: codes that speak of an origin are known by their exact
//! spelling, all else is passed over, and nothing of the text is kept.

use model::{CaveatCheck, CaveatCode, Record, SharedName, SharedParts, TrialFact};
use std::collections::{BTreeMap, BTreeSet};

/// How codes begin that say that the campaign was edited or may have been.
const OF_EVIDENCE: &str = "EVIDENCE_";
/// Said of subjects whose values have such a code.
pub(crate) const SAID: &str = "values of these subjects, by the caveats in the file";
/// Said of an emulated processor in each record of such a subject.
const SAID_OF_RECORD: &str = "by the caveats in the file";

/// Subjects of which some value has a code, by code.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FileOrigins(BTreeMap<CaveatCode, BTreeSet<SharedName>>);

impl FileOrigins {
    /// Takes the codes that stand beside a value of a subject, with blanks between.
    pub(crate) fn add(&mut self, codes: &str, subject: &SharedName) {
        for code in codes.split_whitespace().filter_map(code_of) {
            let subjects = self.0.entry(code).or_default();
            if !subjects.contains(subject) {
                subjects.insert(subject.clone());
            }
        }
    }

    /// Codes that an import has as a whole, with their subjects. That of an emulated processor is one
    /// of its records, by which findings are marked.
    pub(crate) fn of_import(&self) -> impl Iterator<Item = (CaveatCode, &SharedName)> {
        let of_import = self.0.iter().filter(|(code, _)| **code != CaveatCode::Tcg);
        of_import.flat_map(|(code, subjects)| subjects.iter().map(move |subject| (*code, subject)))
    }

    /// Says in the records of subjects whose values are those of an emulated processor that they are.
    pub(crate) fn mark_emulated(&self, records: &mut [Record]) {
        let Some(subjects) = self.0.get(&CaveatCode::Tcg) else { return };
        let mut parts = SharedParts::default();
        for record in records {
            if subjects.contains(record.subject.as_str()) {
                record.note_fact(TrialFact::Emulated, SAID_OF_RECORD);
                parts.share(record);
            }
        }
    }
}

fn code_of(text: &str) -> Option<CaveatCode> {
    let found = CaveatCode::ALL.iter().copied().find(|code| code.as_str() == text);
    found.filter(|code| speaks_of_origin(*code))
}

/// Whether a code is one of evidence, or says that no real processor or no real device was measured.
fn speaks_of_origin(code: CaveatCode) -> bool {
    matches!(code.check(), CaveatCheck::RealProcessor | CaveatCheck::RealDevice)
        || code.as_str().starts_with(OF_EVIDENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_evidence_and_against_a_real_processor_or_device_speak_of_an_origin() {
        let known = [
            CaveatCode::EvidenceChanged,
            CaveatCode::EvidenceUnbound,
            CaveatCode::HostCacheSuspected,
            CaveatCode::Simulated,
            CaveatCode::Tcg,
        ];
        for code in known {
            assert_eq!(code_of(code.as_str()), Some(code));
        }
        for code in [CaveatCode::Noisy, CaveatCode::Quick, CaveatCode::StoppedEarly] {
            assert_eq!(code_of(code.as_str()), None);
        }
    }

    #[test]
    fn only_codes_of_origins_in_their_exact_spelling_are_kept() {
        let mut origins = FileOrigins::default();
        let subject = SharedName::from("a");
        for text in ["", "simulated", "SIMULATED,TCG", "\u{1b}[31mTCG", "NOISY", "TCG2"] {
            origins.add(text, &subject);
        }
        assert_eq!(origins, FileOrigins::default());
        origins.add("FRAGILE SIMULATED  NO_SUCH TCG", &subject);
        let said: Vec<_> = origins.of_import().collect();
        assert_eq!(said, [(CaveatCode::Simulated, &subject)]);
    }
}
