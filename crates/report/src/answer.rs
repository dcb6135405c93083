//! The answer: what the primary findings say, in one sentence, in others what they may tell besides
//! the subjects, and how a soak campaign went.

use crate::effect_words::EffectWords;
use crate::emulated::{is_hidden, mark};
use crate::over_time;
use crate::quantities::{NO_INTERVAL, against, bracketed, confidence, value};
use crate::reservations::reservations;
use model::{Finding, Findings, Obstacle, Question, Role, Strength, Verdict};
use phrases::{Language, counted, say};

/// A sentence names this many questions of a kind; of the others it gives the number.
const NAMED_AT_MOST: usize = 4;

/// The family of all cells of imported numbers together.
const OVERALL: &str = "overall";

/// How findings are told.
#[derive(Clone, Copy)]
pub(crate) struct AnswerStyle {
    /// Whether absolute values are left out.
    pub hides_absolute: bool,
    /// Whether the numbers are those of others, to which a campaign adds none.
    pub is_imported: bool,
    /// The language.
    pub language: Language,
}

/// The answer to the experiment's question.
pub(crate) fn answer(findings: &Findings, told: AnswerStyle) -> String {
    let language = told.language;
    let is_emulated = findings.findings.iter().any(|finding| finding.is_emulated);
    let primary = primary(findings);
    let answer = sentence(findings, &primary, told);
    let mut sentences = vec![format!("{}{answer}", mark(is_emulated, language))];
    sentences.extend(reservations(&primary, language));
    sentences.extend(over_time::sentence(findings, language));
    sentences.join(" ")
}

/// The verdicts in the order in which they are told.
const ORDER: [Verdict; 5] =
    [Verdict::Better, Verdict::Worse, Verdict::Equivalent, Verdict::Inconclusive, Verdict::Invalid];

/// The findings that the answer is about.
fn primary(findings: &Findings) -> Vec<&Finding> {
    let mut primary: Vec<&Finding> =
        findings.findings.iter().filter(|finding| finding.question.role == Role::Primary).collect();
    // Where there is a whole, its parts are not the answer.
    if primary.iter().any(|finding| finding.question.family == OVERALL) {
        primary.retain(|finding| finding.question.family == OVERALL);
    }
    primary
}

