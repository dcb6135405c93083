//! Output of schbench -j: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-schbench",
    words: &[
        "\"int\": {",
        "\"wakeup_latency_pct99.0\": 5",
        "\"request_latency_pct50.0\": 5",
        "\"average_rps\": 5",
        "average rps: 5\n",
        "Wakeup Latencies percentiles (usec) runtime 3 (s) (1730 total samples)\n",
        "total samples)",
        "(",
        "{",
        "}",
        ",",
        "null",
        "\n----\n",
        "-1",
        "1e308",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    crate::imports::import("schbench", bytes)
}
