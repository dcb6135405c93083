//! Published studies, judged by the figures that they print.

use crate::bench::{Bench, errors};

#[test]
fn a_study_is_judged_by_its_own_figures_without_a_machine_and_a_wrong_name_is_refused() {
    let bench = Bench::new();
    let listed = bench.expect(0, &["studies", "list"]);
    for name in ["eevdf", "iozone", "gateway", "sched-ext-bank", "bfs"] {
        assert!(listed.lines().any(|line| line.starts_with(&format!("{name}: "))), "{listed}");
        let shown = bench.expect(0, &["studies", "show", name]);
        assert!(shown.contains("\ntables\n") && shown.contains("\nclaims\n"), "{shown}");
        let json = bench.expect(0, &["studies", "judge", name, "--format", "json"]);
        let judged: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(judged["study"], name);
        let markdown = bench.expect(0, &["studies", "judge", name, "--format", "markdown"]);
        let claims = judged["claims"].as_array().unwrap();
        for claim in claims {
            let row = format!("\n| {} |", claim["id"].as_str().unwrap());
            assert!(markdown.contains(&row), "{row}: {markdown}");
        }
    }
    let mut narrow = bench.command(&["studies", "judge", "iozone"]);
    let output = narrow.env("COLUMNS", "60").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let known = "deadline, Random read: 845871.91: a mean of 845871.91, but 891179 is printed";
    assert!(flat.contains(known), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours in a pipe: {text}");

    let wrong = bench.run(&["studies", "judge", "iozon"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(errors(&wrong).contains("did you mean `iozone`?"), "{}", errors(&wrong));
    assert_eq!(bench.run(&["studies", "judge"]).status.code(), Some(2));
}

#[test]
fn what_a_study_published_stands_beside_what_its_suite_gave() {
    let bench = Bench::new();
    let top = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let arguments = ["studies", "run", "gateway", "--venue", "sim", "--set", "blocks=5"];
    let output = bench.command(&arguments).current_dir(top).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let told = String::from_utf8(output.stdout).unwrap();
    let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, beside) = flat.split_once("gateway: published, and simulated by gateway").unwrap();
    for said in [
        "G04 Handing a packet to another worker costs about 9 us published: +9.0 us (32.1 to 41.1)",
        "by its own figures: follows from its own numbers",
        "simulated (the gateway baseline, G04: S2 and S3, the median of two runs): ",
        "not asked by gateway: 7 claims of this study",
    ] {
        assert!(beside.contains(said), "{said}: {beside}");
    }
    let again = bench.expect(0, &["studies", "compare", "gateway"]);
    assert!(told.ends_with(&again), "{again}");

    let other = bench.run(&["studies", "compare", "iozone", "last"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(errors(&other).contains("no claim of this campaign"), "{}", errors(&other));
    let wrong = bench.run(&["studies", "run", "gateway", "--suite", "io-schedulers"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(errors(&wrong).contains("its suites are gateway"), "{}", errors(&wrong));
}
