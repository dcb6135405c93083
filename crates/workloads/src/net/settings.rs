//! What was declared, as the processes of a run need it.

use super::control::{Asked, SMALLEST, Test};
use super::datagrams;
use contract::peers_address;
use model::Parameters;
use std::net::{IpAddr, SocketAddr};

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
        _ => Ok(Place::Address(address(text)?)),
    }
}

/// Where a user has started a far side.
fn address(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| {
        format!(
            "address = {text:?}: expected IP:PORT as `schedlab net serve` prints it; names are not \
             looked up"
        )
    })?;
    let is_many = match address.ip() {
        IpAddr::V4(ip) => ip.is_broadcast() || ip.is_multicast() || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_multicast() || ip.is_unspecified(),
    };
    if is_many || address.port() == 0 {
        return Err(format!("address = {text:?}: expected the address and port of one machine"));
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_of_one_machine_is_one() {
        for right in ["127.0.0.1:7171", "192.0.2.7:1", "[2001:db8::7]:65535"] {
            assert!(address(right).is_ok(), "{right}");
        }
        let wrong = [
            "",
            "localhost:7171",
            "example.org:7171",
            "192.0.2.7",
            "192.0.2.7:0",
            "0.0.0.0:7171",
            "255.255.255.255:7171",
            "224.0.0.1:7171",
            "[ff02::1]:7171",
            "[::]:7171",
            "192.0.2.7:7171/path",
        ];
        for wrong in wrong {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        assert!(address("localhost:1").unwrap_err().contains("not looked up"));
    }
}
