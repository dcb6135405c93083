//! How long `schedlab list` takes.

use crate::Bar;
use crate::binary::Binary;

const RUNS: usize = 11;
const LONGEST_MS: f64 = 50.0;

pub fn bar(binary: &Binary) -> Result<Bar, String> {
    let mut lengths = Vec::with_capacity(RUNS);
    for _ in 0..binary.amount(RUNS, 1) {
        let start_ns = sys::monotonic_ns();
        binary.output(&["list"])?;
        lengths.push((sys::monotonic_ns() - start_ns) as f64 / 1e6);
    }
    let middle = stats::median(&lengths).ok_or("nothing was timed")?;
    Ok(Bar {
        name: "schedlab list, median of 11",
        measured: format!("{middle:.1} ms"),
        limit: format!("{LONGEST_MS} ms"),
        holds: middle < LONGEST_MS,
    })
}
