//! `schedlab explain`: why a finding says what it says.

use super::reports::judged;
use crate::cli::{Common, Explain};
use crate::exit::ExitCode;
use crate::output::{legible, output_width, print};
use contract::{Error, Result};
use model::{Finding, Findings, Imported, Role};
use report::{ExplainContext, Provenance};
use std::collections::BTreeSet;

/// More findings than this are told by their number: each takes a screen, and an import may have
/// 50,000.
const MOST_EXPLAINED: usize = 100;
/// More names than this are told by their number.
const MOST_NAMED: usize = 20;
/// Narrower text cannot be read.
const LEAST_WIDTH: usize = 20;

pub(super) fn run(common: &Common, arguments: &Explain) -> Result<ExitCode> {
    let (loaded, findings) = judged(common, &arguments.campaign.campaign)?;
    let language = legible(arguments.presentation.language);
    let few_boots = analysis::shares_few_boots(&loaded.plan, &loaded.records)
        .then(|| report::few_boots_of(&findings, &loaded.records, language))
        .flatten();
    let imported = loaded.plan.imported.as_ref();
    let context = ExplainContext {
        findings: &findings,
        few_boots: few_boots.as_deref(),
        provenance: Provenance::of_plan(&loaded.plan),
        is_given_with_numbers: imported.is_some_and(Imported::is_given_with_numbers),
        binding: loaded.binding,
        store_caveats: &loaded.caveats,
        is_absolute: arguments.presentation.absolute,
        language,
    };
    let names = Names::of(&findings);
    let wanted = arguments.finding.as_deref();
    let chosen: Vec<&Finding> =
        findings.findings.iter().filter(|finding| is_meant(finding, wanted)).collect();
    if chosen.is_empty() {
        return Err(unknown(&arguments.finding, &findings));
    }
    for (index, finding) in chosen.iter().take(MOST_EXPLAINED).enumerate() {
        let space = if index > 0 { "\n" } else { "" };
        print(&format!("{space}{}\n", model::inert(&names.name(finding))))?;
        let paragraphs = report::explain(finding, &context);
        for paragraph in paragraphs {
            let lines = report::wrapped(&paragraph, output_width().max(LEAST_WIDTH));
            print(&format!("\n{}\n", lines.join("\n")))?;
        }
    }
    if let Some(left_out) = left_out(&chosen, &names) {
        print(&format!("\n{}\n", model::inert(&left_out)))?;
    }
    Ok(ExitCode::Done)
}

/// How many are not explained, and how to ask for them.
fn left_out(chosen: &[&Finding], names: &Names<'_>) -> Option<String> {
    let others = chosen.get(MOST_EXPLAINED..)?;
    let first = others.first()?;
    let are = if others.len() == 1 { "is" } else { "are" };
    let more = model::counted(others.len(), "more finding");
    Some(format!(
        "{more} {are} not explained here: name one as {}, the first of them is {}",
        if names.have_references(first) {
            "SUBJECT/WORKLOAD/METRIC/REFERENCE"
        } else {
            "SUBJECT/WORKLOAD/METRIC"
        },
        names.name(first)
    ))
}

/// Whether the words are its subject, workload or metric, or some of these in any order
/// joined by `/`, which a label may hold itself, or all of them in this order and its
/// reference. Without words all verdicts are meant, and never the screen.
fn is_meant(finding: &Finding, wanted: Option<&str>) -> bool {
    let question = &finding.question;
    let Some(wanted) = wanted else { return question.role != Role::Screen };
    if with_reference(finding) == wanted {
        return true;
    }
    let own = [&question.subject, &question.workload, &question.metric].map(String::as_str);
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    orders.iter().any(|order| {
        (1..=order.len()).any(|count| {
            let chosen = &order[..count];
            let names: Vec<&str> = chosen.iter().map(|index| own[*index]).collect();
            let has_metric = chosen.contains(&2);
            (question.role != Role::Screen || has_metric) && names.join("/") == wanted
        })
    })
}

