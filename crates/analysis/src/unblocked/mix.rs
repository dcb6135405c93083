//! What the executions of two subjects hold of unlike work (docs/method.md#m-mix). Where one holds more
//! reads and the other more writes, the means over all rows differ by the mix too, whatever the
//! subjects are (Simpson 1951).

use stats::exp;
use std::collections::BTreeMap;

/// A mix that may make less than this share of the margin withholds nothing (docs/method.md#m-mix).
const TOLERATED: f64 = 0.1;

/// Rows of one workload in one execution.
pub(super) struct MixedRows {
    /// Number of the workload.
    pub(super) workload: u32,
    /// How many.
    pub(super) rows: f64,
    /// The mean of their logarithms.
    pub(super) log: f64,
}

/// What the executions of one subject hold of one workload.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    /// Its share of the rows of an execution, added up over executions.
    shares: f64,
    rows: f64,
    /// Logarithms, added up over rows.
    logs: f64,
}

/// The executions of one stratum.
#[derive(Debug, Default)]
struct Stratum {
    /// By number of the workload: of reference and subject.
    held: BTreeMap<u32, [Held; 2]>,
    executions: [f64; 2],
}

/// The executions of a question, by stratum.
#[derive(Debug, Default)]
pub(super) struct Mixes(BTreeMap<u32, Stratum>);

/// The names of a level that a workload has, alone and together with its others: `op read`.
type LevelNames<'n> = &'n dyn Fn(u32) -> Vec<String>;

impl Mixes {
    /// Takes an execution of the reference (side 0) or the subject (side 1).
    pub(super) fn add(&mut self, stratum: u32, side: usize, rows: impl Iterator<Item = MixedRows>) {
        let rows: Vec<MixedRows> = rows.collect();
        let count: f64 = rows.iter().map(|row| row.rows).sum();
        if count <= 0.0 {
            return;
        }
        let stratum = self.0.entry(stratum).or_default();
        stratum.executions[side] += 1.0;
        for row in rows {
            let held = &mut stratum.held.entry(row.workload).or_default()[side];
            held.shares += row.rows / count;
            held.rows += row.rows;
            held.logs += row.rows * row.log;
        }
    }

    /// What is told of mixes that may make a tenth of the margin `theta` (a logarithm), or none.
    pub(super) fn unlike(
        &self,
        theta: f64,
        [reference, subject]: [&str; 2],
        names: LevelNames<'_>,
    ) -> Option<String> {
        let effect = self.effect();
        if effect < TOLERATED * theta {
            return None;
        }
        let (name, shares) = self.most_unlike(names)?;
        let [of_reference, of_subject] = shares.map(|share| (10_000.0 * share).round() / 100.0);
        let percent = model::percent(exp(effect) - 1.0, 1);
        Some(format!(
            "{name}: {of_reference} % of the rows of {reference}, {of_subject} % of those of {subject}; \
             such mixes alone may make a difference of {percent} %"
        ))
    }

    /// The largest effect that they may have on the difference, a logarithm.
    fn effect(&self) -> f64 {
        let of_strata: f64 = self.0.values().map(Stratum::effect).sum();
        of_strata / self.0.len().max(1) as f64
    }

    /// The level whose shares differ most, with those of reference and subject.
    fn most_unlike(&self, names: LevelNames<'_>) -> Option<(String, [f64; 2])> {
        let mut levels: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        for stratum in self.0.values().filter(|stratum| stratum.has_both()) {
            for (workload, held) in &stratum.held {
                let own = stratum.shares(held);
                for name in names(*workload) {
                    let known = levels.entry(name).or_default();
                    known.iter_mut().zip(own).for_each(|(known, share)| *known += share);
                }
            }
        }
        let strata = self.0.values().filter(|stratum| stratum.has_both()).count().max(1) as f64;
        // The first of two levels whose shares differ as much, but for their last digits.
        let apart = |shares: &[f64; 2]| (1e9 * (shares[1] - shares[0]).abs()).round();
        let mut most: Option<(String, [f64; 2])> = None;
        for (name, shares) in levels {
            if most.as_ref().is_none_or(|(_, known)| apart(&shares) > apart(known)) {
                most = Some((name, shares));
            }
        }
        most.map(|(name, shares)| (name, shares.map(|share| share / strata)))
    }
}

