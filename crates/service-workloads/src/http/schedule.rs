//! When requests of an open loop are due: a rate that ramps up, holds and ramps down.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

const NS_PER_S: f64 = 1e9;

/// How the gaps between requests vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrivals {
    /// Independent of each other: a Poisson process.
    Poisson,
    /// As regular as the rate.
    Constant,
}

/// The course of the load: its rate as a part of the highest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Course {
    /// From nothing to all of it, evenly.
    pub(super) ramp_up_ns: u64,
    /// All of it.
    pub(super) hold_ns: u64,
    /// From all of it to nothing, evenly.
    pub(super) ramp_down_ns: u64,
}

impl Course {
    /// From the first moment to the last.
    pub(super) fn whole_ns(&self) -> u64 {
        self.ramp_up_ns + self.hold_ns + self.ramp_down_ns
    }

    /// What a rate of one per second has made by the end.
    fn whole(&self) -> f64 {
        let ramps_ns = (self.ramp_up_ns + self.ramp_down_ns) as f64;
        (ramps_ns / 2.0 + self.hold_ns as f64) / NS_PER_S
    }

    /// When a rate of one per second has made so much: the inverse of the cumulated intensity
    /// (Çinlar 1975, Introduction to Stochastic Processes, section 4.7: a process that varies is
    /// one of rate 1 on a clock that does). None after the end.
    fn moment_ns(&self, made: f64) -> Option<u64> {
        let (up, hold) = (self.ramp_up_ns as f64 / NS_PER_S, self.hold_ns as f64 / NS_PER_S);
        let down = self.ramp_down_ns as f64 / NS_PER_S;
        if made >= self.whole() {
            return None;
        }
        let after_up = made - up / 2.0;
        let after_hold = after_up - hold;
        let seconds = if after_up < 0.0 {
            (2.0 * up * made).sqrt()
        } else if after_hold < 0.0 {
            up + after_up
        } else {
            up + hold + down - (down * (down - 2.0 * after_hold).max(0.0)).sqrt()
        };
        Some((seconds * NS_PER_S) as u64)
    }
}

/// The requests of one kind, in order.
#[derive(Debug)]
pub(super) struct Schedule {
    course: Course,
    per_second: f64,
    arrivals: Arrivals,
    random: ChaCha8Rng,
    /// What a rate of one per second will have made when the next request is due.
    made: f64,
}

impl Schedule {
    /// With the highest rate, per second.
    pub(super) fn new(
        course: Course,
        per_second: f64,
        arrivals: Arrivals,
        mut random: ChaCha8Rng,
    ) -> Self {
        let first = match arrivals {
            // Kinds of the same rate do not fall together.
            Arrivals::Constant => uniform(&mut random),
            Arrivals::Poisson => exponential(&mut random),
        };
        Self { course, per_second, arrivals, random, made: first / per_second }
    }

    /// When the next request is due, from the beginning; none after the end.
    pub(super) fn peek(&self) -> Option<u64> {
        self.course.moment_ns(self.made)
    }

    /// The next one is the one after it.
    pub(super) fn advance(&mut self) {
        let gap = match self.arrivals {
            Arrivals::Constant => 1.0,
            Arrivals::Poisson => exponential(&mut self.random),
        };
        self.made += gap / self.per_second;
    }
}

/// In [0, 1), in steps of 2^-53.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The gap of a Poisson process of rate 1, by inversion.
fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -libm::log1p(-uniform(random))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;

    const S: u64 = 1_000_000_000;
    const COURSE: Course = Course { ramp_up_ns: 2 * S, hold_ns: 10 * S, ramp_down_ns: 4 * S };

    fn moments(course: Course, per_second: f64, arrivals: Arrivals, seed: u64) -> Vec<u64> {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let mut schedule = Schedule::new(course, per_second, arrivals, random);
        std::iter::from_fn(|| schedule.peek().inspect(|_| schedule.advance())).collect()
    }

    fn within(moments: &[u64], from_ns: u64, to_ns: u64) -> f64 {
        moments.iter().filter(|moment| (from_ns..to_ns).contains(*moment)).count() as f64
    }

    #[test]
    fn a_constant_load_has_as_many_requests_as_its_area() {
        let moments = moments(COURSE, 1000.0, Arrivals::Constant, 1);
        assert_eq!(moments.len(), 13_000);
        assert!(moments.is_sorted());
        // The areas of the first second of the ramp, of the hold, of the last second.
        for (from_ns, to_ns, expected) in
            [(0, S, 250.0), (2 * S, 12 * S, 10_000.0), (15 * S, 16 * S, 125.0)]
        {
            let found = within(&moments, from_ns, to_ns);
            assert!((found - expected).abs() <= 1.0, "{found} instead of {expected}");
        }
        let gaps = moments.windows(2).filter(|pair| (2 * S..12 * S).contains(&pair[0]));
        assert!(gaps.clone().take(9_990).all(|pair| pair[1].abs_diff(pair[0] + S / 1000) <= 1));
    }

    #[test]
    fn poisson_arrivals_have_their_mean_and_their_variance() {
        let hold = Course { ramp_up_ns: 0, hold_ns: 100 * S, ramp_down_ns: 0 };
        let found = moments(hold, 200.0, Arrivals::Poisson, 7);
        // 20,000 expected, of which six standard deviations are 849.
        assert!((found.len() as f64 - 20_000.0).abs() < 849.0, "{}", found.len());
        let gaps: Vec<f64> = found.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Of an exponential distribution the coefficient of variation is 1.
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.05, "{}", variance.sqrt() / mean);
        assert_ne!(found, moments(hold, 200.0, Arrivals::Poisson, 8));
        assert_eq!(found, moments(hold, 200.0, Arrivals::Poisson, 7));
    }

    proptest! {
        #[test]
        fn moments_lie_within_the_course_and_in_order(
            (up, hold, down) in (0_u64..5_000, 1_u64..5_000, 0_u64..5_000),
            per_second in 0.5_f64..5_000.0,
            is_poisson: bool,
            seed: u64,
        ) {
            let ms = 1_000_000;
            let course =
                Course { ramp_up_ns: up * ms, hold_ns: hold * ms, ramp_down_ns: down * ms };
            let arrivals = if is_poisson { Arrivals::Poisson } else { Arrivals::Constant };
            let moments = moments(course, per_second, arrivals, seed);
            prop_assert!(moments.is_sorted());
            prop_assert!(moments.last().is_none_or(|last| *last <= course.whole_ns()));
            if arrivals == Arrivals::Constant {
                let expected = course.whole() * per_second;
                prop_assert!((moments.len() as f64 - expected).abs() <= 1.0);
            }
        }
    }
}
