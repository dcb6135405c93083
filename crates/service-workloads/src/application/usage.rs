//! What a server's processes have used.

use std::collections::{BTreeMap, BTreeSet};
use sys::{Machine, ProcessStat, TaskSchedstat};

/// CPU time and memory of a process and of all that descends from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) cpu_ns: u64,
    /// How long each thread that is there was ready and waited for a CPU; nothing where the
    /// kernel does not tell.
    waited_ns: BTreeMap<i32, u64>,
    /// Resident set; what processes share is counted for each.
    pub(super) resident_bytes: u64,
}

/// A live process and all that descends from it; nothing where it is gone.
pub(super) fn family(machine: &Machine, root: i32) -> Vec<ProcessStat> {
    let mut all: Vec<_> = machine
        .process_ids()
        .unwrap_or_default()
        .into_iter()
        .filter_map(|pid| machine.process_stat(pid).ok())
        .filter(|stat| stat.state != 'Z')
        .collect();
    if !all.iter().any(|stat| stat.pid == root) {
        return Vec::new();
    }
    let mut family = BTreeSet::from([root]);
    let mut before = 0;
    while family.len() > before {
        before = family.len();
        let children = all.iter().filter(|stat| family.contains(&stat.parent));
        family.extend(children.map(|stat| stat.pid).collect::<Vec<_>>());
    }
    all.retain(|stat| family.contains(&stat.pid));
    all
}

impl Usage {
    /// As of now; none where the process is gone.
    pub(super) fn of(machine: &Machine, root: i32) -> Option<Self> {
        let family = family(machine, root);
        if family.is_empty() {
            return None;
        }
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let mut usage = Self::default();
        for stat in &family {
            let ticks = stat.user_ticks + stat.system_ticks + stat.waited_for_ticks;
            usage.cpu_ns += ticks * tick_ns;
            usage.resident_bytes += resident_bytes(machine, stat.pid).unwrap_or(0);
            let threads = machine.thread_ids(stat.pid).unwrap_or_default();
            let waits = threads.into_iter().filter_map(|thread| {
                let path = format!("/proc/{}/task/{thread}/schedstat", stat.pid);
                let told = TaskSchedstat::parse(&machine.read(&path).ok()?)?;
                Some((thread, told.wait_ns))
            });
            usage.waited_ns.extend(waits);
        }
        Some(usage)
    }
}

/// What was used in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) cpu_ns: u64,
    /// By threads that are still there; none where the kernel does not tell.
    pub(super) waited_ns: Option<u64>,
}

/// What was used since then.
pub(super) fn since(earlier: &Usage, later: &Usage) -> Spent {
    let waited = later.waited_ns.iter().map(|(thread, waited_ns)| {
        waited_ns.saturating_sub(earlier.waited_ns.get(thread).copied().unwrap_or(0))
    });
    Spent {
        cpu_ns: later.cpu_ns.saturating_sub(earlier.cpu_ns),
        waited_ns: (!later.waited_ns.is_empty()).then(|| waited.sum()),
    }
}

/// `VmRSS` of /proc/PID/status, which is in KiB (proc_pid_status(5)).
fn resident_bytes(machine: &Machine, pid: i32) -> Option<u64> {
    let status = machine.read_with_names(&format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_computes_and_remembers_is_seen_to() {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::host(directory.path());
        let own = std::process::id().cast_signed();
        let before = Usage::of(&machine, own).unwrap();
        let memory = vec![1_u8; 32 << 20];
        // However long it takes to get so much of a processor.
        let enough = sys::cpu_time() + std::time::Duration::from_millis(100);
        let mut sum = 0_u64;
        while sys::cpu_time() < enough {
            sum = memory.iter().fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)));
        }
        let after = Usage::of(&machine, own).unwrap();
        assert!(sum > 0 && since(&before, &after).cpu_ns >= 20_000_000, "{before:?} {after:?}");
        assert!(after.resident_bytes >= 32 << 20, "{after:?}");
        assert_eq!(Usage::of(&machine, 0x7fff_fff0), None);
    }

    #[test]
    fn waiting_is_that_of_threads_that_are_there_and_of_nobody_where_none_is_told() {
        let usage = |waits: &[(i32, u64)]| Usage {
            waited_ns: waits.iter().copied().collect(),
            ..Usage::default()
        };
        let spent = |earlier: &[(i32, u64)], later: &[(i32, u64)]| {
            since(&usage(earlier), &usage(later)).waited_ns
        };
        // 1 goes on, 2 has ended, 3 is new.
        assert_eq!(spent(&[(1, 100), (2, 1000)], &[(1, 150), (3, 7)]), Some(57));
        assert_eq!(spent(&[], &[]), None);
    }
}
