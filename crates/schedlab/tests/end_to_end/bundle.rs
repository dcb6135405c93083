//! A campaign as one file, somewhere else.

use crate::bench::{Bench, KNOWN_EFFECT, assert_inert, errors, wait_until};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// A bench with a finished campaign, and its bundle.
fn bundled() -> (Bench, PathBuf) {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
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
    repacked(bundle, "forged", name, |home, files| {
        let file = home.join(name);
        let before = fs::read_to_string(&file).unwrap();
        let after = change(&before);
        assert_ne!(before, after, "nothing was changed");
        fs::write(&file, &after).unwrap();
        let sum = tool("sha256sum", home, &[name]);
        files[name] = serde_json::json!({ "size": after.len(), "sha256": sum[..64] });
    })
}

/// The bundle without one file, of which its manifest knows nothing either.
fn without(bundle: &Path, name: &str) -> PathBuf {
    repacked(bundle, "without", name, |_, files| {
        files.as_object_mut().unwrap().remove(name).unwrap();
    })
}

/// The bundle without one file that its manifest names.
fn lost(bundle: &Path, name: &str) -> PathBuf {
    repacked(bundle, "lost", name, |home, _| fs::remove_file(home.join(name)).unwrap())
}

/// The bundle after something was done to its files and to its manifest's list of them.
fn repacked(
    bundle: &Path,
    how: &str,
    name: &str,
    change: impl Fn(&Path, &mut serde_json::Value),
) -> PathBuf {
    remade(bundle, how, name, |home, manifest| change(home, &mut manifest["files"]))
}

/// The bundle after something was done to its files and to its manifest.
fn remade(
    bundle: &Path,
    how: &str,
    name: &str,
    change: impl Fn(&Path, &mut serde_json::Value),
) -> PathBuf {
    let home = bundle.with_file_name(format!("{how}-{name}"));
    fs::create_dir(&home).unwrap();
    tool("tar", &home, &["-xzf", &text(bundle)]);
    let manifest = home.join("manifest.json");
    let mut document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    change(&home, &mut document);
    let mut names: Vec<String> = document["files"].as_object().unwrap().keys().cloned().collect();
    names.retain(|name| home.join(name).exists());
    fs::write(&manifest, document.to_string()).unwrap();
    let target = bundle.with_file_name(format!("{how}-{name}.tar.gz"));
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
    let refused = elsewhere.run(&["judge", &copy]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("a bundle stays what was verified"), "{}", errors(&refused));
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
    for name in ["findings.json", "report.md", "records.jsonl"] {
        let told = bench.expect(1, &["verify", &text(&without(&bundle, name))]);
        assert!(told.contains(&format!("{name} is missing")), "{told}");
        assert!(!told.contains("schedlab-temporary-"), "{told}");
        let told = bench.expect(1, &["verify", &text(&lost(&bundle, name))]);
        assert_eq!(told.matches(&format!("{name} is missing")).count(), 1, "{told}");
        assert!(!told.contains("schedlab-temporary-"), "{told}");
        assert!(told.contains("NOT what its records give"), "{told}");
    }
    // By another version it may have been drawn otherwise, and that is the manifest's word alone.
    let home = report.with_file_name("forged-report.md");
    let manifest = home.join("manifest.json");
    let mut document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    document["schedlab"] = "0.0.1".into();
    fs::write(&manifest, document.to_string()).unwrap();
    let other = bundle.with_file_name("other.tar.gz");
    let mut words = vec!["--format=ustar", "-czf", other.to_str().unwrap(), "manifest.json"];
    words.extend(document["files"].as_object().unwrap().keys().map(String::as_str));
    tool("tar", &home, &words);
    let told = bench.expect(5, &["verify", &text(&other)]);
    let except = ": verified, except report.md: made by version 0.0.1, and this program is ";
    assert!(told.contains(except) && told.contains(": NOT compared (compared: "), "{told}");
    assert!(!told.contains(": verified ("), "{told}");
    assert!(told.contains("report.md was made by version 0.0.1"), "{told}");
    assert!(told.contains("not compared"), "{told}");
    assert_eq!(told.matches("report.md").count(), 2, "{told}");
    let json = |code: i32, bundle: &Path| -> serde_json::Value {
        let told = bench.expect(code, &["verify", &text(bundle), "--json"]);
        serde_json::from_str(&told).unwrap()
    };
    let document = json(5, &other);
    assert_eq!(document["outcome"], "verified_except");
    assert_eq!(document["not_compared"], serde_json::json!(["report.md"]));
    assert_eq!(document["packed_by"], "0.0.1");
    assert_eq!(document["differs"], serde_json::json!([]));
    assert_eq!(json(0, &bundle)["outcome"], "verified");
    // Of this version, the same report is none of these records.
    let document = json(1, &report);
    assert_eq!(document["outcome"], "differs");
    assert_eq!(document["differs"][0], "report.md is not what the records give");
    // Another version draws otherwise, and judges no otherwise: a number is still named.
    let judged = remade(&findings, "stamped", "findings", |_, manifest| {
        manifest["schedlab"] = "0.0.1".into();
    });
    let told = bench.expect(1, &["verify", &text(&judged)]);
    assert!(told.contains(place) && !told.contains("verified"), "{told}");
    // A record that was changed changes what follows from it.
    let records = forged(&bundle, "records.jsonl", |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.remove(2);
        lines.join("\n") + "\n"
    });
    let told = bench.expect(1, &["verify", &text(&records)]);
    assert!(told.contains("differs: "), "{told}");
}

