//! What is drawn from a plan's seed.
//!
//! The shuffle is ours rather than a library's, so that a seed gives the same
//! order for as long as ChaCha20 and SHA-256 exist.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// Random numbers of their own for each purpose and index.
pub(crate) fn stream(seed: u64, purpose: &str, index: u32) -> ChaCha20Rng {
    let mut hash = Sha256::new();
    hash.update(b"schedlab order");
    hash.update(purpose.as_bytes());
    hash.update(seed.to_le_bytes());
    hash.update(index.to_le_bytes());
    ChaCha20Rng::from_seed(hash.finalize().into())
}

/// Fisher-Yates: every permutation is equally likely.
pub(crate) fn shuffle<T>(random: &mut ChaCha20Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last as u64 + 1) as usize);
    }
}

/// A uniform number below `bound`; draws that would favour small ones are thrown away.
pub(crate) fn below(random: &mut ChaCha20Rng, bound: u64) -> u64 {
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = random.next_u64();
        if drawn < fair {
            return drawn % bound;
        }
    }
}
