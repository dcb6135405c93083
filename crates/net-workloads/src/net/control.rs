//! What near and far side say to each other over the control connection, and within which limits.
//!
//! Whatever comes from the other side is hostile until it is parsed here: the version is looked at
//! before anything else, and then every number.

use contract::WordChoice;
use serde::{Deserialize, Serialize};
use std::io;

/// Version of the protocol. Another one is refused: counts of a side that counts differently are
/// no measurement.
pub(super) const VERSION: u32 = 1;
/// What a first message begins with, so that another protocol's client is told apart.
const MAGIC: &str = "schedlab-net";

/// Most connections of a run.
pub(super) const MOST_CONNECTIONS: u64 = 64;
/// Longest measured time of a run.
pub(super) const LONGEST_NS: u64 = 600_000_000_000;
/// Longest time before it.
pub(super) const LONGEST_WARM_UP_NS: u64 = 60_000_000_000;
/// Largest message or write.
pub(super) const LARGEST: u64 = 1 << 20;
/// Smallest message: what a datagram needs to say whose it is and which one.
pub(super) const SMALLEST: u64 = 24;
/// Most operations per second of a run.
pub(super) const FASTEST: u64 = 1_000_000;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Test {
    /// Handshakes.
    Connect,
    /// Requests, each with its reply.
    Request,
    /// Bytes from the near to the far side.
    Stream,
    /// Bytes in both directions at once.
    StreamBoth,
    /// Small messages over TCP, none of which waits for others.
    Messages,
    /// Datagrams.
    Datagrams,
}

impl WordChoice for Test {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("connect", Self::Connect),
        ("request", Self::Request),
        ("stream", Self::Stream),
        ("stream_both", Self::StreamBoth),
        ("messages", Self::Messages),
        ("datagrams", Self::Datagrams),
    ];
}

/// What the far side is asked to take part in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// What data connections and datagrams carry, so that a stranger's are not counted.
    pub(super) run: u64,
    pub(super) test: Test,
    /// Of each direction.
    pub(super) connections: u64,
    /// Bytes of a message or write.
    pub(super) size: u64,
    /// Operations per second over all connections; 0: no limit but what the other side takes.
    pub(super) rate: u64,
    pub(super) warm_up_ns: u64,
    pub(super) duration_ns: u64,
}

impl Asked {
    /// # Errors
    /// What of it a far side does not do, in one sentence.
    fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(format!("{name} is {value}, and {least} to {most} are served"))
        };
        within("the number of connections", self.connections, 1, MOST_CONNECTIONS)?;
        within("the size in bytes", self.size, SMALLEST, LARGEST)?;
        within("the rate per second", self.rate, 0, FASTEST)?;
        within("the warm-up in nanoseconds", self.warm_up_ns, 0, LONGEST_WARM_UP_NS)?;
        within("the duration in nanoseconds", self.duration_ns, 1, LONGEST_NS)
    }

    /// Both times together.
    pub(super) fn whole_ns(&self) -> u64 {
        self.warm_up_ns + self.duration_ns
    }
}

/// What the near side says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// All connections are there and the measurement begins.
    Start,
    /// It has sent everything: so many datagrams by each connection, where there are any.
    Finish {
        /// By connection.
        sent: Vec<u64>,
    },
}

/// What the far side says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FarAnswer {
    /// Data goes to this port.
    Accepted {
        /// Of TCP, or of UDP for datagrams.
        port: u16,
    },
    /// It takes part in another run of this address.
    Busy,
    /// It takes no part.
    Refused {
        /// In one sentence.
        why: String,
    },
    /// All data connections have come.
    Ready,
    /// What it counted.
    Report(FarReport),
    /// The run cannot be gone on with.
    Failed {
        /// In one sentence.
        why: String,
    },
}

/// What the far side counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FarReport {
    /// Connections or requests that it answered.
    pub(super) answered: u64,
    /// Of what the near side sent, by connection.
    pub(super) received: Vec<Received>,
    /// Of what it sent itself, by connection.
    pub(super) sent: Vec<Sent>,
}

/// What a receiver counted of one connection: bytes of a stream, or messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Received {
    pub(super) connection: u64,
    /// In all. Of datagrams: those measured, each once.
    pub(super) total: u64,
    /// After the moment at which the measured span began.
    pub(super) measured: u64,
    /// The measured span, by the receiver's own clock.
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
    /// Datagrams that came again.
    pub(super) repeated: u64,
    /// Datagrams that came after a later one.
    pub(super) reordered: u64,
}

