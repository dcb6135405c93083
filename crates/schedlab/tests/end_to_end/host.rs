//! On this host, with real processes and real knobs. Tests that need root say so.

use crate::bench::{Bench, errors, wait_until};
use crate::fake_root;
use model::Level;
use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::{Cgroup, ControlFile, Machine};

/// How many random kills; a soak asks for more.
const KILLS: u32 = 12;
/// How often a wish that is to arrive twice at once is tried.
const MOST_WISHES: u32 = 5;
/// Fewer knobs prove little.
const LEAST_KNOBS: usize = 3;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A campaign of short command trials.
fn sleeping(blocks: u32) -> String {
    format!(
        "title = \"sleep\"\nvenue = \"host\"\nblocks = {blocks}\ncontrol = false\nsettle = \"0s\"\nprobes = []\n\
         [subjects.a]\n[subjects.b]\nnice = \"1\"\n\
         [[workloads]]\nuse = \"command\"\nrun = [\"/bin/sleep\", \"0.1\"]\ninvocations = 1\n"
    )
}

/// What its trials do instead: the one behind so many waits for as long as the file is there, so that
/// a campaign is not over before something is done to it.
fn holding(bench: &Bench, trials: u32) -> (String, PathBuf) {
    let (begun, hold) = (bench.path().join("begun"), bench.path().join("hold"));
    std::fs::write(&hold, "").unwrap();
    let script = format!(
        "echo >>{0}; while [ -e {1} ] && [ $(wc -l <{0}) -gt {trials} ]; do sleep 0.02; done; sleep 0.1",
        begun.display(),
        hold.display()
    );
    (script, hold)
}

/// A campaign of five blocks of which the trial behind so many waits for as long as the file is there.
fn held(bench: &Bench, trials: u32) -> (String, PathBuf) {
    let (script, hold) = holding(bench, trials);
    let program = format!("\"/bin/sh\", \"-c\", \"{script}\"");
    let text = sleeping(5).replace("\"/bin/sleep\", \"0.1\"", &program);
    (bench.experiment("sleep", &text), hold)
}

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    let mut command = bench.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

fn wait_for_records(bench: &Bench, count: usize) {
    wait_until(&format!("{count} records"), || {
        let campaigns = std::fs::read_dir(bench.results()).ok();
        let campaign = campaigns.and_then(|mut entries| entries.next()).and_then(Result::ok);
        let text = campaign
            .and_then(|entry| std::fs::read_to_string(entry.path().join("records.jsonl")).ok());
        text.is_some_and(|text| text.lines().count() >= count)
    });
}

/// What each trial of the only campaign went through, by its log of events.
fn phases(bench: &Bench) -> Vec<Vec<String>> {
    let log = std::fs::read_to_string(bench.campaign().join("logs/events.jsonl")).unwrap();
    let mut trials: Vec<Vec<String>> = Vec::new();
    for line in log.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        match event["event"].as_str() {
            Some("trial_started") => trials.push(Vec::new()),
            Some("phase") => {
                let phase = event["phase"].as_str().unwrap_or_default().to_owned();
                trials.last_mut().unwrap().push(phase);
            }
            _ => (),
        }
    }
    trials
}

const RESTING: &str = r#"
title = "rest"
venue = "host"
blocks = 2
control = false
rest = "20ms"
settle = "0s"
probes = []
[subjects.plain]
[subjects.other]
base_slice = "3ms"
[[workloads]]
use = "pipe"
loops = 50
invocations = 1
[[workloads]]
use = "pipe"
label = "again"
loops = 50
invocations = 1
"#;

/// On a machine of files, so that nobody needs to be root.
#[test]
fn a_declared_rest_is_taken_before_the_levels_of_each_sitting() {
    const REST_NS: u64 = 20_000_000;
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    let file = bench.experiment("rest", RESTING);
    bench.expect(0, &["run", &file]);
    let (trials, records) = (phases(&bench), bench.record_lines());
    assert_eq!((trials.len(), records.len()), (8, 8), "two workloads in each of four sittings");
    for (number, (phases, line)) in trials.iter().zip(&records).enumerate() {
        let count = phases.iter().filter(|phase| *phase == "resting").count();
        if number % 2 == 1 {
            assert_eq!((count, phases[0].as_str()), (0, "setting"), "{number}: {phases:?}");
            continue;
        }
        assert_eq!(count, 1, "{number}: {phases:?}");
        assert_eq!(phases[..2], ["resting", "setting"], "{number}: {phases:?}");
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let duration_ns = record["duration_ns"].as_u64().unwrap();
        assert!(duration_ns >= REST_NS, "{number}: {duration_ns}");
    }
}

