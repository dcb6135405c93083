//! Ranks, use cases and claims in words: what every text renderer says of them.

use crate::answer::trimmed;
use crate::emulated::mark;
use crate::quantities::{interval, p_value, percent};
use crate::render::{look, words};
use model::{
    ClaimFinding, ClaimOutcome, Finding, Rank, Ranking, Role, UseCaseFinding, Verdict, Weight,
};

/// A heading with its lines.
pub(crate) struct Section {
    pub heading: String,
    pub lines: Vec<String>,
}

/// `1 fifo; 2 to 3 batch, other`: subjects that are not told apart share a rank.
pub(crate) fn ranks(ranking: &Ranking) -> String {
    let place = |rank: &Rank| {
        if rank.rank == rank.worst {
            rank.rank.to_string()
        } else {
            format!("{} to {}", rank.rank, rank.worst)
        }
    };
    let same = |a: &Rank, b: &Rank| (a.rank, a.worst) == (b.rank, b.worst);
    let groups: Vec<String> = ranking
        .ranks
        .chunk_by(same)
        .map(|group| {
            let names: Vec<&str> = group.iter().map(|rank| rank.subject.as_str()).collect();
            format!("{} {}", place(&group[0]), names.join(", "))
        })
        .collect();
    format!("{}{}", mark(ranking.is_emulated), groups.join("; "))
}

/// What serves a use case, with its evidence and the worst component beside it.
pub(crate) fn use_case(finding: &UseCaseFinding, all: &[Finding]) -> Section {
    let best = match finding.co_best.as_slice() {
        [] => "no subject has evidence to be the best".to_owned(),
        [only] if finding.ranking.ranks.len() > 1 => format!("serves best: {only}"),
        several => format!("not told apart as the best: {}", several.join(", ")),
    };
    let best = format!("{}{best}", mark(finding.ranking.is_emulated));
    let mut lines = vec![best, format!("ranks: {}", ranks(&finding.ranking))];
    if !finding.without_evidence.is_empty() {
        lines.push(format!("no evidence on {}", finding.without_evidence.join(", ")));
    }
    for (comparison, worst) in finding.comparisons.iter().zip(&finding.worst) {
        let question = &comparison.question;
        let evidence = comparison.effect.as_ref().map_or(String::new(), |effect| {
            let p = effect
                .adjusted_difference
                .map_or(String::new(), |p| format!(", adjusted p {}", p_value(p)));
            format!(" {} ({}{p})", percent(effect.ratio), interval(&effect.interval))
        });
        let worst = worst.as_ref().map_or(String::new(), |worst| {
            format!(
                "; worst in {} {}: {} ({})",
                worst.workload,
                worst.metric,
                percent(worst.ratio),
                interval(&worst.interval)
            )
        });
        let reason = comparison.reason.as_ref().map_or(String::new(), |why| format!("; {why}"));
        let look = look(comparison).map_or(String::new(), |text| format!("; {text}"));
        lines.push(format!(
            "{} against {}:{evidence} {}{worst}{reason}{look}",
            question.subject,
            question.reference,
            words(comparison)
        ));
    }
    lines.extend(components(finding, all).into_iter().map(|text| format!("components, {text}")));
    let weights: Vec<String> = finding.weights.iter().map(weight).collect();
    Section { heading: format!("{} ({})", finding.use_case, weights.join(", ")), lines }
}

/// How the use case's own components ended, pair by pair.
fn components(finding: &UseCaseFinding, all: &[Finding]) -> Vec<String> {
    let is_component = |other: &&Finding| {
        let question = &other.question;
        question.role == Role::Primary
            && finding.weights.iter().any(|weight| {
                weight.workload == question.workload && weight.metric == question.metric
            })
    };
    tally(&all.iter().filter(is_component).collect::<Vec<_>>())
}

fn weight(weight: &Weight) -> String {
    format!("{} % {} {}", trimmed(100.0 * weight.weight), weight.workload, weight.metric)
}

/// What became of a claim.
pub(crate) fn claim(finding: &ClaimFinding) -> String {
    let outcome = match finding.outcome {
        ClaimOutcome::Confirmed => "confirmed",
        ClaimOutcome::Refuted => "refuted",
        ClaimOutcome::Undecided => "undecided",
    };
    let source =
        finding.claim.source.as_ref().map_or(String::new(), |source| format!(" ({source})"));
    let mark = mark(finding.is_emulated);
    format!("{mark}{outcome}: \"{}\"{source}; {}", finding.claim.says, finding.reason)
}

/// How many comparisons of each pair of subjects ended how, where there are too many
/// to read one by one.
pub(crate) fn tally(findings: &[&Finding]) -> Vec<String> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for finding in findings {
        let pair = (finding.question.subject.as_str(), finding.question.reference.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let of_pair = |(subject, reference): (&str, &str)| {
        let own: Vec<&&Finding> = findings
            .iter()
            .filter(|finding| {
                finding.question.subject == subject && finding.question.reference == reference
            })
            .collect();
        let mark = mark(own.iter().any(|finding| finding.is_emulated()));
        let verdicts: Vec<Verdict> = own.iter().map(|finding| finding.verdict).collect();
        let counted = [
            (Verdict::Better, "better"),
            (Verdict::Worse, "worse"),
            (Verdict::Equivalent, "equivalent"),
            (Verdict::Inconclusive, "inconclusive"),
            (Verdict::Invalid, "invalid"),
        ]
        .map(|(verdict, word)| (verdicts.iter().filter(|own| **own == verdict).count(), word));
        let words: Vec<String> = counted
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        format!("{subject} against {reference}: {mark}{}", words.join(", "))
    };
    pairs.into_iter().map(of_pair).collect()
}