fn sentence(findings: &Findings, primary: &[&Finding], told: AnswerStyle) -> String {
    if primary.is_empty() {
        return control_only(findings, told.language);
    }
    let clauses: Vec<(Verdict, String)> = ORDER
        .into_iter()
        .filter_map(|verdict| Some((verdict, told.clause(findings, primary, verdict)?)))
        .collect();
    let sentence: Vec<&str> = clauses.iter().map(|(_, clause)| clause.as_str()).collect();
    let sentence = sentence.join("; ");
    // A subject's name keeps its spelling at the beginning of the sentence.
    let opens_with_a_name =
        matches!(clauses.first(), Some((Verdict::Better | Verdict::Worse, _)) | None);
    format!("{}.", if opens_with_a_name { sentence } else { capitalised(&sentence) })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

fn control_only(findings: &Findings, language: Language) -> String {
    let differs = |finding: &&Finding| matches!(finding.verdict, Verdict::Better | Verdict::Worse);
    let wrong = findings.findings.iter().filter(differs).count();
    let has_estimate = findings.findings.iter().any(|finding| finding.effect.is_some());
    match wrong {
        0 if !has_estimate => {
            language.word("Nothing was compared: there are too few numbers.").to_owned()
        }
        0 => language.word("Compared with itself, the reference showed no difference.").to_owned(),
        count => counted!(
            language,
            count,
            "Compared with itself, the reference differed in 1 finding: do not trust this set-up.",
            "Compared with itself, the reference differed in {count} findings: do not trust this \
             set-up."
        ),
    }
}

/// Whether what an obstacle says stands elsewhere: too few numbers, or none, are told by their
/// number, and say too little about the noise to plan by; what is invalid is told as that.
fn is_told(obstacle: Obstacle) -> bool {
    matches!(
        obstacle,
        Obstacle::FewPairs
            | Obstacle::FewPooledBlocks
            | Obstacle::FewReplicates
            | Obstacle::LoneReplicate
            | Obstacle::NothingToCompare
            | Obstacle::NoValidBlock
            | Obstacle::ObservedLatency
    )
}

impl AnswerStyle {
    /// All findings with one verdict: `a is better …, b is better …, and 3 more are better`.
    fn clause(self, findings: &Findings, primary: &[&Finding], verdict: Verdict) -> Option<String> {
        let language = self.language;
        let mut chosen: Vec<&Finding> =
            primary.iter().copied().filter(|finding| finding.verdict == verdict).collect();
        if chosen.is_empty() {
            return None;
        }
        if chosen.len() > NAMED_AT_MOST {
            chosen.sort_by(|a, b| b.size().total_cmp(&a.size()));
        }
        let of_named = chosen.iter().take(NAMED_AT_MOST);
        let named = of_named.map(|finding| self.finding(findings, finding));
        let more = and_more(verdict, chosen.len().saturating_sub(NAMED_AT_MOST), language);
        let all = named.chain(more).collect::<Vec<_>>().join(", ");
        Some(match verdict {
            Verdict::Better | Verdict::Worse => all,
            Verdict::Equivalent => {
                say!(language, "no difference beyond the margin: {comparisons}", comparisons = all)
            }
            Verdict::Inconclusive => say!(language, "undecided: {comparisons}", comparisons = all),
            Verdict::Invalid => {
                say!(language, "no valid answer: {comparisons}", comparisons = all)
            }
        })
    }

    fn finding(self, findings: &Findings, finding: &Finding) -> String {
        match finding.verdict {
            Verdict::Better | Verdict::Worse => self.difference(findings, finding),
            Verdict::Equivalent => self.same(finding),
            Verdict::Inconclusive => self.undecided(finding),
            Verdict::Invalid => self.name(finding),
        }
    }

    fn difference(self, findings: &Findings, finding: &Finding) -> String {
        let Question { subject, reference, workload, metric, .. } = &finding.question;
        let language = self.language;
        let is_clear = finding.strength == Some(Strength::Clearly);
        let evidence = self.evidence(findings, finding);
        match (finding.verdict == Verdict::Better, is_clear) {
            (true, true) => say!(
                language,
                "{subject} is clearly better than {reference} for {workload} {metric}{evidence}",
                subject,
                reference,
                workload,
                metric,
                evidence
            ),
            (true, false) => say!(
                language,
                "{subject} is better than {reference} for {workload} {metric}{evidence}",
                subject,
                reference,
                workload,
                metric,
                evidence
            ),
            (false, true) => say!(
                language,
                "{subject} is clearly worse than {reference} for {workload} {metric}{evidence}",
                subject,
                reference,
                workload,
                metric,
                evidence
            ),
            (false, false) => say!(
                language,
                "{subject} is worse than {reference} for {workload} {metric}{evidence}",
                subject,
                reference,
                workload,
                metric,
                evidence
            ),
        }
    }

    /// The effect as its row has it, and in brackets the values, what happened to them where the
    /// effect does not say it, and the interval, as far as they are known and may be shown.
    fn evidence(self, findings: &Findings, finding: &Finding) -> String {
        let language = self.language;
        let unit = finding.question.unit;
        let mut evidence = Vec::new();
        let values = (finding.subject_value, finding.reference_value);
        let is_hidden = is_hidden(finding, self.hides_absolute);
        if let ((Some(subject), Some(reference)), false) = (values, is_hidden) {
            evidence.push(against(&value(subject, unit), &value(reference, unit), language));
        }
        let mut lead = String::new();
        if let Some(effect) = EffectWords::of(finding, language) {
            lead = format!(": {}", effect.estimate);
            evidence.extend(effect.change);
            evidence.push(match effect.interval {
                Some(interval) => say!(
                    language,
                    "{level} % interval {interval}",
                    level = confidence(findings.shown_alpha(finding)),
                    interval
                ),
                None => language.word(NO_INTERVAL).to_owned(),
            });
        }
        if evidence.is_empty() {
            return lead;
        }
        lead + &bracketed(&evidence.join(", "), language)
    }

    fn same(self, finding: &Finding) -> String {
        say!(
            self.language,
            "{comparison} (margin {margin} %)",
            comparison = self.name(finding),
            margin = in_percent(finding.margin)
        )
    }

    fn undecided(self, finding: &Finding) -> String {
        let needed = finding.planning.as_ref().and_then(|planning| planning.blocks_for_difference);
        let name = self.name(finding);
        if let Some(obstacle) = finding.obstacle.filter(|_| finding.is_forbidden()) {
            return match finding.reason.as_ref().filter(|_| !is_told(obstacle)) {
                // More blocks do not help there.
                Some(reason) => format!("{name} ({})", reason.trim_end_matches('.')),
                None => name,
            };
        }
        let Some(blocks) = needed.filter(|blocks| *blocks as usize > finding.pairs) else {
            return name;
        };
        let margin = in_percent(finding.margin);
        if self.is_imported {
            return say!(
                self.language,
                "{comparison} (about {blocks} blocks, imported or measured, would tell a \
                 difference of {margin} %)",
                comparison = name,
                blocks,
                margin
            );
        }
        // A campaign that can go on has no such number: blocks cannot be added to this one.
        say!(
            self.language,
            "{comparison} (a new campaign of about {blocks} blocks would tell a difference of \
             {margin} %)",
            comparison = name,
            blocks,
            margin
        )
    }

    fn name(self, finding: &Finding) -> String {
        let Question { subject, reference, workload, metric, .. } = &finding.question;
        say!(
            self.language,
            "{subject} against {reference} for {workload} {metric}",
            subject,
            reference,
            workload,
            metric
        )
    }
}

/// How many findings are not named.
fn and_more(verdict: Verdict, more: usize, language: Language) -> Option<String> {
    if more == 0 {
        return None;
    }
    Some(match verdict {
        Verdict::Better => {
            counted!(language, more, "and one more is better", "and {count} more are better")
        }
        Verdict::Worse => {
            counted!(language, more, "and one more is worse", "and {count} more are worse")
        }
        Verdict::Equivalent => {
            counted!(language, more, "and one more is alike", "and {count} more are alike")
        }
        Verdict::Inconclusive => {
            counted!(language, more, "and one more is undecided", "and {count} more are undecided")
        }
        Verdict::Invalid => counted!(
            language,
            more,
            "and one more is without a valid answer",
            "and {count} more are without a valid answer"
        ),
    })
}

/// A fraction in percent without needless zeros.
pub(crate) fn in_percent(fraction: f64) -> String {
    if let Some(large) = model::large_percent(fraction) {
        return large;
    }
    let text = model::percent(fraction, 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
