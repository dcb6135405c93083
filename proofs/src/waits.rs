//! The longest wait of each of many busy loops.

use crate::spinners::Spinners;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time a loop saw last, and the longest it did not see any.
struct Seen {
    last: Instant,
    longest: Duration,
}

impl Default for Seen {
    fn default() -> Self {
        Self { last: Instant::now(), longest: Duration::ZERO }
    }
}

/// Gaps between a loop's own looks at the clock: it was waiting then.
pub fn measure(tasks: usize, length: Duration) -> Result<Value, String> {
    let look = |seen: &mut Seen| {
        let now = Instant::now();
        seen.longest = seen.longest.max(now - seen.last);
        seen.last = now;
    };
    // One that still waits when the end comes has waited until then.
    let loops = Spinners::start(&vec![0; tasks], look, |seen: Seen| {
        seen.longest.max(seen.last.elapsed()).as_nanos() as u64
    })?;
    std::thread::sleep(length);
    let longest = loops.end()?;
    let most = longest.iter().max().copied().unwrap_or_default();
    let least = longest.iter().min().copied().unwrap_or_default();
    Ok(json!({ "tasks": tasks, "longest_ns": most, "shortest_longest_ns": least }))
}
