//! CPU time per mode, summed over CPUs and of each: the first lines of /proc/stat.

/// Clock ticks since boot (proc_stat(5)); guest time is inside user and nice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTime {
    /// User mode.
    pub user: u64,
    /// User mode at low priority.
    pub nice: u64,
    /// Kernel mode.
    pub system: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do while I/O was outstanding; not reliable per CPU.
    pub iowait: u64,
    /// Interrupts.
    pub irq: u64,
    /// Soft interrupts.
    pub softirq: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

impl CpuTime {
    /// Parses `/proc/stat`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::of_line(text.lines().find(|line| line.split_whitespace().next() == Some("cpu"))?)
    }

    /// Of each CPU that is online; `None` where a line is not understood.
    pub fn parse_each(text: &str) -> Option<Vec<(usize, Self)>> {
        let of_one = |line: &str| {
            let cpu = line.strip_prefix("cpu")?.split_whitespace().next()?.parse().ok()?;
            Some((cpu, Self::of_line(line)?))
        };
        let is_one = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        text.lines().filter(is_one).map(of_one).collect()
    }

    fn of_line(line: &str) -> Option<Self> {
        let mut fields = line.split_whitespace().skip(1).map(|field| field.parse::<u64>().ok());
        let mut next = || fields.next().flatten();
        Some(Self {
            user: next()?,
            nice: next()?,
            system: next()?,
            idle: next()?,
            iowait: next()?,
            irq: next()?,
            softirq: next()?,
            steal: next()?,
        })
    }

    /// What was spent since `earlier`. Idle and iowait may run backwards by a
    /// little (proc_stat(5)) and then count as nothing.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let spent = |now: u64, before: u64| now.saturating_sub(before);
        Self {
            user: spent(self.user, earlier.user),
            nice: spent(self.nice, earlier.nice),
            system: spent(self.system, earlier.system),
            idle: spent(self.idle, earlier.idle),
            iowait: spent(self.iowait, earlier.iowait),
            irq: spent(self.irq, earlier.irq),
            softirq: spent(self.softirq, earlier.softirq),
            steal: spent(self.steal, earlier.steal),
        }
    }

    /// Ticks in which a CPU worked for a task or the kernel.
    pub fn busy(&self) -> u64 {
        [self.nice, self.system, self.irq, self.softirq]
            .into_iter()
            .fold(self.user, u64::saturating_add)
    }

    /// Nanoseconds in which CPUs worked, of `elapsed_ns` on each of `cpus`.
    ///
    /// The modes of a busy CPU are sampled at its ticks: work that comes in step with them is seen
    /// far too often, or never. Idle time is exact where ticks stop for it (`get_idle_time` in
    /// fs/proc/stat.c, Linux 6.12); elsewhere it is sampled too, and what missed ticks would have
    /// seen is in neither. So it is the smaller of what is busy and what is not idle.
    pub fn worked_ns(&self, elapsed_ns: u64, cpus: usize) -> u64 {
        let tick_ns = clock_tick_ns();
        let rest = self.total().saturating_sub(self.busy()).saturating_mul(tick_ns);
        let not_idle = elapsed_ns.saturating_mul(cpus as u64).saturating_sub(rest);
        not_idle.min(self.busy().saturating_mul(tick_ns))
    }

    /// All ticks.
    pub fn total(&self) -> u64 {
        [self.idle, self.iowait, self.steal].into_iter().fold(self.busy(), u64::saturating_add)
    }
}

/// Nanoseconds of one clock tick of /proc (USER_HZ).
pub fn clock_tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_over_cpus_is_read_and_hostile_text_is_refused() {
        let text = "cpu  4651 1 2836 404788 477 2 51 12 3 4\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5\n";
        let time = CpuTime::parse(text).unwrap();
        assert_eq!((time.user, time.steal), (4651, 12));
        assert_eq!(time.busy(), 4651 + 1 + 2836 + 2 + 51);
        assert_eq!(time.total(), time.busy() + 404_788 + 477 + 12);
        for bad in [
            "",
            "cpu",
            "cpu 1 2 3\n",
            "cpu0 1 1 1 1 1 1 1 1\n",
            "cpu a b c d e f g h\n",
            "cpu -1 1 1 1 1 1 1 1\n",
        ] {
            assert_eq!(CpuTime::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn work_in_step_with_the_tick_is_what_the_idle_time_says() {
        assert_eq!(clock_tick_ns(), 10_000_000);
        let of = |user, idle, steal| CpuTime { user, idle, steal, ..CpuTime::default() };
        let second = 1_000_000_000;
        assert_eq!(of(100, 100, 0).worked_ns(second, 2), second);
        assert_eq!(of(36, 180, 10).worked_ns(second, 2), second / 10, "seen too often");
        assert_eq!(of(20, 80, 0).worked_ns(second, 2), second / 5, "half the ticks were missed");
        assert_eq!(of(5, 300, 0).worked_ns(second, 2), 0);
    }

    #[test]
    fn each_cpu_that_is_online_is_read() {
        let text =
            "cpu  9 0 0 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu11 8 7 6 5 4 3 2 1\nintr 5\n";
        let all = CpuTime::parse_each(text).unwrap();
        let idle: Vec<(usize, u64)> = all.iter().map(|(cpu, time)| (*cpu, time.idle)).collect();
        assert_eq!(idle, [(0, 4), (11, 5)]);
        assert_eq!(CpuTime::parse_each("cpu0 1 2\n"), None);
        assert_eq!(CpuTime::parse_each("intr 5\n"), Some(Vec::new()));
    }

    #[test]
    fn idle_time_that_runs_backwards_counts_as_nothing() {
        let earlier = CpuTime { idle: 10, user: 5, ..CpuTime::default() };
        let later = CpuTime { idle: 9, user: 7, ..CpuTime::default() };
        assert_eq!(later.since(&earlier), CpuTime { user: 2, ..CpuTime::default() });
    }
}
