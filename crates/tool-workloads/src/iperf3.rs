//! iperf3, which measures how much a network carries.

use crate::program_stub::ProgramStub;
use crate::transport_choice::TransportChoice;
use contract::{
    Configured, Description, Error, ErrorKind, LaunchSpec, Load, Measurement, Parameter, Problem,
    ProgramFile, Requirement, Result, WordChoice, Workload, WorkloadFacts,
};
use model::{Direction, Metric, Parameters, Reduction, Sample, Unit};
use outputs::iperf3::{Flow, Iperf3Failure, Iperf3Report, Protocol, version};
use std::net::SocketAddr;
use sys::{Machine, Termination};
use workload_parts::address::one_machine;
use workload_parts::nanoseconds::S;
use workload_parts::program::service::{Port, Server};
use workload_parts::program::{
    ForkedProgram, ProgramEnvironment, WHERE_OUTPUT_IS, answer_of, whole_seconds,
};

static DESCRIPTION: Description = Description {
    id: "iperf3",
    summary: "A network by iperf3: bytes or datagrams in a second, what was lost and sent again",
    doc: "\
**What it is.** Runs the client of iperf3 against `address`, where you have started `iperf3 -s`,
or else against a server of our own on this machine's loopback, and reads its JSON. Nobody else is
contacted, and no name is looked up; a run has ten minutes at most, and datagrams to an address
need a `bandwidth`.

**What it means.** `throughput` is what the receiver counted, in bytes of payload per second, by
its own clock; `retransmits` are the sender's. Where `direction = \"both\"`, `_out` is from the
client to the server and `_in` the way back. Of datagrams, `lost` are those that are missing
before the last one that came, `reordered` came after a later one, and `jitter` is the smoothed
change of their transit time (RFC 3550).

**What moves it.** On one machine, the scheduler: which side runs, and where the other wakes up.
Up to version 3.15 each side is one thread whatever `connections` says.

**When it lies.** `size` is that of a write: TCP puts small ones together, so that 64 bytes are no
packets of 64 bytes; `protocol = \"udp\"` sends them. Without a `bandwidth` a sender of datagrams
outruns its receiver, whose buffer loses the rest; those after the last that came are counted by
nobody. iperf3 takes whole seconds. Over loopback there is no wire: segments of 64 kB, no loss.

**Reference.** iperf3's own documentation (iperf3(1)); the numbers are iperf3's.",
};

/// Which end sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransferMode {
    Out,
    In,
    Both,
}

impl WordChoice for TransferMode {
    const WORDS: &'static [(&'static str, Self)] =
        &[("out", Self::Out), ("in", Self::In), ("both", Self::Both)];
}

contract::keys! {
    PARAMETERS;
    ADDRESS: str = text(
        "address",
        "",
        "IP:PORT of an `iperf3 -s` that you have started, instead of ours",
    ),
    PROTOCOL: TransportChoice = choice("protocol", "tcp", "A stream, or datagrams"),
    DIRECTION: TransferMode = choice(
        "direction",
        "out",
        "Which end sends: the client, the server, or both (tcp only)",
    ),
    CONNECTIONS: u64 = count(
        "connections",
        1,
        128,
        "1",
        "Streams at a time; of both in each direction",
    ),
    SIZE: u64 = size(
        "size",
        0,
        MOST_BYTES,
        "0",
        "Bytes of a write or a datagram; 0: iperf3's own choice",
    ),
    BANDWIDTH: u64 = size(
        "bandwidth",
        0,
        1 << 40,
        "0",
        "Bytes per second over all connections; 0: as fast as the other side takes them",
    ),
    WARM_UP: u64 = duration(
        "warm_up",
        0,
        60 * S,
        "1s",
        "Time before the measured one, in whole seconds",
    ),
    DURATION: u64 = length(S, LONGEST_NS, "3s", "Measured time, in whole seconds"),
}

/// Its largest write (MAX_BLOCKSIZE of its iperf.h), and the largest datagram.
const MOST_BYTES: u64 = 1 << 20;
const MOST_DATAGRAM_BYTES: u64 = 65_507;
/// As of `net`.
const LONGEST_NS: u64 = 600 * S;
/// For the control connection and the exchange of results.
const AROUND_NS: u64 = S;
/// How much longer than expected it may take before it counts as hung: a server that accepts and
/// says nothing would hold it for ever.
const PATIENCE_NS: u64 = 15 * S;
/// Sums of both sides are in its JSON from here on.
const OLDEST: (u32, u32) = (3, 12);
/// Far above its JSON, which has no intervals.
const OUTPUT_LIMIT: u64 = 4 << 20;
const HINT: &str = "of an `iperf3 -s` that you have started";

