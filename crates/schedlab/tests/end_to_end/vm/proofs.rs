//! Our schedulers decide as their pages say: what each did in a guest is replayed through
//! an independent model, which accepts it, and rejects it where a rule was left out.

use super::has_guests;
use super::prove::{in_a_guest, program, stamp};
use std::process::Output;

/// So long in a guest, emulated or not, puts every rule to the test many times.
const SECONDS: u32 = 8;
/// So many times as long is recorded again what put a rule to no test.
const MOST_TIMES_LONGER: u32 = 5;
/// So long is enough for the rules that are most often put to the test.
const SMOKE_SECONDS: u32 = 3;
/// So often a lottery draws before its shares are believed, and so long it takes to.
const LEAST_DRAWS: u64 = 20_000;
const SECONDS_OF_DRAWS: u32 = 30;
/// Without more tickets for sleepers the running task wins often enough to test its share.
const WINS_OFTEN: &str = "lottery?compensation=false";
/// A mutant may break another rule first, in so short a time.
const RECORDINGS: u32 = 2;

/// One test for each scheduler, by its name: so each has a time, a stamp and a tier of its own.
macro_rules! tests {
    ($module:ident, $check:expr, [$($name:ident: $scheduler:expr, $argument:expr;)+]) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $name() {
                if has_guests() {
                    $check(concat!(module_path!(), "::", stringify!($name)), $scheduler, $argument);
                }
            })+
            /// The schedulers that are put to the test.
            pub const SCHEDULERS: &[&str] = &[$($scheduler),+];
        }
    };
}

/// One short recording of each, on two processors, whatever stamps there are: most broken rules show
/// in it. Those of a test are made in one guest, in turn: a boot costs as much as a recording.
mod smoke {
    use super::*;

    const TURNS: &[&str] = &["fifo", "rr", "lottery"];
    const FAIR: &[&str] = &["cfs", "eevdf"];
    const LEVELS: &[&str] = &["bfs", "mlfq"];
    /// The schedulers that are put to the test.
    pub const SCHEDULERS: &[&[&str]] = &[TURNS, FAIR, LEVELS];

    #[test]
    fn those_of_one_queue() {
        hold_in_short(TURNS);
    }

    #[test]
    fn those_that_share_by_weight() {
        hold_in_short(FAIR);
    }

    #[test]
    fn those_with_deadlines_or_levels() {
        hold_in_short(LEVELS);
    }
}

// With one processor every decision is in one order; with two they overlap. The lottery needs two
// to be put to the test by all of its rules.
tests! { whole, holds_with_every_rule, [
    fifo_on_one: "fifo", 1;
    fifo_on_two: "fifo", 2;
    rr_on_one: "rr", 1;
    rr_on_two: "rr", 2;
    bfs_on_one: "bfs", 1;
    bfs_on_two: "bfs", 2;
    cfs_on_one: "cfs", 1;
    cfs_on_two: "cfs", 2;
    eevdf_on_one: "eevdf", 1;
    eevdf_on_two: "eevdf", 2;
    mlfq_on_one: "mlfq", 1;
    mlfq_on_two: "mlfq", 2;
    lottery_on_two: "lottery", 2;
    lottery_without_compensation_on_two: WINS_OFTEN, 2;
]}

// A scheduler without a rule is rejected, and by the rules by which the model may tell.
tests! { mutants, is_rejected, [
    bfs_without_deadline: "bfs?without=deadline", &["deadline"];
    bfs_without_preemption: "bfs?without=preemption", &["preemption"];
    bfs_without_sticky: "bfs?without=sticky", &["sticky"];
    bfs_without_idle: "bfs?without=idle", &["idle first"];
    cfs_without_granularity: "cfs?without=granularity", &["granularity"];
    cfs_without_balance: "cfs?without=balance", &["idle first", "work conserved"];
    cfs_without_sleeper: "cfs?without=sleeper", &["placement"];
    eevdf_without_eligibility: "eevdf?without=eligibility", &["eligibility"];
    eevdf_without_lag: "eevdf?without=lag", &["lag", "virtual time"];
    eevdf_without_preemption: "eevdf?without=preemption", &["preemption"];
    mlfq_without_preemption: "mlfq?without=preemption", &["preemption"];
    mlfq_without_allotment: "mlfq?without=allotment", &["allotment"];
    mlfq_without_boost: "mlfq?without=boost", &["boost"];
    lottery_without_draw: "lottery?without=draw", &["winner"];
    lottery_without_holder: "lottery?without=holder", &["holder"];
]}

// What `smoke` is worth: one recording of the same length rejects each scheduler that lacks a rule.
// Those of first come and of turns have none that can be left out.
tests! { broken_in_short, |_: &str, mutant, seconds| is_rejected_at_once(mutant, seconds), [
    bfs: "bfs?without=deadline", SMOKE_SECONDS;
    cfs: "cfs?without=balance", SMOKE_SECONDS;
    eevdf: "eevdf?without=lag", SMOKE_SECONDS;
    mlfq: "mlfq?without=allotment", SMOKE_SECONDS;
    lottery: "lottery?without=draw", SMOKE_SECONDS;
]}

#[test]
fn every_scheduler_of_ours_is_put_to_the_test_whole_and_in_short() {
    testing::begin();
    for algorithm in schedulers::own::ALGORITHMS {
        for tested in [&smoke::SCHEDULERS.concat()[..], whole::SCHEDULERS] {
            assert!(tested.contains(&algorithm.id), "{} is not among {tested:?}", algorithm.id);
        }
    }
    let broken = [mutants::SCHEDULERS, broken_in_short::SCHEDULERS];
    assert!(broken.iter().all(|mutants| !mutants.is_empty()));
}

