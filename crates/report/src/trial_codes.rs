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
    /// Those of questions about several workloads together, by subject.
    of_labels: BTreeMap<&'r str, BTreeSet<&'r str>>,
}

impl<'r> TrialCodes<'r> {
    pub(crate) fn of(report: &'r Report) -> Self {
        let mut of_findings: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        let mut of_labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let workloads: BTreeSet<&str> =
            report.design.workloads.iter().map(String::as_str).collect();
        for finding in judged(report) {
            let question = &finding.question;
            for subject in [&question.subject, &question.reference] {
                let known = if workloads.contains(question.workload.as_str()) {
                    of_findings.entry((question.workload.as_str(), subject.as_str())).or_default()
                } else {
                    of_labels.entry(subject.as_str()).or_default()
                };
                known.extend(finding.caveats.iter().map(|caveat| caveat.code.as_str()));
            }
        }
        Self { report, of_campaign: of_campaign(report), of_findings, of_labels }
    }

    /// The codes of a trial, in order and with blanks between: its own, those of findings that its
    /// values are part of, and those of the campaign.
    pub(crate) fn of_trial(&self, record: &'r Record) -> String {
        let subject = record.subject.as_str();
        let of_workload = self.of_findings.get(&(record.workload.as_str(), subject));
        let of_findings = of_workload.into_iter().chain(self.of_labels.get(subject));
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
