//! The generator of HTTP load against a small server that can misbehave.

use super::{
    TestMachine, configured, conflicts, facts, histogram_count, look_until, parameters, proportion,
    quotient, run_before_neighbours,
};
use contract::{Error, Measurement, Result};
use model::{Histogram, Parameters, RunReport, SampleData};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What the server has seen.
#[derive(Default)]
struct Seen {
    requests: AtomicU64,
    connections: AtomicU64,
}

/// What a server does with a request for this path.
fn answer(path: &str, stream: &mut TcpStream) -> bool {
    let plain = |status: &str, extra: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\n{extra}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let text = match path {
        "/ok" => plain("200 OK", "", "{\"balance\": 1}"),
        "/missing" => plain("404 Not Found", "", ""),
        "/early" => plain("413 Content Too Large", "", "too much"),
        "/close" => plain("200 OK", "Connection: close\r\n", "bye"),
        "/chunked" => {
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".into()
        }
        "/slow" => {
            std::thread::sleep(Duration::from_millis(40));
            plain("200 OK", "", "late")
        }
        "/never" => {
            std::thread::sleep(Duration::from_millis(700));
            plain("200 OK", "", "too late")
        }
        _ => String::new(),
    };
    let goes_on = !text.is_empty() && path != "/close";
    let _ = stream.write_all(text.as_bytes());
    goes_on
}

/// Serves one connection until it ends; checks that requests are what they should be.
fn serve(mut stream: TcpStream, seen: &Seen) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut first, mut length, mut hosts) = (String::new(), 0, 0);
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            hosts += usize::from(line.starts_with("Host: 127.0.0.1:"));
            if let Some(text) = line.strip_prefix("Content-Length: ") {
                length = text.trim().parse().unwrap();
            }
        }
        if first.contains(" /early ") {
            // Closing what was not read to its end resets the connection (tcp_close, Linux 6.12).
            answer("/early", &mut stream);
            return;
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        assert!(hosts == 1 && first.ends_with(" HTTP/1.1\r\n"), "{first}");
        seen.requests.fetch_add(1, Ordering::Relaxed);
        if !answer(first.split(' ').nth(1).unwrap(), &mut stream) {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// Ends a server when dropped, also where a test fails.
struct End(SocketAddr);

impl Drop for End {
    fn drop(&mut self) {
        TcpStream::connect(self.0).unwrap().write_all(&[0]).unwrap();
    }
}

/// Runs `body` beside a server; what it has seen.
fn beside_a_server(body: impl FnOnce(SocketAddr)) -> Seen {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Seen::default();
    std::thread::scope(|scope| {
        let seen = &seen;
        scope.spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut first = [0];
                // One that sends a zero ends the server.
                if stream.peek(&mut first).unwrap_or(0) == 1 && first[0] == 0 {
                    let _ = stream.read(&mut first);
                    return;
                }
                seen.connections.fetch_add(1, Ordering::Relaxed);
                scope.spawn(move || serve(stream, seen));
            }
        });
        let _end = End(address);
        body(address);
    });
    seen
}

fn scenario(place: &TestMachine, requests: &[(&str, u32, &str)]) -> PathBuf {
    let mut text = String::from("[values]\nn = { from = 1, to = 9 }\nkey = { unique = true }\n");
    for (name, rate, rest) in requests {
        text += &format!("[[requests]]\nname = \"{name}\"\nrate = {rate}\n{rest}\n");
    }
    let path = place.launch.scratch.join("load.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn with(address: SocketAddr, scenario: &Path, settings: &[(&str, &str)]) -> Parameters {
    let (address, scenario) = (address.to_string(), scenario.display().to_string());
    let own = [("address", address.as_str()), ("scenario", scenario.as_str())];
    parameters("http", &[&own[..], settings].concat())
}

/// Parameters of a load that is never sent, with its scenario in the place.
pub fn small(place: &TestMachine) -> Parameters {
    let path = scenario(place, &[("a", 1000, "path = '/ok'")]);
    with(SocketAddr::from(([127, 0, 0, 1], 1)), &path, &[("duration", "500ms")])
}

fn run(place: &TestMachine, parameters: &Parameters) -> Result<Measurement> {
    let mut load = place.prepare("http", parameters)?;
    let measurement = load.run()?;
    load.verify(&RunReport::default()).unwrap();
    Ok(measurement)
}

fn histogram<'m>(measurement: &'m Measurement, source: &str) -> &'m Histogram {
    let sample = measurement.samples.iter().find(|sample| sample.source == source).unwrap();
    match &sample.data {
        SampleData::Histogram(histogram) => histogram,
        other => panic!("{source}: {other:?}"),
    }
}

