//! The adapters of iperf3 and sockperf: the tools themselves, where they are installed.

use super::scheduling::children;
use super::{
    TestMachine, conflicts, histogram_count, look_until, parameters, proportion, quotient,
    run_before_neighbours, values,
};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Whether the tool is here; a test without it says so.
pub fn has(tool: &str) -> bool {
    let is_here = TestMachine::new().machine.program(tool).is_some();
    if !is_here {
        testing::skip(&format!("{tool} is not installed: apt-get install {tool}"));
    }
    is_here
}

fn rate(measurement: &contract::Measurement, source: &str) -> f64 {
    let (count, seconds) = quotient(measurement, source);
    assert!(count > 0.0 && seconds > 0.5, "{source}: {count} in {seconds} s");
    count / seconds
}

pub fn iperf3_measures_each_direction_of_a_stream() {
    if !has("iperf3") {
        return;
    }
    for (direction, warm_up, connections, names) in [
        ("out", "1s", "1", &["throughput"][..]),
        ("in", "0s", "3", &["throughput"]),
        ("both", "0s", "2", &["throughput_out", "throughput_in"]),
    ] {
        let parameters = parameters(
            "iperf3",
            &[
                ("direction", direction),
                ("connections", connections),
                ("warm_up", warm_up),
                ("duration", "1s"),
            ],
        );
        let measurement = TestMachine::new().run("iperf3", &parameters);
        for name in names {
            assert!(rate(&measurement, name) > 1e6, "{measurement:?}");
        }
    }
}

pub fn iperf3_keeps_its_bandwidth_and_counts_datagrams() {
    if !has("iperf3") {
        return;
    }
    run_before_neighbours();
    for direction in ["out", "in"] {
        let parameters = parameters(
            "iperf3",
            &[
                ("protocol", "udp"),
                ("direction", direction),
                ("size", "100"),
                ("bandwidth", "200k"),
                ("connections", "2"),
                ("warm_up", "0s"),
                ("duration", "1s"),
            ],
        );
        // 2000 datagrams of 100 bytes in a second, and those that arrived over the time that iperf3
        // took for them: a second and what it was late.
        let is_kept = |measurement: &contract::Measurement| {
            let (lost, expected) = proportion(measurement, "lost");
            let seconds = (expected - lost) as f64 / rate(measurement, "messages_per_second");
            (1500..2500).contains(&expected) && (0.9..2.0).contains(&seconds)
        };
        let measurement = look_until(|| TestMachine::new().run("iperf3", &parameters), is_kept);
        assert!(is_kept(&measurement), "{direction}: {measurement:?}");
        let (lost, expected) = proportion(&measurement, "lost");
        assert_eq!(measurement.operations, Some(expected - lost));
        assert!(values(&measurement, "jitter")[0] >= 0.0);
    }
}

pub fn sockperf_measures_every_message() {
    if !has("sockperf") {
        return;
    }
    run_before_neighbours();
    for (test, protocol, rate_of_messages, reply_every) in [
        ("ping_pong", "udp", "0", "10"),
        ("ping_pong", "tcp", "0", "10"),
        ("under_load", "udp", "2000", "10"),
        ("under_load", "tcp", "2000", "5"),
    ] {
        let parameters = parameters(
            "sockperf",
            &[
                ("test", test),
                ("protocol", protocol),
                ("rate", rate_of_messages),
                ("reply_every", reply_every),
                ("duration", "1s"),
            ],
        );
        let share = |measurement: &contract::Measurement| {
            let (count, seconds) = quotient(measurement, "replies_per_second");
            count / seconds * reply_every.parse::<f64>().unwrap() / 2000.0
        };
        let is_kept = |measurement: &contract::Measurement| {
            test != "under_load" || (0.7..1.3).contains(&share(measurement))
        };
        let measurement = look_until(|| TestMachine::new().run("sockperf", &parameters), is_kept);
        let replies = histogram_count(&measurement, "round_trip");
        assert_eq!(measurement.operations, Some(replies));
        let (lost, expected) = proportion(&measurement, "lost");
        assert_eq!(expected, replies + lost);
        assert!(is_kept(&measurement), "{protocol}: {} of what was asked", share(&measurement));
    }
}

pub fn each_says_what_is_not_there() {
    // Nobody listens where somebody has just stopped.
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for (id, settings, said) in [
        ("iperf3", &[("address", unused.as_str()), ("duration", "1s")][..], "Connection refused"),
        ("sockperf", &[("address", &unused), ("duration", "1s"), ("protocol", "tcp")], "refused"),
        (
            "sockperf",
            &[("address", &unused), ("duration", "1s"), ("protocol", "udp")],
            "Is the server down?",
        ),
    ] {
        if !has(id) {
            continue;
        }
        let parameters = parameters(id, settings);
        let error = TestMachine::new().prepare(id, &parameters).unwrap().run().unwrap_err();
        assert!(error.cause.contains(said), "{error}");
        assert_eq!(error.attempted, format!("{id} failed"));
    }
}