/// The bundle with a file that its campaign has none of, and that its manifest lists.
fn with_added(bundle: &Path, name: &str) -> PathBuf {
    repacked(bundle, "added", name, |home, files| {
        fs::write(home.join(name), "added").unwrap();
        let sum = tool("sha256sum", home, &[name]);
        files[name] = serde_json::json!({ "size": 5, "sha256": sum[..64] });
    })
}

#[test]
fn a_report_that_no_version_draws_of_such_a_campaign_is_no_part_of_it() {
    let (bench, bundle) = bundled();
    let told = bench.expect(1, &["verify", &text(&with_added(&bundle, "report.xlsx"))]);
    assert!(told.contains("report.xlsx was added"), "{told}");
    assert!(told.contains("NOT what its records give"), "{told}");
    // Beside what the manifest lists lies what it does not.
    let home = bundle.with_file_name("unlisted");
    fs::create_dir(&home).unwrap();
    tool("tar", &home, &["-xzf", &text(&bundle)]);
    fs::write(home.join("report.xlsx"), "added").unwrap();
    let unlisted = bundle.with_file_name("unlisted.tar.gz");
    let manifest = fs::read_to_string(home.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let target = text(&unlisted);
    let mut words = vec!["--format=ustar", "-czf", &target, "manifest.json", "report.xlsx"];
    words.extend(manifest["files"].as_object().unwrap().keys().map(String::as_str));
    tool("tar", &home, &words);
    let told = bench.expect(1, &["verify", &target]);
    assert!(told.contains("does not list what is in the bundle: \"report.xlsx\""), "{told}");
    // A key that nobody reads says nothing of the campaign.
    let keyed = forged(&bundle, "state.json", |text| {
        text.replacen("\"state\":", "\"audited_by\": \"somebody\",\n  \"state\":", 1)
    });
    let told = bench.expect(1, &["verify", &text(&keyed)]);
    assert!(told.contains("state.json: this version writes no key `audited_by`"), "{told}");
    // Of two of one name the last is read, and nothing else says anything of the first.
    let twice = forged(&bundle, "plan.json", |text| {
        text.replacen("\"sim_effect\":", "\"sim_effect\": \"90%\", \"sim_effect\":", 1)
    });
    let told = bench.expect(1, &["verify", &text(&twice)]);
    assert!(told.contains("levels/sim_effect` stands twice"), "{told}");
}

#[test]
fn what_stands_behind_the_last_record_is_named_by_its_line() {
    let (bench, bundle) = bundled();
    let torn = |bytes: &str| {
        format!(
            "differs: records.jsonl does not end with a whole record: line 25 of records.jsonl \
             ended after {bytes} and was dropped"
        )
    };
    let ends = [
        ("{\"half", torn("6 bytes")),
        (" ", torn("1 byte")),
        (
            "{\"half\n",
            "differs: cannot understand line 25 of records.jsonl: half: it ends after 6 bytes, \
             inside a string"
                .to_owned(),
        ),
        (
            "\n\n",
            "differs: cannot understand records.jsonl: lines 25 to 26 are empty, and each line \
             holds a record"
                .to_owned(),
        ),
    ];
    for (number, (end, words)) in ends.into_iter().enumerate() {
        let made = repacked(&bundle, "ended", &number.to_string(), |home, files| {
            let file = home.join("records.jsonl");
            let after = fs::read_to_string(&file).unwrap() + end;
            fs::write(&file, &after).unwrap();
            let sum = tool("sha256sum", home, &["records.jsonl"]);
            files["records.jsonl"] =
                serde_json::json!({ "size": after.len(), "sha256": sum[..64] });
        });
        let told = bench.expect(1, &["verify", &text(&made)]);
        assert!(told.contains(&words), "{words}: {told}");
    }
    // So is what stood there before the campaign was packed, of which reports agree.
    let records = bench.campaign().join("records.jsonl");
    let before = fs::read_to_string(&records).unwrap();
    fs::write(&records, before + "{\"half").unwrap();
    let packed = text(&bundle.with_file_name("packed.tar.gz"));
    bench.expect(0, &["bundle", "last", "--output", &packed]);
    let told = bench.expect(1, &["verify", &packed]);
    assert!(told.contains(&torn("6 bytes")), "{told}");
    assert!(!told.contains("is not what the records give"), "{told}");
}

#[test]
fn findings_without_a_key_that_has_no_value_are_not_those_that_were_written() {
    let (bench, bundle) = bundled();
    let made = forged(&bundle, "findings.json", |text| text.replacen("\"reason\": null,", "", 1));
    let told = bench.expect(1, &["verify", &text(&made)]);
    let words = "differs: findings.json has the values that the records give, and is not written";
    assert!(told.contains(words), "{told}");
}

#[test]
fn each_field_of_a_manifest_is_held_against_the_bundle_or_said_not_to_be_checked() {
    let (bench, bundle) = bundled();
    let told_with = |code: i32, name: &str, of: &Path, change: &dyn Fn(&mut serde_json::Value)| {
        let made = remade(of, "manifest", name, |_, manifest| change(manifest));
        bench.expect(code, &["verify", &text(&made)])
    };
    let verified = |name: &str, of: &Path, change: &dyn Fn(&mut serde_json::Value)| {
        told_with(1, name, of, change)
    };
    let version = |manifest: &mut serde_json::Value| manifest["schedlab"] = "9.9.9".into();
    let told = told_with(5, "version", &bundle, &version);
    let except = "verified, except the version in manifest.json: made by version 9.9.9, and this";
    assert!(told.contains(except), "{told}");
    assert!(told.contains("manifest.json: schedlab is 9.9.9, and this is "), "{told}");
    let told = told_with(5, "reports", &bundle, &|manifest| {
        manifest["schedlab"] = "9.9.9".into();
        manifest["files"].as_object_mut().unwrap().retain(|name, _| !name.starts_with("report."));
    });
    assert!(told.contains("verified, except report.md"), "{told}");
    assert!(told.contains("report.md is not there: version 9.9.9, as the manifest"), "{told}");
    let told = verified("redaction", &bundle, &|manifest| {
        manifest["redaction"] = serde_json::json!({"replaced": {"hosts": 3}, "left_out": []});
    });
    let words = "manifest.json: redaction is `placeholders stand for hosts (3); left out: `, and \
                 state.json gives absent";
    assert!(told.contains(words) && !told.contains("it is redacted"), "{told}");
    let told = verified("format", &bundle, &|manifest| {
        manifest["format"] = "schedlab.bundle/1".into();
    });
    assert!(told.contains("manifest.json: format is schedlab.bundle/1, and this"), "{told}");
    let told = verified("name", &bundle, &|manifest| manifest["campaign"] = "other".into());
    let words = "manifest.json: campaign is other, and plan.json and state.json give effect-";
    assert!(told.contains(words), "{told}");

    let redacted = bench.path().join("redacted.tar.gz");
    bench.expect(0, &["bundle", "last", "--redact", "--output", &text(&redacted)]);
    bench.expect(0, &["verify", &text(&redacted)]);
    let told = verified("public", &redacted, &|manifest| {
        manifest.as_object_mut().unwrap().remove("redaction").unwrap();
    });
    let words =
        "manifest.json: redaction is absent, and state.json gives `nothing was found to replace";
    assert!(told.contains(words) && told.contains("it is redacted: nothing was found"), "{told}");
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
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("cannot unpack"), "{}", errors(&output));
    bench.expect(2, &["show", &text(&damaged)]);
    bench.expect(2, &["verify", "/nonexistent/bundle"]);
}

