//! Frames: a message with what is needed to know that it arrived whole and in order.
//!
//! A virtio serial port has no sessions: bytes sent while one side is absent vanish, and
//! a restored snapshot is mid-stream. So each frame names itself (magic), its number, its
//! length and a checksum over both; numbers begin anew with a hello.
//!
//! ```text
//! 0   4   magic "SLW1"
//! 4   4   sequence number, little-endian, from 0 after each hello
//! 8   4   length of the payload
//! 12  4   CRC-32 (IEEE) of bytes 4 to 12 and the payload
//! 16  ..  the message as JSON
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

const MAGIC: [u8; 4] = *b"SLW1";
const HEADER: usize = 16;

/// The longest payload: a record with its histograms is some hundred kilobytes.
pub const LONGEST_PAYLOAD: usize = 64 << 20;
/// That of a hello has some hundred bytes, and what a guest's first process complains of. A longer one
/// is not waited for: chance or a hostile guest made it of other bytes.
const LONGEST_HELLO: usize = 1 << 20;
/// Bytes of frames with a wrong checksum among which a hello is looked for: each sixteen bytes may begin
/// another frame, and all of them reach over the same bytes. Behind so many each is passed over whole.
const MOST_SUMMED_IN_VAIN: usize = 64 << 20;

/// Makes frames, numbering them.
#[derive(Debug, Default)]
pub struct Encoder {
    next: u32,
}

impl Encoder {
    /// The frame of a message.
    ///
    /// # Errors
    /// When the message cannot be encoded, or is longer than a frame may be.
    pub fn encode(&mut self, message: &impl Serialize) -> Result<Vec<u8>, Corrupt> {
        let mut frame = vec![0; HEADER];
        serde_json::to_writer(&mut frame, message)
            .map_err(|error| Corrupt(format!("a message cannot be encoded: {error}")))?;
        let length = frame.len() - HEADER;
        if length > LONGEST_PAYLOAD {
            return Err(Corrupt(format!("a message of {length} bytes; {LONGEST_PAYLOAD} fit")));
        }
        // The length is below 2^32 by the check above.
        let length = length as u32;
        frame[..4].copy_from_slice(&MAGIC);
        frame[4..8].copy_from_slice(&self.next.to_le_bytes());
        frame[8..12].copy_from_slice(&length.to_le_bytes());
        let sum = checksum(&frame[4..12], &frame[HEADER..]);
        frame[12..16].copy_from_slice(&sum.to_le_bytes());
        self.next = self.next.wrapping_add(1);
        Ok(frame)
    }

    /// Numbers begin anew: the next frame is, or answers, a hello.
    pub fn restart(&mut self) {
        self.next = 0;
    }
}

/// Bytes that are no frame, or a frame out of its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrupt(pub String);

impl fmt::Display for Corrupt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Corrupt {}