impl Stratum {
    fn has_both(&self) -> bool {
        self.executions.iter().all(|count| *count > 0.0)
    }

    /// The mean shares that executions of reference and subject have of it.
    fn shares(&self, held: &[Held; 2]) -> [f64; 2] {
        [0, 1].map(|side| held[side].shares / self.executions[side])
    }

    /// The differences of shares, each times the distance of its workload from the middle of all, of
    /// the subject in which that is larger. A stratum of one subject alone compares nothing.
    fn effect(&self) -> f64 {
        if !self.has_both() {
            return 0.0;
        }
        let means = |side: usize| self.held.values().filter_map(move |held| held[side].mean());
        let middles = [0, 1].map(|side| {
            let count = means(side).count();
            (count > 0).then(|| means(side).sum::<f64>() / count as f64)
        });
        let of_workload = |held: &[Held; 2]| {
            let [reference, subject] = self.shares(held);
            let apart = |side: usize| Some((held[side].mean()? - middles[side]?).abs());
            let distance = [0, 1].into_iter().filter_map(apart).fold(0.0, f64::max);
            (subject - reference).abs() * distance
        };
        self.held.values().map(of_workload).sum()
    }
}

impl Held {
    fn mean(&self) -> Option<f64> {
        (self.rows > 0.0).then(|| self.logs / self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::ln;

    /// Executions of `a` and `b` with so many reads and writes, of which a write takes `ratio` as long.
    fn unlike(a: &[[u32; 2]], b: &[[u32; 2]], ratio: f64) -> Option<String> {
        let mut mixes = Mixes::default();
        for (side, executions) in [a, b].into_iter().enumerate() {
            for counts in executions {
                let rows = (0..2_u32).filter(|kind| counts[*kind as usize] > 0).map(|kind| {
                    let log = if kind == 1 { ln(ratio) } else { 0.0 };
                    MixedRows { workload: kind, rows: f64::from(counts[kind as usize]), log }
                });
                mixes.add(0, side, rows);
            }
        }
        let names = |workload: u32| vec![format!("op {}", ["read", "write"][workload as usize])];
        mixes.unlike(ln(1.02), ["a", "b"], &names)
    }

    #[test]
    fn a_mix_is_unlike_where_it_may_make_a_tenth_of_the_margin() {
        let told = unlike(&[[9, 1]; 5], &[[1, 9]; 5], 3.0).unwrap();
        assert!(
            told.starts_with("op read: 90 % of the rows of a, 10 % of those of b; such"),
            "{told}"
        );
        assert_eq!(unlike(&[[9, 1]; 5], &[[9, 1]; 5], 3.0), None);
        // Twice the rows are the same mix.
        assert_eq!(unlike(&[[9, 1]; 5], &[[18, 2]; 5], 3.0), None);
        // A share that differs by 1 % times ln 1.2 is less than a tenth of the margin, times ln 3 more.
        assert_eq!(unlike(&[[90, 10]; 5], &[[89, 11]; 5], 1.2), None);
        assert!(unlike(&[[90, 10]; 5], &[[89, 11]; 5], 3.0).is_some());
        // One row in one execution of ten is none.
        let mut once = [[90, 10]; 10];
        once[3] = [89, 11];
        assert_eq!(unlike(&[[90, 10]; 10], &once, 3.0), None);
        // What takes as long is the same, whatever it is called.
        assert_eq!(unlike(&[[9, 1]; 5], &[[1, 9]; 5], 1.0), None);
    }

    #[test]
    fn what_one_subject_lacks_is_a_share_of_none() {
        let told = unlike(&[[1, 1]; 5], &[[1, 0]; 5], 3.0).unwrap();
        assert!(told.starts_with("op read: 50 % of the rows of a, 100 % of those of b"), "{told}");
        assert_eq!(unlike(&[[1, 1]; 5], &[], 3.0), None);
    }
}
