//! What is compared. Everything that is measured is pinned to one CPU: across
//! CPUs the reference tools themselves flip between placements from run to run.

use crate::io_cells::{DEVICE, IO_CELLS};
use crate::net_cells::NET_CELLS;

/// One comparison of a native workload with its reference tool.
pub struct ReferenceComparison {
    /// For the table.
    pub name: &'static str,
    /// Words before both commands: placement and policy.
    pub prefix: &'static [&'static str],
    /// The reference's command; its name alone where a workload runs it.
    pub reference: &'static [&'static str],
    /// How the reference prints its result.
    pub printed: Printed,
    /// The native workload's id.
    pub workload: &'static str,
    /// Its parameters, where they are not the defaults.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Id of its metric, in nanoseconds or bytes per second as the reference's.
    pub metric: &'static str,
    /// The whole interval of the ratio must lie here.
    pub band: (f64, f64),
    /// What its context switches must do.
    pub switches: Switches,
}

/// A workload of ours, and what is read of it.
#[derive(Debug, Clone, Copy)]
pub struct NativeLoad {
    /// Its id.
    pub workload: &'static str,
    /// Its parameters, where they are not the defaults.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Id of its metric.
    pub metric: &'static str,
}

impl ReferenceComparison {
    /// The native side.
    pub fn native(&self) -> NativeLoad {
        NativeLoad { workload: self.workload, parameters: self.parameters, metric: self.metric }
    }

    /// The program that the reference is.
    pub fn program(&self) -> &'static str {
        self.reference.first().copied().unwrap_or_default()
    }

    /// Whether both sides read a block device.
    pub fn needs_device(&self) -> bool {
        self.reference.iter().any(|word| word.contains(DEVICE))
    }
}

/// How the context switches of a run are compared.
pub enum Switches {
    /// Their ratio must be one within this share.
    Agree(f64),
    /// Shown and not judged: under the fair class runs of the reference differ from
    /// each other by far more than any limit (ADR 0008).
    Vary,
    /// Shown and not judged: the reference has threads that the native workload
    /// has no need of.
    OtherThreads,
    /// Not compared: the CPU time of one transfer is, which must not be shown to be higher.
    CpuPerTransfer,
}

/// How a reference prints its result.
pub enum Printed {
    /// `Time: 1.234`, in seconds.
    HackbenchSeconds,
    /// `1.234 usecs/op`.
    MicrosecondsPerOperation,
    /// A histogram of microseconds, `000123 000004` on each line: its median.
    HistogramMedian,
    /// fio's JSON: bytes per second of its reads, and its own CPU time.
    FioReads,
    /// A workload of ours runs the reference, with its server, and reads what it prints.
    ByAdapter(NativeLoad),
}

const THREE_PERCENT: f64 = 0.03;
pub(crate) const TEN_PERCENT: (f64, f64) = (0.9, 1.1);
const FIFTEEN_PERCENT: (f64, f64) = (0.85, 1.15);
pub(crate) const ON_CPU_0: &[&str] = &["taskset", "-c", "0"];
const FIFO_ON_CPU_0: &[&str] = &["chrt", "-f", "10", "taskset", "-c", "0"];
const FIFO_80: &[&str] = &["chrt", "-f", "80"];

/// Every comparison.
pub fn cells() -> impl Iterator<Item = &'static ReferenceComparison> {
    TASK_CELLS.iter().chain(IO_CELLS).chain(NET_CELLS)
}