/// Turns bytes as they arrive into messages.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// The number that the next frame must have; before the first one of a hello any will do,
    /// and what lies before it is left over from another conversation.
    expected: Option<u32>,
    /// Bytes of frames that were none, since the last hello.
    summed_in_vain: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder before its hello: it looks for the first whole frame with number 0.
    pub fn new() -> Self {
        Self { buffer: Vec::new(), expected: None, summed_in_vain: 0 }
    }

    /// The next hello is looked for; it may be among the bytes that arrived already.
    pub fn restart(&mut self) {
        self.expected = None;
    }

    /// Bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message, once all of it is there.
    ///
    /// # Errors
    /// When the bytes are no frame of ours, its checksum or number is wrong, or it holds
    /// no message of this kind. The channel cannot be trusted until the next hello.
    pub fn take<M: DeserializeOwned>(&mut self) -> Result<Option<M>, Corrupt> {
        if self.expected.is_none() && !self.find_hello() {
            return Ok(None);
        }
        let Some(header) = Header::of(&self.buffer)? else { return Ok(None) };
        let end = HEADER + header.length;
        let Some(frame) = self.buffer.get(..end) else { return Ok(None) };
        if !header.is_of(frame) {
            return Err(Corrupt(format!("the checksum of frame {} is wrong", header.sequence)));
        }
        let expected = self.expected.unwrap_or(header.sequence);
        if header.sequence != expected {
            let found = header.sequence;
            return Err(Corrupt(format!("frame {found} came where {expected} was due")));
        }
        let message = serde_json::from_slice(&frame[HEADER..])
            .map_err(|error| Corrupt(format!("frame {expected} holds no message: {error}")))?;
        self.buffer.drain(..end);
        self.expected = Some(expected.wrapping_add(1));
        Ok(Some(message))
    }

    /// Drops bytes until a frame with number 0 that is whole, or may become so, leads.
    fn find_hello(&mut self) -> bool {
        let mut at = 0;
        let is_found = loop {
            let rest = &self.buffer[at..];
            let Some(start) = rest.windows(MAGIC.len()).position(|window| window == MAGIC) else {
                at += rest.len() - rest.len().min(MAGIC.len() - 1);
                break false;
            };
            at += start;
            let rest = &self.buffer[at..];
            // Where it is not the one, what is behind its magic is looked at.
            let mut passed = 1;
            match Header::of(rest) {
                Ok(None) => break false,
                Ok(Some(header)) if header.sequence == 0 && header.length <= LONGEST_HELLO => {
                    let Some(frame) = rest.get(..HEADER + header.length) else { break false };
                    if header.is_of(frame) {
                        self.summed_in_vain = 0;
                        break true;
                    }
                    self.summed_in_vain += frame.len();
                    if self.summed_in_vain > MOST_SUMMED_IN_VAIN {
                        passed = frame.len();
                    }
                }
                Ok(Some(_)) | Err(_) => {}
            }
            at += passed;
        };
        self.buffer.drain(..at);
        is_found
    }
}

struct Header {
    sequence: u32,
    length: usize,
    sum: u32,
}

impl Header {
    /// The one that these bytes begin with; none where it is not all there.
    fn of(bytes: &[u8]) -> Result<Option<Self>, Corrupt> {
        let Some(bytes) = bytes.get(..HEADER) else { return Ok(None) };
        if bytes[..4] != MAGIC {
            return Err(Corrupt("bytes came that are no frame".to_owned()));
        }
        let number = |at: usize| {
            bytes[at..at + 4].iter().rev().fold(0, |sum, byte| (sum << 8) | u32::from(*byte))
        };
        let length = number(8) as usize;
        if length > LONGEST_PAYLOAD {
            return Err(Corrupt(format!("a frame of {length} bytes; {LONGEST_PAYLOAD} fit")));
        }
        Ok(Some(Self { sequence: number(4), length, sum: number(12) }))
    }

    /// Whether its checksum is that of this frame, which begins with it.
    fn is_of(&self, frame: &[u8]) -> bool {
        checksum(&frame[4..12], &frame[HEADER..]) == self.sum
    }
}

