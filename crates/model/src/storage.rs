//! Where a trial's files and devices lie.

use serde::{Deserialize, Serialize};

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
