//! What the parts of a sum pass on to it: of a use case (docs/method.md#m-use-cases), and of a claim
//! about several comparisons. What is not sure of a part is not sure of the sum, and what speaks
//! against a difference is asked of the sum's own differences.

use crate::carry_over::Predecessors;
use crate::comparison::Comparison;
use crate::pairs::Pairs;
use crate::quality::excessive_correlation;
use crate::rulebook::{Hiding, Numbers, Signals, Survivors};
use crate::sum_order::OrderOfSum;
use model::{Caveat, CaveatCode, Doubt};
use stats::{TTest, ln};

/// Warnings of a part that are about the order in which its trials ran.
const OF_ORDER: [CaveatCode; 3] =
    [CaveatCode::CarryOver, CaveatCode::Drift, CaveatCode::OrderEffect];

/// The facts of the parts of a sum that hold of it as well.
#[derive(Debug, Default)]
pub(crate) struct PassedOn {
    is_coarse: bool,
    /// Whether all values of a subject are the same in any part, and nothing else tells their step.
    is_step_unknown: bool,
    /// Whether that is so of one subject of a part, and not of both together.
    is_one_constant: bool,
    /// How much of the sum the steps of each part may be, on the scale of logarithms.
    of_steps: f64,
    fixed_order: Vec<String>,
    /// What is left of the difference of a part beside what came before, with the part's name.
    order_alone: Option<String>,
    /// How what came before may hide a difference of a part, with the part's name.
    hiding_order: Option<Hiding>,
    /// The first part of which trials failed. What its survivors differ by is shown with them, or the sum
    /// has no verdict; that the sum lies inside the margin is not.
    survivors: Option<Survivors>,
    doubts: Vec<Doubt>,
    is_order_chosen: bool,
    caveats: Vec<Caveat>,
}

impl PassedOn {
    /// Adds a part of this weight.
    pub(crate) fn note(&mut self, weight: f64, part: &Comparison<'_>) {
        let signals = &part.signals;
        self.is_coarse |= signals.is_coarse;
        self.is_step_unknown |= signals.is_step_unknown;
        self.is_one_constant |= signals.is_one_constant;
        self.of_steps += weight.abs() * ln(1.0 + signals.hidden);
        add_new(&mut self.fixed_order, &signals.fixed_order);
        add_new(&mut self.doubts, &signals.doubts);
        self.is_order_chosen |= signals.is_order_chosen;
        let question = &part.asked.question;
        let named =
            |detail: &String| format!("{} {}: {detail}", question.workload, question.metric);
        if self.order_alone.is_none() {
            self.order_alone = signals.order_alone.as_ref().map(named);
        }
        if self.survivors.is_none() {
            self.survivors = signals.survivors.as_ref().map(|of_part| Survivors {
                detail: named(&of_part.detail),
                p_difference: 0.0,
                p_inside: 1.0,
                least: f64::MIN,
            });
        }
        if self.hiding_order.is_none() {
            self.hiding_order = signals
                .hiding_order
                .as_ref()
                .map(|of_part| Hiding { detail: named(&of_part.detail), ..of_part.clone() });
        }
        let told = part.caveats.iter().filter(|caveat| OF_ORDER.contains(&caveat.code));
        self.caveats.extend(told.map(|caveat| Caveat::new(caveat.code, named(&caveat.detail))));
    }

    /// Warnings of the parts, each with the part's name.
    pub(crate) fn caveats(&self) -> &[Caveat] {
        &self.caveats
    }

    /// The facts about a sum that has these differences.
    pub(crate) fn signals(
        &self,
        numbers: Numbers,
        pairs: &Pairs,
        test: Option<&TTest>,
        order: &OrderOfSum,
    ) -> Signals {
        let mut fixed_order = self.fixed_order.clone();
        if fixed_order.is_empty() {
            fixed_order.extend(order.in_order.confounded.clone());
        }
        let of_parts = || Predecessors {
            order_alone: self.order_alone.clone(),
            hiding_order: self.hiding_order.clone(),
            ..Predecessors::default()
        };
        let before = order.predecessors.clone().unwrap_or_else(of_parts);
        Signals {
            is_coarse: self.is_coarse,
            is_step_unknown: self.is_step_unknown,
            is_one_constant: self.is_one_constant,
            is_one_step: self.of_steps > 0.0
                && test.is_some_and(|test| test.mean.abs() <= self.of_steps),
            is_degenerate: test.is_some_and(TTest::is_degenerate),
            // Elsewhere it decides nothing, and each part tells its own.
            drift: order.drift.filter(|_| !fixed_order.is_empty()),
            origin: order.origin,
            fixed_order,
            by_drift: order.in_order.by_drift,
            doubts: self.doubts.clone(),
            is_order_chosen: self.is_order_chosen,
            survivors: self.survivors.clone(),
            carry_over: before.carry_over,
            order_alone: before.order_alone,
            hiding_order: before.hiding_order,
            correlation: excessive_correlation(&pairs.differences),
            ..Signals::of(numbers)
        }
    }
}

/// Adds those that are not there yet.
fn add_new<T: Clone + PartialEq>(known: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !known.contains(one) {
            known.push(one.clone());
        }
    }
}

#[cfg(test)]
mod tests;
