//! Tables of comma-separated values, by a mapping: what is accepted is a campaign, and a refusal says why.

use super::{FuzzTarget, Reaction};

pub const TARGET: FuzzTarget = FuzzTarget {
    name: "import-csv",
    words: &[
        "subject = \"s\"",
        "parameters = [\"p\"]",
        "replicate = [\"r\"]",
        "block = \"b\"",
        "order = \"o\"",
        "metric = \"m\"",
        "unit = \"u\"",
        "direction = \"d\"",
        "values = [{column = \"v\", direction = \"lower\"}]",
        "primary = [\"v\"]",
        ";",
        "\"",
        ",",
        "\n",
        "\r\n",
        "\u{feff}",
        "\n----\n",
        "higher",
        "ms",
        "1e308",
        "NaN",
        "-1",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    crate::imports::import("csv", bytes)
}
