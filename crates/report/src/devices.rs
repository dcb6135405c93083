//! What the records show of the devices that trials wrote to.
//!
//! A name and a model tell a device that is made of software; that one is real is shown by a model
//! on a machine that is no virtual one, for a hypervisor may give any name to what it makes up.

use crate::observed::fact;
use crate::view::Report;
use std::collections::BTreeSet;

/// The factor that places what trials write.
const TARGET: &str = "target";
/// Where no device serves a target, and where a fact was there and is gone.
const NAMELESS: [&str; 2] = ["none", "absent"];
/// Drivers without a disk of their own, by the names of their devices
/// (Documentation/admin-guide/devices.txt; drivers/block of 6.12): virtio, Xen, loop, memory,
/// network block devices, null_blk and ublk.
const VIRTUAL: [&str; 8] = ["vd", "xvd", "loop", "zram", "ram", "nbd", "nullb", "ublkb"];
/// Buses that disks are on: NVMe, SCSI with SATA and USB, old ATA, cards.
const BUSES: [&str; 4] = ["nvme", "sd", "hd", "mmcblk"];
/// What devices that are emulated, or made of files and memory, call themselves: QEMU, VirtualBox,
/// VMware, Hyper-V ("Virtual Disk"), scsi_debug, LIO and tgt.
const VIRTUAL_MODELS: [&str; 7] =
    ["qemu", "vbox", "virtual", "vmware", "scsi_debug", "ramdisk", "fileio"];

/// What records show of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeviceNature {
    /// A disk of a machine that is no virtual one.
    Real,
    /// Made of software, whatever is below it.
    Virtual,
    /// One or the other.
    Unknown,
}

/// Of a device with this name and model, on a machine of which this is known.
fn nature(name: &str, model: Option<&str>, is_virtual_machine: Option<bool>) -> DeviceNature {
    let model = model.map(str::to_lowercase);
    let is_of = |known: &[&str]| known.iter().any(|prefix| name.starts_with(prefix));
    let is_made_up = |model: &String| VIRTUAL_MODELS.iter().any(|known| model.contains(known));
    if is_of(&VIRTUAL) || model.as_ref().is_some_and(is_made_up) {
        DeviceNature::Virtual
    } else if is_of(&BUSES) && model.is_some() && is_virtual_machine == Some(false) {
        DeviceNature::Real
    } else {
        DeviceNature::Unknown
    }
}

/// The devices that trials may have written to, each once, by name: of trials with a target its own
/// (`records.fingerprint_difference[target.device]`), of others that of the directory they work in
/// (`environment[storage.device]`, or what trials had in its place).
pub(crate) fn devices(report: &Report) -> BTreeSet<(String, DeviceNature)> {
    let is_virtual_machine = match fact(report, "machine.is_virtual") {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    let of_directory = fact(report, "storage.device");
    let model = |name: &str| {
        // What trials had in place of the campaign's is known by name alone.
        let is_one = !report.differences.contains_key("storage.model");
        fact(report, "storage.model").filter(|_| is_one && of_directory == Some(name))
    };
    let has_directory = report.subjects.iter().any(|subject| !subject.levels.contains_key(TARGET));
    let mut names: BTreeSet<&str> = BTreeSet::new();
    if has_directory {
        names.extend(of_directory);
        names.extend(differing(report, "storage.device"));
    }
    names.extend(differing(report, "target.device"));
    names
        .into_iter()
        .map(|name| (name.to_owned(), nature(name, model(name), is_virtual_machine)))
        .collect()
}

/// Whether this stands where no device has a name.
pub(crate) fn is_nameless(name: &str) -> bool {
    NAMELESS.contains(&name)
}

/// Why the memory of a host may answer in place of a device: of the directory, or of a target.
pub(crate) fn cached_by(report: &Report) -> Option<&str> {
    fact(report, "storage.cached_by")
        .into_iter()
        .chain(differing(report, "storage.cached_by"))
        .chain(differing(report, "target.cached_by"))
        .find(|why| !is_nameless(why))
}

/// What trials had of a fact where it was not what the campaign began with.
fn differing<'r>(report: &'r Report, key: &str) -> impl Iterator<Item = &'r str> {
    report.differences.get(key).into_iter().flat_map(|of_subjects| {
        of_subjects.values().flat_map(|values| values.iter().map(String::as_str))
    })
}

#[cfg(test)]
mod tests {
    use super::{DeviceNature, nature};

    #[test]
    fn a_device_is_real_only_by_bus_model_and_machine_together() {
        use DeviceNature::{Real, Unknown, Virtual};
        for (name, model, is_virtual_machine, expected) in [
            ("nvme0n1", Some("Samsung SSD 980"), Some(false), Real),
            ("sda", Some("ST4000DM004-2CV1"), Some(false), Real),
            ("nvme0n1", Some("Samsung SSD 980"), Some(true), Unknown),
            ("nvme0n1", Some("Samsung SSD 980"), None, Unknown),
            ("nvme0n1", None, Some(false), Unknown),
            ("dm-0", None, Some(false), Unknown),
            ("md0", None, Some(false), Unknown),
            ("sda", Some("QEMU HARDDISK"), Some(false), Virtual),
            ("sda", Some("Virtual Disk"), Some(true), Virtual),
            ("sdb", Some("scsi_debug"), Some(false), Virtual),
            ("vda", None, Some(false), Virtual),
            ("xvda", None, None, Virtual),
            ("loop3", None, Some(false), Virtual),
            ("ram0", None, Some(false), Virtual),
            ("zram0", None, Some(false), Virtual),
            ("nbd0", None, Some(false), Virtual),
            ("nullb1", None, Some(false), Virtual),
        ] {
            let found = nature(name, model, is_virtual_machine);
            assert_eq!(found, expected, "{name} {model:?} {is_virtual_machine:?}");
        }
    }
}
