//! Two campaigns side by side, from the command line.

use crate::bench::{Bench, KNOWN_EFFECT, errors};

#[test]
fn two_campaigns_stand_side_by_side_as_directories_and_as_bundles() {
    let bench = Bench::new();
    let before = bench.experiment("before", KNOWN_EFFECT);
    bench.expect(0, &["run", &before]);
    let changed = KNOWN_EFFECT.replace("10%", "-8%").replace("blocks = 8", "blocks = 10");
    let more = "[[workloads]]\nuse = \"wakeup\"\nprimary = [\"request_latency_p99\"]\n";
    let after = bench.experiment("after", &format!("{changed}{more}"));
    bench.expect(0, &["run", &after]);

    let told = bench.expect(0, &["compare", "before", "after"]);
    for said in [
        "A: A known effect",
        "makespan, faster against baseline",
        "\n  ▲ A  +",
        "\n  ▼ B   -8.",
        "clearly worse",
        "messaging, wakeup",
        "Asked by B alone",
        "No verdict across campaigns: what differs between them is confounded with time.",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    // Said of both, although they do not differ in it.
    assert_eq!(told.matches("Simulated: no machine was measured.").count(), 2, "{told}");
    assert_eq!(told.matches("   Attempt ").count(), 2, "{told}");
    assert!(!told.contains('\u{1b}'), "no colours in a pipe: {told}");
    let blocks = told.lines().find(|line| line.trim_start().starts_with("blocks")).unwrap();
    let words: Vec<&str> = blocks.split_whitespace().collect();
    assert_eq!(words, ["blocks", "A:", "8", "B:", "10"]);
    assert!(!told.contains("Asked by A alone"), "{told}");

    let bundle = bench.path().join("after.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "after", "--output", &bundle]);
    let of_bundle = bench.expect(0, &["compare", "before", &bundle]);
    assert_eq!(told, of_bundle, "a bundle tells what its campaign does");

    let mut plain = bench.command(&["compare", "before", "last", "-v"]);
    let output = plain.env("LC_ALL", "C").env("COLUMNS", "50").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 50), "{text}");

    let missing = bench.run(&["compare", "before", "nobody"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(errors(&missing).contains("nobody"), "{}", errors(&missing));
    assert_eq!(bench.run(&["compare", "before"]).status.code(), Some(2));
}
