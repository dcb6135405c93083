//! What goes over data connections: whose a connection is, and which message this is.

use super::control::SMALLEST;
use serde::{Deserialize, Serialize};

/// What a data connection begins with.
const MAGIC: [u8; 4] = *b"SLND";

/// Which side sends on a data connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SendingSide {
    /// The near side sends.
    Out,
    /// The far side sends.
    In,
}

/// The first bytes of a data connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Preamble {
    pub(super) run: u64,
    pub(super) connection: u32,
    pub(super) direction: SendingSide,
}

impl Preamble {
    pub(super) const LENGTH: usize = 17;

    pub(super) fn encode(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..12].copy_from_slice(&self.run.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.connection.to_le_bytes());
        bytes[16] = u8::from(self.direction == SendingSide::In);
        bytes
    }

    /// None where the bytes are no preamble.
    pub(super) fn decode(bytes: &[u8; Self::LENGTH]) -> Option<Self> {
        let direction = match bytes[16] {
            0 => SendingSide::Out,
            1 => SendingSide::In,
            _ => return None,
        };
        let run = u64::from_le_bytes(bytes[4..12].try_into().ok()?);
        let connection = u32::from_le_bytes(bytes[12..16].try_into().ok()?);
        (bytes[..4] == MAGIC).then_some(Self { run, connection, direction })
    }
}

/// What a message begins with; the rest of it is filling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) run: u64,
    pub(super) sequence: u64,
    pub(super) connection: u32,
    /// Whether it belongs to the measurement, not to the time before it.
    pub(super) is_measured: bool,
}

// No message is shorter than its stamp.
const _: () = assert!(Stamp::LENGTH as u64 <= SMALLEST);

impl Stamp {
    /// Bytes of a stamp.
    const LENGTH: usize = 21;

    /// Writes it to the beginning of a message, which is long enough by what was declared.
    #[inline]
    pub(super) fn write(self, message: &mut [u8]) {
        message[..8].copy_from_slice(&self.run.to_le_bytes());
        message[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        message[16..20].copy_from_slice(&self.connection.to_le_bytes());
        message[20] = u8::from(self.is_measured);
    }

    /// None where the bytes are too few or no stamp.
    #[inline]
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let is_measured = match message.get(20)? {
            0 => false,
            1 => true,
            _ => return None,
        };
        Some(Self {
            run: u64::from_le_bytes(message[..8].try_into().ok()?),
            sequence: u64::from_le_bytes(message[8..16].try_into().ok()?),
            connection: u32::from_le_bytes(message[16..20].try_into().ok()?),
            is_measured,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn preambles_and_stamps_are_read_as_written(
            run in any::<u64>(),
            sequence in any::<u64>(),
            connection in any::<u32>(),
            flag in any::<bool>(),
        ) {
            let direction = if flag { SendingSide::In } else { SendingSide::Out };
            let preamble = Preamble { run, connection, direction };
            prop_assert_eq!(Preamble::decode(&preamble.encode()), Some(preamble));
            let stamp = Stamp { run, sequence, connection, is_measured: flag };
            let mut message = [9; 64];
            stamp.write(&mut message);
            prop_assert_eq!(Stamp::read(&message), Some(stamp));
            prop_assert_eq!(Stamp::read(&message[..20]), None);
        }

        #[test]
        fn no_bytes_make_a_reader_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            first in any::<[u8; 17]>(),
        ) {
            let _ = Stamp::read(&bytes);
            let _ = Preamble::decode(&first);
        }
    }
}
