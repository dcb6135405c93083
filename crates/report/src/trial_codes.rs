//! The caveats that speak against a trial's values, for formats that have a row for each.

use crate::view::Report;
use model::{Finding, Record, Role};
use std::collections::{BTreeMap, BTreeSet};

/// The codes of a report's caveats by what they speak against.
pub(crate) struct TrialCodes<'r> {
    report: &'r Report,
    of_campaign: BTreeSet<&'r str>,
    /// By what a question calls its workload, and by subject.
    of_findings: BTreeMap<(&'r str, &'r str), BTreeSet<&'r str>>,
    /// What questions call several workloads together.
    labels: BTreeSet<&'r str>,
}

impl<'r> TrialCodes<'r> {
    pub(crate) fn of(report: &'r Report) -> Self {
        let mut of_findings: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        let mut labels = BTreeSet::new();
        for finding in judged(report) {
            let question = &finding.question;
            if !report.design.workloads.contains(&question.workload) {
                labels.insert(question.workload.as_str());
            }
            for subject in [&question.subject, &question.reference] {
                let key = (question.workload.as_str(), subject.as_str());
                let known = of_findings.entry(key).or_default();
                known.extend(finding.caveats.iter().map(|caveat| caveat.code.as_str()));
            }
        }
        Self { report, of_campaign: of_campaign(report), of_findings, labels }
    }

    /// The codes of a trial, in order and with blanks between: its own, those of findings that its
    /// values are part of, and those of the campaign.
    pub(crate) fn of_trial(&self, record: &'r Record) -> String {
        let names = self.labels.iter().copied().chain([record.workload.as_str()]);
        let of_findings =
            names.filter_map(|name| self.of_findings.get(&(name, record.subject.as_str())));
        let own = record.caveats.iter().map(|caveat| caveat.code.as_str());
        let mut codes: BTreeSet<&str> = own.chain(self.report.code_of_unbound(record)).collect();
        codes.extend(of_findings.flatten().copied());
        codes.extend(self.of_campaign.iter().copied());
        codes.into_iter().collect::<Vec<_>>().join(" ")
    }
}

/// Findings but those that never give a verdict.
fn judged(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings.findings.iter().filter(|finding| finding.question.role != Role::Screen)
}

/// Codes that speak against all of a campaign: of the judge, and of its files, which no finding has.
pub(crate) fn of_campaign(report: &Report) -> BTreeSet<&str> {
    let of_findings: BTreeSet<&str> = judged(report)
        .flat_map(|finding| finding.caveats.iter().map(|caveat| caveat.code.as_str()))
        .collect();
    let of_judge: BTreeSet<&str> =
        report.findings.caveats.iter().map(|caveat| caveat.code.as_str()).collect();
    let all = report.caveats.iter().map(|caveat| caveat.code.as_str());
    all.filter(|code| of_judge.contains(code) || !of_findings.contains(code)).collect()
}