#[test]
fn what_cannot_be_written_where_it_was_asked_for_says_what_to_do() {
    let (bench, _) = bundled();
    let directory = format!("{}/", bench.path().display());
    for (command, output, remedy) in [
        ("report", directory.as_str(), "give the name of a file in it"),
        ("bundle", "/nonexistent/x", "make the directory that it is to lie in"),
    ] {
        let refused = bench.run(&[command, "last", "--output", output]);
        assert_eq!(refused.status.code(), Some(1), "{command}");
        assert!(errors(&refused).contains(remedy), "{command}: {}", errors(&refused));
    }
}

/// Clears a screen, sets a clipboard, changes colours (C1), turns letters round, and goes on with what
/// looks like a line of ours.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{9b}31m\u{202e}\nFORGED: verified (all)\n";

/// What no bundle is refused for: turns letters round, opens an isolate, hides.
const TURNED: &str = "evil\u{202e}\u{2066}\u{200b}\u{e0041}";

/// Puts a text into one place of a document, or of the first of several lines, and makes its
/// digest fit.
fn put_text(
    home: &Path,
    files: &mut serde_json::Value,
    (name, pointer): (&str, &str),
    hostile: &str,
) {
    let before = fs::read_to_string(home.join(name)).unwrap();
    let (first, others) = match serde_json::from_str::<serde_json::Value>(&before) {
        Ok(_) => (before.as_str(), ""),
        Err(_) => before.split_once('\n').unwrap(),
    };
    let mut document: serde_json::Value = serde_json::from_str(first).unwrap();
    let (place, key) = pointer.rsplit_once('/').unwrap();
    document.pointer_mut(place).unwrap()[key] = hostile.into();
    let after = format!("{document}\n{others}");
    fs::write(home.join(name), &after).unwrap();
    let sum = tool("sha256sum", home, &[name]);
    files[name] = serde_json::json!({ "size": after.len(), "sha256": sum[..64] });
}

