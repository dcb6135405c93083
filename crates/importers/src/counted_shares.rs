//! For how much of the time perf counted each event: what it counted for a part of it only, because
//! there were fewer counters than events, it extrapolates.

use std::collections::BTreeMap;

/// More events than these are not named.
const MOST_NAMED: usize = 12;
/// What rounds to 100.00 % is all of the time: perf prints two digits.
const WHOLE: f64 = 99.995;

/// The least share of the time, in percent, of each metric that was not counted all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CountedShares(BTreeMap<String, f64>);

impl CountedShares {
    /// Adds the share of one execution.
    pub(crate) fn add(&mut self, metric: &str, percent: f64) {
        if !(0.0..WHOLE).contains(&percent) {
            return;
        }
        let least = self.0.entry(metric.to_owned()).or_insert(percent);
        *least = least.min(percent);
    }

    /// The events with their least shares, the least first; none where all were counted all along.
    pub(crate) fn told(&self) -> Option<String> {
        let mut least: Vec<(&String, &f64)> = self.0.iter().collect();
        least.sort_by(|(_, one), (_, other)| one.total_cmp(other));
        let named = least.iter().take(MOST_NAMED);
        let named: Vec<String> =
            named.map(|(metric, percent)| format!("{metric} {percent:.2} %")).collect();
        let more = if least.len() > MOST_NAMED { ", …" } else { "" };
        (!named.is_empty()).then(|| {
            format!(
                "events that perf did not count all the time, with the least share of it in an execution: {}{more}; \
                 unless perf ran with --no-scale, their counts are its estimates from that share",
                named.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_share_of_each_event_is_told_and_all_of_the_time_is_not() {
        let mut shares = CountedShares::default();
        for percent in [100.0, 99.999, -1.0, f64::NAN, f64::INFINITY] {
            shares.add("cycles", percent);
        }
        assert_eq!(shares.told(), None);
        let parts = [("misses", 99.99), ("cycles", 66.6), ("cycles", 45.23), ("cycles", 80.0)];
        for (metric, percent) in parts {
            shares.add(metric, percent);
        }
        let told = shares.told().unwrap();
        let named = "in an execution: cycles 45.23 %, misses 99.99 %; unless perf";
        assert!(told.contains(named), "{told}");
    }

    #[test]
    fn no_more_than_a_few_events_are_named() {
        let mut shares = CountedShares::default();
        (0..MOST_NAMED).for_each(|number| shares.add(&format!("m{number}"), 50.0));
        assert!(!shares.told().unwrap().contains('…'));
        shares.add("least", 1.0);
        let told = shares.told().unwrap();
        assert!(told.contains("in an execution: least 1.00 %, m0 50.00 %"), "{told}");
        assert!(told.contains(" %, …; unless"), "{told}");
    }
}
