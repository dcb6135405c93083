//! A service that is not ours: a process for each trial, and one for all of them.

use crate::bench::{Bench, UnprivilegedUser, errors};
use model::{Outcome, Record, SampleData};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::PathBuf;

fn suites() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/service"))
}

/// The small service, short loads, a subject that is nice.
fn experiment(process: &str, words: &str, subjects: &str) -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let directory = suites().display().to_string();
    format!(
        "title = \"Does being nice cost a service?\"\nvenue = \"host\"\nblocks = 3\n\
         control = false\nsettle = \"0s\"\n{subjects}\n\
         [[workloads]]\nuse = \"service\"\n\
         start = \"/usr/bin/python3 tiny.py --port {port} {words}\"\n\
         directory = \"{directory}\"\naddress = \"127.0.0.1:{port}\"\nready = \"/health\"\n\
         process = \"{process}\"\nscenario = \"{directory}/tiny-load.toml\"\n\
         warm_up = \"100ms\"\nduration = \"400ms\"\ninvocations = 1\n"
    )
}

const SUBJECTS: &str = "[subjects.baseline]\n[subjects.nice]\nnice = \"7\"\n";

pub fn records(bench: &Bench) -> Vec<Record> {
    bench.record_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The records of the last run of each block, in their order, of a campaign of so many trials. A
/// block whose trial was invalid runs again, as neighbours of a test may bring about; more than one
/// that did is a failure.
fn counted(bench: &Bench, (blocks, trials): (usize, usize)) -> Vec<Record> {
    let records = records(bench);
    let mut last: BTreeMap<(u32, String, String), Record> = BTreeMap::new();
    let all = records.len();
    for record in records {
        if let Outcome::Invalid { rule, detail } = &record.outcome {
            println!("a block ran again: {rule}: {detail}");
        }
        last.insert((record.block, record.subject.clone(), record.workload.clone()), record);
    }
    let mut counted: Vec<Record> = last.into_values().collect();
    counted.sort_by_key(|record| record.sequence);
    assert_eq!(counted.len(), blocks * trials, "{counted:?}");
    assert!(all <= (blocks + 1) * trials, "{all} records");
    let is_completed = |record: &Record| matches!(record.outcome, Outcome::Completed);
    assert!(counted.iter().all(is_completed), "{counted:?}");
    counted
}

pub fn value(record: &Record, source: &str) -> Option<f64> {
    let samples = &record.invocations.first()?.samples;
    let sample = samples.iter().find(|sample| sample.source == source)?;
    match &sample.data {
        SampleData::Values(values) => values.first().copied(),
        other => panic!("{source}: {other:?}"),
    }
}

/// No process of a service, and no control group of ours.
pub fn nothing_is_left(bench: &Bench) {
    bench.wait_for_guardian();
    bench.expect(0, &["restore", "--check"]);
    assert_eq!(bench.left(), Vec::<String>::new());
}

#[test]
fn each_trial_has_a_fresh_process_with_its_levels() {
    let bench = Bench::new();
    let file = bench.experiment("fresh", &experiment("fresh", "", SUBJECTS));
    bench.expect(0, &["run", &file]);
    let records = counted(&bench, (3, 2));
    for record in &records {
        assert!(value(record, "ready_after").unwrap() > 1e6);
        let expected = if record.subject == "nice" { "7" } else { "0" };
        if let Some(reading) = record.levels.get("nice") {
            assert_eq!(reading.before.to_string(), expected, "{record:?}");
        }
    }
    assert!(records.iter().any(|record| record.levels.contains_key("nice")));
    nothing_is_left(&bench);
}

#[test]
fn one_warm_process_serves_all_trials_and_takes_on_the_levels_of_each() {
    if !rustix::process::geteuid().is_root() {
        return testing::skip("a warm service needs a control group: run as root");
    }
    let bench = Bench::new();
    let subjects = "[subjects.baseline]\nnice = \"0\"\n[subjects.nice]\nnice = \"7\"\n\
                    [subjects.batch]\npolicy = \"batch\"\n";
    let file = bench.experiment("warm", &experiment("warm", "", subjects));
    bench.expect(0, &["run", &file]);
    let records = counted(&bench, (3, 3));
    let ages: Vec<f64> = records.iter().map(|record| value(record, "age").unwrap()).collect();
    assert!(ages.is_sorted() && ages[8] > ages[0] + 8.0 * 4e8, "{ages:?}");
    for record in &records {
        let read = |factor: &str| record.levels.get(factor).map(|level| level.before.to_string());
        match record.subject.as_str() {
            "nice" => assert_eq!(read("nice").as_deref(), Some("7")),
            "batch" => assert_eq!(read("policy").as_deref(), Some("batch")),
            _ => assert_eq!(read("nice").as_deref(), Some("0")),
        }
    }
    nothing_is_left(&bench);
}

/// Nothing but a control group tells its processes from those of a trial.
#[test]
fn a_warm_process_is_refused_before_anything_begins_where_no_group_can_be_made() {
    let user = UnprivilegedUser::new();
    // The sources may lie where only root may look.
    for name in ["tiny.py", "tiny-load.toml"] {
        std::fs::copy(suites().join(name), user.path().join(name)).unwrap();
    }
    let subjects = "[subjects.baseline]\n[subjects.other]\nslice = \"3ms\"\n";
    let text = experiment("warm", "", subjects);
    let own = user.path().display().to_string();
    let file = user.experiment(&text.replace(&suites().display().to_string(), &own));
    let needs = "make a cgroup for what outlives trials";
    let planned = user.expect(&["plan", &file]);
    let planned = String::from_utf8_lossy(&planned.stdout).into_owned();
    assert!(planned.contains("the run would be refused") && planned.contains(needs), "{planned}");
    let refused = user.command(&["run", &file]).output().unwrap();
    let told = errors(&refused).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(refused.status.code(), Some(4), "{told}");
    assert!(told.contains(needs) && told.contains("nothing ran"), "{told}");
    let campaigns = std::fs::read_dir(user.path().join("results")).into_iter().flatten();
    assert_eq!(campaigns.count(), 0, "a campaign began");
}

/// Many programs write their title over their environment, as this one has another from the
/// beginning: it is lent and taken back nevertheless.
#[test]
fn a_warm_process_without_our_mark_serves_all_trials() {
    if !rustix::process::geteuid().is_root() {
        return testing::skip("a warm service needs a control group: run as root");
    }
    let bench = Bench::new();
    let text = experiment("warm", "", SUBJECTS)
        .replace("/usr/bin/python3", "/usr/bin/env -i /usr/bin/python3")
        .replace("invocations = 1", "invocations = 2");
    let file = bench.experiment("unmarked", &text);
    bench.expect(0, &["run", &file]);
    let records = counted(&bench, (3, 2));
    let ages = records.iter().flat_map(|record| &record.invocations).map(|invocation| {
        let sample = invocation.samples.iter().find(|sample| sample.source == "age").unwrap();
        let SampleData::Values(values) = &sample.data else { panic!("{sample:?}") };
        values[0]
    });
    let ages: Vec<f64> = ages.collect();
    assert!(ages.len() == 12 && ages.is_sorted() && ages[11] > ages[0] + 11.0 * 4e8, "{ages:?}");
    let nice = records.iter().filter(|record| record.subject == "nice");
    let read = nice.map(|record| record.levels["nice"].before.to_string());
    assert_eq!(read.collect::<Vec<_>>(), ["7"; 3]);
    nothing_is_left(&bench);
}

/// How often what only a machine shows that has time for it is looked for: others may take most of
/// the CPUs while one of two that are compared runs.
const MOST_LOOKS: usize = 4;

/// The CPU time that a service gets is limited, that of the generator beside it is not: the rate
/// of its answers falls with the limit, and every thread of it is seen to have it.
#[test]
fn a_limit_is_that_of_the_service_fresh_or_warm() {
    if !rustix::process::geteuid().is_root() {
        return testing::skip("limits need a control group: run as root");
    }
    for process in ["fresh", "warm"] {
        let mut looks: Vec<BTreeMap<String, f64>> = Vec::new();
        let is_seen = (0..MOST_LOOKS).any(|_| {
            let best = best_rates(process);
            let falls = best["limited"] < 0.6 * best["baseline"];
            looks.push(best);
            falls
        });
        assert!(is_seen, "{process}: {looks:?}");
    }
}

/// The best rate of answers of each subject, of which one is limited and one has less weight.
fn best_rates(process: &str) -> BTreeMap<String, f64> {
    let bench = Bench::new();
    let subjects = "[subjects.baseline]\ncpu_max = \"max\"\n\
                    [subjects.limited]\ncpu_max = \"2ms/50ms\"\n\
                    [subjects.light]\ncpu_weight = \"50\"\n";
    let text = experiment(process, "", subjects) + "arrivals = \"closed\"\nconnections = 4\n";
    let file = bench.experiment(process, &text);
    let plan = bench.expect(0, &["plan", &file]);
    assert!(plan.contains("schedlab.<id>.service/"), "{plan}");
    bench.expect(0, &["run", &file]);
    let mut best: BTreeMap<String, f64> = BTreeMap::new();
    for record in counted(&bench, (3, 3)) {
        let read = |factor: &str| record.levels.get(factor).map(|one| one.before.to_string());
        let (factor, level) = match record.subject.as_str() {
            "limited" => ("cpu_max", "2ms/50ms"),
            "light" => ("cpu_weight", "50"),
            _ => ("cpu_max", "max"),
        };
        assert_eq!(read(factor).as_deref(), Some(level), "{process}: {:?}", record.levels);
        let samples = &record.invocations[0].samples;
        let rate = samples.iter().find(|one| one.source == "answers_per_second").unwrap();
        let SampleData::Quotient { numerator, denominator } = &rate.data else { panic!() };
        let so_far = best.entry(record.subject.clone()).or_default();
        *so_far = so_far.max(numerator / denominator);
    }
    nothing_is_left(&bench);
    best
}

#[test]
fn a_trial_that_fails_ends_the_warm_process_and_the_next_begins_with_another() {
    if !rustix::process::geteuid().is_root() {
        return testing::skip("a warm service needs a control group: run as root");
    }
    let bench = Bench::new();
    // It ends within its second trial, each time.
    let text =
        experiment("warm", "--die 180", "[subjects.baseline]\n[subjects.other]\nnice = \"1\"\n");
    let file = bench.experiment("dying", &text);
    let output = bench.run(&["run", &file]);
    let records = records(&bench);
    let failures: Vec<&str> = records
        .iter()
        .filter_map(|record| match &record.outcome {
            Outcome::Failed { reason } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert!(failures.len() >= 2, "{failures:?} {}", errors(&output));
    for failure in &failures {
        assert!(failure.contains("the service failed"), "{failure}");
        assert!(failure.contains("as many as I was to take"), "{failure}");
    }
    let completed = records.iter().filter(|record| matches!(record.outcome, Outcome::Completed));
    assert!(completed.count() >= 2);
    let log = std::fs::read_to_string(bench.campaign().join("logs/long-lived.log")).unwrap();
    assert!(log.contains("as many as I was to take"), "{log}");
    nothing_is_left(&bench);
}

#[test]
fn a_killed_campaign_leaves_no_warm_process() {
    if !rustix::process::geteuid().is_root() {
        return testing::skip("a warm service needs a control group: run as root");
    }
    for delay_ms in [500, 1500, 2500] {
        let bench = Bench::new();
        let file = bench.experiment("killed", &experiment("warm", "", SUBJECTS));
        let mut child = bench.command(&["run", &file]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        nothing_is_left(&bench);
    }
}

#[test]
fn the_highest_rate_is_that_of_the_service_and_is_written_as_an_experiment() {
    let bench = Bench::new();
    let searched = |name: &str, steps: u32| {
        let text = experiment("fresh", &format!("--steps {steps}"), SUBJECTS);
        let file = bench.experiment(name, &text.replace("blocks = 3", "blocks = 2"));
        let written = bench.path().join(format!("{name}-rates.toml"));
        let written = written.to_str().unwrap();
        let words = ["capacity", &file, "--step", "500ms", "--target", "100ms", "--blocks", "1"];
        let told = bench.expect(0, &[&words[..], &["--write", written]].concat());
        let rate = told.split("within 100ms: ").nth(1).and_then(|rest| rest.split(' ').next());
        (rate.unwrap_or_else(|| panic!("{told}")).parse::<f64>().unwrap(), written.to_owned())
    };
    // An answer takes eight times the work; how much else there is depends on the machine.
    let mut looks = Vec::new();
    let found = (0..MOST_LOOKS).find_map(|look| {
        let (of_quick, _) = searched(&format!("quick-{look}"), 20_000);
        let (of_slow, written) = searched(&format!("slow-{look}"), 160_000);
        looks.push((of_quick, of_slow));
        (of_quick > of_slow).then_some(written)
    });
    let written = found.unwrap_or_else(|| panic!("{looks:?}"));
    let planned = bench.expect(0, &["plan", &written]);
    for label in ["at-30", "at-60", "at-80", "at-95", "at-120", "baseline", "nice"] {
        assert!(planned.contains(label), "{label}: {planned}");
    }
    let refused = |code: i32, words: &[&str], why: &str| {
        let output = bench.run(&[&["capacity", &written], words].concat());
        assert_eq!(output.status.code(), Some(code), "{}", errors(&output));
        assert!(errors(&output).contains(why), "{}", errors(&output));
    };
    refused(2, &["--workload", "at-3"], "at-30");
    refused(2, &["--write", &written], "it exists already");
    refused(2, &["--write", "another.toml", "--set", "blocks=3"], "would be missing");
    // One that answers nothing right is not searched for minutes.
    let text = experiment("fresh", "", SUBJECTS).replace("tiny-load.toml", "absent-load.toml");
    let scenario = bench.path().join("absent-load.toml");
    std::fs::write(&scenario, "[[requests]]\nname = \"no\"\nrate = 200\npath = \"/no\"\n").unwrap();
    let text = text.replace(
        &suites().join("absent-load.toml").display().to_string(),
        &scenario.display().to_string(),
    );
    let file = bench.experiment("absent", &text);
    let output = bench.run(&["capacity", &file, "--step", "500ms", "--blocks", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("404"), "{}", errors(&output));
    nothing_is_left(&bench);
}
