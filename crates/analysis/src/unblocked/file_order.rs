//! The order of a question's executions without blocks.

use super::samples::Samples;
use crate::file_order::{Executions, FileOrder, InOrder, OrderedQuestion};
use crate::order_origin::OrderOrigin;

impl Samples<'_> {
    /// How the executions lie in the file's order, where that is known of all.
    pub(super) fn file_order(&self) -> Option<FileOrder> {
        let mut strata = Vec::with_capacity(self.strata.len());
        for (stratum, sides) in &self.strata {
            let places = self.places.get(stratum)?;
            strata
                .push([0, 1].map(|side| Executions { logs: &sides[side], places: &places[side] }));
        }
        FileOrder::of(&strata)
    }

    /// What the order of the file says. An order in which the subjects took turns says nothing.
    pub(super) fn in_order(
        &self,
        order: &FileOrder,
        origin: OrderOrigin,
        theta: f64,
        alpha: f64,
    ) -> InOrder {
        let asked = OrderedQuestion {
            question: &self.question,
            is_pure: self.is_one_after_the_other(),
            test: self.test(),
            has_drifted: &|| self.drift(theta).is_some(),
            origin,
        };
        order.says(&asked, theta, alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::metric;
    use model::{Direction, Reduction};
    use std::collections::BTreeMap;

    /// What is said of executions in this order, of which each takes 1 % of noise, what it is of
    /// `drift` where it stands, and of `b` so much besides.
    fn said(order: &str, drift: impl Fn(f64) -> f64, effect: f64) -> (bool, [bool; 2]) {
        let metric = metric("m", Direction::Lower, Reduction::Mean);
        let (mut logs, mut places) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let last = order.len() as f64 - 1.0;
        for (row, subject) in order.chars().enumerate() {
            let side = usize::from(subject == 'b');
            let noise = 0.01 * (((row * 7) % 5) as f64 - 2.0) / 1.5;
            let log = 4.0 + noise + drift(row as f64 / last) + effect * side as f64;
            logs[side].push(log);
            places[side].push(row as f64);
        }
        let span = |places: &[f64]| Some((places[0] as u64, places[places.len() - 1] as u64));
        let samples = Samples {
            question: fixtures::question("w", "m", "b", "a"),
            metric: &metric,
            is_closed_loop: false,
            strata: BTreeMap::from([(Vec::new(), logs)]),
            series: [Vec::new(), Vec::new()],
            zeros: 0,
            lonely: Vec::new(),
            unlike_mix: None,
            emulated: None,
            failed: [0; 2],
            completed: [0; 2],
            events: None,
            spans: BTreeMap::from([(Vec::new(), [span(&places[0]), span(&places[1])])]),
            places: BTreeMap::from([(Vec::new(), places)]),
        };
        let order = samples.file_order().unwrap();
        let said = samples.in_order(&order, OrderOrigin::Rows, 0.02_f64.ln_1p(), 0.05);
        (said.confounded.is_some(), said.by_drift)
    }

    /// One after the other; one execution out of place at the begin or the end; one in the middle; in
    /// four pieces.
    const UNMIXED: [&str; 5] = [
        "aaaaaaaaaabbbbbbbbbb",
        "abaaaaaaaaabbbbbbbbb",
        "baaaaaaaaaabbbbbbbbb",
        "aaaaabbbbbbbbbbaaaaa",
        "aaaaabbbbbaaaaabbbbb",
    ];

    #[test]
    fn a_drift_is_no_difference_of_executions_that_are_not_mixed() {
        let line = |x: f64| 0.06 * x;
        for order in UNMIXED {
            // What stands beside a drift is said, and passes no gate.
            assert_eq!(said(order, line, 0.5), (true, [false; 2]), "{order}");
        }
        for order in &UNMIXED[..3] {
            assert_eq!(said(order, line, 0.0), (true, [true, false]), "{order}");
        }
        let hump = |x: f64| 0.24 * x * (1.0 - x);
        assert_eq!(said(UNMIXED[3], hump, 0.0), (true, [true, false]));
        assert_eq!(
            said(UNMIXED[0], |x| 0.06 * (1.0 - (-4.0 * x).exp()), 0.0),
            (true, [true, false])
        );
    }

    #[test]
    fn of_executions_that_took_turns_or_came_in_random_order_nothing_is_said() {
        for order in [
            "abababababababababab",
            "abbaabbaabbaabbaabba",
            "abbabaabaabbbabaabab",
            "aabbabbaaababbabbaab",
            "ababababab",
            "abbababaab",
        ] {
            for effect in [0.0, 0.1] {
                let nothing = (false, [false; 2]);
                assert_eq!(said(order, |x| 0.06 * x, effect), nothing, "{order}");
            }
        }
    }

    #[test]
    fn of_few_executions_one_out_of_place_has_to_stand_beside_a_drift() {
        assert_eq!(said("abaaaabbbb", |x| 0.1 * x, 0.01), (true, [true, false]));
        assert_eq!(said("abaaaabbbb", |_| 0.0, 0.3), (false, [false; 2]));
    }
}
