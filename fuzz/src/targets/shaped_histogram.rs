//! Stored histograms behind base64 and deflate: headers that declare what they do not hold, and
//! counts of every length.

use super::{OwnTarget, Reaction};
use crate::choices::Choices;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use model::Histogram;
use std::io::Write;

pub const TARGET: OwnTarget = OwnTarget {
    name: "shaped-histogram",
    words: &["0", "00000000", "1", "@", "\u{1}\u{2}", "\u{7f}\u{7f}"],
    run,
};

const PLAIN: u32 = 0x1c84_9313;
const COMPRESSED: u32 = 0x1c84_9314;
const HOUR_NS: u64 = 3_600_000_000_000;

fn run(bytes: &[u8]) -> Reaction {
    let mut choices = Choices::of(bytes);
    let is_packed = choices.below(2) == 0;
    let inner = *choices.one_of(&[PLAIN, COMPRESSED, 0]);
    let outer = choices.number(0) as u32;
    let (declared, digits) = (choices.number(0) as u32, choices.number(3) as u32);
    let (lowest, highest) = (choices.number(1), choices.number(HOUR_NS));
    let counts = choices.bytes(1 << 16);
    let mut plain = inner.to_be_bytes().to_vec();
    // 0 stands for the true length.
    let length = if declared == 0 { counts.len() as u32 } else { declared };
    plain.extend(length.to_be_bytes());
    plain.extend(0_u32.to_be_bytes());
    plain.extend(digits.to_be_bytes());
    plain.extend(lowest.to_be_bytes());
    plain.extend(highest.to_be_bytes());
    plain.extend(1_f64.to_be_bytes());
    plain.extend(counts);
    let stored = if is_packed { packed(&plain, outer) } else { Some(plain) };
    let Some(stored) = stored else { return Reaction::Refused };
    let histogram = Histogram::decode(&STANDARD.encode(stored)).ok();
    if let Some(histogram) = &histogram {
        let again = Histogram::decode(&histogram.encode()).ok();
        let buckets: Vec<_> = histogram.buckets().collect();
        assert_eq!(again.map(|again| again.buckets().collect()), Some(buckets));
    }
    Reaction::of(histogram.as_ref())
}

/// Deflated behind its cookie; a length of 0 stands for the true one.
fn packed(plain: &[u8], length: u32) -> Option<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).ok()?;
    let packed = encoder.finish().ok()?;
    let length = if length == 0 { packed.len() as u32 } else { length };
    Some([&COMPRESSED.to_be_bytes()[..], &length.to_be_bytes(), &packed].concat())
}
