//! What new data say of published claims.
//!
//! A claim is confirmed or refuted by the verdict of its own question, and its size
//! by the family interval: confirmed where the direction was shown and the interval
//! reaches the claimed size give or take the margin, refuted where it does not.

use crate::verdict::is_forbidden;
use model::{
    Claim, ClaimFinding, ClaimOutcome, ClaimedEffect, Direction, Finding, Plan, Role, Verdict,
};
use stats::ln;

/// Judges every claim of a plan.
pub(crate) fn claims(plan: &Plan, findings: &[Finding]) -> Vec<ClaimFinding> {
    plan.claims
        .iter()
        .map(|claim| {
            let found = find(claim, findings);
            let (outcome, reason) = match found {
                Some((finding, is_turned)) => judged(claim, finding, is_turned),
                None => (ClaimOutcome::Undecided, "the question was not asked".to_owned()),
            };
            let is_emulated = found.is_some_and(|(finding, _)| finding.is_emulated());
            ClaimFinding { claim: claim.clone(), outcome, reason, is_emulated }
        })
        .collect()
}

/// The finding that a claim is about, and whether it compares the other way round.
fn find<'a>(claim: &Claim, findings: &'a [Finding]) -> Option<(&'a Finding, bool)> {
    let about = findings.iter().filter(|finding| {
        let question = &finding.question;
        question.role == Role::Primary
            && question.workload == claim.workload
            && question.metric == claim.metric
    });
    about.into_iter().find_map(|finding| {
        let own = (finding.question.subject.as_str(), finding.question.reference.as_str());
        if own == (claim.subject.as_str(), claim.reference.as_str()) {
            return Some((finding, false));
        }
        (own == (claim.reference.as_str(), claim.subject.as_str())).then_some((finding, true))
    })
}

fn judged(claim: &Claim, finding: &Finding, is_turned: bool) -> (ClaimOutcome, String) {
    let verdict = match (finding.verdict, is_turned) {
        (Verdict::Better, true) => Verdict::Worse,
        (Verdict::Worse, true) => Verdict::Better,
        (verdict, _) => verdict,
    };
    let Some(effect) = finding.effect.as_ref().filter(|_| !is_forbidden(finding)) else {
        let why = finding.reason.clone().unwrap_or_else(|| "there is no estimate".to_owned());
        return (ClaimOutcome::Undecided, why);
    };
    // In the metric's own direction, as claims are written.
    let sign = finding.question.direction.sign() * if is_turned { -1.0 } else { 1.0 };
    let family = &effect.family_interval;
    let mut ends = [sign * ln(family.low), sign * ln(family.high)];
    ends.sort_by(f64::total_cmp);
    let measured = format!(
        "measured {} of the value, {} to {} with the whole family in mind",
        change(sign * effect.log_mean),
        change(ends[0]),
        change(ends[1])
    );
    let outcome = match claim.effect {
        ClaimedEffect::Better => of_direction(verdict, Verdict::Better),
        ClaimedEffect::Worse => of_direction(verdict, Verdict::Worse),
        ClaimedEffect::Same => of_sameness(verdict),
        ClaimedEffect::Change(fraction) => {
            let claimed = ln(1.0 + fraction);
            let theta = ln(1.0 + finding.margin);
            let is_better = (fraction > 0.0) == (finding.question.direction == Direction::Higher);
            let wanted = if is_better { Verdict::Better } else { Verdict::Worse };
            let reaches = ends[0] <= claimed + theta && ends[1] >= claimed - theta;
            // A change smaller than the margin is one that does not matter.
            let is_small = claimed.abs() < theta && verdict == Verdict::Equivalent;
            if is_small { ClaimOutcome::Confirmed } else { of_size(verdict, wanted, reaches) }
        }
    };
    (outcome, measured)
}

fn of_direction(verdict: Verdict, wanted: Verdict) -> ClaimOutcome {
    match verdict {
        Verdict::Inconclusive | Verdict::Invalid => ClaimOutcome::Undecided,
        seen if seen == wanted => ClaimOutcome::Confirmed,
        _ => ClaimOutcome::Refuted,
    }
}

