//! What was declared, as the processes of a run need it.

use super::control::{self, Asked, SMALLEST, Test};
use super::{connect, datagrams};
use contract::{Problem, WordChoice, peers_address};
use model::Parameters;
use std::net::SocketAddr;
use workload_parts::address::one_machine;
use workload_parts::nanoseconds::MS;

contract::keys! {
    pub(super) PARAMETERS;
    TEST: Test = choice("test", "connect", "What is measured"),
    FAR: OwnFarSide = choice("far", "loopback", "Where our own far side is"),
    ADDRESS: str = text(
        "address",
        "",
        "IP:PORT of a `schedlab net serve` that you have started, instead of ours",
    ),
    DELAY: u64 = duration("delay", 0, 500 * MS, "0ms", "One way; needs far = \"namespace\""),
    DELAY_BY: DelayedBy = choice(
        "delay_by",
        "line",
        "What holds the packets: a process of ours, or the kernel where it has netem",
    ),
    CONNECTIONS: u64 = count(
        "connections",
        1,
        control::MOST_CONNECTIONS,
        "1",
        "Connections at a time, each with a thread on either side; of stream_both in each direction",
    ),
    SIZE: u64 = size(
        "size",
        0,
        control::LARGEST,
        "0",
        "Bytes of a message, or of a write of a stream; 0: 64, and 128 KiB for a stream",
    ),
    RATE: u64 = count(
        "rate",
        0,
        control::FASTEST,
        "0",
        "Operations per second over all connections; 0: as fast as the other side takes them",
    ),
    WARM_UP: u64 = duration(
        "warm_up",
        0,
        control::LONGEST_WARM_UP_NS,
        "200ms",
        "Time before the measured one",
    ),
    DURATION: u64 = length(10 * MS, control::LONGEST_NS, "3s", "Measured time"),
}

/// Size of a message and of a write where none is declared. The latter is iperf3's (-l).
const MESSAGE: u64 = 64;
const WRITE: u64 = 128 << 10;

/// Where our own far side is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnFarSide {
    Loopback,
    Namespace,
    Guest,
}

impl WordChoice for OwnFarSide {
    const WORDS: &'static [(&'static str, Self)] =
        &[("loopback", Self::Loopback), ("namespace", Self::Namespace), ("guest", Self::Guest)];
}

/// What holds packets that are delayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DelayedBy {
    /// A process of ours.
    Line,
    /// The kernel.
    Netem,
}

impl WordChoice for DelayedBy {
    const WORDS: &'static [(&'static str, Self)] = &[("line", Self::Line), ("netem", Self::Netem)];
}

/// Where the far side is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FarLocation {
    /// A process of ours on this machine's loopback.
    Loopback,
    /// A process of ours in a network namespace of its own.
    Namespace,
    /// A second guest, which the venue has booted.
    Guest,
    /// One that the user has started.
    Address(SocketAddr),
}

impl FarLocation {
    /// Where a far side serves that is no process of this run.
    pub(super) fn served(self) -> Option<SocketAddr> {
        match self {
            FarLocation::Loopback | FarLocation::Namespace => None,
            FarLocation::Guest => Some(peers_address()),
            FarLocation::Address(address) => Some(address),
        }
    }
}

/// What joins the two sides' namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// A pair of virtual links.
    Pair,
    /// Tunnels, between which a process of ours holds each packet for so long one way.
    Line { delay_ns: u64 },
    /// A pair of virtual links, on which the kernel does that.
    Netem { delay_ns: u64 },
}

impl Join {
    /// How long each packet is held one way.
    pub(super) fn delay_ns(self) -> u64 {
        match self {
            Join::Pair => 0,
            Join::Line { delay_ns } | Join::Netem { delay_ns } => delay_ns,
        }
    }

