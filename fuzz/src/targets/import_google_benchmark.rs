//! JSON of Google Benchmark: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-google-benchmark",
    words: &[
        "\"benchmarks\": [",
        "\"name\": \"x\"",
        "\"run_name\": \"y\"",
        "\"run_type\": \"iteration\"",
        "\"run_type\": \"aggregate\"",
        "\"aggregate_name\": \"mean\"",
        "\"BigO\"",
        "\"error_occurred\": true",
        "\"skipped\": true",
        "\"real_time\": 1",
        "\"cpu_time\": 1",
        "\"time_unit\": \"ms\"",
        "\"items_per_second\": 3",
        "\"depth\": 3",
        "better = {depth = \"lower\"}",
        "{",
        "}",
        "[",
        "]",
        ",",
        "null",
        "\n----\n",
        "-1",
        "1e308",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    crate::imports::import("google-benchmark", bytes)
}
