//! Frames between host and guest: whatever arrives is read or refused, and what is read
//! comes back as the same bytes.

use super::{OwnTarget, Reaction};
use wire::{Decoder, Encoder, WireAnswer, WireRequest};

pub const TARGET: OwnTarget = OwnTarget {
    name: "wire-frames",
    words: &[
        "SLW1",
        "\0\0\0\0",
        "\u{1}\0\0\0",
        "{\"request\":\"fingerprint\"}",
        "{\"answer\":\"opened\"}",
        "{\"request\":\"input\",\"payload\":\"\"}",
        "\"payload\":\"eA==\"",
        "{\"answer\":\"exited\",\"status\":",
        "{\"answer\":\"phase\",\"phase\":{\"running\":{\"invocation\":0}}}",
        "{",
        "}",
        "\"",
        ":",
        ",",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let requests = decoded::<WireRequest>(bytes);
    let answers = decoded::<WireAnswer>(bytes);
    // Payloads are also read without their frames, which few mutations get right.
    let request = serde_json::from_slice::<WireRequest>(bytes).ok();
    let answer = serde_json::from_slice::<WireAnswer>(bytes).ok();
    for message in requests.iter().chain(&request) {
        same_again(message);
    }
    for message in answers.iter().chain(&answer) {
        same_again(message);
    }
    let is_any =
        !requests.is_empty() || !answers.is_empty() || request.is_some() || answer.is_some();
    if is_any { Reaction::Accepted } else { Reaction::Refused }
}

fn decoded<M: serde::de::DeserializeOwned>(bytes: &[u8]) -> Vec<M> {
    let mut decoder = Decoder::new();
    let mut messages = Vec::new();
    // In two parts, as a channel brings them.
    for part in bytes.chunks(bytes.len().div_ceil(2).max(1)) {
        decoder.push(part);
        while let Ok(Some(message)) = decoder.take() {
            messages.push(message);
        }
    }
    messages
}

/// What was understood is understood again after it was sent on.
fn same_again<M: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(
    message: &M,
) {
    // Text that is not UTF-8 never gets here, and no message holds a NaN that JSON allows.
    let Ok(frame) = Encoder::default().encode(message) else { return };
    let mut decoder = Decoder::new();
    decoder.push(&frame);
    assert_eq!(decoder.take::<M>().ok().flatten().as_ref(), Some(message));
}