#[test]
fn an_interrupted_campaign_goes_on_and_loses_no_record() {
    for kill in
        [rustix::process::Signal::INT, rustix::process::Signal::TERM, rustix::process::Signal::KILL]
    {
        let bench = Bench::new();
        let (file, hold) = held(&bench, 3);
        let mut child = start(&bench, &["run", &file]);
        wait_for_records(&bench, 3);
        signal(&child, kill);
        let status = child.wait().unwrap();
        std::fs::remove_file(hold).unwrap();
        match kill {
            rustix::process::Signal::INT => assert_eq!(status.code(), Some(130)),
            rustix::process::Signal::TERM => assert_eq!(status.code(), Some(143)),
            _ => assert_eq!(status.code(), None),
        }
        let before = bench.record_lines();
        assert!(before.len() >= 3);
        bench.expect(0, &["run", &file]);
        let after = bench.record_lines();
        assert_eq!(after.len(), 10);
        assert_eq!(after[..before.len()], before[..]);
        bench.expect(0, &["run", "--fresh", &file]);
        assert_eq!(std::fs::read_dir(bench.results()).unwrap().count(), 2);
    }
}

#[test]
fn one_wish_that_arrives_twice_is_still_a_clean_stop() {
    // A wish lasts a second: signals between which this test had no CPU for half of it were not one.
    for _ in 0..MOST_WISHES {
        let bench = Bench::new();
        let file = bench.experiment("sleep", &sleeping(500));
        let mut child = bench.command(&["run", &file]);
        let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_records(&bench, 2);
        // As `timeout` does: the process, then its group.
        let first = Instant::now();
        signal(&child, rustix::process::Signal::INT);
        std::thread::sleep(Duration::from_millis(20));
        signal(&child, rustix::process::Signal::INT);
        let is_one = first.elapsed() < Duration::from_millis(500);
        let output = child.wait_with_output().unwrap();
        if is_one {
            assert_eq!(output.status.code(), Some(130), "{:?}", output.status);
            assert!(errors(&output).contains("everything was put back"), "{}", errors(&output));
            return;
        }
    }
    panic!("this test had no CPU for half a second each of {MOST_WISHES} times");
}

