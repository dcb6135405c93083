//! Durations, sizes, percentages and counts: one spelling per value.

use super::{OwnTarget, Reaction, on_text};
use model::{format_duration, format_size, parse_count, parse_duration, parse_percent, parse_size};

pub const TARGET: OwnTarget = OwnTarget {
    name: "quantity",
    words: &["ns", "us", "ms", "s", "m", "h", "k", "M", "G", "B", "%", ".", "-", "0.75ms", "4G"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let duration = parse_duration(text).ok();
        if let Some(duration_ns) = duration {
            assert_eq!(parse_duration(&format_duration(duration_ns)), Ok(duration_ns));
        }
        let size = parse_size(text).ok();
        if let Some(bytes) = size {
            assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }
        let percent = parse_percent(text).ok();
        assert!(percent.is_none_or(f64::is_finite), "a percentage is a number");
        let count = parse_count(text).ok();
        let is_accepted =
            duration.is_some() || size.is_some() || percent.is_some() || count.is_some();
        if is_accepted { Reaction::Accepted } else { Reaction::Refused }
    })
}
