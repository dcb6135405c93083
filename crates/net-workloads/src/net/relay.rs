//! The delay line: carries packets between two tunnels and holds each for a while.

use model::Histogram;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use sys::monotonic_ns;
use workload_parts::nanoseconds::US;

/// Packets that may be under way in one direction; a further one is dropped, as a line does. At
/// 1500 bytes these are 24 MB: 4.9 GB/s of a line of 5 ms, or 49 MB/s of one of half a second.
const CAPACITY: usize = 16_384;
/// Taken from one side before those that are due are passed on. Measured unoptimised on 2 cores:
/// 220,000 packets a second, each taken and passed on, so that a burst is 70 us.
const BURST: usize = 16;
/// Longer than any packet of a tunnel, whose MTU is 1500.
const LONGEST: usize = 2048;
/// Most that the 99th percentile of the lateness may be of the delay.
const MOST_LATE: f64 = 0.1;

/// What a relay did.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Relayed {
    /// How much later than due packets were passed on.
    lateness: String,
    pub(super) packets: u64,
    pub(super) dropped: u64,
}

impl Relayed {
    /// # Errors
    /// When it cannot be read.
    pub(super) fn lateness(&self) -> Result<Histogram, model::HistogramError> {
        Histogram::decode(&self.lateness)
    }
}

/// What is wrong with a line of that delay whose packets were so late: its own noise would be
/// taken for the network's.
pub(super) fn broken(lateness: &Histogram, delay_ns: u64) -> Option<String> {
    let late_ns = lateness.quantile(0.99)?;
    let most_ns = delay_ns as f64 * MOST_LATE;
    (late_ns as f64 > most_ns).then(|| {
        format!(
            "the delay line was too late itself: the 99th percentile of its lateness is {}, more \
             than {:.0} % of the delay of {}",
            model::format_duration(late_ns / US * US),
            100.0 * MOST_LATE,
            model::format_duration(delay_ns)
        )
    })
}

/// One direction.
struct Lane<'e> {
    from: &'e OwnedFd,
    to: &'e OwnedFd,
    under_way: VecDeque<Packet>,
}

struct Packet {
    due_ns: u64,
    length: usize,
    bytes: Vec<u8>,
}

struct Line<'e> {
    lanes: [Lane<'e>; 2],
    delay_ns: u64,
    /// Memory of packets that have gone.
    spare: Vec<Vec<u8>>,
    lateness: Histogram,
    packets: u64,
    dropped: u64,
}

/// Carries packets until the other end of `until` is closed.
///
/// # Errors
/// What the kernel answers.
pub(super) fn carry(
    [near, far]: &[OwnedFd; 2],
    delay_ns: u64,
    until: &OwnedFd,
) -> io::Result<Relayed> {
    let lane = |from, to| Lane { from, to, under_way: VecDeque::with_capacity(CAPACITY) };
    let mut line = Line {
        lanes: [lane(near, far), lane(far, near)],
        delay_ns,
        spare: Vec::with_capacity(2 * CAPACITY),
        lateness: Histogram::new(),
        packets: 0,
        dropped: 0,
    };
    loop {
        line.pass_on()?;
        let first = line.lanes.iter().filter_map(|lane| lane.under_way.front());
        let timeout = first
            .map(|packet| packet.due_ns)
            .min()
            .map(|due_ns| workload_parts::instant::timespec(due_ns.saturating_sub(monotonic_ns())));
        let mut files = [near, far, until].map(|file| PollFd::new(file, PollFlags::IN));
        match poll(&mut files, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !files[2].revents().is_empty() {
            let (packets, dropped) = (line.packets, line.dropped);
            return Ok(Relayed { lateness: line.lateness.encode(), packets, dropped });
        }
        let readable = [0, 1].map(|index| files[index].revents().contains(PollFlags::IN));
        for (index, is_readable) in readable.into_iter().enumerate() {
            if is_readable {
                line.take(index)?;
            }
        }
    }
}

impl Line<'_> {
    /// Passes on what is due.
    fn pass_on(&mut self) -> io::Result<()> {
        for lane in &mut self.lanes {
            while let Some(packet) = lane.under_way.front() {
                let now_ns = monotonic_ns();
                if packet.due_ns > now_ns {
                    break;
                }
                match rustix::io::write(lane.to, &packet.bytes[..packet.length]) {
                    Ok(_) => {}
                    Err(Errno::INTR) => continue,
                    // No room on the other side: a line drops what nobody takes.
                    Err(Errno::AGAIN | Errno::NOBUFS) => self.dropped += 1,
                    Err(error) => return Err(error.into()),
                }
                self.lateness.record(now_ns - packet.due_ns);
                self.spare.extend(lane.under_way.pop_front().map(|packet| packet.bytes));
            }
        }
        Ok(())
    }

    /// Takes what one side has sent.
    fn take(&mut self, index: usize) -> io::Result<()> {
        let lane = &mut self.lanes[index];
        for _ in 0..BURST {
            let mut bytes = self.spare.pop().unwrap_or_else(|| vec![0; LONGEST]);
            let length = match rustix::io::read(lane.from, &mut bytes[..]) {
                Ok(length) => length,
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.spare.push(bytes);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            self.packets += 1;
            if lane.under_way.len() == CAPACITY {
                self.dropped += 1;
                self.spare.push(bytes);
                continue;
            }
            let due_ns = monotonic_ns() + self.delay_ns;
            lane.under_way.push_back(Packet { due_ns, length, bytes });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    /// Sockets that keep the bounds of packets, as tunnels do.
    fn tunnel() -> (OwnedFd, OwnedFd) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags, None).unwrap()
    }

    #[test]
    fn packets_keep_their_order_their_bounds_and_their_delay() {
        const DELAY_NS: u64 = 3_000_000;
        let ((near, near_end), (far, far_end)) = (tunnel(), tunnel());
        let (until, end) = rustix::pipe::pipe().unwrap();
        let line = std::thread::spawn(move || carry(&[near_end, far_end], DELAY_NS, &until));
        let began_ns = monotonic_ns();
        for number in 1..=5_u8 {
            rustix::io::write(&near, &vec![number; usize::from(number)]).unwrap();
            rustix::io::write(&far, &vec![number + 100; usize::from(number)]).unwrap();
        }
        for (side, more) in [(&far, 0), (&near, 100)] {
            for number in 1..=5_u8 {
                poll(&mut [PollFd::new(side, PollFlags::IN)], None).unwrap();
                assert!(monotonic_ns() - began_ns >= DELAY_NS);
                let mut bytes = [0; 16];
                let length = rustix::io::read(side, &mut bytes).unwrap();
                assert_eq!(bytes[..length], vec![number + more; usize::from(number)]);
            }
        }
        drop(end);
        let relayed = line.join().unwrap().unwrap();
        assert_eq!((relayed.packets, relayed.dropped), (10, 0));
        assert_eq!(relayed.lateness().unwrap().count(), 10);
    }

    #[test]
    fn a_line_that_is_late_itself_is_told_with_its_lateness() {
        let mut lateness = Histogram::new();
        lateness.record_many(400_000, 99);
        assert_eq!(broken(&lateness, 5_000_000), None);
        lateness.record_many(2_000_000, 99);
        let why = broken(&lateness, 5_000_000).unwrap();
        assert!(why.contains("2ms") && why.contains("5ms"), "{why}");
    }
}
