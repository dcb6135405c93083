//! Where the buckets of ours lie: the first 2048 hold one value each, every 1024 after them
//! twice as many as those before (HdrHistogram's `AbstractHistogram`, version 2.1, three digits).

/// Buckets that share a step: half of what three digits need, as a power of two.
const HALF: u32 = 10;
/// More than any histogram of ours has.
pub(super) const MOST_BUCKETS: u64 = 1 << 16;

/// The highest value of a bucket.
pub(super) fn highest(index: u64) -> Option<u64> {
    let step = (index >> HALF).saturating_sub(1);
    let within = index - (step << HALF);
    let lowest = within.checked_shl(u32::try_from(step).ok()?)?;
    Some(lowest + (1_u64.checked_shl(u32::try_from(step).ok()?)? - 1))
}

/// The bucket of a value.
pub(super) fn index(value: u64) -> usize {
    let digits = u64::BITS - value.leading_zeros();
    let step = digits.saturating_sub(HALF + 1);
    (step << HALF) as usize + (value >> step) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::{HIGHEST_NS, LAYOUT};

    #[test]
    fn every_bucket_is_where_the_library_has_it() {
        let mut lowest = 0;
        for place in 0.. {
            let highest = highest(place).unwrap();
            assert_eq!(highest, LAYOUT.highest_equivalent(lowest), "bucket {place}");
            assert_eq!([index(lowest), index(highest)], [place as usize; 2]);
            lowest = highest + 1;
            if lowest > HIGHEST_NS {
                break;
            }
        }
    }
}
