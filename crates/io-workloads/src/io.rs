//! iozone's measurement: how fast files or a device are written and read, in
//! seven operations, with one or many transfers in flight.

mod checks;
pub(crate) mod cost;
mod engine;
#[cfg(test)]
mod faulty_device;
mod load;
mod operation;
mod phases;
mod ring;
mod running_operation;
mod settings;
mod suspicion;
mod worker;

use contract::{
    Configured, Description, LaunchSpec, Load, Parameter, Problem, Result, Workload, WorkloadFacts,
};
use model::{Direction, Metric, Parameters, Reduction, Unit};
use settings::{DROP_CACHES, Drops, EngineKind, IoSettings, PARAMETERS, SIZE};
use sys::Machine;
use workload_parts::nanoseconds::MS;
use workload_parts::storage::{self, MARGIN, caches, direct, free_space};

static DESCRIPTION: Description = Description {
    id: "io",
    summary: "Throughput and latency of seven file operations (iozone, fio)",
    doc: "\
**What it is.** `threads` threads, each with a file of `size` bytes in the target's
directory, or with its own part of the target's device, moved in transfers of `record`
bytes. The operations follow each other, and each begins for all threads at once: `write`
writes a new file, `rewrite` the same file again, `read` and `reread` go through it from
the first record to the last, `reverse_read` from the last to the first, `random_read` and
`random_write` in an order drawn from the trial's seed in which each record comes once.
Files have no name and vanish with the process; where the first operation reads or
rewrites, the data are written before anything is timed. `engine` says how bytes move:
`psync` (pread, pwrite), `io_uring` with `queue_depth` transfers in flight, `mmap` (copies
to and from a mapping), `null` (everything but the transfer).

**What it means.** `*_throughput` is bytes over time, each thread by its own clock, the
threads' rates added up (iozone: children see). With several threads `*_aggregate` divides
all bytes by the time from the first begin to the last end (parent sees). With `stonewall`
the first thread that ends stops the others, which count what they have moved, so that no
rate is that of a half idle machine; a new file is then completed untimed. `*_latency` is
the time of single transfers: a system call, a copy, or from submission to completion.
`cpu_per_byte` is the CPU time of the process in all timed operations over their bytes,
the kernel's threads of io_uring included and our own stamping as well. With `fsync`,
buffered writes end with fdatasync, mapped ones with msync, inside the time; direct ones
need none.

**What moves it.** The device, the record, the queue, the file system's allocation for
`write`, readahead for buffered reads. Elevators order and merge what waits: one stream at
queue depth 1 never waits, so it cannot tell them apart. Give several threads or a
queue, and `drop_caches`.

**When it lies.** Buffered figures are those of memory unless the file is larger than it.
O_DIRECT ends at this machine: the host of a virtual disk, or the file behind a loop device
without direct I/O, may answer from its own memory, which `HOST_CACHE_SUSPECTED` tells
where it shows (`reread` thrice as fast as `read`, or faster than such a device can be).
On tmpfs there is no device, and caches cannot be dropped. A preallocated or compressing
device tells of neither the first write nor ordinary data. With `queue_depth` above 1 the
thread that submits also looks for what has ended: a transfer that ends while it stamps,
compares or submits others is seen after that, and its latency contains it. That is some
nanoseconds for each sector and a call for each batch, and shows where transfers take
microseconds; `verify = false` and a larger `batch` make it smaller.

**What is checked.** With `verify`, every 512-byte sector says whose it is, where it belongs
and which operation wrote it. The first sector of each record that is read is compared in
the loop. Once a set of data was read for the last time, and at the end, everything is read
again through the same engine, untimed, and every byte is compared; so stale, shifted, lost
and altered blocks are found and named. Stamping and comparing lie outside of the `*_latency` of
their own transfer and inside the time of the operation: some nanoseconds for each sector that is written, one
comparison for each record that is read; `verify = false` leaves both out. Always: each
record was moved once, O_DIRECT was in force to the end, and after dropping the caches no
page of the data was in memory.

**Reference.** iozone 3.4 in throughput mode (-t, -I) has these operations and rules; its
two sleeps around each are left out. fio's psync and io_uring engines transfer in the same
way; its `clat` leaves out the submission, which our latency contains. `batch` is fio's
iodepth_batch_submit: with 1 each transfer is submitted by a call of its own; with more,
neighbours are merged before an elevator sees them, at half the CPU time, and the device
waits for whole batches. The ring has the flags that fio gives it (COOP_TASKRUN,
SINGLE_ISSUER, DEFER_TASKRUN); kernels before 6.1 lack some of them and get a plain ring,
which costs more: between such kernels a difference may be that of the ring.",
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
        const { &[(SIZE.name(), "256k"), (DROP_CACHES.name(), "no")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(IoSettings::of(parameters)?))
    }
}

impl Configured for IoSettings {
    fn metrics(&self) -> Vec<Metric> {
        let rate = |id: String, summary: String| {
            let reduction = Reduction::Quotient;
            let mut metric =
                Metric::new(id, Unit::BytesPerSecond, Direction::Higher, reduction, summary);
            metric.margin = MARGIN;
            metric
        };
        let mut metrics = Vec::new();
        let names = || self.operations.iter().map(|operation| operation.name());
        metrics.extend(names().map(|name| {
            rate(format!("{name}_throughput"), format!("Bytes moved per second by {name}"))
        }));
        if self.threads > 1 {
            metrics.extend(names().map(|name| {
                let summary =
                    format!("Bytes moved per second by {name}, until the last thread ends");
                rate(format!("{name}_aggregate"), summary)
            }));
        }
        for name in names() {
            let summary = format!("Time of one transfer of {name}");
            let mut quantiles = Metric::latency_quantiles(&format!("{name}_latency"), &summary);
            quantiles.iter_mut().for_each(|metric| metric.margin = metric.margin.max(MARGIN));
            metrics.extend(quantiles);
        }
        let mut cpu = Metric::new(
            "cpu_per_byte",
            Unit::Nanoseconds,
            Direction::Lower,
            Reduction::Quotient,
            "CPU time for each byte moved, over all operations",
        );
        cpu.margin = MARGIN;
        metrics.push(cpu);
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let drops = self.drops != Drops::No;
        let ring = (self.engine == EngineKind::IoUring).then(ring::requirement);
        let moves = self.engine != EngineKind::Null;
        let room = moves.then(|| free_space::requirement(self.threads.into(), self.size));
        let direct = (moves && self.is_direct).then(direct::requirement);
        let dropping = drops.then(caches::requirement);
        WorkloadFacts {
            requirements: dropping.into_iter().chain(ring).chain(room).chain(direct).collect(),
            writes: drops.then_some(caches::DROP_CACHES).into_iter().collect(),
            ..WorkloadFacts::closed_loop(
                storage::expected_ns(self.moved_bytes()).saturating_add(300 * MS),
            )
        }
    }

    fn prepare(&self, machine: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        Ok(Box::new(load::prepare(machine, self.clone(), launch)?))
    }
}
