//! Sums of durations that a file tells.

/// The sum in nanoseconds; the largest number where it would be larger. A file may tell any number,
/// so that a plain sum may overflow.
pub fn sum_ns(durations: impl IntoIterator<Item = u64>) -> u64 {
    durations.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_any_numbers_does_not_overflow() {
        assert_eq!(sum_ns([1, 2, 3]), 6);
        assert_eq!(sum_ns([u64::MAX, 1]), u64::MAX);
    }
}
