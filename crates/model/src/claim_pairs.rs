//! What claims ask to be compared: the pairs of subjects that each speaks of, and how many comparisons
//! all of them may ask for.

use crate::{
    Claim, OverLimit, PLAN_CLAIM_PAIRS, PLAN_CLAIMED, PLAN_CLAIMS, Plan, Subject, WorkloadPlan,
};
use std::collections::BTreeSet;

/// Which subjects may stand on each side of a claim, each by its place.
struct ClaimSides<'c> {
    /// Steps of its order, the subject first.
    steps: BTreeSet<[&'c str; 2]>,
    is_subject: Vec<bool>,
    is_reference: Vec<bool>,
}

impl<'c> ClaimSides<'c> {
    fn of(claim: &'c Claim, subjects: &[Subject]) -> Self {
        let step = |two: &'c [String]| [two[0].as_str(), two[1].as_str()];
        let steps: BTreeSet<[&'c str; 2]> = claim.shape.order.windows(2).map(step).collect();
        let [firsts, seconds] = [0_usize, 1]
            .map(|side| steps.iter().map(|step| step[side]).collect::<BTreeSet<&str>>());
        let has_order = !claim.shape.order.is_empty();
        let is_subject = |one: &Subject| match has_order {
            true => firsts.contains(one.id.as_str()),
            false => claim.subject.includes(one),
        };
        let is_reference = |one: &Subject| match has_order {
            true => seconds.contains(one.id.as_str()),
            false => claim.reference.includes(one),
        };
        let of_arm = |is_one: &dyn Fn(&Subject) -> bool| -> Vec<bool> {
            subjects.iter().map(|one| !one.is_control && is_one(one)).collect()
        };
        let (is_subject, is_reference) = (of_arm(&is_subject), of_arm(&is_reference));
        Self { steps, is_subject, is_reference }
    }

    /// How many pairs these sides make, whether the claim speaks of them or not.
    fn pairs(&self) -> u64 {
        let count = |side: &[bool]| side.iter().filter(|is_one| **is_one).count() as u64;
        count(&self.is_subject).saturating_mul(count(&self.is_reference))
    }
}

impl Claim {
    /// The pairs of these that it speaks of, the reference of each first, in the order of the subjects;
    /// controls left out.
    pub fn pairs<'s>(&self, subjects: &'s [Subject]) -> Vec<(&'s Subject, &'s Subject)> {
        let sides = ClaimSides::of(self, subjects);
        let is_meant = |subject: usize, reference: usize| {
            let (own, other) = (&subjects[subject], &subjects[reference]);
            sides.is_subject[subject]
                && sides.is_reference[reference]
                && match self.shape.order.is_empty() {
                    true => self.speaks_of(own, other),
                    false => sides.steps.contains(&[own.id.as_str(), other.id.as_str()]),
                }
        };
        let is_any = |place: &usize| sides.is_subject[*place] || sides.is_reference[*place];
        let places: Vec<usize> = (0..subjects.len()).filter(is_any).collect();
        let mut pairs = Vec::new();
        for (index, &first) in places.iter().enumerate() {
            for &second in &places[index + 1..] {
                for (reference, subject) in [(first, second), (second, first)] {
                    if is_meant(subject, reference) {
                        pairs.push((&subjects[reference], &subjects[subject]));
                    }
                }
            }
        }
        pairs
    }

    /// The primary metrics of a workload that it speaks of.
    pub fn metrics_of<'w>(&self, workload: &'w WorkloadPlan) -> BTreeSet<&'w str> {
        if self.workload.as_ref().is_some_and(|label| *label != workload.label) {
            return BTreeSet::new();
        }
        let named: BTreeSet<&str> = self.metric.ids().iter().map(String::as_str).collect();
        let primary = workload.primary.iter().map(String::as_str);
        primary.filter(|id| named.contains(id)).collect()
    }
}

impl Plan {
    /// Whether claims ask for no more comparisons than can be judged.
    ///
    /// # Errors
    /// The first limit that they are beyond.
    pub(crate) fn check_claims(&self) -> Result<(), OverLimit> {
        PLAN_CLAIMS.check(self.claims.len() as u64)?;
        let mut pairs = 0_u64;
        for claim in &self.claims {
            pairs = pairs.saturating_add(ClaimSides::of(claim, &self.subjects).pairs());
            PLAN_CLAIM_PAIRS.check(pairs)?;
        }
        let mut claimed = 0_u64;
        for claim in &self.claims {
            claimed = claimed.saturating_add(self.claimed_by(claim));
            PLAN_CLAIMED.check(claimed)?;
        }
        Ok(())
    }

