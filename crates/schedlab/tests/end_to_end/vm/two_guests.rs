//! A second guest as the far side of network tests: a cable between two machines and nothing else.

use super::{Guests, caveats, has_guests, kill, of, wait_until};
use crate::bench::{command_line, errors};
use std::path::Path;
use std::process::Stdio;

/// Each test between two guests, one of them beside CPU load, most for one subject; and one inside the subject's guest,
/// whose kernel has netem.
const TESTS: &str = r#"
modules = ["veth", "sch_netem"]
[subjects.even]
[subjects.short]
base_slice = "0.75ms"

[[workloads]]
use = "net"
label = "connect"
far = "guest"
test = "connect"
duration = "600ms"

[[workloads]]
use = "net"
label = "request"
far = "guest"
test = "request"
duration = "600ms"

[[workloads]]
use = "net"
label = "stream"
far = "guest"
test = "stream_both"
duration = "2s"
load = "cpu:1"

[[workloads]]
use = "net"
label = "messages"
subjects = ["even"]
far = "guest"
test = "messages"
duration = "600ms"

[[workloads]]
use = "net"
label = "one-way"
subjects = ["even"]
far = "guest"
test = "stream"
duration = "600ms"

[[workloads]]
use = "net"
label = "datagrams"
subjects = ["even"]
far = "guest"
test = "datagrams"
rate = 200
duration = "600ms"

[[workloads]]
use = "net"
label = "delayed"
subjects = ["even"]
far = "namespace"
test = "request"
delay = "5ms"
delay_by = "netem"
duration = "600ms"
"#;

/// What links are called that schedlab makes, all of them in namespaces of their own
/// (`net-workloads`, `NamespaceLink`).
const OWN_LINKS: [&str; 2] = ["near", "far"];

/// The links of this machine that have such a name. Others come and go as its users please.
fn own_links() -> Vec<&'static str> {
    let is_there = |name: &&str| Path::new("/sys/class/net").join(name).exists();
    OWN_LINKS.into_iter().filter(is_there).collect()
}

/// How many tunnels a process has open, each a link of this machine.
fn tunnels(pid: i32) -> usize {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let paths = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    paths.filter(|path| path.starts_with("/dev/net/tun")).count()
}

#[test]
fn the_tunnels_of_a_process_are_counted() {
    testing::begin();
    let own = std::process::id().cast_signed();
    assert_eq!(tunnels(own), 0);
    let open = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    match open {
        Ok(_tunnel) => assert_eq!(tunnels(own), 1),
        Err(error) => testing::unsupported(&format!("tunnels: {error}")),
    }
}

#[test]
fn every_network_test_runs_between_two_guests_and_the_host_has_no_part_in_it() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let before = own_links();
    let file = guests.experiment("blocks = 1\nkernel = \"debian:6.12\"\nvcpus = 2", TESTS);
    let (planned, _) = guests.expect(0, &["plan", &file]);
    assert!(planned.contains("a second guest beside each"), "{planned}");
    let mut command = guests.command(&["run", &file]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the first record", || guests.record_count() > 0);
    let machines = guests.machines();
    assert_eq!(machines.len(), 2);
    for machine in machines {
        // Not a port, not a bridge, not a path: a descriptor.
        let words = command_line(machine);
        assert_eq!(words.matches("-netdev").count(), 1, "{words}");
        assert!(words.contains("-netdev socket,id=cable,fd="), "{words}");
        assert_eq!(tunnels(machine), 0, "{words}");
    }
    assert_eq!(own_links(), before);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let environment = std::fs::read_to_string(guests.bench.campaign().join("environment.json"));
    assert!(environment.unwrap().contains("vm.second_guest"));
    let records = guests.records();
    assert_eq!(records.len(), 3 * 2 + 4);
    for record in &records {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        assert_eq!(record["levels"]["vcpus"]["after"], "2", "{record}");
        if sys_cpus() < 4 {
            assert!(caveats(record).contains(&"OVERCOMMIT"), "{record}");
            assert!(record["caveats"].to_string().contains("4 processors on"), "{record}");
        }
    }
    for (workload, source) in [
        ("connect", "connect"),
        ("request", "round_trip"),
        ("stream", "throughput_in"),
        ("one-way", "throughput"),
        ("messages", "messages_per_second"),
        ("datagrams", "messages_per_second"),
        ("delayed", "round_trip"),
    ] {
        for record in of(&records, "", workload) {
            let samples = record["invocations"][0]["samples"].as_array().unwrap();
            let has = samples.iter().any(|sample| sample["source"] == source);
            assert!(has, "{workload}: {samples:?}");
        }
    }
    for record in of(&records, "", "delayed") {
        let record: model::Record = serde_json::from_value(record.clone()).unwrap();
        let samples = &record.invocations[0].samples;
        let round_trip = samples.iter().find(|sample| sample.source == "round_trip").unwrap();
        let model::SampleData::Histogram(times) = &round_trip.data else {
            panic!("{round_trip:?}");
        };
        let least_ns = times.min().unwrap();
        assert!(least_ns >= 2 * 5_000_000, "the kernel held it {least_ns} ns");
    }
    guests.assert_nothing_is_left("after two guests");
    assert_eq!(own_links(), before);
}

fn sys_cpus() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

#[test]
fn a_second_guest_that_is_lost_makes_no_subject_fail_and_the_next_trial_has_another() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let text = r#"
[subjects.even]
[subjects.nice]
nice = 5

[[workloads]]
use = "net"
label = "first"
far = "guest"
duration = "100ms"

[[workloads]]
use = "net"
label = "second"
far = "guest"
test = "request"
duration = "3s"
"#;
    let keys = "blocks = 1\nkernel = \"debian:6.12\"\nvcpus = 1";
    let file = guests.experiment(keys, text);
    let mut command = guests.command(&["run", &file]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let running = || guests.events().matches(r#""running""#).count() > guests.record_count();
    wait_until("a trial that runs", running);
    let peers = guests
        .machines()
        .into_iter()
        .filter(|machine| command_line(*machine).contains(contract::PEERS_LINK.hardware_address));
    let [peer] = peers.collect::<Vec<_>>()[..] else { panic!("one of two is the second") };
    kill(peer, rustix::process::Signal::KILL);
    let output = child.wait_with_output().unwrap();
    let told = errors(&output);
    let records = guests.records();
    let (invalid, completed): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| record["outcome"]["kind"] == "invalid");
    let [invalid] = invalid[..] else { panic!("{told}\n{records:?}") };
    assert_eq!(invalid["outcome"]["rule"], "PEER_LOST", "{invalid}");
    assert!(completed.iter().all(|record| record["outcome"]["kind"] == "completed"), "{told}");
    assert!(completed.iter().any(|record| record["boot_id"] != invalid["boot_id"]), "{told}");
    guests.assert_nothing_is_left("after a second guest was killed");
}
