//! The mean of differences beside covariates that may explain them.

use crate::moments::mean;
use crate::student::t_survival;
use crate::t_test::TTest;
use crate::variance_ratio::f_survival;
use std::borrow::Cow;

/// A covariate that the ones before it explain but for this share of its square adds nothing.
const LEAST_LEFT: f64 = 1e-9;
/// Fewer degrees of freedom leave no test.
const LEAST_DEGREES: f64 = 2.0;

/// Ordinary least squares of differences on a mean and one or two covariates
/// (docs/method.md#m-carry-over).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WithCovariates {
    /// The mean where all covariates are 0; none where no difference tells it from these.
    pub mean: Option<TTest>,
    /// p of no effect of any covariate: the F test.
    pub p: f64,
    /// What is left of the degrees of freedom beside the mean and the covariates that vary.
    pub degrees: f64,
}

impl WithCovariates {
    /// Fits `values`, each beside its covariates.
    ///
    /// `None` where no covariate varies, where fewer than two degrees of freedom are left, or
    /// where nothing is left to explain.
    pub fn of(values: &[f64], covariates: &[[f64; 2]]) -> Option<Self> {
        if values.len() != covariates.len() {
            return None;
        }
        let columns: Vec<Vec<f64>> =
            (0..2).map(|index| covariates.iter().map(|row| row[index]).collect()).collect();
        let JointTest { p, degrees } = JointTest::of(values, &columns)?;
        let mean = coefficient_beside(values, &vec![1.0; values.len()], &columns);
        Some(Self { mean, p, degrees })
    }
}

/// The F test of several columns together, by ordinary least squares of values on a mean and these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointTest {
    /// p of no effect of any column.
    pub p: f64,
    /// What is left of the degrees of freedom beside the mean and the columns that add something.
    pub degrees: f64,
}

impl JointTest {
    /// Tests columns as long as the values.
    ///
    /// `None` where no column varies, where fewer than two degrees of freedom are left, or
    /// where nothing is left to explain.
    pub fn of(values: &[f64], columns: &[Vec<f64>]) -> Option<Self> {
        if columns.iter().any(|column| column.len() != values.len()) {
            return None;
        }
        let ones = vec![1.0; values.len()];
        let beside_mean = independent(columns, &[normalised(ones)?]);
        let count = beside_mean.len() as f64;
        let degrees = values.len() as f64 - 1.0 - count;
        if beside_mean.is_empty() || degrees < LEAST_DEGREES {
            return None;
        }
        let centre = mean(values)?;
        let deviations: Vec<f64> = values.iter().map(|value| value - centre).collect();
        let explained: f64 = beside_mean.iter().map(|one| dot(one, &deviations).powi(2)).sum();
        let left = dot(&deviations, &deviations) - explained;
        if left <= f64::EPSILON * dot(values, values) {
            return None;
        }
        let variance = left / degrees;
        let f = explained / count / variance;
        Some(Self { p: p_of_f(f, count, degrees), degrees })
    }
}

/// The coefficient of `column` beside other columns, by ordinary least squares. A mean is another
/// column, of ones.
///
/// `None` where the others explain the column, where fewer than two degrees of freedom are left, or
/// where nothing is left to explain.
pub fn coefficient_beside(values: &[f64], column: &[f64], others: &[Vec<f64>]) -> Option<TTest> {
    if values.len() != column.len() || others.iter().any(|other| other.len() != values.len()) {
        return None;
    }
    let basis = independent(others, &[]);
    let (own, left) = (residual(column, &basis), residual(values, &basis));
    let size = dot(&own, &own);
    let degrees = values.len() as f64 - basis.len() as f64 - 1.0;
    if size <= LEAST_LEFT * dot(column, column) || degrees < LEAST_DEGREES {
        return None;
    }
    let coefficient = dot(&own, &left) / size;
    let unexplained = dot(&left, &left) - coefficient * coefficient * size;
    if unexplained <= f64::EPSILON * dot(values, values) {
        return None;
    }
    let variance = unexplained / degrees;
    Some(TTest {
        mean: coefficient,
        standard_deviation: variance.sqrt(),
        standard_error: (variance / size).sqrt(),
        degrees,
        skew: 0.0,
    })
}