    /// For how many comparisons a claim asks at most. What it names is looked for, and counts where it
    /// names more.
    fn claimed_by(&self, claim: &Claim) -> u64 {
        let metrics = claim.metric.ids().len();
        let named = metrics.max(claim.shape.order.len()).max(claim.workloads.len());
        let asked = if claim.is_across_workloads() {
            let is_meant = |one: &&Subject| !one.is_control && claim.subject.includes(one);
            let subjects = self.subjects.iter().filter(is_meant).count();
            // The first workload is what the others are compared with.
            let compared = claim.workloads.len().saturating_sub(1);
            subjects.saturating_mul(compared).saturating_mul(metrics)
        } else {
            let metrics = self.workloads.iter().map(|one| claim.metrics_of(one).len());
            claim.pairs(&self.subjects).len().saturating_mul(metrics.sum())
        };
        named.max(asked) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClaimShape, Claimed, ClaimedEffect, ClaimedMetrics, Level};
    use std::collections::BTreeMap;

    fn subject(number: usize) -> Subject {
        let level = |count: usize| Level::canonical((number % count).to_string());
        let levels = [("a", level(2)), ("b", level(3))].map(|(key, one)| (key.to_owned(), one));
        Subject { id: format!("s{number}"), levels: levels.into(), is_control: number == 4 }
    }

    fn claim(subject: Claimed, reference: Claimed, order: &[&str]) -> Claim {
        let order = order.iter().map(|id| (*id).to_owned()).collect();
        Claim {
            says: String::new(),
            source: None,
            workload: None,
            workloads: Vec::new(),
            metric: "m".into(),
            subject,
            reference,
            effect: ClaimedEffect::Better,
            shape: ClaimShape { order, ..ClaimShape::default() },
        }
    }

    fn with(levels: &[(&str, &str)]) -> Claimed {
        let level = |(key, text): &(&str, &str)| ((*key).to_owned(), Level::canonical(*text));
        Claimed::Levels(levels.iter().map(level).collect::<BTreeMap<_, _>>())
    }

    #[test]
    fn pairs_are_all_that_a_claim_speaks_of_in_the_order_of_the_subjects() {
        let subjects: Vec<Subject> = (0..12).map(subject).collect();
        for claim in [
            claim("s3".into(), "s1".into(), &[]),
            claim("s1".into(), "s3".into(), &[]),
            claim("s4".into(), "s1".into(), &[]),
            claim(with(&[]), "s5".into(), &[]),
            claim(with(&[("a", "0")]), with(&[("a", "1")]), &[]),
            claim(with(&[("b", "2")]), with(&[("b", "0")]), &[]),
            claim("s1".into(), "s9".into(), &["s1", "s7", "s2", "s9", "s1"]),
        ] {
            let mut expected = Vec::new();
            for (index, one) in subjects.iter().enumerate().filter(|(_, one)| !one.is_control) {
                for other in subjects[index + 1..].iter().filter(|other| !other.is_control) {
                    let both = [(one, other), (other, one)].into_iter();
                    expected
                        .extend(both.filter(|(reference, own)| claim.speaks_of(own, reference)));
                }
            }
            assert_eq!(claim.pairs(&subjects), expected, "{claim:?}");
        }
    }

    #[test]
    fn claims_that_ask_for_too_much_are_refused_by_the_name_of_the_limit() {
        let name = |subjects: usize, claims: Vec<Claim>| {
            let mut plan: Plan = serde_json::from_str(crate::fixtures::PLAN).unwrap();
            plan.subjects = (10..10 + subjects).map(subject).collect();
            plan.claims = claims;
            plan.check_claims().map_err(|over| over.limit.name)
        };
        let one = || claim("s11".into(), "s10".into(), &[]);
        let many = |count: u64| (0..count).map(|_| one()).collect::<Vec<_>>();
        assert_eq!(name(12, many(PLAN_CLAIMS.most)), Ok(()));
        assert_eq!(name(12, many(PLAN_CLAIMS.most + 1)), Err("PLAN_CLAIMS"));
        let wide = || claim(with(&[]), with(&[]), &[]);
        assert_eq!(name(1_000, vec![wide()]), Ok(()));
        assert_eq!(name(1_000, vec![wide(), wide(), wide()]), Err("PLAN_CLAIM_PAIRS"));
        let ids =
            |count: u64| -> Vec<String> { (0..count).map(|number| format!("m{number}")).collect() };
        let naming = |count: u64| Claim { metric: ClaimedMetrics::Several(ids(count)), ..one() };
        assert_eq!(name(12, vec![naming(PLAN_CLAIMED.most)]), Ok(()));
        assert_eq!(name(12, vec![naming(PLAN_CLAIMED.most), one()]), Err("PLAN_CLAIMED"));
    }
}
