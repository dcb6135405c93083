//! Network tests against a far side that somebody has started.

use crate::bench::{Bench, errors};
use model::Record;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};

/// `schedlab net serve`, and where it listens.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(bench: &Bench) -> Self {
        let mut child = bench
            .command(&["net", "serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, address: line.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A quarter of a second: longer than a side waits for a CPU where tests beside it use all.
fn experiment(workload: &str) -> String {
    format!(
        "title = \"Does being nice cost a round trip?\"\nvenue = \"host\"\nblocks = 2\n\
         control = false\nsettle = \"0s\"\n\
         [subjects.baseline]\n[subjects.nice]\nnice = \"5\"\n\
         [[workloads]]\nuse = \"net\"\nwarm_up = \"10ms\"\nduration = \"250ms\"\ninvocations = 1\n\
         {workload}"
    )
}

fn records(bench: &Bench) -> Vec<Record> {
    bench.record_lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_port_in_use_is_said_and_a_signal_ends_the_far_side() {
    let bench = Bench::new();
    let mut server = Server::start(&bench);
    let taken = bench.run(&["net", "serve", "--listen", &server.address]);
    assert_eq!(taken.status.code(), Some(1));
    let told = errors(&taken);
    assert!(told.contains("in use") && told.contains(&server.address), "{told}");
    let named = bench.run(&["net", "serve", "--listen", "localhost:7171"]);
    assert_eq!(named.status.code(), Some(2), "{}", errors(&named));
    kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(143));
}

#[test]
fn subjects_measure_against_a_far_side_that_somebody_started() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let text = experiment(&format!("test = \"request\"\naddress = \"{}\"\n", server.address));
    let file = bench.experiment("requests", &text);
    bench.expect(0, &["run", &file]);
    let records = records(&bench);
    assert_eq!(records.len(), 4);
    for record in records {
        let samples = &record.invocations[0].samples;
        for source in ["round_trip", "requests_per_second", "retransmits"] {
            assert!(samples.iter().any(|sample| sample.source == source), "{source}");
        }
    }
}

#[test]
fn a_far_side_that_refuses_is_a_recorded_failure_and_a_name_is_refused_before_anything_runs() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bench = Bench::new();
    let file = bench.experiment("nobody", &experiment(&format!("address = \"{nobody}\"\n")));
    let told = bench.expect(6, &["run", &file]);
    assert!(told.contains("the far side refused it"), "{told}");
    assert!(records(&bench).iter().all(|record| record.invocations[0].samples.is_empty()));
    let bench = Bench::new();
    let file = bench.experiment("named", &experiment("address = \"localhost:7171\"\n"));
    let output = bench.run(&["run", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("names are not looked up"), "{}", errors(&output));
}

#[test]
fn a_second_guest_is_refused_where_there_can_be_none() {
    let bench = Bench::new();
    let told = |keys: &str, vm: &str| {
        let text = format!(
            "title = \"Where?\"\n{keys}\nblocks = 5\n[subjects.one]\n[subjects.two]\nnice = 5\n\
             [[workloads]]\nuse = \"net\"\nfar = \"guest\"\n{vm}"
        );
        let output = bench.run(&["plan", &bench.experiment("where", &text)]);
        assert_eq!(output.status.code(), Some(2));
        errors(&output)
    };
    let on_the_host = told("venue = \"host\"", "");
    assert!(on_the_host.contains("which only the venue `vm` has"), "{on_the_host}");
    let guests = "venue = \"vm\"\nkernel = \"path:/boot/none\"";
    let saved = told(guests, "[vm]\nsnapshot = true\n");
    assert!(saved.contains("remove `snapshot`"), "{saved}");
    let counted = told(guests, "[vm]\ndeterministic = true\n");
    assert!(counted.contains("remove `deterministic`"), "{counted}");
}
