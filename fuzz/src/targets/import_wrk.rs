//! What wrk prints: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-wrk",
    words: &[
        "Running 1s test @ http://127.0.0.1:8099/\n",
        "  Latency Distribution\n",
        "     75%   45.00us\n",
        "  50 requests in 1.10s, 8.55MB read\n",
        "  Socket errors: connect 4, read 1, write 3, timeout 2\n",
        "  Non-2xx or 3xx responses: 3\n",
        "Requests/sec:    45.45\n",
        "Transfer/sec:      7.77PB\n",
        "0.92ms",
        "0.00us",
        "\n----\n",
        "-1",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    crate::imports::import("wrk", bytes)
}