#[test]
fn a_program_that_was_built_anew_begins_a_new_campaign() {
    let bench = Bench::new();
    let script = bench.path().join("bench.sh").display().to_string();
    let (held, _) = holding(&bench, 3);
    std::fs::write(&script, held + "\n").unwrap();
    let text =
        sleeping(5).replace("\"/bin/sleep\", \"0.1\"", &format!("\"/bin/sh\", \"{script}\""));
    let file = bench.experiment("script", &text);
    let mut child = start(&bench, &["run", &file]);
    wait_for_records(&bench, 3);
    signal(&child, rustix::process::Signal::INT);
    child.wait().unwrap();
    std::fs::write(&script, "sleep 0.02\n").unwrap();
    let output = bench.run(&["run", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(errors(&output).contains("bench.sh has changed"), "{}", errors(&output));
    assert_eq!(std::fs::read_dir(bench.results()).unwrap().count(), 2);
}

#[test]
fn two_campaigns_at_once_are_refused() {
    let bench = Bench::new();
    // It is not over before the second begins, however long that takes.
    let file = bench.experiment("sleep", &sleeping(500));
    let mut first = start(&bench, &["run", &file]);
    wait_for_records(&bench, 1);
    let output = bench.run(&["run", "--fresh", &file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("is running"), "{}", errors(&output));
    bench.campaign();
    signal(&first, rustix::process::Signal::INT);
    first.wait().unwrap();
}

#[test]
fn any_program_is_compared_with_metrics_from_its_output() {
    let bench = Bench::new();
    let text = bench.expect(
        0,
        &[
            "vs",
            "baseline",
            "nice=5",
            "--blocks",
            "5",
            "--invocations",
            "1",
            "--metric",
            "speed=regex:speed ([0-9.]+):higher",
            "--primary",
            "speed",
            "--set",
            "settle=0s",
            "--",
            "/bin/sh",
            "-c",
            "echo speed 12.5",
        ],
    );
    assert!(text.contains("baseline = 12.5"), "{text}");
    // One value again and again shows no step, and so no equivalence.
    assert!(text.contains("all values are the same, so nothing shows"), "{text}");
}

#[test]
fn a_failing_program_is_counted_and_its_subjects_have_no_valid_block() {
    let bench = Bench::new();
    let arguments = [
        "vs",
        "baseline",
        "nice=5",
        "--blocks",
        "5",
        "--set",
        "settle=0s",
        "--",
        "/bin/sh",
        "-c",
        "exit 3",
    ];
    let output = bench.run(&arguments);
    assert_eq!(output.status.code(), Some(6), "{}", errors(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("failed"), "{shown}");
    assert!(errors(&output).contains("exit code 3") || shown.contains("exit code 3"), "{shown}");
}

#[test]
fn a_metric_that_is_not_in_the_output_fails_and_is_never_zero() {
    let bench = Bench::new();
    let output = bench.run(&[
        "vs",
        "baseline",
        "nice=5",
        "--blocks",
        "5",
        "--metric",
        "speed=regex:speed ([0-9.]+):higher",
        "--set",
        "settle=0s",
        "--",
        "/bin/echo",
        "nothing",
    ]);
    assert_eq!(output.status.code(), Some(6), "{}", errors(&output));
    let records = bench.record_lines();
    assert!(records.iter().all(|line| line.contains("\"failed\"")), "{records:?}");
}

#[test]
fn a_program_that_hangs_is_ended_with_everything_it_started() {
    let bench = Bench::new();
    // A number that no other test's processes sleep for.
    let seconds = 4_000_000 + std::process::id();
    let output = bench.run(&[
        "vs",
        "baseline",
        "nice=5",
        "--blocks",
        "1",
        "--invocations",
        "1",
        "--time-limit",
        "1s",
        "--set",
        "settle=0s",
        "--",
        "/bin/sh",
        "-c",
        &format!("setsid sleep {seconds} & sleep {seconds}"),
    ]);
    assert_eq!(output.status.code(), Some(6), "{}", errors(&output));
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let left = processes.filter(|entry| {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        words == format!("sleep\0{seconds}\0").as_bytes()
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn a_program_that_leaves_its_level_is_invalid_however_short_or_far_away_it_is() {
    if !is_root() {
        testing::skip("leaving an affinity needs no root, joining a session of one's own does");
        return;
    }
    for script in [
        // Over long before levels are first read.
        "taskset -p 3 $$ >/dev/null",
        // In another session and group, where only the cgroup or the mark finds it: until it is found,
        // and of the subject alone.
        "case $(taskset -cp $$) in *': 0') setsid taskset -c 0,1 sleep 60;; esac",
    ] {
        let bench = Bench::new();
        let output = bench.run(&[
            "vs",
            "baseline",
            "affinity=0",
            "--blocks",
            "1",
            "--invocations",
            "1",
            "--set",
            "settle=0s",
            "--",
            "/bin/sh",
            "-c",
            script,
        ]);
        assert_eq!(output.status.code(), Some(6), "{script}: {}", errors(&output));
        assert!(errors(&output).contains("affinity"), "{script}: {}", errors(&output));
        let records = bench.record_lines();
        let is_invalid = |line: &&String| line.contains("LEVEL_CHANGED");
        assert!(records.iter().any(|line| is_invalid(&line)), "{script}: {records:?}");
    }
}

#[test]
fn what_an_invocation_leaves_running_is_ended_before_the_next() {
    let bench = Bench::new();
    // Tells whether the one before it left somebody, and leaves one behind.
    let pid = bench.path().join("pid").display().to_string();
    let script = format!(
        "grep -q sleep /proc/$(cat {pid})/cmdline && echo left 1 || echo left 0; \
         setsid sleep 4243 >/dev/null 2>&1 & echo $! >{pid}; sleep 0.05"
    );
    let text = bench.expect(
        0,
        &[
            "vs",
            "baseline",
            "nice=5",
            "--blocks",
            "1",
            "--invocations",
            "4",
            "--metric",
            "there=regex:left ([0-9]+):lower",
            "--set",
            "settle=0s",
            "--",
            "/bin/sh",
            "-c",
            &script,
        ],
    );
    assert!(!text.is_empty());
    for line in bench.record_lines() {
        let record: serde_json::Value = serde_json::from_str(&line).unwrap();
        let seen: Vec<f64> = record["invocations"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|invocation| invocation["samples"].as_array().unwrap())
            .filter(|sample| sample["source"] == "there")
            .map(|sample| sample["values"][0].as_f64().unwrap())
            .collect();
        assert_eq!(seen, [0.0; 4], "{line}");
    }
}

/// Has a shell wait until that process is the program sleep(1), and not on its way there.
fn until_sleeping(pid: &str) -> String {
    format!("until grep -qx sleep /proc/{pid}/comm; do sleep 0.01; done; ")
}

#[test]
fn a_record_says_what_its_workload_left_running_and_a_report_does() {
    let run = |script: &str| {
        let bench = Bench::new();
        let experiment = [
            "vs",
            "baseline",
            "nice=5",
            "--blocks",
            "1",
            "--invocations",
            "2",
            "--set",
            "settle=0s",
            "--",
            "/bin/sh",
            "-c",
            script,
        ];
        bench.expect(0, &experiment);
        let told: Vec<String> = bench
            .record_lines()
            .iter()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|record| {
                let caveats = record["caveats"].as_array().cloned().unwrap_or_default();
                let left = caveats.iter().find(|caveat| caveat["code"] == "LEFT_PROCESSES");
                left.map_or("", |caveat| caveat["detail"].as_str().unwrap()).to_owned()
            })
            .collect();
        assert_eq!(bench.left(), Vec::<String>::new());
        let report = bench.expect(0, &["show", "last", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let caveats = report["caveats"].as_array().unwrap();
        (told, caveats.iter().any(|caveat| caveat["code"] == "LEFT_PROCESSES"))
    };
    // One in the program's process group, and a daemon in a session of its own.
    let (told, is_reported) = run(&format!(
        "sleep 4244 & one=$!; setsid sleep 4244 & other=$!; {}{}",
        until_sleeping("$one"),
        until_sleeping("$other")
    ));
    let left = "4 processes were still there after 2 invocations and were ended: sleep (4)";
    // Of both subjects and the control.
    assert_eq!(told, [left; 3]);
    assert!(is_reported);
    // What was waited for was not left.
    let (told, is_reported) = run("sleep 0.1 & setsid sleep 0.1 & wait");
    assert_eq!(told, [""; 3]);
    assert!(!is_reported);
}

#[test]
fn what_has_left_its_control_group_and_session_is_told_and_ended_before_the_next() {
    let bench = Bench::new();
    let root = Cgroup::unified_root(&Machine::host(bench.path()));
    let (Some(root), true) = (root, is_root()) else {
        testing::skip("leaving a control group needs root and the unified hierarchy");
        return;
    };
    let sleeps = until_sleeping("$!");
    let script = format!("setsid sleep 4245 & echo $! >{root}/cgroup.procs; {sleeps}");
    bench.expect(
        0,
        &[
            "vs",
            "baseline",
            "nice=5",
            "--blocks",
            "1",
            "--invocations",
            "3",
            "--set",
            "settle=0s",
            "--",
            "/bin/sh",
            "-c",
            &script,
        ],
    );
    // One that ran beside the next invocation would be counted there once more.
    let left = "3 processes were still there after 3 invocations and were ended: sleep (3)";
    for line in bench.record_lines() {
        assert!(line.contains(left), "{line}");
    }
}

#[test]
fn a_killed_guardian_is_replaced_before_the_next_trial() {
    let bench = Bench::new();
    let (file, hold) = held(&bench, 2);
    let mut child = bench.command(&["run", &file]);
    let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_records(&bench, 2);
    bench.kill_guardian();
    std::fs::remove_file(hold).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(errors(&output).contains("guardian was killed"), "{}", errors(&output));
    assert_eq!(bench.record_lines().len(), 10);
}

#[test]
fn the_eevdf_suite_is_refused_where_debugfs_cannot_be_written() {
    let bench = Bench::new();
    let slice = "/sys/kernel/debug/sched/base_slice_ns";
    let suite = &bench.experiment("eevdf-configs", &crate::bench::eevdf_suite_on_the_host());
    if std::fs::OpenOptions::new().write(true).open(slice).is_ok() {
        let shown = bench.expect(0, &["plan", suite, "--venue", "host"]);
        assert!(shown.contains("Everything it needs is here"), "{shown}");
        return;
    }
    let output = bench.run(&["run", suite, "--venue", "host"]);
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    assert!(errors(&output).contains("base_slice"), "{}", errors(&output));
    assert!(!bench.results().exists(), "nothing was written");
}

#[test]
fn levels_of_processes_are_read_back_from_every_thread_of_a_real_workload() {
    if !is_root() {
        testing::skip("real-time policies and CPU limits need root");
        return;
    }
    let bench = Bench::new();
    let report: serde_json::Value =
        serde_json::from_str(&bench.expect(0, &["doctor", "--json"])).unwrap();
    let works = |factor: &str| {
        let checks = report["checks"].as_array().unwrap().iter();
        checks
            .filter(|check| check["kind"] == "factor")
            .any(|check| check["id"] == factor && check["supported"] == true)
    };
    let mut text =
        "title = \"levels\"\nvenue = \"host\"\nblocks = 2\ncontrol = false\nsettle = \"0s\"\n\
                    [subjects.plain]\n"
            .to_owned();
    let mut expected = Vec::new();
    for (subject, levels) in [
        (
            "fair",
            &[("policy", "batch"), ("nice", "5"), ("slice", "500us"), ("timer_slack", "1us")][..],
        ),
        ("limited", &[("cpu_max", "50ms/100ms"), ("cpu_weight", "20"), ("affinity", "0")]),
        ("round-robin", &[("policy", "rr:5")]),
        ("deadline", &[("policy", "deadline:1ms/10ms/10ms")]),
    ] {
        text += &format!("[subjects.{subject}]\n");
        for (factor, level) in levels {
            if works(factor) {
                text += &format!("{factor} = \"{level}\"\n");
                expected.push((subject, *factor, *level));
            } else {
                testing::unsupported(factor);
            }
        }
    }
    text += "[[workloads]]\nuse = \"cyclic\"\nduration = \"300ms\"\ninvocations = 1\n";
    let file = bench.experiment("levels", &text);
    bench.expect(0, &["run", &file]);
    let records: Vec<serde_json::Value> =
        bench.record_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 10);
    for (subject, factor, level) in expected {
        for record in records.iter().filter(|record| record["subject"] == subject) {
            let reading = &record["levels"][factor];
            assert_eq!(record["outcome"]["kind"], "completed", "{record}");
            assert_eq!(
                [&reading["before"], &reading["after"]],
                [level, level],
                "{subject}: {factor}"
            );
        }
    }
}

#[test]
fn doctor_tells_root_and_others_the_truth() {
    let bench = Bench::new();
    let text = bench.expect(0, &["doctor"]);
    assert!(text.contains("kernel.release"), "{text}");
    if !is_root() {
        testing::skip("only root can become another user");
        return;
    }
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let nobody = 65_534;
    std::os::unix::fs::chown(directory.path(), Some(nobody), Some(nobody)).unwrap();
    // The build may lie where only root may look.
    let binary = directory.path().join("a-copy-of-schedlab");
    std::fs::copy(env!("CARGO_BIN_EXE_schedlab"), &binary).unwrap();
    let output = Command::new(&binary)
        .args(["doctor"])
        .env("XDG_RUNTIME_DIR", directory.path())
        .current_dir(directory.path())
        .uid(nobody)
        .gid(nobody)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let line = text.lines().find(|line| line.contains(" thp ")).unwrap();
    assert!(line.contains("--"), "a user cannot set thp: {line}");
}

/// A system knob that can be set here, to two levels.
struct Knob {
    factor: &'static str,
    levels: [Level; 2],
    files: Vec<ControlFile>,
}

/// Every system knob that `doctor` reports writable, and that may be set together with the rest.
fn writable_knobs(bench: &Bench) -> Vec<Knob> {
    let report: serde_json::Value =
        serde_json::from_str(&bench.expect(0, &["doctor", "--json"])).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let is_supported = |id: &str| {
        checks.iter().any(|check| {
            check["kind"] == "factor" && check["id"] == id && check["supported"] == true
        })
    };
    let machine = Machine::host(bench.path().join("run"));
    // Queues: of the disk that the campaign's own files lie on.
    let target = sys::directory_target(&machine, bench.path());
    let machine = machine.with_target(target);
    let mut chosen: BTreeMap<String, Level> = BTreeMap::new();
    let mut knobs = Vec::new();
    for factor in schedlab::catalogue().factors {
        let id = factor.describe().id;
        let contract::Knob::System(knob) = factor.knob() else { continue };
        if !is_supported(id) {
            continue;
        }
        let levels: Vec<Level> = factor
            .examples()
            .iter()
            .filter_map(|example| factor.parse(example).ok())
            .filter(|level| factor.requires(level).iter().all(|need| need.met(&machine).is_ok()))
            .filter(|level| factor.conflict(level, &chosen).is_none())
            .collect();
        let (Some(first), Some(last)) = (levels.first(), levels.last()) else { continue };
        let levels = [first.clone(), last.clone()];
        let settings = levels.iter().flat_map(|level| knob.settings(&machine, level).unwrap());
        let files = settings.map(|setting| setting.file).collect();
        chosen.insert(id.to_owned(), levels[0].clone());
        knobs.push(Knob { factor: id, levels, files });
    }
    knobs
}

#[test]
fn a_kill_at_a_random_instant_leaves_every_knob_and_no_process() {
    if !is_root() {
        testing::skip("knobs of the machine need root");
        return;
    }
    let bench = Bench::alone();
    let machine = Machine::host(bench.path().join("run"));
    let knobs = writable_knobs(&bench);
    if knobs.len() < LEAST_KNOBS {
        testing::skip(&format!("{} knobs can be set here, not {LEAST_KNOBS}", knobs.len()));
        return;
    }
    let values = || -> Vec<String> {
        let files = knobs.iter().flat_map(|knob| &knob.files);
        files.map(|file| format!("{} {}", file.path, file.read(&machine).unwrap())).collect()
    };
    let before = values();
    let mut text = "title = \"kills\"\nvenue = \"host\"\nblocks = 500\ncontrol = false\nsettle = \"0s\"\nprobes = []\n".to_owned();
    for (arm, subject) in ["one", "two"].iter().enumerate() {
        text += &format!("[subjects.{subject}]\n");
        for knob in &knobs {
            // What has one level here is set for one subject only.
            if arm == 0 || knob.levels[0] != knob.levels[1] {
                text += &format!("{} = \"{}\"\n", knob.factor, knob.levels[arm]);
            }
        }
    }
    text += "[[workloads]]\nuse = \"command\"\nrun = [\"/bin/sh\", \"-c\", \"sleep 0.05 & sleep 0.05; wait\"]\ninvocations = 1\n";
    let kills =
        std::env::var("SCHEDLAB_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let file = bench.experiment("kills", &text);
    let mut mid_change = 0;
    // A fixed sequence of delays (golden-ratio spread), so that a failure repeats.
    for kill in 0..kills {
        let delay_us = (f64::from(kill) * 0.618_034).fract() * 700_000.0;
        let mut child = start(&bench, &["run", "--fresh", &file]);
        // How long it takes to the first change depends on the computer: every second kill waits for
        // one.
        let waits = kill % 2 == 1;
        if waits {
            wait_until("a change", || values() != before);
        } else {
            std::thread::sleep(Duration::from_micros(delay_us as u64));
        }
        signal(&child, rustix::process::Signal::KILL);
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "kill {kill} came after the end: {status}");
        // What was changed before a kill may be put back by the time that this test looks again.
        mid_change += u32::from(waits || values() != before);
        bench.wait_for_guardian();
        assert_eq!(values(), before, "kill {kill} after {delay_us} us");
        assert_eq!(bench.left(), Vec::<String>::new(), "kill {kill}");
        bench.expect(0, &["restore", "--check"]);
    }
    let names: Vec<&str> = knobs.iter().map(|knob| knob.factor).collect();
    println!("{kills} kills, {mid_change} after a change; knobs: {}", names.join(", "));
    assert!(mid_change > 0, "no kill fell into a trial");
}
