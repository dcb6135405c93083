//! What several comparisons say of a claim together: the second table of docs/method.md#m-claims.
//!
//! A claim over every one of them is a conjunction: it is shown where each part is shown, and one
//! part that is refuted refutes it. All parts belong to one corrected family, so the chance that
//! any of them is refuted wrongly is at most that family's level, however many there are.

use model::{ClaimOutcome, ClaimedOver};

/// How often each outcome occurs among the parts of a claim.
#[derive(Debug, Clone, Copy)]
struct Parts<'a>(&'a [ClaimOutcome]);

impl Parts<'_> {
    fn count(self, is_one: fn(ClaimOutcome) -> bool) -> usize {
        self.0.iter().filter(|outcome| is_one(**outcome)).count()
    }

    fn are_all(self, is_one: fn(ClaimOutcome) -> bool) -> bool {
        self.0.iter().all(|outcome| is_one(*outcome))
    }

    fn have(self, is_one: fn(ClaimOutcome) -> bool) -> bool {
        self.0.iter().any(|outcome| is_one(*outcome))
    }

    fn are_mostly(self, is_one: fn(ClaimOutcome) -> bool) -> bool {
        2 * self.count(is_one) > self.0.len()
    }

    /// So many that the others are no more than half.
    fn are_half(self, is_one: fn(ClaimOutcome) -> bool) -> bool {
        2 * self.count(is_one) >= self.0.len()
    }
}

fn is_confirmed(outcome: ClaimOutcome) -> bool {
    outcome == ClaimOutcome::Confirmed
}

fn is_refuted_in_size(outcome: ClaimOutcome) -> bool {
    outcome == ClaimOutcome::RefutedInSize
}

/// Of no consequence as published and as measured, whether or not the size is excluded.
fn is_immaterial(outcome: ClaimOutcome) -> bool {
    matches!(outcome, ClaimOutcome::Immaterial | ClaimOutcome::RefutedAndImmaterial)
}

/// Not in the claimed direction: the other one was shown, or that no difference matters.
fn is_refuted_in_direction(outcome: ClaimOutcome) -> bool {
    matches!(outcome, ClaimOutcome::Refuted | ClaimOutcome::RefutedAndImmaterial)
}

/// What the outcomes of the parts of a claim, of which there is at least one, say of the whole.
pub(super) fn together(parts: &[ClaimOutcome], over: ClaimedOver) -> ClaimOutcome {
    match over {
        ClaimedOver::Most => of_most(Parts(parts)),
        // The metrics of a combined claim are parts as well: it is about each of them.
        ClaimedOver::Every | ClaimedOver::Overall => of_every(Parts(parts)),
    }
}

fn of_every(parts: Parts<'_>) -> ClaimOutcome {
    match parts {
        _ if parts.are_all(is_confirmed) => ClaimOutcome::Confirmed,
        _ if parts.are_all(is_immaterial) => match parts.have(ClaimOutcome::is_refuted) {
            true => ClaimOutcome::RefutedAndImmaterial,
            false => ClaimOutcome::Immaterial,
        },
        _ if parts.have(is_refuted_in_direction) => ClaimOutcome::Refuted,
        _ if parts.have(is_refuted_in_size) => ClaimOutcome::RefutedInSize,
        _ => ClaimOutcome::Undecided,
    }
}