/// What rows that are neighbours have in common of values beside columns: the sum over these pairs of
/// what is left of both, as a share of the sum of squares of what is left of all; and what the columns
/// take of such a sum, of independent values of variance 1. Each column is let go before the next is asked
/// for.
///
/// `None` where nothing is left.
pub fn neighbours_beside(
    values: &[f64],
    columns: impl IntoIterator<Item = Vec<f64>>,
    pairs: impl Iterator<Item = (usize, usize)> + Clone,
) -> Option<(f64, f64)> {
    let mut basis = Vec::new();
    columns.into_iter().for_each(|column| add_independent(&mut basis, &column));
    let left = residual(values, &basis);
    let size = dot(&left, &left);
    if size <= f64::EPSILON * dot(values, values) {
        return None;
    }
    let over = |column: &[f64]| -> f64 {
        let values = |(one, other): (usize, usize)| Some(column.get(one)? * column.get(other)?);
        pairs.clone().filter_map(values).sum()
    };
    Some((over(&left) / size, basis.iter().map(|column| over(column)).sum()))
}

/// p of an F of `count` degrees of freedom above `degrees`; of one and of two that of t = √F, and
/// (1 + 2F/ν)^(-ν/2).
fn p_of_f(f: f64, count: f64, degrees: f64) -> f64 {
    if count > 2.0 {
        return f_survival(f, count, degrees);
    }
    if count < 2.0 {
        return 2.0 * t_survival(f.max(0.0).sqrt(), degrees);
    }
    crate::exp(-degrees / 2.0 * crate::ln(1.0 + 2.0 * f.max(0.0) / degrees))
}

/// The columns made orthonormal to each other and to these, without those that add nothing
/// (Gram and Schmidt).
fn independent(columns: &[Vec<f64>], to: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut basis = to.to_vec();
    columns.iter().for_each(|column| add_independent(&mut basis, column));
    basis.split_off(to.len())
}

/// Adds what a column has beside these, where that is anything.
fn add_independent(basis: &mut Vec<Vec<f64>>, column: &[f64]) {
    let left = residual(column, basis);
    if dot(&left, &left) > LEAST_LEFT * dot(column, column) {
        basis.extend(normalised(left.into_owned()));
    }
}

/// What is left of a column beside others; beside none it is the column itself.
fn residual<'c>(column: &'c [f64], basis: &[Vec<f64>]) -> Cow<'c, [f64]> {
    if basis.is_empty() {
        return Cow::Borrowed(column);
    }
    let mut left = column.to_vec();
    for one in basis {
        let share = dot(one, &left);
        left.iter_mut().zip(one).for_each(|(value, of_one)| *value -= share * of_one);
    }
    Cow::Owned(left)
}

