//! The longest wait of each of many busy loops.

use crate::spinners::Spinners;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
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

impl Seen {
    /// A gap ends now. Only what is later than this counts.
    fn look(&mut self, since: Instant) {
        let now = Instant::now();
        self.longest = self.longest.max(now - self.last.max(since));
        self.last = now;
    }
}

/// Gaps between a loop's own looks at the clock: it was waiting then. They count from when
/// all loops run: those that are forked go before others.
pub fn measure(tasks: usize, length: Duration) -> Result<Value, String> {
    let all_run = Arc::new(OnceLock::new());
    let since = Arc::clone(&all_run);
    let look = move |seen: &mut Seen| match since.get() {
        Some(since) => seen.look(*since),
        None => seen.last = Instant::now(),
    };
    let last_look = look.clone();
    let loops = Spinners::start(&vec![0; tasks], look, move |mut seen: Seen| {
        // One that still waits when the end comes has waited until then.
        last_look(&mut seen);
        seen.longest.as_nanos() as u64
    })?;
    all_run.get_or_init(Instant::now);
    std::thread::sleep(length);
    let longest = loops.end()?;
    let most = longest.iter().max().copied().unwrap_or_default();
    let least = longest.iter().min().copied().unwrap_or_default();
    Ok(json!({ "tasks": tasks, "longest_ns": most, "shortest_longest_ns": least }))
}
