//! CPU time of everything that is neither the workload nor its declared load.

use crate::rate::{share, share_metric};
use crate::system_time::Window;
use contract::{AttachedProbe, Cost, Description, Probe, ProbeTarget, Requirement, Result};
use model::{Metric, RunReport, Sample};
use sys::{Cgroup, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "foreign_cpu",
    summary: "the share of CPU time used by other programs and by the kernel's own work",
    doc: "Busy time of the machine less that of the workload and of the background load: what other \
          programs, kernel threads, interrupts and this harness used. A benchmark beside a busy cron \
          job measures both.\n\n\
          The workload's time is that of its cgroup in the unified hierarchy, or where it has none, \
          what its process reports for itself and the children it waited for.\n\n\
          What moves it, and when it lies: interrupts that the workload causes (network, disk) count as \
          foreign. Busy is what was not idle, or less where the kernel's clock ticks saw less: regular work is \
          seen by them too often or never. It has the resolution of a tick, the workload's is exact, so \
          in windows below a second the difference may come out negative and is reported as zero. Without a \
          cgroup, children not waited for count as foreign.\n\n\
          Sources: proc_stat(5), proc_pid_stat(5), Documentation/admin-guide/cgroup-v2.rst (cpu.stat).",
};

const METRIC: &str = "foreign_cpu_share";

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![share_metric(METRIC, "share of CPU time used by neither workload nor declared load")]
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        Vec::new()
    }

    fn attach(&self, machine: &Machine, target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Foreign::new(machine, target)))
    }
}

struct Foreign {
    machine: Machine,
    window: Window,
    cgroups: Vec<Cgroup>,
    group_before_ns: Option<u64>,
    /// Each process and its ticks at the start.
    background: Vec<(i32, u64)>,
    cpus: usize,
    /// By the monotonic clock.
    began_ns: u64,
}

impl Foreign {
    fn new(machine: &Machine, target: &ProbeTarget) -> Self {
        Self {
            machine: machine.clone(),
            window: Window::new(machine),
            cgroups: target.cgroups.clone(),
            group_before_ns: None,
            background: target.background.iter().map(|pid| (*pid, 0)).collect(),
            cpus: target.cpus.len(),
            began_ns: 0,
        }
    }

    fn group_ns(&self) -> Option<u64> {
        Cgroup::cpu_time_of_all_ns(&self.cgroups, &self.machine)
    }

    /// Ticks of a process with all its threads; nothing where it is gone.
    fn ticks(&self, pid: i32) -> Option<u64> {
        self.machine.process_stat(pid).ok().map(|stat| stat.user_ticks + stat.system_ticks)
    }
}

impl AttachedProbe for Foreign {
    fn start(&mut self) -> Result<()> {
        let ticks: Vec<u64> =
            self.background.iter().map(|(pid, _)| self.ticks(*pid).unwrap_or(0)).collect();
        for ((_, before), now) in self.background.iter_mut().zip(ticks) {
            *before = now;
        }
        self.group_before_ns = self.group_ns();
        self.began_ns = sys::monotonic_ns();
        self.window.start()
    }

    #[expect(clippy::cast_precision_loss, reason = "times below 104 days are exact")]
    fn stop(&mut self, report: &RunReport) -> Result<Vec<Sample>> {
        let spent = self.window.stop()?;
        let elapsed_ns = sys::monotonic_ns() - self.began_ns;
        let group_ns = self.group_before_ns.zip(self.group_ns());
        let own_ns = group_ns
            .and_then(|(before, now)| now.checked_sub(before))
            .unwrap_or(report.usage.user_ns + report.usage.system_ns);
        let mut background = 0;
        for (pid, before) in &self.background {
            // Load that ended inside the window used an unknown amount.
            let Some(now) = self.ticks(*pid) else { return Ok(Vec::new()) };
            background += now.saturating_sub(*before);
        }
        let tick_ns = sys::clock_tick_ns() as f64;
        let known_ns = own_ns as f64 + background as f64 * tick_ns;
        let foreign_ns = (spent.worked_ns(elapsed_ns, self.cpus) as f64 - known_ns).max(0.0);
        Ok(share(METRIC, foreign_ns, spent.total() as f64 * tick_ns).into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, FakeMachine};
    use model::Usage;

    fn stat_line(ticks: u64) -> String {
        format!(
            "9 (hog) R 1 9 9 0 -1 4194304 1 0 0 0 {ticks} 0 0 0 20 0 1 0 4242 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0"
        )
    }

    /// 200 ticks of two CPUs (1 s at 100 Hz) of which 120 are busy and 40 are the hog's.
    fn foreign(with_group: bool, own_ns: u64, is_hog_alive: bool) -> Option<f64> {
        foreign_within(1_000_000_000, with_group, own_ns, is_hog_alive)
    }

    fn foreign_within(
        elapsed_ns: u64,
        with_group: bool,
        own_ns: u64,
        is_hog_alive: bool,
    ) -> Option<f64> {
        let machine = FakeMachine::new(&[
            ("/proc/stat", "cpu  10 0 0 100 0 0 0 0\n"),
            ("/proc/9/stat", &stat_line(5)),
            ("/cg/cpu.stat", "usage_usec 1000\nuser_usec 5\n"),
        ]);
        let mut target = fixture::target(1);
        target.background = vec![9];
        target.cgroups.extend(with_group.then(|| Cgroup { path: "/cg".to_owned() }));
        let mut attached = Foreign::new(&machine, &target);
        attached.start().unwrap();
        attached.began_ns -= elapsed_ns;
        machine.write("/proc/stat", "cpu  130 0 0 180 0 0 0 0\n");
        machine.write("/proc/9/stat", &stat_line(45));
        machine.write("/cg/cpu.stat", "usage_usec 601000\n");
        if !is_hog_alive {
            machine.remove("/proc/9");
        }
        let usage = Usage { user_ns: own_ns, ..Usage::default() };
        let report = RunReport { usage, ..fixture::report() };
        fixture::quotient(&attached.stop(&report).unwrap(), METRIC)
    }

    #[test]
    fn what_is_left_after_workload_and_load_is_foreign() {
        assert_eq!(sys::clock_tick_ns(), 10_000_000);
        assert_eq!(foreign(false, 400_000_000, true), Some(0.2));
        assert_eq!(foreign(true, 0, true), Some(0.1), "the cgroup knows better than the report");
        assert_eq!(foreign(false, 5_000_000_000, true), Some(0.0), "never negative");
        // In half a second two CPUs that idled for .8 s can have worked for .2 s at most.
        let in_step = foreign_within(500_000_000, false, 400_000_000, true);
        assert_eq!(in_step, Some(0.0), "ticks saw work more often than it was there");
    }

    #[test]
    fn load_that_ended_leaves_no_figure() {
        assert_eq!(foreign(false, 0, false), None);
    }
}
