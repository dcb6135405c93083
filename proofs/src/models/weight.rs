//! What a nice value is worth: `sched_prio_to_weight` of kernel/sched/core.c, each level 1.25
//! times the next.

/// Weight of nice 0, and of one ns of virtual time.
pub(super) const NICE_0: u64 = 1024;

const WEIGHTS: [u64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// By `static_prio`, which is nice + 120.
pub(super) fn weight(static_prio: u64) -> u64 {
    let index = static_prio.saturating_sub(100).min(39);
    WEIGHTS[usize::try_from(index).unwrap_or(39)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_quarter_and_the_middle_is_1024() {
        assert_eq!((weight(100), weight(120), weight(139)), (88761, NICE_0, 15));
        for prio in 100..139 {
            let ratio = weight(prio) as f64 / weight(prio + 1) as f64;
            assert!((1.15..1.35).contains(&ratio), "{prio}: {ratio}");
        }
    }
}
