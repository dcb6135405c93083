//! Sums of distances from each value of a series to those before and after it.

use crate::moments::median;

/// For each value the sum of |x - y| over the y before it, and over those after it,
/// in O(n log n): counts and sums of the values seen so far, by rank, in a tree of
/// partial sums (Fenwick 1994).
pub(crate) fn distance_sums(series: &[f64]) -> Vec<(f64, f64)> {
    // Distances do not change, and their sums lose fewer digits around zero.
    let centre = median(series).unwrap_or(0.0);
    let values: Vec<f64> = series.iter().map(|value| value - centre).collect();
    let mut sorted = values.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let total: f64 = sorted.iter().sum();
    let mut below = Vec::with_capacity(sorted.len() + 1);
    below.push(0.0);
    for value in &sorted {
        below.push(below[below.len() - 1] + value);
    }
    let mut before = PartialSums::of(sorted.len());
    let mut sum_before = 0.0;
    let mut sums = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let rank = sorted.partition_point(|other| other < value);
        let (seen, sum) = before.up_to(rank);
        let to_before = value * (2.0 * seen - index as f64) + sum_before - 2.0 * sum;
        let to_all = value * (2.0 * rank as f64 - values.len() as f64) + total - 2.0 * below[rank];
        sums.push((to_before.max(0.0), (to_all - to_before).max(0.0)));
        before.add(rank, *value);
        sum_before += value;
    }
    sums
}

/// Counts and sums of values by rank.
struct PartialSums {
    nodes: Vec<(f64, f64)>,
}

impl PartialSums {
    fn of(ranks: usize) -> Self {
        Self { nodes: vec![(0.0, 0.0); ranks + 1] }
    }

    fn add(&mut self, rank: usize, value: f64) {
        let mut node = rank + 1;
        while node < self.nodes.len() {
            self.nodes[node].0 += 1.0;
            self.nodes[node].1 += value;
            node += node & node.wrapping_neg();
        }
    }

    /// Count and sum of the values of lower rank.
    fn up_to(&self, rank: usize) -> (f64, f64) {
        let mut node = rank;
        let (mut count, mut sum) = (0.0, 0.0);
        while node > 0 {
            count += self.nodes[node].0;
            sum += self.nodes[node].1;
            node &= node - 1;
        }
        (count, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_definition() {
        let series: Vec<f64> =
            (0..200).map(|i| 1e3 + (libm::sin(f64::from(i) * 1.3) * 9.0).round() / 4.0).collect();
        for (index, (before, after)) in distance_sums(&series).into_iter().enumerate() {
            let sum = |others: &[f64]| -> f64 {
                others.iter().map(|other| (series[index] - other).abs()).sum()
            };
            assert!((before - sum(&series[..index])).abs() < 1e-9, "{index}");
            assert!((after - sum(&series[index + 1..])).abs() < 1e-9, "{index}");
        }
    }
}
