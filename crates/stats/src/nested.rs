//! Where the variance lives: between boots, processes or iterations (docs/method.md#m-pilot).

use crate::exact::all_finite;
use crate::moments::{mean, variance};

/// No level is repeated more often than this, however little the level above varies.
const MOST_REPETITIONS: u32 = 20;

/// One level of the nesting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceComponent {
    /// S^2: the mean variance of this level's means inside the level above.
    pub observed: f64,
    /// T^2: the share of this level alone, at least 0.
    pub own: f64,
    /// Whether `own` was estimated below 0, so that this level shows no variance of its own.
    pub is_clamped: bool,
}

/// Variance components of boots, their processes and their iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NestedVariance {
    /// Iterations inside a process.
    pub iteration: VarianceComponent,
    /// Processes inside a boot.
    pub process: VarianceComponent,
    /// Boots.
    pub boot: VarianceComponent,
}

impl NestedVariance {
    /// Of values indexed by boot, process and iteration, by the analysis of variance
    /// (Searle, Casella and McCulloch 1992, 3.6 and appendix F; Kalibera and Jones
    /// 2013 for the balanced case, in which T_i^2 = S_i^2 - S_{i-1}^2 / r_{i-1}). Unequal
    /// counts are allowed; empty processes and boots are ignored. `None` where a level
    /// has no degree of freedom: it takes two boots, a boot of two processes and a
    /// process of two iterations. `None` of NaN or infinite values.
    pub fn of(boots: &[Vec<Vec<f64>>]) -> Option<Self> {
        let boots: Vec<Vec<&[f64]>> = boots
            .iter()
            .map(|boot| boot.iter().map(Vec::as_slice).filter(|one| !one.is_empty()).collect())
            .filter(|boot: &Vec<&[f64]>| !boot.is_empty())
            .collect();
        if !boots.iter().flatten().all(|process| all_finite(process)) {
            return None;
        }
        let observed = observed(&boots)?;
        let own = own(&boots)?;
        let level = |index: usize| VarianceComponent {
            observed: observed[index],
            own: own[index].max(0.0),
            is_clamped: own[index] < 0.0,
        };
        let is_finite = all_finite(&own) && all_finite(&observed);
        is_finite.then(|| Self { iteration: level(0), process: level(1), boot: level(2) })
    }

    /// The cheapest counts of iterations per process and of processes per boot, where
    /// starting an iteration, a process and a boot costs so much (Kalibera and Jones
    /// 2013): r_i = ceil(sqrt(c_{i+1}/c_i T_i^2/T_{i+1}^2)), 1 to 20; 20 where the
    /// level above has no variance. `None` unless all costs are positive and finite.
    pub fn repetitions(&self, costs: [f64; 3]) -> Option<(u32, u32)> {
        let is_cost = |cost: &f64| *cost > 0.0 && cost.is_finite();
        if !costs.iter().all(is_cost) {
            return None;
        }
        let count = |cost: f64, above: f64, own: f64, own_above: f64| {
            if own_above <= 0.0 {
                return MOST_REPETITIONS;
            }
            let best = (above / cost * (own / own_above)).sqrt().ceil();
            best.clamp(1.0, f64::from(MOST_REPETITIONS)) as u32
        };
        let [iteration, process, boot] = [self.iteration.own, self.process.own, self.boot.own];
        Some((
            count(costs[0], costs[1], iteration, process),
            count(costs[1], costs[2], process, boot),
        ))
    }
}

/// S^2 of iterations, processes and boots, straight from their definitions.
fn observed(boots: &[Vec<&[f64]>]) -> Option<[f64; 3]> {
    let within: Vec<f64> = boots.iter().flatten().filter_map(|process| variance(process)).collect();
    let process_means: Vec<Vec<f64>> =
        boots.iter().map(|boot| boot.iter().filter_map(|one| mean(one)).collect()).collect();
    let between: Vec<f64> = process_means.iter().filter_map(|means| variance(means)).collect();
    let boot_means: Vec<f64> = process_means.iter().filter_map(|means| mean(means)).collect();
    Some([mean(&within)?, mean(&between)?, variance(&boot_means)?])
}

