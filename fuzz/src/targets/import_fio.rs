//! JSON of fio: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-fio",
    words: &[
        "\"jobs\": [",
        "{\"jobname\": \"a\"",
        "\"groupid\": 1",
        "\"error\": 5",
        "\"read\": {",
        "\"write\": {",
        "\"total_ios\": 9",
        "\"iops\": 1",
        "\"bw\": 1",
        "\"bw_bytes\": 1",
        "\"clat_ns\": {",
        "\"lat_ns\": {",
        "\"bins\": {\"5\": 500}",
        "\"percentile\": {\"99.000000\": 5}",
        "\"N\": 5000",
        "\"job options\": {\"rw\": \"randrw\"}",
        "\"rate_process\"",
        "fio: \n",
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
    crate::imports::import("fio", bytes)
}