pub fn a_killed_server_is_to_blame() {
    for id in ["iperf3", "sockperf"] {
        if !has(id) {
            continue;
        }
        let place = TestMachine::new();
        let settings = [("duration", "2s")];
        let mut load = place.prepare(id, &parameters(id, &settings)).unwrap();
        let serves = |pid: &i32| {
            let words = place.machine.read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.contains("server")
        };
        let server = children(&place.machine).into_iter().find(serves).unwrap();
        // SAFETY: it is a child of ours that nobody has reaped.
        unsafe { libc::kill(server, libc::SIGKILL) };
        let error = load.run().unwrap_err();
        assert!(error.to_string().contains("the server failed: signal 9"), "{error}");
    }
}

/// sockperf itself ends well, whatever becomes of its server.
pub fn a_server_that_is_killed_in_the_run_fails_it() {
    if !has("sockperf") {
        return;
    }
    for settings in [
        [("test", "ping_pong"), ("protocol", "udp")],
        [("test", "under_load"), ("protocol", "tcp")],
    ] {
        let place = TestMachine::new();
        let parameters = parameters("sockperf", &[&settings[..], &[("duration", "3s")]].concat());
        let mut load = place.prepare("sockperf", &parameters).unwrap();
        let serves = |pid: &i32| {
            let words = place.machine.read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.contains("server")
        };
        let server = children(&place.machine).into_iter().find(serves).unwrap();
        // Another process, for this one must stay with one thread.
        // SAFETY: the process has one thread; the child only sleeps, kills and ends.
        let killer = unsafe { libc::fork() };
        if killer == 0 {
            std::thread::sleep(Duration::from_millis(1500));
            // SAFETY: the server is a child of our parent, which reaps it after us.
            unsafe { libc::kill(server, libc::SIGKILL) };
            // SAFETY: the child ends here without running the parent's destructors.
            unsafe { libc::_exit(0) };
        }
        let error = load.run().unwrap_err();
        let mut status = 0;
        // SAFETY: `status` is a valid place for the child's status.
        unsafe { libc::waitpid(killer, &raw mut status, 0) };
        assert!(error.to_string().contains("the server failed: signal 9"), "{error}");
    }
}

/// One that takes the connection and says nothing more.
pub fn a_server_that_says_nothing_is_given_up() {
    if !has("iperf3") {
        return;
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let settings = [("address", address.as_str()), ("warm_up", "0s"), ("duration", "1s")];
    let place = TestMachine::new();
    let mut load = place.prepare("iperf3", &parameters("iperf3", &settings)).unwrap();
    let began = std::time::Instant::now();
    let error = load.run().unwrap_err();
    assert!(error.to_string().contains("iperf3 did not end"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(300), "{:?}", began.elapsed());
}

/// A server that a user has started; gone when dropped.
struct Users(Child);

impl Drop for Users {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

pub fn iperf3_uses_a_server_of_the_users() {
    if !has("iperf3") {
        return;
    }
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let users = Command::new("iperf3")
        .args(["--server", "--bind", "127.0.0.1", "--port", &address.port().to_string()])
        .stdout(Stdio::null())
        .spawn();
    let _users = Users(users.unwrap());
    let text = address.to_string();
    let parameters =
        parameters("iperf3", &[("address", &text), ("warm_up", "0s"), ("duration", "1s")]);
    // It serves a moment later, and several runs one after the other.
    for _ in 0..3_000 {
        if std::net::TcpStream::connect(address).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..2 {
        let place = TestMachine::new();
        assert!(rate(&place.run("iperf3", &parameters), "throughput") > 1e6);
        let own = place.launch.scratch.join("server-stdout");
        assert!(!own.exists(), "a server of ours beside the user's");
    }
}

/// A workload, its parameters, and why it is refused.
type Refused = (&'static str, &'static [(&'static str, &'static str)], &'static str);

pub fn what_cannot_be_meant_is_refused() {
    let cases: &[Refused] = &[
        ("iperf3", &[("address", "localhost:5201")], "names are not looked up"),
        ("iperf3", &[("duration", "1500ms")], "duration: this program takes whole seconds"),
        ("iperf3", &[("warm_up", "1ms")], "warm_up: this program takes whole seconds"),
        ("iperf3", &[("protocol", "udp"), ("direction", "both")], "datagrams go one way"),
        ("iperf3", &[("protocol", "udp"), ("address", "192.0.2.7:5201")], "need a bandwidth"),
        ("iperf3", &[("protocol", "udp"), ("size", "65508")], "a datagram has 65507 bytes"),
        ("sockperf", &[("address", "192.0.2.7")], "expected IP:PORT"),
        ("sockperf", &[("duration", "1001ms")], "duration: this program takes whole seconds"),
    ];
    for (id, settings, why) in cases {
        let found = conflicts(id, &parameters(id, settings));
        assert!(found.len() == 1 && found[0].contains(why), "{found:?}");
    }
}
