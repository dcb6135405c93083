//! Walsh averages: all (x_i + x_j) / 2 with i <= j, by rank.

use crate::selection::smallest_double;

/// Up to so many values the averages are listed; beyond they are counted.
const MOST_LISTED: usize = 60;

/// The averages of a sample, at least one of them.
pub(crate) struct WalshAverages {
    /// The values, ascending.
    sorted: Vec<f64>,
    /// The averages, ascending, of small samples.
    listed: Option<Vec<f64>>,
}

impl WalshAverages {
    /// `None` of no values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let listed = (sorted.len() <= MOST_LISTED).then(|| list(&sorted));
        Some(Self { sorted, listed })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        let count = self.sorted.len() as u64;
        count * (count + 1) / 2
    }

    /// The average of the given rank from 1. Of large samples by bisection over the
    /// doubles, counting the averages below each in one pass of two pointers (Johnson
    /// and Mizoguchi 1978, in their simplest form): the very same double as by sorting.
    pub(crate) fn ranked(&self, rank: u64) -> f64 {
        if let Some(listed) = &self.listed {
            return listed[rank as usize - 1];
        }
        let (low, high) = (self.sorted[0], self.sorted[self.sorted.len() - 1]);
        smallest_double(low, high, |limit| self.up_to(limit) >= rank)
    }

    /// The middle average, or the mean of the two middle ones.
    pub(crate) fn median(&self) -> f64 {
        let half = self.count() / 2;
        if self.count() % 2 == 1 {
            return self.ranked(half + 1);
        }
        let below = self.ranked(half);
        let is_tied = self.listed.is_none() && self.up_to(below) > half;
        let above = if is_tied { below } else { self.ranked(half + 1) };
        f64::midpoint(below, above)
    }

    /// How many averages are at most `limit`.
    fn up_to(&self, limit: f64) -> u64 {
        let values = &self.sorted;
        // For ascending first values the partners that keep the average within the
        // limit become fewer.
        let mut partners = values.len();
        let mut found = 0;
        for (index, first) in values.iter().enumerate() {
            while partners > index && f64::midpoint(*first, values[partners - 1]) > limit {
                partners -= 1;
            }
            if partners <= index {
                break;
            }
            found += (partners - index) as u64;
        }
        found
    }
}

fn list(sorted: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(sorted.len() * (sorted.len() + 1) / 2);
    for (index, first) in sorted.iter().enumerate() {
        averages.extend(sorted[index..].iter().map(|second| f64::midpoint(*first, *second)));
    }
    averages.sort_unstable_by(f64::total_cmp);
    averages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_finds_what_listing_finds() {
        for ties in [1.0, 8.0] {
            let values: Vec<f64> = (0..57)
                .map(|i| (libm::sin(f64::from(i) * 1.7) * 100.0 / ties).round() * ties)
                .collect();
            let listed = WalshAverages::of(&values).unwrap();
            let counted = WalshAverages { sorted: listed.sorted.clone(), listed: None };
            for rank in 1..=listed.count() {
                assert_eq!(counted.ranked(rank), listed.ranked(rank), "{rank}");
            }
            assert_eq!(counted.median(), listed.median());
        }
    }
}
