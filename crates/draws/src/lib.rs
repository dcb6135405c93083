//! Random numbers from seeds that are recorded: the order of trials, the noise of simulated
//! campaigns and of calibrations. A seed gives the same numbers on every machine.
//!
//! Generators and distributions of the `rand` crates are generic and inlined into their
//! callers. No function here is either, so that they are optimised here, once, and cost the same in
//! callers that are left unoptimised.
//!
//! This crate must not know what is drawn, nor choose a seed.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::{ChaCha12Rng, ChaCha20Rng};
use rand_distr::{Binomial, Distribution, Exp1, StandardNormal, StudentT};

/// Numbers of ChaCha20 (RFC 8439's function with 20 rounds), for what orders trials.
#[derive(Debug)]
pub struct OrderDraws(ChaCha20Rng);

impl OrderDraws {
    /// The stream of this key of 256 bits.
    #[inline(never)]
    pub fn from_key(key: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(key))
    }

    /// A uniform number below `bound`, which is at least 1; draws that would favour small numbers
    /// are thrown away.
    #[inline(never)]
    pub fn below(&mut self, bound: u64) -> u64 {
        let fair = u64::MAX - u64::MAX % bound;
        loop {
            let drawn = self.0.next_u64();
            if drawn < fair {
                return drawn % bound;
            }
        }
    }
}

/// Numbers of ChaCha12, for noise. Values have no unit.
#[derive(Debug)]
pub struct NoiseDraws(ChaCha12Rng);

impl NoiseDraws {
    /// The stream of this seed.
    #[inline(never)]
    pub fn seeded(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    /// The stream of a purpose, named by these words, and an index of it: seeded by FNV-1a over both
    /// (Fowler, Noll, Vo), which spreads and need not be secret.
    #[inline(never)]
    pub fn of_purpose(seed: u64, words: &[&str], index: u32) -> Self {
        const PRIME: u64 = 0x0100_0000_01b3;
        let spread = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed;
        for word in words {
            hash = word.bytes().fold(hash, spread);
            hash = spread(hash, 0);
        }
        Self::seeded(index.to_le_bytes().into_iter().fold(hash, spread))
    }

    /// Uniform from 0 to below 1.
    #[inline(never)]
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// Standard normal.
    #[inline(never)]
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Exponential of mean 1.
    #[inline(never)]
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Student's t with so many degrees of freedom; 0 where these are not positive.
    #[inline(never)]
    pub fn student_t(&mut self, degrees: f64) -> f64 {
        StudentT::new(degrees).map_or(0.0, |distribution| distribution.sample(&mut self.0))
    }

    /// Successes of so many attempts, of which each succeeds with this chance; none of a chance that
    /// is not from 0 to 1.
    #[inline(never)]
    pub fn successes(&mut self, attempts: u32, chance: f64) -> u64 {
        Binomial::new(u64::from(attempts), chance)
            .map_or(0, |binomial| binomial.sample(&mut self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_numbers_of_its_generator() {
        let mut order = OrderDraws::from_key([7; 32]);
        let mut generator = ChaCha20Rng::from_seed([7; 32]);
        // 2^63 divides 2^64: no draw is thrown away, and the lower bits are the number.
        let expected = generator.next_u64() % (1 << 63);
        assert_eq!(order.below(1 << 63), expected);

        let mut noise = NoiseDraws::seeded(7);
        let mut generator = ChaCha12Rng::seed_from_u64(7);
        assert_eq!(noise.uniform(), generator.random::<f64>());
        let normal: f64 = StandardNormal.sample(&mut generator);
        assert_eq!(noise.normal(), normal);
        let exponential: f64 = Exp1.sample(&mut generator);
        assert_eq!(noise.exponential(), exponential);
        let student = StudentT::new(2.5).unwrap().sample(&mut generator);
        assert_eq!(noise.student_t(2.5), student);
        let binomial = Binomial::new(100, 0.3).unwrap().sample(&mut generator);
        assert_eq!(noise.successes(100, 0.3), binomial);
    }

    #[test]
    fn the_words_of_a_purpose_and_its_index_are_told_apart() {
        let first = |words: &[&str], index| NoiseDraws::of_purpose(7, words, index).uniform();
        let all = [
            first(&["boot", "a"], 0),
            first(&["boo", "ta"], 0),
            first(&["boota"], 0),
            first(&["boot", "a"], 1),
            NoiseDraws::of_purpose(8, &["boot", "a"], 0).uniform(),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one), "{all:?}");
        }
        // FNV-1a of the byte 0 four times, from its offset basis.
        let hash =
            (0..4).fold(0xcbf2_9ce4_8422_2325_u64, |hash, _| hash.wrapping_mul(0x0100_0000_01b3));
        let mut seeded = NoiseDraws::seeded(hash);
        assert_eq!(NoiseDraws::of_purpose(0, &[], 0).uniform(), seeded.uniform());
    }

    #[test]
    fn numbers_below_a_bound_are_uniform_and_below_it() {
        let mut order = OrderDraws::from_key([1; 32]);
        let mut counts = [0_u32; 3];
        for _ in 0..3_000 {
            counts[order.below(3) as usize] += 1;
        }
        // Five standard deviations of a count: 5 * sqrt(3000 * 1/3 * 2/3) = 129.
        assert!(counts.iter().all(|count| count.abs_diff(1_000) < 130), "{counts:?}");
    }

    #[test]
    fn parameters_outside_a_distribution_give_nothing() {
        let mut noise = NoiseDraws::seeded(1);
        assert_eq!(noise.student_t(0.0), 0.0);
        assert_eq!(noise.student_t(f64::NAN), 0.0);
        assert_eq!(noise.successes(10, 1.5), 0);
    }
}
