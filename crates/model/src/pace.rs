//! When the blocks of a soak campaign begin.

use crate::quantity::format_duration;
use serde::{Deserialize, Serialize};

/// How long a campaign goes on, and how often a block of it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// How long it was declared to go on.
    pub duration_ns: u64,
    /// From the beginning of a block to that of the next; 0 where they follow each other
    /// without a pause.
    pub every_ns: u64,
}

impl Pace {
    /// A time as an experiment has it, in the largest unit that divides it: `24h`, `90min`.
    pub fn words(time_ns: u64) -> String {
        const MINUTE_NS: u64 = 60_000_000_000;
        const UNITS: [(u64, &str); 2] = [(60 * MINUTE_NS, "h"), (MINUTE_NS, "min")];
        let divides = |(unit_ns, _): &&(u64, &str)| time_ns > 0 && time_ns.is_multiple_of(*unit_ns);
        UNITS.iter().find(divides).map_or_else(
            || format_duration(time_ns),
            |(unit_ns, name)| format!("{}{name}", time_ns / unit_ns),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_duration;

    #[test]
    fn a_time_is_said_as_it_is_written() {
        for text in ["24h", "1h", "90min", "5min", "45s", "90s", "100ms", "0.5s"] {
            let time_ns = parse_duration(text).unwrap();
            assert_eq!(parse_duration(&Pace::words(time_ns)).unwrap(), time_ns, "{text}");
        }
        let said = [86_400, 5_400, 90].map(|seconds| Pace::words(seconds * 1_000_000_000));
        assert_eq!(said, ["24h", "90min", "90s"]);
    }
}
