//! How the executions of two subjects lie in the file's order, and what a drift along that order may
//! be of their difference, with blocks and without (docs/method.md#m-unblocked).

use crate::order_origin::OrderOrigin;
use model::Question;
use stats::{TTest, coefficient_beside, mean, neighbours_beside, normal_cdf};
use std::ops::Range;

/// Levels at which an order is not mixed: that one subject stands later, that one stands in the
/// middle, that they seldom take turns. A verdict then has to stand beside a drift.
const UNEVEN: [f64; 3] = [0.1, 0.05, 0.05];
/// The same of an order that passes no gate. Together they are raised of 4 in 100 random orders (own
/// simulation of 5, 10 and 20 executions of each).
const CONFOUNDED: [f64; 3] = [0.02, 0.01, 0.01];
/// A drift is a polynomial of so many degrees at most, and each but the first leaves at least so many
/// degrees of freedom.
const LEAST_LEFT: [f64; 3] = [0.0, 5.0, 10.0];
/// Fewer degrees of freedom leave no test.
const LEAST_DEGREES: f64 = 2.0;

/// What the order of a question's executions says.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    /// How one subject came after the other, or mostly so; none where the order passes gates.
    pub(crate) confounded: Option<String>,
    /// Whether a drift may be the difference, and whether one may hide it.
    pub(crate) by_drift: [bool; 2],
}

/// The executions of a subject in a stratum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Executions<'a> {
    /// What each measured, as a logarithm.
    pub(crate) logs: &'a [f64],
    /// Where in the file each begins.
    pub(crate) places: &'a [f64],
}

/// What is asked of an order.
pub(crate) struct OrderedQuestion<'a> {
    pub(crate) question: &'a Question,
    /// Whether in each stratum all executions of one subject came before all of the other.
    pub(crate) is_pure: bool,
    /// What the difference is without the order, oriented so that above 0 is better.
    pub(crate) test: Option<TTest>,
    /// Whether the values drifted.
    pub(crate) has_drifted: &'a dyn Fn() -> bool,
    /// What tells the order.
    pub(crate) origin: OrderOrigin,
}

/// Neighbouring executions of a subject have so much more in common than independent ones, in
/// standard errors: of drift-free values and of values that drift in common 1 to 4 in 100 tables of 5 to
/// 40 executions have (own simulation).
const LEAST_ERRORS: f64 = 1.8;
/// No correlation is told that is larger.
const MOST_CORRELATED: f64 = 0.95;

/// The executions of both subjects, stratum by stratum.
pub(crate) struct FileOrder {
    logs: Vec<f64>,
    /// Where in the file each begins, from -1 to 1.
    places: Vec<f64>,
    /// Whether each is one of the subject, and none of the reference.
    is_subject: Vec<bool>,
    /// The rows of each stratum, and in them those of each subject.
    strata: Vec<Range<usize>>,
    series: Vec<Range<usize>>,
    turns: Turns,
}

/// Where executions begin, in order, each with whether it is one of the subject. Where both begin in
/// one place, the reference comes first.
pub(crate) fn places_in_order(reference: &[f64], subject: &[f64]) -> Vec<(f64, bool)> {
    let mut order: Vec<(f64, bool)> = Vec::with_capacity(reference.len() + subject.len());
    order.extend(reference.iter().map(|place| (*place, false)));
    order.extend(subject.iter().map(|place| (*place, true)));
    // A stable sort would need as much room again.
    order.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    order
}

/// How often the next execution is one of the other subject.
#[derive(Debug, Default)]
struct Turns {
    counted: f64,
    /// What a random order has, and its variance (Wald and Wolfowitz 1940).
    expected: f64,
    variance: f64,
}

impl Turns {
    /// Those of one more stratum.
    fn add(&mut self, [reference, subject]: [&[f64]; 2]) {
        let order = places_in_order(reference, subject);
        let count = order.len() as f64;
        let product = 2.0 * reference.len() as f64 * subject.len() as f64;
        if product > 0.0 {
            self.counted += order.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as f64;
            self.expected += product / count;
            self.variance += product * (product - count) / (count * count * (count - 1.0));
        }
    }

    /// p of as few in a random order.
    fn p(&self) -> f64 {
        if self.variance <= 0.0 {
            return 1.0;
        }
        normal_cdf((self.counted + 0.5 - self.expected) / self.variance.sqrt())
    }
}

