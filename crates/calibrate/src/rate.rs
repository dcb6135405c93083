//! A counted rate and what the count allows it to be.

use serde::{Deserialize, Serialize};

/// Normal quantiles of a 99 % interval, and of a one-sided limit of 99 %.
const Z_INTERVAL: f64 = 2.575_829_303_548_901;
const Z_LIMIT: f64 = 2.326_347_874_040_841;

/// How often something happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// How often it happened.
    pub hits: u32,
    /// How often it could have.
    pub tries: u32,
}

impl Rate {
    /// Counts.
    pub fn of(outcomes: impl IntoIterator<Item = bool>) -> Self {
        let mut rate = Self { hits: 0, tries: 0 };
        for outcome in outcomes {
            rate.tries += 1;
            rate.hits += u32::from(outcome);
        }
        rate
    }

    /// Counts of so many things, each of which happened or not in each of these outcomes.
    pub(crate) fn of_each(count: usize, outcomes: &[impl AsRef<[bool]>]) -> Vec<Self> {
        let of = |index: usize| Self::of(outcomes.iter().map(|one| one.as_ref()[index]));
        (0..count).map(of).collect()
    }

    /// The share; 0 of nothing.
    pub fn share(&self) -> f64 {
        f64::from(self.hits) / f64::from(self.tries.max(1))
    }

    /// The score interval at 99 % (Wilson 1927).
    pub fn interval(&self) -> (f64, f64) {
        self.score(Z_INTERVAL)
    }

    /// The lower and the upper limit of the rate, each at 99 % by itself (Wilson 1927).
    pub fn one_sided(&self) -> (f64, f64) {
        self.score(Z_LIMIT)
    }

    /// What as many tries that all missed give.
    pub(crate) fn with_no_hit(self) -> Self {
        Self { hits: 0, ..self }
    }

    /// What as many tries that all hit give.
    pub(crate) fn with_hits_alone(self) -> Self {
        Self { hits: self.tries, ..self }
    }

    fn score(&self, z: f64) -> (f64, f64) {
        let (count, share) = (f64::from(self.tries.max(1)), self.share());
        let weight = z * z / count;
        let centre = (share + weight / 2.0) / (1.0 + weight);
        let spread = (share * (1.0 - share) / count + weight / (4.0 * count)).sqrt();
        let half = z * spread / (1.0 + weight);
        // At the ends the formula gives 0 and 1 but for rounding.
        let low = if self.hits == 0 { 0.0 } else { centre - half };
        let high = if self.hits == self.tries { 1.0 } else { centre + half };
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The score interval written out in another language.
    #[test]
    fn the_interval_is_wilsons() {
        let rate = Rate { hits: 7, tries: 50 };
        let (low, high) = rate.interval();
        assert!((low - 0.056_143_718_606).abs() < 1e-9, "{low}");
        assert!((high - 0.308_205_787_435).abs() < 1e-9, "{high}");
        assert_eq!(Rate { hits: 0, tries: 10 }.interval().0, 0.0);
        assert_eq!(Rate { hits: 1, tries: 1 }.interval().1, 1.0);
    }
}
