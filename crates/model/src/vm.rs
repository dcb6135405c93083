//! What a plan says about the virtual machines it runs in.

use crate::CpuList;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Settings of the `vm` venue that are the same for every boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmSettings {
    /// What executes the guest's instructions.
    pub accelerator: Accelerator,
    /// Memory of the guest, bytes.
    pub memory_bytes: u64,
    /// Host CPUs the machine's threads may use; all where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_cpus: Option<CpuList>,
    /// Extra disks, in order: `vda`, `vdb`, … and `nullb0`, `nullb1`, ….
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<Disk>,
    /// A boot that takes longer is ended and tried again.
    pub boot_timeout_ns: u64,
    /// Whether clock source, autogroup, preemption model and mitigations are made
    /// the same for all kernels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_equalised: bool,
    /// Whether every sitting starts from the same saved state instead of sharing a boot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_from_snapshot: bool,
    /// Whether instructions are counted, so that the same seed gives the same bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_deterministic: bool,
    /// Further kernel modules with their arguments, as written: `null_blk gb=1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// Files of the host that are copied into the guest at the same path, programs with their libraries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Installed packages of the host whose files make the read-only tools image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Whether a second guest stands beside each: a workload's far side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_peer: bool,
}

impl VmSettings {
    /// What the boot of a guest takes: 3 to 6 s were measured under emulation (ADR 0011).
    const BOOT_EXPECTED_NS: u64 = 6_000_000_000;

    /// Memory that a guest may have: a Debian kernel with our initramfs does not unpack in less.
    pub const MEMORY: RangeInclusive<u64> = (128 << 20)..=(1 << 40);

    /// What a boot takes, for estimates: one guest after the other.
    pub fn boot_expected_ns(&self) -> u64 {
        Self::BOOT_EXPECTED_NS * if self.has_peer { 2 } else { 1 }
    }
}

impl Default for VmSettings {
    fn default() -> Self {
        Self {
            accelerator: Accelerator::Auto,
            // It holds the workloads of every suite (measured, ADR 0011).
            memory_bytes: 512 << 20,
            host_cpus: None,
            disks: Vec::new(),
            // Boots take 3 to 6 s; on a loaded machine 14 s were seen.
            boot_timeout_ns: 60_000_000_000,
            is_equalised: false,
            is_from_snapshot: false,
            is_deterministic: false,
            modules: Vec::new(),
            files: Vec::new(),
            tools: Vec::new(),
            has_peer: false,
        }
    }
}

/// What executes a guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accelerator {
    /// KVM where it boots, emulation otherwise.
    Auto,
    /// The processor itself (KVM), or nothing.
    Kvm,
    /// Emulation (QEMU's TCG): every figure is that of an emulated processor.
    Tcg,
}

/// An extra disk of the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disk {
    /// A virtio disk, backed by host memory that is given back at the end.
    VirtioBlk {
        /// Its size in bytes.
        size_bytes: u64,
    },
    /// The kernel's null block device, inside the guest.
    NullBlk {
        /// Its size in bytes, whole gibibytes.
        size_bytes: u64,
        /// Time that each request takes.
        completion_ns: u64,
    },
}
