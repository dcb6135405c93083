//! Looking more than once: how much of the error rate each look may use.

/// The level of each of the pre-declared looks, given as block counts in ascending
/// order: the increments of alpha t^2 with t the share of the last count (Kim and
/// DeMets 1987, power family). Used like Bonferroni's shares they hold whatever the
/// dependence between looks; they add up to `alpha`. Zeros where the last count is 0.
pub fn spent_at_looks(looks: &[u32], alpha: f64) -> Vec<f64> {
    let Some(last) = looks.last().map(|last| f64::from(*last)) else { return Vec::new() };
    let mut spent = 0.0;
    let mut levels = Vec::with_capacity(looks.len());
    for look in looks {
        let share = if last > 0.0 { f64::from(*look) / last } else { 0.0 };
        let until_now = alpha * share * share;
        levels.push(until_now - spent);
        spent = until_now;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_of_the_design_are_reproduced() {
        let levels = spent_at_looks(&[6, 10, 16, 24, 32], 0.05);
        let expected = [0.001_757_8, 0.003_125, 0.007_617_2, 0.015_625, 0.021_875];
        for (level, expected) in levels.iter().zip(expected) {
            assert!((level - expected).abs() < 1e-6, "{levels:?}");
        }
        assert!((levels.iter().sum::<f64>() - 0.05).abs() < 1e-15);
        assert_eq!(spent_at_looks(&[10], 0.05), [0.05]);
        assert_eq!(spent_at_looks(&[], 0.05), []);
    }
}
