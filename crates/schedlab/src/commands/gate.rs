//! `schedlab gate`: an exit code for continuous integration.

use super::reports::{judged, view_of};
use super::save::save;
use crate::cli::{Common, Gate, GateFormat, Presentation};
use crate::exit::ExitCode;
use crate::output::print_data;
use analysis::{GateLimit, GateOutcome, GateResult};
use contract::{Error, Result};
use model::{Findings, Plan, Role, TrialValues};
use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};
use report::{Language, Premise, Report, premises};

/// An error names this many metrics; of the others it gives the number.
const NAMED_AT_MOST: usize = 12;

/// What stands before the results.
struct GateHead<'a> {
    /// Name of the plan.
    name: &'a str,
    /// What a reader has to know before any of them.
    premises: Vec<Premise>,
}

/// A result with what is told of it.
struct GateLine<'a> {
    result: &'a GateResult<'a>,
    /// What stands before it where it speaks of no real machine.
    mark: &'static str,
    /// The estimate, the limit, the reason, and of what is undecided what would tell.
    evidence: String,
}

pub(super) fn run(common: &Common, arguments: &Gate) -> Result<ExitCode> {
    let limits = arguments.limits.iter().map(|text| limit(text)).collect::<Result<Vec<_>>>()?;
    let (loaded, findings) = judged(common, &arguments.campaign.campaign)?;
    let results = analysis::gate(&findings, &limits).map_err(|limit| unknown(&limit, &findings))?;
    // The values of trials are not told here.
    let at = &loaded.directory;
    let report =
        view_of(&loaded, at, (&findings, &TrialValues::default()), Presentation::default());
    let text = written(arguments.format, &loaded.plan, &report, &results)?;
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

/// The head and the results in a format.
fn written(
    format: GateFormat,
    plan: &Plan,
    report: &Report,
    results: &[GateResult<'_>],
) -> Result<String> {
    let head = GateHead { name: &plan.name, premises: premises(report) };
    let told = |result| {
        let would_tell = GateResult::what_would_tell(result, plan, &report.findings, results.len());
        let mark = mark(result, report.is_simulated);
        GateLine { result, mark, evidence: evidence(result, would_tell) }
    };
    let told: Vec<GateLine<'_>> = results.iter().map(told).collect();
    match format {
        GateFormat::Text => Ok(text(&head) + &told.iter().map(line).collect::<String>()),
        GateFormat::Github => Ok(notice(&head) + &told.iter().map(annotation).collect::<String>()),
        GateFormat::Junit => junit(&head, &told),
    }
}

/// Stands before every result of numbers that are no real machine's.
fn mark(result: &GateResult<'_>, is_simulated: bool) -> &'static str {
    match (is_simulated, result.finding.is_emulated) {
        (true, _) => "simulated: ",
        (false, true) => "emulated: ",
        (false, false) => "",
    }
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
    // Of a share both are told of its odds.
    let odds = if result.finding.is_odds { "odds " } else { "" };
    let known = result.finding.effect.as_ref().zip(result.interval);
    let estimate = known.map_or(String::new(), |(effect, shown)| {
        let (effect, interval) =
            report::estimate(effect.ratio, &shown.interval, Language::default());
        if shown.interval.has_no_width() {
            return format!("effect {odds}{effect} [{interval}] (+ and × are better), ");
        }
        let level = report::confidence(shown.alpha);
        format!("effect {odds}{effect} [{interval}; {level} %] (+ and × are better), ")
    });
    let p = result.p.map_or(String::new(), |p| format!(", {}", model::p_equation(p)));
    let limit = model::rounded_percent(result.fraction);
    let would_tell = would_tell.map_or(String::new(), |text| format!("; {text}"));
    let told = format!("{estimate}{odds}may be {limit} % worse: {}{p}{would_tell}", result.reason);
    model::inert(&told).into_owned()
}

/// The head, a line for each premise, inert as [`name`] is.
fn text(head: &GateHead<'_>) -> String {
    let lines = head.premises.iter().map(|premise| format!("{}\n", model::inert(&premise.text)));
    lines.collect::<String>() + "\n"
}

fn line(told: &GateLine<'_>) -> String {
    let GateLine { result, mark, evidence } = told;
    let outcome = format!("{mark}{}", word(result.outcome));
    let width = 13 + mark.len();
    format!("{outcome:<width$} {}\n              {evidence}\n", name(result))
}

/// The head as an annotation. It comes first: GitHub shows only so many of a kind.
fn notice(head: &GateHead<'_>) -> String {
    let texts: Vec<&str> = head.premises.iter().map(|premise| premise.text.as_str()).collect();
    command("notice", head.name, &texts.join(" "))
}

fn annotation(told: &GateLine<'_>) -> String {
    let GateLine { result, mark, evidence } = told;
    let kind = match result.outcome {
        GateOutcome::Kept => "notice",
        GateOutcome::Breached => "error",
        GateOutcome::Inconclusive => "warning",
    };
    command(kind, &format!("{mark}{}", name(result)), evidence)
}

/// A workflow command of GitHub Actions; its data escapes % and line ends.
fn command(kind: &str, title: &str, text: &str) -> String {
    let escaped = |text: &str| {
        let inert = model::inert(text);
        inert.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
    };
    let title = escaped(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={title}::{}\n", escaped(text))
}

/// JUnit XML. Its properties are the head; a test that passed has no message, so its name is marked.
fn junit(head: &GateHead<'_>, told: &[GateLine<'_>]) -> Result<String> {
    let mut suite = TestSuite::new(model::inert(head.name).into_owned());
    for premise in &head.premises {
        suite.add_property(Property::new(premise.about, model::inert(&premise.text)));
    }
    for GateLine { result, mark, evidence } in told {
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
        suite.add_test_case(TestCase::new(format!("{mark}{}", name(result)), status));
    }
    let mut report = quick_junit::Report::new("schedlab gate");
    report.add_test_suite(suite);
    report.to_string().map_err(|error| Error::environment("cannot write JUnit XML", error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Attempt, Binding, Fingerprint, Records};
    use report::Inputs;
    use std::collections::BTreeMap;

    /// Plan, records and findings as the program wrote them: what renderers are tested with.
    macro_rules! stored {
        ($origin:literal) => {
            [
                include_str!(concat!(
                    "../../../report/tests/golden/campaigns/",
                    $origin,
                    "/plan.json"
                )),
                include_str!(concat!(
                    "../../../report/tests/golden/campaigns/",
                    $origin,
                    "/records.jsonl"
                )),
                include_str!(concat!(
                    "../../../report/tests/golden/campaigns/",
                    $origin,
                    "/findings.json"
                )),
            ]
        };
    }

    const FORMATS: [GateFormat; 3] = [GateFormat::Text, GateFormat::Github, GateFormat::Junit];

    /// The gate of the first primary question of a campaign.
    fn gated([plan, records, findings]: [&str; 3], binding: Binding, format: GateFormat) -> String {
        let plan: Plan = serde_json::from_str(plan).unwrap();
        let records: Records =
            records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let findings: Findings = serde_json::from_str(findings).unwrap();
        let findings = findings.with_facts_of_caveats();
        let asked = findings.findings.iter().find(|one| one.question.role == Role::Primary);
        let question = &asked.unwrap().question;
        let limit = GateLimit {
            workload: question.workload.clone(),
            metric: question.metric.clone(),
            fraction: 0.03,
        };
        let results = analysis::gate(&findings, &[limit]).unwrap();
        let report = report::view(&Inputs {
            plan: &plan,
            records: &records,
            values: &TrialValues::default(),
            findings: &findings,
            environment: &Fingerprint::default(),
            campaign: "c",
            attempt: Some(Attempt { of_plan: 2, of_question: 5, since_unix_ns: 1 }),
            resumptions: 0,
            directory: "results/c",
            origin: "experiment.toml",
            store_caveats: &[],
            is_stopped_early: false,
            shares_few_boots: analysis::shares_few_boots(&plan, &records),
            binding,
            factors: &BTreeMap::new(),
            is_absolute: false,
            language: Language::default(),
        });
        written(format, &plan, &report, &results).unwrap()
    }

    #[test]
    fn each_format_says_where_the_numbers_come_from_before_and_beside_its_results() {
        for (files, words, mark) in [
            (stored!("simulated"), "Simulated: no machine was measured.", "simulated"),
            (stored!("emulated"), "Emulated processor: ratios may be read", "emulated"),
            (stored!("blocks"), "Imported from ", ""),
            (stored!("rows"), "Imported from ", ""),
        ] {
            for format in FORMATS {
                let told = gated(files, Binding::Checked, format);
                let (head, results) = told.split_once(words).unwrap_or_else(|| panic!("{told}"));
                assert!(!head.contains(" against "), "what comes first: {told}");
                let sign = if format == GateFormat::Github { "%3A " } else { ": " };
                let is_marked = mark.is_empty() || results.contains(&format!("{mark}{sign}"));
                assert!(is_marked, "{mark}: {told}");
            }
        }
        for format in FORMATS {
            let told = gated(stored!("measured"), Binding::Checked, format);
            for word in ["mulated", "mported"] {
                assert!(!told.contains(word), "{word}: {told}");
            }
        }
    }

    #[test]
    fn effect_and_limit_of_a_share_are_said_to_be_of_its_odds() {
        let [plan, records, findings] = stored!("measured");
        let share = findings.replace("\"question\": {", "\"is_odds\": true, \"question\": {");
        assert_ne!(share, findings);
        for format in FORMATS {
            let told = gated([plan, records, &share], Binding::Checked, format);
            assert!(told.contains("effect odds ") && told.contains("odds may be 3 "), "{told}");
            assert!(!gated([plan, records, findings], Binding::Checked, format).contains("odds"));
        }
    }

    #[test]
    fn each_format_says_which_attempt_it_is_what_binds_its_records_and_what_one_boot_cannot_show() {
        for format in FORMATS {
            let told = gated(stored!("measured"), Binding::Checked, format);
            for words in ["Attempt 5 with these subjects", "All blocks ran in one boot"] {
                assert!(told.contains(words), "{words}: {told}");
            }
            assert!(!told.contains("EVIDENCE_UNBOUND"), "{told}");
            let told = gated(stored!("measured"), Binding::Absent, format);
            assert!(told.contains("EVIDENCE_UNBOUND: "), "{told}");
        }
        let [plan, records, findings] = stored!("measured");
        let quick = plan.replace("\"is_quick\": false", "\"is_quick\": true");
        for format in FORMATS {
            let sentence = "Quick: fewer blocks and shorter trials than declared.";
            let told = gated([&quick, records, findings], Binding::Checked, format);
            assert!(told.contains(sentence), "{told}");
            assert!(!gated(stored!("measured"), Binding::Checked, format).contains(sentence));
        }
        let xml = gated([&quick, records, findings], Binding::Checked, GateFormat::Junit);
        assert!(xml.contains("<property name=\"quick\""), "{xml}");
        let xml = gated(stored!("simulated"), Binding::Absent, GateFormat::Junit);
        for about in ["origin", "evidence", "attempt"] {
            assert!(xml.contains(&format!("<property name=\"{about}\"")), "{about}: {xml}");
        }
    }
}
