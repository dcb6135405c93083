//! What else the machine did during an invocation: steal, throttling, other
//! programs. Thresholds are those of docs/method.md#m-warnings.

use crate::fingerprint::RANDOMISED_LAYOUT;
use model::{Caveat, CaveatCode, CpuList, RunReport};
use std::collections::BTreeSet;
use sys::{Cgroup, CpuTime, Machine, clock_tick_ns};

/// Steal above this share of the CPUs' time is a caveat.
const STEAL_SHARE: f64 = 0.005;
/// Foreign CPU use above this share of the CPUs' time is a caveat.
const FOREIGN_SHARE: f64 = 0.02;
/// In windows shorter than this on every CPU, clock ticks are too coarse to judge by.
const SHORTEST_WINDOW_NS: f64 = 250e6;

/// Counters before an invocation.
pub(crate) struct Health {
    /// When they were read, by the monotonic clock.
    at_ns: u64,
    cpu: Option<CpuTime>,
    throttles: Option<u64>,
    /// Of declared load, and of holder processes: it is part of the subject.
    beside_ticks: u64,
    /// Of the workload's own groups, where it has any.
    group_ns: Option<u64>,
    /// Whether every process has the same layout.
    is_layout_fixed: bool,
}

impl Health {
    /// Reads the counters; a file that is not there is simply not judged.
    pub(crate) fn read(machine: &Machine, beside: &BTreeSet<i32>, groups: &[Cgroup]) -> Self {
        Self {
            at_ns: sys::monotonic_ns(),
            cpu: machine.read("/proc/stat").ok().and_then(|text| CpuTime::parse(&text)),
            throttles: machine.throttle_count(),
            beside_ticks: beside
                .iter()
                .filter_map(|pid| machine.process_stat(*pid).ok())
                .map(|stat| stat.user_ticks.saturating_add(stat.system_ticks))
                .sum(),
            group_ns: Cgroup::cpu_time_of_all_ns(groups, machine),
            is_layout_fixed: machine.read(RANDOMISED_LAYOUT).is_ok_and(|text| text.trim() == "0"),
        }
    }

    /// What happened since `self`, as caveats.
    pub(crate) fn caveats(&self, now: &Health, run: &RunReport, cpus: &CpuList) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if let (Some(before), Some(after)) = (&self.cpu, &now.cpu) {
            let spent = after.since(before);
            caveats.extend(steal(&spent));
            let elapsed_ns = now.at_ns.saturating_sub(self.at_ns);
            let foreign_ns = spent.worked_ns(elapsed_ns, cpus.len()) as f64 - self.own_ns(now, run);
            caveats.extend(interference(&spent, foreign_ns, cpus));
        }
        if let (Some(before), Some(after)) = (self.throttles, now.throttles)
            && after > before
        {
            caveats.push(Caveat::new(
                CaveatCode::Throttle,
                format!("{} throttling events", after - before),
            ));
        }
        if self.is_layout_fixed {
            let detail = "the kernel gives every process the same layout (randomize_va_space is 0)";
            caveats.push(Caveat::new(CaveatCode::SetupBias, detail));
        }
        caveats
    }

    /// CPU time of the workload and its declared load.
    fn own_ns(&self, now: &Health, run: &RunReport) -> f64 {
        let workload_ns = match (self.group_ns, now.group_ns) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => run.usage.user_ns + run.usage.system_ns,
        };
        let beside = now.beside_ticks.saturating_sub(self.beside_ticks) as f64;
        workload_ns as f64 + beside * clock_tick_ns() as f64
    }
}

fn steal(spent: &CpuTime) -> Option<Caveat> {
    let share = spent.steal as f64 / spent.total() as f64;
    (share > STEAL_SHARE).then(|| {
        Caveat::new(CaveatCode::Steal, format!("{:.1} % of CPU time was stolen", share * 100.0))
    })
}

fn interference(spent: &CpuTime, foreign_ns: f64, cpus: &CpuList) -> Option<Caveat> {
    let total_ns = spent.total() as f64 * clock_tick_ns() as f64;
    let foreign = foreign_ns / total_ns;
    let is_long = total_ns > cpus.len() as f64 * SHORTEST_WINDOW_NS;
    (is_long && foreign > FOREIGN_SHARE).then(|| {
        Caveat::new(
            CaveatCode::Interference,
            format!(
                "other programs and the kernel's own work used {:.1} % of CPU time",
                foreign * 100.0
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User, idle and steal ticks.
    fn health(ticks: [u64; 3], throttles: Option<u64>, hog_ticks: u64) -> Health {
        let [user, idle, steal] = ticks;
        let cpu = CpuTime { user, idle, steal, ..CpuTime::default() };
        Health {
            // Two CPUs had them.
            at_ns: (user + idle + steal) * 10_000_000 / 2,
            cpu: Some(cpu),
            throttles,
            beside_ticks: hog_ticks,
            group_ns: None,
            is_layout_fixed: false,
        }
    }

    #[test]
    fn steal_throttling_and_foreign_work_are_told_apart_from_our_own() {
        assert_eq!(clock_tick_ns(), 10_000_000);
        let cpus: CpuList = "0-1".parse().unwrap();
        let before = health([0; 3], Some(1), 0);
        let run = RunReport {
            usage: model::Usage { user_ns: 1_000_000_000, ..Default::default() },
            ..Default::default()
        };
        let codes = |before: &Health, now: &Health| -> Vec<CaveatCode> {
            before.caveats(now, &run, &cpus).into_iter().map(|caveat| caveat.code).collect()
        };
        assert_eq!(codes(&before, &health([100, 100, 0], Some(1), 0)), []);
        assert_eq!(codes(&before, &health([200, 0, 0], Some(1), 100)), []);
        assert_eq!(codes(&before, &health([200, 0, 0], Some(1), 0)), [CaveatCode::Interference]);
        assert_eq!(
            codes(&before, &health([100, 98, 2], Some(3), 0)),
            [CaveatCode::Steal, CaveatCode::Throttle]
        );
        let in_step = Health { at_ns: 1_000_000_000, ..health([120, 100, 0], None, 0) };
        assert_eq!(codes(&before, &in_step), [], "the tick saw work more often than it was there");
        let fixed = Health { is_layout_fixed: true, ..health([0; 3], Some(1), 0) };
        assert_eq!(codes(&fixed, &before), [CaveatCode::SetupBias]);
        assert_eq!(codes(&before, &before), [], "no time, no share");
        let grouped =
            |ticks, group_ns| Health { group_ns: Some(group_ns), ..health(ticks, None, 0) };
        let with_children = grouped([200, 0, 0], 2_000_000_000);
        assert_eq!(codes(&grouped([0; 3], 0), &with_children), [], "the group counts every child");
    }
}
