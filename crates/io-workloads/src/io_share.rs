//! Processes in control groups of their own, or with priorities of their own, that all want
//! the device at once: which process gets how much.

mod load;
mod settings;
mod sharer;

use contract::{
    Configured, Description, LaunchSpec, Load, Parameter, Problem, Requirement, Result, Workload,
    WorkloadFacts,
};
use model::{Direction, Metric, Parameters, Reduction, Unit};
use settings::{DURATION, IoShareSettings, PARAMETERS, SIZE, WARMUP};
use sys::Machine;
use workload_parts::nanoseconds::MS;
use workload_parts::storage::{self, MARGIN, direct, free_space};

static DESCRIPTION: Description = Description {
    id: "io_share",
    summary: "How a device is divided among processes, by group weight or I/O priority",
    doc: "\
**What it is.** `processes` processes with a file each, or a part of the target's device, that
is written before anything is timed. Each keeps `depth` direct transfers of `record` in flight,
by a thread each, one after the other or at places drawn from the trial's seed, until the
window ends. With `weights` each process is in a control group of its own of that weight; with
`priorities` it has that I/O priority.

**What it means.** `fairness` is Jain's index over each process's bytes divided by its weight:
1 where everyone got what its weight says, 1/n where one got everything. Without weights all
are equals, also where their priorities differ. `share_error` is the furthest that a process's
share was from the one it is entitled to, as a part of that: 0.5 is half as much again, or half.
`aggregate_throughput` is what all moved, and `longest_transfer` the longest that anybody waited
for one transfer that overlaps the window.

**What moves it.** The elevator: bfq divides time, not bytes, by weight and by priority;
mq-deadline knows classes of priority and no weights; none and kyber know neither. What is
divided must be scarce: a device that takes all transfers at once (`depth` times `processes` at
most what it can have in flight) leaves an elevator nothing to choose from.

**When it lies.** Bytes are counted, and bfq promises time: where one process's transfers cost
the device more than another's the two differ, so all do the same here. Threads of a process
are queues of their own to bfq, all in the process's group. Groups are made with their weight
in either hierarchy; a host whose own groups want the device at the same time divides it first.

**What is checked.** Every read by the stamp of its first sector, O_DIRECT, priorities, and at
the end of the run that each process is in its group and the group has its weight.

**Reference.** Documentation/block/bfq-iosched.rst, section 4-1; Jain, Chiu, Hawe, A
quantitative measure of fairness and discrimination, 1984.",
};

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        const { &[(DURATION.name(), "200ms"), (WARMUP.name(), "0"), (SIZE.name(), "1M")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(IoShareSettings::of(parameters)?))
    }
}

impl Configured for IoShareSettings {
    fn metrics(&self) -> Vec<Metric> {
        let share = |id, direction, summary| {
            Metric::new(id, Unit::Fraction, direction, Reduction::Mean, summary)
        };
        let mut rate = Metric::new(
            "aggregate_throughput",
            Unit::BytesPerSecond,
            Direction::Higher,
            Reduction::Quotient,
            "Bytes that all moved per second",
        );
        let mut longest = Metric::new(
            "longest_transfer",
            Unit::Nanoseconds,
            Direction::Lower,
            Reduction::Mean,
            "The longest that anybody waited for a transfer",
        );
        rate.margin = MARGIN;
        longest.margin = MARGIN;
        vec![
            share("fairness", Direction::Higher, "Jain's index over bytes by weight"),
            share("share_error", Direction::Lower, "Furthest from its share, as a part of it"),
            rate,
            longest,
        ]
    }

    fn facts(&self) -> WorkloadFacts {
        let groups = (!self.weights.is_empty()).then(Requirement::io_group);
        let room = free_space::requirement(self.processes.into(), self.size);
        let bytes = u64::from(self.processes).saturating_mul(self.size);
        let own_ns = self.warmup_ns + self.duration_ns + 300 * MS;
        WorkloadFacts {
            requirements: [direct::requirement(), room].into_iter().chain(groups).collect(),
            io_weights: self.weights.clone(),
            ..WorkloadFacts::closed_loop(storage::expected_ns(bytes).saturating_add(own_ns))
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        Ok(Box::new(load::prepare(machine, self.clone(), launch)?))
    }
}
