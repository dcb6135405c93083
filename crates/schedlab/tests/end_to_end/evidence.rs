//! Evidence that was edited: named, and no verdict rests on it.

use crate::bench::{Bench, KNOWN_EFFECT};
use model::{Record, SampleData};
use report::RENDERERS;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A bench with a finished campaign in blocks, and its directory.
fn campaign() -> (Bench, PathBuf) {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    bench.expect(0, &["run", &file]);
    let entries = fs::read_dir(bench.results()).unwrap();
    let directory = entries.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    (bench, directory)
}

fn edit(directory: &Path, name: &str, change: impl Fn(String) -> String) {
    let path = directory.join(name);
    let before = fs::read_to_string(&path).unwrap();
    let after = change(before.clone());
    assert_ne!(before, after, "nothing of {name} was changed");
    fs::write(path, after).unwrap();
}

fn edit_plan(directory: &Path, change: impl Fn(&mut serde_json::Value)) {
    edit(directory, "plan.json", |text| {
        let mut plan: serde_json::Value = serde_json::from_str(&text).unwrap();
        change(&mut plan);
        serde_json::to_string_pretty(&plan).unwrap()
    });
}

fn edit_state(directory: &Path, change: impl Fn(&mut serde_json::Map<String, serde_json::Value>)) {
    edit(directory, "state.json", |text| {
        let mut state: serde_json::Value = serde_json::from_str(&text).unwrap();
        change(state.as_object_mut().unwrap());
        serde_json::to_string_pretty(&state).unwrap()
    });
}

/// The records as an earlier version would have written them.
fn unbind(directory: &Path) {
    edit_lines(directory, |lines| {
        for line in lines {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().remove("chain").unwrap();
            record["format"] = "schedlab.record/2".into();
            *line = record.to_string();
        }
    });
}

/// A campaign as a version left it that bound no records, nor let the machine remember them.
pub fn make_unbound(bench: &Bench, directory: &Path) {
    unbind(directory);
    fs::remove_dir_all(bench.path().join("run/campaigns")).unwrap();
    edit_state(directory, |state| {
        state.retain(|key, _| ["created_unix_ns", "state", "caveats"].contains(&key.as_str()));
        state.insert("format".to_owned(), "schedlab.state/1".into());
    });
}

/// SHA-256 of a text.
fn sum(directory: &Path, text: &str) -> String {
    let file = directory.join("logs/summed");
    fs::write(&file, text).unwrap();
    let output = Command::new("sha256sum").arg(&file).output().unwrap();
    fs::remove_file(file).unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

fn edit_lines(directory: &Path, change: impl Fn(&mut Vec<String>)) {
    edit(directory, "records.jsonl", |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        change(&mut lines);
        lines.join("\n") + "\n"
    });
}

fn makespan(plan: &mut serde_json::Value) -> &mut serde_json::Value {
    let metrics = plan["workloads"][0]["metrics"].as_array_mut().unwrap();
    metrics.iter_mut().find(|metric| metric["id"] == "makespan").unwrap()
}

/// Exchanges words in each document of a campaign, as a search and replacement in all files does.
fn everywhere(directory: &Path, words: &[(&str, &str)]) {
    for name in ["experiment.toml", "plan.json", "records.jsonl", "state.json"] {
        let path = directory.join(name);
        let text = fs::read_to_string(&path).unwrap();
        let changed = words.iter().fold(text, |text, (word, other)| text.replace(*word, other));
        fs::write(path, changed).unwrap();
    }
}