#[test]
fn nothing_that_a_bundle_says_is_obeyed_or_passes_for_a_line_of_ours() {
    let (bench, bundle) = bundled();
    let mut made: Vec<PathBuf> = Vec::new();
    for field in ["format", "schedlab", "campaign"] {
        let change = |_: &Path, manifest: &mut serde_json::Value| manifest[field] = HOSTILE.into();
        made.push(remade(&bundle, "hostile", field, change));
    }
    made.push(remade(&bundle, "hostile", "redaction", |_, manifest| {
        manifest["redaction"] =
            serde_json::json!({"replaced": {HOSTILE: 3}, "left_out": [HOSTILE]});
    }));
    made.push(repacked(&bundle, "hostile", "header", |home, files| {
        fs::write(home.join(HOSTILE), "x").unwrap();
        files[HOSTILE] = serde_json::json!({ "size": 1, "sha256": "0".repeat(64) });
    }));
    let places = [
        ("plan.json", "/format"),
        ("plan.json", "/title"),
        ("plan.json", "/venue"),
        ("plan.json", "/subjects/1/id"),
        ("state.json", "/format"),
        ("state.json", "/state"),
        ("findings.json", "/format"),
        ("environment.json", "/kernel.release"),
        ("records.jsonl", "/format"),
        ("records.jsonl", "/subject"),
        ("records.jsonl", "/fingerprint"),
    ];
    for (number, place) in places.into_iter().enumerate() {
        made.push(repacked(&bundle, "hostile", &number.to_string(), |home, files| {
            put_text(home, files, place, HOSTILE);
        }));
        made.push(repacked(&bundle, "turned", &number.to_string(), |home, files| {
            put_text(home, files, place, TURNED);
        }));
    }
    for file in &made {
        let file = text(file);
        let commands: [&[&str]; 2] = [&["verify", &file], &["show", &file]];
        for arguments in commands {
            let output = bench.run(arguments);
            assert_inert(&arguments.join(" "), &output);
            assert!(output.status.code().is_some(), "{arguments:?}");
            let told = String::from_utf8(output.stdout).unwrap();
            let is_forged = told.lines().any(|line| line.starts_with("FORGED"));
            assert!(arguments[0] != "verify" || !is_forged, "{arguments:?}: {told}");
        }
    }
}

