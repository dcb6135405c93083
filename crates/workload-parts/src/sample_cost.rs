//! What one latency sample costs: the price of our own measuring.

use model::Histogram;
use std::hint::black_box;

/// The time, in nanoseconds, that one latency sample costs: a reading of the
/// clock, a difference and a record, as every timed loop here does it. The
/// best of several batches, because anything else that runs only adds to it.
pub fn sample_cost() -> f64 {
    const BATCHES: u32 = 50;
    const SAMPLES: u32 = 20_000;
    let mut histogram = Histogram::new();
    let mut best_ns = u64::MAX;
    for _ in 0..BATCHES {
        let start_ns = sys::monotonic_ns();
        let mut before_ns = start_ns;
        for _ in 0..SAMPLES {
            let now_ns = sys::monotonic_ns();
            histogram.record(black_box(now_ns - before_ns));
            before_ns = now_ns;
        }
        best_ns = best_ns.min(before_ns - start_ns);
    }
    black_box(histogram.count());
    best_ns as f64 / f64::from(SAMPLES)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_sample_has_a_cost() {
        let cost_ns = super::sample_cost();
        assert!(cost_ns.is_finite() && cost_ns > 0.0, "{cost_ns}");
    }
}
