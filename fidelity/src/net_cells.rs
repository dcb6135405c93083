//! `net` against iperf3 and sockperf, over this machine's loopback: client and server on one CPU,
//! because across CPUs the kernel places them otherwise from run to run.

use crate::comparison::{
    NativeLoad, ON_CPU_0, Printed, ReferenceComparison, Switches, TEN_PERCENT,
};

const FIVE_PERCENT: (f64, f64) = (0.95, 1.05);

/// The comparisons.
pub const NET_CELLS: &[ReferenceComparison] = &[
    ReferenceComparison {
        name: "net, stream",
        prefix: ON_CPU_0,
        reference: &["iperf3"],
        printed: Printed::ByAdapter(NativeLoad {
            workload: "iperf3",
            parameters: &[("warm_up", "1s"), ("duration", "2s")],
            metric: "throughput",
        }),
        workload: "net",
        parameters: &[("test", "stream"), ("warm_up", "1s"), ("duration", "2s")],
        metric: "throughput",
        band: FIVE_PERCENT,
        switches: Switches::OtherThreads,
    },
    ReferenceComparison {
        name: "net, request",
        prefix: ON_CPU_0,
        reference: &["sockperf"],
        printed: Printed::ByAdapter(NativeLoad {
            workload: "sockperf",
            parameters: &[("protocol", "tcp"), ("duration", "2s")],
            metric: "round_trip_p50",
        }),
        workload: "net",
        parameters: &[("test", "request"), ("duration", "2s")],
        metric: "round_trip_p50",
        band: TEN_PERCENT,
        switches: Switches::OtherThreads,
    },
];
