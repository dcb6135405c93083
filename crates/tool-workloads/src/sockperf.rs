//! sockperf, which measures how long messages take over a network.

use crate::program_stub::ProgramStub;
use crate::transport_choice::TransportChoice;
use contract::{
    Configured, Description, Error, ErrorKind, LaunchSpec, Load, Measurement, Parameter, Problem,
    ProgramFile, Requirement, Result, WordChoice, Workload, WorkloadFacts,
};
use model::{Direction, Histogram, Metric, Parameters, Reduction, Sample, Unit};
use outputs::sockperf::{SockperfFailure, SockperfReport, round_trips, version};
use std::net::SocketAddr;
use std::path::PathBuf;
use sys::{Machine, Termination};
use workload_parts::address::one_machine;
use workload_parts::nanoseconds::S;
use workload_parts::program::service::{Port, Server};
use workload_parts::program::{
    ForkedProgram, ProgramEnvironment, WHERE_OUTPUT_IS, answer_of, whole_seconds,
};

static DESCRIPTION: Description = Description {
    id: "sockperf",
    summary: "A network by sockperf: round trips of messages, alone or under a load of them",
    doc: "\
**What it is.** Runs the client of sockperf against `address`, where you have started
`sockperf server` (with `--tcp` for `protocol = \"tcp\"`), or else against a server of our own on
this machine's loopback, and reads its log of every message. `ping_pong` waits for each reply;
`under_load` sends `rate` messages a second and asks for a reply to every `reply_every`th. Nobody
else is contacted, and no name is looked up; a run has a minute at most.

**What it means.** `round_trip` is the time from sending a message until its reply is received, of
every one that was answered: where sockperf prints a `latency`, that is half of this. Of the
replies that were expected, `lost` ones never came, and `reordered` ones came after a later one.
sockperf leaves out its first 400 ms and its last 50 ms.

**What moves it.** On one machine, the scheduler: a ping needs two wake-ups. `under_load` waits for
its next message without sleeping and keeps a CPU busy.

**When it lies.** `ping_pong` is closed-loop: its tail is conditional on its own pauses, with a
`rate` too. `under_load` counts from when a message was sent, not from when it was due: what the
sender was late is not in it. A reply over UDP that never comes is `lost` and in no distribution.
Its clock is the cycle counter, at a speed that it measures itself: 3.7 miscounts its warm-up with
the kernel's (`--no-rdtsc`). It takes whole seconds.

**Reference.** sockperf's own documentation (sockperf(3)); the numbers are sockperf's.",
};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SockperfTest {
    PingPong,
    UnderLoad,
}

impl WordChoice for SockperfTest {
    const WORDS: &'static [(&'static str, Self)] =
        &[("ping_pong", Self::PingPong), ("under_load", Self::UnderLoad)];
}

contract::keys! {
    PARAMETERS;
    ADDRESS: str = text(
        "address",
        "",
        "IP:PORT of a `sockperf server` that you have started, instead of ours",
    ),
    TEST: SockperfTest = choice("test", "ping_pong", "What is measured"),
    PROTOCOL: TransportChoice = choice(
        "protocol",
        "udp",
        "How messages travel; tcp without delay (TCP_NODELAY)",
    ),
    SIZE: u64 = size("size", 14, MOST_BYTES, "64", "Bytes of a message"),
    RATE: u64 = count(
        "rate",
        0,
        1_000_000,
        "0",
        "Messages per second; 0: the next after each reply, and 10,000 under load",
    ),
    REPLY_EVERY: u64 = count(
        "reply_every",
        1,
        1_000_000,
        "10",
        "Of so many messages under load one is answered",
    ),
    DURATION: u64 = length(S, LONGEST_NS, "3s", "How long it runs, in whole seconds"),
}

/// The largest datagram, which is its limit for both protocols.
const MOST_BYTES: u64 = 65_507;
/// Its log has a line of 40 bytes for each reply.
const LONGEST_NS: u64 = 60 * S;
/// sockperf's own rate under load.
const USUAL_RATE: u64 = 10_000;
/// For its warm-up and the writing of its log.
const AROUND_NS: u64 = S;
/// How much longer than expected it may take before it counts as hung.
const PATIENCE_NS: u64 = 15 * S;
/// Of the run sockperf leaves out its warm-up and its last moments (400 ms and 50 ms; its
/// TEST_START_WARMUP_MSEC and TEST_END_COOLDOWN_MSEC).
const LEFT_OUT_S: f64 = 0.45;
/// Part of the rest for which replies must have come.
const LEAST_PART: f64 = 0.8;
/// As of here the log has the columns that are read.
const OLDEST: (u32, u32) = (3, 6);
/// Far above its text.
const OUTPUT_LIMIT: u64 = 4 << 20;
/// A reply in a microsecond, for the longest run.
const LOG_LIMIT: u64 = 4 << 30;
const HINT: &str = "of a `sockperf server` that you have started";

