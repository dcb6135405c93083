//! The answer: what the primary findings say, in one sentence.

use crate::emulated::{is_hidden, mark};
use crate::quantities::{interval, raw_change, value};
use model::{CaveatCode, Finding, Findings, Role, Strength, Verdict};

/// A sentence names this many questions of a kind; of the others it gives the number.
const NAMED_AT_MOST: usize = 4;

/// The family of all cells of imported numbers together.
const OVERALL: &str = "overall";

/// The answer to the experiment's question.
pub(crate) fn answer(findings: &Findings, hides_absolute: bool) -> String {
    let is_emulated = findings.findings.iter().any(Finding::is_emulated);
    format!("{}{}", mark(is_emulated), sentence(findings, hides_absolute))
}

fn sentence(findings: &Findings, hides_absolute: bool) -> String {
    let mut primary: Vec<&Finding> =
        findings.findings.iter().filter(|finding| finding.question.role == Role::Primary).collect();
    // Where there is a whole, its parts are not the answer.
    if primary.iter().any(|finding| finding.question.family == OVERALL) {
        primary.retain(|finding| finding.question.family == OVERALL);
    }
    if primary.is_empty() {
        return control_only(findings);
    }
    let difference = |finding: &Finding| difference(finding, hides_absolute);
    let clauses: Vec<String> = [
        clause(&primary, Verdict::Better, "", difference, "better"),
        clause(&primary, Verdict::Worse, "", difference, "worse"),
        clause(&primary, Verdict::Equivalent, "no difference beyond the margin: ", same, "alike"),
        clause(&primary, Verdict::Inconclusive, "undecided: ", undecided, "undecided"),
        clause(&primary, Verdict::Invalid, "no valid answer: ", name, "without a valid answer"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let sentence = clauses.join("; ");
    // A subject's name keeps its spelling at the beginning of the sentence.
    let opens_with_our_words =
        ["no ", "undecided: "].iter().any(|opening| sentence.starts_with(opening));
    format!("{}.", if opens_with_our_words { capitalised(&sentence) } else { sentence })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

fn control_only(findings: &Findings) -> String {
    let differs = |finding: &&Finding| matches!(finding.verdict, Verdict::Better | Verdict::Worse);
    let wrong = findings.findings.iter().filter(differs).count();
    let has_estimate = findings.findings.iter().any(|finding| finding.effect.is_some());
    match wrong {
        0 if !has_estimate => "Nothing was compared: there are too few numbers.".to_owned(),
        0 => "Compared with itself, the reference showed no difference.".to_owned(),
        count => format!(
            "Compared with itself, the reference differed in {count} findings: do not trust this set-up."
        ),
    }
}

/// All findings with one verdict: `beginning a, b, and 3 more are better`.
fn clause(
    primary: &[&Finding],
    verdict: Verdict,
    beginning: &str,
    describe: impl Fn(&Finding) -> String,
    adjective: &str,
) -> Option<String> {
    let mut chosen: Vec<&Finding> =
        primary.iter().copied().filter(|finding| finding.verdict == verdict).collect();
    if chosen.is_empty() {
        return None;
    }
    if chosen.len() > NAMED_AT_MOST {
        chosen.sort_by(|a, b| size(b).total_cmp(&size(a)));
    }
    let mut named: Vec<String> =
        chosen.iter().take(NAMED_AT_MOST).map(|finding| describe(finding)).collect();
    match chosen.len().saturating_sub(NAMED_AT_MOST) {
        0 => {}
        1 => named.push(format!("and one more is {adjective}")),
        more => named.push(format!("and {more} more are {adjective}")),
    }
    Some(format!("{beginning}{}", named.join(", ")))
}

/// The size of an effect, whatever its sign.
fn size(finding: &Finding) -> f64 {
    finding.effect.as_ref().map_or(0.0, |effect| effect.ratio.ln().abs())
}

fn difference(finding: &Finding, hides_absolute: bool) -> String {
    let question = &finding.question;
    let word = if finding.verdict == Verdict::Better { "better" } else { "worse" };
    let strength = match finding.strength {
        Some(Strength::Clearly) => "clearly ",
        _ => "",
    };
    let mut evidence = Vec::new();
    let values = (finding.subject_value, finding.reference_value);
    if let ((Some(subject), Some(reference)), false) = (values, is_hidden(finding, hides_absolute))
    {
        evidence.push(format!(
            "{} against {}",
            value(subject, question.unit),
            value(reference, question.unit)
        ));
    }
    if let Some(effect) = &finding.effect {
        evidence.extend(raw_change(finding));
        evidence.push(format!("effect {}", interval(&effect.interval)));
    }
    let evidence =
        if evidence.is_empty() { String::new() } else { format!(" ({})", evidence.join(", ")) };
    format!(
        "{} is {strength}{word} than {} for {} {}{evidence}",
        question.subject, question.reference, question.workload, question.metric
    )
}

fn same(finding: &Finding) -> String {
    format!("{} (margin {} %)", name(finding), trimmed(100.0 * finding.margin))
}

fn undecided(finding: &Finding) -> String {
    let needed = finding.planning.as_ref().and_then(|planning| planning.blocks_for_difference);
    // More blocks do not help where failures are the obstacle, and few pairs say
    // too little about the noise to plan by.
    let fails = finding.caveats.iter().any(|caveat| {
        matches!(caveat.code, CaveatCode::DifferentialFailure | CaveatCode::FewBlocks)
    });
    match needed {
        Some(blocks) if blocks as usize > finding.pairs && !fails => {
            format!("{} (about {blocks} blocks would tell)", name(finding))
        }
        _ => name(finding),
    }
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
