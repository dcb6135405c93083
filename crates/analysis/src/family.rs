//! Correction over the declared family (STATISTICS 2.7).

use stats::{benjamini_hochberg, holm};

/// p-values of a family; a question without one counts as 1: it was asked.
pub(crate) fn holm_of(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    adjusted(p_values, holm)
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
