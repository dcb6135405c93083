//! `/proc/PID/schedstat`: how long a task ran and how long it waited to run.

/// One task's figures since it began (Documentation/scheduler/sched-stats.rst).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskSchedstat {
    /// Time on a CPU.
    pub run_ns: u64,
    /// Time runnable but not running.
    pub wait_ns: u64,
    /// How often it was given a CPU.
    pub timeslices: u64,
}

impl TaskSchedstat {
    /// Parses the file of one task.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_whitespace().map(|field| field.parse::<u64>().ok());
        let mut next = || fields.next().flatten();
        let parsed = Self { run_ns: next()?, wait_ns: next()?, timeslices: next()? };
        fields.next().is_none().then_some(parsed)
    }

    /// What was added since `earlier`; `None` where a figure ran backwards.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        Some(Self {
            run_ns: self.run_ns.checked_sub(earlier.run_ns)?,
            wait_ns: self.wait_ns.checked_sub(earlier.wait_ns)?,
            timeslices: self.timeslices.checked_sub(earlier.timeslices)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_read_and_hostile_text_is_refused() {
        let parsed = TaskSchedstat { run_ns: 5, wait_ns: 6, timeslices: 7 };
        assert_eq!(TaskSchedstat::parse("5 6 7\n"), Some(parsed));
        for bad in ["", "5 6", "5 6 x", "5 6 7 8", "-5 6 7", "5,6,7"] {
            assert_eq!(TaskSchedstat::parse(bad), None, "{bad:?}");
        }
        assert_eq!(TaskSchedstat::default().since(&parsed), None);
    }
}
