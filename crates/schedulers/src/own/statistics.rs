//! What a scheduler counted while it was in charge.

/// Names in the order of `enum statistic` in scheduler.bpf.h.
const NAMES: [&str; 11] = [
    "wake_ups",
    "idle_claims",
    "enqueues",
    "dispatches",
    "kept",
    "switches",
    "migrations",
    "idle_kicks",
    "preempt_kicks",
    "retries",
    "moves_lost",
];

/// Counts since the scheduler was loaded, of all CPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchedulerStatistics {
    counts: [u64; NAMES.len()],
}

impl SchedulerStatistics {
    /// Sums the values of the CPUs; what is missing counts as zero.
    pub(super) fn sum(values: &[Vec<u8>]) -> Self {
        let mut counts = [0u64; NAMES.len()];
        for value in values {
            let (words, _) = value.as_chunks::<8>();
            for (count, word) in counts.iter_mut().zip(words) {
                *count = count.wrapping_add(u64::from_ne_bytes(*word));
            }
        }
        Self { counts }
    }

    /// The count of this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        Some(self.counts[NAMES.iter().position(|known| *known == name)?])
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMES.into_iter().zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_header_in_its_order() {
        let header = include_str!("scheduler.bpf.h");
        let list = header.split("enum statistic {").nth(1).unwrap().split("STATS,").next().unwrap();
        let names: Vec<_> = list
            .split_whitespace()
            .map(|name| name.trim_start_matches("STAT_").trim_end_matches(',').to_lowercase())
            .collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn counts_of_cpus_are_summed_and_a_short_value_is_no_trouble() {
        let one: Vec<u8> = (1..=11u64).flat_map(u64::to_ne_bytes).collect();
        let sum = SchedulerStatistics::sum(&[one.clone(), one[..17].to_vec(), Vec::new()]);
        assert_eq!(sum.get("wake_ups"), Some(2));
        assert_eq!(sum.get("idle_claims"), Some(4));
        assert_eq!(sum.get("enqueues"), Some(3));
        assert_eq!(sum.get("moves_lost"), Some(11));
        assert_eq!(sum.get("nonsense"), None);
    }
}
