//! Counting the pairs of a series that fall, by merge sort.

/// Pairs of an earlier and a later value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pairs {
    /// The later value is smaller.
    pub(crate) falling: i64,
    /// Both are equal.
    pub(crate) equal: i64,
}

/// Counts in O(n log n) (Knight 1966). NaN must not occur.
pub(crate) fn inversions(values: &[f64]) -> Pairs {
    let mut from = values.to_vec();
    let mut into = vec![0.0; values.len()];
    let mut falling = 0;
    let mut width = 1;
    while width < values.len() {
        for start in (0..values.len()).step_by(2 * width) {
            let middle = (start + width).min(values.len());
            let end = (middle + width).min(values.len());
            falling += merge(&from[start..middle], &from[middle..end], &mut into[start..end]);
        }
        std::mem::swap(&mut from, &mut into);
        width *= 2;
    }
    let pairs = |group: &[f64]| group.len() as i64 * (group.len() as i64 - 1) / 2;
    Pairs { falling, equal: from.chunk_by(|a, b| a == b).map(pairs).sum() }
}

/// Merges two ascending pieces and counts the pairs in which the right one is smaller.
fn merge(left: &[f64], right: &[f64], into: &mut [f64]) -> i64 {
    let (mut i, mut j, mut falling) = (0, 0, 0_i64);
    for place in into {
        let takes_right = match (left.get(i), right.get(j)) {
            (Some(own), Some(other)) => other < own,
            (own, _) => own.is_none(),
        };
        if takes_right {
            *place = right[j];
            j += 1;
            falling += (left.len() - i) as i64;
        } else {
            *place = left[i];
            i += 1;
        }
    }
    falling
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_count_is_that_of_all_pairs(values in prop::collection::vec(-9_i32..9, 0..40)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut expected = Pairs { falling: 0, equal: 0 };
            for (index, first) in values.iter().enumerate() {
                for second in &values[index + 1..] {
                    expected.falling += i64::from(second < first);
                    expected.equal += i64::from(second == first);
                }
            }
            prop_assert_eq!(inversions(&values), expected);
        }
    }
}