/// A way to edit a campaign, and what is told of it.
type Edit = (&'static str, fn(&Path), &'static [&'static str]);
/// A change of a stored document.
type PlanEdit = fn(&mut serde_json::Value);

const EDITS: &[Edit] = &[
    (
        "margin",
        |directory| edit_plan(directory, |plan| makespan(plan)["margin"] = 0.5.into()),
        &[
            "plan.json is not the plan that the records were made by",
            "plan.json: workloads messaging metrics makespan margin is 0.5, and experiment.toml gives 0.03",
        ],
    ),
    (
        "primary",
        |directory| {
            edit_plan(directory, |plan| {
                plan["workloads"][0]["primary"] = serde_json::json!(["messages_per_second"]);
            });
        },
        &["plan.json: workloads messaging primary is [\"messages_per_second\"], and \
             experiment.toml gives [\"makespan\"]"],
    ),
    (
        "reference",
        |directory| {
            edit_plan(directory, |plan| plan["subjects"].as_array_mut().unwrap().swap(0, 2));
        },
        &["plan.json: reference is faster, and experiment.toml gives baseline"],
    ),
    (
        "level",
        |directory| {
            edit_plan(directory, |plan| plan["subjects"][2]["levels"]["sim_effect"] = "20%".into());
        },
        &["plan.json: subjects faster levels sim_effect is 20%, and experiment.toml gives 10%"],
    ),
    (
        "alpha",
        |directory| edit_plan(directory, |plan| plan["alpha"] = 0.2.into()),
        &["plan.json: alpha is 0.2, and experiment.toml gives 0.05"],
    ),
    (
        "seed",
        |directory| edit_plan(directory, |plan| plan["seed"] = 8.into()),
        &["plan.json: seed is 8, and experiment.toml gives 7"],
    ),
    (
        "number of blocks",
        |directory| {
            edit_plan(directory, |plan| drop(plan["blocks"].as_array_mut().unwrap().pop()));
        },
        &["plan.json: blocks is 7, and experiment.toml gives 8"],
    ),
    (
        "order",
        |directory| {
            edit_plan(directory, |plan| {
                plan["blocks"][0]["sittings"].as_array_mut().unwrap().rotate_left(1);
            });
        },
        &["plan.json: order of the blocks is another"],
    ),
    (
        "deleted block",
        |directory| {
            edit_lines(directory, |lines| lines.retain(|line| !line.contains("\"block\":3,")))
        },
        &["3 records are missing before the record in line 10 (block 5, "],
    ),
    (
        "deleted end",
        |directory| edit_lines(directory, |lines| lines.truncate(21)),
        &[
            "the campaign ended with 24 records, and 21 are there: the last 3, numbers 22 to 24, are \
             missing",
        ],
    ),
    (
        "torn end",
        |directory| {
            edit(directory, "records.jsonl", |text| text[..text.len() - 9].to_owned());
        },
        &[
            "the campaign ended with 24 records, and 23 are there: the last one, number 24, is torn: \
             line 24 of records.jsonl ended after ",
        ],
    ),
    (
        "end without a head",
        |directory| {
            edit_lines(directory, |lines| lines.truncate(18));
            edit_state(directory, |state| drop(state.remove("head").unwrap()));
        },
        &[
            "the campaign ended, and does not name its last record",
            "state.json says that the campaign is finished, and 2 of 8 planned blocks are not whole: \
             block 7 has no record of",
        ],
    ),
    (
        "end with another head",
        |directory| {
            edit_lines(directory, |lines| lines.truncate(18));
            let text = fs::read_to_string(directory.join("records.jsonl")).unwrap();
            let digest = sum(directory, text.lines().last().unwrap());
            edit_state(directory, |state| {
                state["head"] = serde_json::json!({ "records": 18, "digest": digest.as_str() });
            });
        },
        &["2 of 8 planned blocks are not whole: block 7 has no record of"],
    ),
    (
        "end and its blocks",
        |directory| {
            edit_lines(directory, |lines| lines.truncate(21));
            edit_plan(directory, |plan| drop(plan["blocks"].as_array_mut().unwrap().pop()));
            edit_state(directory, |state| drop(state.remove("head").unwrap()));
        },
        &["plan.json: the number of blocks is 7, and was 8 when the first record was stored"],
    ),
    (
        "earlier version",
        |directory| {
            unbind(directory);
            edit_state(directory, |state| drop(state.remove("head").unwrap()));
        },
        &["the records are those of a version that bound none, and state.json says which attempt"],
    ),
    (
        "a stop that became an end",
        |directory| {
            edit_lines(directory, |lines| lines.truncate(18));
            edit_plan(directory, |plan| {
                for (number, index) in [(7, 8), (8, 9)] {
                    let note = format!("block {number} runs again at the end, in a new order: x");
                    plan["notes"].as_array_mut().unwrap().push(note.into());
                    let empty = serde_json::json!({ "index": index, "sittings": [] });
                    plan["blocks"].as_array_mut().unwrap().push(empty);
                }
            });
            let text = fs::read_to_string(directory.join("records.jsonl")).unwrap();
            let digest = sum(directory, text.lines().last().unwrap());
            edit_state(directory, |state| {
                state["head"]["records"] = 18.into();
                state["head"]["digest"] = digest.as_str().into();
            });
        },
        &[
            "how the campaign ended and why, the runs that went on with it, its blocks, its notes",
            "block 9 was added, and has other trials than block 7, which it runs again",
        ],
    ),
    (
        "reason of the end",
        |directory| {
            edit_state(directory, |state| {
                state["state"] = "stopped_early".into();
                state["caveats"] =
                    serde_json::json!([{"code": "STOPPED_EARLY", "detail": "by hand"}]);
            });
        },
        &["how the campaign ended and why"],
    ),
    (
        "end that binds nothing",
        |directory| {
            edit_state(directory, |state| {
                state["format"] = "schedlab.state/2".into();
                state["head"].as_object_mut().unwrap().remove("end").unwrap();
            });
        },
        &["state.json does not bind the end of the campaign"],
    ),
    (
        "format of the plan",
        |directory| edit_plan(directory, |plan| plan["format"] = "schedlab.plan/5".into()),
        &["plan.json: format is schedlab.plan/5, and what it holds is written as schedlab.plan/3"],
    ),
    (
        "format of the state",
        |directory| {
            edit_state(directory, |state| state["format"] = "schedlab.state/4".into());
        },
        &[
            "state.json: format is schedlab.state/4, and what it holds is written as schedlab.state/3",
        ],
    ),
    (
        "resumption",
        |directory| {
            edit_state(directory, |state| {
                let run = serde_json::json!(
                    {"boot_id": "b", "unix_ns": 1, "records": 3, "digest": "d"}
                );
                state.insert("resumptions".to_owned(), serde_json::json!([run]));
            });
        },
        &["the runs that went on with it"],
    ),
    (
        "attempt",
        |directory| {
            edit_state(directory, |state| state["attempt"]["of_question"] = 7.into());
        },
        &["state.json: the attempt is 1 at its plan and 7 at its question"],
    ),
    (
        "title",
        |directory| edit_plan(directory, |plan| plan["title"] = "Another question".into()),
        &[
            "plan.json: title is Another question, and experiment.toml gives A known effect",
            "plan.json: title is `Another question`, and the first record gives `A known effect`",
            "plan.json: name, title, options, notes, whether the seed was drawn, whether it is a pilot \
             or the order of the blocks are not those",
        ],
    ),
    (
        "name",
        |directory| edit_plan(directory, |plan| plan["name"] = "another".into()),
        &["plan.json: name is `another`, and the first record gives `effect`"],
    ),
    (
        "options",
        |directory| {
            edit_plan(directory, |plan| {
                plan["options"] = serde_json::json!(["--set", "margin=3%"]);
            });
        },
        &["plan.json: options is `--set, margin=3%`, and the first record gives absent"],
    ),
    (
        "environment",
        |directory| fs::remove_file(directory.join("environment.json")).unwrap(),
        &["environment.json is missing, and 24 of 24 records name another by its digest"],
    ),
    (
        "reordered records",
        |directory| edit_lines(directory, |lines| lines.swap(4, 5)),
        &[
            "the record in line 6 (block 2, ",
            "does not follow the record that it was written after; none is missing",
        ],
    ),
    (
        "changed record",
        |directory| {
            edit_lines(directory, |lines| {
                lines[7] = lines[7].replacen("\"seed\":", "\"seed\":1", 1)
            });
        },
        &["the record before the record in line 9 (block 3, "],
    ),
    (
        "replaced experiment",
        |directory| {
            edit(directory, "experiment.toml", |text| {
                text.replace("margin = \"3%\"", "margin = \"50%\"")
            });
        },
        &[
            "was made from another text than that which lies beside it",
            "makespan margin is 0.03, and experiment.toml gives 0.5",
        ],
    ),
    (
        "experiment of fewer blocks",
        |directory| {
            edit(directory, "experiment.toml", |text| text.replace("blocks = 8", "blocks = 6"));
        },
        &["plan.json: blocks is 8, and experiment.toml gives 6"],
    ),
    (
        "experiment of more blocks",
        |directory| {
            edit(directory, "experiment.toml", |text| text.replace("blocks = 8", "blocks = 12"));
        },
        &["plan.json: blocks is 8, and experiment.toml gives 12"],
    ),
    (
        "experiment of another seed",
        |directory| {
            edit(directory, "experiment.toml", |text| text.replace("seed   = 7", "seed   = 9"));
        },
        &["plan.json: seed is 7, and experiment.toml gives 9"],
    ),
    (
        "experiment of another parameter",
        |directory| {
            edit(directory, "experiment.toml", |text| {
                text.replace("use = \"messaging\"", "use = \"messaging\"\ngroups = 5")
            });
        },
        &["plan.json: workloads messaging parameters groups count is 4, and experiment.toml \
             gives 5"],
    ),
    (
        "renamed subject",
        |directory| {
            for name in ["plan.json", "records.jsonl"] {
                edit(directory, name, |text| text.replace("\"faster\"", "\"eevdf\""));
            }
        },
        &[
            "was changed after it was written",
            "plan.json: subjects is baseline, baseline-again, eevdf, and experiment.toml gives baseline, baseline-again, faster",
        ],
    ),
    (
        "subject renamed in the experiment, too",
        |directory| {
            for name in ["plan.json", "records.jsonl"] {
                edit(directory, name, |text| text.replace("\"faster\"", "\"eevdf\""));
            }
            edit(directory, "experiment.toml", |text| {
                text.replace("[subjects.faster]", "[subjects.eevdf]")
            });
        },
        &[
            "plan.json: subjects is baseline, baseline-again, eevdf, and the first record gives \
             baseline, baseline-again, faster",
            "was made from another text than that which lies beside it",
            "was changed after it was written",
        ],
    ),
    (
        "subjects exchanged everywhere",
        |directory| {
            everywhere(directory, &[("baseline", "@"), ("faster", "baseline"), ("@", "faster")]);
        },
        &[
            "plan.json: reference is faster, and the first record gives baseline",
            "plan.json: subjects is faster, ",
            ", and the first record gives baseline, baseline-again, faster",
        ],
    ),
    (
        "subjects exchanged in the records",
        |directory| {
            edit(directory, "records.jsonl", |text| {
                let text = text.replace("\"subject\":\"faster\"", "\"subject\":\"@\"");
                let text = text.replace("\"subject\":\"baseline\"", "\"subject\":\"faster\"");
                text.replace("\"subject\":\"@\"", "\"subject\":\"baseline\"")
            });
        },
        &[
            "records.jsonl: subject is ",
            "16 of 24 records are of another subject than plan.json has there",
        ],
    ),
    (
        "workload renamed everywhere",
        |directory| {
            edit(directory, "experiment.toml", |text| {
                text.replace("use = \"messaging\"", "use = \"messaging\"\nlabel = \"storm\"")
            });
            edit_plan(directory, |plan| {
                plan["workloads"][0]["label"] = "storm".into();
                for block in plan["blocks"].as_array_mut().unwrap() {
                    for sitting in block["sittings"].as_array_mut().unwrap() {
                        sitting["workloads"] = serde_json::json!(["storm"]);
                    }
                }
            });
            edit(directory, "records.jsonl", |text| {
                text.replace("\"workload\":\"messaging\"", "\"workload\":\"storm\"")
            });
        },
        &["plan.json: workloads is storm, and the first record gives messaging"],
    ),
    (
        "metric renamed everywhere",
        |directory| everywhere(directory, &[("makespan", "total_time")]),
        &["plan.json: primary is total_time, and the first record gives makespan"],
    ),
];

#[test]
fn whatever_was_edited_is_named_and_leaves_no_verdict() {
    let (bench, directory) = campaign();
    let sound = bench.expect(0, &["show", "last"]);
    assert!(sound.contains("better") && !sound.contains("EVIDENCE_CHANGED"), "{sound}");
    let kept = ["plan.json", "records.jsonl", "experiment.toml", "state.json", "environment.json"]
        .map(|name| (name, fs::read(directory.join(name)).unwrap()));
    for (number, (what, change, told)) in EDITS.iter().enumerate() {
        change(&directory);
        let judged = bench.expect(0, &["judge", "last"]);
        assert!(judged.contains("EVIDENCE_CHANGED"), "{what}: {judged}");
        let findings = fs::read_to_string(directory.join("findings.json")).unwrap();
        let findings: serde_json::Value = serde_json::from_str(&findings).unwrap();
        for finding in findings["findings"].as_array().unwrap() {
            assert_eq!(finding["verdict"], "inconclusive", "{what}: {finding}");
            assert_eq!(finding["obstacle"], "changed_evidence", "{what}: {finding}");
        }
        let bundle = bench.path().join(format!("{number}.tar.gz")).display().to_string();
        bench.expect(0, &["bundle", "last", "--output", &bundle]);
        let verified = bench.expect(1, &["verify", &bundle]);
        for told in *told {
            assert!(verified.contains(told), "{what}: {told}\n{verified}");
        }
        for (name, bytes) in &kept {
            fs::write(directory.join(name), bytes).unwrap();
        }
    }
    bench.expect(0, &["judge", "last"]);
    let bundle = bench.path().join("whole.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--output", &bundle]);
    let verified = bench.expect(0, &["verify", &bundle]);
    assert!(verified.contains("chain of 24 records, plan of experiment.toml"), "{verified}");
    assert!(!verified.contains("not checked"), "{verified}");
}

/// The campaign as somebody with the source would forge it: the values of a subject are doubled, and
/// every digest is computed as the writer of a campaign does.
fn forged(bench: &Bench, directory: &Path) -> PathBuf {
    written_anew(
        bench,
        directory,
        |origin| origin,
        |record| {
            if record.subject == "faster" {
                double(record);
            }
        },
    )
}

/// The campaign with another experiment and other records, as the writer of a campaign writes it.
fn written_anew(
    bench: &Bench,
    directory: &Path,
    experiment: impl Fn(String) -> String,
    change: impl Fn(&mut Record),
) -> PathBuf {
    let loaded = store::load(directory).unwrap();
    let origin = experiment(fs::read_to_string(directory.join(loaded.origin)).unwrap());
    let (home, unix_ns) = (bench.path().join("forged"), loaded.created_unix_ns);
    let mut campaign =
        store::Campaign::create(&home, &loaded.plan, &origin, unix_ns, 0x0a0b).unwrap();
    campaign.note_attempt(loaded.attempt.unwrap()).unwrap();
    if let Some(environment) = &loaded.environment {
        campaign.save_fingerprint(environment).unwrap();
    }
    let mut records = loaded.records;
    for record in &mut records {
        record.chain = None;
        change(record);
        campaign.append(record).unwrap();
    }
    campaign.mark_finished().unwrap();
    campaign.directory().to_owned()
}

fn double(record: &mut Record) {
    for sample in record.invocations.iter_mut().flat_map(|one| &mut one.samples) {
        match &mut sample.data {
            SampleData::Values(values) => values.iter_mut().for_each(|value| *value *= 2.0),
            SampleData::Quotient { numerator, .. } => *numerator *= 2.0,
            SampleData::Histogram(_) | SampleData::Proportion { .. } => {}
        }
    }
}

/// What every command says of a campaign or bundle whose records the machine knows otherwise.
fn refused(bench: &Bench, campaign: &str) {
    let others = "are not those that this machine knew";
    let report = ["report", campaign, "--format", "json", "--output", "-"];
    let commands: [&[&str]; 2] = [&["show", campaign], &report];
    for command in commands {
        let told = bench.expect(0, command).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(others), "{command:?}: {told}");
        assert!(!told.contains("clearly better"), "{command:?}: {told}");
    }
    bench.expect(5, &["gate", campaign, "--limit", "makespan=3%"]);
}

