//! `schedlab explain`: why a finding says what it says.

use super::reports::judged;
use crate::cli::{Common, Explain};
use crate::exit::ExitCode;
use crate::output::{print, width};
use contract::{Error, Result};
use model::{Finding, Findings, Role};

/// Narrower text cannot be read.
const LEAST_WIDTH: usize = 20;

pub(super) fn run(common: &Common, arguments: &Explain) -> Result<ExitCode> {
    let (_, findings) = judged(common, &arguments.campaign.campaign)?;
    let parts: Vec<&str> = arguments.finding.iter().flat_map(|name| name.split('/')).collect();
    let chosen: Vec<&Finding> =
        findings.findings.iter().filter(|finding| is_meant(finding, &parts)).collect();
    if chosen.is_empty() {
        return Err(unknown(&arguments.finding, &findings));
    }
    for (index, finding) in chosen.into_iter().enumerate() {
        let space = if index > 0 { "\n" } else { "" };
        print(&format!("{space}{}\n", name(finding)))?;
        for paragraph in report::explain(finding, &findings) {
            let lines = report::wrapped(&paragraph, width(&std::io::stdout()).max(LEAST_WIDTH));
            print(&format!("\n{}\n", lines.join("\n")))?;
        }
    }
    Ok(ExitCode::Done)
}

/// Whether every part names its subject, workload or metric. Without a part all
/// verdicts are meant, and never the screen.
fn is_meant(finding: &Finding, parts: &[&str]) -> bool {
    let question = &finding.question;
    let own = [&question.subject, &question.workload, &question.metric];
    let has_all = parts.iter().all(|part| own.iter().any(|name| name.as_str() == *part));
    has_all && (question.role != Role::Screen || parts.contains(&question.metric.as_str()))
}

fn name(finding: &Finding) -> String {
    let question = &finding.question;
    format!("{}/{}/{}", question.subject, question.workload, question.metric)
}

fn unknown(finding: &Option<String>, findings: &Findings) -> Error {
    let judged = findings.findings.iter().filter(|finding| finding.question.role != Role::Screen);
    let names: Vec<String> = judged.map(name).collect();
    Error::usage(
        format!("cannot explain `{}`", finding.as_deref().unwrap_or_default()),
        "no finding has these parts",
        format!("choose one of {}, or a part of one", names.join(", ")),
    )
}
