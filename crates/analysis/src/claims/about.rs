//! Which claims about subjects are about a comparison. Numbers without blocks are compared for every
//! pair of subjects at every combination of levels, and a plan may have hundreds of claims: what each
//! claim speaks of is made once, and looked up.

use model::{Plan, Question, Role};
use std::collections::{BTreeMap, BTreeSet};

/// What the claims of a plan about subjects speak of, each claim by its place in the plan.
pub(crate) struct ClaimsAbout<'p> {
    plan: &'p Plan,
    metrics: Vec<BTreeSet<&'p str>>,
    workloads: BTreeSet<&'p str>,
    /// The claims that speak of a subject and its reference, in ascending order.
    of_pairs: BTreeMap<[&'p str; 2], Vec<usize>>,
}

impl<'p> ClaimsAbout<'p> {
    pub(crate) fn of(plan: &'p Plan) -> Self {
        let mut of_pairs: BTreeMap<[&'p str; 2], Vec<usize>> = BTreeMap::new();
        let claims = plan.claims.iter().enumerate();
        for (index, claim) in
            claims.filter(|(_, claim)| !claim.is_across_workloads() && !claim.is_combined())
        {
            for (reference, subject) in claim.pairs(&plan.subjects) {
                let pair = [subject.id.as_str(), reference.id.as_str()];
                let known = of_pairs.entry(pair).or_default();
                if known.last() != Some(&index) {
                    known.push(index);
                }
            }
        }
        let metrics = plan.claims.iter().map(|claim| claim.metric.ids());
        let metrics = metrics.map(|ids| ids.iter().map(String::as_str).collect()).collect();
        let workloads = plan.workloads.iter().map(|workload| workload.label.as_str()).collect();
        Self { plan, metrics, workloads, of_pairs }
    }

    /// The claims about this comparison, each with whether the comparison is the other way round.
    pub(crate) fn about(&self, question: &Question) -> Vec<(usize, bool)> {
        if question.role != Role::Primary {
            return Vec::new();
        }
        let (subject, reference) = (question.subject.as_str(), question.reference.as_str());
        let own = self.speaking_of(subject, reference);
        let others = self.speaking_of(reference, subject).iter();
        let turned = others.filter(|index| own.binary_search(index).is_err());
        let both =
            own.iter().map(|index| (*index, false)).chain(turned.map(|index| (*index, true)));
        both.filter(|(index, _)| self.asks(*index, question)).collect()
    }

    fn speaking_of<'s>(&'s self, subject: &'s str, reference: &'s str) -> &'s [usize] {
        self.of_pairs.get(&[subject, reference]).map_or(&[][..], Vec::as_slice)
    }

    /// Whether a claim speaks of the metric and the workload of a question.
    fn asks(&self, index: usize, question: &Question) -> bool {
        let is_of_workload = match &self.plan.claims[index].workload {
            Some(label) => *label == question.workload,
            // Margins of imported numbers repeat their cells.
            None => self.workloads.contains(question.workload.as_str()),
        };
        is_of_workload && self.metrics[index].contains(question.metric.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan};
    use model::{
        Claim, ClaimShape, Claimed, ClaimedEffect, ClaimedMetrics, ClaimedOver, Direction, Level,
        Reduction,
    };

    /// What a claim says of a question when it is asked by itself.
    fn slowly(plan: &Plan, claim: &Claim, question: &Question) -> Option<bool> {
        let is_meant = question.role == Role::Primary
            && !claim.is_across_workloads()
            && !claim.is_combined()
            && claim.metric.includes(&question.metric)
            && match &claim.workload {
                Some(label) => *label == question.workload,
                None => plan.workload(&question.workload).is_some(),
            };
        let subject = plan.subject(&question.subject).filter(|_| is_meant)?;
        let reference = plan.subject(&question.reference)?;
        if claim.speaks_of(subject, reference) {
            return Some(false);
        }
        claim.speaks_of(reference, subject).then_some(true)
    }

    /// Claims of every form, about four subjects of two factors.
    fn claimed() -> Plan {
        let metrics = ["m", "n"].map(|id| metric(id, Direction::Lower, Reduction::Median));
        let mut plan = plan(&["a", "b", "c", "d"], metrics.into(), 0);
        for (place, subject) in plan.subjects.iter_mut().enumerate() {
            for (factor, level) in [("x", place % 2), ("y", place / 2)] {
                let level = Level::canonical(level.to_string());
                subject.levels.insert(factor.to_owned(), level);
            }
        }
        let levels = |chosen: &[(&str, &str)]| {
            let level = |(factor, level): &(&str, &str)| {
                ((*factor).to_owned(), Level::canonical((*level).to_owned()))
            };
            Claimed::Levels(chosen.iter().map(level).collect())
        };
        let one = || fixtures::claim("b", "a", ClaimedEffect::Better);
        let order: Vec<String> = ["d", "b", "a"].map(str::to_owned).into();
        let overall = ClaimShape { over: ClaimedOver::Overall, ..ClaimShape::default() };
        plan.claims = vec![
            one(),
            fixtures::claim("a", "b", ClaimedEffect::Worse),
            Claim { workload: None, ..one() },
            Claim { workload: Some("v".to_owned()), ..one() },
            Claim {
                metric: ClaimedMetrics::Several(["n", "m"].map(str::to_owned).into()),
                ..one()
            },
            Claim { subject: levels(&[("x", "1")]), reference: levels(&[("x", "0")]), ..one() },
            Claim { subject: levels(&[]), reference: levels(&[]), ..one() },
            Claim { shape: ClaimShape { order, ..ClaimShape::default() }, ..one() },
            Claim { shape: overall, ..one() },
            Claim { workloads: vec!["w".to_owned(), "v".to_owned()], ..one() },
            fixtures::claim("absent", "a", ClaimedEffect::Better),
        ];
        plan
    }

    #[test]
    fn what_is_looked_up_is_what_each_claim_says_when_it_is_asked() {
        let plan = claimed();
        let about = ClaimsAbout::of(&plan);
        let (mut own, mut turned) = (0, 0);
        for subject in &plan.subjects {
            for reference in plan.subjects.iter().filter(|one| one.id != subject.id) {
                for (workload, metric, role) in [
                    ("w", "m", Role::Primary),
                    ("w", "n", Role::Primary),
                    ("v", "m", Role::Primary),
                    ("overall", "m", Role::Primary),
                    ("w", "m", Role::Screen),
                ] {
                    let question = Question {
                        workload: workload.to_owned(),
                        metric: metric.to_owned(),
                        unit: plan.workloads[0].metrics[0].unit,
                        direction: Direction::Lower,
                        subject: subject.id.clone(),
                        reference: reference.id.clone(),
                        role,
                        family: String::new(),
                    };
                    let mut found = about.about(&question);
                    found.sort_unstable();
                    let claims = plan.claims.iter().enumerate();
                    let of_each = claims.filter_map(|(index, claim)| {
                        Some((index, slowly(&plan, claim, &question)?))
                    });
                    assert_eq!(found, of_each.collect::<Vec<_>>(), "{question:?}");
                    own += found.iter().filter(|(_, is_turned)| !is_turned).count();
                    turned += found.iter().filter(|(_, is_turned)| *is_turned).count();
                }
            }
        }
        assert!(own > 0 && turned > 0, "{own} {turned}");
    }
}
