//! Schedulers as subjects: in charge while the workload runs, gone after it, and never a
//! number of another one when they leave before.

use super::prove::program;
use super::{Guests, has_guests, of};
use serde_json::Value;

/// Programs that the workloads of this file start in guests.
const FILES: &str = r#"files = ["/bin/sleep", "/usr/bin/pkill"]"#;

/// What each scheduler has to run here: long enough to be looked at before, meanwhile and after.
pub(super) const WORKLOADS: &str = r#"
[[workloads]]
use = "messaging"
groups = 1
loops = 5

[[workloads]]
use = "wakeup"
workers = 2
operations = 1
footprint = "16k"
duration = "500ms"
"#;

/// Which scheduler was seen in charge `before` or `after` a workload ran.
pub(super) fn reading<'r>(record: &'r Value, moment: &str) -> &'r str {
    record["levels"]["scheduler"][moment].as_str().unwrap_or_default()
}

#[test]
fn ours_are_in_charge_while_the_workload_runs_and_gone_after_it() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let algorithms = schedulers::own::ALGORITHMS.iter().map(|algorithm| algorithm.id);
    let ids: Vec<&str> = algorithms.collect();
    let mut rest = String::from("[subjects.fair]\nscheduler = \"fair\"\n");
    for id in &ids {
        rest.push_str(&format!("[subjects.{id}]\nscheduler = \"lab:{id}\"\n"));
    }
    rest.push_str(WORKLOADS);
    for kernel in ["debian:6.18", "debian:7.2"] {
        if kernel != "debian:6.18" && !is_cached(&guests, kernel) {
            continue;
        }
        let guests = Guests::new();
        let file =
            guests.experiment(&format!("blocks = 1\nvcpus = 1\nkernel = \"{kernel}\""), &rest);
        let (_, told) = guests.expect(0, &["run", &file]);
        let records = guests.records();
        assert_eq!(records.len(), 2 * (ids.len() + 1), "{told}");
        for record in &records {
            assert_eq!(record["outcome"]["kind"], "completed", "{kernel}: {record}");
        }
        for id in &ids {
            for record in of(&records, id, "") {
                let level = format!("lab:{id}");
                assert_eq!(reading(record, "before"), level, "{record}");
                assert_eq!(reading(record, "after"), level, "{record}");
                let facts = &record["fingerprint_difference"];
                assert_eq!(facts["scheduler.ops"], *id, "{record}");
                let in_force = facts["scheduler.in_force"].as_str().unwrap();
                assert!(in_force.starts_with(&format!("{id}?")), "{record}");
            }
        }
        for record in of(&records, "fair", "") {
            assert_eq!(reading(record, "after"), "fair", "{record}");
        }
        guests.assert_nothing_is_left(kernel);
    }
}

/// Whether a later kernel is here; it is not fetched for tests alone.
fn is_cached(guests: &Guests, kernel: &str) -> bool {
    let is_here = guests.bench.run(&["kernels", "show", kernel]).status.success();
    if !is_here {
        testing::unsupported(&format!("{kernel} is not cached: schedlab kernels fetch {kernel}"));
    }
    is_here
}

const LEAVING: &str = r#"
[subjects.fair]
scheduler = "fair"
[subjects.killed]
scheduler = "lab:rr"
[subjects.broken]
scheduler = "PROVE serve stall"
[subjects.nothing]
scheduler = "/bin/sleep 1"

[[workloads]]
label = "short"
use = "command"
run = ["/bin/sleep", "0.2"]
subjects = ["fair", "nothing"]

[[workloads]]
label = "killing"
use = "command"
run = ["/bin/sh", "-c", "sleep 1; pkill -KILL -f [_]_scheduler; sleep 20"]
subjects = ["killed"]

[[workloads]]
label = "long"
use = "command"
run = ["/bin/sleep", "15"]
subjects = ["broken"]
"#;

#[test]
fn a_scheduler_that_is_killed_stalls_or_never_comes_makes_its_trial_invalid_and_no_other() {
    if !has_guests() {
        return;
    }
    if super::find_program("pkill").is_none() {
        testing::skip("killing a scheduler in a guest needs pkill: apt-get install procps");
        return;
    }
    let guests = Guests::new();
    let rest = LEAVING.replace("PROVE", &program().display().to_string());
    let file = guests
        .experiment("blocks = 1\nvcpus = 1\nkernel = \"debian:6.18\"", &format!("{FILES}\n{rest}"));
    let (shown, told) = guests.expect(6, &["run", &file]);
    let records = guests.records();
    let outcome = |subject: &str| -> (String, String) {
        let own = of(&records, subject, "");
        let outcome = &own.first().unwrap_or_else(|| panic!("{subject}: {told}"))["outcome"];
        let text = |key: &str| outcome[key].as_str().unwrap_or_default().to_owned();
        assert_eq!(text("kind"), "invalid", "{subject}: {outcome}");
        (text("rule"), text("detail"))
    };
    let (rule, detail) = outcome("killed");
    assert_eq!(rule, "EJECTED", "{detail}");
    assert!(detail.contains("ended with signal 9"), "{detail}");
    assert!(detail.contains("disabled ("), "the kernel's reason is there: {detail}");
    let (rule, detail) = outcome("broken");
    assert_eq!(rule, "EJECTED", "{detail}");
    // Whichever notices first (kernel/sched/ext.c, 6.18): check_rq_for_timeouts or scx_tick.
    let is_stall = ["runnable task stall", "watchdog"].iter().any(|word| detail.contains(word));
    assert!(is_stall, "{detail}");
    let (rule, detail) = outcome("nothing");
    assert_eq!(rule, "LEVEL_NOT_SET", "{detail}");
    assert!(detail.contains("its program ended"), "{detail}");
    for record in of(&records, "fair", "") {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
    }
    assert!(shown.contains("EJECTED"), "{shown}");
    guests.assert_nothing_is_left("after schedulers that left");
}
