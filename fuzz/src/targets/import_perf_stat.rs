//! Separated output of perf stat: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-perf-stat",
    words: &[
        "3,,cycles,7,100.00,,\n",
        "3;;faults;7;100.00;;\n",
        "<not counted>",
        "<not supported>",
        "msec",
        "task-clock",
        "duration_time",
        "ns",
        "0.50%",
        "CPU0,",
        "S0,2,",
        "# started\n",
        ",,,,,0.55,x\n",
        ",",
        ";",
        "|",
        "\t",
        "\n",
        "\n----\n",
        "better = {instructions = \"lower\"}",
        "instructions",
        "NaN",
        "-1",
        "1e308",
        "1,5",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    crate::imports::import("perf-stat", bytes)
}
