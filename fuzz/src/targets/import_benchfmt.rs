//! The Go benchmark format: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-benchfmt",
    words: &[
        "Benchmark",
        "BenchmarkX/a=1-8 1 5 ns/op\n",
        "goos: linux\n",
        "pkg: a\n",
        "Unit x better=lower\n",
        " 2 MB/s",
        " 3 B/op",
        "/k=v",
        "-8",
        "--- FAIL: Benchmark",
        "subject = \"k\"",
        "subject = \"gomaxprocs\"",
        "better = {x = \"lower\"}",
        ";",
        "\n----\n",
        "1e308",
        "NaN",
        "-1",
        "\t",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    crate::imports::import("benchfmt", bytes)
}
