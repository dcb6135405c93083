//! What verdicts of few boots cannot show, in one sentence that stands beside them in every format
//! that people read.

use crate::verdict_table::judged;
use crate::view::Report;
use model::{Findings, Record};
use phrases::{Language, noted, say};
use std::collections::{BTreeMap, BTreeSet};

/// All subjects shared one boot.
const SHARED: &str =
    noted!("All blocks ran in one boot: nothing here shows what another boot would give.");
/// Each subject had one that no other had.
const OWN: &str = noted!(
    "Each subject ran in one boot of its own: nothing here shows what another boot would give."
);
/// Each had one, and some shared theirs.
const EACH: &str =
    noted!("Each subject ran in one boot: nothing here shows what another boot would give.");

/// What the verdicts of a report cannot show. None of more boots, where a record does not name its
/// own, where there are no verdicts, or of evidence that is not as it was written.
pub(crate) fn few_boots(report: &Report) -> Option<String> {
    if !report.shares_few_boots {
        return None;
    }
    few_boots_of(&report.findings, &report.records, report.language)
}

/// The same where no report stands around it, of a campaign whose blocks share few boots
/// (`analysis::shares_few_boots`).
pub fn few_boots_of(findings: &Findings, records: &[Record], language: Language) -> Option<String> {
    if findings.is_evidence_changed || judged(findings).next().is_none() {
        return None;
    }
    let mut by_subject: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for record in records {
        by_subject.entry(record.subject.as_str()).or_default().insert(record.boot_id.as_str());
    }
    let boots: BTreeSet<&str> = by_subject.values().flatten().copied().collect();
    if boots.contains("") {
        return None;
    }
    let counts = || by_subject.values().map(BTreeSet::len);
    let (fewest, most) = (counts().min()?, counts().max()?);
    let sentence = match (boots.len(), most) {
        (1, _) => SHARED,
        (all, 1) if all == by_subject.len() => OWN,
        (_, 1) => EACH,
        (all, _) => return Some(several(all, fewest, language)),
    };
    Some(language.word(sentence).to_owned())
}

/// The same of several boots of a subject. The reference has fewer than five
/// (docs/method.md#m-blocks), so the subject with the fewest has no more.
fn several(all: usize, fewest: usize, language: Language) -> String {
    if fewest == all {
        return say!(
            language,
            "All blocks ran in {count} boots; fewer than five show little of another boot.",
            count = all
        );
    }
    say!(
        language,
        "Number of boots of the subject with the fewest: {count}; fewer than five show little of \
         another boot.",
        count = fewest
    )
}
