//! Noise that Welch's t of executions does not see (docs/method.md#m-unblocked): executions that
//! resemble their neighbours, single values far from the others, a skewed distribution.

use super::samples::Samples;
use crate::file_order::FileOrder;
use model::{Caveat, CaveatCode, p_equation};
use stats::{OutlierLabels, TTest, label_outliers, mann_whitney, median};

/// Beyond this correlation of neighbours no verdict is given.
const MOST_CORRELATED: f64 = 0.5;
/// Fewer values of a subject show none that lies far out: of 5 and 6 of each normal ones are labelled in
/// 7 of 100 tables, of 10 in 2 (own simulation).
const LEAST_FOR_OUTLIERS: usize = 8;
/// Fewer executions of each subject cannot reach 5 % by ranks.
const LEAST_FOR_RANKS: usize = 6;
/// A mean further from the median shift than this share of its standard error is not that of a
/// symmetric distribution.
const LEAST_APART: f64 = 0.6;
/// Two p-values on both sides of a level disagree where one is so many times the other.
const LEAST_RATIO: f64 = 4.0;
/// Where the t is so sure, or so unsure, ranks are not asked.
const ASKED: std::ops::Range<f64> = 1e-6..0.6;
/// More pairs of values take long.
const MOST_PAIRS: usize = 250_000;
/// Places told by name.
const TOLD_AT_MOST: usize = 5;

/// What is told of the noise of a question's executions.
#[derive(Debug, Default)]
pub(super) struct Noise {
    pub(super) caveats: Vec<Caveat>,
    /// The correlation of neighbours, where it leaves no verdict.
    pub(super) correlation: Option<f64>,
    /// Whether how far a difference lies beyond the margin is not sure.
    pub(super) is_unclear: bool,
}

impl Samples<'_> {
    /// The noise of these executions, in the order of the file.
    pub(super) fn noise(&self, order: Option<&FileOrder>, theta: f64, alpha: f64) -> Noise {
        let Some(test) = self.test().filter(|test| !test.is_degenerate()) else {
            return Noise::default();
        };
        let mut noise = Noise::default();
        if let Some(correlation) = order.and_then(FileOrder::correlation) {
            let detail =
                format!("lag-one correlation {correlation:.2} of the executions of a subject");
            noise.caveats.push(Caveat::new(CaveatCode::Autocorr, detail));
            noise.is_unclear = true;
            let stands = correlation <= MOST_CORRELATED
                && shows_the_same(&test, &widened(&test, correlation), theta, alpha);
            noise.correlation = (!stands).then_some(correlation);
        }
        if let Some(detail) = self.skewed(&test, alpha) {
            noise.caveats.push(Caveat::new(CaveatCode::Skewed, detail));
            noise.is_unclear = true;
        }
        noise.caveats.extend(self.outliers());
        noise
    }

    /// Values far from the others of their subject and stratum.
    fn outliers(&self) -> Option<Caveat> {
        let count: usize = self.strata.values().flatten().map(Vec::len).sum();
        let mut distances = Vec::with_capacity(count);
        let mut places: Vec<&[f64]> = Vec::new();
        for (stratum, sides) in &self.strata {
            for (side, logs) in sides.iter().enumerate() {
                if logs.len() < LEAST_FOR_OUTLIERS {
                    return None;
                }
                let centre = median(logs)?;
                distances.extend(logs.iter().map(|log| log - centre));
                places.push(&self.places.get(stratum)?[side]);
            }
        }
        let OutlierLabels::Labelled(far) = label_outliers(&distances) else { return None };
        drop(distances);
        let mut rows: Vec<String> = far
            .iter()
            .filter_map(|one| places.iter().copied().flatten().nth(*one))
            .take(TOLD_AT_MOST + 1)
            .map(|place| (place + 1.0).to_string())
            .collect();
        if rows.len() > TOLD_AT_MOST {
            rows.truncate(TOLD_AT_MOST);
            rows.push("..".to_owned());
        }
        Some(Caveat::new(CaveatCode::Outlier, far_rows(&rows)?))
    }

    /// How ranks say something else than the t: the median shift (Hodges and Lehmann 1963) lies apart
    /// from the difference of means and has another sign, or Mann's and Whitney's test is far on the
    /// other side of the level. Ranks of several strata are not one sample.
    fn skewed(&self, test: &TTest, alpha: f64) -> Option<String> {
        let [reference, subject] =
            self.strata.values().next().filter(|_| self.strata.len() == 1)?;
        let p = test.p_difference().filter(|p| ASKED.contains(p))?;
        if reference.len().saturating_mul(subject.len()) > MOST_PAIRS {
            return None;
        }
        let sign = self.question.direction.sign();
        let is_apart = |shift: &f64| {
            (shift - test.mean).abs() > LEAST_APART * test.standard_error && shift * test.mean < 0.0
        };
        let shift = opposed_shift([reference, subject], sign, test.mean);
        if let Some(shift) = shift.filter(is_apart) {
            return Some(format!(
                "the mean says {} %, the ranks say {} %",
                model::signed_percent(test.mean.exp_m1(), 1),
                model::signed_percent(shift.exp_m1(), 1)
            ));
        }
        if self.replicates() < LEAST_FOR_RANKS {
            return None;
        }
        let ranks = mann_whitney(reference, subject)?;
        let shows_all_it_can = p < alpha && are_apart([reference, subject]);
        let is_split = (p < alpha) != (ranks < alpha) && !shows_all_it_can;
        let disagrees = is_split && p.max(ranks) > LEAST_RATIO * p.min(ranks);
        disagrees.then(|| {
            let (t, ranks) = (p_equation(p), p_equation(ranks));
            format!("the t test gives {t}, the rank-sum test {ranks}")
        })
    }
}

