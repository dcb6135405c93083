//! Inputs made from a corpus by a seeded generator.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Longest input that is made; parsers bound their own input far below.
pub(crate) const LONGEST: usize = 64 * 1024;
/// Mutants that a parser accepted and that are mutated further.
const MOST_DISCOVERIES: usize = 256;
/// Numbers at the edges of types and of digits.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "9",
    "10",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e-400",
    "NaN",
    "inf",
    "0.0",
];

/// Makes inputs; the same seed, corpus and answers give the same inputs.
pub struct Mutator {
    generator: ChaCha8Rng,
    words: &'static [&'static str],
    pool: Vec<Vec<u8>>,
    corpus_size: usize,
}

impl Mutator {
    /// A generator over `corpus`, which is not empty.
    pub fn new(seed: u64, words: &'static [&'static str], corpus: Vec<Vec<u8>>) -> Self {
        assert!(!corpus.is_empty(), "a corpus has at least one input");
        let corpus_size = corpus.len();
        Self { generator: ChaCha8Rng::seed_from_u64(seed), words, pool: corpus, corpus_size }
    }

    /// The next input: a member of the pool after one to six changes.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.member();
        for _ in 0..self.generator.random_range(1..=6) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    /// Keeps an input that the parser accepted, in place of an older discovery
    /// once there are many. The corpus itself always stays.
    pub fn keep(&mut self, input: Vec<u8>) {
        if self.pool.len() < self.corpus_size + MOST_DISCOVERIES {
            self.pool.push(input);
        } else {
            let index = self.generator.random_range(self.corpus_size..self.pool.len());
            self.pool[index] = input;
        }
    }

    fn member(&mut self) -> Vec<u8> {
        let index = self.generator.random_range(0..self.pool.len());
        self.pool[index].clone()
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        match self.generator.random_range(0..9) {
            0 => self.flip_a_bit(input),
            1 => self.replace_a_byte(input),
            2 => self.truncate(input),
            3 => self.remove_a_range(input),
            4 => self.repeat_a_range(input),
            5 => self.splice(input),
            6 => self.insert_a_word(input),
            7 => self.replace_a_number(input),
            _ => self.insert_bytes(input),
        }
    }

    /// A position in `input`, its end included.
    fn position(&mut self, input: &[u8]) -> usize {
        self.generator.random_range(0..=input.len())
    }

    fn range(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let start = self.position(input);
        let longest = (input.len() - start).min(64);
        start..start + self.generator.random_range(0..=longest)
    }

    fn flip_a_bit(&mut self, input: &mut [u8]) {
        let bit = 1 << self.generator.random_range(0..8);
        let position = self.position(input);
        if let Some(byte) = input.get_mut(position) {
            *byte ^= bit;
        }
    }

    fn replace_a_byte(&mut self, input: &mut [u8]) {
        let value = self.generator.random();
        let position = self.position(input);
        if let Some(byte) = input.get_mut(position) {
            *byte = value;
        }
    }

    fn truncate(&mut self, input: &mut Vec<u8>) {
        let length = self.position(input);
        input.truncate(length);
    }

    fn remove_a_range(&mut self, input: &mut Vec<u8>) {
        let range = self.range(input);
        input.drain(range);
    }

    fn repeat_a_range(&mut self, input: &mut Vec<u8>) {
        let range = self.range(input);
        let part = input[range.clone()].to_vec();
        let times = self.generator.random_range(1..=32);
        input.splice(range.end..range.end, part.repeat(times));
    }

    fn splice(&mut self, input: &mut Vec<u8>) {
        let other = self.member();
        let start = self.position(&other);
        let length = self.position(input);
        input.truncate(length);
        input.extend_from_slice(&other[start..]);
    }

    fn insert_a_word(&mut self, input: &mut Vec<u8>) {
        if self.words.is_empty() {
            return;
        }
        let word = self.words[self.generator.random_range(0..self.words.len())];
        let position = self.position(input);
        input.splice(position..position, word.bytes());
    }

    fn replace_a_number(&mut self, input: &mut Vec<u8>) {
        let from = self.position(input);
        let number = NUMBERS[self.generator.random_range(0..NUMBERS.len())];
        let Some(start) = input[from..].iter().position(u8::is_ascii_digit) else { return };
        let start = from + start;
        let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        input.splice(start..start + length, number.bytes());
    }

    fn insert_bytes(&mut self, input: &mut Vec<u8>) {
        let mut bytes = [0; 8];
        self.generator.fill_bytes(&mut bytes);
        let count = self.generator.random_range(1..=bytes.len());
        let position = self.position(input);
        input.splice(position..position, bytes[..count].iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(seed: u64) -> Vec<Vec<u8>> {
        let corpus = vec![b"0-3,8".to_vec(), b"12".to_vec()];
        let mut mutator = Mutator::new(seed, &["-", ","], corpus);
        (0..2_000).map(|_| mutator.next_input()).collect()
    }

    #[test]
    fn a_seed_decides_every_input() {
        assert_eq!(inputs(7), inputs(7));
        assert_ne!(inputs(7), inputs(8));
    }

    #[test]
    fn inputs_differ_and_stay_short() {
        let inputs = inputs(7);
        let distinct: std::collections::BTreeSet<_> = inputs.iter().collect();
        assert!(distinct.len() > 1_000, "{} distinct inputs", distinct.len());
        assert!(inputs.iter().all(|input| input.len() <= LONGEST));
    }

    #[test]
    fn discoveries_replace_each_other_but_never_the_corpus() {
        let mut mutator = Mutator::new(1, &[], vec![b"origin".to_vec()]);
        for index in 0..1_000_u32 {
            mutator.keep(index.to_le_bytes().to_vec());
        }
        assert_eq!(mutator.pool.len(), 1 + MOST_DISCOVERIES);
        assert_eq!(mutator.pool[0], b"origin");
    }
}