#[test]
fn a_forger_cannot_write_over_what_the_machine_knows() {
    let (bench, directory) = campaign();
    let elsewhere = Bench::new();
    let forged = forged(&bench, &directory);
    let place = forged.display().to_string();
    // Where nobody knows it, all of it fits: it is no seal.
    let bundle = elsewhere.path().join("forged.tar.gz").display().to_string();
    elsewhere.expect(0, &["bundle", &place, "--output", &bundle]);
    assert!(elsewhere.expect(0, &["verify", &bundle]).contains(": verified ("));
    let verified = bench.expect(1, &["verify", &bundle]);
    assert!(verified.contains("the first 24 of 24 records are not those that this"), "{verified}");
    refused(&bench, &bundle);
    refused(&bench, &place);
    assert!(bench.expect(0, &["judge", &place]).contains("EVIDENCE_CHANGED"));
    let own = bench.path().join("own.tar.gz").display().to_string();
    bench.expect(0, &["bundle", &place, "--output", &own]);
    bench.expect(1, &["verify", &own]);
    // A redaction has other digests, and takes with it what was wrong before.
    let redacted = bench.path().join("redacted.tar.gz").display().to_string();
    bench.expect(0, &["bundle", &place, "--redact", "--output", &redacted]);
    let verified = elsewhere.expect(1, &["verify", &redacted]);
    assert!(verified.contains("are not those that this machine knew"), "{verified}");
}

