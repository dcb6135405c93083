//! Caveats gathered by code, each explained once.

use crate::quantities::versus;
use model::{Caveat, CaveatCode, Findings, Role};
use phrases::Language;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One caveat, explained once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CaveatView {
    /// Its code.
    pub code: String,
    /// What it means.
    pub meaning: String,
    /// Where it applies, with what was seen there.
    pub places: Vec<String>,
}

/// Caveats of the campaign, and of the findings that verdicts are about.
pub(crate) fn explained(
    findings: &Findings,
    of_store: &[Caveat],
    language: Language,
) -> Vec<CaveatView> {
    let mut places: BTreeMap<CaveatCode, Vec<String>> = BTreeMap::new();
    for caveat in findings.caveats.iter().chain(of_store) {
        places.entry(caveat.code).or_default().push(caveat.detail.clone());
    }
    let references: BTreeSet<&str> =
        findings.findings.iter().map(|finding| finding.question.reference.as_str()).collect();
    // With one reference its name says nothing.
    let has_references = references.len() > 1;
    let judged = findings.findings.iter().filter(|finding| finding.question.role != Role::Screen);
    for finding in judged {
        let question = &finding.question;
        for caveat in &finding.caveats {
            let subjects =
                if has_references { versus(question, language) } else { question.subject.clone() };
            places.entry(caveat.code).or_default().push(format!(
                "{} {}, {subjects}: {}",
                question.workload, question.metric, caveat.detail
            ));
        }
    }
    places
        .into_iter()
        .map(|(code, places)| CaveatView {
            code: code.to_string(),
            meaning: code.meaning_in(language.code()).to_owned(),
            places,
        })
        .collect()
}
