//! Requests of rtnetlink(7) as the kernel takes them: a structure, and attributes behind it. The library
//! that knows every request takes as long to compile as two of our crates, and four are asked here.

use netlink_packet_core::{
    DefaultNla, Emitable, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable,
};
use std::convert::Infallible;

/// A request, or an answer that is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RouteRequest {
    /// RTM_NEWLINK and the like.
    kind: u16,
    bytes: Vec<u8>,
}

impl RouteRequest {
    /// One of a kind, with its structure and what stands behind it.
    pub(crate) fn new(kind: u16, structure: Vec<u8>, attributes: &[DefaultNla]) -> Self {
        Self { kind, bytes: with_attributes(structure, attributes) }
    }
}

impl NetlinkSerializable for RouteRequest {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.bytes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.bytes);
    }
}

impl NetlinkDeserializable for RouteRequest {
    type Error = Infallible;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, Self::Error> {
        Ok(Self { kind: header.message_type, bytes: payload.to_vec() })
    }
}

/// Attributes behind a structure, each with its length and padded to four bytes.
pub(crate) fn with_attributes(mut structure: Vec<u8>, attributes: &[DefaultNla]) -> Vec<u8> {
    let begin = structure.len();
    structure.resize(begin + attributes.buffer_len(), 0);
    attributes.emit(&mut structure[begin..]);
    structure
}

/// An attribute that is a text: it ends with a zero.
pub(crate) fn name_attribute(kind: u16, name: &str) -> DefaultNla {
    let mut bytes = name.as_bytes().to_vec();
    bytes.push(0);
    DefaultNla::new(kind, bytes)
}

/// `struct ifinfomsg`: no family, no type, the link's number (0: a new one), flags, and which of these
/// change (include/uapi/linux/rtnetlink.h).
pub(crate) fn interface_message(index: u32, flags: u32) -> Vec<u8> {
    [0, index, flags, flags].iter().flat_map(|word: &u32| word.to_ne_bytes()).collect()
}
