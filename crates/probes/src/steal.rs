//! CPU time the hypervisor gave to others.

use crate::rate::{share, share_metric};
use crate::system_time::Window;
use contract::{AttachedProbe, Cost, Description, Probe, ProbeTarget, Requirement, Result};
use model::{Metric, RunReport, Sample};
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "steal",
    summary: "the share of CPU time that the hypervisor took away",
    doc: "In a guest, time in which a virtual CPU wanted to run and the hypervisor ran somebody else. \
          Above half a percent a trial carries the caveat `STEAL`: its latencies are partly the host's.\n\n\
          What moves it, and when it lies: the host reports it, if it does so at all (KVM steal time, \
          Xen); a guest without it reads zero however starved it is, and so does bare metal. Time lost \
          while a virtual CPU was halted and slow to be woken is not steal. Nested guests see only the \
          inner hypervisor's part.\n\n\
          Sources: proc_stat(5), arch/x86/kernel/kvm.c (kvm_steal_clock, 6.12).",
};

impl Entry {
    #[cfg(test)]
    pub(crate) fn declares(&self, id: &str) -> bool {
        self.metrics().iter().any(|metric| metric.id == id)
    }
}

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![share_metric(crate::STEAL_METRIC, "share of CPU time that the hypervisor took away")]
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        Vec::new()
    }

    fn attach(&self, machine: &Machine, _target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Stolen(Window::new(machine))))
    }
}

struct Stolen(Window);

impl AttachedProbe for Stolen {
    fn start(&mut self) -> Result<()> {
        self.0.start()
    }

    #[expect(clippy::cast_precision_loss, reason = "ticks beyond 2^53 are not met")]
    fn stop(&mut self, _report: &RunReport) -> Result<Vec<Sample>> {
        let spent = self.0.stop()?;
        Ok(share(crate::STEAL_METRIC, spent.steal as f64, spent.total() as f64)
            .into_iter()
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, FakeMachine};

    #[test]
    fn stolen_ticks_are_a_share_of_all_ticks() {
        let machine = FakeMachine::new(&[("/proc/stat", "cpu  0 0 0 100 0 0 0 7\n")]);
        let mut attached = Entry.attach(&machine, &fixture::target(1)).unwrap();
        attached.start().unwrap();
        machine.write("/proc/stat", "cpu  0 0 0 295 0 0 0 12\n");
        let samples = attached.stop(&fixture::report()).unwrap();
        assert_eq!(fixture::quotient(&samples, crate::STEAL_METRIC), Some(0.025));
    }
}
