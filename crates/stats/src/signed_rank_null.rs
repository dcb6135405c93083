//! The null distribution of Wilcoxon's signed rank sum.

/// From so many values on the smallest probability, 2^-n, is below the smallest double.
const MOST: usize = 1_000;

/// P(W <= `rank_sum`) for the sum W of the ranks 1 to `count` that carry a positive
/// sign, each sign by a fair coin (Wilcoxon 1945): exact but for rounding, also in the
/// tails. `None` above 1000 values.
pub fn signed_rank_cdf(rank_sum: u64, count: usize) -> Option<f64> {
    if count > MOST {
        return None;
    }
    let most = (count * (count + 1) / 2) as u64;
    if rank_sum >= most {
        return Some(1.0);
    }
    let chances = signed_rank_distribution(count);
    Some(chances[..=rank_sum as usize].iter().sum::<f64>().min(1.0))
}

/// P(W >= `rank_sum`), by the symmetry of W: the chance of a sum at least as large.
pub fn signed_rank_survival(rank_sum: u64, count: usize) -> Option<f64> {
    if count > MOST {
        return None;
    }
    let most = (count * (count + 1) / 2) as u64;
    if rank_sum > most {
        return Some(0.0);
    }
    signed_rank_cdf(most - rank_sum, count)
}

/// P(W = w) for w from 0 to n (n + 1) / 2, one rank after the other.
pub(crate) fn signed_rank_distribution(count: usize) -> Vec<f64> {
    let mut chances = vec![0.0; count * (count + 1) / 2 + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for rank in 1..=count {
        reached += rank;
        for sum in (rank..=reached).rev() {
            chances[sum] = f64::midpoint(chances[sum], chances[sum - rank]);
        }
        for chance in &mut chances[..rank] {
            *chance /= 2.0;
        }
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counts_are_those_of_the_tables() {
        // Sums of subsets of {1, 2, 3, 4}: 0, 1, 2, 3 twice, ... of 16.
        assert_eq!(signed_rank_cdf(0, 4), Some(1.0 / 16.0));
        assert_eq!(signed_rank_cdf(3, 4), Some(5.0 / 16.0));
        assert_eq!(signed_rank_survival(10, 4), Some(1.0 / 16.0));
        assert_eq!(signed_rank_survival(11, 4), Some(0.0));
        assert_eq!((signed_rank_cdf(0, 0), signed_rank_cdf(99, 4)), (Some(1.0), Some(1.0)));
        assert_eq!(signed_rank_cdf(5, 1_001), None);
    }

    #[test]
    fn it_is_symmetric_and_sums_to_one() {
        for count in [1, 7, 60, 300] {
            let chances = signed_rank_distribution(count);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let mirrored = chances.iter().rev();
            assert!(chances.iter().zip(mirrored).all(|(a, b)| (a - b).abs() <= 1e-14 * a));
        }
    }
}
