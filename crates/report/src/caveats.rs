//! Caveats gathered by code, each explained once.

use crate::view::CaveatView;
use model::{Caveat, CaveatCode, Findings, Role};
use std::collections::{BTreeMap, BTreeSet};

/// Caveats of the campaign, and of the findings that verdicts are about.
pub(crate) fn explained(findings: &Findings, of_store: &[Caveat]) -> Vec<CaveatView> {
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
            let reference = if has_references {
                format!(" against {}", question.reference)
            } else {
                String::new()
            };
            places.entry(caveat.code).or_default().push(format!(
                "{} {}, {}{reference}: {}",
                question.workload, question.metric, question.subject, caveat.detail
            ));
        }
    }
    places
        .into_iter()
        .map(|(code, places)| CaveatView {
            code: code.to_string(),
            meaning: code.meaning().to_owned(),
            places,
        })
        .collect()
}
