//! The first process of a guest. It mounts, loads modules, starts the agent, reaps, and
//! restarts the machine when the agent ends, which the emulator takes as switching off.
//!
//! It goes on where something fails: what could not be done is told to the host, and the
//! trial that needs it says so.

use crate::serve::{AGENT_ROLE, COMPLAINTS_FILE};
use contract::{
    HOST_LOAD_LINK, HOST_LOAD_NETWORK, LOG_VARIABLE, PEERS_LINK, PRIVATE_PREFIX, PrivateLink,
    SUBJECTS_LINK,
};
use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, mount};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::system::{RebootCommand, reboot};
use std::ffi::CString;
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use sys::Links;
use wire::{BY_SERIAL, GuestSettings, Mount, SETTINGS_FILE};

/// `init_module` flag: the kernel decompresses (include/uapi/linux/module.h, 5.17).
const MODULE_INIT_COMPRESSED_FILE: libc::c_int = 4;

/// Inherited by the agent: short of memory, the kernel kills the workload, which gives the
/// exemption up (proc(5)).
const OOM_SCORE: &str = "/proc/self/oom_score_adj";

/// Which controllers the root group's children have.
const SUBTREE_CONTROL: &str = "/sys/fs/cgroup/cgroup.subtree_control";

/// One directory for each link, its hardware address among the files.
const NETWORK_DEVICES: &str = "/sys/class/net";

/// The kernel's own file systems: source, target, type, data.
const KERNEL_MOUNTS: [(&str, &str, &str, &str); 11] = [
    ("devtmpfs", "/dev", "devtmpfs", ""),
    ("proc", "/proc", "proc", ""),
    ("sysfs", "/sys", "sysfs", ""),
    ("tmpfs", "/run", "tmpfs", "mode=755"),
    ("tmpfs", "/tmp", "tmpfs", "mode=1777"),
    ("tmpfs", "/dev/shm", "tmpfs", "mode=1777"),
    ("devpts", "/dev/pts", "devpts", "mode=620,ptmxmode=666"),
    ("debugfs", "/sys/kernel/debug", "debugfs", ""),
    ("tracefs", "/sys/kernel/tracing", "tracefs", ""),
    ("cgroup2", "/sys/fs/cgroup", "cgroup2", ""),
    ("bpf", "/sys/fs/bpf", "bpf", ""),
];

/// Serves as the first process; ends with the machine.
pub fn serve_init() -> i32 {
    let mut complaints = Vec::new();
    for (source, target, kind, options) in KERNEL_MOUNTS {
        if kind == "tmpfs" && holds_files(target) {
            continue;
        }
        let [source, target, kind, options] = [source, target, kind, options].map(str::to_owned);
        let mount = Mount { source, target, kind, options, is_read_only: false };
        mount_one(&mount, &mut complaints);
    }
    let settings = read_settings(&mut complaints);
    for (path, arguments) in &settings.modules {
        if let Err(error) = load_module(path, arguments) {
            complaints.push(format!("cannot load {path}: {error}"));
        }
    }
    for mount in &settings.mounts {
        mount_one(mount, &mut complaints);
    }
    enable(&settings.controllers, &mut complaints);
    prepare(&mut complaints);
    if let Err(error) = fs::write(OOM_SCORE, "-1000") {
        complaints.push(format!("cannot exempt the agent from being killed for memory: {error}"));
    }
    let text: String = complaints.iter().map(|line| format!("{line}\n")).collect();
    say(&text);
    if let Err(error) = fs::write(COMPLAINTS_FILE, &text) {
        say(&format!("cannot write {COMPLAINTS_FILE}: {error}\n"));
    }
    match run_agent(settings.directory.as_deref().unwrap_or(Path::new("/")), settings.log) {
        Ok(how) => say(&format!("the agent ended with {how}\n")),
        Err(error) => say(&format!("cannot start the agent: {error}\n")),
    }
    rustix::fs::sync();
    // The machine is started with -no-reboot: this ends it.
    let _ = reboot(RebootCommand::Restart);
    1
}

/// Whether the initramfs brought files here, which a mount would hide: a user's program may
/// lie in /tmp. The root is in memory as well.
fn holds_files(directory: &str) -> bool {
    fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
}

fn mount_one(entry: &Mount, complaints: &mut Vec<String>) {
    let flags = if entry.is_read_only { MountFlags::RDONLY } else { MountFlags::empty() };
    let mounted = device(&entry.source).and_then(|source| {
        fs::create_dir_all(&entry.target)?;
        let options = CString::new(entry.options.as_str())?;
        Ok(mount(source, &entry.target, &entry.kind, flags, options.as_c_str())?)
    });
    if let Err(error) = mounted {
        // An empty directory would pass for the disk.
        let _ = fs::remove_dir(&entry.target);
        complaints.push(format!("cannot mount {} at {}: {error}", entry.kind, entry.target));
    }
}

/// A device, found by its serial number where that is given.
fn device(source: &str) -> std::io::Result<String> {
    let Some(serial) = source.strip_prefix(BY_SERIAL) else { return Ok(source.to_owned()) };
    for entry in fs::read_dir("/sys/block")?.flatten() {
        let found = fs::read_to_string(entry.path().join("serial")).unwrap_or_default();
        if found.trim() == serial {
            return Ok(format!("/dev/{}", entry.file_name().to_string_lossy()));
        }
    }
    let why = format!("no disk has the serial number {serial}");
    Err(std::io::Error::new(std::io::ErrorKind::NotFound, why))
}

