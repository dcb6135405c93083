//! Designs of a gateway compared on this host.

use crate::bench::{Bench, errors};
use model::{Outcome, Record};
use std::collections::BTreeSet;
use std::net::TcpListener;

fn experiment(workload: &str) -> String {
    format!(
        "title = \"What does a handoff cost?\"\nvenue = \"host\"\nblocks = 5\ncontrol = false\n\
         settle = \"0s\"\n\
         [subjects.local]\n[subjects.handed]\ngateway = {{ workers = 2, route = \"one_way\" }}\n\
         [[workloads]]\nuse = \"gateway\"\nrequests = 400\nwarm_up = 50\ninflight_total = 1\n\
         invocations = 1\nprimary = [\"round_trip_p50\"]\n{workload}"
    )
}

fn records(bench: &Bench) -> Vec<Record> {
    bench.record_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn subjects_run_their_own_designs_and_the_report_says_where_the_time_goes() {
    let bench = Bench::new();
    let file = bench.experiment("designs", &experiment(""));
    bench.expect(0, &["run", &file]);
    let mut completed = BTreeSet::new();
    for record in records(&bench) {
        if let Outcome::Failed { reason } = &record.outcome {
            // One that loses its CPU between the end of a stage and the begin of the next.
            assert!(reason.contains("the stages add up to"), "{reason}");
            continue;
        }
        completed.insert(record.subject.clone());
        let has = |source: &str| {
            record.invocations[0].samples.iter().any(|sample| sample.source == source)
        };
        assert!(has("round_trip") && has("exchange_mean"));
        assert_eq!(has("handoff"), record.subject == "handed", "{}", record.subject);
    }
    assert!(completed.iter().map(String::as_str).eq(["handed", "local"]), "{completed:?}");
    let markdown = bench.expect(0, &["report", "last", "--format", "markdown", "-o", "-"]);
    assert!(markdown.contains("gateway: where round trip mean goes"), "{markdown}");
    assert!(markdown.contains("| handed | handoff |"), "{markdown}");
    assert!(!markdown.contains("| local | handoff |"), "{markdown}");
    assert!(markdown.contains("In all, handed takes "), "{markdown}");
    assert!(markdown.contains("gateway.route = one_way"), "{markdown}");
}

#[test]
fn a_port_in_use_is_a_failure_with_its_reason_and_a_cpu_that_is_not_there_none_at_all() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let bench = Bench::new();
    let file = bench.experiment("taken", &experiment(&format!("port = {port}\n")));
    let told = bench.expect(6, &["run", &file]);
    assert!(told.contains("in use"), "{told}");
    assert!(records(&bench).iter().all(|record| record.invocations[0].samples.is_empty()));
    let bench = Bench::new();
    let file = bench.experiment("nowhere", &experiment("gateway_cpus = \"1023\"\n"));
    let output = bench.run(&["run", &file]);
    assert_eq!(output.status.code(), Some(4));
    assert!(errors(&output).contains("CPU 1023 for the gateway"), "{}", errors(&output));
}