/// An experiment that names what this catalogue lacks gives no plan, which speaks against nobody.
#[test]
fn what_another_catalogue_planned_is_not_re_planned_and_not_accused() {
    let (bench, directory) = campaign();
    let elsewhere = Bench::new();
    let renamed = |origin: String| {
        origin.replace("use = \"messaging\"", "use = \"a-tool-of-theirs\"\nlabel = \"messaging\"")
    };
    let place = written_anew(&bench, &directory, renamed, |_| ()).display().to_string();
    let judged = elsewhere.expect(0, &["judge", &place]);
    assert!(judged.contains("better") && !judged.contains("EVIDENCE_CHANGED"), "{judged}");
    let bundle = elsewhere.path().join("theirs.tar.gz").display().to_string();
    elsewhere.expect(0, &["bundle", &place, "--output", &bundle]);
    let verified = elsewhere.expect(0, &["verify", &bundle]);
    let told = "not checked: not re-planned: this version does not plan experiment.toml: ";
    assert!(verified.contains(told), "{verified}");
    assert!(!verified.contains("plan of experiment.toml"), "{verified}");
}

#[test]
fn records_that_were_made_those_of_an_earlier_version_are_known_and_never_verified() {
    let (bench, directory) = campaign();
    let elsewhere = Bench::new();
    unbind(&directory);
    edit_state(&directory, |state| {
        state.retain(|key, _| ["created_unix_ns", "state", "caveats"].contains(&key.as_str()));
        state.insert("format".to_owned(), "schedlab.state/1".into());
    });
    let place = directory.display().to_string();
    refused(&bench, &place);
    let bundle = elsewhere.path().join("unbound.tar.gz").display().to_string();
    elsewhere.expect(0, &["bundle", &place, "--output", &bundle]);
    for bench in [&bench, &elsewhere] {
        let verified = bench.expect(1, &["verify", &bundle]);
        assert!(!verified.contains("verified ("), "{verified}");
    }
    let verified = elsewhere.expect(1, &["verify", &bundle]);
    assert!(verified.contains("NOT bound: nothing binds 24 of 24 records"), "{verified}");
}

#[test]
fn a_seed_that_was_set_on_the_command_line_is_recorded_and_not_accused() {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    bench.expect(0, &["run", &file, "--set", "seed=11", "--venue", "sim", "--set", "margin=4%"]);
    let directory = bench.campaign();
    let plan = fs::read_to_string(directory.join("plan.json")).unwrap();
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let options = serde_json::json!(["--set", "seed=11", "--set", "margin=4%", "--venue", "sim"]);
    assert_eq!(plan["options"], options);
    edit_lines(&directory, |lines| {
        let mut record: serde_json::Value = serde_json::from_str(&lines[7]).unwrap();
        record["duration_ns"] = 1.into();
        lines[7] = record.to_string();
    });
    let told = bench.expect(0, &["show", "last", "--format", "json"]);
    assert!(told.contains("was changed after it was written"), "{told}");
    assert!(!told.contains("seed is 11"), "{told}");
    // Nor is one that an earlier version did not record.
    edit_plan(&directory, |plan| drop(plan.as_object_mut().unwrap().remove("options").unwrap()));
    let told = bench.expect(0, &["show", "last", "--format", "json"]);
    assert!(!told.contains("seed is 11"), "{told}");
    // One that was changed in the plan alone is.
    edit_plan(&directory, |plan| plan["seed"] = 8.into());
    edit(&directory, "experiment.toml", |text| text.replace("seed   = 7", "seed = 11"));
    let told = bench.expect(0, &["show", "last", "--format", "json"]);
    assert!(told.contains("seed is 8, and experiment.toml gives 11"), "{told}");
}

#[test]
fn choices_of_an_import_that_were_edited_are_named_with_both_values() {
    let bench = Bench::new();
    let mut text = "who,ms\n".to_owned();
    for row in 0..8 {
        let _ = writeln!(text, "a,{}\nb,{}", 10.0 + 0.01 * f64::from(row * 5 % 7), 12.0);
    }
    let table = bench.path().join("table.csv");
    fs::write(&table, text).unwrap();
    let table = table.display().to_string();
    let words = ["import", "csv", &table, "--subject", "who", "--value", "ms:lower"];
    bench.expect(0, &[words.as_slice(), &["--margin", "7%", "--reference", "a"]].concat());
    let directory = bench.campaign();
    let bundle = |name: &str| {
        let bundle = bench.path().join(name).display().to_string();
        bench.expect(0, &["bundle", "last", "--output", &bundle]);
        bundle
    };
    let sound = bundle("sound.tar.gz");
    assert!(bench.expect(0, &["verify", &sound]).contains("not re-planned"));
    edit_plan(&directory, |plan| {
        plan["workloads"][0]["metrics"][0]["margin"] = 0.5.into();
        plan["alpha"] = 0.2.into();
        plan["subjects"].as_array_mut().unwrap().swap(0, 1);
    });
    let verified = bench.expect(1, &["verify", &bundle("edited.tar.gz")]);
    for told in [
        "margin is 0.5, and the import's command line gives 0.07",
        "alpha is 0.2, and the import's command line gives 0.05",
        "reference is b, and the import's command line gives a",
    ] {
        assert!(verified.contains(told), "{told}: {verified}");
    }
}