pub fn sends_each_kind_at_its_rate() {
    run_before_neighbours();
    let place = TestMachine::new();
    let post = "path = '/ok'\nmethod = 'POST'\nbody = '{\"n\":${n},\"key\":\"${key}\"}'\ncontains = 'balance'";
    let path = scenario(&place, &[("write", 200, post), ("read", 600, "path = '/chunked'")]);
    let seen = beside_a_server(|address| {
        let settings = [
            ("arrivals", "constant"),
            ("ramp_up", "200ms"),
            ("warm_up", "100ms"),
            ("duration", "500ms"),
            ("ramp_down", "200ms"),
            ("scale", "0.5"),
            ("connections", "8"),
        ];
        let measurement = run(&place, &with(address, &path, &settings)).unwrap();
        // Half of 200 and of 600 per second, for half a second.
        assert!((49..=51).contains(&histogram_count(&measurement, "write_latency")));
        assert!((149..=151).contains(&histogram_count(&measurement, "read_latency")));
        assert_eq!(proportion(&measurement, "failed").0, 0);
        let (answers, seconds) = quotient(&measurement, "answers_per_second");
        // On a busy machine some come after it.
        assert!((50.0..=210.0).contains(&answers) && (seconds - 0.5).abs() < 1e-9, "{answers}");
        let (cpu_ns, requests) = quotient(&measurement, "generator_cpu");
        assert!(cpu_ns > 1000.0 && (319.0..=321.0).contains(&requests), "{cpu_ns} {requests}");
    });
    // The ramps have half of their time: 400/s for 0.1 + 0.6 + 0.1 s.
    let requests = seen.requests.load(Ordering::Relaxed);
    assert!((319..=321).contains(&requests), "{requests}");
    // One asked whether anybody serves there.
    assert!(seen.connections.load(Ordering::Relaxed) <= 1 + 8);
}

pub fn counts_latency_from_when_requests_were_due() {
    run_before_neighbours();
    let place = TestMachine::new();
    let path = scenario(&place, &[("slow", 50, "path = '/slow'")]);
    beside_a_server(|address| {
        // One connection answers 25 per second, and 50 are due: the last waits half the time.
        let settings =
            [("arrivals", "constant"), ("connections", "1"), ("duration", "1s"), ("warm_up", "0s")];
        let nine_of_ten_ns = |measurement: &Measurement| {
            histogram(measurement, "service_time").quantile(0.9).unwrap()
        };
        let answers = |measurement: &Measurement| quotient(measurement, "answers_per_second").0;
        // Each answer takes what the server sleeps and little more where both get a CPU soon.
        let measurement = look_until(
            || run(&place, &with(address, &path, &settings)).unwrap(),
            |one| nine_of_ten_ns(one) < 200_000_000 && answers(one) >= 20.0,
        );
        assert_eq!(histogram_count(&measurement, "slow_latency"), 50);
        let service_ns = nine_of_ten_ns(&measurement);
        let latency_ns = histogram(&measurement, "latency").quantile(0.9).unwrap();
        let waited_ns = histogram(&measurement, "waited").quantile(0.9).unwrap();
        assert!((40_000_000..200_000_000).contains(&service_ns), "{service_ns}");
        assert!(latency_ns > 700_000_000 && waited_ns > 700_000_000, "{latency_ns} {waited_ns}");
        // The generator itself was not late.
        assert_eq!(histogram(&measurement, "lateness").count(), 50);
        let answers = answers(&measurement);
        assert!((20.0..=25.0).contains(&answers), "{answers}");
    });
}

/// How a load of every kind of failure ends, and its log.
fn every_failure() -> (Error, String) {
    let place = TestMachine::new();
    let path = scenario(
        &place,
        &[
            ("fine", 100, "path = '/ok'"),
            ("closing", 100, "path = '/close'"),
            ("missing", 50, "path = '/missing'"),
            ("dropped", 50, "path = '/dropped'"),
            ("never", 10, "path = '/never'"),
            ("other", 50, "path = '/ok'\ncontains = 'nothing of it'"),
        ],
    );
    let mut outcome = None;
    beside_a_server(|address| {
        let settings =
            [("arrivals", "constant"), ("warm_up", "0s"), ("duration", "1s"), ("timeout", "300ms")];
        outcome = Some(run(&place, &with(address, &path, &settings)));
    });
    let log = std::fs::read_to_string(&place.launch.log).unwrap();
    (outcome.unwrap().unwrap_err(), log)
}

