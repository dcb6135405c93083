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
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder before its hello: it looks for the first whole frame with number 0.
    pub fn new() -> Self {
        Self { buffer: Vec::new(), expected: None }
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
        let Some(header) = self.header()? else { return Ok(None) };
        let end = HEADER + header.length;
        if self.buffer.len() < end {
            return Ok(None);
        }
        if checksum(&self.buffer[4..12], &self.buffer[HEADER..end]) != header.sum {
            return Err(Corrupt(format!("the checksum of frame {} is wrong", header.sequence)));
        }
        let expected = self.expected.unwrap_or(header.sequence);
        if header.sequence != expected {
            let found = header.sequence;
            return Err(Corrupt(format!("frame {found} came where {expected} was due")));
        }
        let message = serde_json::from_slice(&self.buffer[HEADER..end])
            .map_err(|error| Corrupt(format!("frame {expected} holds no message: {error}")))?;
        self.buffer.drain(..end);
        self.expected = Some(expected.wrapping_add(1));
        Ok(Some(message))
    }

    /// Drops bytes until a frame with number 0 that is whole, or may become so, leads.
    fn find_hello(&mut self) -> bool {
        loop {
            let Some(start) = self.buffer.windows(4).position(|window| window == MAGIC) else {
                let kept = self.buffer.len().min(MAGIC.len() - 1);
                self.buffer.drain(..self.buffer.len() - kept);
                return false;
            };
            self.buffer.drain(..start);
            match self.header() {
                Ok(None) => return false,
                Ok(Some(header)) if header.sequence == 0 => {
                    let end = HEADER + header.length;
                    if self.buffer.len() < end {
                        return false;
                    }
                    if checksum(&self.buffer[4..12], &self.buffer[HEADER..end]) == header.sum {
                        return true;
                    }
                }
                Ok(Some(_)) | Err(_) => {}
            }
            // Not the one: look behind its magic.
            self.buffer.drain(..1);
        }
    }

    fn header(&self) -> Result<Option<Header>, Corrupt> {
        let Some(bytes) = self.buffer.get(..HEADER) else { return Ok(None) };
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
        Ok(Some(Header { sequence: number(4), length, sum: number(12) }))
    }
}

struct Header {
    sequence: u32,
    length: usize,
    sum: u32,
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
