//! The whole pipeline without root.

use crate::bench::{Bench, UnprivilegedUser, errors, permissions, set_umask};
use crate::evidence::make_unbound;
use std::os::unix::fs::PermissionsExt;

const EXPERIMENT: &str = r#"
title  = "A known effect"
venue  = "sim"
blocks = 16
seed   = 7
margin = "3%"

[subjects.baseline]
[subjects.faster]
sim_effect = "10%"
[subjects.same]
sim_effect = "0.1%"

[[workloads]]
use = "messaging"
primary = ["makespan"]
"#;

#[test]
fn a_known_effect_is_found_and_its_absence_too() {
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    let text = bench.expect(0, &["run", &file]);
    assert!(text.contains("better"), "{text}");
    assert!(text.contains("equivalent"), "{text}");
    assert!(text.contains("report: "), "{text}");
    for name in [
        "experiment.toml",
        "plan.json",
        "records.jsonl",
        "findings.json",
        "report.md",
        "environment.json",
    ] {
        assert!(bench.campaign().join(name).is_file(), "{name}");
    }
    assert_eq!(bench.campaign().join("report.html").is_file(), report::HAS_PAGE);
}

#[test]
fn results_have_the_same_modes_whatever_the_umask() {
    for umask in [0o000, 0o077] {
        let bench = Bench::new();
        let file = bench.experiment("effect", EXPERIMENT);
        let mut command = bench.command(&["run", &file]);
        set_umask(&mut command, umask);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        assert_eq!(permissions(&bench.results()), 0o755, "{umask:o}");
        assert_eq!(permissions(&bench.campaign()), 0o755, "{umask:o}");
        assert_eq!(permissions(&bench.campaign().join("records.jsonl")), 0o644, "{umask:o}");
        for entry in std::fs::read_dir(bench.campaign()).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(permissions(&path) & 0o022, 0, "{umask:o}: {}", path.display());
        }
        // Who could open it could hold it.
        assert_eq!(permissions(&bench.campaign().join("writer.lock")), 0o600, "{umask:o}");
        assert_eq!(permissions(&bench.path().join("run/attempts.lock")), 0o600, "{umask:o}");
        // Beside the journal, in the bench's own directory, which only its user may enter.
        assert_eq!(permissions(&bench.path().join("run/attempts.jsonl")) & 0o133, 0, "{umask:o}");
    }
}

#[test]
fn the_reports_own_command_runs_the_same_plan_again() {
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    bench.expect(0, &["run", &file, "--set", "margin=4%", "--set", "workloads.messaging.loops=50"]);
    let campaign = bench.campaign();
    let report = std::fs::read_to_string(campaign.join("report.md")).unwrap();
    let command =
        report.lines().find_map(|line| line.trim().strip_prefix("schedlab run ")).unwrap();
    let words: Vec<&str> = command.split_whitespace().collect();
    bench.expect(0, &[&["run"], &words[..]].concat());
    let plan = |directory: &std::path::Path| -> serde_json::Value {
        let text = std::fs::read_to_string(directory.join("plan.json")).unwrap();
        let mut plan: serde_json::Value = serde_json::from_str(&text).unwrap();
        // What was written on the command line: the second one names the seed and the venue too.
        assert!(plan.as_object_mut().unwrap().remove("options").is_some());
        plan
    };
    let campaigns = std::fs::read_dir(bench.results()).unwrap();
    let again =
        campaigns.map(|entry| entry.unwrap().path()).find(|path| *path != campaign).unwrap();
    assert_eq!(plan(&again), plan(&campaign));
}

#[test]
fn the_same_seed_gives_the_same_findings_and_reports_byte_for_byte() {
    let findings = || {
        let bench = Bench::new();
        let file = bench.experiment("effect", EXPERIMENT);
        bench.expect(0, &["run", &file]);
        std::fs::read(bench.campaign().join("findings.json")).unwrap()
    };
    assert_eq!(findings(), findings());
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    bench.expect(0, &["run", &file]);
    let formats = ["terminal", "json", "csv", "markdown"];
    let show = |format: &str| bench.expect(0, &["show", "last", "--format", format]);
    let first: Vec<String> = formats.iter().map(|format| show(format)).collect();
    bench.expect(0, &["judge", "last"]);
    let again: Vec<String> = formats.iter().map(|format| show(format)).collect();
    assert_eq!(first, again);
}

