//! The bank: a real service on a real broker, whose books are audited.

use crate::bench::{Bench, command_line, errors, wait_until};
use crate::service::{nothing_is_left, records, value};
use model::{Outcome, Record, SampleData};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::Duration;

/// Between two looks at all processes, or at a log: more often they would cost what the bank needs.
const PAUSE: Duration = Duration::from_millis(90);

pub const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../apps/bank");

/// Whether the bank can be built and run here; says so where it cannot.
fn can_bank() -> bool {
    for program in ["java", "mvn"] {
        let path = std::env::var("PATH").unwrap_or_default();
        if !path.split(':').any(|part| std::path::Path::new(part).join(program).is_file()) {
            testing::skip(&format!("the bank needs {program}: ./setup --tools"));
            return false;
        }
    }
    if !rustix::process::geteuid().is_root() {
        testing::skip("a warm bank needs a control group: run as root");
        return false;
    }
    true
}

/// Short loads of a bank whose JVM compiles little, so that it is up soon.
fn experiment(workload: &str, subjects: &str, blocks: u32) -> String {
    format!(
        "title = \"What do the bank's customers notice?\"\nvenue = \"host\"\nblocks = {blocks}\n\
         control = false\nsettle = \"0s\"\n{subjects}\n\
         [[workloads]]\nuse = \"bank\"\nsource = \"{SOURCE}\"\n\
         java_options = \"-Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1\"\n\
         steady_within = \"0s\"\nwarm_up = \"200ms\"\nduration = \"2s\"\ninvocations = 1\n{workload}\n"
    )
}

const SUBJECTS: &str = "[subjects.baseline]\n[subjects.nice]\nnice = \"7\"\n";

/// Ends the bank's workload, which then runs for one subject alone, and adds what both are compared
/// by: each failed trial ends its bank, and another start of a JVM shows nothing more.
const FOR_ONE: &str = "\nsubjects = [\"baseline\"]\n\
                       [[workloads]]\nuse = \"pipe\"\nloops = 50\ninvocations = 1\n";

fn failures(records: &[Record]) -> Vec<&str> {
    let reasons = records.iter().filter_map(|record| match &record.outcome {
        Outcome::Failed { reason } => Some(reason.as_str()),
        _ => None,
    });
    reasons.collect()
}

#[test]
fn one_warm_bank_serves_all_subjects_and_its_books_are_right() {
    if !can_bank() {
        return;
    }
    let bench = Bench::new();
    let file = bench.experiment("bank", &experiment("again = 20\nrisk = 10", SUBJECTS, 2));
    let output = bench.run(&["run", &file]);
    let records = records(&bench);
    assert_eq!(failures(&records), Vec::<&str>::new(), "{}", errors(&output));
    assert_eq!(records.len(), 4);
    for record in &records {
        assert!(matches!(record.outcome, Outcome::Completed), "{record:?}");
        assert!(value(record, "service_memory").unwrap() > 1e8);
        assert!(value(record, "broker_memory").unwrap() > 1e8);
        assert!(value(record, "age").unwrap() > 0.0);
        let sources: Vec<&str> =
            record.invocations[0].samples.iter().map(|sample| sample.source.as_str()).collect();
        for source in
            ["transfer_latency", "again_failed", "risk_latency", "gc_paused", "broker_cpu"]
        {
            assert!(sources.contains(&source), "{source}: {sources:?}");
        }
        if record.subject == "nice" {
            assert_eq!(record.levels["nice"].before.to_string(), "7");
        }
    }
    nothing_is_left(&bench);
}

#[test]
fn an_update_that_the_bank_loses_fails_the_trial_and_is_named() {
    // Few accounts, many transfers: two meet at one account. What is lost at one may be lost at the
    // other too, which leaves the sum right.
    let words = "fault = \"lost-update\"\naccounts = 2\nscale = 6\nbroker = \"none\"";
    what_is_wrong_is_named(words, "mismatched_accounts: ");
}

#[test]
fn an_event_that_the_bank_sends_twice_fails_the_trial_and_is_named() {
    what_is_wrong_is_named("fault = \"double-send\"\nscale = 2", "events_acknowledged: ");
}

fn what_is_wrong_is_named(words: &str, expected: &str) {
    if !can_bank() {
        return;
    }
    let bench = Bench::new();
    let text = experiment(&format!("{words}{FOR_ONE}"), SUBJECTS, 1);
    let file = bench.experiment("faulty", &text);
    let output = bench.run(&["run", &file]);
    let records = records(&bench);
    let told = failures(&records);
    let of_bank = records.iter().filter(|record| record.workload == "bank").count();
    assert_eq!(told.len(), of_bank, "{words}: {records:?} {}", errors(&output));
    assert!(told[0].contains("books are wrong"), "{told:?}");
    assert!(told[0].contains(expected), "{told:?}");
    nothing_is_left(&bench);
}