    /// The delay of a line of ours.
    pub(super) fn line_ns(self) -> Option<u64> {
        match self {
            Join::Line { delay_ns } => Some(delay_ns),
            Join::Pair | Join::Netem { .. } => None,
        }
    }
}

/// All of it.
#[derive(Debug, Clone)]
pub(super) struct NetSettings {
    pub(super) place: FarLocation,
    pub(super) join: Join,
    /// The number of the run is drawn when it is prepared.
    pub(super) asked: Asked,
}

impl NetSettings {
    /// # Errors
    /// All that cannot be meant.
    pub(super) fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let mut wrong: Vec<String> = Vec::new();
        let test = TEST.of(parameters);
        let place = place(parameters).unwrap_or_else(|why| {
            wrong.push(why);
            FarLocation::Loopback
        });
        let join = join(parameters);
        if join != Join::Pair && place != FarLocation::Namespace {
            wrong
                .push("a delay needs far = \"namespace\": only there is a line of ours".to_owned());
        }
        if join == Join::Pair && DELAY_BY.of(parameters) == DelayedBy::Netem {
            wrong.push("delay_by = \"netem\" needs a delay".to_owned());
        }
        let delay_ns = join.delay_ns();
        if test == Test::Connect && 2 * delay_ns >= connect::RETRY_NS {
            wrong.push(
                "delay: a handshake takes two of them, and from a second on it is counted as a retry"
                    .to_owned(),
            );
        }
        let rate = RATE.of(parameters);
        let is_stream = matches!(test, Test::Stream | Test::StreamBoth);
        if rate > 0 && is_stream {
            wrong.push("a stream has no rate: it is as fast as the other side takes it".to_owned());
        }
        if rate == 0 && test == Test::Datagrams && matches!(place, FarLocation::Address(_)) {
            wrong.push(
                "datagrams to an address need a rate: nothing else keeps them from flooding it"
                    .to_owned(),
            );
        }
        let size = match SIZE.of(parameters) {
            0 if is_stream => WRITE,
            0 => MESSAGE,
            size => size,
        };
        if size < SMALLEST && test != Test::Connect && !is_stream {
            wrong.push(format!("size = {size}: a message has {SMALLEST} bytes or more"));
        }
        if test == Test::Datagrams && size > datagrams::LARGEST {
            wrong.push(format!(
                "size = {size}: a datagram has {} bytes at most",
                datagrams::LARGEST
            ));
        }
        if !wrong.is_empty() {
            return Err(wrong.into_iter().map(Problem::from).collect());
        }
        let asked = Asked {
            run: 0,
            test,
            connections: CONNECTIONS.of(parameters),
            size: size.max(SMALLEST),
            rate,
            warm_up_ns: WARM_UP.of(parameters),
            duration_ns: DURATION.of(parameters),
        };
        Ok(Self { place, join, asked })
    }
}

/// What joins the sides where they are namespaces.
fn join(parameters: &Parameters) -> Join {
    match (DELAY.of(parameters), DELAY_BY.of(parameters)) {
        (0, _) => Join::Pair,
        (delay_ns, DelayedBy::Netem) => Join::Netem { delay_ns },
        (delay_ns, DelayedBy::Line) => Join::Line { delay_ns },
    }
}

fn place(parameters: &Parameters) -> Result<FarLocation, String> {
    let (far, text) = (FAR.of(parameters), ADDRESS.of(parameters));
    match (far, text) {
        (OwnFarSide::Namespace, "") => Ok(FarLocation::Namespace),
        (OwnFarSide::Guest, "") => Ok(FarLocation::Guest),
        (OwnFarSide::Namespace | OwnFarSide::Guest, _) => {
            Err("an address is no far side of ours: leave one of both out".into())
        }
        (OwnFarSide::Loopback, "") => Ok(FarLocation::Loopback),
        (OwnFarSide::Loopback, _) => {
            Ok(FarLocation::Address(one_machine(text, "as `schedlab net serve` prints it")?))
        }
    }
}
