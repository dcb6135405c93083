//! Pressure stall information (Documentation/accounting/psi.rst).

/// Time lost to waiting for a resource, in microseconds since boot or since the
/// group was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pressure {
    /// At least one task waited.
    pub some_us: u64,
    /// Every task waited; kernels before 5.13 do not report it for the CPU.
    pub full_us: Option<u64>,
}

impl Pressure {
    /// Parses a pressure file.
    pub fn parse(text: &str) -> Option<Self> {
        let total = |kind: &str| {
            let line = text.lines().find(|line| line.split_whitespace().next() == Some(kind))?;
            line.split_whitespace().find_map(|field| field.strip_prefix("total="))
        };
        let full_us = match total("full") {
            Some(text) => Some(text.parse().ok()?),
            None => None,
        };
        Some(Self { some_us: total("some")?.parse().ok()?, full_us })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_hostile_text_is_refused() {
        let some = "some avg10=0.00 avg60=0.00 avg300=0.04 total=6822583\n";
        let full = "full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n";
        let parsed = Pressure::parse(&format!("{some}{full}"));
        assert_eq!(parsed, Some(Pressure { some_us: 6_822_583, full_us: Some(12) }));
        assert_eq!(Pressure::parse(some), Some(Pressure { some_us: 6_822_583, full_us: None }));
        for bad in [
            "",
            full,
            "some avg10=0.00\n",
            "some total=x\n",
            "some total=-1\n",
            "somewhat total=1\n",
        ] {
            assert_eq!(Pressure::parse(bad), None, "{bad:?}");
        }
        assert_eq!(Pressure::parse(&format!("{some}full total=?\n")), None);
    }
}
