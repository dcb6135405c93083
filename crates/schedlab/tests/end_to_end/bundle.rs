//! A campaign as one file, somewhere else.

use crate::bench::{Bench, errors};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const EXPERIMENT: &str = r#"
title  = "A known effect"
venue  = "sim"
blocks = 8
seed   = 7
margin = "3%"

[subjects.baseline]
[subjects.faster]
sim_effect = "10%"

[[workloads]]
use = "messaging"
primary = ["makespan"]
"#;

/// A bench with a finished campaign, and its bundle.
fn bundled() -> (Bench, PathBuf) {
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    bench.expect(0, &["run", &file]);
    let bundle = bench.path().join("one.schedlab.tar.gz");
    bench.expect(0, &["bundle", "last", "--output", &text(&bundle)]);
    (bench, bundle)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn tool(program: &str, directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{program}: {}", errors(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The bundle with one file changed and its digest made to fit, as somebody with a motive would.
fn forged(bundle: &Path, name: &str, change: impl Fn(&str) -> String) -> PathBuf {
    let home = bundle.with_file_name(format!("forged-{name}"));
    fs::create_dir(&home).unwrap();
    tool("tar", &home, &["-xzf", &text(bundle)]);
    let file = home.join(name);
    let before = fs::read_to_string(&file).unwrap();
    let after = change(&before);
    assert_ne!(before, after, "nothing was changed");
    fs::write(&file, &after).unwrap();
    let sum = tool("sha256sum", &home, &[name]);
    let manifest = home.join("manifest.json");
    let mut document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    let names: Vec<String> = document["files"].as_object().unwrap().keys().cloned().collect();
    document["files"][name] = serde_json::json!({ "size": after.len(), "sha256": sum[..64] });
    fs::write(&manifest, document.to_string()).unwrap();
    let target = bundle.with_file_name(format!("forged-{name}.tar.gz"));
    let words = ["--format=ustar", "-czf", &text(&target), "manifest.json"];
    let files = names.iter().map(String::as_str);
    tool("tar", &home, &words.into_iter().chain(files).collect::<Vec<_>>());
    target
}

#[test]
fn a_bundle_verifies_and_is_shown_in_another_place() {
    let (bench, bundle) = bundled();
    let elsewhere = Bench::new();
    let copy = elsewhere.path().join("received.tar.gz");
    fs::copy(&bundle, &copy).unwrap();
    fs::remove_dir_all(bench.results()).unwrap();
    let copy = text(&copy);
    let verified = elsewhere.expect(0, &["verify", &copy]);
    assert!(verified.contains("verified ("), "{verified}");
    assert!(verified.contains("report.md"), "{verified}");
    assert_eq!(verified.contains("report.html"), report::HAS_PAGE, "{verified}");
    let shown = elsewhere.expect(0, &["show", &copy]);
    assert!(shown.contains("faster"), "{shown}");
    assert!(shown.contains("better"), "{shown}");
    let explained = elsewhere.expect(0, &["explain", "faster", "--campaign", &copy]);
    assert!(explained.contains("faster"), "{explained}");
    let csv = elsewhere.expect(0, &["report", &copy, "--format", "csv", "--output", "-"]);
    assert!(csv.lines().count() > 16, "{csv}");
    elsewhere.expect(2, &["report", &copy]);
    elsewhere.expect(2, &["bundle", &copy]);
    assert!(!elsewhere.results().exists(), "nothing is written where it is looked at");
}

#[test]
fn the_same_campaign_gives_the_same_bundle_and_none_is_overwritten() {
    let (bench, bundle) = bundled();
    let again = bench.path().join("two.tar.gz");
    bench.expect(0, &["bundle", "last", "--output", &text(&again)]);
    assert_eq!(fs::read(&bundle).unwrap(), fs::read(&again).unwrap());
    bench.expect(1, &["bundle", "last", "--output", &text(&again)]);
}

#[test]
fn a_number_that_the_records_do_not_give_is_named() {
    let (bench, bundle) = bundled();
    let findings = forged(&bundle, "findings.json", |text| {
        text.replacen("\"verdict\": \"better\"", "\"verdict\": \"equivalent\"", 1)
    });
    let told = bench.expect(1, &["verify", &text(&findings)]);
    let place =
        "findings.json /findings/0/verdict is \"equivalent\", and the records give \"better\"";
    assert!(told.contains(place), "{told}");
    let report = forged(&bundle, "report.md", |text| text.replacen("better", "worse", 1));
    let told = bench.expect(1, &["verify", &text(&report)]);
    assert!(told.contains("report.md is not what the records give"), "{told}");
    // A record that was changed changes what follows from it.
    let records = forged(&bundle, "records.jsonl", |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.remove(2);
        lines.join("\n") + "\n"
    });
    let told = bench.expect(1, &["verify", &text(&records)]);
    assert!(told.contains("differs: "), "{told}");
}

#[test]
fn what_is_damaged_or_no_bundle_is_an_error_that_says_so() {
    let (bench, bundle) = bundled();
    let mut bytes = fs::read(&bundle).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    let damaged = bench.path().join("damaged.tar.gz");
    fs::write(&damaged, &bytes).unwrap();
    bench.expect(1, &["verify", &text(&damaged)]);
    fs::write(&damaged, &bytes[..middle]).unwrap();
    bench.expect(1, &["verify", &text(&damaged)]);
    fs::write(&damaged, "a letter").unwrap();
    let output = bench.run(&["verify", &text(&damaged)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("cannot unpack"), "{}", errors(&output));
    bench.expect(1, &["verify", "/nonexistent/bundle"]);
}