#[test]
fn a_reference_and_a_title_that_an_import_was_not_asked_for_are_named_with_both_values_too() {
    let bench = Bench::new();
    let mut text = "who,ms\n".to_owned();
    for row in 0..8 {
        let _ = writeln!(text, "a,{}\nb,{}", 10.0 + 0.01 * f64::from(row * 5 % 7), 12.0);
    }
    let table = bench.path().join("table.csv");
    fs::write(&table, text).unwrap();
    let table = table.display().to_string();
    bench.expect(0, &["import", "csv", &table, "--subject", "who", "--value", "ms:lower"]);
    let directory = bench.campaign();
    let kept = fs::read(directory.join("plan.json")).unwrap();
    let edits: [(&str, PlanEdit); 2] = [
        ("plan.json: reference is b, and the first record gives a", |plan| {
            plan["subjects"].as_array_mut().unwrap().swap(0, 1);
        }),
        (
            "plan.json: title is Which?, and the import of these files gives Imported: table.csv",
            |plan| plan["title"] = "Which?".into(),
        ),
    ];
    for (number, (words, change)) in edits.into_iter().enumerate() {
        let bundle = |name: String, code: i32| {
            let bundle = bench.path().join(name).display().to_string();
            bench.expect(0, &["bundle", "last", "--output", &bundle]);
            bench.expect(code, &["verify", &bundle])
        };
        let sound = bundle(format!("sound-{number}.tar.gz"), 0);
        assert!(!sound.contains("differs"), "{sound}");
        edit_plan(&directory, change);
        let verified = bundle(format!("edited-{number}.tar.gz"), 1);
        assert!(verified.contains(words), "{words}: {verified}");
        fs::write(directory.join("plan.json"), &kept).unwrap();
    }
}

#[test]
fn of_an_import_whose_records_alone_were_changed_nothing_is_said_of_its_plan() {
    let bench = Bench::new();
    let directory = import_in_blocks(&bench);
    edit(&directory, "records.jsonl", |text| {
        let text = text.replace("\"a\"", "\"@\"").replace("\"b\"", "\"a\"");
        text.replace("\"@\"", "\"b\"")
    });
    let bundle = bench.path().join("records.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--output", &bundle]);
    let verified = bench.expect(1, &["verify", &bundle]);
    let told = "records.jsonl: the first record gives b as reference, and plan.json, whose digest it \
                names, gives a";
    assert!(verified.contains(told), "{verified}");
    assert!(!verified.contains("plan.json: reference"), "{verified}");
}

/// An import of a table with blocks, whose plan says all that one can say of where it is from.
fn import_in_blocks(bench: &Bench) -> PathBuf {
    let mut text = "who,round,ms\n".to_owned();
    for round in 0..8 {
        let noise = 0.01 * f64::from(round * 5 % 7);
        let _ = writeln!(text, "a,{round},{}\nb,{round},{}", 10.0 + noise, 12.0 + noise);
    }
    let table = bench.path().join("table.csv");
    fs::write(&table, text).unwrap();
    let table = table.display().to_string();
    let words = ["import", "csv", &table, "--subject", "who", "--block", "round"];
    bench.expect(0, &[words.as_slice(), &["--value", "ms:lower"]].concat());
    bench.campaign()
}

#[test]
fn each_field_that_says_where_an_import_is_from_is_named_with_both_values() {
    let bench = Bench::new();
    let directory = import_in_blocks(&bench);
    let kept = fs::read(directory.join("plan.json")).unwrap();
    let edits: [(&str, PlanEdit); 10] = [
        ("imported format is tsv, and the first record gives csv", |plan| {
            plan["imported"]["format"] = "tsv".into();
        }),
        ("imported file is `other.csv`, and the first record gives `table.csv`", |plan| {
            plan["imported"]["file"] = "other.csv".into();
        }),
        ("imported file is `other.csv`, and the import's command line gives `table.csv`", |plan| {
            plan["imported"]["file"] = "other.csv".into();
        }),
        ("imported digest is 00, and the first record gives ", |plan| {
            plan["imported"]["digest"] = "00".into();
        }),
        ("imported design is {\"unblocked\":", |plan| {
            plan["imported"]["design"] =
                serde_json::json!({"unblocked": {"dimensions": [], "fixed": []}});
        }),
        ("imported order is unknown, and the first record gives ", |plan| {
            plan["imported"]["order"] = "unknown".into();
        }),
        ("imported caveats is ", |plan| {
            plan["imported"]["caveats"] =
                serde_json::json!([{"code": "COPIED", "detail": "by hand"}]);
        }),
        ("imported parts is core, and the first record gives absent", |plan| {
            plan["imported"]["parts"] = serde_json::json!(["core"]);
        }),
        ("imported copied is b, and the first record gives absent", |plan| {
            plan["imported"]["copied"] = serde_json::json!(["b"]);
        }),
        ("resolutions is 0.5, and the first record gives ", |plan| {
            plan["workloads"][0]["metrics"][0]["resolution"] = 0.5.into();
        }),
    ];
    for (number, (words, change)) in edits.into_iter().enumerate() {
        edit_plan(&directory, change);
        let bundle = bench.path().join(format!("{number}.tar.gz")).display().to_string();
        bench.expect(0, &["bundle", "last", "--output", &bundle]);
        let verified = bench.expect(1, &["verify", &bundle]);
        assert!(verified.contains(&format!("plan.json: {words}")), "{words}: {verified}");
        assert!(!verified.contains("plan.json: title is"), "{words}: {verified}");
        fs::write(directory.join("plan.json"), &kept).unwrap();
    }
}

#[test]
fn names_that_were_exchanged_in_every_file_of_an_import_are_named_with_both_values() {
    let bench = Bench::new();
    let directory = import_in_blocks(&bench);
    let exchanged = |text: String| {
        let text = text.replace("\"a\"", "\"@\"").replace("\"b\"", "\"a\"");
        text.replace("\"@\"", "\"b\"")
    };
    edit(&directory, "plan.json", exchanged);
    edit(&directory, "records.jsonl", exchanged);
    let bundle = bench.path().join("exchanged.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--output", &bundle]);
    let verified = bench.expect(1, &["verify", &bundle]);
    for told in [
        "plan.json: reference is b, and the first record gives a",
        "plan.json: subjects is b, a, and the first record gives a, b",
    ] {
        assert!(verified.contains(told), "{told}: {verified}");
    }
}

/// The plan says by a field that a look ended the campaign, and that of an earlier version by a
/// note.
#[test]
fn an_adaptive_campaign_that_was_cut_says_how_many_of_its_blocks_it_has() {
    assert_cut_after_a_look(|plan| {
        plan["ended_at_look"] = 10.into();
        plan["format"] = "schedlab.plan/11".into();
        plan["notes"].as_array_mut().unwrap().push("told by a field".into());
    });
    assert_cut_after_a_look(|plan| {
        plan.as_object_mut().unwrap().remove("ended_at_look");
        plan["format"] = "schedlab.plan/3".into();
        let note = "stopped at the look after 10 of at most 16 blocks: every primary question is \
                    answered";
        plan["notes"].as_array_mut().unwrap().push(note.into());
    });
}

