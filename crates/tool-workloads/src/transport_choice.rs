//! The protocol that a tool of networks sends by.

use contract::WordChoice;

/// What carries messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransportChoice {
    Tcp,
    Udp,
}

impl WordChoice for TransportChoice {
    const WORDS: &'static [(&'static str, Self)] = &[("tcp", Self::Tcp), ("udp", Self::Udp)];
}
