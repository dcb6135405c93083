//! The answer: what the primary findings say, in sentences.

use crate::quantities::{change, confidence, interval, percent, value};
use model::{Finding, Findings, Role, Strength, Verdict};

/// The answer to the experiment's question.
pub(crate) fn answer(findings: &Findings) -> String {
    let primary: Vec<&Finding> =
        findings.findings.iter().filter(|finding| finding.question.role == Role::Primary).collect();
    if primary.is_empty() {
        return control_only(findings);
    }
    let mut sentences = Vec::new();
    for verdict in [Verdict::Better, Verdict::Worse] {
        for finding in primary.iter().filter(|finding| finding.verdict == verdict) {
            sentences.push(difference(finding, findings.alpha));
        }
    }
    sentences.extend(list(&primary, Verdict::Equivalent, "No difference beyond the margin"));
    sentences.extend(undecided(&primary));
    sentences.extend(list(&primary, Verdict::Invalid, "No valid answer"));
    sentences.join(" ")
}

fn control_only(findings: &Findings) -> String {
    let differs = |finding: &&Finding| matches!(finding.verdict, Verdict::Better | Verdict::Worse);
    let wrong = findings.findings.iter().filter(differs).count();
    match wrong {
        0 => "Compared with itself, the reference showed no difference.".to_owned(),
        count => format!(
            "Compared with itself, the reference differed in {count} findings: do not trust this set-up."
        ),
    }
}

fn difference(finding: &Finding, alpha: f64) -> String {
    let question = &finding.question;
    let word = if finding.verdict == Verdict::Better { "better" } else { "worse" };
    let strength = match finding.strength {
        Some(Strength::Clearly) => "clearly ",
        _ => "",
    };
    let values = match (finding.subject_value, finding.reference_value) {
        (Some(subject), Some(reference)) => {
            format!(
                ": {} against {}",
                value(subject, question.unit),
                value(reference, question.unit)
            )
        }
        _ => String::new(),
    };
    let effect = finding.effect.as_ref().map_or(String::new(), |effect| {
        format!(
            ", {} (effect {}, {} % interval {})",
            change(effect.raw_ratio),
            percent(effect.ratio),
            confidence(alpha),
            interval(&effect.interval)
        )
    });
    format!(
        "{} is {strength}{word} than {} for {} {}{values}{effect}.",
        question.subject, question.reference, question.workload, question.metric
    )
}

fn list(primary: &[&Finding], verdict: Verdict, beginning: &str) -> Option<String> {
    let named: Vec<String> = primary
        .iter()
        .filter(|finding| finding.verdict == verdict)
        .map(|finding| {
            let margin = if verdict == Verdict::Equivalent {
                format!(" (margin {} %)", trimmed(100.0 * finding.margin))
            } else {
                String::new()
            };
            format!("{}{margin}", name(finding))
        })
        .collect();
    (!named.is_empty()).then(|| format!("{beginning}: {}.", named.join("; ")))
}

fn undecided(primary: &[&Finding]) -> Option<String> {
    let named: Vec<String> = primary
        .iter()
        .filter(|finding| finding.verdict == Verdict::Inconclusive)
        .map(|finding| {
            let needed =
                finding.planning.as_ref().and_then(|planning| planning.blocks_for_difference);
            let advice = match needed {
                Some(blocks) if blocks as usize > finding.pairs && finding.pairs >= 2 => {
                    format!(" (about {blocks} blocks would tell)")
                }
                _ => String::new(),
            };
            format!("{}{advice}", name(finding))
        })
        .collect();
    (!named.is_empty()).then(|| format!("Undecided: {}.", named.join("; ")))
}

fn name(finding: &Finding) -> String {
    let question = &finding.question;
    format!(
        "{} against {} for {} {}",
        question.subject, question.reference, question.workload, question.metric
    )
}

/// A number without needless zeros.
pub(crate) fn trimmed(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
