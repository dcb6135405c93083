//! Options of the command line: they change a plan as editing the file would.

use crate::catalogue::{CATALOGUE, METRICS, RUN};
use crate::{EXPERIMENT, plan, request};
use model::ParameterValue;
use plan::{OneLine, PlanRequest, one_line};

fn with(overrides: &[(&str, &str)]) -> Vec<(String, String)> {
    overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn an_option_is_the_same_as_editing_the_file() {
    for (key, value, line, edited) in [
        ("blocks", "8", "blocks = 10", "blocks = 8"),
        ("seed", "1", "blocks = 10", "blocks = 10\nseed = 1"),
        ("nice", "-3", "nice = 5", "nice = -3"),
        ("control", "false", "blocks = 10", "blocks = 10\ncontrol = false"),
        ("workloads.wakeup.duration", "1s", "duration = \"4s\"", "duration = \"1s\""),
        ("workloads.wakeup.mode", "closed", "workers = 4", "workers = 4\nmode = \"closed\""),
        (
            "workloads.messaging.load",
            "cpu:1",
            "load = { cpu = 2, session = \"separate\" }",
            "load = \"cpu:1\"",
        ),
        (
            "workloads.messaging.margin.makespan",
            "9%",
            "margin = \"7%\"",
            "margin = { makespan = \"9%\" }",
        ),
        ("subjects.short.base_slice", "1ms", "base_slice = \"0.75ms\"", "base_slice = \"1ms\""),
        (
            "subjects.baseline.policy",
            "idle",
            "[subjects.baseline]",
            "[subjects.baseline]\npolicy = \"idle\"",
        ),
        ("margin.default", "4%", "default = \"3%\"", "default = \"4%\""),
        (
            "workloads.wakeup.primary",
            "[\"requests_per_second\"]",
            "primary = [\"wakeup_latency_p99\", \"requests_per_second\"]",
            "primary = \"requests_per_second\"",
        ),
    ] {
        let file = EXPERIMENT.replacen(line, edited, 1);
        assert_ne!(file, EXPERIMENT, "{line}");
        let overrides = with(&[(key, value)]);
        let by_option = plan(PlanRequest { overrides: &overrides, ..request(EXPERIMENT) }).unwrap();
        assert_eq!(by_option, plan(request(&file)).unwrap(), "{key}");
    }
}

#[test]
fn a_wrong_option_is_named_and_never_adds_an_arm() {
    for (key, value, expected) in [
        (
            "subjects.shrot.nice",
            "1",
            "--set subjects.shrot.nice=1: no subject is called `shrot`; did you mean `short`?",
        ),
        ("workloads.wakup.duration", "1s", "no workload is called `wakup`; did you mean `wakeup`?"),
        ("bloks", "3", "unknown key `bloks`; did you mean `blocks`?"),
        ("blok", "3", "unknown key `blok`; did you mean `blocks`?"),
        ("blocks", "many", "`blocks` takes a whole number, not a text"),
        ("subjects.short", "1", "`subjects.short` needs the factor to set"),
        ("workloads.wakeup", "1", "`workloads.wakeup` needs the key to set"),
        ("title.x", "1", "`title` is a text, so it has no `x`"),
        ("a..b", "1", "`a..b` is not a key"),
        ("colour.x", "1", "there is no table `colour` to set `x` in"),
    ] {
        let overrides = with(&[(key, value)]);
        let problems =
            plan(PlanRequest { overrides: &overrides, ..request(EXPERIMENT) }).unwrap_err();
        let shown = problems[0].to_string();
        assert!(shown.contains(expected), "{shown}");
        assert!(shown.starts_with(&format!("--set {key}={value}: ")), "{shown}");
    }
}

#[test]
fn a_key_that_is_misspelt_and_cut_short_is_suggested_at_the_top_and_in_a_table() {
    for (text, expected) in [
        (format!("blok = 3\n{EXPERIMENT}"), "unknown key `blok`; did you mean `blocks`?"),
        (
            format!("{EXPERIMENT}\n[quick]\nblok = 3\n"),
            "unknown key `blok` in [quick]; did you mean `blocks`?",
        ),
    ] {
        let problems = plan(request(&text)).unwrap_err();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|one| one.ends_with(expected)), "{told:?}");
    }
}

