//! What was declared, as the processes of a run need it.

use super::control::{Asked, SMALLEST, Test};
use super::{connect, datagrams};
use crate::address::one_machine;
use contract::peers_address;
use model::Parameters;
use std::net::SocketAddr;

/// Size of a message and of a write where none is declared. The latter is iperf3's (-l).
const MESSAGE: u64 = 64;
const WRITE: u64 = 128 << 10;

/// Where the far side is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A process of ours on this machine's loopback.
    Loopback,
    /// A process of ours in a network namespace of its own.
    Namespace,
    /// A second guest, which the venue has booted.
    Guest,
    /// One that the user has started.
    Address(SocketAddr),
}

impl Place {
    /// Where a far side serves that is no process of this run.
    pub(super) fn served(self) -> Option<SocketAddr> {
        match self {
            Place::Loopback | Place::Namespace => None,
            Place::Guest => Some(peers_address()),
            Place::Address(address) => Some(address),
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
pub(super) struct Settings {
    pub(super) place: Place,
    pub(super) join: Join,
    /// The number of the run is drawn when it is prepared.
    pub(super) asked: Asked,
}

impl Settings {
    /// # Errors
    /// All that cannot be meant, each in one sentence.
    pub(super) fn of(parameters: &Parameters) -> Result<Self, Vec<String>> {
        let mut wrong = Vec::new();
        let test = test(parameters);
        let place = place(parameters).unwrap_or_else(|why| {
            wrong.push(why);
            Place::Loopback
        });
        let join = join(parameters);
        if join != Join::Pair && place != Place::Namespace {
            wrong
                .push("a delay needs far = \"namespace\": only there is a line of ours".to_owned());
        }
        if join == Join::Pair && parameters.text("delay_by") == "netem" {
            wrong.push("delay_by = \"netem\" needs a delay".to_owned());
        }
        let delay_ns = parameters.duration_ns("delay");
        if test == Test::Connect && 2 * delay_ns >= connect::RETRY_NS {
            wrong.push(
                "delay: a handshake takes two of them, and from a second on it is counted as a retry"
                    .to_owned(),
            );
        }
        let rate = parameters.count("rate");
        let is_stream = matches!(test, Test::Stream | Test::StreamBoth);
        if rate > 0 && is_stream {
            wrong.push("a stream has no rate: it is as fast as the other side takes it".to_owned());
        }
        if rate == 0 && test == Test::Datagrams && matches!(place, Place::Address(_)) {
            wrong.push(
                "datagrams to an address need a rate: nothing else keeps them from flooding it"
                    .to_owned(),
            );
        }
        let size = match parameters.size("size") {
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
            return Err(wrong);
        }
        let asked = Asked {
            run: 0,
            test,
            connections: parameters.count("connections"),
            size: size.max(SMALLEST),
            rate,
            warm_up_ns: parameters.duration_ns("warm_up"),
            duration_ns: parameters.duration_ns("duration"),
        };
        Ok(Self { place, join, asked })
    }
}

/// What is measured.
pub(super) fn test(parameters: &Parameters) -> Test {
    let named = parameters.text("test");
    Test::ALL.iter().find(|(_, name)| *name == named).map_or(Test::Connect, |(test, _)| *test)
}

/// What joins the sides where they are namespaces.
pub(super) fn join(parameters: &Parameters) -> Join {
    match (parameters.duration_ns("delay"), parameters.text("delay_by")) {
        (0, _) => Join::Pair,
        (delay_ns, "netem") => Join::Netem { delay_ns },
        (delay_ns, _) => Join::Line { delay_ns },
    }
}

fn place(parameters: &Parameters) -> Result<Place, String> {
    let (far, text) = (parameters.text("far"), parameters.text("address"));
    match (far, text) {
        ("namespace", "") => Ok(Place::Namespace),
        ("guest", "") => Ok(Place::Guest),
        ("namespace" | "guest", _) => {
            Err("an address is no far side of ours: leave one of both out".into())
        }
        (_, "") => Ok(Place::Loopback),
        _ => Ok(Place::Address(one_machine(text, "as `schedlab net serve` prints it")?)),
    }
}
