//! Our own statistics against their targets, through the real planner and judge.

use crate::bench::Bench;

#[test]
fn a_quick_calibration_meets_every_target() {
    let bench = Bench::new();
    let text = bench.expect(0, &["calibrate", "--quick"]);
    for target in 1..=13 {
        let begins = format!("{target:>2}  ");
        assert!(text.lines().any(|line| line.starts_with(&begins)), "{target} in {text}");
    }
    assert!(!text.contains("MISSED"), "{text}");
}

#[test]
fn the_same_calibration_gives_the_same_table() {
    let bench = Bench::new();
    let arguments =
        ["calibrate", "--quick", "--json", "--repetitions", "20", "--only", "S1, 10 blocks"];
    assert_eq!(bench.expect(0, &arguments), bench.expect(0, &arguments));
    bench.expect(2, &["calibrate", "--only", "no such row"]);
}
