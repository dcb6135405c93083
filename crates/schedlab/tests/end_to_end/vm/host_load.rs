//! Load from the host to a service in a guest, and from beside it.

use super::{Guests, find_program, has_guests, wait_until};
use crate::bench::{command_line, errors};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// What Python needs to serve: Debian's packages.
const PYTHON: [&str; 4] =
    ["python3-minimal", "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"];

fn can_serve() -> bool {
    if !has_guests() {
        return false;
    }
    let is_installed = |package: &str| {
        let told = Command::new("dpkg-query").args(["--show", package]).output();
        told.is_ok_and(|told| told.status.success())
    };
    if find_program("mksquashfs").is_some() && PYTHON.iter().all(|it| is_installed(it)) {
        return true;
    }
    testing::skip("a service in a guest needs python3 of Debian 12 and squashfs-tools");
    false
}

fn suites() -> String {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/service"));
    directory.canonicalize().unwrap().display().to_string()
}

/// One service that listens to all, loaded from the host and from beside it, with and without a
/// limit of its CPU time.
fn rest(workloads: &[(&str, &str)], more: &str) -> String {
    let directory = suites();
    let packages = PYTHON.map(|package| format!("\"{package}\"")).join(", ");
    let workload = |label: &str, at: &str| {
        format!(
            "[[workloads]]\nuse = \"service\"\nlabel = \"{label}\"\n\
             start = \"/usr/bin/python3.11 {directory}/tiny.py --address 0.0.0.0 --port 8080\"\n\
             address = \"127.0.0.1:8080\"\nready = \"/health\"\nready_within = \"120s\"\n\
             generator_at = \"{at}\"\nscenario = \"{directory}/tiny-load.toml\"\n\
             arrivals = \"closed\"\nconnections = 4\nwarm_up = \"500ms\"\n{more}\n"
        )
    };
    format!(
        "tools = [{packages}]\nfiles = [\"{directory}\"]\n\
         [subjects.baseline]\ncpu_max = \"max\"\n[subjects.limited]\ncpu_max = \"10ms/50ms\"\n{}",
        workloads.iter().map(|(label, at)| workload(label, at)).collect::<String>(),
    )
}

const FROM_HOST: (&str, &str) = ("from-host", "host");
const FROM_BESIDE: (&str, &str) = ("from-beside", "service");
const KEYS: &str = "blocks = 1\nvcpus = 2\nkernel = \"debian:6.12\"";

fn rate(record: &Value) -> f64 {
    let samples = record["invocations"][0]["samples"].as_array().unwrap();
    let sample = samples.iter().find(|one| one["source"] == "answers_per_second").unwrap();
    let part = |name: &str| sample["quotient"][name].as_f64().unwrap_or_else(|| panic!("{sample}"));
    part("numerator") / part("denominator")
}

#[test]
fn a_service_in_a_guest_is_loaded_from_the_host_or_from_beside_it_and_limited_alone() {
    if !can_serve() {
        return;
    }
    for (process, workloads) in [("warm", vec![FROM_HOST, FROM_BESIDE]), ("fresh", vec![FROM_HOST])]
    {
        let guests = Guests::new();
        let more = format!("process = \"{process}\"\nduration = \"2s\"");
        let file = guests.experiment(KEYS, &rest(&workloads, &more));
        let (planned, _) = guests.expect(0, &["plan", &file]);
        assert!(planned.contains("load from this host"), "{planned}");
        let (_, told) = guests.expect(0, &["run", &file]);
        let records = guests.records();
        assert_eq!(records.len(), 2 * workloads.len(), "{told}");
        let of = |workload: &str, subject: &str| {
            let is_it =
                |record: &&Value| record["workload"] == workload && record["subject"] == subject;
            let record = records.iter().find(is_it).unwrap();
            assert_eq!(record["outcome"]["kind"], "completed", "{}", record["outcome"]);
            let expected = if subject == "limited" { "10ms/50ms" } else { "max" };
            assert_eq!(record["levels"]["cpu_max"]["after"], expected, "{}", record["levels"]);
            rate(record)
        };
        for (workload, _) in workloads {
            let (limited, free) = (of(workload, "limited"), of(workload, "baseline"));
            assert!(limited < 0.7 * free, "{process} {workload}: {limited} against {free}");
        }
        guests.assert_nothing_is_left("after load from the host");
    }
}

