//! What the order of its trials says of a sum of comparisons (docs/method.md#m-use-cases): it is asked
//! of the sum's own differences, as it is of those of a single comparison.

use crate::block_order::is_after;
use crate::carry_over::{Predecessors, Whole, predecessors};
use crate::comparison::{Comparison, Gathered};
use crate::file_order::{Executions, FileOrder, InOrder, OrderedQuestion};
use crate::observations::Observations;
use crate::order_origin::OrderOrigin;
use crate::pairs::Pairs;
use crate::quality::drift;
use crate::trial_facts::is_order_known;
use model::{Direction, Question};
use stats::TTest;

/// What the order of its trials says of a sum.
#[derive(Debug, Default)]
pub(crate) struct OrderOfSum {
    /// What of its differences may be due to whose sitting came before; none where its parts do not
    /// compare the same two subjects, so that each part has to answer for itself.
    pub predecessors: Option<Predecessors>,
    /// How its sides lie along the file, of an import.
    pub in_order: InOrder,
    /// How its reference changes along the blocks, of an import.
    pub drift: Option<f64>,
    /// What tells the order of its blocks.
    pub origin: OrderOrigin,
}

impl OrderOfSum {
    /// That of the sum of these parts by their weights.
    pub(crate) fn of(
        gathered: Gathered<'_>,
        parts: &[(f64, Comparison<'_>)],
        sum: &SumOfParts<'_>,
    ) -> Self {
        let whole = Whole { test: sum.test, is_pooled: false, theta: sum.theta };
        let own = |asked: &Question| {
            predecessors(gathered.plan, gathered.observations, sum.pairs, asked, whole)
        };
        let (in_order, drift) = in_sum(gathered, parts, sum);
        let origin = OrderOrigin::of(gathered.plan);
        Self { predecessors: same_pair(parts).map(own), in_order, drift, origin }
    }
}

/// A sum without what its order says.
pub(crate) struct SumOfParts<'a> {
    pub question: &'a Question,
    /// The blocks that hold every part.
    pub pairs: &'a Pairs,
    pub test: Option<&'a TTest>,
    /// Logarithm of one plus the margin.
    pub theta: f64,
}

/// A part's question, where all parts compare the same two subjects: whose sitting came before is then
/// a question of their sum.
fn same_pair<'p>(parts: &'p [(f64, Comparison<'_>)]) -> Option<&'p Question> {
    let (_, first) = parts.first()?;
    let question = &first.asked.question;
    let is_alike = |(_, part): &(f64, Comparison<'_>)| {
        let other = &part.asked.question;
        other.subject == question.subject && other.reference == question.reference
    };
    parts.iter().all(is_alike).then_some(question)
}

/// How the sides of an imported sum lie along the file, and how its reference drifted: a drift that no
/// part shows may be seen in their sum, and one that a part shows may not matter to it. A block of the
/// sum lies where its trials lie on average.
fn in_sum(
    gathered: Gathered<'_>,
    parts: &[(f64, Comparison<'_>)],
    sum: &SumOfParts<'_>,
) -> (InOrder, Option<f64>) {
    let plan = gathered.plan;
    if plan.imported.is_none() {
        return (InOrder::default(), None);
    }
    let blocks = sum.pairs.blocks.iter().map(|block| block.block);
    let sides: Option<Vec<[LogAndPlace; 2]>> =
        blocks.map(|block| of_block(gathered.observations, parts, block)).collect();
    let sides = sides.unwrap_or_default();
    let side = |of: fn(&[LogAndPlace; 2]) -> f64| sides.iter().map(of).collect::<Vec<f64>>();
    let logs = [side(|[one, _]| one.0), side(|[_, other]| other.0)];
    let places = [side(|[one, _]| one.1), side(|[_, other]| other.1)];
    let has_drifted = || drift(&logs[0], sum.theta);
    let order = FileOrder::of(&[
        [0, 1].map(|of: usize| Executions { logs: &logs[of], places: &places[of] })
    ]);
    let order = order.filter(|_| is_order_known(plan));
    // The sides are oriented already.
    let question = Question { direction: Direction::Higher, ..sum.question.clone() };
    let said = order.map(|order| {
        let asked = OrderedQuestion {
            question: &question,
            is_pure: is_after(&places[0], &places[1]) || is_after(&places[1], &places[0]),
            test: sum.test.copied(),
            has_drifted: &|| has_drifted().is_some(),
            origin: OrderOrigin::of(plan),
        };
        order.says(&asked, sum.theta, plan.alpha)
    });
    (said.unwrap_or_default(), has_drifted())
}

/// The weighted logarithm of one side of a block, and its mean place in the file.
type LogAndPlace = (f64, f64);

/// Reference and subject of a block of a sum.
fn of_block(
    observations: &Observations<'_>,
    parts: &[(f64, Comparison<'_>)],
    block: u32,
) -> Option<[LogAndPlace; 2]> {
    let (mut sides, mut weights) = ([(0.0, 0.0); 2], 0.0);
    for (weight, part) in parts {
        let question = &part.asked.question;
        let row = part.pairs.blocks.iter().position(|pair| pair.block == block)?;
        let own = [
            (&question.reference, &part.pairs.reference),
            (&question.subject, &part.pairs.subject),
        ];
        for ((subject, logs), (log, place)) in own.into_iter().zip(&mut sides) {
            let trial = observations.trial(block, subject, &question.workload)?;
            *log += weight * question.direction.sign() * logs.get(row)?;
            *place += weight.abs() * trial.sequence as f64;
        }
        weights += weight.abs();
    }
    sides.iter_mut().for_each(|(_, place)| *place /= weights);
    Some(sides)
}