const TASK_CELLS: &[ReferenceComparison] = &[
    ReferenceComparison {
        name: "messaging, sockets, processes",
        prefix: ON_CPU_0,
        reference: &["hackbench", "-g", "2", "-l", "600"],
        printed: Printed::HackbenchSeconds,
        workload: "messaging",
        parameters: &[("groups", "2"), ("loops", "600")],
        metric: "makespan",
        band: TEN_PERCENT,
        switches: Switches::Vary,
    },
    ReferenceComparison {
        name: "messaging, pipes, processes",
        prefix: ON_CPU_0,
        reference: &["hackbench", "-g", "2", "-l", "900", "-p"],
        printed: Printed::HackbenchSeconds,
        workload: "messaging",
        parameters: &[("groups", "2"), ("loops", "900"), ("transport", "pipe")],
        metric: "makespan",
        band: TEN_PERCENT,
        switches: Switches::Vary,
    },
    // Under FIFO the order of switches is the program's alone, not the fair
    // class's: here their number must agree.
    ReferenceComparison {
        name: "messaging, sockets, processes, FIFO",
        prefix: FIFO_ON_CPU_0,
        reference: &["hackbench", "-g", "1", "-l", "600"],
        printed: Printed::HackbenchSeconds,
        workload: "messaging",
        parameters: &[("groups", "1"), ("loops", "600")],
        metric: "makespan",
        band: TEN_PERCENT,
        switches: Switches::Agree(THREE_PERCENT),
    },
    ReferenceComparison {
        name: "messaging, pipes, processes, FIFO",
        prefix: FIFO_ON_CPU_0,
        reference: &["hackbench", "-g", "1", "-l", "1200", "-p"],
        printed: Printed::HackbenchSeconds,
        workload: "messaging",
        parameters: &[("groups", "1"), ("loops", "1200"), ("transport", "pipe")],
        metric: "makespan",
        band: TEN_PERCENT,
        switches: Switches::Agree(THREE_PERCENT),
    },
    ReferenceComparison {
        name: "pipe, processes",
        prefix: ON_CPU_0,
        reference: &["perf", "bench", "sched", "pipe", "-l", "200000"],
        printed: Printed::MicrosecondsPerOperation,
        workload: "pipe",
        parameters: &[("loops", "200000")],
        metric: "time_per_operation",
        band: TEN_PERCENT,
        switches: Switches::Agree(THREE_PERCENT),
    },
    ReferenceComparison {
        name: "pipe, threads",
        prefix: ON_CPU_0,
        reference: &["perf", "bench", "sched", "pipe", "-l", "200000", "-T"],
        printed: Printed::MicrosecondsPerOperation,
        workload: "pipe",
        parameters: &[("loops", "200000"), ("tasks", "thread")],
        metric: "time_per_operation",
        band: TEN_PERCENT,
        switches: Switches::Agree(THREE_PERCENT),
    },
    // cyclictest's main thread wakes up every 10 ms. On the CPU of the measuring
    // thread it keeps that CPU from sleeping deeply and shortens the median by
    // some 3 us (a bare nanosleep loop with and without such a thread shows the
    // same); the native workload has no such thread, so it goes to another CPU.
    ReferenceComparison {
        name: "cyclic, other, p50",
        prefix: &[],
        reference: &[
            "cyclictest",
            "--default-system",
            "--affinity=0",
            "--mainaffinity=1",
            "-q",
            "-D",
            "2",
            "-t",
            "1",
            "-i",
            "1000",
            "-h",
            "20000",
            "--policy=other",
        ],
        printed: Printed::HistogramMedian,
        workload: "cyclic",
        parameters: &[("threads", "1"), ("duration", "2s"), ("missed", "skip"), ("pin", "true")],
        metric: "latency_p50",
        band: FIFTEEN_PERCENT,
        switches: Switches::OtherThreads,
    },
    ReferenceComparison {
        name: "cyclic, FIFO 80, p50",
        prefix: FIFO_80,
        reference: &[
            "cyclictest",
            "--default-system",
            "--affinity=0",
            "--mainaffinity=1",
            "-q",
            "-D",
            "2",
            "-t",
            "1",
            "-i",
            "1000",
            "-h",
            "20000",
            "-p",
            "80",
        ],
        printed: Printed::HistogramMedian,
        workload: "cyclic",
        parameters: &[("threads", "1"), ("duration", "2s"), ("missed", "skip"), ("pin", "true")],
        metric: "latency_p50",
        band: FIFTEEN_PERCENT,
        switches: Switches::OtherThreads,
    },
];
