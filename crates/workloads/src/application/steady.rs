//! Whether a service has warmed up: tested, not assumed.

/// Windows that must agree.
const WINDOWS: usize = 3;
/// How far each may be from their middle.
const WITHIN: f64 = 0.10;

/// Whether the last windows agree: the largest and the smallest lie within a tenth of the one
/// between them. A service that still gets faster has its newest window below the others.
pub(super) fn is_steady(windows_ns: &[u64]) -> bool {
    let Some(last) = windows_ns.last_chunk::<WINDOWS>() else { return false };
    let mut sorted = last.map(|window_ns| window_ns as f64);
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[WINDOWS / 2];
    sorted.iter().all(|window| (window - middle).abs() <= WITHIN * middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_windows_that_agree_are_steady() {
        for (windows, expected) in [
            (&[][..], false),
            (&[100, 100], false),
            (&[100, 100, 100], true),
            (&[100, 91, 109], true),
            (&[100, 89, 100], false),
            (&[100, 100, 111], false),
            (&[659, 302, 460, 180, 134, 135, 45], false),
            (&[659, 302, 460, 46, 45, 44], true),
        ] {
            assert_eq!(is_steady(windows), expected, "{windows:?}");
        }
    }

    #[test]
    fn one_that_gets_a_fifth_faster_each_time_never_is() {
        let windows: Vec<u64> = (0..20).map(|n| (1e9 * 0.8_f64.powi(n)) as u64).collect();
        assert!((0..windows.len()).all(|end| !is_steady(&windows[..end])));
    }
}
