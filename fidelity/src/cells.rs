//! What is compared. Everything that is measured is pinned to one CPU: across
//! CPUs the reference tools themselves flip between placements from run to run.

use crate::comparison::{ON_CPU_0, Printed, ReferenceComparison, Switches, TEN_PERCENT};
use crate::io_cells::IO_CELLS;
use crate::net_cells::NET_CELLS;

const THREE_PERCENT: f64 = 0.03;
const FIFTEEN_PERCENT: (f64, f64) = (0.85, 1.15);
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