fn of_sameness(verdict: Verdict) -> ClaimOutcome {
    of_direction(verdict, Verdict::Equivalent)
}

/// An interval that does not reach the claimed size refutes it, even where the
/// verdict is open.
fn of_size(verdict: Verdict, wanted: Verdict, reaches: bool) -> ClaimOutcome {
    match (verdict, reaches) {
        (Verdict::Inconclusive, true) => ClaimOutcome::Undecided,
        (seen, true) if seen == wanted => ClaimOutcome::Confirmed,
        _ => ClaimOutcome::Refuted,
    }
}

/// A log ratio as a signed percentage.
fn change(log: f64) -> String {
    if log.is_finite() {
        format!("{:+.1} %", 100.0 * (stats::exp(log) - 1.0))
    } else {
        "unbounded".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, records};
    use crate::judge;
    use model::{Reduction, Unit};

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];

    /// Subject `b` has `percent` more of `m`, of which more is better.
    fn outcome(percent: f64, spread: f64, effect: ClaimedEffect, is_turned: bool) -> ClaimOutcome {
        let mut rate = metric("m", Direction::Higher, Reduction::Median);
        rate.unit = Unit::PerSecond;
        let ids = if is_turned { ("a", "b") } else { ("b", "a") };
        let claim = Claim {
            says: "b is faster".to_owned(),
            source: None,
            workload: "w".to_owned(),
            metric: "m".to_owned(),
            subject: ids.0.to_owned(),
            reference: ids.1.to_owned(),
            effect,
        };
        let plan = Plan { claims: vec![claim], ..plan(&["a", "b"], vec![rate], 8) };
        let values = |scale: f64, turn: usize| -> Vec<f64> {
            (0..8).map(|block| scale * (1.0 + spread * NOISE[(block + turn) % 8])).collect()
        };
        let mut all = records("a", &values(100.0, 0));
        all.extend(records("b", &values(100.0 + percent, 3)));
        let found = judge(&plan, &all).claims.remove(0);
        assert!(found.reason.contains('%'), "{}", found.reason);
        found.outcome
    }

    #[test]
    fn claims_of_a_size_need_their_direction_and_their_size() {
        let claimed = |percent: f64| ClaimedEffect::Change(percent / 100.0);
        for (percent, spread, effect, expected) in [
            (45.0, 0.01, claimed(45.0), ClaimOutcome::Confirmed),
            (5.0, 0.01, claimed(45.0), ClaimOutcome::Refuted),
            (-45.0, 0.01, claimed(45.0), ClaimOutcome::Refuted),
            (0.0, 0.002, claimed(45.0), ClaimOutcome::Refuted),
            (20.0, 0.5, claimed(45.0), ClaimOutcome::Undecided),
            (0.0, 0.002, claimed(0.5), ClaimOutcome::Confirmed),
            (2.6, 0.002, claimed(1.5), ClaimOutcome::Confirmed),
            (-2.6, 0.002, claimed(1.5), ClaimOutcome::Refuted),
            (20.0, 0.01, ClaimedEffect::Better, ClaimOutcome::Confirmed),
            (20.0, 0.01, ClaimedEffect::Worse, ClaimOutcome::Refuted),
            (20.0, 0.01, ClaimedEffect::Same, ClaimOutcome::Refuted),
            (0.0, 0.002, ClaimedEffect::Same, ClaimOutcome::Confirmed),
            (0.0, 0.002, ClaimedEffect::Better, ClaimOutcome::Refuted),
            (3.0, 0.5, ClaimedEffect::Better, ClaimOutcome::Undecided),
        ] {
            assert_eq!(outcome(percent, spread, effect, false), expected, "{percent} {effect:?}");
        }
    }

    #[test]
    fn a_claim_the_other_way_round_is_turned() {
        let back = ClaimedEffect::Change(1.0 / 1.45 - 1.0);
        assert_eq!(outcome(45.0, 0.01, back, true), ClaimOutcome::Confirmed);
        assert_eq!(outcome(45.0, 0.01, ClaimedEffect::Better, true), ClaimOutcome::Refuted);
    }
}
