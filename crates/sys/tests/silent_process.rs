//! A process that shows its environment to nobody: it maps a file of a file system of its own (FUSE)
//! that never answers, and so has its memory locked. Root alone can make one here.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};
use rustix::process::{Pid, Signal, WaitOptions, geteuid, kill_process, waitpid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::Machine;
use tempfile::TempDir;

const DEVICE: &str = "/dev/fuse";
const STRANGER: u32 = 65_534;
/// How long the scan waits for one process (`environments::PATIENCE`).
const PATIENCE: Duration = Duration::from_secs(2);
/// Longer than anything takes here on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

/// Requests, and what flags of answers say (include/uapi/linux/fuse.h, Linux 6.12).
const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const READ: u32 = 15;
const RELEASE: u32 = 18;
const INIT: u32 = 26;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;
const FUSE_ASYNC_READ: u32 = 1;
const FOPEN_DIRECT_IO: u32 = 1;
const FOPEN_KEEP_CACHE: u32 = 2;
/// Numbers of the directory and of the one file in it.
const ROOT_NODE: u64 = 1;
const FILE_NODE: u64 = 2;
const PAGE_BYTES: u32 = 4096;
/// Before an answer: its length, an error and the number of the request.
const HEAD_BYTES: usize = 16;
/// More than a request takes that writes nothing.
const LONGEST_REQUEST: usize = 64 << 10;

/// A file system with one file that is never read, and a process that waits for it with its memory
/// locked. Both are gone when this is.
struct SilentProcess {
    directory: TempDir,
    answering: Option<JoinHandle<()>>,
    pid: Option<Pid>,
}

impl SilentProcess {
    /// Mounts it where this thread alone sees it, and starts the process of another user.
    fn start() -> io::Result<Self> {
        let alone = UnshareFlags::NEWNS | UnshareFlags::FS;
        // SAFETY: this thread shares no descriptors less than before, only its mounts, umask and
        // working directory become its own.
        unsafe { unshare_unsafe(alone) }?;
        mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let directory = tempfile::tempdir()?;
        let device = File::options().read(true).write(true).open(DEVICE)?;
        let number = device.as_raw_fd();
        let options = CString::new(format!("fd={number},rootmode=40000,user_id=0,group_id=0"))?;
        let safe = MountFlags::NOSUID | MountFlags::NODEV;
        mount(c"schedlab-test", directory.path(), c"fuse", safe, options.as_c_str())?;
        let answering = std::thread::spawn(move || answer_all(&device));
        let mut silent = Self { directory, answering: Some(answering), pid: None };
        let path = CString::new(silent.directory.path().join("file").as_os_str().as_bytes())?;
        // SAFETY: the child makes system calls and takes no memory.
        silent.pid = match unsafe { libc::fork() } {
            0 => hold_memory(number, &path),
            child if child > 0 => Pid::from_raw(child),
            _ => return Err(io::Error::last_os_error()),
        };
        Ok(silent)
    }

    fn pid(&self) -> i32 {
        self.pid.map_or(0, |pid| pid.as_raw_nonzero().get())
    }

    /// Whether it has its memory locked by now; false where this kernel let it go on.
    fn is_silent(&self, machine: &Machine) -> bool {
        let began = Instant::now();
        while began.elapsed() < LONGEST {
            match machine.running_stat(self.pid()).map(|stat| stat.state) {
                // It becomes the stranger right before it maps the file.
                Some('D') if machine.user_of_process(self.pid()) == Some(STRANGER) => return true,
                Some('Z') | None => return false,
                Some(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        false
    }
}

impl Drop for SilentProcess {
    fn drop(&mut self) {
        // Ends what waits for an answer, by an error, and then the thread that answers.
        let _ = unmount(self.directory.path(), UnmountFlags::FORCE | UnmountFlags::DETACH);
        if let Some(pid) = self.pid {
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
        let _ = self.answering.take().map(JoinHandle::join);
    }
}

/// The process: the page that it asks for stays locked until it is read, and the second opening is of a
/// kind for which a mapping drops what is cached (`fuse_file_mmap` of fs/fuse/file.c), and so waits for
/// that page with the memory of the process locked.
fn hold_memory(device: i32, path: &CStr) -> ! {
    let length = PAGE_BYTES as libc::size_t;
    let user = libc::c_long::from(STRANGER);
    // SAFETY: system calls alone, of one thread, on a descriptor and a path that are there; the mapping
    // is a new one.
    unsafe {
        libc::close(device);
        let first = libc::open(path.as_ptr(), libc::O_RDONLY);
        libc::posix_fadvise(first, 0, libc::off_t::from(PAGE_BYTES), libc::POSIX_FADV_WILLNEED);
        let second = libc::open(path.as_ptr(), libc::O_RDONLY);
        libc::syscall(libc::SYS_setresuid, user, user, user);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
        let anywhere = std::ptr::null_mut();
        libc::mmap(anywhere, length, libc::PROT_READ, libc::MAP_PRIVATE, second, 0);
        libc::_exit(0)
    }
}

/// Answers what it takes to open the file, until the file system is gone.
fn answer_all(mut device: &File) {
    let (mut request, mut opened) = (vec![0; LONGEST_REQUEST], 0);
    loop {
        let read = match device.read(&mut request) {
            Ok(length) => &request[..length],
            // A request that was taken back meanwhile (ENOENT), or a signal.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => {
                continue;
            }
            Err(_) => return,
        };
        let short = |at: usize| u32::from_ne_bytes(read[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_ne_bytes(read[at..at + 8].try_into().unwrap());
        let (opcode, unique, node) = (short(4), long(8), long(16));
        opened += u32::from(opcode == OPEN);
        let (error, body) = match answer(opcode, node, opened) {
            None => continue,
            Some(Ok(body)) => (0, body),
            Some(Err(number)) => (-number, Vec::new()),
        };
        let length = u32::try_from(HEAD_BYTES + body.len()).unwrap().to_ne_bytes();
        let head = [&length[..], &i32::to_ne_bytes(error), &unique.to_ne_bytes()].concat();
        // A request that was taken back has nobody to be answered.
        let _ = device.write_all(&[head, body].concat());
    }
}

/// What is answered to a request: a body or an error, or nothing.
fn answer(opcode: u32, node: u64, opened: u32) -> Option<Result<Vec<u8>, i32>> {
    let long = |all: &[u64]| -> Vec<u8> { all.iter().flat_map(|one| one.to_ne_bytes()).collect() };
    let short = |all: &[u32]| -> Vec<u8> { all.iter().flat_map(|one| one.to_ne_bytes()).collect() };
    let attributes = |node: u64| {
        let mode = if node == ROOT_NODE { libc::S_IFDIR | 0o755 } else { libc::S_IFREG | 0o644 };
        let times_and_owner = [0, 0, 0, mode, 1, 0, 0, 0, PAGE_BYTES, 0];
        [long(&[node, u64::from(PAGE_BYTES), 1, 0, 0, 0]), short(&times_and_owner)].concat()
    };
    let direct = if opened > 1 { FOPEN_DIRECT_IO } else { 0 };
    Some(Ok(match opcode {
        FORGET | BATCH_FORGET | INTERRUPT | READ => return None,
        // Version 7.31, and how much may be read and written at once.
        INIT => {
            short(&[7, 31, 1 << 16, FUSE_ASYNC_READ, 0, PAGE_BYTES, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        }
        LOOKUP => {
            [long(&[FILE_NODE, 0, 3600, 3600]), short(&[0, 0]), attributes(FILE_NODE)].concat()
        }
        GETATTR => [long(&[3600]), short(&[0, 0]), attributes(node)].concat(),
        OPEN => [long(&[1]), short(&[FOPEN_KEEP_CACHE | direct, 0])].concat(),
        RELEASE => Vec::new(),
        _ => return Some(Err(libc::ENOSYS)),
    }))
}

/// A process of a mark; ended when this is dropped.
struct Marked(Child);

impl Drop for Marked {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_whose_memory_is_locked_by_its_own_file_system_stops_no_search_for_marks() {
    if !geteuid().is_root() || !Path::new(DEVICE).exists() {
        testing::skip("only root mounts a file system of its own, and needs /dev/fuse for it");
        return;
    }
    // Others that search meanwhile wait for it, too, and tell of it.
    let _machine = testing::lock(testing::MACHINE);
    let silent = match SilentProcess::start() {
        Ok(silent) => silent,
        Err(error) => {
            testing::skip(&format!("a file system cannot be mounted here: {error}"));
            return;
        }
    };
    let machine = Machine::host("/nonexistent");
    if !silent.is_silent(&machine) {
        testing::unsupported("a file system of its own locks no memory of a process");
        return;
    }
    let mark = format!("SCHEDLAB_TEST_MARK={}", std::process::id());
    let (name, value) = mark.split_once('=').unwrap();
    let mut command = Command::new("/bin/sleep");
    command.arg("600").env(name, value).uid(STRANGER);
    let marked = Marked(command.spawn().unwrap());
    let search = || {
        let began = Instant::now();
        let found = machine.marked_processes(&mark).unwrap();
        let pids: Vec<i32> = found.into_iter().map(|process| process.pid).collect();
        assert_eq!(pids, [marked.0.id().cast_signed()]);
        began.elapsed()
    };
    let took = search();
    assert!((PATIENCE..LONGEST).contains(&took), "{took:?}");
    let told = machine.unseen_environments().unwrap();
    assert!(told.contains(&format!("process {}", silent.pid())), "{told}");
    // It is not asked a second time.
    let took = search();
    assert!(took < PATIENCE, "{took:?}");
    assert!(machine.live_process(silent.pid()).is_some(), "it still waits");
}