#[test]
fn the_venue_option_wins_and_an_unknown_one_is_refused() {
    let planned = plan(PlanRequest { venue: Some("sim"), ..request(EXPERIMENT) }).unwrap();
    assert_eq!(planned.venue, "sim");
    assert_eq!(planned.sim.unwrap().scenario, "S1");
    let problems = plan(PlanRequest { venue: Some("moon"), ..request(EXPERIMENT) }).unwrap_err();
    assert_eq!(problems[0].given_by.as_deref(), Some("--venue moon"));
    let overrides = with(&[("kernel", "debian:6.18"), ("vm.memory", "1GiB")]);
    let asked = PlanRequest { venue: Some("vm"), overrides: &overrides, ..request(EXPERIMENT) };
    assert_eq!(plan(asked).unwrap().vm.unwrap().memory_bytes, 1 << 30);
}

#[test]
fn quick_cuts_blocks_invocations_and_durations_and_says_so() {
    let planned = plan(PlanRequest { is_quick: true, ..request(EXPERIMENT) }).unwrap();
    assert!(planned.is_quick);
    assert_eq!(planned.blocks.len(), 6);
    assert!(planned.workloads.iter().all(|workload| workload.invocations == 1));
    let duration = &planned.workload("wakeup").unwrap().parameters.0["duration"];
    assert_eq!(*duration, ParameterValue::Duration(2_000_000_000));
    assert_eq!(planned.workload("wakeup").unwrap().expected_ns, 2_000_000_000);
    assert_eq!(planned.notes.len(), 3, "{:?}", planned.notes);
    let short = EXPERIMENT.replace("4s", "0.6s").replace("blocks = 10", "blocks = 5");
    let planned = plan(PlanRequest { is_quick: true, ..request(&short) }).unwrap();
    assert_eq!(planned.blocks.len(), 5);
    let duration = &planned.workload("wakeup").unwrap().parameters.0["duration"];
    assert_eq!(*duration, ParameterValue::Duration(500_000_000), "never below the least");
}

#[test]
fn nothing_follows_from_a_workload_that_cannot_be_read() {
    let text = EXPERIMENT.replace("workers = 4", "workers = 4\nmode = \"open\"").replace(
        "\n[subjects.baseline]",
        "\nuse_cases = { all = { wakeup = 1.0 } }\n\
         claims = [{ says = \"x\", metric = \"requests_per_second\", subject = \"short\", \
         effect = \"better\" }]\n\
         [quick]\nworkloads = [\"wakeup\"]\nsubjects = [\"baseline\", \"short\"]\n\n\
         [subjects.baseline]",
    );
    for is_quick in [false, true] {
        let problems = plan(PlanRequest { is_quick, ..request(&text) }).unwrap_err();
        let causes: Vec<&str> = problems.iter().map(|problem| problem.cause.as_str()).collect();
        assert_eq!(causes, ["`wakeup`: an open loop needs a `rate`"], "{problems:?}");
    }
}

