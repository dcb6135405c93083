//! Where the machine's CPU time went.

use crate::rate::{share, share_metric};
use crate::system_time::Window;
use contract::{AttachedProbe, Cost, Description, Probe, ProbeTarget, Requirement, Result};
use model::{Metric, RunReport, Sample};
use sys::{CpuTime, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "cpu_time",
    summary: "the machine's CPU time by mode: user, system, interrupts, idle",
    doc: "The share of all CPUs' time in each mode during the window, from the first line of /proc/stat. \
          It shows whether a run was bound by the CPU at all: a scheduler cannot help a machine that \
          was 80 % idle, and a saturated one turns latency into queueing.\n\n\
          What moves it, and when it lies: it is the whole machine, not the workload. Its unit is the \
          clock tick (10 ms); without precise accounting a mode is charged by what the tick \
          interrupted, which timers synchronised with the tick escape. iowait is idle time with a \
          request outstanding and may even run backwards. Windows shorter than a second are coarse.\n\n\
          Sources: proc_stat(5), kernel/sched/cputime.c and fs/proc/stat.c (6.12).",
};

type Mode = (&'static str, &'static str, fn(&CpuTime) -> u64);

const MODES: [Mode; 6] = [
    ("cpu_user_share", "share of CPU time in user mode", |time| time.user + time.nice),
    ("cpu_system_share", "share of CPU time in the kernel for tasks", |time| time.system),
    ("cpu_irq_share", "share of CPU time in interrupts", |time| time.irq),
    ("cpu_softirq_share", "share of CPU time in soft interrupts", |time| time.softirq),
    ("cpu_iowait_share", "share of CPU time idle while I/O was outstanding", |time| time.iowait),
    ("cpu_idle_share", "share of CPU time idle", |time| time.idle),
];

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        MODES.iter().map(|(id, summary, _)| share_metric(id, summary)).collect()
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        Vec::new()
    }

    fn attach(&self, machine: &Machine, _target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Modes(Window::new(machine))))
    }
}

struct Modes(Window);

impl AttachedProbe for Modes {
    fn start(&mut self) -> Result<()> {
        self.0.start()
    }

    #[expect(clippy::cast_precision_loss, reason = "ticks beyond 2^53 are not met")]
    fn stop(&mut self, _report: &RunReport) -> Result<Vec<Sample>> {
        let spent = self.0.stop()?;
        let of = |(id, _, ticks): &Mode| share(id, ticks(&spent) as f64, spent.total() as f64);
        Ok(MODES.iter().filter_map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, FakeMachine};

    #[test]
    fn shares_are_of_all_time_in_the_window() {
        let machine = FakeMachine::new(&[("/proc/stat", "cpu  100 0 50 1000 5 0 0 0 0 0\n")]);
        let mut attached = Entry.attach(&machine, &fixture::target(1)).unwrap();
        attached.start().unwrap();
        machine.write("/proc/stat", "cpu  150 10 70 1010 5 1 9 0 0 0\n");
        let samples = attached.stop(&fixture::report()).unwrap();
        assert_eq!(fixture::quotient(&samples, "cpu_user_share"), Some(0.6));
        assert_eq!(fixture::quotient(&samples, "cpu_system_share"), Some(0.2));
        assert_eq!(fixture::quotient(&samples, "cpu_idle_share"), Some(0.1));
    }

    #[test]
    fn a_window_without_a_tick_has_no_shares_and_garbage_is_an_error() {
        let machine = FakeMachine::new(&[("/proc/stat", "cpu  1 2 3 4 5 6 7 8\n")]);
        let mut attached = Entry.attach(&machine, &fixture::target(1)).unwrap();
        attached.start().unwrap();
        assert_eq!(attached.stop(&fixture::report()).unwrap(), []);
        machine.write("/proc/stat", "cpu  1 2 3\n");
        assert!(attached.stop(&fixture::report()).is_err());
    }
}
