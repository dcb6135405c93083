//! JSON of hyperfine: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-hyperfine",
    words: &[
        "\"results\": [",
        "\"command\": \"x\"",
        "\"mean\": 1",
        "\"times\": [1, 2]",
        "\"exit_codes\": [0, 1]",
        "\"parameters\": {\"n\": \"1\"}",
        "subject = \"n\"",
        "subject = \"file\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        "null",
        "\n----\n",
        "-1",
        "1e308",
        "1e-400",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    crate::imports::import("hyperfine", bytes)
}