const SECRETS: [&str; 7] = [
    "qzalice",
    "zorkbench",
    "zebra-key",
    "globexq",
    "3b2e8e6c-3212-4450-8a1c-d3e9522baded",
    "/srv/",
    "10.77.6.5",
];

const SECRET_EXPERIMENT: &str = r#"
# qzalice wrote this for globexq
title  = "Does globexq gain on qzalice's machine?"
venue  = "sim"
blocks = 6
seed   = 7

[subjects.baseline]
[subjects.for-globexq]
sim_effect = "10%"

[[workloads]]
use = "command"
run = "/var/home/qzalice/zorkbench --key=zebra-key /srv/globexq/x"
directory = "/srv/globexq"
[workloads.metrics.rate]
regex = 'zorkbench made (\d+)'
direction = "higher"
"#;

/// A campaign that holds every secret wherever text of users, programs and machines stands.
fn campaign_with_secrets() -> Bench {
    let bench = Bench::new();
    let file = bench.experiment("globexq-study", SECRET_EXPERIMENT);
    bench.expect(0, &["run", &file]);
    let campaign = bench.campaign();
    let all = SECRETS.join(" ");
    let change = |name: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let path = campaign.join(name);
        let text = fs::read_to_string(&path).unwrap();
        let is_lines = name.ends_with("l");
        let documents = if is_lines { text.lines().collect() } else { vec![&*text] };
        let mut changed = String::new();
        for document in documents {
            let mut value: serde_json::Value = serde_json::from_str(document).unwrap();
            change(&mut value);
            changed += &format!("{value}\n");
        }
        fs::write(&path, changed).unwrap();
    };
    // A campaign of an earlier version, of which nothing is bound: its records can be edited.
    change("plan.json", &|plan| {
        plan["notes"].as_array_mut().unwrap().push(all.clone().into());
    });
    change("environment.json", &|document| {
        let facts = document["fingerprint"].as_object_mut().unwrap();
        facts.insert("boot.id".to_owned(), "3b2e8e6c-3212-4450-8a1c-d3e9522baded".into());
        let line = format!("quiet root=/dev/sda1 globexq.key={all} mitigations=off");
        facts.insert("kernel.command_line".to_owned(), line.into());
        let fingerprint: model::Fingerprint =
            serde_json::from_value(document["fingerprint"].clone()).unwrap();
        document["digest"] = store::fingerprint_digest(&fingerprint).into();
    });
    let environment = fs::read_to_string(campaign.join("environment.json")).unwrap();
    let environment: serde_json::Value = serde_json::from_str(&environment).unwrap();
    change("records.jsonl", &|record| {
        record.as_object_mut().unwrap().remove("chain").unwrap();
        record["format"] = "schedlab.record/2".into();
        record["fingerprint"] = environment["digest"].clone();
        if record["sequence"] != 0 {
            return;
        }
        let reason = format!("exit status 1: {all} and what nobody knows: wumpus-19");
        record["outcome"] = serde_json::json!({"kind": "failed", "reason": reason});
        record["invocations"] =
            serde_json::json!([{"samples": [], "run": null, "failure": reason}]);
        record["caveats"] = serde_json::json!([{"code": "INTERFERENCE", "detail": all}]);
        record["fingerprint_difference"] = serde_json::json!({"load.who": all});
    });
    change("state.json", &|state| {
        state["format"] = "schedlab.state/1".into();
        state["caveats"] = serde_json::json!([{"code": "TORN_RECORD", "detail": all}]);
        state.as_object_mut().unwrap().retain(|key, _| key != "head" && key != "attempt");
    });
    // Nor did that version let the machine remember its records.
    fs::remove_dir_all(bench.path().join("run/campaigns")).unwrap();
    bench
}