fn normalised(mut column: Vec<f64>) -> Option<Vec<f64>> {
    let length = dot(&column, &column).sqrt();
    column.iter_mut().for_each(|value| *value /= length);
    (length > 0.0).then_some(column)
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 10] = [1.1, 0.4, 2.2, 1.9, 0.7, 1.6, 2.4, 0.2, 1.3, 2.0];

    /// scipy.stats.linregress of the values on the covariate: intercept, its error, p of the slope.
    #[test]
    fn one_covariate_is_a_regression_line() {
        let covariate = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        let both: Vec<[f64; 2]> = covariate.iter().map(|x| [*x, -x]).collect();
        let fit = WithCovariates::of(&VALUES, &both).unwrap();
        let mean = fit.mean.unwrap();
        assert!((mean.mean - 0.8).abs() < 1e-12, "{fit:?}");
        assert!((mean.standard_error - ERROR).abs() < 1e-9, "{fit:?}");
        assert!((fit.p - P).abs() < 1e-9, "{fit:?}");
        assert!((fit.degrees - 8.0).abs() < 1e-12, "ten values, a mean and one of the covariates");
        // The slope of the same line, and its error.
        let ones = vec![vec![1.0; 10]];
        let slope = coefficient_beside(&VALUES, &covariate, &ones).unwrap();
        assert!((slope.mean - 1.16).abs() < 1e-12, "{slope:?}");
        assert!((slope.p_difference().unwrap() - P).abs() < 1e-9, "{slope:?}");
        assert!(coefficient_beside(&VALUES, &[3.0; 10], &ones).is_none(), "the mean itself");
    }

    const ERROR: f64 = 0.220_907_220_343_745;
    const P: f64 = 0.005_930_133_770_471;

    /// numpy.linalg.lstsq and scipy.stats.f.sf.
    #[test]
    fn two_covariates_have_an_f_of_two_degrees() {
        let first = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        let second = [1.0, 0.0, 0.0, -1.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0];
        let both: Vec<[f64; 2]> = first.iter().zip(second).map(|(a, b)| [*a, b]).collect();
        let fit = WithCovariates::of(&VALUES, &both).unwrap();
        let mean = fit.mean.unwrap();
        assert!((mean.mean - MEAN_OF_TWO).abs() < 1e-9, "{fit:?}");
        assert!((mean.standard_error - ERROR_OF_TWO).abs() < 1e-9, "{fit:?}");
        assert!((fit.p - P_OF_TWO).abs() < 1e-9, "{fit:?}");
    }

    const MEAN_OF_TWO: f64 = 0.884;
    const ERROR_OF_TWO: f64 = 0.246_734_096_317_705;
    const P_OF_TWO: f64 = 0.021_535_778_427_216;

    /// By hand: means of 2, 3, 4 and 7 in four groups of three, F = (42/3) / (8/8) = 14.
    #[test]
    fn columns_that_name_groups_are_an_analysis_of_variance() {
        let values = [1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let columns: Vec<Vec<f64>> = (0..4)
            .map(|group| (0..12).map(|place| f64::from(u8::from(place / 3 == group))).collect())
            .collect();
        let test = JointTest::of(&values, &columns).unwrap();
        assert!((test.degrees - 8.0).abs() < 1e-12, "the mean explains one of the four: {test:?}");
        assert!((test.p - f_survival(14.0, 3.0, 8.0)).abs() < 1e-12, "{test:?}");
        assert_eq!(JointTest::of(&values[..4], &columns), None, "columns of other blocks");
        assert_eq!(JointTest::of(&values, &[vec![1.0; 12]]), None, "the mean itself");
    }

    /// By hand: 1, -1, 2, -2 beside nothing, and beside their own mean.
    #[test]
    fn neighbours_are_counted_beside_columns() {
        let values = [1.0, -1.0, 2.0, -2.0];
        let pairs = [(0, 1), (1, 2), (2, 3)].into_iter();
        assert_eq!(neighbours_beside(&values, [], pairs.clone()), Some((-0.7, 0.0)));
        let (counted, taken) = neighbours_beside(&values, [vec![1.0; 4]], pairs.clone()).unwrap();
        assert!((counted + 0.7).abs() < 1e-12 && (taken - 0.75).abs() < 1e-12, "{counted} {taken}");
        assert_eq!(neighbours_beside(&[1.0; 4], [vec![1.0; 4]], pairs), None);
    }

    #[test]
    fn what_cannot_be_told_is_none() {
        let none = |covariates: &[[f64; 2]]| WithCovariates::of(&VALUES, covariates).is_none();
        assert!(none(&[[0.0; 2]; 10]), "no covariate varies");
        assert!(none(&[[1.0, 2.0]; 10]), "it is the mean itself");
        assert!(none(&[[0.0; 2]; 3]), "other blocks");
        let alternating: Vec<[f64; 2]> = (0..10).map(|n| [f64::from(n % 2), 0.0]).collect();
        assert!(WithCovariates::of(&[1.0; 10], &alternating).is_none(), "nothing varies");
        assert!(WithCovariates::of(&VALUES[..3], &alternating[..3]).is_none(), "too few");
    }
}
