//! The comparisons that a claim is about, each with its finding or why it has none
//! (docs/method.md#m-claims). What has no finding stays a part: a claim about several
//! comparisons is not shown by those that happen to be judged.

use super::about::ClaimsAbout;
use super::basis::{ClaimBasis, ClaimEvidence};
use super::family::alike;
use super::subjects::of_subjects;
use super::{combined, cross_workload};
use model::{Claim, Finding, Plan, Question, Role};
use std::collections::{BTreeMap, BTreeSet};

/// Why a comparison has no finding that only a claim asks for.
const ENDED: &str = "the claim alone asks for it, and of a campaign that was ended only what its \
                     plan compares is judged";
/// Why a claim is open that a shortened campaign does not speak of.
pub(super) const LEFT_OUT: &str = "the question was not asked: --quick left out what it is about";
/// Why a step of an order has none where others have one.
const WITHOUT_VALUES: &str = "one of the two has no values there";
/// Why a metric of a claim has no combined number.
const NOT_COMBINED: &str = "it was not asked in all that the claim combines";

/// One comparison that a claim is about.
pub(super) struct Part<'a> {
    /// What is compared, the claim's way round.
    pub question: Question,
    /// Its finding, with whether that compares the other way round than the claim; else why there
    /// is none.
    pub finding: Result<(&'a Finding, bool), &'static str>,
}

impl<'a> Part<'a> {
    fn found(finding: &'a Finding, is_turned: bool) -> Self {
        let mut question = finding.question.clone();
        if is_turned {
            std::mem::swap(&mut question.subject, &mut question.reference);
        }
        Self { question, finding: Ok((finding, is_turned)) }
    }
}

/// The findings that claims about subjects are judged by, to be looked up.
pub(super) struct KnownFindings<'a> {
    /// By what those have alike that compare the same, each pair's first.
    of_pairs: BTreeMap<[&'a str; 4], &'a Finding>,
    /// Of numbers without blocks: by the place of the claim that each is about, with whether it
    /// compares the other way round.
    of_claims: BTreeMap<usize, Vec<(&'a Finding, bool)>>,
}

impl<'a> KnownFindings<'a> {
    pub(super) fn of(plan: &Plan, evidence: ClaimEvidence<'a>) -> Self {
        let ClaimEvidence { findings, basis, .. } = evidence;
        let mut known = Self { of_pairs: BTreeMap::new(), of_claims: BTreeMap::new() };
        if basis == ClaimBasis::WithoutBlocks {
            let about = ClaimsAbout::of(plan);
            for finding in findings {
                for (index, is_turned) in about.about(&finding.question) {
                    known.of_claims.entry(index).or_default().push((finding, is_turned));
                }
            }
            return known;
        }
        for finding in findings {
            let question = &finding.question;
            if question.role == Role::Primary && basis.compares_subjects(question) {
                known.of_pairs.entry(alike(question)).or_insert(finding);
            }
        }
        known
    }
}

/// All parts of a claim; none where nothing asks what it is about.
pub(super) fn parts<'a>(
    plan: &Plan,
    (index, claim): (usize, &Claim),
    evidence: ClaimEvidence<'a>,
    known: &KnownFindings<'a>,
) -> Vec<Part<'a>> {
    let ClaimEvidence { findings, basis, .. } = evidence;
    let is_of_blocks = claim.is_across_workloads() || claim.is_combined();
    if is_of_blocks && !basis.has_tests_in_blocks() {
        return Vec::new();
    }
    if claim.is_combined() {
        return of_each_metric(claim, combined::about(index, findings));
    }
    if claim.is_across_workloads() {
        let own = cross_workload::about(plan, claim, findings).into_iter();
        return own.map(|finding| Part::found(finding, false)).collect();
    }
    if basis == ClaimBasis::WithoutBlocks {
        let own = known.of_claims.get(&index).into_iter().flatten().copied();
        return own.map(|(finding, is_turned)| Part::found(finding, is_turned)).collect();
    }
    of_pairs(plan, claim, known)
}

