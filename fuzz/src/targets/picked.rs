//! What a program printed, read by pattern, pointer and column. The first line
//! of the input says how, the rest is the output.

use super::{OwnTarget, Reaction, on_text};
use std::collections::BTreeMap;

pub const TARGET: OwnTarget = OwnTarget {
    name: "picked",
    words: &[
        "regex ([\\d.]+) ops\n",
        "json /a/0\n",
        "csv b\n",
        "{\"a\": [1, \"2\"]}",
        "a,b\n1,2\n",
        "1e308",
        "NaN",
        "inf",
        "-1",
        "\"",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let Some((how, output)) = text.split_once('\n') else { return Reaction::Refused };
        let Some((finder, argument)) = how.split_once(' ') else { return Reaction::Refused };
        let keys: BTreeMap<String, String> =
            [(finder, argument), ("direction", "lower"), ("unit", "us")]
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect();
        let values = workload_parts::extraction::pick("figure", &keys, output, "").ok();
        if let Some(values) = &values {
            assert!(!values.is_empty(), "nothing found is not a figure");
            assert!(values.iter().all(|value| value.is_finite() && *value >= 0.0), "{values:?}");
        }
        Reaction::of(values.as_ref())
    })
}
