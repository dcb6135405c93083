//! Whether what a workload lays out fits where it will lie, asked before anything runs.

use contract::Requirement;
use model::{StorageKind, StorageTarget, format_size};
use std::path::Path;

/// The target, where it is known before a run, has room for `regions` files or parts of a
/// device, of `size` bytes each.
pub fn requirement(regions: u64, size: u64) -> Requirement {
    let needed = regions.saturating_mul(size);
    let what = format!("room for {} where files of workloads lie", format_size(needed));
    Requirement::check(what, move |machine| {
        let target = machine.target();
        let Some((target, there)) = target.and_then(|target| Some((target, bytes_of(target)?)))
        else {
            return Ok(());
        };
        if needed <= there {
            return Ok(());
        }
        // Free space in bytes says no more and is hard to read.
        let there = format_size(if there >> 20 == 0 { there } else { there >> 20 << 20 });
        let (whose, remedy) = match target.kind {
            StorageKind::Directory => (target.path.as_str(), "make space, choose another target"),
            StorageKind::Device => ("the target's device", "choose a larger target"),
        };
        Err((format!("{whose} has {there}"), format!("{remedy}, or ask for less: size")))
    })
}

/// Bytes that may be used; none where nobody knows yet.
fn bytes_of(target: &StorageTarget) -> Option<u64> {
    let allowed = Some(target.size_bytes).filter(|bytes| *bytes > 0);
    let free = match target.kind {
        StorageKind::Directory => sys::free_bytes(Path::new(&target.path)),
        StorageKind::Device => None,
    };
    allowed.into_iter().chain(free).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::Machine;

    fn lack(kind: StorageKind, path: &str, size_bytes: u64) -> Option<(String, String)> {
        let path = path.to_owned();
        let target = StorageTarget {
            kind,
            path,
            device: None,
            size_bytes,
            is_made: false,
            cached_by: None,
            identity: None,
        };
        let machine = Machine::host("/nonexistent").with_target(target);
        let lack = requirement(4, 1 << 20).met(&machine).err()?;
        assert_eq!(lack.what, "room for 4M where files of workloads lie");
        Some((lack.why, lack.remedy))
    }

    #[test]
    fn a_device_that_is_too_small_is_told_before_it_exists() {
        assert_eq!(lack(StorageKind::Device, "", 4 << 20), None);
        let (why, remedy) = lack(StorageKind::Device, "", (4 << 20) - 512).unwrap();
        assert_eq!(why, "the target's device has 3M");
        assert_eq!(remedy, "choose a larger target, or ask for less: size");
    }

    #[test]
    fn a_directory_has_what_its_file_system_has() {
        let here = env!("CARGO_MANIFEST_DIR");
        assert_eq!(lack(StorageKind::Directory, here, 0), None);
        let (why, remedy) = lack(StorageKind::Directory, here, 1000).unwrap();
        assert_eq!(why, format!("{here} has 1000B"));
        assert!(remedy.starts_with("make space"), "{remedy}");
        // procfs does not say how much room it has.
        assert_eq!(lack(StorageKind::Directory, "/proc", 0), None);
    }

    #[test]
    fn what_nobody_knows_yet_is_no_lack() {
        assert_eq!(lack(StorageKind::Device, "", 0), None);
        assert_eq!(lack(StorageKind::Directory, "/no/such/directory", 0), None);
        assert_eq!(requirement(4, 1 << 20).met(&Machine::host("/nonexistent")), Ok(()));
    }
}
