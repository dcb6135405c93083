//! Ranks, use cases and claims in words: what every text renderer says of them.

use crate::answer::in_percent;
use crate::emulated::mark;
use crate::quantities::{against, confidence, estimate, p_value, versus};
use crate::verdict_table::{effect, look, words};
use model::{
    ClaimFinding, ClaimOutcome, Finding, Findings, Question, Rank, Ranking, Role, UseCaseFinding,
    Verdict, Weight, Worst,
};
use phrases::{Language, say};
use std::collections::BTreeMap;

/// A heading with its lines.
pub(crate) struct Section {
    pub heading: String,
    pub lines: Vec<String>,
}

/// `1 fifo; 2 to 3 batch, other`: subjects that are not told apart share a rank.
pub(crate) fn ranks(ranking: &Ranking, language: Language) -> String {
    let placed = |Rank { rank, worst, .. }: &Rank, subjects: String| {
        if rank == worst {
            say!(language, "{rank} {subjects}", rank, subjects)
        } else {
            say!(language, "{rank} to {worst} {subjects}", rank, worst, subjects)
        }
    };
    let same = |a: &Rank, b: &Rank| (a.rank, a.worst) == (b.rank, b.worst);
    let groups: Vec<String> = ranking
        .ranks
        .chunk_by(same)
        .map(|group| {
            let names: Vec<&str> = group.iter().map(|rank| rank.subject.as_str()).collect();
            placed(&group[0], names.join(", "))
        })
        .collect();
    format!("{}{}", mark(ranking.is_emulated, language), groups.join("; "))
}

/// What serves a use case, with its evidence and the worst component beside it.
pub(crate) fn use_case(
    finding: &UseCaseFinding,
    findings: &Findings,
    language: Language,
) -> Section {
    let best = match finding.co_best.as_slice() {
        [] => language.word("no subject has evidence to be the best").to_owned(),
        [only] if finding.ranking.ranks.len() > 1 => {
            say!(language, "serves best: {subject}", subject = only)
        }
        several => {
            say!(language, "not told apart as the best: {subjects}", subjects = several.join(", "))
        }
    };
    let best = format!("{}{best}", mark(finding.ranking.is_emulated, language));
    let ranks = say!(language, "ranks: {ranks}", ranks = ranks(&finding.ranking, language));
    let mut lines = vec![best, ranks];
    if !finding.without_evidence.is_empty() {
        let subjects = finding.without_evidence.join(", ");
        lines.push(say!(language, "no evidence on {subjects}", subjects));
    }
    let primary = primary(findings);
    for (comparison, worst) in finding.comparisons.iter().zip(&finding.worst) {
        let pair = &comparison.question;
        let worst = worst.as_ref().map(|worst| {
            let key = [&worst.workload, &worst.metric, &pair.subject, &pair.reference];
            let own = primary.get(&key.map(String::as_str)).copied();
            self::worst(worst, own, findings, language)
        });
        let beside = [worst, comparison.reason.clone(), look(comparison, language)];
        let beside: String = beside.into_iter().flatten().map(|text| format!("; {text}")).collect();
        lines.push(format!(
            "{}:{} {}{beside}",
            versus(&comparison.question, language),
            evidence(comparison, language),
            words(comparison, language)
        ));
    }
    lines.extend(
        components(finding, &findings.findings, language)
            .into_iter()
            .map(|tally| say!(language, "components, {tally}", tally)),
    );
    let weights: Vec<String> = finding.weights.iter().map(weight).collect();
    Section { heading: format!("{} ({})", finding.use_case, weights.join(", ")), lines }
}

/// ` +3.1 % (+1.0 to +5.2 %, adjusted p 0.012)`, of an equivalence with the level of the interval
/// that decided it; or nothing.
fn evidence(comparison: &Finding, language: Language) -> String {
    let Some(known) = &comparison.effect else { return String::new() };
    let p = known.adjusted_difference.map_or(String::new(), |p| {
        format!(", {}", say!(language, "adjusted p {p}", p = p_value(p)))
    });
    let (size, ends) = effect(comparison, language);
    format!(" {size} ({ends}{p})")
}

/// The first primary finding of each workload, metric, subject and reference.
fn primary(findings: &Findings) -> BTreeMap<[&str; 4], &Finding> {
    let mut primary = BTreeMap::new();
    for finding in findings.findings.iter().filter(|one| one.question.role == Role::Primary) {
        let Question { workload, metric, subject, reference, .. } = &finding.question;
        let key = [workload, metric, subject, reference].map(String::as_str);
        primary.entry(key).or_insert(finding);
    }
    primary
}