impl FileOrder {
    /// That of reference and subject in each stratum; none where all begin in one place.
    pub(crate) fn of(all: &[[Executions<'_>; 2]]) -> Option<Self> {
        let count: usize = all.iter().flatten().map(|side| side.logs.len()).sum();
        let (mut logs, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut is_subject = Vec::with_capacity(count);
        let (mut strata, mut series, mut turns) = (Vec::new(), Vec::new(), Turns::default());
        for sides in all {
            turns.add(sides.map(|side| side.places));
            let begin = logs.len();
            for (side, executions) in sides.iter().enumerate() {
                let of_side = executions.logs;
                series.push(logs.len()..logs.len() + of_side.len());
                logs.extend_from_slice(of_side);
                places.extend_from_slice(executions.places);
                is_subject.extend(std::iter::repeat_n(side == 1, of_side.len()));
            }
            strata.push(begin..logs.len());
        }
        let centre = mean(&places)?;
        let most = places.iter().fold(0.0, |most: f64, place| most.max((place - centre).abs()));
        if most <= 0.0 {
            return None;
        }
        places.iter_mut().for_each(|place| *place = (*place - centre) / most);
        strata.retain(|rows: &Range<usize>| !rows.is_empty());
        series.retain(|rows: &Range<usize>| !rows.is_empty());
        Some(Self { logs, places, is_subject, strata, series, turns })
    }

    /// A power of the places.
    fn power(&self, degree: usize) -> Vec<f64> {
        let of = |place: &f64| std::iter::repeat_n(*place, degree).product::<f64>();
        self.places.iter().map(of).collect()
    }

    /// The coefficient of the subject beside columns and a mean of each stratum.
    fn of_subject(&self, values: Vec<f64>, others: &[Vec<f64>]) -> Option<TTest> {
        let others: Vec<Vec<f64>> =
            others.iter().map(|other| centred(other.clone(), &self.strata)).collect();
        let values = centred(values, &self.strata);
        let subject = self.is_subject.iter().map(|is_subject| f64::from(*is_subject));
        let subject = centred(subject.collect(), &self.strata);
        let test = coefficient_beside(&values, &subject, &others)?;
        // Each mean takes a degree.
        let degrees = test.degrees - self.strata.len() as f64;
        let wider = (test.degrees / degrees).sqrt();
        (degrees >= LEAST_DEGREES).then_some(TTest {
            mean: test.mean,
            standard_deviation: wider * test.standard_deviation,
            standard_error: wider * test.standard_error,
            degrees,
            skew: 0.0,
        })
    }

    /// Whether the order is mixed worse than a random one, at these levels.
    fn is_unmixed(&self, levels: [f64; 3]) -> bool {
        let p_of = |degree: usize| {
            let test = self.of_subject(self.power(degree), &[]);
            test.and_then(|test| test.p_difference()).unwrap_or(1.0)
        };
        let all = [p_of(1), p_of(2), self.turns.p()];
        all.into_iter().zip(levels).any(|(p, level)| p < level)
    }

    /// The difference beside a drift that is common to all strata, which have means of their own: a
    /// line, and where there are executions enough a parabola and a cubic, up to so many degrees.
    fn beside_drifts(&self, most_degrees: usize) -> Option<Vec<TTest>> {
        let (mut others, mut tests) = (Vec::new(), Vec::new());
        for (degree, least_left) in (1..=most_degrees).zip(LEAST_LEFT) {
            others.push(self.power(degree));
            let columns = self.strata.len() + others.len() + 1;
            if self.logs.len() as f64 - columns as f64 >= least_left {
                tests.push(self.of_subject(self.logs.clone(), &others)?);
            }
        }
        Some(tests)
    }

    /// What the order of the file says. An order in which the subjects took turns says nothing.
    pub(crate) fn says(&self, asked: &OrderedQuestion<'_>, theta: f64, alpha: f64) -> InOrder {
        let OrderedQuestion { question, is_pure, test, .. } = asked;
        let in_order = asked.origin.in_order();
        if !is_pure && !self.is_unmixed(UNEVEN) {
            return InOrder::default();
        }
        let by_drift = test.map_or([false; 2], |test| self.by_drift(asked, &test, theta, alpha));
        let confounded = if *is_pure {
            let told = format!(
                "{in_order} all values of {} and all of {} follow each other",
                question.reference, question.subject
            );
            Some(match self.strata.len() {
                1 => told,
                strata => format!("{told}, in each of {strata} strata"),
            })
        } else {
            let is_told = by_drift != [false; 2] || self.is_unmixed(CONFOUNDED);
            is_told.then(|| {
                format!(
                    "{in_order} {} and {} change {:.0} times, and in a random one {:.0} times: they are not mixed evenly",
                    question.reference,
                    question.subject,
                    self.turns.counted,
                    self.turns.expected
                )
            })
        };
        InOrder { confounded, by_drift }
    }

    /// What a drift may be of what the test says: a difference that is not shown beside one, or an
    /// equivalence where the values drifted. A drift makes a difference of none; that it hides one
    /// takes a drift that is there.
    fn by_drift(
        &self,
        asked: &OrderedQuestion<'_>,
        test: &TTest,
        theta: f64,
        alpha: f64,
    ) -> [bool; 2] {
        let is_below = |p: Option<f64>| p.is_some_and(|p| p < alpha);
        let sign = asked.question.direction.sign();
        // Beside a curve, an order of one after the other leaves little of any difference.
        let most_degrees = if asked.is_pure { 1 } else { LEAST_LEFT.len() };
        let beside = self.beside_drifts(most_degrees).unwrap_or_default();
        let holds = |says: &dyn Fn(&TTest) -> bool| !beside.is_empty() && beside.iter().all(says);
        let differs =
            holds(&|one: &TTest| sign * one.mean * test.mean > 0.0 && is_below(one.p_difference()));
        let is_alike = holds(&|one: &TTest| is_below(one.p_equivalence(theta)));
        let makes = is_below(test.p_difference()) && !differs;
        let hides = is_below(test.p_equivalence(theta)) && !is_alike;
        [makes, hides && (asked.has_drifted)()]
    }

    /// How neighbouring executions of a subject are correlated beside a drift, where that is no
    /// accident.
    pub(crate) fn correlation(&self) -> Option<f64> {
        let (rows, series) = (self.logs.len() as f64, self.series.len() as f64);
        let left = |columns: usize| rows - series - columns as f64;
        let degrees_of_drift = if left(2) >= LEAST_LEFT[1] { 2 } else { 1 };
        let columns =
            (1..=degrees_of_drift).map(|degree| centred(self.power(degree), &self.series));
        let pairs = self
            .series
            .iter()
            .flat_map(|rows| (rows.start + 1..rows.end).map(|row| (row - 1, row)));
        let logs = centred(self.logs.clone(), &self.series);
        let (counted, taken) = neighbours_beside(&logs, columns, pairs)?;
        // What the mean of each series takes of independent values.
        let of_means: f64 = self.series.iter().map(|rows| 1.0 - 1.0 / rows.len() as f64).sum();
        let left = left(degrees_of_drift);
        if left < LEAST_DEGREES {
            return None;
        }
        let more = counted + (taken + of_means) / left;
        (more * rows.sqrt() > LEAST_ERRORS).then(|| {
            // A short series shows less of it than there is (Marriott and Pope 1954).
            (more + (1.0 + 3.0 * more) * series / rows).min(MOST_CORRELATED)
        })
    }
}

/// A column less its mean over each of these parts.
fn centred(mut column: Vec<f64>, parts: &[Range<usize>]) -> Vec<f64> {
    for part in parts {
        let Some(of_part) = column.get_mut(part.clone()) else { continue };
        let centre = mean(of_part).unwrap_or_default();
        of_part.iter_mut().for_each(|value| *value -= centre);
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_stratum_it_is_not_said_that_each_has_its_subjects_one_after_the_other() {
        let (logs, places) = ([0.0; 3], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
        let sides = places.each_ref().map(|places| Executions { logs: &logs, places });
        let question = fixtures::question("w", "m", "b", "a");
        let asked = OrderedQuestion {
            question: &question,
            is_pure: true,
            test: None,
            has_drifted: &|| false,
            origin: OrderOrigin::Rows,
        };
        let told = |strata: &[[Executions<'_>; 2]]| {
            FileOrder::of(strata).unwrap().says(&asked, 0.02, 0.05).confounded.unwrap()
        };
        let follow = "in the file's order all values of a and all of b follow each other";
        assert_eq!(told(&[sides]), follow);
        assert_eq!(told(&[sides, sides]), format!("{follow}, in each of 2 strata"));
    }
}