#[test]
fn records_that_can_only_be_read_are_judged_and_such_a_directory_is_shown() {
    let user = UnprivilegedUser::new();
    let results = user.path().join("results").display().to_string();
    let command =
        |words: &[&str]| user.command(&[&["--results", results.as_str()], words].concat());
    let ends = |code: i32, arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", errors(&output));
        output
    };
    ends(0, &["run", &user.experiment(EXPERIMENT)]);
    let campaign = std::fs::read_dir(&results).unwrap().next().unwrap().unwrap().path();
    let set_mode = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    set_mode(&campaign.join("records.jsonl"), 0o444);
    let shown = ends(0, &["show", "last"]).stdout;
    assert_eq!(ends(0, &["judge", "last"]).stdout, shown);
    let bundle = user.path().join("bundle.tar.gz").display().to_string();
    ends(0, &["bundle", "last", "--output", &bundle]);
    set_mode(&campaign, 0o555);
    let refused = ends(1, &["judge", "last"]);
    let told = errors(&refused).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("cannot store the findings of"), "{told}");
    assert!(told.contains("Permission denied") && told.contains("schedlab show"), "{told}");
    assert_eq!(ends(0, &["show", "last"]).stdout, shown);
    ends(0, &["report", "last", "--output", "-"]);
    ends(0, &["verify", &bundle]);
    set_mode(&campaign, 0o755);
}

#[test]
fn an_adaptive_campaign_stops_at_the_look_that_answers_and_says_its_level() {
    let bench = Bench::new();
    let text = EXPERIMENT
        .replace("blocks = 16", "blocks = [6, 10, 16, 24, 32]\ncontrol = false\nmargin = \"2%\"")
        .replace("margin = \"3%\"\n", "");
    let early = text.replace("[subjects.same]\nsim_effect = \"0.1%\"\n", "").replace("10%", "5%");
    let file = bench.experiment("early", &early);
    let shown = bench.expect(0, &["plan", &file]);
    assert!(shown.contains("after 6, 10, 16, 24, 32 blocks"), "{shown}");
    let shown = bench.expect(0, &["run", &file]);
    assert!(shown.contains("better"), "{shown}");
    let report: serde_json::Value =
        serde_json::from_str(&bench.expect(0, &["show", "last", "--format", "json"])).unwrap();
    let finding = &report["findings"]["findings"][0];
    let blocks = finding["look"]["blocks"].as_u64().unwrap();
    assert!(blocks < 32, "{finding}");
    assert_eq!(finding["pairs"].as_u64(), Some(blocks));
    assert_eq!(report["design"]["blocks"].as_u64(), Some(blocks));
    assert_eq!(bench.record_lines().len() as u64, 2 * blocks);
    let alpha = finding["look"]["alpha"].as_f64().unwrap();
    let percent = format!("{:.2}", 100.0 * (1.0 - alpha));
    assert!(shown.contains(percent.trim_end_matches('0')), "{percent} in {shown}");
    assert!(shown.contains("every primary question is answered"), "{shown}");
    let plan = std::fs::read_to_string(bench.campaign().join("plan.json")).unwrap();
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(plan["ended_at_look"].as_u64(), Some(blocks));
    // The same command begins anew: this one is finished.
    bench.expect(0, &["run", &file]);
    assert_eq!(std::fs::read_dir(bench.results()).unwrap().count(), 2);

    let bench = Bench::new();
    let none =
        text.replace("[subjects.faster]\nsim_effect = \"10%\"\n", "").replace("0.1%", "0.0001%");
    let file = bench.experiment("none", &none);
    bench.expect(0, &["run", &file]);
    let report: serde_json::Value =
        serde_json::from_str(&bench.expect(0, &["show", "last", "--format", "json"])).unwrap();
    let verdict = report["findings"]["findings"][0]["verdict"].as_str().unwrap().to_owned();
    assert!(["equivalent", "inconclusive"].contains(&verdict.as_str()), "{verdict}");
}

