//! A reader that somebody waits for, beside streams of writes: what elevators
//! and I/O priorities are for.

mod load;
mod phase;
mod reader;
mod settings;
mod stream;

use contract::{
    Configured, Description, LaunchSpec, Load, Parameter, Problem, Result, Workload, WorkloadFacts,
};
use model::{Direction, Metric, Parameters, Reduction, Unit};
use settings::{DROP_CACHES, DURATION, IoMixSettings, PARAMETERS, SIZE, Victim, WARMUP};
use sys::Machine;
use workload_parts::nanoseconds::MS;
use workload_parts::storage::{self, MARGIN, caches, direct, free_space};

static DESCRIPTION: Description = Description {
    id: "io_mix",
    summary: "Latency of reads beside streams of writes or reads (what elevators are for)",
    doc: "\
**What it is.** `readers` victims and `streams`, each a thread with a file of its own, or
with its own part of the target's device, the victims' first. Everything is written before
anything is timed. A stream goes through its file again and again in writes (or reads:
`stream`) of `stream_record`, `stream_depth` of them in flight, and each of its threads
flushes after every `sync_every` writes. The victim is a `random_reader`: one direct read
of `record` after the other, at places drawn from the trial's seed, with a pause of `think`
between; or an `app_start`: 8 files, of each 16 records from its beginning and 8 from
anywhere, then a pause; or a `working_set`: so many bytes from first to last. Before each
of the latter two the victim's own pages are dropped, untimed, and counted.

**What it means.** `victim_latency` is the time of one read. `start_time` and
`working_set_time` are those of a whole start or set. The throughputs count what began and
ended within the window. `fairness` is Jain's index over the streams' bytes, or over the
victims' where there are fewer than two streams: 1 where equals got the same, 1/n where one
got everything.

**What moves it.** How the elevator puts a read before the writes that are queued already;
how many it lets the device have at once (a device's own queue is out of its reach);
writeback throttling (wbt, rq_affinity, nr_requests); `reader_priority` and
`stream_priority`, which bfq and mq-deadline obey and none and kyber do not; weights and
limits of control groups. Where there are no streams nothing waits, and elevators are alike.

**When it lies.** The loop is closed: a slow read delays the next, so its tail is
conditional on its pauses. Buffered writes are carried out by the kernel's own threads,
which have neither the stream's priority nor, without the group's writeback, its group: use
`stream_direct` where priorities are the question. Without `sync_every`, buffered writes
over a file that fits into memory write to memory. The host of a virtual disk may answer
from its memory (`HOST_CACHE_SUSPECTED` where the target is known to), and its own elevator
comes after ours.

**What is checked.** Every read by the stamp of its first sector, O_DIRECT and priorities
at the end of the run, and that the caches were empty where they had to be.

**Reference.** The interactivity experiments of bfq's authors (S-suite: start-up time beside
readers and writers) and fio with two jobs have this shape. Jain, Chiu, Hawe, A quantitative
measure of fairness and discrimination, 1984.",
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
        const {
            &[
                (DURATION.name(), "200ms"),
                (WARMUP.name(), "0"),
                (SIZE.name(), "1M"),
                (DROP_CACHES.name(), "no"),
            ]
        }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(IoMixSettings::of(parameters)?))
    }
}

impl Configured for IoMixSettings {
    fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Metric::latency_quantiles("victim_latency", "Time of one read");
        // The tail is what an elevator is asked for.
        if let Some(position) = metrics.iter().position(|metric| metric.id.ends_with("_p99")) {
            let headline = metrics.remove(position);
            metrics.insert(0, headline);
        }
        let time = |id, summary| {
            let reduction = Reduction::Median;
            Metric::new(id, Unit::Nanoseconds, Direction::Lower, reduction, summary)
        };
        match self.victim {
            Victim::RandomReader => {}
            Victim::AppStart => metrics.push(time("start_time", "Time of a whole start")),
            Victim::WorkingSet => {
                metrics.push(time("working_set_time", "Time in which the working set is read"));
            }
        }
        let rate = |id, summary| {
            let reduction = Reduction::Quotient;
            Metric::new(id, Unit::BytesPerSecond, Direction::Higher, reduction, summary)
        };
        metrics.push(rate("victim_throughput", "Bytes that victims read per second"));
        if self.streams > 0 {
            metrics.push(rate("stream_throughput", "Bytes that streams moved per second"));
            metrics.push(rate("aggregate_throughput", "Bytes that all moved per second"));
        }
        if self.streams > 1 || self.readers > 1 {
            metrics.push(Metric::new(
                "fairness",
                Unit::Fraction,
                Direction::Higher,
                Reduction::Mean,
                "Jain's index over the bytes of equals: streams, or victims without them",
            ));
        }
        let is_share = |metric: &Metric| metric.unit == Unit::Fraction;
        for metric in metrics.iter_mut().filter(|metric| !is_share(metric)) {
            metric.margin = metric.margin.max(MARGIN);
        }
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let dropping = self.drops.then(caches::requirement);
        let is_direct = self.is_direct || self.is_stream_direct;
        let files = u64::from(self.readers) + u64::from(self.streams);
        let room = free_space::requirement(files, self.size);
        let direct = is_direct.then(direct::requirement);
        let layout_ns = storage::expected_ns(files.saturating_mul(self.size));
        let own_ns = self.warmup_ns + self.duration_ns + 300 * MS;
        WorkloadFacts {
            requirements: dropping.into_iter().chain([room]).chain(direct).collect(),
            writes: self.drops.then_some(caches::DROP_CACHES).into_iter().collect(),
            ..WorkloadFacts::closed_loop(layout_ns.saturating_add(own_ns))
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        Ok(Box::new(load::prepare(machine, self.clone(), launch)?))
    }
}