/// The load generator is killed: the trial is no subject's failure, and runs again in a new guest.
#[test]
fn a_generator_on_the_host_that_is_killed_is_no_failure_of_the_subject() {
    if !can_serve() {
        return;
    }
    let guests = Guests::new();
    let file =
        guests.experiment(KEYS, &rest(&[FROM_HOST], "process = \"fresh\"\nduration = \"5s\""));
    let mut command = guests.command(&["run", &file]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let sender = || {
        let mut processes = guests.bench.processes().into_iter();
        processes.find(|pid| command_line(*pid).contains(contract::HOST_LOAD_ROLE))
    };
    // It has connections once it sends.
    let sends = |pid: i32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        links.filter(|link| link.to_string_lossy().starts_with("socket:")).count() > 3
    };
    wait_until("load from the host", || sender().is_some_and(sends));
    let pid = rustix::process::Pid::from_raw(sender().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let records = guests.records();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let invalid: Vec<&Value> =
        records.iter().filter(|record| record["outcome"]["kind"] == "invalid").collect();
    assert_eq!(invalid.len(), 1, "{:?}", errors(&output));
    assert_eq!(invalid[0]["outcome"]["rule"], "PEER_LOST", "{}", invalid[0]["outcome"]);
    let told = invalid[0]["outcome"]["detail"].as_str().unwrap();
    assert!(told.contains("generator on the host"), "{told}");
    let others = records.iter().filter(|record| record["outcome"]["kind"] == "completed");
    assert!(others.count() >= 2, "{}", errors(&output));
    guests.assert_nothing_is_left("after a killed generator");
}

/// Answers whatever is asked: a connection has a process. It starts in a second where Python takes
/// twenty.
const SERVER: &str = r#"
use IO::Socket::INET;
$SIG{CHLD} = "IGNORE";
my %where = (LocalAddr => "0.0.0.0", LocalPort => 8080, Listen => 16, ReuseAddr => 1);
my $listening = IO::Socket::INET->new(%where) or die "cannot listen: $!";
while (1) {
    my $connection = $listening->accept or next;
    next if fork;
    $connection->autoflush(1);
    while (my $line = <$connection>) {
        my $status = $line =~ /^POST/ ? "201 Created" : "200 OK";
        while ($line !~ /^\r?$/) { $line = <$connection> // exit }
        print $connection "HTTP/1.1 $status\r\nContent-Length: 8\r\n\r\nbalanced";
    }
    exit;
}
"#;

/// A trial that is cut short does not end the load that was sent to it: the next one begins in
/// another guest, with nothing beside it.
#[test]
fn a_trial_that_ends_before_its_load_from_the_host_ends_its_guest() {
    if !has_guests() {
        return;
    }
    const MODULES: &str = "/usr/lib/x86_64-linux-gnu/perl-base";
    if find_program("mksquashfs").is_none() || !Path::new(MODULES).is_dir() {
        testing::skip("a service in a guest needs perl-base of Debian and squashfs-tools");
        return;
    }
    let guests = Guests::new();
    let server = guests.bench.path().join("server.pl").display().to_string();
    std::fs::write(&server, SERVER).unwrap();
    let text = format!(
        "files = [\"/usr/bin/perl\", \"{MODULES}\", \"{server}\"]\n\
         [subjects.baseline]\ncpu_max = \"max\"\n[subjects.limited]\ncpu_max = \"10ms/50ms\"\n\
         [[workloads]]\nuse = \"service\"\nstart = \"/usr/bin/perl {server}\"\n\
         address = \"127.0.0.1:8080\"\nready = \"/health\"\nready_within = \"120s\"\n\
         generator_at = \"host\"\nscenario = \"{}/tiny-load.toml\"\narrivals = \"closed\"\n\
         connections = 4\nwarm_up = \"500ms\"\nprocess = \"warm\"\nduration = \"20s\"\n\
         time_limit = \"3s\"\n",
        suites()
    );
    let keys = KEYS.replace("vcpus = 2", "vcpus = 1");
    let file = guests.experiment(&keys, &text);
    let output = guests.command(&["run", &file]).output().unwrap();
    let records = guests.records();
    assert_eq!(records.len(), 2, "{}", errors(&output));
    for record in &records {
        assert_eq!(record["outcome"]["kind"], "failed", "{}", record["outcome"]);
        let reason = record["outcome"]["reason"].as_str().unwrap();
        assert!(reason.contains("longer than its time limit"), "{reason}");
    }
    assert_ne!(records[0]["boot_id"], records[1]["boot_id"], "one guest for both");
    guests.assert_nothing_is_left("after loads that were cut short");
}
