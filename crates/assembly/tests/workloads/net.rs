//! `net`, really run.

use super::*;
use net_workloads::NetServer;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// A fraction of a second, and longer than a side waits for a CPU where tests beside it use all.
const SHORT: [(&str, &str); 2] = [("warm_up", "10ms"), ("duration", "250ms")];
const TESTS: [&str; 6] = ["connect", "request", "stream", "stream_both", "messages", "datagrams"];

/// The first of a name counts.
fn with<'a>(settings: &[(&'a str, &'a str)]) -> Parameters {
    parameters("net", &[settings, &SHORT[..]].concat())
}

/// Whether this machine can do it; where it cannot, that is said.
fn can(parameters: &Parameters) -> bool {
    let needs = facts("net", parameters).requirements;
    assert!(!needs.is_empty());
    let lack = needs.iter().find_map(|need| need.met(&TestMachine::new().machine).err());
    if let Some(lack) = &lack {
        testing::skip(&format!("{}: {} ({})", lack.what, lack.why, lack.remedy));
    }
    lack.is_none()
}

fn histogram<'a>(measurement: &'a Measurement, source: &str) -> &'a model::Histogram {
    let SampleData::Histogram(histogram) = data(measurement, source) else { panic!("{source}") };
    histogram
}

fn rate(measurement: &Measurement, source: &str) -> f64 {
    let (count, seconds) = quotient(measurement, source);
    assert!(count > 0.0 && seconds > 0.0, "{source}: {count} in {seconds} s");
    count / seconds
}

/// What every run of a test must have, whatever lies between both sides.
fn check(test: &str, measurement: &Measurement) {
    match test {
        "connect" => {
            let (retries, all) = proportion(measurement, "connect_retries");
            assert_eq!(Some(all), measurement.operations);
            assert_eq!(histogram_count(measurement, "connect"), all - retries);
            assert_eq!(quotient(measurement, "connects_per_second").0, all as f64);
        }
        "request" => {
            let all = histogram_count(measurement, "round_trip");
            assert_eq!(Some(all), measurement.operations);
            assert_eq!(quotient(measurement, "requests_per_second").0, all as f64);
        }
        "stream" => assert!(rate(measurement, "throughput") > 0.0),
        "stream_both" => {
            assert!(rate(measurement, "throughput_out") > 0.0);
            assert!(rate(measurement, "throughput_in") > 0.0);
        }
        "messages" => {
            // The first begins the span of each connection.
            let (received, _) = quotient(measurement, "messages_per_second");
            assert!(received > 0.0 && received < measurement.operations.unwrap() as f64);
        }
        _ => {
            let (lost, sent) = proportion(measurement, "lost");
            let (reordered, arrived) = proportion(measurement, "reordered");
            assert_eq!(Some(sent), measurement.operations);
            assert_eq!(lost + arrived, sent);
            assert!(reordered < arrived, "{reordered} of {arrived}");
        }
    }
}

/// Shown with the tests, so that somebody who reads them sees what this machine gives.
fn tell(test: &str, how: &str, measurement: &Measurement) {
    let mut told = Vec::new();
    for sample in &measurement.samples {
        let source = &sample.source;
        told.push(match &sample.data {
            SampleData::Histogram(times) => {
                let at = |quantile| times.quantile(quantile).unwrap_or_default() as f64 / 1e3;
                format!("{source} p50 {:.1} p99 {:.1} us", at(0.5), at(0.99))
            }
            SampleData::Quotient { numerator, denominator } => {
                format!("{source} {:.0}", numerator / denominator)
            }
            SampleData::Proportion { successes, attempts } => {
                format!("{source} {successes}/{attempts}")
            }
            SampleData::Values(values) => format!("{source} {values:?}"),
        });
    }
    println!("  {test}, {how}: {}", told.join(", "));
}

