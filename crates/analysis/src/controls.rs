//! The A/A control (docs/method.md#m-control). A question rests on one or more workloads, each
//! with its metric; where the control of any of these was judged better or worse than its twin,
//! no verdict is given, and no other question is touched.

use crate::rulebook::{Raised, impose};
use model::{CaveatCode, Finding, Obstacle, Role, Verdict, Weight};
use std::collections::BTreeSet;

/// The controls that failed, by workload and metric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FailedControls(BTreeSet<(String, String)>);

/// What a question rests on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RestsOn<'a> {
    /// Its own workload and metric.
    Workload,
    /// The two workloads that are compared inside one subject.
    BothWorkloads,
    /// The components of a use case.
    Components(&'a [Weight]),
}

impl FailedControls {
    /// The controls among these findings that were judged better or worse.
    pub(crate) fn among(findings: &[Finding]) -> Self {
        let failed = findings.iter().filter(|finding| {
            finding.question.role == Role::Control
                && matches!(finding.verdict, Verdict::Better | Verdict::Worse)
        });
        let key = |finding: &Finding| {
            (finding.question.workload.clone(), finding.question.metric.clone())
        };
        Self(failed.map(key).collect())
    }

    /// Takes the verdict of a finding that rests on a failed control. Controls are guarded by
    /// none, and a screen has no verdict.
    pub(crate) fn cap(&self, finding: &mut Finding, rests_on: RestsOn<'_>) {
        if finding.question.role != Role::Primary {
            return;
        }
        if let Some(raised) = self.raised(finding, rests_on) {
            impose(finding, &raised);
        }
    }

    fn raised(&self, finding: &Finding, rests_on: RestsOn<'_>) -> Option<Raised> {
        let question = &finding.question;
        let has_failed = |workload: &str, metric: &str| {
            self.0.iter().any(|(failed, of)| failed == workload && of == metric)
        };
        let here = "the A/A control differs from its twin here";
        let (reason, detail) = match rests_on {
            RestsOn::Workload => {
                let detail = "the control of this workload and metric failed";
                has_failed(&question.workload, &question.metric)
                    .then(|| (here.to_owned(), detail.to_owned()))?
            }
            RestsOn::BothWorkloads => {
                let detail = "the control of one of the workloads failed";
                [&question.subject, &question.reference]
                    .into_iter()
                    .any(|workload| has_failed(workload, &question.metric))
                    .then(|| (here.to_owned(), detail.to_owned()))?
            }
            RestsOn::Components(weights) => {
                let failed =
                    weights.iter().find(|weight| has_failed(&weight.workload, &weight.metric))?;
                let Weight { workload, metric, .. } = failed;
                let reason =
                    format!("the A/A control of {workload} {metric} differs from its twin");
                (reason.clone(), reason)
            }
        };
        Some(Raised::with_caveat(Obstacle::FailedControl, reason, CaveatCode::AaFail, detail))
    }
}

#[cfg(test)]
impl FailedControls {
    /// One control that failed, for tests.
    pub(crate) fn one(workload: &str, metric: &str) -> Self {
        Self([(workload.to_owned(), metric.to_owned())].into())
    }
}