#[test]
fn a_slow_start_is_not_taken_for_a_warm_bank() {
    if !can_bank() {
        return;
    }
    let bench = Bench::new();
    let words = "fault = \"slow-start\"\nbroker = \"none\"\nwindow = \"1s\"";
    let text = experiment(&format!("{words}{FOR_ONE}"), SUBJECTS, 1);
    let text = text.replace("steady_within = \"0s\"", "steady_within = \"6s\"");
    let file = bench.experiment("slow", &text);
    bench.run(&["run", &file]);
    let records = records(&bench);
    let told = failures(&records);
    assert!(!told.is_empty() && told[0].contains("did not become steady"), "{told:?}");
    nothing_is_left(&bench);
}

#[test]
fn a_bank_that_is_killed_under_load_is_a_failed_trial_and_the_next_has_another() {
    if !can_bank() {
        return;
    }
    let bench = Bench::new();
    // Each of its trials starts a bank: without a broker that is one JVM less.
    let text = experiment("broker = \"none\"", SUBJECTS, 1).replace("\"2s\"", "\"4s\"");
    let file = bench.experiment("killed", &text);
    let mut child = bench.command(&["run", &file]).spawn().unwrap();
    // The first trial is in its load once its record is due and its service runs.
    let mut service = None;
    wait_until("a service", || {
        sleep(PAUSE);
        service = serving(&bench);
        service.is_some()
    });
    wait_for_phase(&bench, "running");
    let pid = rustix::process::Pid::from_raw(service.unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
    let records = records(&bench);
    let told = failures(&records);
    assert_eq!(told.len(), 1, "{records:?}");
    // What notices first: the check that the service lives, or the next one to ask the bank.
    let is_told = ["the service failed", "closed before an answer", "cannot ask the bank for"];
    assert!(is_told.iter().any(|words| told[0].contains(words)), "{told:?}");
    assert!(records.iter().any(|record| matches!(record.outcome, Outcome::Completed)));
    nothing_is_left(&bench);
}

#[test]
fn gatling_loads_the_bank_and_its_books_are_right() {
    if !can_bank() {
        return;
    }
    let jars = format!("{SOURCE}/gatling/target/gatling/lib");
    if !std::path::Path::new(&jars).is_dir() {
        return testing::skip("Gatling is not built: cargo xtask bank");
    }
    let bench = Bench::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let books = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/service/bank-books.toml");
    let small = "-Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1";
    let text = format!(
        "title = \"Gatling asks the bank\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\n\
         settle = \"0s\"\n[subjects.baseline]\n[subjects.nice]\nnice = \"7\"\n\
         [[workloads]]\nuse = \"service\"\ninvocations = 1\nready = \"/actuator/health\"\n\
         start = \"env BANK_PORT={port} BANK_EVENTS=local java {small} \
         -jar {SOURCE}/service/target/bank.jar\"\nready_within = \"240s\"\n\
         address = \"127.0.0.1:{port}\"\nscenario = \"{books}\"\ngenerator = \"gatling\"\n\
         drive = \"java --add-opens=java.base/java.lang=ALL-UNNAMED {small} \
         -Dbank.url=http://127.0.0.1:{port} -Dbank.ramp=0 -Dbank.steady=5 -cp {jars}/* \
         io.gatling.app.Gatling -s org.schedlab.bank.gatling.BankSimulation -rf @results@\"\n"
    );
    let file = bench.experiment("gatling", &text);
    let output = bench.run(&["run", &file]);
    let records = records(&bench);
    assert_eq!(failures(&records), Vec::<&str>::new(), "{}", errors(&output));
    assert_eq!(records.len(), 2);
    for record in &records {
        assert!(matches!(record.outcome, Outcome::Completed), "{record:?}");
        let samples = &record.invocations[0].samples;
        let data = |source: &str| &samples.iter().find(|one| one.source == source).unwrap().data;
        // 180 requests per second for five seconds.
        let SampleData::Proportion { successes, attempts } = data("failed") else { panic!() };
        assert!(*successes == 0 && (850..=950).contains(attempts), "{successes} of {attempts}");
        assert!(matches!(data("latency"), SampleData::Histogram(_)));
    }
    let logs = std::fs::read_dir(bench.campaign().join("logs")).unwrap().flatten();
    let reports = logs.filter(|entry| entry.path().join("index.html").is_file());
    assert_eq!(reports.count(), 2, "the reports of Gatling are kept");
    nothing_is_left(&bench);
}

/// The process of the bank's service.
fn serving(bench: &Bench) -> Option<i32> {
    let program = format!("{SOURCE}/service/target/bank.jar");
    bench.processes().into_iter().find(|pid| command_line(*pid).contains(&program))
}

/// Waits until the log of events tells that a trial is in this phase.
fn wait_for_phase(bench: &Bench, phase: &str) {
    let log = bench.campaign().join("logs/events.jsonl");
    wait_until(&format!("a trial that is {phase}"), || {
        sleep(PAUSE);
        std::fs::read_to_string(&log).unwrap_or_default().contains(phase)
    });
}
