//! Correction over the declared family (docs/method.md#m-family).

use stats::{benjamini_hochberg, holm};

/// p-values of a family; a question without one counts as 1: it was asked.
pub(crate) fn holm_of(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    adjusted(p_values, holm)
}

/// The level that Holm's procedure leaves for each question, once those with smaller p were
/// rejected: the smallest p has alpha / m, the largest alpha.
pub(crate) fn holm_levels(p_values: &[Option<f64>], alpha: f64) -> Vec<f64> {
    let family = Family::of(p_values);
    let count = p_values.len();
    family.ranks.iter().map(|rank| alpha / (count - rank) as f64).collect()
}

/// A family in order.
pub(crate) struct Family {
    /// Ascending.
    p_values: Vec<f64>,
    /// Place of each question in that order.
    ranks: Vec<usize>,
}

impl Family {
    pub(crate) fn of(p_values: &[Option<f64>]) -> Self {
        let p_values: Vec<f64> = p_values.iter().map(|p| p.unwrap_or(1.0)).collect();
        let mut order: Vec<usize> = (0..p_values.len()).collect();
        order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
        let mut ranks = vec![0; order.len()];
        for (rank, index) in order.iter().enumerate() {
            ranks[*index] = rank;
        }
        Self { p_values: order.iter().map(|index| p_values[*index]).collect(), ranks }
    }

    /// All but one question.
    pub(crate) fn without(&self, index: usize) -> FamilyOfOthers {
        let (count, own) = (self.p_values.len(), self.ranks[index]);
        let others = self.p_values[..own].iter().chain(&self.p_values[own + 1..]);
        let mut family = FamilyOfOthers { count, p_values: Vec::new(), adjusted: Vec::new() };
        let mut highest = 0.0_f64;
        for (rank, p) in others.enumerate() {
            highest = highest.max((count - rank) as f64 * p);
            family.p_values.push(*p);
            family.adjusted.push(highest);
            // Whatever stands behind it has 1. Most p-values of a large family do, and each of its
            // questions asks for the others.
            if highest >= 1.0 {
                break;
            }
        }
        family
    }
}

/// A family without one question: it answers what that question's adjusted p would be, were its own
/// p another. Leaving out one block changes one p of thousands.
pub(crate) struct FamilyOfOthers {
    /// Of the whole family.
    count: usize,
    /// Of the others, ascending, as far as Holm's procedure makes less than 1 of them, and one more.
    p_values: Vec<f64>,
    /// What Holm's procedure makes of each, were the question behind it.
    adjusted: Vec<f64>,
}

impl FamilyOfOthers {
    /// Holm's adjusted p of the question whose own is `p`; the others keep theirs.
    pub(crate) fn holm_with(&self, p: Option<f64>) -> Option<f64> {
        let p = p?;
        let below = self.p_values.partition_point(|other| *other < p);
        let before = below.checked_sub(1).map_or(0.0, |last| self.adjusted[last]);
        Some(before.max((self.count - below) as f64 * p).min(1.0))
    }
}

/// False-discovery q-values of a screen.
pub(crate) fn q_values_of(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    adjusted(p_values, benjamini_hochberg)
}

fn adjusted(p_values: &[Option<f64>], correct: fn(&[f64]) -> Vec<f64>) -> Vec<Option<f64>> {
    let filled: Vec<f64> = p_values.iter().map(|p| p.unwrap_or(1.0)).collect();
    let corrected = correct(&filled);
    p_values.iter().zip(corrected).map(|(p, corrected)| p.map(|_| corrected)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    #[test]
    fn one_changed_p_is_adjusted_as_if_all_were_adjusted_anew() {
        let mut random = ChaCha12Rng::seed_from_u64(5);
        for _ in 0..300 {
            let count = random.random_range(1..12);
            // Few distinct values, so that ties occur.
            let mut draw = || Some(f64::from(random.random_range(0..20_u8)) / 200.0);
            let mut p_values: Vec<Option<f64>> = (0..count).map(|_| draw()).collect();
            let replacement = draw();
            let family = Family::of(&p_values);
            for index in 0..count {
                let known = std::mem::replace(&mut p_values[index], replacement);
                let expected = holm_of(&p_values)[index].unwrap();
                let found = family.without(index).holm_with(replacement).unwrap();
                assert!((found - expected).abs() < 1e-15, "{p_values:?} {index}");
                p_values[index] = known;
            }
        }
        assert_eq!(Family::of(&[Some(0.1)]).without(0).holm_with(None), None);
    }
}