fn read_settings(complaints: &mut Vec<String>) -> GuestSettings {
    let text = fs::read(SETTINGS_FILE).map_err(|error| error.to_string());
    let settings =
        text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    settings.unwrap_or_else(|error| {
        complaints.push(format!("cannot read {SETTINGS_FILE}: {error}"));
        GuestSettings::default()
    })
}

fn load_module(path: &str, arguments: &str) -> std::io::Result<()> {
    let file = fs::File::open(path)?;
    let flags = if path.ends_with(".ko") { 0 } else { MODULE_INIT_COMPRESSED_FILE };
    let arguments = CString::new(arguments)?;
    // SAFETY: finit_module(2) reads the open file and a string that ends with a NUL.
    let answer = unsafe {
        libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), arguments.as_ptr(), flags)
    };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Gives groups of the first level their controllers (Documentation/admin-guide/cgroup-v2.rst).
fn enable(controllers: &[String], complaints: &mut Vec<String>) {
    for controller in controllers {
        if let Err(error) = fs::write(SUBTREE_CONTROL, format!("+{controller}")) {
            complaints.push(format!("cannot enable the controller {controller}: {error}"));
        }
    }
}

/// What a distribution's start does and programs rely on.
fn prepare(complaints: &mut Vec<String>) {
    if let Err(error) = rustix::system::sethostname(b"schedlab") {
        complaints.push(format!("cannot set the host name: {error}"));
    }
    set_links_up(complaints);
    // As systemd's defaults (src/basic/def.h, v252): 1024 soft, 512 Ki hard.
    let files = Rlimit { current: Some(1024), maximum: Some(512 << 10) };
    let locked = Rlimit { current: Some(8 << 20), maximum: Some(8 << 20) };
    for (resource, limit) in [(Resource::Nofile, files), (Resource::Memlock, locked)] {
        if let Err(error) = setrlimit(resource, limit) {
            complaints.push(format!("cannot set the limit {resource:?}: {error}"));
        }
    }
    for (link, target) in [
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
    ] {
        // One that exists already is as good.
        let _ = std::os::unix::fs::symlink(target, link);
    }
    let _ = fs::set_permissions("/tmp", fs::Permissions::from_mode(0o1777));
}

/// Sets the loopback link up, and with it those to a second guest and to the host, told by their
/// hardware addresses.
fn set_links_up(complaints: &mut Vec<String>) {
    if let Err(error) = Links::open().and_then(|links| links.set_up("lo", None, None)) {
        complaints.push(format!("cannot set the loopback link up: {error}"));
    }
    // A kernel without network devices has no such directory.
    for entry in fs::read_dir(NETWORK_DEVICES).into_iter().flatten().flatten() {
        let hardware_address = fs::read_to_string(entry.path().join("address")).unwrap_or_default();
        let ours = [
            (SUBJECTS_LINK, PRIVATE_PREFIX),
            (PEERS_LINK, PRIVATE_PREFIX),
            (HOST_LOAD_LINK, HOST_LOAD_NETWORK.1),
        ];
        let is_it = |link: &PrivateLink| link.hardware_address == hardware_address.trim();
        let Some((link, prefix)) = ours.into_iter().find(|(link, _)| is_it(link)) else {
            continue;
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        let address = Some((link.address, prefix));
        if let Err(error) = Links::open().and_then(|links| links.set_up(&name, address, None)) {
            complaints.push(format!("cannot set the link {name} up: {error}"));
        }
    }
}

/// Starts the agent in a directory and reaps until it ends; says how it ended.
fn run_agent(directory: &Path, log: Option<String>) -> std::io::Result<String> {
    let child = Command::new("/proc/self/exe")
        .arg(AGENT_ROLE)
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/root")
        .env("TERM", "linux")
        .envs(log.map(|filter| (LOG_VARIABLE, filter)))
        .current_dir(directory)
        .spawn()?;
    let agent = child.id().cast_signed();
    loop {
        let mut status = 0;
        // SAFETY: waitpid(2) writes one integer. Every child is this process's to reap.
        let pid = unsafe { libc::waitpid(-1, &mut status, 0) };
        if pid == agent {
            return Ok(std::os::unix::process::ExitStatusExt::from_raw(status))
                .map(|status: std::process::ExitStatus| status.to_string());
        }
        if pid < 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

/// A line on the console.
fn say(text: &str) {
    if text.is_empty() {
        return;
    }
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    if let Ok(console) = rustix::fs::open("/dev/console", flags, Mode::empty()) {
        let mut console = fs::File::from(console);
        for line in text.lines() {
            // There is nobody else to tell.
            let _ = writeln!(console, "schedlab: {line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_files_is_told_from_an_empty_one_and_from_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display().to_string();
        assert!(!holds_files(&path));
        assert!(!holds_files(&format!("{path}/none")));
        fs::write(directory.path().join("program"), "").unwrap();
        assert!(holds_files(&path));
    }
}