#[test]
fn quick_keeps_the_part_that_the_experiment_names() {
    let text = EXPERIMENT.replace(
        "\n[subjects.baseline]",
        "\nuse_cases = { all = { wakeup = 0.5, messaging = 0.5 }, one = { wakeup = 1.0 } }\n\
         claims = [{ says = \"x\", metric = \"makespan\", subject = \"batch\", effect = \"better\" }]\n\
         [quick]\nsubjects = [\"baseline\", \"short\"]\nblocks = 5\n\n[subjects.baseline]",
    );
    let full = plan(request(&text)).unwrap();
    assert_eq!((full.subjects.len(), full.workloads.len(), full.blocks.len()), (4, 2, 10));
    assert_eq!(full.notes, Vec::<String>::new());
    let quick = plan(PlanRequest { is_quick: true, ..request(&text) }).unwrap();
    let ids: Vec<&str> = quick.subjects.iter().map(|subject| subject.id.as_str()).collect();
    assert_eq!(ids, ["baseline", "baseline-again", "short"]);
    // messaging runs for batch only, which is left out.
    let labels: Vec<&str> = quick.workloads.iter().map(|w| w.label.as_str()).collect();
    assert_eq!(labels, ["wakeup"]);
    assert_eq!(quick.blocks.len(), 5);
    assert_eq!(quick.use_cases.len(), 1);
    assert_eq!(quick.claims.len(), 1, "a claim that is not asked is told as undecided");
    assert_eq!(
        quick.notes,
        [
            "--quick: 2 of 3 subjects: baseline, short",
            "--quick: 1 of 2 workloads: wakeup",
            "--quick: without the use case all, whose workloads do not all run",
            "--quick: 5 blocks instead of 10",
            "--quick: one invocation in each trial",
            "--quick: half the duration of wakeup",
        ]
    );
    let asked =
        with(&[("quick.workloads", "messaging"), ("quick.subjects", "[\"baseline\", \"batch\"]")]);
    let other = PlanRequest { is_quick: true, overrides: &asked, ..request(&text) };
    let other = plan(other).unwrap();
    assert_eq!((other.subjects.len(), other.workloads[0].label.as_str()), (3, "messaging"));
    assert_eq!(other.workloads[0].subjects, ["baseline", "batch"]);
    let unchanged = text.replace("[quick]\nsubjects = [\"baseline\", \"short\"]\nblocks = 5\n", "");
    assert_eq!(
        plan(request(&unchanged)).unwrap().digest,
        full.digest,
        "[quick] decides nothing else"
    );
}

#[test]
fn a_budget_cuts_blocks_then_the_control_and_then_is_a_problem() {
    let full = plan(request(EXPERIMENT)).unwrap();
    let block_ns = full.block_expected_ns(&full.blocks[0]);
    let with_budget =
        |budget_ns| plan(PlanRequest { budget_ns: Some(budget_ns), ..request(EXPERIMENT) });
    for blocks in [10_u64, 9, 7, 5] {
        let planned = with_budget(block_ns * blocks).unwrap();
        assert_eq!(planned.blocks.len() as u64, blocks);
        assert!(planned.subjects[1].is_control);
        assert!(planned.expected_ns() <= block_ns * blocks);
    }
    let tight = with_budget(block_ns * 5 - 1).unwrap();
    assert!(tight.subjects.iter().all(|subject| !subject.is_control));
    assert!(tight.blocks.len() >= 5);
    assert!(tight.expected_ns() < block_ns * 5);
    assert!(tight.notes.iter().any(|note| note.contains("control")), "{:?}", tight.notes);
    let problems = with_budget(block_ns).unwrap_err();
    assert!(problems[0].to_string().contains("even 5 blocks need "), "{}", problems[0]);
    let insisted = EXPERIMENT.replace("nice = 5", "nice = 5\ncontrol = true");
    let request = PlanRequest { budget_ns: Some(block_ns * 5 - 1), ..request(&insisted) };
    assert!(plan(request).is_err(), "a control that was insisted on stays");
    let written = EXPERIMENT.replace("nice = 5", "nice = 5\nbudget = \"1s\"");
    assert_eq!(plan(crate::request(&written)).unwrap_err()[0].line, 6);
}