#[test]
fn a_gate_tells_regression_doubt_and_failure_apart() {
    let gated = |effect: &str, scenario: &str, blocks: u32| {
        let bench = Bench::new();
        let text = format!(
            "venue = \"sim\"\nblocks = {blocks}\nseed = 5\ncontrol = false\n[subjects.before]\n\
             [subjects.after]\nsim_effect = \"{effect}\"\n[[workloads]]\nuse = \"messaging\"\n\
             [sim]\nscenario = \"{scenario}\"\n"
        );
        let file = bench.experiment("gate", &text);
        bench.expect(0, &["run", &file]);
        bench
    };
    let limit = ["--limit", "makespan=3%"];
    let gate = |bench: &Bench, code: i32, more: &[&str]| -> String {
        bench.expect(code, &[&["gate", "last"], &limit[..], more].concat())
    };
    let kept = gated("0.001%", "S1", 16);
    assert!(gate(&kept, 0, &[]).contains("kept"));
    let breached = gated("-12%", "S1", 16);
    let text = gate(&breached, 3, &[]);
    assert!(text.contains("BREACHED") && text.contains("may be 3 % worse"), "{text}");
    let annotations = gate(&breached, 3, &["--format", "github"]);
    assert!(annotations.contains("\n::error title=simulated%3A "), "{annotations}");
    let xml = gate(&breached, 3, &["--format", "junit"]);
    assert!(xml.contains("<failure") && xml.contains("failures=\"1\""), "{xml}");
    // Each says before its results what the numbers are and which attempt it is.
    for head in [&text, &annotations, &xml] {
        for words in ["Simulated: no machine was measured.", "Attempt 1 with these subjects"] {
            assert!(head.contains(words), "{words}: {head}");
        }
    }
    let doubtful = gated("-3%", "S2", 6);
    assert!(gate(&doubtful, 5, &[]).contains("inconclusive"));
    // A tool that fails is neither.
    kept.expect(2, &["gate", "last", "--limit", "no_such_metric=3%"]);
    kept.expect(2, &["gate", "last", "--limit", "makespan"]);
    kept.expect(2, &["gate", "no-such-campaign", "--limit", "makespan=3%"]);
    kept.expect(1, &["gate", "last", "--limit", "makespan=3%", "--output", "/no/such/file"]);
}

