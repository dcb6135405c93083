//! How long the workload's threads waited for a CPU.

use crate::rate::{TimeRate, share, share_metric};
use contract::{AttachedProbe, Cost, Description, Error, Probe, ProbeTarget, Requirement, Result};
use model::{Direction, Metric, Reduction, RunReport, Sample, Unit};
use std::collections::{BTreeMap, BTreeSet};
use sys::{Cgroup, Machine, ProcessStat, TaskSchedstat};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "run_delay",
    summary: "how long the workload's threads were runnable and waited for a CPU",
    doc: "/proc/PID/task/TID/schedstat tells how long a thread ran, how long it was runnable without \
          running, and how often it was given a CPU. Read for every thread of the workload's process \
          group and cgroup at both ends of the window: threads alive at both ends count with the \
          difference, those born inside with all they have.\n\n\
          What moves it, and when it lies: a thread that ended inside the window took its figures with \
          it; then the sums would be too small, so they are left out and only the coverage is reported. \
          Threads that were both born and ended inside are seen by nobody (the probe `counters` counts \
          their switches). It is the sum over threads: a second of delay may be one thread waiting a \
          second or a thousand waiting a millisecond.\n\n\
          Sources: Documentation/scheduler/sched-stats.rst, kernel/sched/stats.h (sched_info_*, 6.12).",
};

const DELAY: TimeRate = TimeRate {
    per_operation: "run_delay_per_operation",
    share: "run_delay_share",
    time: "time runnable but not running, over all threads,",
};
const PER_TIMESLICE: &str = "run_delay_per_timeslice";
const OF_RUNNABLE: &str = "run_delay_of_runnable_time";
const COVERAGE: &str = "run_delay_coverage";

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        let mut metrics = DELAY.metrics().to_vec();
        metrics.push(Metric::new(
            PER_TIMESLICE,
            Unit::Nanoseconds,
            Direction::Lower,
            Reduction::Quotient,
            "mean wait before each time on a CPU",
        ));
        metrics.push(share_metric(OF_RUNNABLE, "waiting as a share of running and waiting"));
        metrics.push(Metric::new(
            COVERAGE,
            Unit::Fraction,
            Direction::Higher,
            Reduction::Proportion,
            "threads of the start that were still there at the end; below 1 the delays are left out",
        ));
        metrics
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        vec![Requirement::check("per-thread run delay (/proc/PID/schedstat)", |machine| {
            let remedy = "choose a kernel built with CONFIG_SCHEDSTATS or CONFIG_TASK_DELAY_ACCT (in a virtual machine)";
            let text = machine
                .read("/proc/self/schedstat")
                .map_err(|error| (error.to_string(), remedy.to_owned()))?;
            // Without sched_info the kernel shows three zeroes, even for this process, which runs.
            match TaskSchedstat::parse(&text) {
                Some(own) if own.timeslices > 0 => Ok(()),
                _ => Err((
                    format!("/proc/self/schedstat reads `{}`", text.trim()),
                    remedy.to_owned(),
                )),
            }
        })]
    }

    fn attach(&self, machine: &Machine, target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        Ok(Box::new(Delays {
            machine: machine.clone(),
            group: target.group,
            cgroups: target.cgroups.clone(),
            before: BTreeMap::new(),
        }))
    }
}

/// A thread that cannot be confused with a later one of the same id.
type Thread = (i32, u64);

struct Delays {
    machine: Machine,
    group: i32,
    cgroups: Vec<Cgroup>,
    before: BTreeMap<Thread, TaskSchedstat>,
}

impl Delays {
    /// Figures of every thread there is; one that ends meanwhile is not there.
    fn read_all(&self) -> Result<BTreeMap<Thread, TaskSchedstat>> {
        let members = self.machine.group_members(self.group)?;
        let mut processes: BTreeSet<i32> = members.iter().map(|stat| stat.pid).collect();
        for cgroup in &self.cgroups {
            // The group may have been removed already, with nothing in it.
            processes.extend(cgroup.members(&self.machine).unwrap_or_default());
        }
        let mut figures = BTreeMap::new();
        for pid in processes {
            for thread in self.machine.thread_ids(pid).unwrap_or_default() {
                let file =
                    |name: &str| self.machine.read(&format!("/proc/{pid}/task/{thread}/{name}"));
                let (Ok(stat), Ok(text)) = (file("stat"), file("schedstat")) else { continue };
                let Some(stat) = ProcessStat::parse(&stat).filter(|stat| stat.state != 'Z') else {
                    continue;
                };
                let parsed = TaskSchedstat::parse(&text).ok_or_else(|| {
                    Error::environment(
                        format!("cannot understand /proc/{pid}/task/{thread}/schedstat"),
                        format!("`{}` is not three numbers", text.trim()),
                    )
                })?;
                figures.insert((thread, stat.start_ticks), parsed);
            }
        }
        Ok(figures)
    }
}

