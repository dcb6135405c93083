//! What travels: length-prefixed binary frames with sequence numbers, a check, and the moments
//! at which each station had them.
//!
//! Integers are little-endian. A frame is its header, its stamps and a payload that nobody reads
//! but the check.

use std::ops::Range;

/// Where a moment is taken, in the order of a round trip. Nanoseconds of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    /// The generator writes the request.
    Sent,
    /// The gateway's worker woke up, or came back from other work, and found it.
    Found,
    /// The worker begins with it.
    Begun,
    /// It is put into another worker's queue.
    Handed,
    /// The other worker took it out.
    Taken,
    /// It is written to the exchange.
    Forwarded,
    /// The gateway has read the exchange's answer.
    Answered,
    /// The answer is put into the queue of the worker whose client it is.
    HandedBack,
    /// That worker took it out.
    TakenBack,
    /// It is written to the client.
    Replied,
}

const STAMPS: usize = 10;
const HEADER: usize = 32;
/// The shortest frame.
pub(super) const LEAST: usize = HEADER + STAMPS * 8;

pub(super) const LENGTH: Range<usize> = 0..4;
const KIND: Range<usize> = 4..6;
const OWNER: Range<usize> = 6..8;
const SESSION: Range<usize> = 8..12;
const SEQUENCE: Range<usize> = 16..24;
const CHECK: Range<usize> = 24..32;

const REQUEST: u16 = 0x5251;
const REPLY: u16 = 0x5250;
/// What the exchange adds to a check: a request that never reached it cannot pass for a reply.
const ANSWERED: u64 = 0x9e37_79b9_7f4a_7c15;

/// One frame's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame(Vec<u8>);

impl Frame {
    /// A request with so many bytes of payload.
    pub(super) fn request(session: u32, sequence: u64, payload: usize) -> Self {
        let mut frame = Self(vec![0; LEAST + payload]);
        let length = u32::try_from(frame.0.len()).unwrap_or(u32::MAX);
        frame.put(LENGTH, &length.to_le_bytes());
        frame.put(KIND, &REQUEST.to_le_bytes());
        frame.put(SESSION, &session.to_le_bytes());
        for (index, byte) in frame.0[LEAST..].iter_mut().enumerate() {
            // Differs along the payload and between sessions.
            *byte = (index as u8).wrapping_mul(31).wrapping_add(session.to_le_bytes()[0]);
        }
        frame.renew(sequence);
        frame
    }

    /// The same request under another number, without stamps.
    pub(super) fn renew(&mut self, sequence: u64) {
        self.0[HEADER..LEAST].fill(0);
        self.put(SEQUENCE, &sequence.to_le_bytes());
        let check = self.sum();
        self.put(CHECK, &check.to_le_bytes());
    }

    /// Makes the request its reply.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub(super) fn answer(&mut self) -> Result<(), String> {
        if self.kind() != REQUEST || self.check() != self.sum() {
            return Err(format!(
                "request {} of session {} is damaged",
                self.sequence(),
                self.session()
            ));
        }
        self.put(KIND, &REPLY.to_le_bytes());
        let check = self.sum() ^ ANSWERED;
        self.put(CHECK, &check.to_le_bytes());
        Ok(())
    }

    /// Whether it is a reply that the exchange made and nobody changed.
    pub(super) fn is_reply(&self) -> bool {
        self.kind() == REPLY && self.check() == self.sum() ^ ANSWERED
    }

    pub(super) fn session(&self) -> u32 {
        u32::from_le_bytes(self.array(SESSION))
    }

    pub(super) fn sequence(&self) -> u64 {
        u64::from_le_bytes(self.array(SEQUENCE))
    }

    /// The worker whose client it came from.
    pub(super) fn owner(&self) -> usize {
        usize::from(u16::from_le_bytes(self.array(OWNER)))
    }

    pub(super) fn set_owner(&mut self, worker: usize) {
        self.put(OWNER, &u16::try_from(worker).unwrap_or(u16::MAX).to_le_bytes());
    }

    pub(super) fn stamp(&mut self, stamp: Stamp, moment_ns: u64) {
        self.put(place(stamp), &moment_ns.to_le_bytes());
    }

    /// When it was there; zero where it never was.
    pub(super) fn at(&self, stamp: Stamp) -> u64 {
        u64::from_le_bytes(self.array(place(stamp)))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whatever was read as one.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Its memory.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn kind(&self) -> u16 {
        u16::from_le_bytes(self.array(KIND))
    }

    fn check(&self) -> u64 {
        u64::from_le_bytes(self.array(CHECK))
    }

    /// FNV-1a of what must arrive as it was sent (Fowler, Noll, Vo; draft-eastlake-fnv-21), eight
    /// bytes at a time: it guards against our own mistakes, not against somebody's will.
    fn sum(&self) -> u64 {
        let words = self.0[LEAST..].chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let named = [u64::from(self.session()), self.sequence(), self.0.len() as u64];
        named
            .into_iter()
            .chain(words)
            .fold(0xcbf2_9ce4_8422_2325, |sum, word| (sum ^ word).wrapping_mul(0x0100_0000_01b3))
    }

    fn put(&mut self, place: Range<usize>, bytes: &[u8]) {
        self.0[place].copy_from_slice(bytes);
    }

    fn array<const N: usize>(&self, place: Range<usize>) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[place]);
        bytes
    }
}

fn place(stamp: Stamp) -> Range<usize> {
    let start = HEADER + stamp as usize * 8;
    start..start + 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_one_that_the_exchange_made_of_this_request() {
        let mut frame = Frame::request(7, 42, 64);
        assert!(!frame.is_reply());
        frame.stamp(Stamp::Found, 5);
        frame.set_owner(3);
        frame.answer().unwrap();
        assert!(frame.is_reply());
        assert_eq!((frame.session(), frame.sequence(), frame.owner()), (7, 42, 3));
        assert_eq!((frame.at(Stamp::Found), frame.at(Stamp::Replied)), (5, 0));
        assert_eq!(frame.answer(), Err("request 42 of session 7 is damaged".to_owned()));
        for place in [SESSION.start, SEQUENCE.start, CHECK.start, LEAST, LEAST + 63] {
            let mut damaged = frame.clone();
            damaged.0[place] ^= 1;
            assert!(!damaged.is_reply(), "byte {place}");
        }
    }
}
