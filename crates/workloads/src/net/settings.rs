//! What was declared, as the processes of a run need it.

use super::control::{Asked, SMALLEST, Test};
use super::datagrams;
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
    /// One that the user has started.
    Address(SocketAddr),
}

/// All of it.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) place: Place,
    /// One way.
    pub(super) delay_ns: Option<u64>,
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
        let delay_ns = Some(parameters.duration_ns("delay")).filter(|delay_ns| *delay_ns > 0);
        if delay_ns.is_some() && place != Place::Namespace {
            wrong
                .push("a delay needs far = \"namespace\": only there is a line of ours".to_owned());
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
        Ok(Self { place, delay_ns, asked })
    }
}

/// What is measured.
pub(super) fn test(parameters: &Parameters) -> Test {
    let named = parameters.text("test");
    Test::ALL.iter().find(|(_, name)| *name == named).map_or(Test::Connect, |(test, _)| *test)
}

fn place(parameters: &Parameters) -> Result<Place, String> {
    let (far, text) = (parameters.text("far"), parameters.text("address"));
    match (far, text) {
        ("namespace", "") => Ok(Place::Namespace),
        ("namespace", _) => Err("an address is no namespace of ours: leave one of both out".into()),
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
