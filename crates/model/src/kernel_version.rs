//! Kernel releases, compared by version.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::QuantityError;

/// `major.minor.patch` of a kernel release; what follows (`-amd64`, `-rc3`) is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KernelVersion {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number; 0 where the release names none.
    pub patch: u32,
}

impl KernelVersion {
    /// The first release of a `major.minor` series.
    pub const fn series(major: u32, minor: u32) -> Self {
        Self { major, minor, patch: 0 }
    }
}

impl FromStr for KernelVersion {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bad = || QuantityError::new("kernel release", text, "a release such as `6.12.3-amd64`");
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let mut numbers = text[..end].split('.').filter(|part| !part.is_empty());
        let mut next = || numbers.next().map(|part| part.parse::<u32>().map_err(|_| bad()));
        let major = next().ok_or_else(bad)??;
        let minor = next().ok_or_else(bad)??;
        let patch = next().unwrap_or(Ok(0))?;
        Ok(Self { major, minor, patch })
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_by_number_not_by_text() {
        let version = |text: &str| text.parse::<KernelVersion>().unwrap();
        assert!(version("6.2") < version("6.12.1-amd64"));
        assert_eq!(version("6.18.44-fc-v669"), KernelVersion { major: 6, minor: 18, patch: 44 });
        assert_eq!(version("7.0-rc3"), KernelVersion::series(7, 0));
        assert!("linux".parse::<KernelVersion>().is_err());
    }
}