fn assert_cut_after_a_look(end: impl Fn(&mut serde_json::Value)) {
    let bench = Bench::new();
    let text = KNOWN_EFFECT.replace("blocks = 8", "blocks = [6, 10, 16]");
    let file = bench.experiment("adaptive", &text);
    bench.expect(0, &["run", &file]);
    let directory = bench.campaign();
    fs::remove_dir_all(bench.path().join("run/campaigns")).unwrap();
    edit_lines(&directory, |lines| lines.truncate(15));
    edit_state(&directory, |state| {
        state["state"] = "unfinished".into();
        state.remove("head").unwrap();
    });
    edit_plan(&directory, end);
    bench.expect(0, &["judge", "last", "--end"]);
    let shown = bench.expect(0, &["show", "last"]).replace('\u{a0}', " ");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("5 of 16 planned blocks of 3 subjects"), "{shown}");
    let bundle = bench.path().join("cut.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--output", &bundle]);
    let verified = bench.expect(1, &["verify", &bundle]);
    let told = "the campaign stopped at the look after 10 blocks, and 5 blocks are whole";
    assert!(verified.contains(told), "{verified}");
}

#[test]
fn records_that_were_cut_off_and_run_again_are_missed() {
    let (bench, directory) = campaign();
    let file = bench.path().join("effect.toml").display().to_string();
    edit_lines(&directory, |lines| lines.truncate(18));
    edit_state(&directory, |state| {
        state.remove("head").unwrap();
        state["state"] = "unfinished".into();
    });
    let told = bench.expect(0, &["show", "last"]);
    assert!(told.contains("EVIDENCE_CHANGED"), "{told}");
    let output = bench.run(&["run", &file]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("this machine knew 24 records of the campaign"), "{errors}");
    let removed =
        "records were removed before a run went on: the machine knew 24, and 18 were there";
    let shown = bench.expect(0, &["show", "last"]);
    assert!(shown.contains("EVIDENCE_CHANGED") && !shown.contains("better  n="), "{shown}");
    // Another machine learns it from the chain.
    let bundle = bench.path().join("cut.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--output", &bundle]);
    let elsewhere = Bench::new();
    let verified = elsewhere.expect(1, &["verify", &bundle]);
    assert!(verified.contains(removed), "{verified}");
    assert!(verified.contains("it was resumed 1 time, after 18 records"), "{verified}");
}

#[test]
fn a_plan_with_a_value_that_no_plan_has_is_refused_and_its_field_named() {
    let (bench, directory) = campaign();
    let kept = fs::read(directory.join("plan.json")).unwrap();
    let edits: [(&str, PlanEdit); 5] = [
        ("subjects is empty", |plan| plan["subjects"] = serde_json::json!([])),
        ("workloads is empty", |plan| plan["workloads"] = serde_json::json!([])),
        ("blocks is empty", |plan| plan["blocks"] = serde_json::json!([])),
        ("margin is -0.03", |plan| makespan(plan)["margin"] = (-0.03).into()),
        ("alpha is 0,", |plan| plan["alpha"] = 0.into()),
    ];
    for (words, change) in edits {
        edit_plan(&directory, change);
        for command in ["judge", "show", "bundle"] {
            let output = bench.run(&[command, "last"]);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{command}: {errors}");
            assert!(errors.contains("plan.json") && errors.contains(words), "{command}: {errors}");
        }
        let explained = bench.run(&["explain", "faster", "--campaign", "last"]);
        assert_eq!(explained.status.code(), Some(1), "{words}");
        fs::write(directory.join("plan.json"), &kept).unwrap();
    }
}

#[test]
fn a_redaction_begins_a_chain_of_its_own_and_hides_no_edit() {
    let (bench, directory) = campaign();
    let file = |name: &str| bench.path().join(name).display().to_string();
    bench.expect(0, &["bundle", "last", "--redact", "--output", &file("redacted.tar.gz")]);
    let verified = bench.expect(0, &["verify", &file("redacted.tar.gz")]);
    assert!(verified.contains("chain of 24 records"), "{verified}");
    assert!(verified.contains("not checked: not re-planned: it is redacted"), "{verified}");
    let place = bench.path().join("unpacked");
    fs::create_dir(&place).unwrap();
    let bundle = file("redacted.tar.gz");
    let tar = Command::new("tar").arg("-xzf").arg(bundle).arg("-C").arg(&place).status();
    assert!(tar.unwrap().success());
    edit(&place, "experiment.toml", |text| text.replace("margin = \"3%\"", "margin = \"9%\""));
    let unpacked = place.display().to_string();
    bench.expect(0, &["bundle", &unpacked, "--output", &file("replaced.tar.gz")]);
    let verified = bench.expect(1, &["verify", &file("replaced.tar.gz")]);
    let replaced = "experiment.toml is not what the redaction left: its digest is ";
    assert!(verified.contains(replaced), "{verified}");
    edit_lines(&directory, |lines| lines.retain(|line| !line.contains("\"block\":3,")));
    bench.expect(0, &["bundle", "last", "--redact", "--output", &file("edited.tar.gz")]);
    let verified = bench.expect(1, &["verify", &file("edited.tar.gz")]);
    assert!(verified.contains("3 records are missing"), "{verified}");
}

#[test]
fn a_redaction_has_no_path_that_a_plan_had_or_was_given() {
    let bench = Bench::new();
    let experiment = "title = \"Where it runs\"\nvenue = \"sim\"\nblocks = 6\n[subjects.a]\n\
                      [subjects.b]\nnice = \"5\"\n[[workloads]]\nuse = \"command\"\nrun = \"zorkbench\"\n\
                      directory = \"zork/own\"\n[workloads.metrics.rate]\nregex = '([0-9]+)'\n\
                      direction = \"higher\"\n";
    bench.expect(0, &["run", &bench.experiment("where", experiment)]);
    edit_plan(&bench.campaign(), |plan| {
        let directory = &mut plan["workloads"][0]["parameters"]["directory"]["text"];
        assert_eq!(*directory, "zork/own");
        *directory = "wumpus/other".into();
    });
    let file = bench.path().join("edited.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--redact", "--output", &file]);
    let told = "parameters directory text is `redacted-setting-1`, and experiment.toml gives \
                `redacted-setting-2`";
    let verified = bench.expect(1, &["verify", &file]);
    assert!(verified.contains(told), "{verified}");
    let output = Command::new("tar").args(["-xzOf", &file]).output().unwrap();
    let texts = String::from_utf8_lossy(&output.stdout);
    assert!(texts.contains(told), "{texts}");
    for secret in ["wumpus", "zork"] {
        assert!(!texts.contains(secret), "{secret}: {texts}");
    }
}