/// Whether all values of one lie beyond all of the other: ranks can show no more of so few, whatever
/// the level.
fn are_apart([one, other]: [&[f64]; 2]) -> bool {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most(one) < least(other) || most(other) < least(one)
}

/// The median shift from a value of the reference to one of the subject; none where more than half of
/// all pairs shift as the mean says, since the median does so, too. Pairs are counted in the order of
/// the values: most questions need no list of them.
fn opposed_shift([reference, subject]: [&[f64]; 2], sign: f64, mean: f64) -> Option<f64> {
    let is_above = sign * mean > 0.0;
    let mut sorted = reference.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let agreeing = |one: &f64| {
        if is_above {
            sorted.partition_point(|other| other < one)
        } else {
            sorted.len() - sorted.partition_point(|other| other <= one)
        }
    };
    let agreeing: usize = subject.iter().map(agreeing).sum();
    if 2 * agreeing > reference.len() * subject.len() + 1 {
        return None;
    }
    let shifts = |one: &f64| {
        let one = *one;
        reference.iter().map(move |other| sign * (one - other))
    };
    median(&subject.iter().flat_map(shifts).collect::<Vec<f64>>())
}

/// The same of fewer effective executions (Bayley and Hammersley 1946).
fn widened(test: &TTest, correlation: f64) -> TTest {
    let factor = (1.0 + correlation) / (1.0 - correlation);
    TTest {
        standard_error: test.standard_error * factor.sqrt(),
        degrees: (test.degrees / factor).max(1.0),
        ..*test
    }
}

/// Whether a wider test shows what a test does.
fn shows_the_same(test: &TTest, wider: &TTest, theta: f64, alpha: f64) -> bool {
    let is_below = |p: Option<f64>| p.is_some_and(|p| p < alpha);
    (!is_below(test.p_difference()) || is_below(wider.p_difference()))
        && (!is_below(test.p_equivalence(theta)) || is_below(wider.p_equivalence(theta)))
}

