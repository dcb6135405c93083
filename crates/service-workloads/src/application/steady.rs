//! Whether a service has warmed up: tested, not assumed.

/// Windows on each side of what is compared.
const SIDE: usize = 3;
/// Windows that are needed to tell.
pub(super) const WINDOWS: usize = 2 * SIDE;
/// How far both sides may be from each other.
const WITHIN: f64 = 0.05;

/// Whether the middles of the last three windows and of the three before them lie within a
/// twentieth of each other. One that gets faster by 2 % from window to window does not pass, as a
/// Java service does for two minutes (measured: windows of 4 s, 16 connections, two CPUs); single
/// windows that a neighbour disturbed do not count.
pub(super) fn is_steady(windows_ns: &[u64]) -> bool {
    let Some(last) = windows_ns.last_chunk::<WINDOWS>() else { return false };
    let middle = |side: &[u64]| {
        let mut sorted = side.to_vec();
        sorted.sort_unstable();
        sorted[SIDE / 2] as f64
    };
    let (before, after) = (middle(&last[..SIDE]), middle(&last[SIDE..]));
    (before - after).abs() <= WITHIN * before.min(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_windows_whose_halves_agree_are_steady() {
        for (windows, expected) in [
            (&[][..], false),
            (&[100; 5], false),
            (&[100; 6], true),
            (&[100, 100, 104, 96, 105, 105], true),
            (&[100, 100, 100, 106, 106, 100], false),
            // One that was disturbed.
            (&[100, 900, 100, 100, 101, 700], true),
            (&[659, 302, 460, 180, 134, 135, 45], false),
            (&[659, 302, 460, 46, 45, 44, 45, 45, 44], true),
        ] {
            assert_eq!(is_steady(windows), expected, "{windows:?}");
        }
    }

    #[test]
    fn a_java_service_is_not_taken_for_warm_where_it_rests_for_some_windows() {
        // Answers per second in windows of 4 s, as measured.
        let rates = [
            515, 640, 1114, 1399, 1613, 1690, 1870, 1815, 1789, 2009, 2279, 2362, 2628, 2497, 2716,
            2687, 2795, 2906, 3278, 3589, 3821, 3598, 4067, 4566, 4781, 5269, 5372, 6130, 6715,
        ];
        let windows: Vec<u64> = rates.map(|rate| 16_000_000_000 / rate).to_vec();
        assert!((0..=windows.len()).all(|end| !is_steady(&windows[..end])));
        let warm = [
            windows,
            [7993, 7222, 7612, 7700, 7500, 7650].map(|rate| 16_000_000_000 / rate).to_vec(),
        ];
        assert!(is_steady(&warm.concat()));
    }

    #[test]
    fn one_that_gets_faster_by_2_percent_each_time_never_is() {
        let windows: Vec<u64> = (0..60).map(|n| (1e9 * 0.98_f64.powi(n)) as u64).collect();
        assert!((0..windows.len()).all(|end| !is_steady(&windows[..end])));
    }
}