#[test]
fn a_redacted_bundle_verifies_says_so_and_holds_no_secret() {
    let bench = campaign_with_secrets();
    let bundle = bench.path().join("public.tar.gz");
    let words = ["bundle", "last", "--redact", "--redact-word", "globexq", "-o", &text(&bundle)];
    let mut command = bench.command(&words);
    let packed = command.env("USER", "qzalice").env("HOME", "/var/home/qzalice").output().unwrap();
    assert!(packed.status.success(), "{}", errors(&packed));
    // All is what its records give, and nothing binds these.
    let verified = bench.expect(1, &["verify", &text(&bundle)]);
    assert!(verified.contains("it is redacted: placeholders stand for"), "{verified}");
    assert!(
        verified.contains("NOT bound: nothing binds 18 of 18 records (compared: "),
        "{verified}"
    );
    assert!(!verified.contains("differs: "), "{verified}");
    let shown = bench.run(&["show", &text(&bundle)]);
    assert!(errors(&shown).contains("it is redacted"), "{}", errors(&shown));
    let report = String::from_utf8(shown.stdout).unwrap();
    assert!(report.contains("Note: redacted: placeholders stand for"), "{report}");
    assert!(report.contains("for-redacted-word-1"), "{report}");

    let home = bench.path().join("unpacked");
    fs::create_dir(&home).unwrap();
    tool("tar", &home, &["-xzf", &text(&bundle)]);
    let mut texts: Vec<(String, String)> = fs::read_dir(&home)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    texts.push(("list of the archive".to_owned(), tool("tar", &home, &["-tvzf", &text(&bundle)])));
    if report::HAS_PAGE {
        let page = fs::read_to_string(home.join("report.html")).unwrap();
        texts.push(("data of the page".to_owned(), data_of(&page)));
    }
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim().to_lowercase();
    for (name, text) in &texts {
        let text = text.to_lowercase();
        for secret in SECRETS.into_iter().chain(["wumpus", "wrote this"]) {
            let place = text.find(secret).map(|at| &text[at.saturating_sub(40)..at + secret.len()]);
            assert_eq!(place, None, "{secret} in {name}");
        }
        assert!(name == "report.html" || host == "localhost" || !text.contains(&host), "{name}");
    }
    let records = &texts.iter().find(|(name, _)| name == "records.jsonl").unwrap().1;
    assert!(records.contains("exit status 1: redacted-output-1"), "{records}");
}