/// Stands for iperf3 in tests.
pub(crate) const STUB: ProgramStub = ProgramStub {
    program: "iperf3",
    version: Some(("--version", "iperf 3.16 (cJSON 1.7.15)")),
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
        const { &[(DURATION.name(), "1s"), (WARM_UP.name(), "0s")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(Iperf3Settings::of(parameters)?))
    }
}

/// What was declared.
#[derive(Debug)]
struct Iperf3Settings {
    /// Where the user has started a server, if so.
    address: Option<SocketAddr>,
    protocol: TransportChoice,
    way: TransferMode,
    connections: u64,
    /// Bytes of a write or a datagram; 0: iperf3's own choice.
    size: u64,
    /// Bytes per second over all connections; 0: no limit.
    bandwidth: u64,
    warm_up_ns: u64,
    duration_ns: u64,
}

impl Iperf3Settings {
    /// # Errors
    /// All that cannot be meant.
    fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let mut wrong: Vec<Problem> = [&WARM_UP, &DURATION]
            .into_iter()
            .filter_map(|key| whole_seconds(key, parameters).err())
            .collect();
        let address = match ADDRESS.of(parameters) {
            "" => None,
            text => one_machine(text, HINT).map_err(|why| wrong.push(why.into())).ok(),
        };
        let settings = Self {
            address,
            protocol: PROTOCOL.of(parameters),
            way: DIRECTION.of(parameters),
            connections: CONNECTIONS.of(parameters),
            size: SIZE.of(parameters),
            bandwidth: BANDWIDTH.of(parameters),
            warm_up_ns: WARM_UP.of(parameters),
            duration_ns: DURATION.of(parameters),
        };
        let is_elsewhere = !ADDRESS.of(parameters).is_empty();
        wrong.extend(settings.conflicts(is_elsewhere));
        if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
    }

    /// Combinations that cannot be meant.
    fn conflicts(&self, is_elsewhere: bool) -> Vec<Problem> {
        let mut wrong: Vec<Problem> = Vec::new();
        let (bandwidth, connections) = (self.bandwidth, self.connections);
        // Zero bits would be no limit.
        if bandwidth > 0 && 8 * bandwidth < connections {
            wrong.push(Problem::from(format!(
                "bandwidth = {bandwidth}: less than a bit per second for each of {connections} connections"
            )));
        }
        match self.protocol {
            TransportChoice::Tcp => return wrong,
            TransportChoice::Udp => {}
        }
        if self.way == TransferMode::Both {
            wrong.push("datagrams go one way: use direction = \"out\" or \"in\"".into());
        }
        if is_elsewhere && bandwidth == 0 {
            wrong.push(
                "datagrams to an address need a bandwidth: nothing else keeps them from flooding it"
                    .into(),
            );
        }
        if self.size > MOST_DATAGRAM_BYTES {
            wrong.push(Problem::from(format!(
                "size = {}: a datagram has {MOST_DATAGRAM_BYTES} bytes at most",
                self.size
            )));
        }
        wrong
    }

    /// What is appended to the names of metrics, for each direction.
    fn suffixes(&self) -> &'static [&'static str] {
        if self.way == TransferMode::Both { &["_out", "_in"] } else { &[""] }
    }

    fn expected_ns(&self) -> u64 {
        self.warm_up_ns + self.duration_ns + AROUND_NS
    }
}

impl Configured for Iperf3Settings {
    fn metrics(&self) -> Vec<Metric> {
        match self.protocol {
            TransportChoice::Tcp => {}
            TransportChoice::Udp => return metrics_of_datagrams(),
        }
        let suffixes = self.suffixes();
        let each = |make: fn(&str) -> Metric| suffixes.iter().map(move |suffix| make(suffix));
        let throughput = |suffix: &str| {
            let summary = "Bytes that were received per second";
            quotient(format!("throughput{suffix}"), Unit::BytesPerSecond, summary)
        };
        let retransmits = |suffix: &str| {
            let summary = "Segments that the sender sent again, per second";
            let metric = quotient(format!("retransmits{suffix}"), Unit::PerSecond, summary);
            Metric { direction: Direction::Lower, ..metric }
        };
        each(throughput).chain(each(retransmits)).collect()
    }

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            requirements: vec![Requirement::program("iperf3", "iperf3")],
            programs: vec![ProgramFile::Program("iperf3".to_owned())],
            ..WorkloadFacts::open_loop(self.expected_ns())
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        check_version(machine)?;
        let (server, address) = match self.address {
            Some(address) => (None, address),
            None => {
                // Of datagrams too: the client asks for them over a control connection.
                let address = Port::Tcp.unused()?;
                let server =
                    Server::start(machine, &server(address), (Port::Tcp, address), launch)?;
                (Some(server), address)
            }
        };
        let words = client(self, address);
        let program = ForkedProgram::start(
            machine,
            &words,
            ProgramEnvironment::default(),
            OUTPUT_LIMIT,
            launch,
        )?
        .ending_within(self.expected_ns() + PATIENCE_NS);
        Ok(Box::new(Iperf3 { program, server, suffixes: self.suffixes(), changed_level: None }))
    }
}