/// The model accepts what a scheduler did; what the replay printed.
fn holds(scheduler: &str, vcpus: u32, seconds: u32) -> String {
    let output = replayed(scheduler, vcpus, seconds);
    accepted(scheduler, vcpus, seconds, output).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// The same of several, each recorded for a short time. All that are rejected are named: one must
/// not hide the next.
fn hold_in_short(schedulers: &[&str]) {
    if !has_guests() {
        return;
    }
    let outputs = schedulers.iter().zip(replayed_in_turn(schedulers));
    let refusals: Vec<String> = outputs
        .filter_map(|(scheduler, output)| accepted(scheduler, 2, SMOKE_SECONDS, output).err())
        .collect();
    assert!(refusals.is_empty(), "{}", refusals.join("\n"));
}

/// What a first replay printed, or one of another recording; or why the model rejects it.
fn accepted(
    scheduler: &str,
    vcpus: u32,
    seconds: u32,
    mut output: Output,
) -> Result<String, String> {
    let told = streams(&output).1;
    // Of fair draws one recording in a thousand is improbable; a biased one is so again. A guest that
    // got little of the host's time may not have put a rule to the test in so long.
    let again = [(": improbable: ", seconds), (": vacuous: ", seconds * MOST_TIMES_LONGER)];
    if let Some((_, seconds)) = again.into_iter().find(|(word, _)| told.contains(word)) {
        println!("{scheduler} on {vcpus}, recorded again for {seconds} s: {told}");
        output = replayed(scheduler, vcpus, seconds);
    }
    let (summary, told) = streams(&output);
    if !output.status.success() {
        return Err(format!("{scheduler} on {vcpus}: {told}"));
    }
    println!("{scheduler} on {vcpus}:\n{summary}");
    Ok(summary)
}

/// All of a scheduler: each rule holds, and none was never put to the test.
fn holds_with_every_rule(name: &str, scheduler: &str, vcpus: u32) {
    let is_lottery = scheduler.starts_with("lottery");
    let seconds = if is_lottery { SECONDS_OF_DRAWS } else { SECONDS };
    let Some(stamp) = stamp(name, &format!("{scheduler} {vcpus} {seconds}")) else { return };
    let decides = |summary: &str| {
        let draws = summary.lines().find_map(|line| line.strip_prefix("draws counted: "));
        let draws: u64 = draws.and_then(|count| count.parse().ok()).unwrap();
        let has_wins = scheduler != WINS_OFTEN || summary.contains("p of the shares won");
        draws >= LEAST_DRAWS && has_wins
    };
    let mut summary = holds(scheduler, vcpus, seconds);
    if is_lottery && !decides(&summary) {
        // A guest that got little of the host's time draws seldom.
        summary = holds(scheduler, vcpus, seconds * MOST_TIMES_LONGER);
        assert!(decides(&summary), "too few draws or wins decide no shares: {summary}");
    }
    stamp.leave();
}

fn is_rejected(name: &str, mutant: &str, rules: &[&str]) {
    let Some(stamp) = stamp(name, &format!("{mutant} {rules:?} {SECONDS}")) else { return };
    let is_named = (0..RECORDINGS).any(|_| {
        let output = replayed(mutant, 2, SECONDS);
        let (summary, told) = streams(&output);
        assert!(!output.status.success(), "{mutant} is accepted: {summary}");
        println!("{mutant}: {told}");
        rules.iter().any(|rule| told.contains(&format!(": {rule}: expected ")))
    });
    assert!(is_named, "{mutant} is not rejected by any of {rules:?}");
    stamp.leave();
}

fn is_rejected_at_once(mutant: &str, seconds: u32) {
    let output = replayed(mutant, 2, seconds);
    let (summary, told) = streams(&output);
    println!("{mutant}: {told}");
    assert!(!output.status.success(), "{mutant} is accepted after {seconds} s: {summary}");
    assert!(told.contains(": expected "), "{mutant} is not rejected by a rule: {told}");
}

fn streams(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Records a scheduler in a guest, and replays what it did on this machine.
fn replayed(scheduler: &str, vcpus: u32, seconds: u32) -> Output {
    let words = ["trace", &format!("lab:{scheduler}"), &seconds.to_string(), "-"];
    replay(&in_a_guest(&vcpus.to_string(), &words))
}

/// The same of several that are recorded in one guest, on two processors, each for a short time.
fn replayed_in_turn(schedulers: &[&str]) -> Vec<Output> {
    let seconds = SMOKE_SECONDS.to_string();
    let names: Vec<String> = schedulers.iter().map(|name| format!("lab:{name}")).collect();
    let mut words = vec!["traces", seconds.as_str()];
    words.extend(names.iter().map(String::as_str));
    let bytes = in_a_guest("2", &words);
    let mut rest = bytes.as_slice();
    let mut outputs = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<8>() {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap();
        let (trace, others) = after.split_at(length);
        outputs.push(replay(trace));
        rest = others;
    }
    assert_eq!((outputs.len(), rest.len()), (schedulers.len(), 0), "a trace of each");
    outputs
}

fn replay(trace: &[u8]) -> Output {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), trace).unwrap();
    std::process::Command::new(program()).arg("replay").arg(file.path()).output().unwrap()
}
