//! Software counters of the kernel for the workload and all it starts.

use crate::perf_access::{self, Counters};
use crate::rate::{EventRate, TimeRate};
use contract::{AttachedProbe, Cost, Description, Probe, ProbeTarget, Requirement, Result};
use model::{Metric, RunReport, Sample};
use sys::{Machine, PerfEvent};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "counters",
    summary: "context switches, migrations, page faults and CPU time by perf events",
    doc: "The kernel's software counters, opened disabled on the workload's process before it prepares, \
          inherited by every task it starts, switched on for the timed window. A migration is a task \
          that went to another CPU: with the switches it tells how a scheduler places tasks.\n\n\
          What moves it, and when it lies: everything in the window counts, whether waited for or not. \
          Inherited counters are cloned with each fork and summed with each exit, so a workload that \
          starts thousands of processes a second is slowed by a few percent; switching between tasks \
          with the same counters costs nothing more (perf_event_context_sched_out swaps them). \
          Switching on and off takes effect task by task, within microseconds.\n\n\
          Sources: perf_event_open(2), kernel/events/core.c (6.12).",
};

const EVENTS: &[PerfEvent] = &[
    PerfEvent::ContextSwitches,
    PerfEvent::CpuMigrations,
    PerfEvent::PageFaults,
    PerfEvent::TaskClock,
];

const SWITCHES: EventRate = EventRate {
    per_operation: "context_switches_per_operation",
    per_second: "context_switches_per_second",
    events: "context switches",
};
const MIGRATIONS: EventRate = EventRate {
    per_operation: "cpu_migrations_per_operation",
    per_second: "cpu_migrations_per_second",
    events: "moves of a task to another CPU",
};
const FAULTS: EventRate = EventRate {
    per_operation: "page_faults_per_operation",
    per_second: "page_faults_per_second",
    events: "page faults",
};
const CLOCK: TimeRate = TimeRate {
    per_operation: "task_clock_per_operation",
    share: "task_clock_share",
    time: "time on CPU of the workload's tasks",
};

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        let events = [SWITCHES, MIGRATIONS, FAULTS];
        events.iter().flat_map(EventRate::metrics).chain(CLOCK.metrics()).collect()
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        vec![perf_access::requirement("software counters of perf_event_open", EVENTS)]
    }

    fn attach(&self, _machine: &Machine, target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Counting(Counters::open(EVENTS, target.pid)?)))
    }
}

struct Counting(Counters);

impl AttachedProbe for Counting {
    fn start(&mut self) -> Result<()> {
        self.0.enable()
    }

    fn stop(&mut self, report: &RunReport) -> Result<Vec<Sample>> {
        let mut samples = Vec::new();
        for (event, count) in self.0.finish()? {
            let Some(count) = count else { continue };
            samples.extend(match event {
                PerfEvent::ContextSwitches => SWITCHES.samples(count, report),
                PerfEvent::CpuMigrations => MIGRATIONS.samples(count, report),
                PerfEvent::PageFaults => FAULTS.samples(count, report),
                _ => CLOCK.samples(count, report),
            });
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn processes_started_and_ended_inside_the_window_are_counted() {
        let machine = fixture::host();
        if let Some(missing) = Entry.requires().iter().find_map(|need| need.met(&machine).err()) {
            testing::skip(&missing.to_string());
            return;
        }
        let samples = fixture::observe(&Entry, &machine);
        let faults = fixture::quotient(&samples, "page_faults_per_operation").unwrap() * 100.0;
        // Five programs, each with tens of faults to load itself.
        assert!(faults > 100.0, "{faults} faults");
        let switches = fixture::quotient(&samples, "context_switches_per_operation").unwrap();
        assert!(switches > 0.0, "{samples:?}");
    }

    #[test]
    fn a_task_that_never_ran_in_the_window_is_left_out() {
        let machine = fixture::host();
        let worker = fixture::Worker::start();
        worker.wait_until_asleep(&machine);
        let Ok(mut attached) = Entry.attach(&machine, &fixture::target(worker.pid())) else {
            testing::skip("no software counters for this user");
            return;
        };
        attached.start().unwrap();
        assert_eq!(attached.stop(&fixture::report()).unwrap(), []);
    }
}
