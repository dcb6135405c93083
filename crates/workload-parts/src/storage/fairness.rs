//! How evenly something is divided.

/// Jain's index of what equals got (Jain, Chiu, Hawe 1984): 1 where all got the same, 1/n where
/// one got everything, nothing where nobody got anything.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share.powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn jains_index_is_one_for_equals_and_one_nth_for_a_winner() {
        assert_eq!(jain(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain(&[0.0, 9.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8));
        assert_eq!(jain(&[0.0, 0.0]), None, "0/0 is no fairness");
    }
}