fn quotient(id: impl Into<String>, unit: Unit, summary: &str) -> Metric {
    Metric::new(id, unit, Direction::Higher, Reduction::Quotient, summary)
}

fn metrics_of_datagrams() -> Vec<Metric> {
    let fraction = |id: &str, summary: &str| {
        Metric::new(id, Unit::Fraction, Direction::Lower, Reduction::Proportion, summary)
    };
    let jitter = "Smoothed change of the transit time of datagrams";
    vec![
        quotient("messages_per_second", Unit::PerSecond, "Datagrams received per second"),
        fraction("lost", "Datagrams before the last one that never came"),
        fraction("reordered", "Datagrams that came after a later one"),
        Metric::new("jitter", Unit::Nanoseconds, Direction::Lower, Reduction::Mean, jitter),
    ]
}

/// One that serves a single client.
fn server(address: SocketAddr) -> Vec<String> {
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    ["iperf3", "--server", "--one-off", "--bind", &ip, "--port", &port].map(str::to_owned).into()
}

fn client(settings: &Iperf3Settings, address: SocketAddr) -> Vec<String> {
    let seconds = |ns: u64| (ns / S).to_string();
    let connections = settings.connections;
    // Its rate is one stream's, in bits.
    let bits = 8 * settings.bandwidth / connections;
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    let (warm_up, duration) = (seconds(settings.warm_up_ns), seconds(settings.duration_ns));
    let mut words: Vec<String> = ["iperf3", "--client", &ip, "--port", &port, "--json"]
        .into_iter()
        // No lines in between, which nobody reads.
        .chain(["--interval", "0", "--connect-timeout", "5000"])
        .chain(["--omit", &warm_up, "--time", &duration])
        .chain(["--parallel", &connections.to_string(), "--bitrate", &bits.to_string()])
        .map(str::to_owned)
        .collect();
    match settings.size {
        0 => {}
        size => words.extend(["--length".to_owned(), size.to_string()]),
    }
    words.extend(match settings.protocol {
        TransportChoice::Tcp => None,
        TransportChoice::Udp => Some("--udp".to_owned()),
    });
    words.extend(match settings.way {
        TransferMode::Out => None,
        TransferMode::In => Some("--reverse".to_owned()),
        TransferMode::Both => Some("--bidir".to_owned()),
    });
    words
}

/// Asks iperf3 for its version.
fn check_version(machine: &Machine) -> Result<()> {
    let words = ["iperf3", "--version"].map(str::to_owned);
    let answer = answer_of(machine, &words, "cannot ask iperf3 for its version")?;
    if version(&answer).is_some_and(|found| found >= OLDEST) {
        return Ok(());
    }
    let said: String = answer.trim().lines().next().unwrap_or("").chars().take(60).collect();
    let cause =
        format!("it says `{said}`, and iperf {}.{} or later is understood", OLDEST.0, OLDEST.1);
    Err(Error::unsupported("cannot use this iperf3", cause, "install a newer one"))
}

struct Iperf3 {
    program: ForkedProgram,
    server: Option<Server>,
    suffixes: &'static [&'static str],
    changed_level: Option<String>,
}

impl Load for Iperf3 {
    fn changed_level(&self) -> Option<String> {
        self.changed_level.clone()
    }

    fn run(&mut self) -> Result<Measurement> {
        let run = self.program.run()?;
        self.changed_level.clone_from(&run.changed_level);
        let is_done = run.termination == Termination::Exited(0);
        let why = match Iperf3Report::parse(run.stdout.as_bytes()) {
            Ok(report) if is_done => return measured(&report, self.suffixes).map_err(failed),
            Err(Iperf3Failure::Reported(said)) => said,
            Err(Iperf3Failure::Unreadable(trouble)) if is_done => trouble.to_string(),
            _ => format!("{}{}", run.termination, run.last_lines()),
        };
        Err(self.server.as_mut().and_then(Server::killed).unwrap_or_else(|| failed(why)))
    }
}

fn failed(cause: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Environment, "iperf3 failed", cause, WHERE_OUTPUT_IS)
}