#[test]
fn a_failing_subject_is_counted_and_not_averaged() {
    let bench = Bench::new();
    let text =
        format!("{EXPERIMENT}\n[sim]\nscenario = \"S1\"\nfailure_rate = {{ faster = 1.0 }}\n");
    let file = bench.experiment("failing", &text);
    let output = bench.run(&["run", &file]);
    assert_eq!(output.status.code(), Some(6), "{}", errors(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("failed"), "{shown}");
}

#[test]
fn a_finished_campaign_is_not_run_again_into_the_same_directory() {
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    bench.expect(0, &["run", &file]);
    bench.expect(0, &["run", &file]);
    assert_eq!(std::fs::read_dir(bench.results()).unwrap().count(), 2);
}

#[test]
fn of_twenty_campaigns_that_compare_a_thing_with_itself_at_most_three_say_otherwise() {
    let mut wrong = 0;
    for seed in 1..=20 {
        let bench = Bench::new();
        let scenario = ["S1", "S2", "S3", "S4", "S5", "S6"][seed % 6];
        let text = format!(
            "title = \"A/A\"\nvenue = \"sim\"\nblocks = 8\nseed = {seed}\n[subjects.a]\n[subjects.b]\nnice = \"0\"\n\
             [[workloads]]\nuse = \"messaging\"\n[[workloads]]\nuse = \"cyclic\"\n[sim]\nscenario = \"{scenario}\"\n"
        );
        let file = bench.experiment("aa", &text);
        bench.expect(0, &["run", &file]);
        let findings = std::fs::read_to_string(bench.campaign().join("findings.json")).unwrap();
        let findings: serde_json::Value = serde_json::from_str(&findings).unwrap();
        let is_wrong = |finding: &serde_json::Value| {
            matches!(finding["verdict"].as_str(), Some("better" | "worse"))
        };
        wrong += usize::from(findings["findings"].as_array().unwrap().iter().any(is_wrong));
    }
    assert!(wrong <= 3, "{wrong} of 20");
}

#[test]
fn wrong_files_are_told_with_every_line_and_exit_2() {
    let bench = Bench::new();
    let file = bench.experiment("wrong", "title = 3\nvenu = \"sim\"\n[subjects.a]\nslcie = \"1ms\"\n[[workloads]]\nuse = \"mesaging\"\n");
    let output = bench.run(&["plan", &file]);
    assert_eq!(output.status.code(), Some(2));
    let told = errors(&output);
    for expected in [":1:", ":2:", ":4:", ":6:", "venue", "slice", "messaging"] {
        assert!(told.contains(expected), "{expected} in\n{told}");
    }
}

#[test]
fn a_template_plans_without_problems() {
    let bench = Bench::new();
    let file = bench.path().join("mine.toml").display().to_string();
    bench.expect(0, &["new", &file]);
    bench.expect(0, &["plan", &file]);
    bench.expect(2, &["new", &file]);
}

#[test]
fn usage_errors_are_2_and_help_is_0() {
    let bench = Bench::new();
    bench.expect(2, &["run"]);
    bench.expect(2, &["frobnicate"]);
    bench.expect(0, &["--help"]);
    bench.expect(0, &["list"]);
    bench.expect(2, &["show", "no-such-campaign"]);
    bench.expect(2, &["run", "no-such-file.toml"]);
}

#[test]
fn a_suite_without_its_place_is_named_with_it() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("suites")).unwrap();
    std::fs::write(bench.path().join("suites/known-effect.toml"), EXPERIMENT).unwrap();
    for command in ["run", "plan"] {
        let output = bench.run(&[command, "known-effect"]);
        assert_eq!(output.status.code(), Some(2));
        let told = errors(&output);
        assert!(told.contains("suites/known-effect.toml is the suite of that name"), "{told}");
    }
}

#[test]
fn a_finding_is_explained_and_an_unknown_one_is_a_usage_error() {
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    bench.expect(0, &["run", &file]);
    let all = bench.expect(0, &["explain"]);
    for subject in ["faster", "same"] {
        assert!(all.contains(&format!("{subject}/messaging/makespan")), "{all}");
    }
    let one = bench.expect(0, &["explain", "faster"]);
    assert!(one.contains("Verdict: clearly better") && !one.contains("same/"), "{one}");
    assert_eq!(one, bench.expect(0, &["explain", "faster/makespan", "--campaign", "last"]));
    bench.expect(2, &["explain", "no-such-subject"]);
}

#[test]
fn reports_are_in_korean_and_english_where_its_letters_cannot_be_shown() {
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    bench.expect(0, &["run", &file]);
    let said = |locale: &str, arguments: &[&str]| {
        let output = bench.command(arguments).env("LC_ALL", locale).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        (String::from_utf8(output.stdout.clone()).unwrap(), errors(&output))
    };
    for (arguments, korean, english) in [
        (["show", "last", "--lang", "ko"], "뚜렷이 더 좋음", "clearly better"),
        (["explain", "faster", "--lang", "ko"], "판정: 뚜렷이 더 좋음", "Verdict: clearly better"),
    ] {
        let (text, told) = said("C.UTF-8", &arguments);
        assert!(text.contains(korean) && !told.contains("ASCII"), "{text}{told}");
        let (text, told) = said("C", &arguments);
        assert!(text.contains(english) && !text.contains(korean), "{text}");
        assert_eq!(told.matches("the locale is plain ASCII").count(), 1, "{told}");
    }
    bench.expect(0, &["judge", "last", "--lang", "ko"]);
    let written = std::fs::read_to_string(bench.campaign().join("report.md")).unwrap();
    assert!(written.contains("## 판정") && !written.contains("## Verdicts"), "{written}");
}

