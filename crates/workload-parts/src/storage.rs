//! What the I/O workloads share: where their files and devices lie, memory that
//! O_DIRECT accepts, a pattern that gives wrong blocks away, and empty caches.

pub mod buffer;
pub mod caches;
pub mod data_location;
pub mod direct;
pub mod fairness;
pub mod free_space;
pub mod identity;
pub mod limits;
pub mod pattern;
pub mod priority;
pub mod target;
pub mod transfer;

/// The margin of what a disk decides (docs/method.md#m-margin): runs of one device differ by
/// a tenth (measured with fio and iozone on a virtual disk: CV 10 to 27 %).
pub const MARGIN: f64 = 0.10;
/// Bytes that an ordinary device moves in a second: for the estimate of a run's length, where
/// nothing is known of the device.
const ASSUMED_RATE: u64 = 200 << 20;

/// The time that so many bytes are expected to take.
pub fn expected_ns(bytes: u64) -> u64 {
    let ns = u128::from(bytes) * 1_000_000_000 / u128::from(ASSUMED_RATE);
    u64::try_from(ns).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_number_of_bytes_is_too_large_for_an_estimate() {
        assert_eq!(super::expected_ns(100 << 20), 500_000_000);
        assert_eq!(super::expected_ns(u64::MAX), u64::MAX);
    }
}
