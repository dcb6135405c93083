//! A machine: where its files are, and the one way to read and write them.

use crate::environments::UnseenEnvironments;
use crate::fake_kernel::FakeKernel;
use crate::files::{FileAccess, Files};
use crate::host_files::HostFiles;
use crate::machine_error::MachineError;
use model::{CpuList, KernelVersion, StorageTarget};
use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The machine under test. Its kernel files lie under a root (`/` on the real
/// one) and its journal and lock under a runtime directory.
#[derive(Debug, Clone)]
pub struct Machine {
    root: PathBuf,
    runtime: PathBuf,
    search_path: String,
    target: Option<StorageTarget>,
    destroyable: Destroyable,
    fake: Option<FakeKernel>,
    files: Arc<dyn Files>,
    unseen: UnseenEnvironments,
}

/// Devices whose content may be lost.
#[derive(Debug, Clone)]
enum Destroyable {
    /// Those that their owner named.
    Devices(Vec<PathBuf>),
    /// All: the machine vanishes after its trials.
    All,
}

impl Machine {
    /// The machine this process runs on.
    pub fn host(runtime: impl Into<PathBuf>) -> Self {
        Self {
            root: PathBuf::from("/"),
            runtime: runtime.into(),
            search_path: String::new(),
            target: None,
            destroyable: Destroyable::Devices(Vec::new()),
            fake: None,
            files: Arc::new(HostFiles),
            unseen: UnseenEnvironments::default(),
        }
    }

    /// The same machine, whose files are these: a simulated one.
    #[must_use]
    pub fn with_files(self, files: Arc<dyn Files>) -> Self {
        Self { files, ..self }
    }

    /// Processes whose environments are not known.
    pub(crate) fn unseen(&self) -> &UnseenEnvironments {
        &self.unseen
    }

    /// What reads and writes its files.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    /// The same machine, on which the files and devices of workloads lie there: what knobs
    /// of block devices speak of.
    #[must_use]
    pub fn with_target(self, target: StorageTarget) -> Self {
        Self { target: Some(target), ..self }
    }

    /// The same machine, whose owner gives up what is on these devices.
    #[must_use]
    pub fn with_destroyable(self, devices: Vec<PathBuf>) -> Self {
        Self { destroyable: Destroyable::Devices(devices), ..self }
    }

    /// The same machine, which vanishes after its trials with everything on its disks.
    #[must_use]
    pub fn thrown_away(self) -> Self {
        Self { destroyable: Destroyable::All, ..self }
    }

    /// Whether it vanishes after its trials.
    pub fn is_throw_away(&self) -> bool {
        matches!(self.destroyable, Destroyable::All)
    }

    /// Whether what is on this device may be lost.
    pub fn may_destroy(&self, device: &Path) -> bool {
        let same = |other: &PathBuf| {
            other == device
                || matches!((fs::canonicalize(other), fs::canonicalize(device)), (Ok(a), Ok(b)) if a == b)
        };
        match &self.destroyable {
            Destroyable::All => true,
            Destroyable::Devices(devices) => devices.iter().any(same),
        }
    }

    /// Where the files and devices of workloads lie, where that is known.
    pub fn target(&self) -> Option<&StorageTarget> {
        self.target.as_ref()
    }

    /// The same machine, looking for programs along `path` (the text of PATH).
    #[must_use]
    pub fn with_search_path(self, path: impl Into<String>) -> Self {
        Self { search_path: path.into(), ..self }
    }

    /// The text of PATH.
    pub fn search_path(&self) -> &str {
        &self.search_path
    }

    /// A machine made of files below `root`, behaving as `root/kernel-rules.json` says.
    /// System calls still reach the real kernel.
    ///
    /// # Errors
    /// When the rules cannot be read.
    pub fn fake(
        root: impl Into<PathBuf>,
        runtime: impl Into<PathBuf>,
    ) -> Result<Self, MachineError> {
        let root = root.into();
        let fake = FakeKernel::load(&root)?;
        let runtime = runtime.into();
        Ok(Self { root, fake: Some(fake), ..Self::host(runtime) })
    }

    /// Whether this is a machine of files, or a simulated one, rather than the real one.
    pub fn is_fake(&self) -> bool {
        self.fake.is_some() || !self.files.has_processes()
    }

    /// The root below which the kernel's files lie.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the journal and the lock live.
    pub fn runtime(&self) -> &Path {
        &self.runtime
    }

    /// An absolute kernel path (`/proc/…`, `/sys/…`) below the root.
    pub fn path(&self, absolute: &str) -> PathBuf {
        self.root.join(absolute.trim_start_matches('/'))
    }

    /// Whether the file or directory exists.
    pub fn exists(&self, absolute: &str) -> bool {
        self.files.exists(&self.path(absolute))
    }

    /// The file's text.
    ///
    /// # Errors
    /// When it cannot be read, or is not UTF-8.
    pub fn read(&self, absolute: &str) -> Result<String, MachineError> {
        String::from_utf8(self.read_bytes(absolute)?).map_err(|error| MachineError {
            action: "read",
            path: self.path(absolute),
            source: io::Error::new(io::ErrorKind::InvalidData, error),
        })
    }

    /// The file's text, of which what is no UTF-8 is replaced: names of tasks and of control groups
    /// are whatever their makers chose, and hide nothing else that the file tells.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_with_names(&self, absolute: &str) -> Result<String, MachineError> {
        Ok(String::from_utf8_lossy(&self.read_bytes(absolute)?).into_owned())
    }

    fn read_bytes(&self, absolute: &str) -> Result<Vec<u8>, MachineError> {
        let path = self.path(absolute);
        let fail = |source| MachineError { action: "read", path: path.clone(), source };
        if let Some(fake) = &self.fake {
            fake.check_open(absolute).map_err(fail)?;
        }
        let mut bytes = Vec::new();
        let opened = self.files.open(&path, FileAccess::Read);
        opened.and_then(|mut file| file.read_to_end(&mut bytes)).map_err(fail)?;
        Ok(bytes)
    }

    /// Writes `value` to a kernel file in one write(2).
    ///
    /// # Errors
    /// When the kernel refuses to open the file, or refuses the value.
    pub fn write(&self, absolute: &str, value: &str) -> Result<(), MachineError> {
        let path = self.path(absolute);
        if let Some(fake) = &self.fake {
            let fail = |source| MachineError { action: "write", path: path.clone(), source };
            return fake.write(&path, absolute, value).map_err(fail);
        }
        let open = |source| MachineError { action: "open for writing", path: path.clone(), source };
        let mut file = self.files.open(&path, FileAccess::Write).map_err(open)?;
        file.write_all(value.as_bytes()).map_err(|source| MachineError {
            action: "write",
            path,
            source,
        })
    }

    /// Opens the file for writing and closes it again: the only honest test of
    /// whether it may be written, and one that changes nothing.
    ///
    /// # Errors
    /// What the kernel answers to open(2).
    pub fn check_writable(&self, absolute: &str) -> Result<(), MachineError> {
        let path = self.path(absolute);
        let fail = |source| MachineError { action: "open for writing", path: path.clone(), source };
        if let Some(fake) = &self.fake {
            fake.check_open(absolute).map_err(fail)?;
        }
        fs::OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map(drop)
            .map_err(fail)
    }

    /// Whether entries may be made in a directory, as access(2) answers for this
    /// process; changes nothing.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn check_directory_writable(&self, absolute: &str) -> Result<(), MachineError> {
        let path = self.path(absolute);
        let fail = |source| MachineError { action: "make an entry in", path: path.clone(), source };
        if let Some(fake) = &self.fake {
            fake.check_open(absolute).map_err(fail)?;
        }
        let wanted = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(&path, wanted).map_err(|error| fail(error.into()))
    }

    /// Names in a directory, sorted; empty where it does not exist.
    ///
    /// # Errors
    /// When the directory exists but cannot be listed.
    pub fn list(&self, absolute: &str) -> Result<Vec<String>, MachineError> {
        let path = self.path(absolute);
        let fail = |source| MachineError { action: "list", path: path.clone(), source };
        let names = match self.files.names(&path) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut names: Vec<String> =
            names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// A point at which a crash must lose nothing. On a fake machine this is
    /// where tests kill the process; on the real one it does nothing.
    pub fn crash_point(&self) {
        if let Some(fake) = &self.fake {
            fake.step();
        }
    }

    /// Whether the journal may grow. A fake machine may say no, so that tests see
    /// what a full file system does; on the real one the write itself tells.
    ///
    /// # Errors
    /// ENOSPC.
    pub fn check_space(&self) -> io::Result<()> {
        self.fake.as_ref().map_or(Ok(()), FakeKernel::check_space)
    }

    /// `/proc/sys/kernel/osrelease`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn kernel_release(&self) -> Result<String, MachineError> {
        Ok(self.read("/proc/sys/kernel/osrelease")?.trim().to_owned())
    }

    /// The running kernel's version.
    ///
    /// # Errors
    /// When the release cannot be read or is not a version.
    pub fn kernel_version(&self) -> Result<KernelVersion, MachineError> {
        self.kernel_release()?.parse().map_err(|error| MachineError {
            action: "understand",
            path: self.path("/proc/sys/kernel/osrelease"),
            source: io::Error::new(io::ErrorKind::InvalidData, format!("{error}")),
        })
    }

    /// The id of this boot: the only sound answer to "was there a reboot".
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn boot_id(&self) -> Result<String, MachineError> {
        Ok(self.read("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
    }

    /// The CPUs online.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn online_cpus(&self) -> Result<CpuList, MachineError> {
        self.cpu_list("/sys/devices/system/cpu/online")
    }

    /// The CPUs present, online or not.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn present_cpus(&self) -> Result<CpuList, MachineError> {
        self.cpu_list("/sys/devices/system/cpu/present")
    }

    /// How often CPUs were throttled for heat since boot: the sum over CPUs of
    /// core_throttle_count (arch/x86/kernel/cpu/mce/therm_throt.c, 6.12); `None` where the
    /// machine does not tell.
    pub fn throttle_count(&self) -> Option<u64> {
        let mut sum = None;
        for cpu in self.present_cpus().ok()?.iter() {
            let name = "thermal_throttle/core_throttle_count";
            let text = self.read(&format!("/sys/devices/system/cpu/cpu{cpu}/{name}"));
            if let Some(count) = text.ok().and_then(|text| text.trim().parse::<u64>().ok()) {
                *sum.get_or_insert(0) += count;
            }
        }
        sum
    }

    fn cpu_list(&self, absolute: &str) -> Result<CpuList, MachineError> {
        let text = self.read(absolute)?;
        text.parse().map_err(|error| MachineError {
            action: "understand",
            path: self.path(absolute),
            source: io::Error::new(io::ErrorKind::InvalidData, format!("{error}")),
        })
    }

    /// Whether this process is root.
    pub fn is_root(&self) -> bool {
        rustix::process::geteuid().is_root()
    }

    /// Where a program is found on the search path; a name with a slash is a path.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return is_executable(Path::new(name)).then(|| PathBuf::from(name));
        }
        self.search_path
            .split(':')
            .filter(|directory| !directory.is_empty())
            .map(|directory| Path::new(directory).join(name))
            .find(|candidate| is_executable(candidate))
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(text) = CString::new(path.as_os_str().as_bytes()) else { return false };
    path.is_file() && rustix::fs::access(text.as_c_str(), rustix::fs::Access::EXEC_OK).is_ok()
}