/// One combined number for each metric.
fn of_each_metric<'a>(claim: &Claim, found: Vec<&'a Finding>) -> Vec<Part<'a>> {
    let Some(first) = found.first().copied() else { return Vec::new() };
    let part = |metric: &String| {
        let own = found.iter().find(|finding| finding.question.metric == *metric);
        own.map_or_else(
            || Part {
                question: Question { metric: metric.clone(), ..first.question.clone() },
                finding: Err(NOT_COMBINED),
            },
            |finding| Part::found(finding, false),
        )
    };
    claim.metric.ids().iter().map(part).collect()
}

/// The pairs of subjects, each once.
fn of_pairs<'a>(plan: &Plan, claim: &Claim, known: &KnownFindings<'a>) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    let mut seen: BTreeSet<[String; 4]> = BTreeSet::new();
    for asked in of_subjects(plan, claim) {
        let question = asked.question;
        if !seen.insert(alike(&question).map(str::to_owned)) {
            continue;
        }
        let found = known.of_pairs.get(&alike(&question)).copied();
        let with_turn = |finding: &'a Finding| {
            let is_turned = finding.question.subject != question.subject;
            (finding, is_turned)
        };
        let finding = found.map(with_turn).ok_or(ENDED);
        parts.push(Part { question, finding });
    }
    let missing = steps_not_asked(plan, claim, &parts, seen);
    parts.extend(missing);
    parts
}

