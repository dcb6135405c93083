//! Order statistics without sorting everything.

/// The value of the given rank from 0, which must be below the count; the slice is
/// left partitioned around it.
pub(crate) fn select(values: &mut [f64], rank: usize) -> f64 {
    *values.select_nth_unstable_by(rank, f64::total_cmp).1
}

/// A number as an integer of the same order, for bisection over all doubles.
pub(crate) fn ordered(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// The number of which `ordered` is the integer.
pub(crate) fn from_ordered(integer: i64) -> f64 {
    f64::from_bits((integer ^ (((integer >> 63) as u64) >> 1) as i64) as u64)
}

/// The smallest double of [low, high] at which `holds`, which stays true above it
/// and is true at `high`: at most 64 questions.
pub(crate) fn smallest_double(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (ordered(low), ordered(high));
    while low < high {
        let middle = low + ((high as i128 - low as i128) / 2) as i64;
        if holds(from_ordered(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // Of the two zeros the positive one.
    from_ordered(high) + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_the_order_of_numbers() {
        let ascending = [f64::NEG_INFINITY, -3.5, -1e-300, -0.0, 0.0, 5e-324, 2.0, f64::INFINITY];
        for pair in ascending.windows(2) {
            assert!(ordered(pair[0]) < ordered(pair[1]), "{pair:?}");
            assert_eq!(from_ordered(ordered(pair[0])).to_bits(), pair[0].to_bits());
        }
    }

    #[test]
    fn bisection_finds_the_very_double() {
        let third = 1.0 / 3.0;
        assert_eq!(smallest_double(-1e300, 1e300, |x| x >= third), third);
        assert_eq!(smallest_double(-5.0, 5.0, |x| x >= -2.0), -2.0);
    }
}