/// The data in a page, whether they are plain or compressed.
fn data_of(page: &str) -> String {
    let (_, behind) = page.split_once("id=\"schedlab-data\">").unwrap();
    let (data, _) = behind.split_once("</script>").unwrap();
    if data.starts_with('{') {
        return data.to_owned();
    }
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("data"), data).unwrap();
    tool("sh", directory.path(), &["-c", "base64 -d data | gzip -dc"])
}

#[test]
fn redaction_needs_to_be_asked_for_and_an_empty_word_is_none() {
    let (bench, _) = bundled();
    bench.expect(2, &["bundle", "last", "--redact-word", "x"]);
    let output = bench.run(&["bundle", "last", "--redact", "--redact-word", " "]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("cannot redact"), "{}", errors(&output));
}

#[test]
fn records_that_were_emptied_do_not_ask_to_overwrite_what_they_once_gave() {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    bench.expect(0, &["run", &file]);
    let campaign = bench.campaign();
    let findings = fs::read(campaign.join("findings.json")).unwrap();
    fs::write(campaign.join("records.jsonl"), "").unwrap();
    let shown = bench.run(&["show", "last"]);
    assert!(errors(&shown).contains("do not belong together"), "{}", errors(&shown));
    let judged = bench.run(&["judge", "last"]);
    assert_eq!(judged.status.code(), Some(1));
    assert!(errors(&judged).contains("do not belong together"), "{}", errors(&judged));
    assert_eq!(fs::read(campaign.join("findings.json")).unwrap(), findings);
}

#[test]
fn a_signature_names_its_key_and_is_none_of_another_key_or_bundle() {
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        testing::skip("ssh-keygen is not here: apt-get install openssh-client");
        return;
    }
    let (bench, bundle) = bundled();
    let key = |name: &str| {
        let words = ["-q", "-t", "ed25519", "-N", "", "-C", "nobody", "-f", name];
        tool("ssh-keygen", bench.path(), &words);
        text(&bench.path().join(name))
    };
    let (own, other) = (key("own"), key("other"));
    let name = text(&bundle);
    let public = |key: &str| format!("{key}.pub");
    let unsigned = bench.expect(1, &["verify", &name, "--signed-by", &public(&own)]);
    assert!(unsigned.contains(".sig is not there"), "{unsigned}");
    fs::remove_file(&bundle).unwrap();
    bench.expect(0, &["bundle", "last", "--output", &name, "--sign", &own]);
    let verified = bench.expect(0, &["verify", &name, "--signed-by", &public(&own)]);
    assert!(verified.contains("signature of ED25519 key SHA256:"), "{verified}");
    let some = bench.expect(0, &["verify", &name]);
    assert!(some.contains("not checked: who signed it: ED25519 key SHA256:"), "{some}");
    let others = bench.expect(1, &["verify", &name, "--signed-by", &public(&other)]);
    assert!(others.contains("differs: signature: "), "{others}");
    // The signature of this bundle beside another one, and what is no signature.
    let forged = forged(&bundle, "plan.json", |plan| plan.replace("0.02", "0.05"));
    let beside = |bundle: &Path| PathBuf::from(format!("{}.sig", text(bundle)));
    fs::copy(beside(&bundle), beside(&forged)).unwrap();
    let moved = bench.expect(1, &["verify", &text(&forged)]);
    assert!(moved.contains("differs: signature: "), "{moved}");
    for (content, word) in
        [("\u{1b}[2Jno signature\n", "signature: "), (&"A".repeat(100_000), "too large")]
    {
        fs::write(beside(&bundle), content).unwrap();
        let broken = bench.expect(1, &["verify", &name]);
        assert!(broken.contains(word) && !broken.contains('\u{1b}'), "{broken}");
    }
    // Without ssh-keygen a signature that was asked for is never passed over.
    let without = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        let output = command.env("PATH", bench.path()).output().unwrap();
        (output.status.code(), errors(&output))
    };
    fs::write(beside(&bundle), "a signature").unwrap();
    let (code, told) = without(&["verify", &name, "--signed-by", &public(&own)]);
    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("openssh-client"), "{told}");
    // A private key is no public one, and a file that is none signs nothing.
    let private = bench.run(&["verify", &name, "--signed-by", &own]);
    assert_eq!(private.status.code(), Some(2), "{}", errors(&private));
    let unsigned = text(&bench.path().join("unsigned.tar.gz"));
    let no_key = bench.run(&["bundle", "last", "--output", &unsigned, "--sign", &name]);
    assert_eq!(no_key.status.code(), Some(2), "{}", errors(&no_key));
    assert!(!Path::new(&unsigned).exists(), "what nobody signed is not left behind");
}