pub(crate) fn measures_each_test_on_loopback() {
    for test in TESTS {
        for connections in ["1", "3"] {
            let parameters = with(&[("test", test), ("connections", connections)]);
            let measurement = TestMachine::new().run("net", &parameters);
            check(test, &measurement);
            tell(test, &format!("{connections} on loopback"), &measurement);
            let waits = ["connect", "request"].contains(&test);
            assert_eq!(facts("net", &parameters).is_closed_loop, waits);
        }
    }
    // Messages that no single read holds, and whose end falls anywhere in one. A receiver's buffer
    // has room for a few datagrams of this size: all others of a time without a CPU are lost, and a
    // rate needs two that arrive.
    for (test, size, duration) in [
        ("request", "300000", "250ms"),
        ("messages", "70001", "250ms"),
        ("datagrams", "60000", "1s"),
    ] {
        let settings = with(&[("test", test), ("size", size), ("duration", duration)]);
        let measurement = TestMachine::new().run("net", &settings);
        check(test, &measurement);
    }
}

/// As many operations as the rate says, however late some of them were.
pub(crate) fn sends_at_its_rate_in_an_open_loop() {
    for test in ["connect", "request", "messages", "datagrams"] {
        let settings = [("test", test), ("rate", "1000"), ("connections", "2")];
        let parameters = parameters(
            "net",
            &[&[("warm_up", "20ms"), ("duration", "200ms")], &settings[..]].concat(),
        );
        let measurement = TestMachine::new().run("net", &parameters);
        check(test, &measurement);
        tell(test, "1000 per second", &measurement);
        let made = measurement.operations.unwrap();
        // Rounding moves one of each connection to the other side of a bound.
        assert!((198..=202).contains(&made), "{test}: {made}");
        assert_eq!(histogram_count(&measurement, "lateness"), made, "{test}");
        assert!(!facts("net", &parameters).is_closed_loop);
    }
}

pub(crate) fn joins_two_namespaces() {
    if !can(&with(&[("far", "namespace")])) {
        return;
    }
    for test in TESTS {
        let parameters = with(&[("test", test), ("far", "namespace"), ("connections", "2")]);
        let measurement = TestMachine::new().run("net", &parameters);
        check(test, &measurement);
        tell(test, "2 by veth", &measurement);
    }
}

/// A round trip takes two delays and not much less than ten; the delay line says how late it
/// was.
pub(crate) fn has_a_line_with_a_delay() {
    const DELAY_NS: u64 = 20_000_000;
    let settings = |test| {
        let line = [("far", "namespace"), ("delay", "20ms"), ("duration", "400ms")];
        parameters("net", &[&[("test", test), ("warm_up", "50ms")], &line[..]].concat())
    };
    if !can(&settings("connect")) {
        return;
    }
    for test in TESTS {
        // A line that was late itself fails the run, rightly, where this machine is busy.
        let place = TestMachine::new();
        let mut load = place.prepare("net", &settings(test)).unwrap();
        let measurement = load.run().unwrap();
        if let Err(why) = load.verify(&RunReport::default()) {
            assert!(why.contains("delay line was too late"), "{test}: {why}");
            testing::unsupported(&why);
        }
        check(test, &measurement);
        tell(test, "20 ms one way", &measurement);
        assert!(histogram_count(&measurement, "line_lateness") > 0);
        assert!(proportion(&measurement, "line_dropped").1 > 0);
        let source = match test {
            "connect" => "connect",
            "request" => "round_trip",
            _ => continue,
        };
        let times = histogram(&measurement, source);
        assert!(times.min().unwrap() >= 2 * DELAY_NS, "{test}: {:?}", times.min());
        assert!(times.quantile(0.5).unwrap() < 10 * DELAY_NS, "{test}: {:?}", times.quantile(0.5));
    }
}

/// The namespaces of the workload are its processes': its parent stays where it was.
pub(crate) fn leaves_the_namespace_of_its_caller() {
    let parameters = with(&[("far", "namespace"), ("delay", "1ms")]);
    if !can(&parameters) {
        return;
    }
    let own = || std::fs::read_link("/proc/self/ns/net").unwrap();
    let of = |pid: i32| std::fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    let before = own();
    let place = TestMachine::new();
    let load = place.prepare("net", &parameters).unwrap();
    assert_eq!(own(), before);
    let pids = children();
    // The far side, the relay, the near side.
    assert_eq!(pids.len(), 3);
    let spaces: BTreeSet<_> = pids.iter().map(|pid| of(*pid)).collect();
    assert_eq!(spaces.len(), 3, "{spaces:?}");
    assert_eq!(of(pids[1]), before, "a relay needs no namespace");
    drop(load);
}

