//! `schedlab gate`: an exit code for continuous integration.

use super::reports::judged;
use super::save::save;
use crate::cli::{Common, Gate, GateFormat};
use crate::exit::ExitCode;
use crate::output::print_data;
use analysis::{GateLimit, GateOutcome, GateResult};
use contract::{Error, Result};
use model::{Findings, Role};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use report::Language;
use store::LoadedCampaign;

/// An error names this many metrics; of the others it gives the number.
const NAMED_AT_MOST: usize = 12;

/// A result with what is told of it.
struct GateLine<'a> {
    result: &'a GateResult<'a>,
    /// The estimate, the limit, the reason, and of what is undecided what would tell.
    evidence: String,
}

pub(super) fn run(common: &Common, arguments: &Gate) -> Result<ExitCode> {
    let limits = arguments.limits.iter().map(|text| limit(text)).collect::<Result<Vec<_>>>()?;
    let (loaded, findings) = judged(common, &arguments.campaign.campaign)?;
    let results = analysis::gate(&findings, &limits).map_err(|limit| unknown(&limit, &findings))?;
    let told: Vec<GateLine<'_>> = results
        .iter()
        .map(|result| GateLine {
            result,
            evidence: evidence(
                result,
                result.what_would_tell(&loaded.plan, &findings, results.len()),
            ),
        })
        .collect();
    let text = match arguments.format {
        GateFormat::Text => told.iter().map(line).collect(),
        GateFormat::Github => told.iter().map(annotation).collect(),
        GateFormat::Junit => junit(&loaded, &told)?,
    };
    match &arguments.output {
        None => print_data(&text)?,
        Some(path) => save(path, text.as_bytes())?,
    }
    let has = |outcome| results.iter().any(|result| result.outcome == outcome);
    Ok(if has(GateOutcome::Breached) {
        ExitCode::Breached
    } else if has(GateOutcome::Inconclusive) {
        ExitCode::Inconclusive
    } else {
        ExitCode::Done
    })
}

/// `metric=3%` or `workload/metric=3%`.
fn limit(text: &str) -> Result<GateLimit> {
    let wrong = |cause: String| {
        Error::usage(
            format!("cannot read the limit `{text}`"),
            cause,
            "write metric=3% or workload/metric=3%",
        )
    };
    let (name, percent) =
        text.rsplit_once('=').ok_or_else(|| wrong("there is no `=`".to_owned()))?;
    // Labels of imported workloads may hold either sign; a metric's id holds none.
    let (workload, metric) = name.rsplit_once('/').unwrap_or(("", name));
    let fraction = model::parse_percent(percent).map_err(|error| wrong(error.to_string()))?;
    if !(fraction >= 0.0 && fraction.is_finite()) {
        return Err(wrong("a limit is at least 0 %".to_owned()));
    }
    Ok(GateLimit { workload: workload.to_owned(), metric: metric.to_owned(), fraction })
}

fn unknown(limit: &GateLimit, findings: &Findings) -> Error {
    let mut primary: Vec<String> = Vec::new();
    for finding in &findings.findings {
        let name = format!("{}/{}", finding.question.workload, finding.question.metric);
        if finding.question.role == Role::Primary && !primary.contains(&name) {
            primary.push(name);
        }
    }
    let more = primary.len().saturating_sub(NAMED_AT_MOST);
    primary.truncate(NAMED_AT_MOST);
    if more > 0 {
        primary.push(format!("{more} more"));
    }
    let name = if limit.workload.is_empty() {
        limit.metric.clone()
    } else {
        format!("{}/{}", limit.workload, limit.metric)
    };
    Error::usage(
        format!("cannot gate {name}"),
        "it is not a primary metric of this campaign",
        format!("gate one of {}, or declare it primary in the experiment", primary.join(", ")),
    )
}

fn word(outcome: GateOutcome) -> &'static str {
    match outcome {
        GateOutcome::Kept => "kept",
        GateOutcome::Breached => "BREACHED",
        GateOutcome::Inconclusive => "inconclusive",
    }
}

/// What was compared. Names come from files, and a reader of a gate's log or file obeys nothing of
/// them: no line of ours is forged with an end of a line.
fn name(result: &GateResult<'_>) -> String {
    let question = &result.finding.question;
    let name = format!(
        "{} against {}, {} {}",
        question.subject, question.reference, question.workload, question.metric
    );
    model::inert(&name).into_owned()
}

/// The estimate, the limit, the reason and what would tell, inert as [`name`] is.
fn evidence(result: &GateResult<'_>, would_tell: Option<String>) -> String {
    let known = result.finding.effect.as_ref().zip(result.interval);
    let estimate = known.map_or(String::new(), |(effect, shown)| {
        let (effect, interval) =
            report::estimate(effect.ratio, &shown.interval, Language::default());
        let level = report::confidence(shown.alpha);
        format!("effect {effect} [{interval}; {level} %] (+ and × are better), ")
    });
    let p = result.p.map_or(String::new(), |p| format!(", {}", model::p_equation(p)));
    let limit = model::round_significant(100.0 * result.fraction);
    let would_tell = would_tell.map_or(String::new(), |text| format!("; {text}"));
    let told = format!("{estimate}may be {limit} % worse: {}{p}{would_tell}", result.reason);
    model::inert(&told).into_owned()
}

fn line(told: &GateLine<'_>) -> String {
    let GateLine { result, evidence } = told;
    format!("{:<13} {}\n              {evidence}\n", word(result.outcome), name(result))
}

/// A workflow command of GitHub Actions; its data escapes % and line ends.
fn annotation(told: &GateLine<'_>) -> String {
    let GateLine { result, evidence } = told;
    let kind = match result.outcome {
        GateOutcome::Kept => "notice",
        GateOutcome::Breached => "error",
        GateOutcome::Inconclusive => "warning",
    };
    let escaped = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let title = escaped(&name(result)).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={title}::{}\n", escaped(evidence))
}

fn junit(loaded: &LoadedCampaign, told: &[GateLine<'_>]) -> Result<String> {
    let mut suite = TestSuite::new(model::inert(&loaded.plan.name).into_owned());
    for GateLine { result, evidence } in told {
        let status = match result.outcome {
            GateOutcome::Kept => TestCaseStatus::success(),
            GateOutcome::Breached | GateOutcome::Inconclusive => {
                let kind = if result.outcome == GateOutcome::Breached {
                    NonSuccessKind::Failure
                } else {
                    NonSuccessKind::Error
                };
                let mut status = TestCaseStatus::non_success(kind);
                status.set_message(evidence.clone()).set_type(word(result.outcome));
                status
            }
        };
        suite.add_test_case(TestCase::new(name(result), status));
    }
    let mut report = Report::new("schedlab gate");
    report.add_test_suite(suite);
    report.to_string().map_err(|error| Error::environment("cannot write JUnit XML", error))
}