/// What a sender counted of one connection: bytes of a stream, or messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sent {
    pub(super) connection: u64,
    /// In all.
    pub(super) total: u64,
    /// After the warm-up.
    pub(super) measured: u64,
    /// The measured span, by the sender's own clock.
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
    /// Segments that TCP sent again, since the connection began.
    pub(super) retransmits: u64,
}

/// The first message, whatever its version.
#[derive(Serialize, Deserialize)]
struct Hello<T> {
    magic: String,
    version: u32,
    asked: T,
}

/// The first message of the near side.
///
/// # Errors
/// When it cannot be written as JSON.
pub(super) fn hello(asked: &Asked) -> io::Result<Vec<u8>> {
    let hello = Hello { magic: MAGIC.to_owned(), version: VERSION, asked };
    Ok(serde_json::to_vec(&hello)?)
}

/// Reads the first message.
///
/// # Errors
/// Why no run can follow it, in one sentence for the other side.
pub(super) fn read_hello(bytes: &[u8]) -> Result<Asked, String> {
    let first: Hello<serde::de::IgnoredAny> = serde_json::from_slice(bytes)
        .map_err(|error| format!("this is no hello: {}", inert(&error)))?;
    if first.magic != MAGIC {
        return Err("this is no hello of schedlab".to_owned());
    }
    if first.version != VERSION {
        return Err(format!(
            "the hello has version {}, and version {VERSION} is spoken here: use the same schedlab \
             on both sides",
            first.version
        ));
    }
    let hello: Hello<Asked> = serde_json::from_slice(bytes)
        .map_err(|error| format!("the hello is damaged: {}", inert(&error)))?;
    hello.asked.check()?;
    Ok(hello.asked)
}

/// An error that may quote a stranger, for a terminal: plain letters, and not many.
fn inert(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.chars()
        .map(|letter| if letter.is_ascii_graphic() { letter } else { ' ' })
        .take(200)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked() -> Asked {
        Asked {
            run: u64::MAX,
            test: Test::StreamBoth,
            connections: 2,
            size: 64,
            rate: 0,
            warm_up_ns: 0,
            duration_ns: 1,
        }
    }

    #[test]
    fn a_hello_is_read_as_it_was_written() {
        assert_eq!(read_hello(&hello(&asked()).unwrap()), Ok(asked()));
    }

    #[test]
    fn another_version_is_refused_whatever_else_it_says() {
        let text = r#"{"magic":"schedlab-net","version":2,"asked":[1],"more":true}"#;
        let why = read_hello(text.as_bytes()).unwrap_err();
        assert!(why.contains("version 2") && why.contains("the same schedlab"), "{why}");
    }

    #[test]
    fn what_a_stranger_wrote_moves_no_cursor() {
        let text = r#"{"magic":"schedlab-net","version":1,"asked":{"\u001b[2J\u202e":1}}"#;
        let why = read_hello(text.as_bytes()).unwrap_err();
        assert!(why.contains("[2J") && why.is_ascii() && !why.contains('\u{1b}'), "{why}");
        let long = text.replace("[2J", &"x".repeat(4000));
        assert!(read_hello(long.as_bytes()).unwrap_err().len() < 300);
    }

    #[test]
    fn more_than_is_served_is_refused_by_name() {
        type Change = fn(&mut Asked);
        let cases: [(Change, &str); 6] = [
            (|asked| asked.connections = 0, "connections"),
            (|asked| asked.connections = 65, "connections"),
            (|asked| asked.size = LARGEST + 1, "size"),
            (|asked| asked.rate = u64::MAX, "rate"),
            (|asked| asked.warm_up_ns = u64::MAX, "warm-up"),
            (|asked| asked.duration_ns = LONGEST_NS + 1, "duration"),
        ];
        for (change, word) in cases {
            let mut wrong = asked();
            change(&mut wrong);
            let why = read_hello(&hello(&wrong).unwrap()).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_hello(&bytes);
        }

        #[test]
        fn no_damage_to_a_hello_makes_more_than_is_served(
            place in 0_usize..200,
            byte in any::<u8>(),
        ) {
            let mut bytes = hello(&asked()).unwrap();
            let place = place % bytes.len();
            bytes[place] = byte;
            if let Ok(read) = read_hello(&bytes) {
                prop_assert_eq!(read.check(), Ok(()));
            }
        }
    }
}