fn far_rows(rows: &[String]) -> Option<String> {
    match rows {
        [] => None,
        [only] => Some(format!(
            "the value in row {only} of the file's order lies far from the others and is kept"
        )),
        several => Some(format!(
            "the values in rows {} of the file's order lie far from the others and are kept",
            several.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record};
    use model::{
        Direction, Finding, ImportedDesign, ImportedOrder, Obstacle, Record, Reduction, Sample,
        Verdict,
    };
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    #[test]
    fn a_median_shift_against_the_mean_is_found_as_among_all_pairs() {
        let mut random = ChaCha12Rng::seed_from_u64(31);
        let (mut opposed, mut asked) = (0, 0);
        for round in 0..2_000 {
            let [first, second] = [0, 1].map(|side| {
                // Ties, odd and even counts.
                let count = 2 + (round + side) % 7;
                let values = (0..count).map(|_| f64::from(random.random_range(-9..10_i8)));
                values.collect::<Vec<f64>>()
            });
            let sign = if round % 2 == 0 { 1.0 } else { -1.0 };
            let mean = f64::from(random.random_range(-3..4_i8));
            let pairs = second.iter().flat_map(|one| first.iter().map(move |other| one - other));
            let shift = median(&pairs.map(|shift| sign * shift).collect::<Vec<f64>>()).unwrap();
            let found = opposed_shift([&first, &second], sign, mean);
            assert!(found.is_none_or(|found| found == shift), "{round}: {found:?}, not {shift}");
            assert_eq!(found.is_some_and(|found| found * mean < 0.0), shift * mean < 0.0);
            opposed += usize::from(shift * mean < 0.0);
            asked += usize::from(found.is_some());
        }
        assert!(opposed > 200 && asked < 1_800, "{opposed} opposed, {asked} asked");
    }

    const ONE: [f64; 10] = [0.3, -0.7, 0.1, 0.9, -0.4, -0.2, 0.6, -0.9, 0.2, -0.1];
    const OTHER: [f64; 10] = [-0.5, 0.4, -0.1, 0.8, -0.8, 0.3, 0.7, -0.3, -0.6, 0.1];

    /// Executions of `a` and `b` in turns, which take so many per cent more than 100.
    fn judged(one: &[f64], other: &[f64]) -> Finding {
        judged_at(0.05, one, other)
    }

    fn judged_at(alpha: f64, one: &[f64], other: &[f64]) -> Finding {
        let mut plan = plan(&["a", "b"], vec![metric("m", Direction::Lower, Reduction::Mean)], 0);
        plan.alpha = alpha;
        let design = ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
        plan.imported = Some(fixtures::imported(design, ImportedOrder::Rows));
        let mut all: Vec<Record> = Vec::new();
        for (replicate, percents) in (0..).zip(one.iter().zip(other)) {
            for (subject, percent) in [("a", percents.0), ("b", percents.1)] {
                let samples = vec![vec![Sample::values("m", vec![100.0 + percent])]];
                let mut next = record(replicate, subject, "w", samples);
                next.sequence = all.len() as u64;
                all.push(next);
            }
        }
        crate::judge(&plan, &all).findings.remove(0)
    }

    fn detail(finding: &Finding, code: CaveatCode) -> Option<&str> {
        let found = finding.caveats.iter().find(|caveat| caveat.code == code);
        found.map(|caveat| caveat.detail.as_str())
    }

    #[test]
    fn executions_that_resemble_their_neighbours_give_no_verdict() {
        let wave = |of: fn(f64) -> f64, more: f64| -> Vec<f64> {
            (0..12).map(|row| more + 3.0 * of(0.7 * f64::from(row))).collect()
        };
        let finding = judged(&wave(f64::sin, 0.0), &wave(f64::cos, 6.0));
        assert!(detail(&finding, CaveatCode::Autocorr).is_some(), "{:?}", finding.caveats);
        assert_eq!(
            (finding.verdict, finding.obstacle),
            (Verdict::Inconclusive, Some(Obstacle::CorrelatedBlocks))
        );
        let finding = judged(&ONE, &OTHER);
        for code in [CaveatCode::Autocorr, CaveatCode::Outlier, CaveatCode::Skewed] {
            assert_eq!(detail(&finding, code), None);
        }
        assert_eq!(finding.obstacle, None);
    }

    #[test]
    fn values_far_from_the_others_are_told_in_the_plural() {
        let told = far_rows(&["3".to_owned(), "10".to_owned()]);
        let plural =
            "the values in rows 3, 10 of the file's order lie far from the others and are kept";
        assert_eq!(told.as_deref(), Some(plural));
        assert_eq!(far_rows(&[]), None);
    }

    #[test]
    fn a_value_far_from_the_others_is_labelled_and_what_it_alone_says_is_skewed() {
        let mut far = OTHER;
        far[4] += 40.0;
        let told = "the value in row 10 of the file's order lies far from the others and is kept";
        assert_eq!(detail(&judged(&ONE, &far), CaveatCode::Outlier), Some(told));
        let mut skewed = OTHER.map(|percent| percent + 1.2);
        skewed[4] -= 33.0;
        let finding = judged(&ONE, &skewed);
        let told = detail(&finding, CaveatCode::Skewed).unwrap();
        assert!(told.contains("ranks say"), "{told}");
    }

    #[test]
    fn ranks_that_show_all_they_can_of_so_few_executions_contradict_no_difference() {
        assert!(are_apart([&[1.0, 2.0], &[2.5, 3.0]]) && are_apart([&[4.0, 5.0], &[2.5, 3.0]]));
        assert!(!are_apart([&[1.0, 2.6], &[2.5, 3.0]]) && !are_apart([&[1.0, 2.0], &[2.0, 3.0]]));
        // Six beyond six others have 2/924 by ranks.
        let other = OTHER.map(|percent| percent + 2.5);
        let finding = judged_at(0.001, &ONE[..6], &other[..6]);
        assert_eq!(detail(&finding, CaveatCode::Skewed), None);
    }

    #[test]
    fn of_fewer_effective_executions_the_test_is_wider() {
        let test = TTest {
            mean: 1.0,
            standard_deviation: 1.0,
            standard_error: 0.4,
            degrees: 18.0,
            skew: 0.0,
        };
        let wider = widened(&test, 0.5);
        assert!((wider.standard_error - 0.4 * 3.0_f64.sqrt()).abs() < 1e-12);
        assert!((wider.degrees - 6.0).abs() < 1e-12);
        assert!(!shows_the_same(&test, &wider, 0.02, 0.05), "p = 0.02 and 0.2");
        let large = TTest { mean: 4.0, ..test };
        assert!(shows_the_same(&large, &widened(&large, 0.5), 0.02, 0.05));
    }
}
