//! The machine's load before and after the run.

use contract::{AttachedProbe, Cost, Description, Error, Probe, ProbeTarget, Requirement, Result};
use model::{Direction, Metric, Reduction, RunReport, Sample, Unit};
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "load_average",
    summary: "the load average of one minute before and after the run",
    doc: "The exponentially damped mean of runnable and uninterruptible tasks over the last minute. The \
          value before the run tells whether the machine was quiet when it began.\n\n\
          What moves it, and when it lies: it is sampled every 5 seconds and damped over 60, so the value \
          after a short run still shows what went before, and trials in a row raise each other's. It \
          counts tasks that wait for a disk too. For what happened inside the window see `pressure` \
          and `foreign_cpu`.\n\n\
          Sources: proc_loadavg(5), kernel/sched/loadavg.c (6.12).",
};

const BEFORE: &str = "load_average_before";
const AFTER: &str = "load_average_after";

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        [
            (BEFORE, "load average of one minute before the run"),
            (AFTER, "load average of one minute after the run"),
        ]
        .into_iter()
        .map(|(id, summary)| {
            Metric::new(id, Unit::Count, Direction::Lower, Reduction::Mean, summary)
        })
        .collect()
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        Vec::new()
    }

    fn attach(&self, machine: &Machine, _target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Load { machine: machine.clone(), before: None }))
    }
}

struct Load {
    machine: Machine,
    before: Option<f64>,
}

impl AttachedProbe for Load {
    fn start(&mut self) -> Result<()> {
        self.before = Some(read(&self.machine)?);
        Ok(())
    }

    fn stop(&mut self, _report: &RunReport) -> Result<Vec<Sample>> {
        let after = Sample::values(AFTER, vec![read(&self.machine)?]);
        Ok(self
            .before
            .map(|load| Sample::values(BEFORE, vec![load]))
            .into_iter()
            .chain([after])
            .collect())
    }
}

fn read(machine: &Machine) -> Result<f64> {
    let text = machine.read("/proc/loadavg")?;
    load_in(&text).ok_or_else(|| {
        Error::environment(
            "cannot understand /proc/loadavg",
            format!("`{}` does not begin with a load", text.trim()),
        )
    })
}

fn load_in(text: &str) -> Option<f64> {
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    (load.is_finite() && load >= 0.0).then_some(load)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, FakeMachine};

    #[test]
    fn the_load_of_a_minute_is_read_at_both_ends() {
        let machine = FakeMachine::new(&[("/proc/loadavg", "0.50 1.00 1.00 1/90 7563\n")]);
        let mut attached = Entry.attach(&machine, &fixture::target(1)).unwrap();
        attached.start().unwrap();
        machine.write("/proc/loadavg", "1.25 1.00 1.00 1/90 7563\n");
        let samples = attached.stop(&fixture::report()).unwrap();
        assert_eq!(samples, [Sample::values(BEFORE, vec![0.5]), Sample::values(AFTER, vec![1.25])]);
    }

    #[test]
    fn hostile_text_is_refused() {
        for bad in ["", "x 1 1", "-1 0 0", "NaN 1 1", "inf"] {
            assert_eq!(load_in(bad), None, "{bad:?}");
        }
    }
}
