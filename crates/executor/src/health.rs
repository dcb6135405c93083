//! What else the machine did during an invocation: steal, throttling, other
//! programs. What of it is a warning says [`Disturbance`].

use crate::fingerprint::RANDOMISED_LAYOUT;
use model::{Caveat, CaveatCode, CpuList, Disturbance, RunReport, round_significant};
use std::collections::BTreeSet;
use sys::{Cgroup, CpuTime, Machine, clock_tick_ns};

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

    /// What happened from `self` to `now`, as far as it could be read.
    pub(crate) fn disturbance(&self, now: &Health, run: &RunReport, cpus: &CpuList) -> Disturbance {
        let spent = self.cpu.as_ref().zip(now.cpu.as_ref()).map(|(from, to)| to.since(from));
        let elapsed_ns = now.at_ns.saturating_sub(self.at_ns);
        let of_total_ns = spent.as_ref().map(|spent| (spent, total_ns(spent)));
        let is_long = |total_ns: f64| total_ns > cpus.len() as f64 * SHORTEST_WINDOW_NS;
        let foreign =
            of_total_ns.filter(|(_, total_ns)| is_long(*total_ns)).map(|(spent, total)| {
                let worked_ns = spent.worked_ns(elapsed_ns, cpus.len()) as f64;
                ((worked_ns - self.own_ns(now, run)) / total).max(0.0)
            });
        let stolen = spent.as_ref().filter(|spent| spent.total() > 0);
        Disturbance {
            foreign_share: foreign.map(round_significant),
            stolen_share: stolen
                .map(|spent| round_significant(spent.steal as f64 / spent.total() as f64)),
            throttles: self
                .throttles
                .zip(now.throttles)
                .map(|(before, after)| after.saturating_sub(before)),
            ..Disturbance::default()
        }
    }

    /// What of it has to be told, and what speaks against the machine's own settings.
    pub(crate) fn caveats(&self, seen: &Disturbance) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if let Some(share) = seen.noticeable_steal() {
            let detail = format!("{:.1} % of CPU time was stolen", share * 100.0);
            caveats.push(Caveat::new(CaveatCode::Steal, detail));
        }
        if let Some(share) = seen.noticeable_load() {
            let detail = format!(
                "other programs and the kernel's own work used {:.1} % of CPU time",
                share * 100.0
            );
            caveats.push(Caveat::new(CaveatCode::Interference, detail));
        }
        if let Some(events) = seen.noticeable_throttles() {
            let detail = model::counted(events, "throttling event");
            caveats.push(Caveat::new(CaveatCode::Throttle, detail));
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

fn total_ns(spent: &CpuTime) -> f64 {
    spent.total() as f64 * clock_tick_ns() as f64
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
            let seen = before.disturbance(now, &run, &cpus);
            now.caveats(&seen).into_iter().map(|caveat| caveat.code).collect()
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
        assert_eq!(codes(&before, &fixed), [CaveatCode::SetupBias]);
        assert_eq!(codes(&before, &before), [], "no time, no share");
        let seen = |before: &Health, now: &Health| before.disturbance(now, &run, &cpus);
        let all = seen(&before, &health([100, 98, 2], Some(3), 0));
        assert_eq!((all.foreign_share, all.stolen_share), (Some(0.0), Some(0.01)));
        assert_eq!(all.throttles, Some(2));
        let too_short = seen(&before, &health([1, 1, 0], None, 0));
        assert_eq!((too_short.foreign_share, too_short.stolen_share), (None, Some(0.0)));
        assert_eq!(too_short.throttles, None, "a counter that is not there counted nothing");
        let unreadable = Health { cpu: None, ..health([0; 3], None, 0) };
        assert_eq!(seen(&unreadable, &unreadable), Disturbance::default());
        let grouped =
            |ticks, group_ns| Health { group_ns: Some(group_ns), ..health(ticks, None, 0) };
        let with_children = grouped([200, 0, 0], 2_000_000_000);
        assert_eq!(codes(&grouped([0; 3], 0), &with_children), [], "the group counts every child");
    }
}
