//! Corrections for asking many questions at once.

/// Holm's step-down adjusted p-values, in the order given (Holm 1979):
/// padj_(i) = max over j <= i of min(1, (m - j + 1) p_(j)). NaN counts as 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p_values = &known(p_values);
    let order = ascending(p_values);
    let mut adjusted = vec![0.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (position, index) in order.iter().enumerate() {
        let factor = (p_values.len() - position) as f64;
        highest = highest.max((factor * p_values[*index]).min(1.0));
        adjusted[*index] = highest;
    }
    adjusted
}

/// Benjamini-Hochberg q-values, in the order given (1995):
/// q_(i) = min over j >= i of min(1, m p_(j) / j). NaN counts as 1.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let p_values = &known(p_values);
    let order = ascending(p_values);
    let count = p_values.len() as f64;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut lowest: f64 = 1.0;
    for (position, index) in order.iter().enumerate().rev() {
        lowest = lowest.min(count * p_values[*index] / (position + 1) as f64);
        adjusted[*index] = lowest;
    }
    adjusted
}

/// A p that could not be computed is no evidence.
fn known(p_values: &[f64]) -> Vec<f64> {
    p_values.iter().map(|p| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }).collect()
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]).then(a.cmp(b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    /// R: p.adjust(c(.01, .04, .03, .005), "holm") and "BH".
    #[test]
    fn both_agree_with_p_adjust() {
        let p_values = [0.01, 0.04, 0.03, 0.005];
        assert!(close(&holm(&p_values), &[0.03, 0.06, 0.06, 0.02]));
        assert!(close(&benjamini_hochberg(&p_values), &[0.02, 0.04, 0.04, 0.02]));
        assert!(holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn adjusting_keeps_the_order_and_never_lowers_a_p(values in prop::collection::vec(0.0_f64..=1.0, 1..30)) {
            for adjusted in [holm(&values), benjamini_hochberg(&values)] {
                for (i, a) in values.iter().enumerate() {
                    prop_assert!(adjusted[i] >= a - 1e-15 && adjusted[i] <= 1.0);
                    for (j, b) in values.iter().enumerate() {
                        prop_assert!(a >= b || adjusted[i] <= adjusted[j] + 1e-15);
                    }
                }
            }
        }
    }
}