/// Stands for sockperf in tests.
pub(crate) const STUB: ProgramStub = ProgramStub {
    program: "sockperf",
    version: Some(("--version", "sockperf, version 3.10-no.git")),
    parameters: &[(ADDRESS.name(), "127.0.0.1:9")],
};

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        const { &[(DURATION.name(), "1s")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        let mut wrong: Vec<Problem> =
            whole_seconds(&DURATION, parameters).err().into_iter().collect();
        let address = match ADDRESS.of(parameters) {
            "" => None,
            text => one_machine(text, HINT).map_err(|why| wrong.push(why.into())).ok(),
        };
        if !wrong.is_empty() {
            return Err(wrong);
        }
        Ok(Box::new(SockperfSettings {
            address,
            test: TEST.of(parameters),
            protocol: PROTOCOL.of(parameters),
            size: SIZE.of(parameters),
            rate: RATE.of(parameters),
            reply_every: REPLY_EVERY.of(parameters),
            duration_ns: DURATION.of(parameters),
        }))
    }
}

/// What was declared.
#[derive(Debug)]
struct SockperfSettings {
    /// Where the user has started a server, if so.
    address: Option<SocketAddr>,
    test: SockperfTest,
    protocol: TransportChoice,
    /// Bytes of a message.
    size: u64,
    /// Messages per second; 0: sockperf's own choice.
    rate: u64,
    /// Of so many messages under load one is answered.
    reply_every: u64,
    duration_ns: u64,
}

impl Configured for SockperfSettings {
    fn metrics(&self) -> Vec<Metric> {
        let fraction = |id: &str, summary: &str| {
            Metric::new(id, Unit::Fraction, Direction::Lower, Reduction::Proportion, summary)
        };
        let summary = "Time from a message to its reply";
        let mut metrics = Metric::latency_quantiles("round_trip", summary);
        let summary = "Replies per second";
        let (higher, per_time) = (Direction::Higher, Reduction::Quotient);
        metrics.push(Metric::new("replies_per_second", Unit::PerSecond, higher, per_time, summary));
        metrics.push(fraction("lost", "Replies that never came"));
        metrics.push(fraction("reordered", "Replies that came after a later one"));
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            is_closed_loop: match self.test {
                SockperfTest::PingPong => true,
                SockperfTest::UnderLoad => false,
            },
            requirements: vec![Requirement::program("sockperf", "sockperf")],
            programs: vec![ProgramFile::Program("sockperf".to_owned())],
            ..WorkloadFacts::open_loop(self.duration_ns + AROUND_NS)
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        check_version(machine)?;
        let port = match self.protocol {
            TransportChoice::Tcp => Port::Tcp,
            TransportChoice::Udp => Port::Udp,
        };
        let (server, address) = match self.address {
            Some(address) => (None, address),
            None => {
                let address = port.unused()?;
                let words = server(self, address);
                (Some(Server::start(machine, &words, (port, address), launch)?), address)
            }
        };
        let log = launch.scratch.join("sockperf-log.csv");
        let words = client(self, address, &log.display().to_string());
        let program = ForkedProgram::start(
            machine,
            &words,
            ProgramEnvironment::default(),
            OUTPUT_LIMIT,
            launch,
        )?
        .ending_within(self.duration_ns + AROUND_NS + PATIENCE_NS);
        let least_s = self.least_seconds();
        Ok(Box::new(Sockperf { program, server, log, least_s, changed_level: None }))
    }
}

impl SockperfSettings {
    /// How long replies must have come: sockperf counts up to the last one, and a server that is
    /// gone would leave the reply times of the beginning.
    fn least_seconds(&self) -> f64 {
        let whole_s = self.duration_ns as f64 / S as f64 - LEFT_OUT_S;
        let between_s = match (self.test, self.rate) {
            (SockperfTest::UnderLoad, 0) => self.reply_every as f64 / USUAL_RATE as f64,
            (SockperfTest::UnderLoad, rate) => self.reply_every as f64 / rate as f64,
            (SockperfTest::PingPong, 0) => 0.0,
            (SockperfTest::PingPong, rate) => 1.0 / rate as f64,
        };
        LEAST_PART * whole_s - 2.0 * between_s
    }
}

fn server(settings: &SockperfSettings, address: SocketAddr) -> Vec<String> {
    let mut words = vec!["sockperf".to_owned(), "server".to_owned()];
    words.extend(at(settings, address));
    words
}

fn client(settings: &SockperfSettings, address: SocketAddr, log: &str) -> Vec<String> {
    let test = match settings.test {
        SockperfTest::PingPong => "ping-pong",
        SockperfTest::UnderLoad => "under-load",
    };
    let mut words = vec!["sockperf".to_owned(), test.to_owned()];
    words.extend(at(settings, address));
    words.extend(["--full-rtt", "--full-log", log].map(str::to_owned));
    let mut option = |name: &str, value: u64| words.extend([name.to_owned(), value.to_string()]);
    option("--msg-size", settings.size);
    option("--time", settings.duration_ns / S);
    match (settings.test, settings.rate) {
        (SockperfTest::UnderLoad, 0) => option("--mps", USUAL_RATE),
        (SockperfTest::PingPong, 0) => {}
        (_, rate) => option("--mps", rate),
    }
    match settings.test {
        SockperfTest::PingPong => {}
        SockperfTest::UnderLoad => option("--reply-every", settings.reply_every),
    }
    words
}