pub fn counts_each_failure_by_its_reason() {
    run_before_neighbours();
    // Nothing but what is never answered comes too late where this machine has time for it.
    let is_in_time = |(_, log): &(Error, String)| log.matches("no answer within").count() == 1;
    // A kind that is never answered has no percentiles: the run fails, and the log says why.
    let (error, log) = look_until(every_failure, is_in_time);
    assert!(error.cause.contains("`missing` got a right answer: 50 times status 404"), "{error}");
    for line in [
        "50\tmissing\tstatus 404",
        "50\tdropped\tclosed before an answer",
        "10\tnever\tno answer within 300ms",
        "50\tother\tstatus 200 without \"nothing of it\" in its body",
    ] {
        assert!(log.contains(line), "{line} is not in\n{log}");
    }
    assert!(!log.contains("fine") && !log.contains("closing"), "{log}");
}

pub fn shares_of_failures_are_counted() {
    let place = TestMachine::new();
    let path =
        scenario(&place, &[("fine", 300, "path = '/ok'"), ("closing", 100, "path = '/close'")]);
    let seen = beside_a_server(|address| {
        let settings = [("warm_up", "0s"), ("duration", "1s")];
        let measurement = run(&place, &with(address, &path, &settings)).unwrap();
        let (failed, all) = proportion(&measurement, "failed");
        assert!(failed == 0 && (250..=550).contains(&all), "{failed} of {all}");
    });
    // Each answer that closes costs a connection.
    assert!(seen.connections.load(Ordering::Relaxed) >= 50);
}

/// Servers that want no more of a request answer, and reset the connection.
pub fn takes_an_answer_that_comes_before_a_reset() {
    let place = TestMachine::new();
    let body = "x".repeat(200_000);
    let rest = format!("method = \"POST\"\npath = \"/early\"\nbody = \"{body}\"\nexpect = [413]");
    let scenario = scenario(&place, &[("early", 50, &rest)]);
    let seen = beside_a_server(|address| {
        let settings = [("arrivals", "constant"), ("warm_up", "0s"), ("duration", "1s")];
        let measurement = run(&place, &with(address, &scenario, &settings)).unwrap();
        assert_eq!(proportion(&measurement, "failed"), (0, 50));
    });
    assert!(seen.connections.into_inner() >= 50, "none is used again");
}

pub fn waits_for_each_answer_in_a_closed_loop() {
    run_before_neighbours();
    let place = TestMachine::new();
    let path = scenario(&place, &[("slow", 1, "path = '/slow'"), ("fine", 3, "path = '/ok'")]);
    beside_a_server(|address| {
        let settings = [
            ("arrivals", "closed"),
            ("connections", "4"),
            ("duration", "800ms"),
            ("warm_up", "200ms"),
        ];
        let parameters = with(address, &path, &settings);
        assert!(facts("http", &parameters).is_closed_loop);
        let counts = |measurement: &Measurement| {
            ["slow_latency", "fine_latency"].map(|source| histogram_count(measurement, source))
        };
        let measurement = look_until(
            || run(&place, &parameters).unwrap(),
            |one| matches!(counts(one), [slow, fine] if slow > 30 && fine > 2 * slow),
        );
        let [slow, fine] = counts(&measurement);
        // Four connections, of whose requests a quarter takes 40 ms: 320 or so in 0.8 s.
        assert!(slow > 30 && fine > 2 * slow, "{slow} {fine}");
        assert!(measurement.samples.iter().all(|sample| sample.source != "lateness"));
    });
}

/// An address at which nobody serves.
pub fn unused() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

pub fn a_service_that_is_not_there_is_named() {
    let nobody = unused();
    let place = TestMachine::new();
    let path = scenario(&place, &[("a", 100, "path = '/ok'")]);
    for arrivals in ["poisson", "closed"] {
        let settings = [("duration", "200ms"), ("warm_up", "0s"), ("arrivals", arrivals)];
        let parameters = with(nobody, &path, &settings);
        let needs = facts("http", &parameters).requirements;
        let missing = needs[0].met(&place.machine).unwrap_err();
        assert!(missing.why.contains("refused"), "{missing:?}");
        let prepared = configured("http", &parameters)
            .and_then(|one| one.prepare(&place.machine, &place.launch));
        let error = prepared.unwrap().run().unwrap_err();
        assert!(error.cause.contains("connection refused"), "{error}");
    }
    let missing = with(nobody, Path::new("/nonexistent.toml"), &[]);
    let told = conflicts("http", &missing);
    assert!(told.len() == 1 && told[0].contains("/nonexistent.toml"), "{told:?}");
    let rare = with(nobody, &path, &[("scale", "0.001")]);
    assert!(conflicts("http", &rare)[0].contains("0.5 requests \"a\""));
}