#[test]
fn subjects_of_one_name_have_a_history_for_each_of_their_levels() {
    let bench = Bench::new();
    for number in 0..4 {
        let effect = if number < 2 { "1%" } else { "12%" };
        let text = format!(
            "venue = \"sim\"\nblocks = 6\nseed = {number}\ncontrol = false\nprobes = []\n[subjects.before]\n\
             [subjects.after]\nsim_effect = \"{effect}\"\n[[workloads]]\nuse = \"messaging\"\n"
        );
        let file = bench.experiment(&format!("night-{number:02}"), &text);
        bench.expect(0, &["run", &file]);
    }
    let text = bench.expect(0, &["history", "makespan"]);
    for effect in ["1%", "12%"] {
        let head = format!(
            "simulated: messaging makespan: after (sim_effect = {effect}) against before, 2 campaigns"
        );
        assert!(text.contains(&head), "{text}");
    }
    let series: serde_json::Value =
        serde_json::from_str(&bench.expect(0, &["history", "makespan", "--json"])).unwrap();
    let all = series.as_array().unwrap();
    assert_eq!(all.len(), 2, "{text}");
    assert!(all.iter().all(|one| one["origin"] == "simulated"), "{series}");
    bench.expect(2, &["history", "no_such_metric"]);
}

#[test]
fn every_pair_is_ranked_use_cases_are_weighed_and_claims_are_told() {
    let bench = Bench::new();
    let text = r#"
venue = "sim"
blocks = 12
seed = 11
control = false
comparisons = "all"
[subjects.plain]
[subjects.quick]
sim_effect = "12%"
[subjects.brisk]
sim_effect = "12.2%"
[[workloads]]
use = "messaging"
[[workloads]]
use = "wakeup"
primary = "requests_per_second"
[use_cases.web-server]
wakeup = 0.75
messaging = 0.25
[[claims]]
says = "quick does 12 % more requests"
source = "a leaflet"
metric = "requests_per_second"
subject = "quick"
effect = "+12%"
[[claims]]
says = "quick halves the makespan"
metric = "makespan"
subject = "quick"
effect = "-50%"
[[claims]]
says = "brisk is much better than quick"
metric = "makespan"
subject = "brisk"
reference = "quick"
effect = "better"
"#;
    let file = bench.experiment("all", text);
    let shown = bench.expect(0, &["run", &file]);
    let report: serde_json::Value =
        serde_json::from_str(&bench.expect(0, &["show", "last", "--format", "json"])).unwrap();
    let findings = &report["findings"];
    assert_eq!(findings["families"]["declared"], 6, "three pairs of two metrics");
    let web = &findings["use_cases"][0];
    assert_eq!(web["co_best"], serde_json::json!(["quick", "brisk"]), "{web}");
    assert_eq!(web["ranking"]["ranks"][2]["subject"], "plain");
    assert_eq!(web["ranking"]["ranks"][2]["rank"], 3);
    assert!(web["worst"][0]["ratio"].as_f64().unwrap() > 1.0);
    let outcomes: Vec<&str> = findings["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| claim["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes[..2], ["confirmed", "refuted_in_size"]);
    assert_ne!(outcomes[2], "confirmed");
    for said in ["not told apart as the best: quick, brisk", "worst in", "(a leaflet)", "3 plain"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(!shown.contains("total score"));
    let markdown = bench.expect(0, &["show", "last", "--format", "markdown"]);
    for heading in ["## Use cases", "## Published claims", "## Ranks"] {
        assert!(markdown.contains(heading), "{heading}");
    }
    let lines = bench.expect(0, &["show", "last", "--format", "benchfmt"]);
    assert!(lines.contains("Unit ns/op better=lower"), "{lines}");
    assert_eq!(lines.matches("BenchmarkMessaging/metric=makespan 1 ").count(), 36, "{lines}");
}

#[test]
fn a_pilot_plans_and_an_unfinished_campaign_has_no_verdict() {
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    let told = bench.expect(0, &["plan", &file, "--pilot"]);
    assert!(told.contains("3 pairs of a pilot") && told.contains("with 80 % power"), "{told}");
    let json = bench.expect(0, &["plan", &file, "--pilot", "--json"]);
    let pilot: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(pilot[0]["blocks_for_equivalence"].as_u64().unwrap() >= 5, "{json}");
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let pilots: Vec<String> = std::fs::read_dir(bench.results())
        .unwrap()
        .map(|entry| name(&entry.unwrap().path()))
        .collect();
    assert!(pilots.iter().all(|name| name.starts_with("effect-pilot-")), "{pilots:?}");
    assert_eq!(bench.run(&["show", "last"]).status.code(), Some(2), "a pilot has no verdict");
    assert_eq!(bench.run(&["history", "makespan"]).status.code(), Some(2));

    // A campaign cut off in the middle, as a crash leaves it, on a machine that knows no more of it.
    let bench = Bench::new();
    let file = bench.experiment("effect", EXPERIMENT);
    bench.expect(0, &["run", &file]);
    let campaign = bench.campaign();
    std::fs::remove_dir_all(bench.path().join("run/campaigns")).unwrap();
    let records = std::fs::read_to_string(campaign.join("records.jsonl")).unwrap();
    let half: Vec<&str> = records.lines().take(records.lines().count() / 2).collect();
    std::fs::write(campaign.join("records.jsonl"), half.join("\n") + "\n").unwrap();
    let state = campaign.join("state.json");
    let text = std::fs::read_to_string(&state).unwrap().replace("finished", "unfinished");
    let mut unfinished: serde_json::Value = serde_json::from_str(&text).unwrap();
    unfinished.as_object_mut().unwrap().remove("head").unwrap();
    std::fs::write(&state, unfinished.to_string()).unwrap();
    let shown = bench.expect(0, &["show", "last"]);
    assert!(shown.contains("UNFINISHED") && shown.contains("at every look together"), "{shown}");
    assert!(!shown.contains("better  n="), "{shown}");
    bench.expect(0, &["explain", "--campaign", "last"]);
    let gate = ["gate", "last", "--limit", "makespan=3%"];
    assert_eq!(bench.run(&gate).status.code(), Some(5), "nothing is shown yet");
    let ended = bench.expect(0, &["judge", "last", "--end"]);
    assert!(ended.contains("STOPPED_EARLY") && ended.contains("better"), "{ended}");
    assert!(bench.expect(0, &["show", "last"]).contains("STOPPED_EARLY"));
}

#[test]
fn levels_of_a_factor_are_compared_each_for_itself_and_claims_speak_of_all() {
    let bench = Bench::new();
    let text = r#"
venue = "sim"
blocks = 12
seed = 5
comparisons = "within vcpus"
[factors]
sim_effect = ["0%", "25%"]
vcpus = [1, 2, 4]
[[workloads]]
use = "messaging"
[[workloads]]
use = "messaging"
label = "storm"
groups = 2
[[claims]]
says = "it takes a fifth of the time away"
source = "a leaflet"
metric = "makespan"
subject = { sim_effect = "25 %" }
effect = "-20%"
[[claims]]
says = "on four processors it is worse"
metric = "makespan"
subject = { sim_effect = "25%", vcpus = 4 }
reference = { sim_effect = "0%" }
effect = "worse"
"#;
    let file = bench.experiment("within", text);
    let planned = bench.expect(0, &["plan", &file]);
    assert!(planned.contains("compared within vcpus"), "{planned}");
    let pair = "2: sim-effect-25--vcpus-2 with sim-effect-0--vcpus-2";
    assert!(planned.contains(pair), "{planned}");
    let shown = bench.expect(0, &["run", &file]);
    for said in [
        "makespan by vcpus: 25% / 0% (lower is better)",
        "confirmed in all 6 comparisons",
        "refuted in all 2 comparisons",
    ] {
        assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{shown}");
    }
    let report: serde_json::Value =
        serde_json::from_str(&bench.expect(0, &["show", "last", "--format", "json"])).unwrap();
    assert_eq!(report["format"], "schedlab.report/18");
    assert_eq!(report["findings"]["families"]["declared"], 8, "six pairs and two controls");
    let ladder = &report["ladders"][0];
    assert_eq!(ladder["workloads"], serde_json::json!(["messaging", "storm"]));
    let rungs = ladder["rungs"].as_array().unwrap();
    assert_eq!(rungs.len(), 3);
    for rung in rungs {
        let ratio = rung["cells"][1]["ratio"]["ratio"].as_f64().unwrap();
        assert!((0.76..0.84).contains(&ratio), "{rung}");
    }
    let rows = bench.expect(0, &["show", "last", "--format", "csv"]);
    assert!(rows.contains("sim-effect-25--vcpus-4"), "{rows}");
}

/// The bank is built of its sources before its first trial, except where none of it runs.
#[test]
fn a_simulated_bank_is_not_built_as_its_plan_says() {
    let bench = Bench::new();
    let sources = bench.path().join("sources");
    std::fs::create_dir(&sources).unwrap();
    std::fs::write(sources.join("pom.xml"), "no project").unwrap();
    let text = format!(
        "title = \"A bank that nobody starts\"\nvenue = \"sim\"\nblocks = 5\ncontrol = false\n\
         [subjects.baseline]\n[subjects.nice]\nnice = \"7\"\n\
         [[workloads]]\nuse = \"bank\"\nsource = \"{}\"\ninvocations = 1\n",
        sources.display()
    );
    let file = bench.experiment("simulated-bank", &text);
    let planned = bench.expect(0, &["plan", &file]);
    assert!(!planned.contains("A run first builds"), "{planned}");
    bench.expect(0, &["run", &file]);
    assert_eq!(std::fs::read_dir(&sources).unwrap().count(), 1, "nothing was made in the sources");
}

/// A campaign of the first format, as an earlier version left it.
#[test]
fn campaigns_of_earlier_formats_are_judged_reported_and_resumed() {
    let bench = Bench::new();
    let text = format!(
        "{EXPERIMENT}[[claims]]\nsays = \"it is faster\"\nmetric = \"makespan\"\nsubject = \"faster\"\n\
         effect = \"better\"\n"
    );
    let file = bench.experiment("old", &text);
    bench.expect(0, &["run", &file]);
    let campaign = bench.campaign();
    // No version that wrote these formats bound records.
    make_unbound(&bench, &campaign);
    let aged = |name: &str, new: &str, old: &str| {
        let path = campaign.join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(new), "{name}");
        std::fs::write(&path, text.replace(new, old)).unwrap();
    };
    aged("plan.json", "schedlab.plan/3", "schedlab.plan/2");
    aged("findings.json", "schedlab.findings/16", "schedlab.findings/3");
    let shown = bench.expect(0, &["show", "last"]);
    assert!(shown.contains("confirmed: \"it is faster\""), "{shown}");
    aged("plan.json", "schedlab.plan/2", "schedlab.plan/1");
    aged("findings.json", "schedlab.findings/3", "schedlab.findings/2");
    let shown = bench.expect(0, &["show", "last"]);
    assert!(shown.contains("confirmed: \"it is faster\""), "{shown}");
    bench.expect(0, &["report", "last"]);
    bench.expect(0, &["judge", "last"]);
    let findings = std::fs::read_to_string(campaign.join("findings.json")).unwrap();
    assert!(findings.contains("schedlab.findings/16"), "it is judged anew");
    aged("plan.json", "schedlab.plan/1", "schedlab.plan/99");
    let refused = bench.run(&["show", "last"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        errors(&refused).contains("reads `schedlab.plan/3`, `schedlab.plan/2`, `schedlab.plan/1`")
    );
}
