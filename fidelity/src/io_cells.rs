//! `io` against fio: reads that bypass the page cache, of one loop device that `io` lays out
//! before each of its runs. Both submit each transfer by a call of its own, their default.

use crate::comparison::{Printed, ReferenceComparison, Switches, TEN_PERCENT};

/// Free threads differ by a fifth in their CPU time with the CPU that they come to lie on: the
/// one that takes the device's interrupts, or another.
const ON_CPU_1: &[&str] = &["taskset", "-c", CPU];
/// That one.
pub const CPU: &str = "1";

/// fio's word and ours for the operation, the transfer, how much is read, engine and depth.
macro_rules! io_cell {
    ($rw:literal, $operation:literal, $record:literal, $size:literal, $engine:literal, $depth:literal) => {
        ReferenceComparison {
            name: concat!("io, ", $operation, ", ", $record, ", ", $engine, ", depth ", $depth),
            prefix: ON_CPU_1,
            reference: &[
                "fio",
                "--name=x",
                concat!("--filename=", "{device}"),
                "--thread",
                "--output-format=json",
                "--direct=1",
                concat!("--rw=", $rw),
                concat!("--bs=", $record),
                concat!("--size=", $size),
                concat!("--ioengine=", $engine),
                concat!("--iodepth=", $depth),
            ],
            printed: Printed::FioReads,
            workload: "io",
            parameters: &[
                ("operations", $operation),
                ("record", $record),
                ("size", $size),
                ("engine", $engine),
                ("queue_depth", $depth),
                ("verify", "false"),
                ("drop_caches", "no"),
            ],
            metric: concat!($operation, "_throughput"),
            band: TEN_PERCENT,
            switches: Switches::CpuPerTransfer,
        }
    };
}

/// The comparisons with fio.
pub const IO_CELLS: &[ReferenceComparison] = &[
    io_cell!("randread", "random_read", "4k", "64M", "psync", "1"),
    io_cell!("read", "read", "64k", "256M", "psync", "1"),
    io_cell!("read", "read", "1M", "512M", "psync", "1"),
    io_cell!("randread", "random_read", "4k", "64M", "io_uring", "1"),
    io_cell!("randread", "random_read", "4k", "256M", "io_uring", "32"),
    io_cell!("read", "read", "4k", "256M", "io_uring", "32"),
    io_cell!("randread", "random_read", "64k", "512M", "io_uring", "32"),
];
