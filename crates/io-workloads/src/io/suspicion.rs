//! Rates that no device of its kind has: then the memory of a host answered.

use super::operation::Operation;

/// More than any single device moves: four lanes of PCI Express 6.0 carry 32 GB/s in theory,
/// and what lies below one in a machine is slower.
const FASTEST_DEVICE: f64 = 30.0 * (1_u64 << 30) as f64;
/// More than a rotational disk moves: those with two sets of heads read some 550 MB/s.
const FASTEST_ROTATING: f64 = (1_u64 << 30) as f64;
/// A device that has no memory for it does not read again so many times as fast.
const MUCH_FASTER: f64 = 3.0;

/// What direct transfers tell against the device, given the bytes per second of each operation.
pub(super) fn suspicions(rates: &[(Operation, f64)], is_rotating: bool) -> Vec<String> {
    let mut details = Vec::new();
    let rate = |wanted| rates.iter().find(|(operation, _)| *operation == wanted);
    if let (Some((_, read)), Some((_, reread))) = (rate(Operation::Read), rate(Operation::Reread))
        && *reread > MUCH_FASTER * read
    {
        details.push(format!(
            "direct reads took {} at first and {} again",
            mib(*read),
            mib(*reread)
        ));
    }
    let (limit, what) = if is_rotating {
        (FASTEST_ROTATING, "a rotational disk")
    } else {
        (FASTEST_DEVICE, "a device")
    };
    let reads = rates.iter().filter(|(operation, _)| !operation.is_write());
    let fastest = reads.max_by(|(_, one), (_, other)| one.total_cmp(other));
    if let Some((operation, rate)) = fastest
        && *rate > limit
    {
        details.push(format!(
            "{} moved {}, which is more than {what} can ({})",
            operation.name(),
            mib(*rate),
            mib(limit)
        ));
    }
    details
}

fn mib(rate: f64) -> String {
    format!("{:.0} MiB/s", rate / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    fn reasons(rates: &[(Operation, f64)], is_rotating: bool) -> String {
        suspicions(rates, is_rotating).join("; ")
    }

    #[test]
    fn reads_that_are_much_faster_the_second_time_are_suspected() {
        let rates = |again: f64| [(Operation::Read, 100.0 * MIB), (Operation::Reread, again * MIB)];
        assert_eq!(reasons(&rates(299.0), false), "");
        let why = "direct reads took 100 MiB/s at first and 301 MiB/s again";
        assert_eq!(reasons(&rates(301.0), false), why);
    }

    #[test]
    fn the_limit_of_a_rate_is_that_of_its_kind_of_device_and_writes_have_none() {
        let read = |mib: f64| [(Operation::RandomRead, mib * MIB)];
        assert_eq!(reasons(&read(1000.0), true), "");
        let why =
            "random_read moved 1100 MiB/s, which is more than a rotational disk can (1024 MiB/s)";
        assert_eq!(reasons(&read(1100.0), true), why);
        assert_eq!(reasons(&read(1100.0), false), "");
        assert!(reasons(&read(31_000.0), false).contains("more than a device can"));
        // A device may take writes into a memory of its own.
        assert_eq!(reasons(&[(Operation::Write, 40_000.0 * MIB)], true), "");
    }
}