/// Where both sides meet.
fn at(settings: &SockperfSettings, address: SocketAddr) -> Vec<String> {
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    let tcp = match settings.protocol {
        TransportChoice::Tcp => Some("--tcp"),
        TransportChoice::Udp => None,
    };
    ["--ip", &ip, "--port", &port].into_iter().chain(tcp).map(str::to_owned).collect()
}

/// Asks sockperf for its version.
fn check_version(machine: &Machine) -> Result<()> {
    let words = ["sockperf", "--version"].map(str::to_owned);
    let answer = answer_of(machine, &words, "cannot ask sockperf for its version")?;
    if version(&answer).is_some_and(|found| found >= OLDEST) {
        return Ok(());
    }
    let said: String = answer.trim().lines().next().unwrap_or("").chars().take(60).collect();
    let cause = format!("it says `{said}`, and {}.{} or later is understood", OLDEST.0, OLDEST.1);
    Err(Error::unsupported("cannot use this sockperf", cause, "install a newer one"))
}

struct Sockperf {
    program: ForkedProgram,
    server: Option<Server>,
    log: PathBuf,
    least_s: f64,
    changed_level: Option<String>,
}

impl Load for Sockperf {
    fn changed_level(&self) -> Option<String> {
        self.changed_level.clone()
    }

    fn run(&mut self) -> Result<Measurement> {
        let run = self.program.run()?;
        self.changed_level.clone_from(&run.changed_level);
        let is_done = run.termination == Termination::Exited(0);
        // Its errors are on its stderr.
        let why = match SockperfReport::parse(&format!("{}{}", run.stdout, run.stderr)) {
            Ok(report) if is_done && report.seconds >= self.least_s => {
                let log = self.read_log()?;
                return measured(&report, round_trips(&log).map_err(failed)?).map_err(failed);
            }
            // It ends well whatever becomes of its server.
            Ok(report) if is_done => {
                format!("replies came for {:.3} s only, and then no more", report.seconds)
            }
            Err(SockperfFailure::Reported(said)) => said,
            Err(SockperfFailure::Unreadable(trouble)) if is_done => trouble.to_string(),
            _ => format!("{}{}", run.termination, run.last_lines()),
        };
        Err(self.server.as_mut().and_then(Server::killed).unwrap_or_else(|| failed(why)))
    }
}

impl Sockperf {
    fn read_log(&self) -> Result<String> {
        let unreadable =
            |error| Error::environment(format!("cannot read {}", self.log.display()), error);
        let length = std::fs::metadata(&self.log).map_err(unreadable)?.len();
        if length > LOG_LIMIT {
            return Err(failed(format!("its log has {}", model::format_size(length))));
        }
        let text = std::fs::read_to_string(&self.log).map_err(unreadable)?;
        std::fs::remove_file(&self.log).map_err(unreadable)?;
        Ok(text)
    }
}

fn failed(cause: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Environment, "sockperf failed", cause, WHERE_OUTPUT_IS)
}

/// What was measured; or why that cannot be.
fn measured(report: &SockperfReport, trips: Histogram) -> Result<Measurement, String> {
    let received = report.received;
    if trips.count() != received {
        return Err(format!("its log has {} messages of {received}", trips.count()));
    }
    if report.duplicated > 0 {
        return Err(format!("{} messages came twice", report.duplicated));
    }
    let samples = vec![
        Sample::histogram("round_trip", trips),
        Sample::quotient("replies_per_second", received as f64, report.seconds),
        Sample::proportion("lost", report.dropped, received + report.dropped),
        Sample::proportion("reordered", report.reordered, received),
    ];
    Ok(Measurement { samples, operations: Some(received) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> SockperfReport {
        SockperfReport {
            version: "3.7".to_owned(),
            seconds: 2.0,
            sent: 60,
            received: 50,
            dropped: 10,
            duplicated: 0,
            reordered: 1,
        }
    }

    fn trips(count: u64) -> Histogram {
        let mut trips = Histogram::new();
        trips.record_many(5000, count);
        trips
    }

    #[test]
    fn replies_that_never_came_are_lost() {
        let measurement = measured(&report(), trips(50)).unwrap();
        assert_eq!(measurement.samples[1], Sample::quotient("replies_per_second", 50.0, 2.0));
        assert_eq!(measurement.samples[2], Sample::proportion("lost", 10, 60));
        assert_eq!(measurement.samples[3], Sample::proportion("reordered", 1, 50));
    }

    #[test]
    fn a_log_of_something_else_or_a_reply_twice_is_no_measurement() {
        let found = measured(&report(), trips(49)).unwrap_err();
        assert_eq!(found, "its log has 49 messages of 50");
        let twice = SockperfReport { duplicated: 3, ..report() };
        assert_eq!(measured(&twice, trips(50)).unwrap_err(), "3 messages came twice");
    }
}