#[test]
fn a_redaction_that_is_redacted_again_verifies_and_names_each_campaign_before() {
    let (bench, directory) = campaign();
    let state_of = |directory: &Path| -> serde_json::Value {
        serde_json::from_slice(&fs::read(directory.join("state.json")).unwrap()).unwrap()
    };
    let mut heads = vec![state_of(&directory)["head"]["digest"].clone()];
    let mut place = directory;
    let mut told = Vec::new();
    for name in ["once", "twice", "thrice"] {
        let bundle = bench.path().join(format!("{name}.tar.gz"));
        let [source, target] = [&place, &bundle].map(|path| path.display().to_string());
        bench.expect(0, &["bundle", &source, "--redact", "--output", &target]);
        let verified = bench.expect(0, &["verify", &target]);
        assert!(verified.contains("chain of 24 records"), "{name}: {verified}");
        let sentence = verified.lines().find(|line| line.contains("it is redacted: ")).unwrap();
        told.push(sentence.split_once("it is redacted: ").unwrap().1.to_owned());
        place = bench.path().join(name);
        fs::create_dir(&place).unwrap();
        let tar = Command::new("tar").arg("-xzf").arg(&bundle).arg("-C").arg(&place).status();
        assert!(tar.unwrap().success());
        let state = state_of(&place);
        let mut named = state["redacted_before"].as_array().cloned().unwrap_or_default();
        named.push(state["redaction_of"].clone());
        assert_eq!(named, heads, "{name}");
        heads.push(state["head"]["digest"].clone());
    }
    assert_eq!(told[1..], [told[0].clone(), told[0].clone()], "nothing is counted twice");
}

#[test]
fn options_are_part_of_what_is_compared() {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    let options = ["--set", "margin=4%", "--set", "seed=11", "--set", "blocks=7", "--quick"];
    bench.expect(0, &[["run", &file].as_slice(), &options].concat());
    let bundle = bench.path().join("one.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--output", &bundle]);
    let verified = bench.expect(0, &["verify", &bundle]);
    assert!(verified.contains("plan of experiment.toml"), "{verified}");
    let shown = bench.expect(0, &["show", "last", "--format", "json"]);
    assert_eq!(shown.matches("seed=").count(), 1, "told once how to repeat it");
}

#[test]
fn the_whole_report_has_the_link_of_each_record_of_a_campaign_and_of_a_bundle() {
    let (bench, directory) = campaign();
    let stored = fs::read_to_string(directory.join("records.jsonl")).unwrap();
    let link = |record: &serde_json::Value| record["chain"]["previous"].clone();
    let expected: Vec<serde_json::Value> =
        stored.lines().map(|line| link(&serde_json::from_str(line).unwrap())).collect();
    assert!(expected.len() == 24 && expected.iter().all(serde_json::Value::is_string));
    let bundle = bench.path().join("one.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--output", &bundle]);
    for campaign in ["last", &bundle] {
        for command in [
            &["show", campaign, "--format", "json"][..],
            &["report", campaign, "--format", "json", "--output", "-"],
        ] {
            let report: serde_json::Value =
                serde_json::from_str(&bench.expect(0, command)).unwrap();
            let records = report["records"].as_array().unwrap();
            assert_eq!(records.iter().map(link).collect::<Vec<_>>(), expected, "{command:?}");
        }
    }
}

#[test]
fn a_bundle_that_is_not_there_is_a_wrong_argument() {
    let bench = Bench::new();
    bench.expect(2, &["verify", "nowhere.tar.gz"]);
}

#[test]
fn a_campaign_of_an_earlier_version_says_that_its_records_are_bound_to_nothing() {
    let (bench, directory) = campaign();
    make_unbound(&bench, &directory);
    for command in ["judge", "show"] {
        let told = bench.expect(0, &[command, "last"]);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("EVIDENCE_UNBOUND"), "{told}");
        assert!(told.contains("Records are bound neither to the plan nor"), "{told}");
        assert!(told.contains("better") && !told.contains("EVIDENCE_CHANGED"), "{told}");
    }
    for format in ["markdown", "json"] {
        let report = bench.expect(0, &["show", "last", "--format", format]);
        assert!(report.contains("bound neither to the plan nor to each other"), "{report}");
    }
    // The page has it in its data, and elsewhere people read what the text and Markdown say.
    for renderer in RENDERERS.iter().filter(|renderer| renderer.is_text()) {
        let format = renderer.describe().id;
        let report = bench.expect(0, &["show", "last", "--format", format]);
        let is_page = renderer.extension() == "html";
        assert!(is_page || report.contains("EVIDENCE_UNBOUND"), "{format}: {report}");
    }
    let bundle = bench.path().join("one.tar.gz").display().to_string();
    bench.expect(0, &["bundle", "last", "--output", &bundle]);
    let verified = bench.expect(1, &["verify", &bundle]);
    assert!(
        verified.contains("not checked: no record is bound, neither to the plan"),
        "{verified}"
    );
    assert!(verified.contains("NOT bound: nothing binds 24 of 24 records"), "{verified}");
    assert!(!verified.contains("chain of") && !verified.contains("verified"), "{verified}");
}

#[test]
fn the_marks_of_a_redaction_cannot_be_shed() {
    let (bench, directory) = campaign();
    edit_plan(&directory, |plan| makespan(plan)["margin"] = 0.5.into());
    let unpacked = |name: &str| {
        let bundle = bench.path().join(format!("{name}.tar.gz"));
        bench.expect(0, &["bundle", "last", "--redact", "--output", &bundle.display().to_string()]);
        let home = bench.path().join(name);
        fs::create_dir(&home).unwrap();
        let tar = Command::new("tar").arg("-xzf").arg(&bundle).arg("-C").arg(&home).status();
        assert!(tar.unwrap().success());
        home
    };
    let packed_again = |home: &Path, code: i32| {
        let place = home.display().to_string();
        bench.expect(0, &["judge", &place]);
        let bundle = format!("{place}-again.tar.gz");
        let _ = fs::remove_file(&bundle);
        bench.expect(0, &["bundle", &place, "--output", &bundle]);
        bench.expect(code, &["verify", &bundle])
    };
    let flawed = unpacked("flawed");
    assert!(packed_again(&flawed, 1).contains("makespan margin is 0.5"));
    edit_state(&flawed, |state| drop(state.remove("flaws").unwrap()));
    let told = packed_again(&flawed, 1);
    assert!(told.contains("what it says of a redaction, is not what the first record"), "{told}");

    edit_plan(&directory, |plan| makespan(plan)["margin"] = 0.03.into());
    let sound = unpacked("sound");
    let told = packed_again(&sound, 0);
    assert!(told.contains("it is redacted: nothing was found to replace"), "{told}");
    assert!(told.contains("not checked: not re-planned: it is redacted"), "{told}");
    edit_state(&sound, |state| {
        state.remove("redaction_of").unwrap();
        state.remove("redaction").unwrap();
    });
    let told = packed_again(&sound, 1);
    assert!(told.contains("was made from another text"), "{told}");
}

