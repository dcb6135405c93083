//! What is drawn from a plan's seed.
//!
//! The shuffle is ours rather than a library's, so that a seed gives the same
//! order for as long as ChaCha20 and SHA-256 exist.

use draws::OrderDraws;
use sha2::{Digest, Sha256};

/// Random numbers of their own for each purpose and index.
pub(crate) fn stream(seed: u64, purpose: &str, index: u32) -> OrderDraws {
    let mut hash = Sha256::new();
    hash.update(b"schedlab order");
    hash.update(purpose.as_bytes());
    hash.update(seed.to_le_bytes());
    hash.update(index.to_le_bytes());
    OrderDraws::from_key(hash.finalize().into())
}

/// Fisher-Yates: every permutation is equally likely.
pub(crate) fn shuffle<T>(random: &mut OrderDraws, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u64 + 1) as usize);
    }
}
