//! Whole frames from a stream of bytes.

use super::frame::{Frame, LEAST, LENGTH};
use super::pool::Pool;

/// Puts frames together from what a connection gives.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    bytes: Vec<u8>,
    begin: usize,
}

impl Assembly {
    /// Adds what was read.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if self.begin > 0 {
            self.bytes.drain(..self.begin);
            self.begin = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole frame.
    ///
    /// # Errors
    /// When a length is impossible: the stream is not ours, or out of step.
    pub(super) fn next(&mut self, longest: usize, pool: &Pool) -> Result<Option<Frame>, String> {
        let rest = &self.bytes[self.begin..];
        let Some(prefix) = rest.get(LENGTH) else { return Ok(None) };
        let length = u32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]) as usize;
        if !(LEAST..=longest).contains(&length) {
            return Err(format!("a frame claims to have {length} bytes"));
        }
        let Some(bytes) = rest.get(..length) else { return Ok(None) };
        let frame = Frame::from_bytes(pool.copy(bytes));
        self.begin += length;
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_the_stream_is_cut(
            payloads in prop::collection::vec(0_usize..200, 1..20),
            cut in 1_usize..300,
        ) {
            let sent: Vec<Frame> =
                (1..).zip(&payloads).map(|(number, size)| Frame::request(1, number, *size)).collect();
            let stream: Vec<u8> = sent.iter().flat_map(|frame| frame.bytes().to_vec()).collect();
            let mut assembly = Assembly::default();
            let mut received = Vec::new();
            for part in stream.chunks(cut) {
                assembly.add(part);
                while let Some(frame) = assembly.next(LEAST + 200, &Pool::none()).unwrap() {
                    received.push(frame);
                }
            }
            prop_assert_eq!(received, sent);
        }

        #[test]
        fn no_stream_is_believed_blindly(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut assembly = Assembly::default();
            assembly.add(&bytes);
            while let Ok(Some(frame)) = assembly.next(1 << 10, &Pool::none()) {
                prop_assert!((LEAST..=1 << 10).contains(&frame.bytes().len()));
                let _ = frame.is_reply();
            }
        }
    }
}
