//! What a workload leaves running when its run is over: daemons, children that nobody waited for.
//! It is ended before the next invocation, and the record says of it how much there was and what
//! it was called, and no more.

use model::{Caveat, CaveatCode, inert};
use std::collections::BTreeMap;
use std::time::Duration;
use sys::ProcessStat;

/// What is ending already when the load process has ended may take so long to be gone.
pub(crate) const ENDING_PATIENCE: Duration = Duration::from_millis(100);
/// Between two looks whether it is gone: each goes through all processes.
pub(crate) const ENDING_CHECKED_EVERY: Duration = Duration::from_millis(10);
/// Names in a caveat; of the others it says how many there were. A name has at most 15 bytes
/// (`TASK_COMM_LEN`, Linux 6.12, include/linux/sched.h).
const MOST_NAMES: usize = 8;

/// Processes that invocations of a trial left running.
#[derive(Debug, Default)]
pub(crate) struct LeftProcesses {
    /// How many had each name.
    by_name: BTreeMap<String, usize>,
    /// Invocations that left any.
    invocations: usize,
}

impl LeftProcesses {
    /// Notes what one invocation has left.
    pub(crate) fn note(&mut self, left: &[ProcessStat]) {
        self.invocations += usize::from(!left.is_empty());
        for process in left {
            // Whatever started it chose the name.
            let name = inert(&process.comm).into_owned();
            *self.by_name.entry(name).or_default() += 1;
        }
    }

    /// What the record says; nothing where nothing was left.
    pub(crate) fn caveat(&self) -> Option<Caveat> {
        let processes: usize = self.by_name.values().sum();
        if processes == 0 {
            return None;
        }
        let mut names: Vec<(&String, &usize)> = self.by_name.iter().collect();
        // The most frequent first, and those of equal number by name.
        names.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let mut told: Vec<String> = names
            .iter()
            .take(MOST_NAMES)
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        let unnamed: usize = names.iter().skip(MOST_NAMES).map(|(_, count)| **count).sum();
        if unnamed > 0 {
            told.push(format!("others ({unnamed})"));
        }
        let (were, were_ended) = match processes {
            1 => ("process was", "was ended"),
            _ => ("processes were", "were ended"),
        };
        let invocations = match self.invocations {
            1 => "1 invocation".to_owned(),
            count => format!("{count} invocations"),
        };
        let detail = format!(
            "{processes} {were} still there after {invocations} and {were_ended}: {}",
            told.join(", ")
        );
        Some(Caveat::new(CaveatCode::LeftProcesses, detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> ProcessStat {
        ProcessStat {
            pid: 7,
            comm: name.to_owned(),
            state: 'S',
            parent: 1,
            group: 7,
            user_ticks: 0,
            system_ticks: 0,
            waited_for_ticks: 0,
            start_ticks: 0,
            processor: 0,
        }
    }

    fn told(invocations: &[&[&str]]) -> Option<String> {
        let mut left = LeftProcesses::default();
        for names in invocations {
            let processes: Vec<ProcessStat> = names.iter().copied().map(named).collect();
            left.note(&processes);
        }
        left.caveat().map(|caveat| caveat.detail)
    }

    #[test]
    fn what_was_left_is_counted_by_name_over_all_invocations() {
        assert_eq!(told(&[&[], &[]]), None);
        assert_eq!(
            told(&[&[], &["sleep"]]).unwrap(),
            "1 process was still there after 1 invocation and was ended: sleep (1)"
        );
        assert_eq!(
            told(&[&["sh", "sleep"], &["sleep"]]).unwrap(),
            "3 processes were still there after 2 invocations and were ended: sleep (2), sh (1)"
        );
    }

    #[test]
    fn names_are_inert_and_a_caveat_is_short_however_many_there_are() {
        let hostile = told(&[&["\u{1b}[2J\n\u{202e}x"]]).unwrap();
        assert!(!hostile.contains(model::is_obeyed), "{hostile:?}");
        assert!(hostile.ends_with("x (1)"), "{hostile:?}");
        let names: Vec<String> = (0..1000).map(|number| format!("worker-{number:08}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let many = told(&[&names]).unwrap();
        assert!(many.starts_with("1000 processes") && many.ends_with("others (992)"), "{many}");
        assert!(many.len() < 400, "{} bytes", many.len());
    }
}
