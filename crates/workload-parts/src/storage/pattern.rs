//! The data of I/O workloads: every 512-byte sector says whose it is, where it
//! belongs and when it was written, and the rest of it is a function of that.
//! So a block that is stale, belongs elsewhere or was never written is found,
//! and its fault is named. Nothing is derived while an operation is timed.

use std::fmt;

/// The smallest unit that a device reads or writes.
pub const SECTOR: u64 = 512;
/// Its 8-byte words.
const WORDS: usize = 64;
/// Words of the stamp at its beginning: tag, offset, generation with thread, origin.
const STAMP: usize = 4;

/// Whose data.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    seed: u64,
    thread: u32,
    key: u64,
}

/// One sector that is not what was written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    thread: u32,
    offset: u64,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, offset, what } = self;
        write!(formatter, "file {thread}, offset {offset}: the sector {what}")
    }
}

/// A mixing function: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Pattern {
    /// The pattern of one thread's file or region.
    pub fn new(seed: u64, thread: u32) -> Self {
        // Never zero, so that no stamp looks like a block that was never written.
        Self { seed, thread, key: mix(seed ^ mix(u64::from(thread))) | 1 << 40 }
    }

    /// The one word that tells seed, thread, place and generation apart from all others.
    /// The place has 40 bits, that is 512 TiB.
    #[inline]
    fn tag(&self, offset: u64, generation: u8) -> u64 {
        self.key ^ (offset / SECTOR) ^ (u64::from(generation) << 56)
    }

    fn origin(&self, generation: u8) -> u64 {
        u64::from(self.thread) << 32 | u64::from(generation)
    }

    /// What a word of a record is, whatever its offset and generation.
    fn filling(&self, word: usize) -> u64 {
        mix(self.key ^ word as u64)
    }

    /// Fills a record's buffer, once; only stamps change afterwards.
    pub fn fill(&self, words: &mut [u64]) {
        for (index, word) in words.iter_mut().enumerate() {
            *word = if index % WORDS == STAMP - 1 { self.seed } else { self.filling(index) };
        }
    }

    /// Marks each sector of a filled record with its place and generation.
    #[inline]
    pub fn stamp(&self, words: &mut [u64], offset: u64, generation: u8) {
        let origin = self.origin(generation);
        for (sector, words) in (0..).zip(words.chunks_exact_mut(WORDS)) {
            let offset = offset + sector * SECTOR;
            words[0] = self.tag(offset, generation);
            words[1] = offset;
            words[2] = origin;
        }
    }

    /// Spoils every stamp, so that a read that moves nothing is found.
    #[inline]
    pub fn poison(words: &mut [u64]) {
        for words in words.chunks_exact_mut(WORDS) {
            words[0] = 0;
        }
    }

    /// Whether the record's first sector is the right one: one comparison.
    #[inline]
    pub fn agrees(&self, words: &[u64], offset: u64, generation: u8) -> bool {
        words[0] == self.tag(offset, generation)
    }

    /// The first sector of a record that is not as written, every byte compared.
    pub fn check(&self, words: &[u64], offset: u64, generation: u8) -> Option<Fault> {
        let sectors = (0..).zip(words.chunks_exact(WORDS));
        for (sector, words) in sectors {
            let place = offset + sector * SECTOR;
            let first = usize::try_from(sector).unwrap_or(0) * WORDS;
            if let Some(what) = self.wrong(words, first, place, generation) {
                return Some(Fault { thread: self.thread, offset: place, what });
            }
        }
        None
    }

    /// Why a sector, whose first word is the record's word `first`, is not the expected one.
    fn wrong(&self, words: &[u64], first: usize, offset: u64, generation: u8) -> Option<String> {
        let stamp = [self.tag(offset, generation), offset, self.origin(generation), self.seed];
        let body = || (STAMP..WORDS).find(|word| words[*word] != self.filling(first + word));
        if words[..STAMP] == stamp {
            let word = body()?;
            return Some(format!("is altered at its byte {}", word * 8));
        }
        if words.iter().all(|word| *word == 0) {
            return Some("is all zero: it was never written, or lost".to_owned());
        }
        let (place, origin, seed) = (words[1], words[2], words[3]);
        let (thread, written) = (origin >> 32, origin & 0xff);
        Some(if seed != self.seed {
            "is not of this run".to_owned()
        } else if thread != u64::from(self.thread) {
            format!("is shifted: it belongs to file {thread}, offset {place}")
        } else if place != offset {
            format!("is shifted: it belongs to offset {place}")
        } else if written != u64::from(generation) {
            format!("is stale: generation {written} instead of {generation}")
        } else {
            "was not filled by the read, or its stamp is altered".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFSET: u64 = 1 << 20;

    fn record(pattern: Pattern) -> Vec<u64> {
        let mut words = vec![0; 4 * WORDS];
        pattern.fill(&mut words);
        pattern.stamp(&mut words, OFFSET, 2);
        words
    }

    #[test]
    fn what_was_written_is_right_and_any_flipped_bit_is_found() {
        let pattern = Pattern::new(7, 3);
        let good = record(pattern);
        assert!(pattern.agrees(&good, OFFSET, 2));
        assert_eq!(pattern.check(&good, OFFSET, 2), None);
        for word in 0..good.len() {
            let mut bad = good.clone();
            bad[word] ^= 1 << (word % 64);
            let fault = pattern.check(&bad, OFFSET, 2).unwrap();
            assert_eq!(fault.offset, OFFSET + (word / WORDS) as u64 * SECTOR, "{fault}");
        }
    }

    #[test]
    fn each_fault_has_its_name_and_place() {
        let pattern = Pattern::new(7, 3);
        let sector = |pattern: Pattern, offset, generation| {
            let mut words = record(pattern);
            pattern.stamp(&mut words, offset, generation);
            words[2 * WORDS..3 * WORDS].to_vec()
        };
        let mut poisoned = record(pattern);
        Pattern::poison(&mut poisoned);
        for (bad, name) in [
            (vec![0; WORDS], "all zero"),
            (sector(pattern, OFFSET, 1), "stale: generation 1 instead of 2"),
            (sector(pattern, OFFSET + 4096, 2), "belongs to offset 1053696"),
            (sector(Pattern::new(7, 4), OFFSET, 2), "belongs to file 4, offset 1049600"),
            (sector(Pattern::new(8, 3), OFFSET, 2), "not of this run"),
            (poisoned[2 * WORDS..3 * WORDS].to_vec(), "was not filled"),
        ] {
            let mut words = record(pattern);
            words[2 * WORDS..3 * WORDS].copy_from_slice(&bad);
            let fault = pattern.check(&words, OFFSET, 2).unwrap().to_string();
            assert!(fault.contains(name) && fault.contains("offset 1049600: "), "{name}: {fault}");
            // The same sector in front is seen by the one comparison of the timed loop.
            words[..WORDS].copy_from_slice(&bad);
            assert!(!pattern.agrees(&words, OFFSET, 2), "{name}");
        }
    }
}