/// What was measured in each direction; or why it is nothing.
fn measured(report: &Iperf3Report, suffixes: &[&str]) -> Result<Measurement, String> {
    let flows: Vec<&Flow> = [&report.outwards, &report.inwards].into_iter().flatten().collect();
    if flows.len() != suffixes.len() {
        return Err(format!("it reports {} directions of {}", flows.len(), suffixes.len()));
    }
    let (mut samples, mut operations) = (Vec::new(), None);
    for (flow, suffix) in flows.into_iter().zip(suffixes) {
        let (bytes, seconds) = (flow.received.bytes, flow.received.seconds);
        if bytes == 0 {
            return Err("nothing was received".to_owned());
        }
        match &flow.protocol {
            Protocol::Tcp { retransmits: None } => {
                return Err("the sender's system does not tell what it sent again".to_owned());
            }
            Protocol::Tcp { retransmits: Some(again) } => {
                let (throughput, retransmits) =
                    (format!("throughput{suffix}"), format!("retransmits{suffix}"));
                samples.push(Sample::quotient(&throughput, bytes as f64, seconds));
                samples.push(Sample::quotient(&retransmits, *again as f64, flow.sent.seconds));
            }
            Protocol::Udp(datagrams) => {
                let arrived = datagrams.expected - datagrams.lost;
                operations = Some(arrived);
                samples.push(Sample::quotient("messages_per_second", arrived as f64, seconds));
                samples.push(Sample::proportion("lost", datagrams.lost, datagrams.expected));
                let late = datagrams.reordered;
                samples.push(Sample::proportion("reordered", late, datagrams.expected));
                samples.push(Sample::values("jitter", vec![datagrams.jitter_ns]));
            }
        }
    }
    Ok(Measurement { samples, operations })
}

#[cfg(test)]
mod tests {
    use super::*;
    use outputs::iperf3::{Datagrams, Total};

    fn flow(protocol: Protocol, bytes: u64) -> Flow {
        let total = Total { bytes, seconds: 2.0 };
        Flow { sent: total, received: total, protocol }
    }

    fn report(outwards: Flow, inwards: Option<Flow>) -> Iperf3Report {
        Iperf3Report {
            version: "iperf 3.12".to_owned(),
            began_unix_s: None,
            outwards: Some(outwards),
            inwards,
            settings: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn both_directions_have_names_of_their_own() {
        let tcp = |again| flow(Protocol::Tcp { retransmits: Some(again) }, 4096);
        let both = report(tcp(6), Some(tcp(0)));
        let measurement = measured(&both, &["_out", "_in"]).unwrap();
        let expected = [
            Sample::quotient("throughput_out", 4096.0, 2.0),
            Sample::quotient("retransmits_out", 6.0, 2.0),
            Sample::quotient("throughput_in", 4096.0, 2.0),
            Sample::quotient("retransmits_in", 0.0, 2.0),
        ];
        assert_eq!(measurement.samples, expected);
        assert_eq!(measured(&both, &[""]).unwrap_err(), "it reports 2 directions of 1");
    }

    #[test]
    fn datagrams_that_arrived_are_those_that_were_not_lost() {
        let datagrams = Datagrams { expected: 50, lost: 8, reordered: 3, jitter_ns: 812.5 };
        let measurement = measured(&report(flow(Protocol::Udp(datagrams), 64), None), &[""]);
        let expected = [
            Sample::quotient("messages_per_second", 42.0, 2.0),
            Sample::proportion("lost", 8, 50),
            Sample::proportion("reordered", 3, 50),
            Sample::values("jitter", vec![812.5]),
        ];
        let measurement = measurement.unwrap();
        assert_eq!((measurement.samples, measurement.operations), (expected.into(), Some(42)));
    }

    #[test]
    fn a_rate_is_that_of_all_connections_and_never_none() {
        let settings = |bandwidth: u64| {
            let bandwidth = bandwidth.to_string();
            let given = [(BANDWIDTH.name(), bandwidth.as_str()), (CONNECTIONS.name(), "16")];
            Iperf3Settings::of(&Parameter::values(PARAMETERS, &given).unwrap())
        };
        let bits = |bandwidth| {
            let settings = settings(bandwidth).unwrap();
            let words = client(&settings, "127.0.0.1:5201".parse().unwrap());
            let place = words.iter().position(|word| word == "--bitrate").unwrap();
            words[place + 1].clone()
        };
        assert_eq!((bits(0).as_str(), bits(2).as_str(), bits(100).as_str()), ("0", "1", "50"));
        assert!(settings(1).unwrap_err()[0].to_string().contains("less than a bit"));
    }

    #[test]
    fn what_is_missing_is_never_zero() {
        let silent = flow(Protocol::Tcp { retransmits: None }, 4096);
        assert!(measured(&report(silent, None), &[""]).unwrap_err().contains("does not tell"));
        let nothing = flow(Protocol::Tcp { retransmits: Some(0) }, 0);
        assert_eq!(measured(&report(nothing, None), &[""]).unwrap_err(), "nothing was received");
    }
}
