//! Our schedulers decide as their pages say: what each did in a guest is replayed through
//! an independent model, which accepts it, and rejects it where a rule was left out.

use super::schedulers::{kept, prove};
use super::{Guests, has_guests};
use std::process::Output;

const KERNEL: &str = "debian:6.18";
/// So long in a guest, emulated or not, puts every rule to the test many times.
const SECONDS: &str = "8";
/// So often a lottery draws before its shares are believed, and so long it takes to.
const LEAST_DRAWS: u64 = 20_000;
const SECONDS_OF_DRAWS: &str = "30";
/// Without more tickets for sleepers the running task wins often enough to test its share.
const WINS_OFTEN: &str = "lottery?compensation=false";

/// With one CPU every decision is in one order; with two they overlap. The lottery needs two
/// to be put to the test by all of its rules.
const PROVED: [(&str, &str); 14] = [
    ("fifo", "1"),
    ("fifo", "2"),
    ("rr", "1"),
    ("rr", "2"),
    ("bfs", "1"),
    ("bfs", "2"),
    ("cfs", "1"),
    ("cfs", "2"),
    ("eevdf", "1"),
    ("eevdf", "2"),
    ("mlfq", "1"),
    ("mlfq", "2"),
    ("lottery", "2"),
    (WINS_OFTEN, "2"),
];
/// A mutant may break another rule first, in so short a time.
const RECORDINGS: u32 = 2;

/// All of a scheduler: each rule holds, and none was never put to the test.
#[test]
fn what_ours_decide_is_what_a_model_of_the_algorithm_decides() {
    let _exclusive = crate::bench::exclusive();
    if !has_guests() {
        return;
    }
    for (scheduler, vcpus) in PROVED {
        let mut output = replayed(scheduler, vcpus);
        if streams(&output).1.contains(": improbable: ") {
            // Of fair draws one recording in a thousand is; a biased one is so again.
            println!("{scheduler} on {vcpus}, recorded again: {}", streams(&output).1);
            output = replayed(scheduler, vcpus);
        }
        let (summary, told) = streams(&output);
        assert!(output.status.success(), "{scheduler} on {vcpus}: {told}");
        println!("{scheduler} on {vcpus}:\n{summary}");
        if scheduler == WINS_OFTEN {
            assert!(summary.contains("p of the shares won"), "too few wins decide no shares");
        }
        if scheduler.starts_with("lottery") {
            let draws = summary.lines().find_map(|line| line.strip_prefix("draws counted: "));
            let draws: u64 = draws.and_then(|count| count.parse().ok()).unwrap();
            assert!(draws >= LEAST_DRAWS, "{draws} draws decide no shares");
        }
    }
    let is_proved = |id: &str| PROVED.iter().any(|(scheduler, _)| *scheduler == id);
    assert!(schedulers::own::ALGORITHMS.iter().all(|algorithm| is_proved(algorithm.id)));
}

/// A scheduler without a rule, and the rules by which the model may tell.
const MUTANTS: [(&str, &[&str]); 15] = [
    ("bfs?without=deadline", &["deadline"]),
    ("bfs?without=preemption", &["preemption"]),
    ("bfs?without=sticky", &["sticky"]),
    ("bfs?without=idle", &["idle first"]),
    ("cfs?without=granularity", &["granularity"]),
    ("cfs?without=balance", &["idle first", "work conserved"]),
    ("cfs?without=sleeper", &["placement"]),
    ("eevdf?without=eligibility", &["eligibility"]),
    ("eevdf?without=lag", &["lag", "virtual time"]),
    ("eevdf?without=preemption", &["preemption"]),
    ("mlfq?without=preemption", &["preemption"]),
    ("mlfq?without=allotment", &["allotment"]),
    ("mlfq?without=boost", &["boost"]),
    ("lottery?without=draw", &["winner"]),
    ("lottery?without=holder", &["holder"]),
];

#[test]
fn a_scheduler_without_a_rule_is_rejected_by_the_name_of_that_rule() {
    let _exclusive = crate::bench::exclusive();
    if !has_guests() {
        return;
    }
    for (mutant, rules) in MUTANTS {
        let is_named = (0..RECORDINGS).any(|_| {
            let output = replayed(mutant, "2");
            let (summary, told) = streams(&output);
            assert!(!output.status.success(), "{mutant} is accepted: {summary}");
            println!("{mutant}: {told}");
            rules.iter().any(|rule| told.contains(&format!(": {rule}: expected ")))
        });
        assert!(is_named, "{mutant} is not rejected by any of {rules:?}");
    }
}

fn streams(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Records a scheduler in a guest, and replays what it did on this machine.
fn replayed(scheduler: &str, vcpus: &str) -> Output {
    let guests = Guests::new();
    let prove = prove();
    let program = prove.display().to_string();
    let lab = format!("lab:{scheduler}");
    let seconds = if scheduler.starts_with("lottery") { SECONDS_OF_DRAWS } else { SECONDS };
    let machine = ["vm", "exec", KERNEL, "--vcpus", vcpus, "--cmdline", &guests.word];
    let words = ["--file", &program, "--", &program, "trace", &lab, seconds, "-"];
    let output = kept(|| guests.command(&machine).args(words).output().unwrap());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{lab} is not recorded: {told}");
    let file = guests.bench.path().join("trace");
    std::fs::write(&file, &output.stdout).unwrap();
    let replay = std::process::Command::new(prove).arg("replay").arg(file).output().unwrap();
    guests.assert_nothing_is_left("after a recording");
    replay
}