/// A search path on which this script stands in for ssh-keygen.
fn with_keygen(bench: &Bench, script: &str) -> String {
    let programs = bench.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let program = programs.join("ssh-keygen");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_key_that_is_no_file_is_refused_and_what_cannot_be_signed_leaves_no_bundle() {
    let (bench, bundle) = bundled();
    let (fifo, unsigned) = (bench.path().join("key"), bench.path().join("unsigned.tar.gz"));
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let (key, to, bundle) = (text(&fifo), text(&unsigned), text(&bundle));
    let refused: [&[&str]; 2] = [
        &["verify", &bundle, "--signed-by", &key],
        &["bundle", "last", "--output", &to, "--sign", &key],
    ];
    for arguments in refused {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", errors(&output));
        assert!(errors(&output).contains("it is a FIFO, not a file"), "{}", errors(&output));
    }
    let path = with_keygen(&bench, "printf 'no key\\r\\033[2J\\n' >&2\nexit 1");
    let mut command = bench.command(&["bundle", "last", "--output", &to, "--sign", &bundle]);
    let output = command.env("PATH", path).output().unwrap();
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("ssh-keygen: no key"), "{told}");
    assert!(!told.contains(['\r', '\u{1b}']), "{told}");
    let names = fs::read_dir(bench.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("unsigned")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_a_killed_command_had_unpacked_goes_when_the_next_one_starts() {
    let (bench, bundle) = bundled();
    let (temporary, bundle) = (bench.path().join("temporary"), text(&bundle));
    fs::create_dir(&temporary).unwrap();
    // The signature is checked once the bundle is unpacked: so long this waits for a writer.
    let fifo = bench.path().join("awaited");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let path = with_keygen(&bench, &format!("exec cat '{}'", fifo.display()));
    let signature = format!("{bundle}.sig");
    let command = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.env("TMPDIR", &temporary).env("PATH", &path);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let left = || -> Vec<PathBuf> {
        fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    for (signal, next) in [(Signal::KILL, "verify"), (Signal::TERM, "show")] {
        fs::write(&signature, "a signature").unwrap();
        let mut child = command(&["verify", &bundle]).spawn().unwrap();
        let mut writer = None;
        wait_until("the signature is checked", || {
            let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            writer = rustix::fs::open(&fifo, flags, Mode::empty()).ok();
            writer.is_some()
        });
        assert!(left().iter().any(|directory| directory.join("state.json").exists()));
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        drop(writer);
        fs::remove_file(&signature).unwrap();
        let of_killed = left();
        // What can be heard leaves nothing; else the files and what the signature was checked with.
        let count = if signal == Signal::KILL { 2 } else { 0 };
        assert_eq!(of_killed.len(), count, "{of_killed:?}");
        // A young one may be that of a process which has not locked it yet.
        assert!(command(&[next, &bundle]).status().unwrap().success(), "{next}");
        assert_eq!(left(), of_killed, "{next}");
        for directory in &of_killed {
            let earlier = SystemTime::now() - Duration::from_secs(120);
            File::open(directory).unwrap().set_modified(earlier).unwrap();
        }
        assert!(command(&[next, &bundle]).status().unwrap().success(), "{next}");
        assert!(left().is_empty(), "{next}: {:?}", left());
    }
}