fn checksum(numbers: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(numbers);
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(messages: &[&str]) -> Vec<u8> {
        let mut encoder = Encoder::default();
        messages.iter().flat_map(|message| encoder.encode(message).unwrap()).collect()
    }

    fn decode_all(decoder: &mut Decoder) -> Result<Vec<String>, Corrupt> {
        let mut messages = Vec::new();
        while let Some(message) = decoder.take()? {
            messages.push(message);
        }
        Ok(messages)
    }

    #[test]
    fn what_another_conversation_left_behind_is_passed_over() {
        let mut bytes = b"rubbish SLW1 and the tail of a frame SLW".to_vec();
        bytes.extend(frames(&["hello", "next"]));
        let mut decoder = Decoder::new();
        decoder.push(&bytes);
        assert_eq!(decode_all(&mut decoder).unwrap(), ["hello", "next"]);
    }

    /// The header of a frame with number 0 and a wrong checksum.
    fn header(length: usize) -> Vec<u8> {
        let length = u32::try_from(length).unwrap().to_le_bytes();
        [MAGIC, [0; 4], length, [7; 4]].concat()
    }

    #[test]
    fn what_only_claims_to_be_a_long_frame_before_a_hello_is_not_waited_for() {
        let mut decoder = Decoder::new();
        decoder.push(&header(LONGEST_PAYLOAD));
        decoder.push(&frames(&["hello", "next"]));
        assert_eq!(decode_all(&mut decoder).unwrap(), ["hello", "next"]);
    }

    #[test]
    fn headers_that_reach_over_each_other_are_not_summed_without_end() {
        let mut decoder = Decoder::new();
        decoder.push(&header(LONGEST_HELLO).repeat(3 * LONGEST_HELLO / HEADER));
        assert_eq!(decode_all(&mut decoder).unwrap(), [""; 0]);
        assert!(decoder.summed_in_vain > MOST_SUMMED_IN_VAIN);
        assert!(decoder.summed_in_vain < MOST_SUMMED_IN_VAIN + 4 * (HEADER + LONGEST_HELLO));
        // What was begun is waited for, and is none either.
        decoder.push(&[0; HEADER + LONGEST_HELLO]);
        decoder.push(&frames(&["hello"]));
        assert_eq!(decode_all(&mut decoder).unwrap(), ["hello"]);
        assert_eq!(decoder.summed_in_vain, 0);
    }

    #[test]
    fn a_changed_byte_is_never_a_message() {
        let good = frames(&["first", "second"]);
        let first = frames(&["first"]).len();
        for position in first..good.len() {
            let mut bytes = good.clone();
            bytes[position] ^= 0x20;
            let mut decoder = Decoder::new();
            decoder.push(&bytes);
            let outcome = decode_all(&mut decoder);
            let is_refused = outcome.as_ref().map_or(true, |messages| messages == &["first"]);
            assert!(is_refused, "byte {position}: {outcome:?}");
        }
    }

    #[test]
    fn a_lost_frame_is_noticed() {
        let mut encoder = Encoder::default();
        let frames: Vec<Vec<u8>> =
            ["a", "b", "c"].iter().map(|message| encoder.encode(message).unwrap()).collect();
        let mut decoder = Decoder::new();
        decoder.push(&frames[0]);
        decoder.push(&frames[2]);
        assert_eq!(decoder.take::<String>(), Ok(Some("a".to_owned())));
        let error = decoder.take::<String>().unwrap_err();
        assert_eq!(error.0, "frame 2 came where 1 was due");
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_it_is_waited_for() {
        let mut bytes = frames(&["hello", "x"]);
        let second = frames(&["hello"]).len();
        bytes[second + 8..second + 12].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut decoder = Decoder::new();
        decoder.push(&bytes);
        assert!(decoder.take::<String>().unwrap().is_some());
        assert!(decoder.take::<String>().unwrap_err().0.contains("fit"));
    }

    proptest! {
        #[test]
        fn any_cutting_into_pieces_gives_the_same_messages(
            messages in prop::collection::vec(".{0,40}", 1..8),
            pieces in prop::collection::vec(1_usize..50, 1..60),
        ) {
            let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
            let bytes = frames(&texts);
            let mut decoder = Decoder::new();
            let mut found = Vec::new();
            let mut rest = bytes.as_slice();
            for piece in pieces.iter().cycle() {
                let (now, later) = rest.split_at((*piece).min(rest.len()));
                decoder.push(now);
                found.extend(decode_all(&mut decoder).unwrap());
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(found, messages);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut decoder = Decoder::new();
            decoder.push(&bytes);
            while let Ok(Some(_)) = decoder.take::<serde_json::Value>() {}
        }
    }
}