/// A finding by all that tells it from others.
fn with_reference(finding: &Finding) -> String {
    let question = &finding.question;
    let (subject, workload) = (&question.subject, &question.workload);
    format!("{subject}/{workload}/{}/{}", question.metric, question.reference)
}

/// Subject, workload and metric of a finding.
type Parts<'a> = (&'a str, &'a str, &'a str);

fn parts(finding: &Finding) -> Parts<'_> {
    let question = &finding.question;
    (&question.subject, &question.workload, &question.metric)
}

/// What findings are called: with their reference where a subject is compared with several.
struct Names<'a> {
    /// Those of more than one finding.
    shared: BTreeSet<Parts<'a>>,
}

impl<'a> Names<'a> {
    fn of(findings: &'a Findings) -> Self {
        let mut seen = BTreeSet::new();
        let all = findings.findings.iter().map(parts);
        Self { shared: all.filter(|parts| !seen.insert(*parts)).collect() }
    }

    fn have_references(&self, finding: &Finding) -> bool {
        self.shared.contains(&parts(finding))
    }

    fn name(&self, finding: &Finding) -> String {
        if self.have_references(finding) {
            return with_reference(finding);
        }
        let (subject, workload, metric) = parts(finding);
        format!("{subject}/{workload}/{metric}")
    }
}

fn unknown(finding: &Option<String>, findings: &Findings) -> Error {
    let judged = findings.findings.iter().filter(|finding| finding.question.role != Role::Screen);
    let all_names = Names::of(findings);
    let mut judged = judged.map(|finding| all_names.name(finding));
    let mut names: Vec<String> = judged.by_ref().take(MOST_NAMED).collect();
    let others = judged.count();
    if others > 0 {
        names.push(format!("{others} more"));
    }
    Error::usage(
        format!("cannot explain `{}`", finding.as_deref().unwrap_or_default()),
        "no finding has these parts",
        format!("choose one of {}, or a part of one", names.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(count: usize) -> Vec<Finding> {
        let of = |number: usize| {
            fixtures::finding(fixtures::question(&format!("w{number}"), "m", "b", "a"))
        };
        (0..count).map(of).collect()
    }

    #[test]
    fn of_very_many_findings_a_hundred_are_explained_and_the_number_of_the_others_told() {
        let all = fixtures::findings(found(48_000));
        let names = Names::of(&all);
        let chosen: Vec<&Finding> = all.findings.iter().collect();
        assert_eq!(left_out(&chosen[..MOST_EXPLAINED], &names), None);
        let told = left_out(&chosen, &names).unwrap();
        assert!(told.starts_with("47900 more findings are not explained here"), "{told}");
        assert!(told.ends_with("b/w100/m"), "{told}");
    }

    #[test]
    fn of_very_many_names_a_refusal_offers_twenty() {
        let findings = fixtures::findings(found(48_000));
        let told = unknown(&Some("nobody".to_owned()), &findings).to_string();
        assert!(told.contains("b/w19/m, 47980 more") && !told.contains("b/w20/m"), "{told}");
    }

    #[test]
    fn a_subject_that_is_compared_with_several_is_named_and_chosen_with_its_reference() {
        let of = |metric: &str, subject: &str, reference: &str| {
            fixtures::finding(fixtures::question("w", metric, subject, reference))
        };
        let all = [of("m", "c", "a"), of("m", "c", "b"), of("m", "b", "a")];
        let findings = fixtures::findings(all.into());
        let told = unknown(&Some("nobody".to_owned()), &findings).to_string();
        assert!(told.contains("choose one of c/w/m/a, c/w/m/b, b/w/m, or a part"), "{told}");
        let chosen = |wanted: &str| {
            let meant = findings.findings.iter().filter(|one| is_meant(one, Some(wanted)));
            meant.map(|one| one.question.reference.to_string()).collect::<Vec<String>>()
        };
        assert_eq!(chosen("c/w/m/b"), ["b"]);
        assert_eq!(chosen("c/w/m"), ["a", "b"]);
        assert_eq!(chosen("b/w/m/a"), ["a"]);
    }
}