/// Steps of an order that nobody asks where others are asked: without them it is not shown.
fn steps_not_asked<'a>(
    plan: &Plan,
    claim: &Claim,
    asked: &[Part<'a>],
    mut seen: BTreeSet<[String; 4]>,
) -> Vec<Part<'a>> {
    let mut missing: Vec<Part<'a>> = Vec::new();
    let mut cells: BTreeSet<[&str; 2]> = BTreeSet::new();
    for part in asked {
        // Parts of one workload and metric lack the same.
        let Question { workload, metric, .. } = &part.question;
        if !cells.insert([workload.as_str(), metric.as_str()]) {
            continue;
        }
        for step in claim.shape.order.windows(2) {
            let question = Question {
                subject: step[0].clone(),
                reference: step[1].clone(),
                ..part.question.clone()
            };
            if !seen.insert(alike(&question).map(str::to_owned)) {
                continue;
            }
            let is_left_out = step.iter().any(|id| plan.subject(id).is_none());
            let why = if is_left_out { LEFT_OUT } else { WITHOUT_VALUES };
            missing.push(Part { question, finding: Err(why) });
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{metric, plan, records};
    use model::{
        Claim, ClaimFinding, ClaimOutcome, ClaimShape, ClaimTally, ClaimedEffect, ClaimedOver,
        Comparisons, Direction, Plan, Record, Reduction,
    };

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
    const IDS: [&str; 3] = ["a", "b", "c"];

    fn order(ids: &[&str], over: ClaimedOver) -> Claim {
        let order = ids.iter().map(|id| (*id).to_owned()).collect();
        Claim {
            shape: ClaimShape { order, over, turns: None },
            ..fixtures::claim(ids[0], ids[ids.len() - 1], ClaimedEffect::Better)
        }
    }

    fn pair(subject: &str, reference: &str) -> Claim {
        let shape = ClaimShape::default();
        Claim {
            subject: subject.into(),
            reference: reference.into(),
            shape,
            ..order(&IDS, ClaimedOver::Every)
        }
    }

    /// What three subjects take, of which less is better.
    fn campaign(values: [f64; 3], claim: Claim, looks: &[u32]) -> (Plan, Vec<Record>) {
        let time = metric("m", Direction::Lower, Reduction::Median);
        let plan = plan(&IDS, vec![time], 8);
        let mut all = Vec::new();
        for (turn, (id, value)) in IDS.iter().zip(values).enumerate() {
            let noisy = |block: usize| value * (1.0 + 0.004 * NOISE[(block + 3 * turn) % 8]);
            all.extend(records(id, &(0..8).map(noisy).collect::<Vec<_>>()));
        }
        (Plan { claims: vec![claim], looks: looks.to_vec(), ..plan }, all)
    }

    fn ended(values: [f64; 3], claim: Claim, looks: &[u32]) -> ClaimFinding {
        let (plan, records) = campaign(values, claim, looks);
        crate::ended(&plan, &records).claims.remove(0)
    }

    fn tally(confirmed: usize, refuted: usize, undecided: usize) -> Option<ClaimTally> {
        Some(ClaimTally { confirmed, refuted, undecided })
    }

    /// The plan compares b and c with a; c with b only the claim does.
    #[test]
    fn an_order_is_not_shown_by_the_steps_that_an_ended_campaign_judged() {
        for looks in [&[][..], &[6, 12]] {
            for over in [ClaimedOver::Every, ClaimedOver::Most] {
                // c is the slowest, whatever b is.
                let found = ended([100.0, 90.0, 120.0], order(&["c", "b", "a"], over), looks);
                assert_eq!(found.outcome, ClaimOutcome::Undecided, "{}", found.reason);
                assert_eq!(found.tally, tally(1, 0, 1), "{}", found.reason);
                let told = "1 of these without a finding: the claim alone asks for it";
                assert!(found.reason.contains(told), "{}", found.reason);
            }
            let refuted = order(&["c", "b", "a"], ClaimedOver::Every);
            let found = ended([100.0, 110.0, 120.0], refuted, looks);
            assert_eq!(found.outcome, ClaimOutcome::Refuted, "{}", found.reason);
            assert_eq!(found.tally, tally(0, 1, 1));
            // Both steps are the plan's own.
            let own =
                ended([100.0, 90.0, 120.0], order(&["b", "a", "c"], ClaimedOver::Every), looks);
            assert_eq!((own.outcome, own.tally), (ClaimOutcome::Confirmed, tally(2, 0, 0)));
        }
    }

    #[test]
    fn a_pair_outside_the_plan_says_that_the_campaign_was_ended() {
        for looks in [&[][..], &[6, 12]] {
            let found = ended([100.0, 90.0, 120.0], pair("b", "c"), looks);
            assert_eq!((found.outcome, found.tally), (ClaimOutcome::Undecided, None));
            assert_eq!(found.reason, format!("{}; b against c on w m", super::ENDED));
            let own = ended([100.0, 90.0, 120.0], pair("a", "b"), looks);
            assert_eq!(own.outcome, ClaimOutcome::Refuted, "turned: {}", own.reason);
        }
        let (plan, records) = campaign([100.0, 90.0, 120.0], pair("b", "c"), &[]);
        assert_eq!(crate::judge(&plan, &records).claims[0].outcome, ClaimOutcome::Confirmed);
        let all = Plan { comparisons: Comparisons::All, ..plan };
        assert_eq!(crate::ended(&all, &records).claims[0].outcome, ClaimOutcome::Confirmed);
    }

    #[test]
    fn a_step_that_was_left_out_leaves_the_order_open() {
        let values = [100.0, 90.0, 80.0];
        let claim = order(&["c", "b", "a"], ClaimedOver::Every);
        let (mut plan, records) = campaign(values, claim, &[]);
        assert_eq!(crate::judge(&plan, &records).claims[0].outcome, ClaimOutcome::Confirmed);
        let mut quick = Plan { is_quick: true, ..plan.clone() };
        quick.subjects.remove(2);
        let found = crate::judge(&quick, &records).claims.remove(0);
        assert_eq!((found.outcome, found.tally), (ClaimOutcome::Undecided, tally(1, 0, 1)));
        assert!(found.reason.contains("--quick left out"), "{}", found.reason);
        plan.workloads[0].subjects = ["a", "b"].map(str::to_owned).into();
        let found = crate::judge(&plan, &records).claims.remove(0);
        assert_eq!(found.outcome, ClaimOutcome::Undecided, "{}", found.reason);
        assert!(found.reason.contains(super::WITHOUT_VALUES), "{}", found.reason);
    }
}