#[test]
fn few_blocks_are_planned_with_a_warning() {
    let few = EXPERIMENT.replace("blocks = 10", "blocks = 4");
    let planned = plan(request(&few)).unwrap();
    assert!(planned.notes.iter().any(|note| note.contains("at least 5")), "{:?}", planned.notes);
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn one_line_becomes_an_experiment_that_plans() {
    let subjects = strings(&["baseline", "policy=batch,nice=-5", "base_slice=0.75ms"]);
    let command = strings(&["./pro\"g", "--name=a b\\c", "täß\u{7f}"]);
    let metrics = strings(&["rate=regex:Time: (\\d+)\":higher", "p50=json:/a/b:lower"]);
    let primary = strings(&["rate"]);
    let line = OneLine {
        subjects: &subjects,
        command: &command,
        metrics: &metrics,
        primary: &primary,
        blocks: Some(6),
        margin: Some("5%"),
        invocations: Some(1),
        load: Some("cpu:2"),
        venue: Some("host"),
        time_limit: Some("30s"),
    };
    let text = one_line(&CATALOGUE, &line).unwrap();
    let planned = plan(request(&text)).unwrap_or_else(|problems| {
        panic!("{}", plan::render_problems(&problems, "vs.toml", &text))
    });
    let ids: Vec<&str> = planned.subjects.iter().map(|subject| subject.id.as_str()).collect();
    let named = ["baseline", "baseline-again", "policy-batch--nice-minus-5", "base-slice-750us"];
    assert_eq!(ids, named);
    let workload = planned.workload("command").unwrap();
    assert_eq!(RUN.of(&workload.parameters), command);
    assert_eq!(METRICS.of(&workload.parameters)["rate"]["regex"], "Time: (\\d+)\"");
    assert_eq!(METRICS.of(&workload.parameters)["rate"]["direction"], "higher");
    assert_eq!(METRICS.of(&workload.parameters)["p50"]["json"], "/a/b");
    assert_eq!(workload.primary, ["rate"]);
    assert_eq!(workload.time_limit_ns, 30_000_000_000);
    assert_eq!(planned.blocks.len(), 6);
}

#[test]
fn a_one_line_experiment_that_cannot_be_meant_is_refused() {
    let command = strings(&["true"]);
    let two = strings(&["baseline", "nice=1"]);
    let check = |subjects: &[&str], metric: &str, command: &[String], expected: &str| {
        let subjects = strings(subjects);
        let metrics = strings(&[metric]);
        let metrics = if metric.is_empty() { &metrics[..0] } else { &metrics[..] };
        let line = OneLine { subjects: &subjects, command, metrics, ..OneLine::default() };
        let problems = one_line(&CATALOGUE, &line).unwrap_err();
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(shown.iter().any(|problem| problem.contains(expected)), "{shown:?}");
    };
    let two: Vec<&str> = two.iter().map(String::as_str).collect();
    check(&["baseline"], "", &command, "at least two are needed");
    check(&["baseline", "batch"], "", &command, "`batch` is not FACTOR=LEVEL");
    check(&["baseline", "nice=1,nice=2"], "", &command, "`nice` is set twice");
    check(&two, "", &[], "no program to run");
    check(&two, "rate", &command, "there is no NAME=");
    check(&two, "rate=regex:x", &command, "whether a lower or a higher `rate` is better");
    check(&two, "rate=x:lower", &command, "where to find the value is not said");
}

#[test]
fn the_same_subject_twice_on_one_line_is_a_problem() {
    let (subjects, command) = (strings(&["baseline", ""]), strings(&["true"]));
    let line = OneLine { subjects: &subjects, command: &command, ..OneLine::default() };
    let problems = one_line(&CATALOGUE, &line).unwrap_err();
    assert!(problems[0].cause.contains("`baseline` is there twice"), "{problems:?}");
}

#[test]
fn a_plan_that_uses_nothing_new_keeps_the_digest_that_its_campaigns_have() {
    let text = "seed = 7\nvenue = \"sim\"\n[subjects.a]\n[subjects.b]\nnice = 5\n\
                [[workloads]]\nuse = \"messaging\"\n\
                [[claims]]\nsays = \"x\"\nmetric = \"makespan\"\nsubject = \"b\"\neffect = \"better\"\n";
    // Since orders are serially balanced: records of that time are resumed.
    assert_eq!(
        plan(request(text)).unwrap().digest,
        "f272dc21a2c65403d9f333db34877a365edc48574bc5a2885ed5b55dfa14923b"
    );
}