fn children() -> Vec<i32> {
    let path = format!("/proc/self/task/{}/children", std::process::id());
    let text = std::fs::read_to_string(path).unwrap();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Runs this in a child; what it is told through a pipe ends it.
struct Elsewhere {
    pid: i32,
    end: Option<std::os::fd::OwnedFd>,
}

impl Elsewhere {
    fn new(life: impl FnOnce(std::os::fd::OwnedFd)) -> Self {
        let (told, end) = rustix::pipe::pipe().unwrap();
        // SAFETY: the process has one thread; the child runs `life` and ends.
        let pid = unsafe { libc::fork() };
        assert_ne!(pid, -1, "fork failed");
        if pid == 0 {
            drop(end);
            let killed = Some(rustix::process::Signal::KILL);
            rustix::process::set_parent_process_death_signal(killed).unwrap();
            let outcome = catch_unwind(AssertUnwindSafe(|| life(told)));
            // SAFETY: the child ends here without running the parent's destructors.
            unsafe { libc::_exit(i32::from(outcome.is_err())) };
        }
        Self { pid, end: Some(end) }
    }

    /// Ends it, and waits until it has ended as it should.
    fn end(mut self) {
        self.end = None;
        let mut status = 0;
        // SAFETY: `status` is a valid place for the status of our child, which a load that reaps
        // every child may have reaped.
        unsafe { libc::waitpid(self.pid, &raw mut status, 0) };
        assert_eq!(status, 0, "a process of the test failed");
    }
}

/// A far side as `schedlab net serve` has it.
fn server() -> (Elsewhere, SocketAddr) {
    let server = NetServer::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = server.address();
    let serving = Elsewhere::new(|told| {
        let interrupt = contract::Interrupt::default();
        let heard = interrupt.clone();
        std::thread::spawn(move || {
            let _ = rustix::io::read(&told, &mut [0]);
            heard.request(libc::SIGTERM);
        });
        server.serve(&interrupt, |_| {}).unwrap();
    });
    (serving, address)
}

pub(crate) fn uses_a_far_side_that_somebody_started() {
    let (serving, address) = server();
    let address = address.to_string();
    for test in TESTS {
        let mut settings = vec![("test", test), ("address", address.as_str())];
        if test == "datagrams" {
            settings.push(("rate", "2000"));
        }
        let measurement = TestMachine::new().run("net", &with(&settings));
        check(test, &measurement);
    }
    // It serves the next one as well when one has gone away in the middle.
    let parameters = parameters(
        "net",
        &[("address", address.as_str()), ("test", "stream_both"), ("duration", "60s")],
    );
    let place = TestMachine::new();
    let load = place.prepare("net", &parameters).unwrap();
    // And one at a time: the second is told why.
    let Err(error) = place.prepare("net", &with(&[("address", address.as_str())])) else {
        panic!("two runs of one address were served at a time")
    };
    assert!(error.to_string().contains("another run of this address"), "{error}");
    drop(load);
    // The one that is gone keeps the next one waiting, and no longer than that.
    drop(place.prepare("net", &with(&[("address", address.as_str())])).unwrap());
    serving.end();
}

/// Says this to a far side as a near side would, and reads what it answers.
fn say(address: SocketAddr, text: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(&(text.len() as u32).to_be_bytes()).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

pub(crate) fn refuses_what_no_far_side_serves() {
    let (serving, address) = server();
    let hello = |version: u32, duration_ns: u64| {
        format!(
            r#"{{"magic":"schedlab-net","version":{version},"asked":{{"run":1,"test":"connect",
            "connections":1,"size":64,"rate":0,"warm_up_ns":0,"duration_ns":{duration_ns}}}}}"#
        )
    };
    assert!(say(address, &hello(1, 1_000_000)).contains("accepted"));
    let other = say(address, &hello(2, 1_000_000));
    assert!(other.contains("refused") && other.contains("version 2"), "{other}");
    let long = say(address, &hello(1, 600_000_000_001));
    assert!(long.contains("refused") && long.contains("duration"), "{long}");
    assert!(say(address, "GET / HTTP/1.1").contains("no hello"));
    // More than any message has: it hangs up instead of waiting for so much. The kernel resets the
    // connection where the end came before all was read.
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(&u32::MAX.to_be_bytes()).unwrap();
    match stream.read(&mut [0]) {
        Ok(read) => assert_eq!(read, 0),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
    serving.end();
}

