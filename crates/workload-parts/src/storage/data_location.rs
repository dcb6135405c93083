//! Where a workload's data lie: new files that nobody else sees, or a device.
//!
//! Files have no name from the moment they exist, so nothing is left of them
//! whatever ends the process. A device is opened exclusively and only its
//! contents are changed.

use super::identity;
use contract::{Error, ErrorKind, LaunchSpec, Result};
use model::{Caveat, CaveatCode, DeviceIdentity, StorageKind, format_size};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

/// Alignment of memory and of offsets where the kernel does not tell (before 6.1): memory that
/// every device accepts, and the least that any does; the transfer itself shows the rest.
const COMMON_ALIGNMENT: (u32, u32) = (4096, 512);

/// What is known beforehand to answer from the memory of a host.
pub fn host_cache(launch: &LaunchSpec) -> Option<Caveat> {
    let why = launch.target.as_ref()?.cached_by.clone()?;
    Some(Caveat::new(CaveatCode::HostCacheSuspected, why))
}

/// Where regions are made.
#[derive(Debug)]
pub struct DataLocation {
    path: PathBuf,
    claim: Option<Claim>,
}

/// A device that nobody else can claim while this lives.
#[derive(Debug)]
struct Claim {
    identity: DeviceIdentity,
    _device: OwnedFd,
}

/// What one thread reads and writes.
#[derive(Debug, Clone)]
pub struct Region {
    /// The file or device.
    pub file: Arc<OwnedFd>,
    /// Where it begins in it.
    pub start: u64,
    /// Alignment of memory that O_DIRECT asks for.
    pub memory_alignment: usize,
}

impl DataLocation {
    /// The launch's target, or its scratch directory, for `regions` regions of `size` bytes.
    ///
    /// # Errors
    /// When the target is too small, is not what it is said to be, or is in use.
    pub fn open(launch: &LaunchSpec, regions: u64, size: u64) -> Result<Self> {
        let Some(target) = &launch.target else {
            return Ok(Self { path: launch.scratch.clone(), claim: None });
        };
        let needed = regions.saturating_mul(size);
        let path = PathBuf::from(&target.path);
        if target.size_bytes > 0 && needed > target.size_bytes {
            return Err(too_small(&target.path, needed, target.size_bytes));
        }
        let claim = match target.kind {
            StorageKind::Directory => None,
            StorageKind::Device => Some(claim_device(&target.path, target.identity, needed)?),
        };
        Ok(Self { path, claim })
    }

    /// Whether regions are parts of one device.
    pub fn is_device(&self) -> bool {
        self.claim.is_some()
    }

    /// The nth region of `size` bytes, for transfers of `record` bytes: a new, empty file, or
    /// that part of the device.
    ///
    /// # Errors
    /// When no file can be made, or O_DIRECT cannot do such transfers.
    pub fn region(&self, index: u64, size: u64, record: u64, is_direct: bool) -> Result<Region> {
        let path = self.path.display().to_string();
        let (file, start) = match &self.claim {
            Some(claim) => {
                // A description of its own, because O_DIRECT belongs to that.
                let flags = OFlags::RDWR | OFlags::CLOEXEC;
                let file = rustix::fs::open(&self.path, flags, Mode::empty());
                let refused = |error| Error::environment(format!("cannot open {path}"), error);
                let file = file.map_err(refused)?;
                identity::check(&file, claim.identity, &path)?;
                (file, index * size)
            }
            None => (self.new_file()?, 0),
        };
        let mut memory_alignment = 0;
        if is_direct {
            set_direct(&file).map_err(|error| no_direct(&path, error))?;
            memory_alignment = self.check_alignment(&file, record)?;
        }
        Ok(Region { file: Arc::new(file), start, memory_alignment })
    }

    /// A file without a name.
    fn new_file(&self) -> Result<OwnedFd> {
        let attempted = || format!("cannot make a file in {}", self.path.display());
        let remedy = "choose a directory that can be written to, on a file system with free space";
        let refused = |error| Error::new(ErrorKind::Environment, attempted(), error, remedy);
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        match rustix::fs::open(&self.path, flags | OFlags::TMPFILE, mode) {
            // File systems without O_TMPFILE; EISDIR comes from kernels before 3.11.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                self.unlinked_file(flags, mode).map_err(refused)
            }
            other => other.map_err(refused),
        }
    }

    /// A file that loses its name at once.
    fn unlinked_file(&self, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        let number = rustix::process::getpid().as_raw_nonzero().get();
        for attempt in 0..1000 {
            let path = self.path.join(format!("schedlab-io-{number}-{attempt}"));
            match rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, mode) {
                Err(Errno::EXIST) => {}
                other => {
                    let file = other?;
                    rustix::fs::unlink(&path)?;
                    return Ok(file);
                }
            }
        }
        Err(Errno::EXIST)
    }

    /// The alignment of memory, where transfers of `record` bytes are aligned.
    fn check_alignment(&self, file: &OwnedFd, record: u64) -> Result<usize> {
        let path = self.path.display().to_string();
        let answer = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)
            .ok()
            .filter(|answer| answer.stx_mask & StatxFlags::DIOALIGN.bits() != 0);
        let (memory, offset) = match answer {
            Some(answer) if answer.stx_dio_offset_align == 0 => {
                return Err(no_direct(&path, Errno::INVAL));
            }
            Some(answer) => (answer.stx_dio_mem_align, answer.stx_dio_offset_align),
            None => COMMON_ALIGNMENT,
        };
        let alignment = u64::from(offset);
        if !record.is_multiple_of(alignment) {
            return Err(Error::usage(
                format!("cannot use O_DIRECT with a record of {}", format_size(record)),
                format!("{path} asks for multiples of {}", format_size(alignment)),
                format!(
                    "make record a multiple of {}, or set direct = false",
                    format_size(alignment)
                ),
            ));
        }
        Ok(memory as usize)
    }
}

