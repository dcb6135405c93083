//! iozone's text and binary report, and tables and workbooks of its numbers: what is
//! accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-iozone",
    words: &[
        "\tIozone: Performance Test of File I/O\n",
        "OPS Mode.",
        "Output is in kBytes/sec\n",
        "\tThroughput test with 2 processes\n",
        "\tEach process writes a 64 kByte file in 8 kByte records\n",
        "\tChildren see throughput for  2 random readers = 5.00 kB/sec\n",
        "\tMin throughput per process = 0.00 kB/sec\n",
        "\tMin xfer = 64.00 kB\n",
        "kB  reclen   write rewrite    read    reread    read   write    read  rewrite     read\n",
        "\"  Initial write \"  5.00\n",
        "\"Throughput report",
        "iozone test complete.\n",
        "operation,record,run 1,run 2,mean\n",
        "read,8k,1,2,1.5\n",
        "\t",
        ",",
        "16m",
        "0",
        "nan",
        "\x09\0\x04\0\x02\0\x10\0",
        "\x0a\0\0\0",
        "\x03\0\x0f\0",
        "PK\x03\x04",
        "\n----\n",
        "-1",
        "1e308",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    crate::imports::import("iozone", bytes)
}
