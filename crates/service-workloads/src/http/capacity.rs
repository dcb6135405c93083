//! The highest rate that a service sustains: doubled until it does not, then narrowed down.

/// What of the requests of a step must be answered right, within its time: at the highest rate
/// a service keeps up with what comes.
const ANSWERED: f64 = 0.99;
/// How close the highest sustained rate and the lowest that was not must come: a twentieth, about
/// what two steps at one rate differ by.
const CLOSE: f64 = 1.05;
/// Steps of a search at most. Doubling goes over five orders of magnitude in 17.
const MOST_STEPS: usize = 32;

/// What a step at one rate came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub(super) offered: u64,
    pub(super) answered: u64,
    /// The 99th percentile; none where nothing was answered.
    pub(super) p99_ns: Option<u64>,
}

impl Step {
    /// Whether the service kept up, and almost all answers came within the target.
    fn is_sustained(&self, target_ns: u64) -> bool {
        self.answered as f64 >= ANSWERED * self.offered as f64
            && self.p99_ns.is_some_and(|p99_ns| p99_ns <= target_ns)
    }
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SustainedRate {
    /// The highest factor of all rates that was sustained.
    pub(super) sustained: f64,
    /// The lowest that was not.
    pub(super) not_sustained: f64,
    pub(super) steps: usize,
}

/// Searches from a factor on, up and down; `step` loads at one. Without noise the answer is
/// within a twentieth below the highest factor that is sustained.
///
/// # Errors
/// What a step fails with, or in words that every one or none is sustained.
pub(super) fn search<E: From<String>>(
    first: f64,
    target_ns: u64,
    mut step: impl FnMut(f64) -> Result<Step, E>,
) -> Result<SustainedRate, E> {
    let (mut low, mut high) = (None, None);
    let mut scale = first;
    for steps in 1..=MOST_STEPS {
        match step(scale)?.is_sustained(target_ns) {
            true => low = Some(scale),
            false => high = Some(scale),
        }
        scale = match (low, high) {
            (Some(sustained), Some(not_sustained)) if not_sustained <= CLOSE * sustained => {
                return Ok(SustainedRate { sustained, not_sustained, steps });
            }
            (Some(sustained), Some(not_sustained)) => (sustained * not_sustained).sqrt(),
            (Some(sustained), None) => 2.0 * sustained,
            (None, _) => scale / 2.0,
        };
    }
    let (what, last) = match (low, high) {
        (Some(sustained), _) => ("every rate up to", sustained),
        (None, lowest) => ("no rate down to", lowest.unwrap_or(first)),
    };
    Err(format!("{what} {last:.3e} times that of the scenario was sustained").into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TARGET_NS: u64 = 250_000_000;

    fn step(is_good: bool) -> Step {
        Step {
            offered: 1000,
            answered: 1000,
            p99_ns: Some(if is_good { 1 } else { TARGET_NS + 1 }),
        }
    }

    #[test]
    fn a_step_is_sustained_when_almost_all_came_and_came_soon() {
        let with = |answered, p99_ns| Step { offered: 1000, answered, p99_ns };
        for (step, expected) in [
            (with(1000, Some(TARGET_NS)), true),
            (with(990, Some(1)), true),
            (with(989, Some(1)), false),
            (with(1000, Some(TARGET_NS + 1)), false),
            (with(0, None), false),
        ] {
            assert_eq!(step.is_sustained(TARGET_NS), expected, "{step:?}");
        }
    }

    #[test]
    fn one_that_sustains_all_or_nothing_is_told() {
        for is_good in [true, false] {
            let outcome = search::<String>(1.0, TARGET_NS, |_| Ok(step(is_good)));
            let why = outcome.unwrap_err();
            // 2 to the 31st, and its inverse.
            let expected =
                if is_good { "every rate up to 2.147e9" } else { "no rate down to 4.657e-10" };
            assert!(why.contains(expected), "{why}");
        }
    }

    proptest! {
        #[test]
        fn the_highest_rate_is_found_within_a_twentieth(limit in 1e-3_f64..1e3, first in 0.1_f64..10.0) {
            let found = search::<String>(first, TARGET_NS, |scale| Ok(step(scale <= limit))).unwrap();
            prop_assert!(found.sustained <= limit && limit < found.not_sustained);
            prop_assert!(found.not_sustained <= CLOSE * found.sustained);
            prop_assert!(found.steps <= 20, "{} steps", found.steps);
        }
    }
}
