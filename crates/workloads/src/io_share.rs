//! Processes in control groups of their own, or with priorities of their own, that all want
//! the device at once: who gets how much.

mod load;
mod settings;
mod sharer;

use crate::declare::{MS, S, choice, count, duration, size};
use crate::storage::{self, MARGIN, direct, room};
use contract::{
    Description, LaunchSpec, Load, Parameter, ParameterKind, Requirement, Result, Workload,
};
use model::{Direction, Metric, Parameters, Reduction, Unit};
use settings::Settings;
use sys::Machine;

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

static PARAMETERS: &[Parameter] = &[
    count("processes", 2, 64, "2", "How many share the device"),
    Parameter {
        name: "weights",
        kind: ParameterKind::Text,
        default: Some("none"),
        summary: "Weight of each process's group, 1 to 1000: 100,800; or none, and no groups",
    },
    Parameter {
        name: "priorities",
        kind: ParameterKind::Text,
        default: Some("none"),
        summary: "I/O priority of each process: be:0,be:7 (none, idle, be:0 to be:7, rt:0 to rt:7)",
    },
    choice(
        "operation",
        &["read", "random_read", "write", "random_write"],
        "random_read",
        "What each does",
    ),
    size("record", 512, 64 << 20, "64k", "Bytes of one transfer"),
    count("depth", 1, 64, "4", "Transfers of each process in flight, by a thread each"),
    size("size", 4096, 1 << 40, "64M", "Bytes of each process's file or part of the device"),
    duration("warmup", 0, 600 * S, "500ms", "Time before anything is counted"),
    duration("duration", 10 * MS, 3600 * S, "5s", "Time that is counted"),
];

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn metrics(&self, _: &Parameters) -> Vec<Metric> {
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

    fn expected_ns(&self, parameters: &Parameters) -> u64 {
        let settings = Settings::of(parameters);
        let bytes = u64::from(settings.processes).saturating_mul(settings.size);
        let layout_ns = storage::expected_ns(bytes);
        layout_ns.saturating_add(settings.warmup_ns + settings.duration_ns + 300 * MS)
    }

    fn is_closed_loop(&self, _: &Parameters) -> bool {
        true
    }

    fn requires(&self, parameters: &Parameters) -> Vec<Requirement> {
        let has_groups = !self.io_groups(parameters).is_empty();
        let groups = has_groups.then(Requirement::io_group);
        let settings = Settings::of(parameters);
        let room = room::requirement(settings.processes.into(), settings.size);
        [direct::requirement(), room].into_iter().chain(groups).collect()
    }

    fn io_groups(&self, parameters: &Parameters) -> Vec<u64> {
        Settings::of(parameters).weights
    }

    fn conflicts(&self, parameters: &Parameters) -> Vec<String> {
        settings::conflicts(parameters)
    }

    fn prepare(
        &self,
        machine: &Machine,
        parameters: &Parameters,
        launch: &LaunchSpec,
    ) -> Result<Box<dyn Load>> {
        Ok(Box::new(load::prepare(machine, Settings::of(parameters), launch)?))
    }
}
