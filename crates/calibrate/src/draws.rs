//! Random numbers of the campaigns and tables that are drawn here; their seeds are committed.

use ::draws::NoiseDraws;

/// Random numbers of one repetition.
pub(crate) struct Draws(NoiseDraws);

impl Draws {
    pub(crate) fn of(repetition: u32) -> Self {
        Self(NoiseDraws::seeded(0x005c_4ed1_ab00 + u64::from(repetition)))
    }

    /// Standard normal.
    pub(crate) fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    /// Exponential of mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        self.0.exponential()
    }

    /// Successes of so many attempts, of which each succeeds with this chance; none of a chance that is
    /// not from 0 to 1.
    pub(crate) fn successes(&mut self, attempts: u32, chance: f64) -> u64 {
        self.0.successes(attempts, chance)
    }

    /// Uniform from 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    /// Every order of these items is equally likely (Fisher-Yates, Durstenfeld 1964).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = (self.uniform() * (last as f64 + 1.0)) as usize;
            items.swap(last, chosen.min(last));
        }
    }
}