const QUESTION: &str = r#"
venue = "sim"
blocks = 6
seed = 7
control = false
[subjects.a]
[subjects.b]
sim_effect = "10%"
[[workloads]]
use = "messaging"
primary = ["makespan"]
"#;

#[test]
fn repeating_a_question_is_seen_under_whatever_names_and_a_lost_count_is_unknown() {
    let bench = Bench::new();
    let attempt = |name: &str, text: &str| {
        let file = bench.experiment(name, text);
        bench.expect(0, &["run", &file, "--fresh"]);
        let report = bench.expect(0, &["show", "last", "--format", "markdown"]);
        let is_attempt =
            |line: &&str| line.contains("this very plan") || line.contains("at this experiment");
        report.lines().find(is_attempt).unwrap().to_owned()
    };
    let first = attempt("sim", QUESTION);
    assert!(first.starts_with("Attempt 1 with") && !first.contains("other campaign"), "{first}");
    let again = attempt("sim", QUESTION);
    assert!(again.starts_with("Attempt 2 with") && !again.contains("other campaign"), "{again}");
    let third = attempt("sim", QUESTION);
    assert!(third.starts_with("Attempt 3 with") && !third.contains("other campaign"), "{third}");
    assert!(third.contains("attempt 3 at this very plan"), "{third}");
    assert!(bench.expect(0, &["show", "last"]).contains("Attempt 3 with these subjects"));
    let swapped = QUESTION.replace(
        "[subjects.a]\n[subjects.b]\nsim_effect = \"10%\"",
        "[subjects.b]\nsim_effect = \"10%\"\n[subjects.a]",
    );
    let renamed = QUESTION.replace("subjects.b", "subjects.bb");
    let label = QUESTION.replace("primary", "label = \"mine\"\nprimary");
    let more = format!("{QUESTION}[[workloads]]\nuse = \"pipe\"\n");
    let shared = QUESTION.replace("[subjects.a]\n", "[subjects.a]\nnice = \"5\"\n");
    let shared = shared.replace("[subjects.b]\n", "[subjects.b]\nnice = \"5\"\n");
    let seed = QUESTION.replace("seed = 7", "seed = 8\ntitle = \"Another title\"");
    let variants = [
        ("swap", swapped),
        ("rename", renamed),
        ("label", label),
        ("more", more),
        ("shared", shared),
        ("seed", seed),
    ];
    for (number, (name, text)) in variants.iter().enumerate() {
        assert_ne!(text, QUESTION);
        let told = attempt(name, text);
        let own = format!("Attempt {} with these subjects and workloads", number + 4);
        let others = format!("{} other campaigns compared two subjects that differ", number + 3);
        assert!(told.starts_with(&own) && told.contains(&others), "{name}: {told}");
        assert!(told.contains("attempt 1 at this very plan"), "{name}: {told}");
    }
    fs::remove_file(bench.path().join("run/attempts.jsonl")).unwrap();
    for _ in 0..2 {
        let lost = attempt("sim", QUESTION);
        assert!(lost.contains("unknown: nobody counted, or the count was lost"), "{lost}");
    }
}

/// The same plan gives the same bytes, however often it ran before; reports say how often.
#[test]
fn findings_do_not_hold_which_attempt_they_are_of() {
    let bench = Bench::new();
    let file = bench.experiment("sim", QUESTION);
    for _ in 0..3 {
        bench.expect(0, &["run", &file, "--fresh"]);
    }
    assert!(bench.expect(0, &["show", "last"]).contains("Attempt 3 with these subjects"));
    let campaigns = fs::read_dir(bench.results()).unwrap().map(|entry| entry.unwrap().path());
    let findings: Vec<Vec<u8>> = campaigns
        .filter(|path| path.is_dir())
        .map(|path| fs::read(path.join("findings.json")).unwrap())
        .collect();
    assert_eq!(findings.len(), 3);
    assert!(findings.iter().all(|one| *one == findings[0]));
}

/// Twenty-six cuts of one table are twenty-six attempts, whatever margin and metric they have.
#[test]
fn an_import_under_other_choices_is_one_more_attempt_and_its_report_says_so_at_its_head() {
    let bench = Bench::new();
    let table = |name: &str, rows: u8| {
        let mut text = "who,ms,mb\n".to_owned();
        for row in 0..rows {
            for (who, ms) in [("a", 10.0), ("b", 10.4)] {
                let noise = f64::from(row * 5 % 7);
                let _ = writeln!(text, "{who},{},{}", ms + 0.01 * noise, 70.0 + 0.3 * noise);
            }
        }
        let path = bench.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (whole, cut) = (table("whole.csv", 10), table("cut.csv", 9));
    let usual = ["--subject", "who", "--value", "ms:lower", "--value", "mb:lower"];
    let attempt = |file: &str, more: &[&str]| {
        let words = ["import", "csv", file].into_iter().chain(usual).chain(more.iter().copied());
        let head = bench.expect(0, &words.collect::<Vec<&str>>());
        let markdown = bench.expect(0, &["show", "last", "--format", "markdown"]);
        let is_attempt =
            |line: &&str| line.contains("this very import") || line.contains("at this import");
        let told = markdown.lines().find(is_attempt).unwrap().to_owned();
        // What is drawn when the import ends has it at its head, too, whatever the lines' ends.
        let (first, ..) = told.split_once(',').unwrap();
        let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(head.contains(first), "{first}: {head}");
        told
    };
    let first = attempt(&whole, &[]);
    assert!(first.starts_with("Attempt 1 with") && !first.contains("other import"), "{first}");
    let again = attempt(&whole, &[]);
    assert!(again.starts_with("Attempt 2 with") && !again.contains("other import"), "{again}");
    for (others, (file, more)) in
        [(&whole, &["--margin", "5%"]), (&whole, &["--primary", "mb"]), (&cut, &["--alpha", "0.1"])]
            .into_iter()
            .enumerate()
    {
        let told = attempt(file, more);
        let own = format!("Attempt {} with these subjects or files", others + 3);
        let others = format!("{} other imports were of this format", others + 2);
        assert!(told.starts_with(&own) && told.contains(&others), "{more:?}: {told}");
        assert!(told.contains("attempt 1 at this very import"), "{more:?}: {told}");
    }
    fs::remove_file(bench.path().join("run/attempts.jsonl")).unwrap();
    let lost = attempt(&whole, &[]);
    assert!(lost.contains("unknown: nobody counted, or the count was lost"), "{lost}");
}
