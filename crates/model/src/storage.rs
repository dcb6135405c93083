//! Where a trial's files and devices lie.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What an I/O workload reads and writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageTarget {
    /// What it is.
    pub kind: StorageKind,
    /// The directory that files are made in, or the device node.
    pub path: String,
    /// The kernel's name of the block device whose queue serves it (`loop3`, `vda`); none
    /// where the file system has no such device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Bytes that may be used; 0 where only the file system knows.
    #[serde(default)]
    pub size_bytes: u64,
    /// Whether it was made for the trial and goes with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_made: bool,
    /// Why its answers may come from the memory of a host rather than from a device, where
    /// that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_by: Option<String>,
    /// Of a device: a process that opens it for writing makes sure that it is still this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<DeviceIdentity>,
}

/// What tells a block device from another one that takes its name later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// Its number (`st_rdev`).
    pub number: u64,
    /// The kernel's number of this disk and medium, used once in a boot; none before 5.15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
}

/// Kinds of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorageKind {
    /// New files in a directory.
    Directory,
    /// A whole block device, made for the trial or given up by its owner.
    Device,
}

/// Class and level of I/O priority (ioprio_set(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoPriority {
    /// Served first; 0 is the highest of 8 levels.
    RealTime(u8),
    /// The default class; 0 is the highest of 8 levels.
    BestEffort(u8),
    /// Served when nobody else asks.
    Idle,
}

impl fmt::Display for IoPriority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IoPriority::RealTime(level) => write!(formatter, "rt:{level}"),
            IoPriority::BestEffort(level) => write!(formatter, "be:{level}"),
            IoPriority::Idle => formatter.write_str("idle"),
        }
    }
}

impl FromStr for IoPriority {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("`{text}` is not be:0 to be:7, rt:0 to rt:7 or idle");
        if text == "idle" {
            return Ok(IoPriority::Idle);
        }
        let (class, level) = text.split_once(':').ok_or_else(wrong)?;
        let level: u8 = level.parse().ok().filter(|level| *level < 8).ok_or_else(wrong)?;
        match class {
            "be" => Ok(IoPriority::BestEffort(level)),
            "rt" => Ok(IoPriority::RealTime(level)),
            _ => Err(wrong()),
        }
    }
}

/// Limits of a control group on one device; `None` is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimits {
    /// Bytes read in a second.
    pub read_bytes: Option<u64>,
    /// Bytes written in a second.
    pub write_bytes: Option<u64>,
    /// Reads in a second.
    pub reads: Option<u64>,
    /// Writes in a second.
    pub writes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_was_written_without_an_identity_is_still_read() {
        let old = r#"{"kind":"device","path":"/dev/sdb","device":"sdb","size_bytes":512}"#;
        let mut target: StorageTarget = serde_json::from_str(old).unwrap();
        assert_eq!(target.identity, None);
        assert_eq!(serde_json::to_string(&target).unwrap(), old);
        target.identity = Some(DeviceIdentity { number: 2064, sequence: Some(7) });
        let text = serde_json::to_string(&target).unwrap();
        assert_eq!(serde_json::from_str::<StorageTarget>(&text).unwrap(), target);
    }

    #[test]
    fn priorities_are_read_as_they_are_written_and_others_are_refused() {
        for text in ["idle", "be:0", "be:7", "rt:0", "rt:7"] {
            assert_eq!(text.parse::<IoPriority>().unwrap().to_string(), text);
        }
        for text in ["", "be", "be:8", "rt:-1", "fifo:1", "idle:0", "be:0:1"] {
            assert!(text.parse::<IoPriority>().unwrap_err().contains("be:0 to be:7"), "{text}");
        }
    }
}