impl AttachedProbe for Delays {
    fn start(&mut self) -> Result<()> {
        self.before = self.read_all()?;
        Ok(())
    }

    fn stop(&mut self, report: &RunReport) -> Result<Vec<Sample>> {
        Ok(samples(&self.before, &self.read_all()?, report))
    }
}

#[expect(clippy::cast_precision_loss, reason = "times below 104 days are exact")]
fn samples(
    before: &BTreeMap<Thread, TaskSchedstat>,
    after: &BTreeMap<Thread, TaskSchedstat>,
    report: &RunReport,
) -> Vec<Sample> {
    let present = before.keys().filter(|thread| after.contains_key(*thread)).count();
    if before.is_empty() {
        return Vec::new();
    }
    let mut samples = vec![Sample::proportion(COVERAGE, present as u64, before.len() as u64)];
    if present < before.len() {
        return samples;
    }
    let mut sum = TaskSchedstat::default();
    for (thread, now) in after {
        let then = before.get(thread).copied().unwrap_or_default();
        let Some(spent) = now.since(&then) else { return samples };
        sum.run_ns += spent.run_ns;
        sum.wait_ns += spent.wait_ns;
        sum.timeslices += spent.timeslices;
    }
    let wait_ns = sum.wait_ns as f64;
    samples.extend(DELAY.samples(wait_ns, report));
    samples.extend(share(PER_TIMESLICE, wait_ns, sum.timeslices as f64));
    samples.extend(share(OF_RUNNABLE, wait_ns, wait_ns + sum.run_ns as f64));
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn figures(threads: &[(i32, u64, u64, u64)]) -> BTreeMap<Thread, TaskSchedstat> {
        let one = |(id, run_ns, wait_ns, timeslices): &(i32, u64, u64, u64)| {
            (
                (*id, 1),
                TaskSchedstat { run_ns: *run_ns, wait_ns: *wait_ns, timeslices: *timeslices },
            )
        };
        threads.iter().map(one).collect()
    }

    #[test]
    fn threads_born_in_the_window_count_with_all_they_have() {
        let before = figures(&[(1, 100, 10, 1)]);
        let after = figures(&[(1, 300, 110, 3), (2, 500, 200, 1)]);
        let samples = samples(&before, &after, &fixture::report());
        let of = |source| fixture::quotient(&samples[1..], source);
        assert_eq!(samples[0], Sample::proportion(COVERAGE, 1, 1));
        assert_eq!(of("run_delay_per_operation"), Some(3.0));
        assert_eq!(of(PER_TIMESLICE), Some(100.0));
        assert_eq!(of(OF_RUNNABLE), Some(0.3));
    }

    #[test]
    fn a_thread_that_ended_takes_the_sums_with_it_and_leaves_the_coverage() {
        let before = figures(&[(1, 1, 1, 1), (2, 1, 1, 1)]);
        let after = figures(&[(1, 9, 9, 9)]);
        let samples = samples(&before, &after, &fixture::report());
        assert_eq!(samples, [Sample::proportion(COVERAGE, 1, 2)]);
        assert_eq!(super::samples(&BTreeMap::new(), &after, &fixture::report()), []);
    }

    #[test]
    fn a_real_process_has_run_and_waited() {
        let machine = fixture::host();
        if let Some(missing) = Entry.requires().iter().find_map(|need| need.met(&machine).err()) {
            testing::skip(&missing.to_string());
            return;
        }
        let samples = fixture::observe(&Entry, &machine);
        assert_eq!(samples[0], Sample::proportion(COVERAGE, 1, 1));
        let share = fixture::quotient(&samples[1..], OF_RUNNABLE).unwrap();
        assert!((0.0..1.0).contains(&share), "{share}");
    }
}
