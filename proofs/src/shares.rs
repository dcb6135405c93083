//! Shares of one CPU by nice value.

use crate::spinners::Spinners;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Everybody has had several turns by then, and the start does not count.
const WARM_UP: Duration = Duration::from_secs(2);
const INTERVAL: Duration = Duration::from_millis(200);
/// Times as long as the CPU time takes on an idle CPU: then something else runs.
const LONGEST: u32 = 5;

/// The CPU time of each of eleven busy loops, until all have used `total` together.
pub fn measure(total: Duration) -> Result<Value, String> {
    let nices: Vec<i32> = (-5..=5).collect();
    let loops = Spinners::start(&nices, |count: &mut u64| *count += 1, |count| count)?;
    let times = || -> Result<Vec<Duration>, String> {
        loops.all.iter().map(|spinner| spinner.cpu_time()).collect()
    };
    std::thread::sleep(WARM_UP);
    let (began, before) = (Instant::now(), times()?);
    let after = loop {
        std::thread::sleep(INTERVAL);
        let now = times()?;
        let used: Duration = now.iter().zip(&before).map(|(now, before)| *now - *before).sum();
        if used >= total {
            break now;
        }
        if began.elapsed() > total * LONGEST {
            return Err(format!("the loops used {used:?} of CPU time in {:?}", began.elapsed()));
        }
    };
    let wall = began.elapsed();
    loops.end()?;
    let used = |index: usize| (after[index] - before[index]).as_nanos() as u64;
    let by_nice: Vec<Value> = nices
        .iter()
        .enumerate()
        .map(|(index, nice)| json!({ "nice": nice, "cpu_ns": used(index) }))
        .collect();
    Ok(json!({ "wall_ns": wall.as_nanos() as u64, "loops": by_nice }))
}