/// T^2 before clamping: the mean squares set equal to their expectations.
fn own(boots: &[Vec<&[f64]>]) -> Option<[f64; 3]> {
    let size = |boot: &Vec<&[f64]>| boot.iter().map(|one| one.len()).sum::<usize>() as f64;
    let processes: f64 = boots.iter().map(|boot| boot.len() as f64).sum();
    let all: f64 = boots.iter().map(size).sum();
    let grand = mean(&boots.iter().flatten().copied().flatten().copied().collect::<Vec<_>>())?;
    let mut squares = [0.0; 3];
    // Sums of squared sizes over the size of the unit above: they weigh the components.
    let (mut in_boots, mut in_all, mut boots_in_all) = (0.0, 0.0, 0.0);
    for boot in boots {
        let total = size(boot);
        let centre = boot.iter().copied().flatten().sum::<f64>() / total;
        squares[2] += total * (centre - grand) * (centre - grand);
        boots_in_all += total * total / all;
        for process in boot {
            let count = process.len() as f64;
            let own = mean(process)?;
            squares[1] += count * (own - centre) * (own - centre);
            squares[0] += process.iter().map(|value| (value - own) * (value - own)).sum::<f64>();
            in_boots += count * count / total;
            in_all += count * count / all;
        }
    }
    let count = boots.len() as f64;
    let degrees = [all - processes, processes - count, count - 1.0];
    if degrees.iter().any(|degrees| *degrees <= 0.0) {
        return None;
    }
    let [error, process, boot] = [0, 1, 2].map(|level| squares[level] / degrees[level]);
    let own_process = (process - error) / ((all - in_boots) / degrees[1]);
    let of_process = (in_boots - in_all) / degrees[2];
    let of_boot = (all - boots_in_all) / degrees[2];
    Some([error, own_process, (boot - error - of_process * own_process) / of_boot])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha12Rng;

    /// Boots, processes and iterations with standard deviations 3, 2 and 1.
    fn drawn(
        seed: u64,
        count: usize,
        sizes: impl Fn(usize) -> (usize, usize),
    ) -> Vec<Vec<Vec<f64>>> {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut normal = || crate::normal::normal_quantile(random.random_range(1e-12..1.0));
        (0..count)
            .map(|index| {
                let (processes, iterations) = sizes(index);
                let boot = 3.0 * normal();
                (0..processes)
                    .map(|_| {
                        let process = boot + 2.0 * normal();
                        (0..iterations).map(|_| process + normal()).collect()
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn balanced_components_are_those_of_the_design() {
        let found = NestedVariance::of(&drawn(1, 4, |_| (3, 5))).unwrap();
        let (s1, s2, s3) = (found.iteration.observed, found.process.observed, found.boot.observed);
        assert!((found.iteration.own / s1 - 1.0).abs() < 1e-12);
        assert!((found.process.own / (s2 - s1 / 5.0) - 1.0).abs() < 1e-12);
        assert!((found.boot.own / (s3 - s2 / 3.0) - 1.0).abs() < 1e-12 || found.boot.is_clamped);
    }

    #[test]
    fn unequal_counts_find_the_variances_that_made_them() {
        let boots = drawn(2, 4_000, |index| (1 + index % 4, 1 + index % 3));
        let found = NestedVariance::of(&boots).unwrap();
        assert!((found.iteration.own - 1.0).abs() < 0.05, "{found:?}");
        assert!((found.process.own - 4.0).abs() < 0.3, "{found:?}");
        assert!((found.boot.own - 9.0).abs() < 0.6, "{found:?}");
        // sqrt(10/1 1/4) = 1.6 and sqrt(100/10 4/9) = 2.1.
        assert_eq!(found.repetitions([1.0, 10.0, 100.0]), Some((2, 3)));
        assert_eq!(found.repetitions([1.0, 0.0, 100.0]), None);
    }

    #[test]
    fn a_level_without_variance_is_clamped_and_capped() {
        let same = vec![vec![vec![1.0, 2.0], vec![2.0, 1.0]]; 3];
        let found = NestedVariance::of(&same).unwrap();
        assert!(found.process.is_clamped && found.process.own == 0.0);
        assert_eq!(found.repetitions([1.0, 1.0, 1.0]).unwrap().0, 20);
        assert_eq!(NestedVariance::of(&[]), None);
        assert_eq!(NestedVariance::of(&[vec![vec![1.0, 2.0]], vec![vec![1.0]]]), None);
        assert_eq!(NestedVariance::of(&vec![vec![vec![f64::NAN, 1.0]; 2]; 2]), None);
    }
}