/// The component in which a pair's subject does worst, with its own verdict and the level of the
/// interval that is shown: an estimate alone does not tell that it is worse.
fn worst(worst: &Worst, own: Option<&Finding>, findings: &Findings, language: Language) -> String {
    // A component that nobody compared by itself has the level of the campaign.
    let alpha = own.map_or(findings.alpha, |own| findings.shown_alpha(own));
    let verdict = own.map(|own| words(own, language));
    let (ratio, interval) = own
        .and_then(|own| own.effect.as_ref().zip(own.shown_interval()))
        .map_or((worst.ratio, worst.interval), |(effect, shown)| (effect.ratio, shown));
    let has_no_width = interval.has_no_width();
    let (effect, interval) = estimate(ratio, &interval, language);
    let verdict = verdict.as_deref().unwrap_or(language.word("no verdict of its own"));
    if has_no_width {
        return say!(
            language,
            "worst in {workload} {metric}: {verdict}, {effect} (no interval: the replicates do not \
             vary)",
            workload = worst.workload,
            metric = worst.metric,
            verdict,
            effect
        );
    }
    say!(
        language,
        "worst in {workload} {metric}: {verdict}, {effect} ({level} % interval {interval})",
        workload = worst.workload,
        metric = worst.metric,
        verdict,
        effect,
        level = confidence(alpha),
        interval
    )
}

/// How the use case's own components ended, pair by pair.
fn components(finding: &UseCaseFinding, all: &[Finding], language: Language) -> Vec<String> {
    let is_component = |other: &&Finding| {
        let question = &other.question;
        question.role == Role::Primary
            && finding.weights.iter().any(|weight| {
                weight.workload == question.workload && weight.metric == question.metric
            })
    };
    tally(&all.iter().filter(is_component).collect::<Vec<_>>(), language)
}

fn weight(weight: &Weight) -> String {
    format!("{} % {} {}", in_percent(weight.weight), weight.workload, weight.metric)
}

/// How a claim ended.
pub(crate) fn outcome(outcome: ClaimOutcome, language: Language) -> &'static str {
    match outcome {
        ClaimOutcome::Confirmed => language.word("confirmed"),
        ClaimOutcome::Refuted => language.word("refuted"),
        ClaimOutcome::RefutedInSize => language.word("refuted in size"),
        ClaimOutcome::Immaterial => language.word("immaterial"),
        ClaimOutcome::RefutedAndImmaterial => language.word("refuted as stated, and immaterial"),
        ClaimOutcome::Undecided => language.word("undecided"),
    }
}

/// What became of a claim, and why, without what it says.
pub fn claim_outcome(finding: &ClaimFinding, language: Language) -> String {
    let mark = mark(finding.is_emulated, language);
    format!("{mark}{}; {}", outcome(finding.outcome, language), finding.reason)
}

/// What became of a claim.
pub(crate) fn claim(finding: &ClaimFinding, language: Language) -> String {
    let source =
        finding.claim.source.as_ref().map_or(String::new(), |source| format!(" ({source})"));
    let mark = mark(finding.is_emulated, language);
    let outcome = outcome(finding.outcome, language);
    format!("{mark}{outcome}: \"{}\"{source}; {}", finding.claim.says, finding.reason)
}

/// How many comparisons of each pair of subjects ended how, where there are too many
/// to read one by one.
pub(crate) fn tally(findings: &[&Finding], language: Language) -> Vec<String> {
    // Pairs are as many as the square of the subjects: each is looked up, and none looked for.
    let mut pairs: Vec<((&str, &str), Vec<&Finding>)> = Vec::new();
    let mut places = BTreeMap::new();
    for finding in findings {
        let pair = (finding.question.subject.as_str(), finding.question.reference.as_str());
        let place = *places.entry(pair).or_insert_with(|| {
            pairs.push((pair, Vec::new()));
            pairs.len() - 1
        });
        pairs[place].1.push(finding);
    }
    let of_pair = |(pair, own): ((&str, &str), Vec<&Finding>)| {
        let mark = mark(own.iter().any(|finding| finding.is_emulated), language);
        let verdicts: Vec<Verdict> = own.iter().map(|finding| finding.verdict).collect();
        let words: Vec<String> = [
            Verdict::Better,
            Verdict::Worse,
            Verdict::Equivalent,
            Verdict::Inconclusive,
            Verdict::Invalid,
        ]
        .into_iter()
        .map(|verdict| (verdict, verdicts.iter().filter(|own| **own == verdict).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| of_verdict(verdict, count, language))
        .collect();
        format!("{}: {mark}{}", against(pair.0, pair.1, language), words.join(", "))
    };
    pairs.into_iter().map(of_pair).collect()
}

fn of_verdict(verdict: Verdict, count: usize, language: Language) -> String {
    match verdict {
        Verdict::Better => say!(language, "{count} better", count),
        Verdict::Worse => say!(language, "{count} worse", count),
        Verdict::Equivalent => say!(language, "{count} equivalent", count),
        Verdict::Inconclusive => say!(language, "{count} inconclusive", count),
        Verdict::Invalid => say!(language, "{count} invalid", count),
    }
}