/// Kills that process a while from now. Another process does, for this one must stay with one
/// thread.
fn kill_soon(victim: i32) -> Elsewhere {
    Elsewhere::new(move |_| {
        std::thread::sleep(Duration::from_millis(100));
        // SAFETY: the process is a child of our parent, which has not reaped it.
        unsafe { libc::kill(victim, libc::SIGKILL) };
    })
}

/// Whichever is killed, the run fails at once, with a reason, and nothing is left.
pub(crate) fn a_killed_process_fails_the_run() {
    let delayed = [("far", "namespace"), ("delay", "1ms")];
    let lines: &[&[(&str, &str)]] = if can(&with(&delayed)) { &[&[], &delayed] } else { &[&[]] };
    for line in lines {
        for test in ["connect", "stream_both", "datagrams"] {
            for victim in 0..if line.is_empty() { 2 } else { 3 } {
                let settings = [&[("test", test), ("duration", "60s")], *line].concat();
                let place = TestMachine::new();
                let mut load = place.prepare("net", &parameters("net", &settings)).unwrap();
                let pids = children();
                let killer = kill_soon(pids[victim]);
                let began = std::time::Instant::now();
                let error = load.run().unwrap_err().to_string();
                // Long before its end.
                assert!(began.elapsed() < Duration::from_secs(45), "{test} {victim}: {error}");
                let reasons = ["signal", "SIGKILL", "closed", "reset", "refused"];
                let told = reasons.iter().any(|reason| error.contains(reason));
                assert!(told, "{test} {victim}: {error}");
                drop(load);
                // A child that was killed and reaped by the load leaves only the killer.
                // SAFETY: a null status is allowed; the killer is our child or is reaped.
                unsafe { libc::waitpid(killer.pid, std::ptr::null_mut(), 0) };
            }
        }
    }
}

pub(crate) fn a_far_side_that_is_not_there_is_told() {
    // A port at which nobody listens: it was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let place = TestMachine::new();
    let Err(error) = place.prepare("net", &with(&[("address", address.as_str())])) else {
        panic!("nobody was there")
    };
    let error = error.to_string();
    assert!(error.contains(&address) && error.contains("refused"), "{error}");
}

/// A far side that takes the hello, or agrees to run, and then resets every connection.
pub(crate) fn a_far_side_that_resets_is_told() {
    for agrees in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let resetting = Elsewhere::new(move |_| {
            let abort = |stream: &TcpStream| {
                rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).unwrap();
            };
            let (mut control, _) = listener.accept().unwrap();
            let mut length = [0; 4];
            control.read_exact(&mut length).unwrap();
            let mut hello = vec![0; u32::from_be_bytes(length) as usize];
            control.read_exact(&mut hello).unwrap();
            if agrees {
                let data = TcpListener::bind("127.0.0.1:0").unwrap();
                let mut send = |text: &str| {
                    control.write_all(&(text.len() as u32).to_be_bytes()).unwrap();
                    control.write_all(text.as_bytes()).unwrap();
                };
                let port = data.local_addr().unwrap().port();
                send(&format!(r#"{{"accepted":{{"port":{port}}}}}"#));
                let (stream, _) = data.accept().unwrap();
                send(r#""ready""#);
                // What is unread makes the end a reset as well.
                (&stream).read_exact(&mut [0; 17]).unwrap();
                (&stream).read_exact(&mut [0; 64]).unwrap();
                abort(&stream);
            }
            abort(&control);
        });
        let parameters = with(&[("address", address.as_str()), ("test", "request")]);
        let place = TestMachine::new();
        let outcome = place.prepare("net", &parameters).and_then(|mut load| load.run().map(drop));
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("the far side reset it"), "{agrees}: {error}");
        resetting.end();
    }
}

pub(crate) fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = NetServer::bind(taken.local_addr().unwrap()).unwrap_err();
    assert_eq!(error.kind, contract::ErrorKind::Environment);
    let port = taken.local_addr().unwrap().port().to_string();
    assert!(error.attempted.contains(&port), "{error}");
    assert!(error.cause.contains("in use") && error.remedy.contains("--listen"), "{error}");
}
