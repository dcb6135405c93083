//! Processes that are stopped while a trial runs: it has no numbers, and its block runs again.

use crate::bench::Bench;
use serde_json::Value;

/// The executor, which is the parent of the load process; that is the parent of the program.
const STOP_EXECUTOR: &str = "read -r pid name state executor rest </proc/$PPID/stat; \
                             kill -STOP $executor; sleep 5; kill -CONT $executor";
const STOP_LOAD: &str = "kill -STOP $PPID; sleep 1; kill -CONT $PPID";
/// Another process of the workload.
const STOP_WORKER: &str = "sleep 3 & sleep 0.2; kill -STOP $!; sleep 6; kill -CONT $!; wait";
/// As programs do that control their own jobs.
const STOP_BRIEFLY: &str = "sleep 1 & sleep 0.2; kill -STOP $!; sleep 0.3; kill -CONT $!; wait";

/// The records of a campaign of one block in which the first trial does this and all others sleep.
fn records(deed: &str, time_limit: &str) -> (Bench, Vec<Value>) {
    let bench = Bench::new();
    let once = bench.path().join("once").display().to_string();
    let script = format!("mkdir {once} 2>/dev/null && {{ {deed}; }}; sleep 0.1; exit 0");
    let text = format!(
        "title = \"stops\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\n\
         probes = []\n[subjects.a]\n[subjects.b]\nnice = \"1\"\n\
         [[workloads]]\nuse = \"command\"\nrun = [\"/bin/sh\", \"-c\", '{script}']\n\
         time_limit = \"{time_limit}\"\ninvocations = 1\n"
    );
    let file = bench.experiment("stops", &text);
    bench.expect(0, &["run", &file]);
    let lines = bench.record_lines();
    let records = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    (bench, records)
}

/// The one trial that something was done to: its block ran again, and all others completed.
fn suspended(deed: &str, time_limit: &str) -> Value {
    let (bench, records) = records(deed, time_limit);
    let (suspended, others): (Vec<Value>, Vec<Value>) =
        records.into_iter().partition(|record| record["outcome"]["kind"] == "invalid");
    let [suspended] = &suspended[..] else { panic!("{suspended:?} {others:?}") };
    assert_eq!(suspended["outcome"]["rule"], "SUSPENDED", "{suspended}");
    assert!(is_marked(suspended), "{suspended}");
    assert_eq!(suspended["block"], 0);
    assert_eq!(others.len(), 3, "the rest of its block, and the block again: {others:?}");
    for record in &others {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        assert!(!is_marked(record), "{record}");
    }
    let plan = std::fs::read_to_string(bench.campaign().join("plan.json")).unwrap();
    assert!(plan.contains("block 1 runs again"), "{plan}");
    suspended.clone()
}

/// Whether its caveats name it; a busy machine has others.
fn is_marked(record: &Value) -> bool {
    let caveats = record["caveats"].as_array();
    caveats.is_some_and(|all| all.iter().any(|caveat| caveat["code"] == "SUSPENDED"))
}

fn detail(record: &Value) -> &str {
    record["outcome"]["detail"].as_str().unwrap()
}

#[test]
fn a_trial_whose_executor_was_stopped_runs_again() {
    if sys::ThreadSchedstat::open().is_none() || !sys::is_timer_prompt() {
        testing::skip("this kernel does not tell what waits for a CPU from what stands still");
        return;
    }
    let record = suspended(STOP_EXECUTOR, "60s");
    assert!(detail(&record).starts_with("the executor neither ran nor waited"), "{record}");
    let disturbance = &record["invocations"][0]["disturbance"];
    let stood_still_ns = disturbance["stood_still_ns"].as_u64().unwrap();
    assert!((3_000_000_000..60_000_000_000).contains(&stood_still_ns), "{record}");
}

#[test]
fn a_trial_whose_load_process_was_stopped_runs_again_however_short_the_stop() {
    let record = suspended(STOP_LOAD, "60s");
    assert!(detail(&record).contains("the load process ("), "{record}");
}

#[test]
fn a_stop_beyond_the_time_limit_is_no_failure_of_the_subject() {
    let stop = STOP_LOAD.replace("sleep 1", "sleep 30");
    let record = suspended(&stop, "5s");
    assert!(detail(&record).contains("the load process ("), "{record}");
}

#[test]
fn a_trial_of_which_a_process_was_stopped_for_seconds_runs_again() {
    let record = suspended(STOP_WORKER, "60s");
    assert!(detail(&record).contains("sleep ("), "{record}");
    assert!(detail(&record).contains("of the trial was stopped for"), "{record}");
}

#[test]
fn what_a_workload_stops_briefly_by_itself_is_its_own_affair() {
    let (_, records) = records(STOP_BRIEFLY, "60s");
    assert_eq!(records.len(), 2, "{records:?}");
    assert!(records.iter().all(|record| record["outcome"]["kind"] == "completed"), "{records:?}");
    for record in &records {
        let disturbance = &record["invocations"][0]["disturbance"];
        assert!(
            disturbance["stood_still_ns"].as_u64().is_none_or(|still_ns| still_ns < 2_000_000_000)
        );
    }
}
