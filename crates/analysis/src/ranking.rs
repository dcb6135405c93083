//! Ranks of subjects that were all compared with each other (docs/method.md#m-ranks).

use model::{Comparisons, Finding, Plan, Rank, Ranking, Role, Verdict};

/// The ranks on each workload and metric; none where only the reference was
/// compared with.
pub(crate) fn rankings(plan: &Plan, findings: &[Finding]) -> Vec<Ranking> {
    if plan.comparisons != Comparisons::All {
        return Vec::new();
    }
    let primary: Vec<&Finding> =
        findings.iter().filter(|finding| finding.question.role == Role::Primary).collect();
    let is_same = |a: &&Finding, b: &&Finding| {
        let (a, b) = (&a.question, &b.question);
        a.family == b.family && a.workload == b.workload && a.metric == b.metric
    };
    primary
        .chunk_by(is_same)
        .filter_map(|group| {
            let question = &group.first()?.question;
            Some(ranking(plan, &question.workload, &question.metric, group))
        })
        .collect()
}

/// Ranks by the verdicts of every pair; a pair without a finding tells nothing.
pub(crate) fn ranking(
    plan: &Plan,
    workload: &str,
    metric: &str,
    comparisons: &[&Finding],
) -> Ranking {
    let subjects: Vec<&str> = plan
        .subjects
        .iter()
        .filter(|subject| !subject.is_control && is_compared(&subject.id, comparisons))
        .map(|subject| subject.id.as_str())
        .collect();
    let (mut better, mut worse) = (vec![0; subjects.len()], vec![0; subjects.len()]);
    let place = |id: &str| subjects.iter().position(|subject| *subject == id);
    for finding in comparisons {
        let question = &finding.question;
        let (Some(subject), Some(reference)) =
            (place(&question.subject), place(&question.reference))
        else {
            continue;
        };
        match finding.verdict {
            Verdict::Better => {
                better[reference] += 1;
                worse[subject] += 1;
            }
            Verdict::Worse => {
                better[subject] += 1;
                worse[reference] += 1;
            }
            _ => {}
        }
    }
    let mut ranks: Vec<Rank> = subjects
        .iter()
        .enumerate()
        .map(|(index, subject)| Rank {
            subject: (*subject).to_owned(),
            rank: 1 + better[index],
            worst: subjects.len() - worse[index],
        })
        .collect();
    ranks.sort_by_key(|rank| (rank.rank, rank.worst));
    let is_emulated = comparisons.iter().any(|finding| finding.is_emulated);
    Ranking { workload: workload.to_owned(), metric: metric.to_owned(), ranks, is_emulated }
}

fn is_compared(id: &str, comparisons: &[&Finding]) -> bool {
    comparisons
        .iter()
        .any(|finding| finding.question.subject == id || finding.question.reference == id)
}

/// Subjects that no other was shown to be better than.
pub(crate) fn co_best(ranking: &Ranking) -> Vec<String> {
    let best = ranking.ranks.iter().filter(|rank| rank.rank == 1);
    best.map(|rank| rank.subject.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, records};
    use crate::judge;
    use model::{Direction, Reduction};

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];

    #[test]
    fn subjects_that_are_not_told_apart_share_a_rank() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = Plan { comparisons: Comparisons::All, ..plan(&["a", "b", "c"], metrics, 8) };
        let values = |scale: f64, turn: usize| -> Vec<f64> {
            (0..8).map(|block| scale * (1.0 + 0.004 * NOISE[(block + turn) % 8])).collect()
        };
        let mut all = records("a", &values(100.0, 0));
        all.extend(records("b", &values(80.0, 3)));
        all.extend(records("c", &values(80.1, 5)));
        let findings = judge(&plan, &all);
        assert_eq!(findings.findings.len(), 3);
        assert_eq!(findings.families["declared"], 3);
        let ranks: Vec<(&str, usize, usize)> = findings.rankings[0]
            .ranks
            .iter()
            .map(|rank| (rank.subject.as_str(), rank.rank, rank.worst))
            .collect();
        assert_eq!(ranks, [("b", 1, 2), ("c", 1, 2), ("a", 3, 3)]);
        assert_eq!(co_best(&findings.rankings[0]), ["b", "c"]);
        let few = Plan { comparisons: Comparisons::Reference, ..plan };
        assert_eq!(judge(&few, &all).rankings, [], "no ranks without every pair");
    }
}