fn of_most(parts: Parts<'_>) -> ClaimOutcome {
    match (parts.are_half(ClaimOutcome::is_refuted), parts.are_mostly(is_immaterial)) {
        _ if parts.are_mostly(is_confirmed) => ClaimOutcome::Confirmed,
        (true, true) => ClaimOutcome::RefutedAndImmaterial,
        (true, false) if parts.are_half(is_refuted_in_direction) => ClaimOutcome::Refuted,
        (true, false) => ClaimOutcome::RefutedInSize,
        (false, true) => ClaimOutcome::Immaterial,
        (false, false) => ClaimOutcome::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ClaimOutcome::{
        Confirmed, Immaterial, Refuted, RefutedAndImmaterial, RefutedInSize, Undecided,
    };

    fn check(over: ClaimedOver, cases: &[(&[ClaimOutcome], ClaimOutcome)]) {
        for (parts, expected) in cases {
            let mut turned = parts.to_vec();
            for _ in 0..parts.len() {
                assert_eq!(together(&turned, over), *expected, "{over:?} {turned:?}");
                turned.rotate_left(1);
            }
        }
    }

    /// The table of the method's page, row by row.
    #[test]
    fn what_every_comparison_has_to_show_is_refuted_by_one() {
        check(
            ClaimedOver::Every,
            &[
                (&[Confirmed], Confirmed),
                (&[Confirmed, Confirmed], Confirmed),
                (&[Immaterial, Immaterial], Immaterial),
                (&[RefutedAndImmaterial, RefutedAndImmaterial], RefutedAndImmaterial),
                (&[Immaterial, RefutedAndImmaterial], RefutedAndImmaterial),
                // One part against all others.
                (&[Confirmed, Confirmed, Refuted], Refuted),
                (&[Confirmed, Refuted, Undecided], Refuted),
                (&[Refuted, Immaterial], Refuted),
                (&[Refuted, RefutedInSize], Refuted),
                (&[Refuted, RefutedAndImmaterial], Refuted),
                // No difference that matters was shown where the others have or may have one.
                (&[RefutedAndImmaterial, Confirmed], Refuted),
                (&[RefutedAndImmaterial, RefutedInSize], Refuted),
                (&[RefutedAndImmaterial, Undecided], Refuted),
                // The size alone.
                (&[RefutedInSize, RefutedInSize], RefutedInSize),
                (&[RefutedInSize, Confirmed], RefutedInSize),
                (&[RefutedInSize, Immaterial], RefutedInSize),
                (&[RefutedInSize, Undecided, Confirmed], RefutedInSize),
                // Neither shown nor refuted.
                (&[Undecided, Undecided], Undecided),
                (&[Confirmed, Undecided], Undecided),
                (&[Confirmed, Immaterial], Undecided),
                (&[Immaterial, Undecided], Undecided),
            ],
        );
    }

    #[test]
    fn most_are_more_than_half_and_half_refute_them() {
        check(
            ClaimedOver::Most,
            &[
                (&[Confirmed, Confirmed, Refuted], Confirmed),
                (&[Confirmed, Confirmed, Undecided], Confirmed),
                // Half is not most, and the other half may still be confirmed or not.
                (&[Confirmed, Undecided], Undecided),
                (&[Confirmed, Immaterial], Undecided),
                (&[Confirmed, Refuted], Refuted),
                (&[Confirmed, Confirmed, Refuted, RefutedInSize], RefutedInSize),
                (&[Confirmed, Undecided, Refuted, RefutedAndImmaterial], Refuted),
                (&[Confirmed, Undecided, Undecided, Refuted], Undecided),
                (&[Refuted, RefutedInSize, RefutedInSize], RefutedInSize),
                (&[Refuted, Refuted, RefutedInSize], Refuted),
                (&[RefutedInSize, Undecided], RefutedInSize),
                // What is of no consequence in most.
                (&[Immaterial, Immaterial, Refuted], Immaterial),
                (&[Immaterial, RefutedAndImmaterial, Confirmed], Immaterial),
                (&[Immaterial, RefutedAndImmaterial, Refuted], RefutedAndImmaterial),
                (&[RefutedAndImmaterial, RefutedAndImmaterial, Confirmed], RefutedAndImmaterial),
                (&[RefutedAndImmaterial, Confirmed], Refuted),
                (&[Immaterial, Undecided], Undecided),
            ],
        );
    }

    /// Whatever the kinds, a refuted part never leaves a conjunction standing, and more parts that
    /// refute never make the claim better.
    #[test]
    fn no_mixture_confirms_beside_a_part_that_does_not() {
        for one in ClaimOutcome::ALL {
            for other in ClaimOutcome::ALL {
                for third in ClaimOutcome::ALL {
                    let parts = [one, other, third];
                    let every = together(&parts, ClaimedOver::Every);
                    let has_refuted = parts.into_iter().any(ClaimOutcome::is_refuted);
                    assert_eq!(every.is_refuted(), has_refuted, "{parts:?}");
                    assert_eq!(every == Confirmed, parts == [Confirmed; 3], "{parts:?}");
                    let most = together(&parts, ClaimedOver::Most);
                    let refuted = parts.into_iter().filter(|one| one.is_refuted()).count();
                    assert_eq!(most.is_refuted(), refuted >= 2, "{parts:?}");
                    let confirmed = parts.into_iter().filter(|one| is_confirmed(*one)).count();
                    assert_eq!(most == Confirmed, confirmed >= 2, "{parts:?}");
                }
            }
        }
    }
}
