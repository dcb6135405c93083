//! The null distribution of the statistic of Mann and Whitney.

/// Above this many pairs of values the distribution is not computed: its time grows
/// with the pairs times the larger sample.
const MOST_PAIRS: usize = 40_000;

/// P(U <= `statistic`) for the number U of pairs in which the value of the first
/// sample is the larger, for samples of `first` and `second` values of one continuous
/// distribution (Mann and Whitney 1947): exact but for rounding, also in the tails.
/// `None` above 40 000 pairs.
pub fn mann_whitney_cdf(statistic: u64, first: usize, second: usize) -> Option<f64> {
    let pairs = first.checked_mul(second).filter(|pairs| *pairs <= MOST_PAIRS)?;
    if statistic >= pairs as u64 {
        return Some(1.0);
    }
    let chances = mann_whitney_distribution(first, second);
    Some(chances[..=statistic as usize].iter().sum::<f64>().min(1.0))
}

/// P(U >= `statistic`), by the symmetry of U: the chance of a statistic at least as large.
pub fn mann_whitney_survival(statistic: u64, first: usize, second: usize) -> Option<f64> {
    let pairs = first.checked_mul(second).filter(|pairs| *pairs <= MOST_PAIRS)?;
    match (pairs as u64).checked_sub(statistic) {
        Some(mirrored) => mann_whitney_cdf(mirrored, first, second),
        None => Some(0.0),
    }
}

/// P(U = u) for u from 0 to `first` times `second`.
pub(crate) fn mann_whitney_distribution(first: usize, second: usize) -> Vec<f64> {
    // U has one distribution whichever sample is counted.
    let (count, other) = (first.min(second), first.max(second));
    // Of the largest value's sample: with chance m / (m + n) it is of the first and
    // beats all of the second. Rows for 0..=count values, columns grow to `other`.
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]; count + 1];
    for others in 1..=other {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for own in 1..=count {
            let of_first = own as f64 / (own + others) as f64;
            let of_second = others as f64 / (own + others) as f64;
            let mut row = vec![0.0; own * others + 1];
            for (statistic, chance) in next[own - 1].iter().enumerate() {
                row[statistic + others] += of_first * chance;
            }
            for (statistic, chance) in rows[own].iter().enumerate() {
                row[statistic] += of_second * chance;
            }
            next.push(row);
        }
        rows = next;
    }
    rows.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_symmetric_and_sums_to_one() {
        for (count, other) in [(1, 1), (3, 7), (12, 5), (20, 20)] {
            let chances = mann_whitney_distribution(count, other);
            assert_eq!(chances.len(), count * other + 1);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let mirrored: Vec<f64> = chances.iter().rev().copied().collect();
            assert!(chances.iter().zip(mirrored).all(|(a, b)| (a - b).abs() < 1e-15));
        }
    }

    #[test]
    fn small_samples_can_be_counted_by_hand() {
        assert!((mann_whitney_cdf(0, 3, 2).unwrap() - 0.1).abs() < 1e-15);
        assert!((mann_whitney_survival(5, 3, 2).unwrap() - 0.2).abs() < 1e-15);
        assert_eq!(mann_whitney_cdf(6, 3, 2), Some(1.0));
        assert_eq!(mann_whitney_survival(7, 3, 2), Some(0.0));
        assert_eq!(mann_whitney_cdf(0, 0, 9), Some(1.0));
        assert_eq!(mann_whitney_cdf(0, usize::MAX, 9), None);
    }
}
