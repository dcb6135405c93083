//! `/proc/PID/schedstat` and `/proc/schedstat`: how long a task, or the tasks of a CPU, ran and
//! waited to run.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Three numbers of 20 digits at most, and what parts them.
const LONGEST: usize = 64;

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

/// The figures of the thread that opened it. Reading them allocates nothing.
#[derive(Debug)]
pub struct ThreadSchedstat(File);

impl ThreadSchedstat {
    /// Opens those of this thread; `None` where the kernel does not keep them.
    pub fn open() -> Option<Self> {
        let opened = Self(File::open("/proc/thread-self/schedstat").ok()?);
        opened.read().is_some().then_some(opened)
    }

    /// What they are at this moment. A kernel that does not keep them shows zeros, which nothing that
    /// runs can have (`proc_pid_schedstat` of fs/proc/base.c, Linux 6.12).
    pub fn read(&self) -> Option<TaskSchedstat> {
        let mut bytes = [0; LONGEST];
        let length = self.0.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(bytes.get(..length)?).ok()?;
        TaskSchedstat::parse(text).filter(|stat| stat.timeslices > 0)
    }
}

/// What the tasks of one CPU have waited for it, in all: the eighth number of its line in
/// `/proc/schedstat` (versions 15 to 17; kernel/sched/stats.c, 6.12: `rq_sched_info.run_delay`).
/// Its growth over a time, divided by that time, is the mean number of tasks that waited.
pub fn waited_ns_by_cpu(text: &str) -> Option<Vec<(usize, u64)>> {
    let version = text.lines().next()?.strip_prefix("version ")?.trim().parse::<u32>().ok()?;
    if !(15..=17).contains(&version) {
        return None;
    }
    let of_line = |line: &str| {
        let mut fields = line.strip_prefix("cpu")?.split_whitespace();
        let cpu = fields.next()?.parse().ok()?;
        Some((cpu, fields.nth(7)?.parse().ok()?))
    };
    text.lines().filter(|line| line.starts_with("cpu")).map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tasks_waited_is_read_for_each_cpu_of_known_versions() {
        let text = "version 16\ntimestamp 4294\ncpu0 0 0 0 0 0 0 111 222 3\ndomain0 3 0 0\n\
                    cpu12 1 2 3 4 5 6 7 8 9\n";
        assert_eq!(waited_ns_by_cpu(text), Some(vec![(0, 222), (12, 8)]));
        for bad in
            ["", "version 14\ncpu0 0 0 0 0 0 0 1 2 3\n", "version 16\ncpu0 1 2\n", "cpu0 1\n"]
        {
            assert_eq!(waited_ns_by_cpu(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_thread_reads_its_own_figures_again_and_again() {
        let Some(opened) = ThreadSchedstat::open() else { return };
        // By its own clock: time that a hypervisor takes is nobody's. What is read may be as old as
        // the last tick, 10 ms ago at 100 Hz.
        let used_ns = || {
            let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            used.tv_sec * 1_000_000_000 + used.tv_nsec
        };
        let (before, begin_ns) = (opened.read().unwrap(), used_ns());
        while used_ns() < begin_ns + 30_000_000 {}
        let spent = opened.read().unwrap().since(&before).unwrap();
        assert!(spent.run_ns >= 15_000_000, "{spent:?}");
    }

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
