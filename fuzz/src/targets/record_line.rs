//! A line of `records.jsonl`: what is read is written so that it reads the same.

use super::{OwnTarget, Reaction};
use model::Record;

pub const TARGET: OwnTarget = OwnTarget {
    name: "record-line",
    words: &[
        "\"format\"",
        "schedlab.record/1",
        "\"kind\"",
        "\"completed\"",
        "\"hdr\"",
        "null",
        "1e308",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let record = serde_json::from_slice::<Record>(bytes).ok();
    if let Some(record) = &record {
        let text = serde_json::to_vec(record).unwrap_or_default();
        assert_eq!(serde_json::from_slice::<Record>(&text).ok().as_ref(), Some(record));
    }
    Reaction::of(record.as_ref())
}
