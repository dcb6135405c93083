//! One end of a control connection: messages of JSON, each after its length.
//!
//! The other side may be hostile: lengths are bounded, and a deadline is over all reads of a
//! message together.

use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use sys::monotonic_ns;

/// Longest message in bytes. The longest that is sent is a report of all connections that a run
/// may have, about 30 kB with the longest numbers.
const LONGEST: usize = 64 << 10;
/// Bytes of a length before a message.
const HEADER: usize = 4;

/// How long a message is, by what comes before it.
///
/// # Errors
/// When it would be longer than any that is sent.
fn length(header: [u8; HEADER]) -> io::Result<usize> {
    let length = usize::try_from(u32::from_be_bytes(header)).unwrap_or(usize::MAX);
    if (1..=LONGEST).contains(&length) {
        return Ok(length);
    }
    let why = format!("a message of {length} bytes was announced; they have 1 to {LONGEST}");
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Reads a message.
///
/// # Errors
/// When it is none that may come here.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("a message is damaged: {error}"))
    })
}

/// One end of a control connection.
#[derive(Debug)]
pub(super) struct Channel(TcpStream);

impl Channel {
    /// # Errors
    /// What the kernel answers.
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        // A peer that does not read must not block us.
        stream.set_write_timeout(Some(Duration::from_secs(5)))?;
        Ok(Self(stream))
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.0
    }

    /// # Errors
    /// What the kernel answers.
    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.send_bytes(&serde_json::to_vec(message)?)
    }

    /// # Errors
    /// What the kernel answers.
    pub(super) fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut framed = length.to_be_bytes().to_vec();
        framed.extend_from_slice(bytes);
        self.0.write_all(&framed)
    }

    /// The next message, which must be whole within so many nanoseconds.
    ///
    /// # Errors
    /// When it is not, when it is no message, or what the kernel answers.
    pub(super) fn receive<T: DeserializeOwned>(&mut self, within_ns: u64) -> io::Result<T> {
        decode(&self.receive_bytes(within_ns)?)
    }

    /// The bytes of the next message.
    ///
    /// # Errors
    /// As [`Self::receive`].
    pub(super) fn receive_bytes(&mut self, within_ns: u64) -> io::Result<Vec<u8>> {
        let until_ns = monotonic_ns().saturating_add(within_ns);
        let mut header = [0; HEADER];
        self.fill(&mut header, until_ns)?;
        let mut bytes = vec![0; length(header)?];
        self.fill(&mut bytes, until_ns)?;
        Ok(bytes)
    }

    /// Whether something can be read, or the other side is gone, within so many nanoseconds.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn wait(&self, within_ns: u64) -> io::Result<bool> {
        let timeout = workload_parts::instant::timespec(within_ns);
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A deadline over all reads together: one byte now and then is no message.
    fn fill(&mut self, buffer: &mut [u8], until_ns: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            let left_ns = until_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it said nothing in time"));
            }
            if !self.wait(left_ns)? {
                continue;
            }
            match self.0.read(&mut buffer[done..]) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "it closed the control connection",
                    ));
                }
                Ok(length) => done += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::control::{FarAnswer, FarReport, MOST_CONNECTIONS, Order, Received, Sent};
    use super::*;
    use proptest::prelude::*;
    use std::net::TcpListener;

    fn pair() -> (Channel, Channel) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let far = listener.accept().unwrap().0;
        (Channel::new(near).unwrap(), Channel::new(far).unwrap())
    }

    #[test]
    fn the_largest_report_fits_a_message() {
        let received = Received {
            connection: u64::MAX,
            total: u64::MAX,
            measured: u64::MAX,
            began_ns: u64::MAX,
            ended_ns: u64::MAX,
            repeated: u64::MAX,
            reordered: u64::MAX,
        };
        let sent = Sent {
            connection: u64::MAX,
            total: u64::MAX,
            measured: u64::MAX,
            began_ns: u64::MAX,
            ended_ns: u64::MAX,
            retransmits: u64::MAX,
        };
        let count = MOST_CONNECTIONS as usize;
        let report = FarReport {
            answered: u64::MAX,
            received: vec![received; count],
            sent: vec![sent; count],
        };
        let bytes = serde_json::to_vec(&FarAnswer::Report(report)).unwrap();
        assert!(bytes.len() <= LONGEST, "{}", bytes.len());
    }

    #[test]
    fn messages_go_through_a_channel_whole() {
        let (mut near, mut far) = pair();
        near.send(&Order::Finish { sent: vec![3, 4] }).unwrap();
        near.send(&Order::Start).unwrap();
        let first: Order = far.receive(1_000_000_000).unwrap();
        assert_eq!(first, Order::Finish { sent: vec![3, 4] });
        assert_eq!(far.receive::<Order>(1_000_000_000).unwrap(), Order::Start);
        drop(near);
        let gone = far.receive::<Order>(1_000_000_000).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn half_a_message_does_not_hold_the_reader() {
        let (mut near, mut far) = pair();
        near.0.write_all(&[0, 0, 0, 9, b'{']).unwrap();
        let began_ns = monotonic_ns();
        let late = far.receive::<Order>(50_000_000).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        assert!(monotonic_ns() - began_ns >= 50_000_000);
        near.0.write_all(&[0xff; 8]).unwrap();
        let mut rest = Channel(far.0);
        // Of what was announced `{` was read already.
        assert!(
            rest.receive::<Order>(1_000_000_000).unwrap_err().to_string().contains("announced")
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode::<Order>(&bytes);
            let _ = decode::<FarAnswer>(&bytes);
        }

        #[test]
        fn an_announced_length_is_bounded(header in any::<[u8; 4]>()) {
            if let Ok(length) = length(header) {
                prop_assert!((1..=LONGEST).contains(&length));
            }
        }
    }
}