/// Whether O_DIRECT is in force on this descriptor.
///
/// # Errors
/// What the kernel answers.
pub fn is_direct(file: &OwnedFd) -> rustix::io::Result<bool> {
    Ok(rustix::fs::fcntl_getfl(file)?.contains(OFlags::DIRECT))
}

fn set_direct(file: &OwnedFd) -> rustix::io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT)
}

fn no_direct(path: &str, error: Errno) -> Error {
    if error != Errno::INVAL {
        return Error::environment(format!("cannot use O_DIRECT in {path}"), error);
    }
    Error::unsupported(
        format!("cannot use O_DIRECT in {path}"),
        "this file system cannot do O_DIRECT",
        "use direct = false, or a loop device on a disk: target = \"loop:SIZE:/DIRECTORY\"",
    )
}

fn too_small(path: &str, needed: u64, available: u64) -> Error {
    Error::usage(
        format!("cannot use {path}"),
        format!("{} are needed and it has {}", format_size(needed), format_size(available)),
        "make size smaller, use fewer threads, or a larger target",
    )
}

/// The device, exclusively, where it is the one that is wanted and has room for what is needed.
fn claim_device(path: &str, wanted: Option<DeviceIdentity>, needed: u64) -> Result<Claim> {
    let attempted = || format!("cannot open the device {path}");
    // O_EXCL without O_CREAT refuses a block device that is mounted or part of another (open(2)).
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::BUSY => Error::new(
            ErrorKind::Environment,
            attempted(),
            "it is in use: mounted, or part of another device",
            "choose a device that nobody uses; its contents are overwritten",
        ),
        Errno::ACCESS | Errno::PERM => {
            Error::unsupported(attempted(), error, "run as root, or use a directory")
        }
        _ => Error::new(ErrorKind::Environment, attempted(), error, "choose a block device"),
    })?;
    let failed = |error: Errno| Error::environment(attempted(), error);
    let status = rustix::fs::fstat(&file).map_err(failed)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::BlockDevice {
        return Err(Error::usage(
            attempted(),
            "it is no block device",
            "name a block device, or give the target as a directory",
        ));
    }
    if let Some(wanted) = wanted {
        identity::check(&file, wanted, path)?;
    }
    let identity =
        sys::device_identity(&file).map_err(|error| Error::environment(attempted(), error))?;
    let available = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).map_err(failed)?;
    if needed > available {
        return Err(too_small(path, needed, available));
    }
    Ok(Claim { identity, _device: file })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(path: &str) -> Error {
        let target = model::StorageTarget {
            kind: StorageKind::Device,
            path: path.to_owned(),
            device: None,
            size_bytes: 0,
            is_made: false,
            cached_by: None,
            identity: None,
        };
        let launch = LaunchSpec { target: Some(target), ..LaunchSpec::default() };
        DataLocation::open(&launch, 1, 4096).unwrap_err()
    }

    #[test]
    fn what_is_no_block_device_is_refused_and_left_alone() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "precious").unwrap();
        for path in [file.path().to_str().unwrap(), "/dev/null"] {
            assert!(device(path).to_string().contains("no block device"));
        }
        assert_eq!(std::fs::read(file.path()).unwrap(), b"precious");
        assert!(device("/no/such/device").to_string().contains("/no/such/device"));
    }

    #[test]
    fn a_file_has_no_name_with_and_without_o_tmpfile() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let launch = LaunchSpec { scratch: directory.path().to_owned(), ..LaunchSpec::default() };
        let place = DataLocation::open(&launch, 2, 4096).unwrap();
        let first = place.new_file().unwrap();
        let second =
            place.unlinked_file(OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR).unwrap();
        for file in [first, second] {
            assert_eq!(rustix::fs::fstat(&file).unwrap().st_nlink, 0);
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let direct = place.region(0, 4096, 4096, true).unwrap();
        assert!(is_direct(&direct.file).unwrap());
        let Err(error) = place.region(0, 4096, 100, true) else { panic!("100 bytes") };
        assert!(error.to_string().contains("asks for multiples"), "{error}");
    }
}
