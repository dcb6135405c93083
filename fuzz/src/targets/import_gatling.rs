//! Gatling's logs and summaries: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-gatling",
    words: &[
        "REQUEST\t\tlist\t1795554545129\t1795554545139\tOK\t \n",
        "REQUEST\tcart\tlist\t1795554545129\t1795554545139\tKO\tgone\n",
        "USER\ta\tSTART\t1795554545129\n",
        "RUN\tsim.Sim\tsim\t1795554545129\t \t3.10.3\n",
        "\x01\0\0\0\0\0\0\0\x01\0\0\0\x04list\0\0\0\0\x05\0\0\0\x09\x01\0\0\0\x02\0\0\0\0",
        "\"type\": \"REQUEST\"",
        "\"type\": \"GROUP\"",
        "\"name\": \"a\"",
        "\"path\": \"a / b\"",
        "\"stats\": {",
        "\"contents\": {\"a\": {",
        "\"numberOfRequests\": {\"total\": 50, \"ok\": 40, \"ko\": 10}",
        "\"percentiles1\": {\"ok\": 5, \"ko\": 5}",
        "\"meanResponseTime\": {\"ok\": 5, \"ko\": 5}",
        "\"meanNumberOfRequestsPerSecond\": {\"ok\": 5.5, \"ko\": 0.5}",
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
    crate::imports::import("gatling", bytes)
}
