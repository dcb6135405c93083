//! One QEMU process: its command line, its descriptors, its end.
//!
//! Everything it reads or writes is an open descriptor of ours (initramfs and disks in
//! memory, sockets in pairs), so that nothing is left on disk whatever ends us. It dies
//! with the thread that started it, and carries the guardian's mark.

use super::cable::CableEnd;
use super::control::Control;
use super::host_load_channel::HostLoadChannel;
use super::scratch::OPERATIONS_PER_SECOND;
use contract::{
    Error, HOST_LOAD_HOST, HOST_LOAD_LINK, HOST_LOAD_NETWORK, HOST_LOAD_PORT, PrivateLink, Result,
    Topology,
};
use executor::HostLoadProcess;
use model::CpuList;
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The program, from Debian's package qemu-system-x86.
pub(crate) const PROGRAM: &str = "qemu-system-x86_64";
/// Serial numbers by which a guest finds disks of ours.
pub(crate) const TOOLS_SERIAL: &str = "tools";
pub(crate) const FILES_SERIAL: &str = "files";
pub(crate) const SCRATCH_SERIAL: &str = "scratch";
/// The name by which the agent finds its channel.
const PORT: &str = "schedlab";
/// How long a machine may take to switch off by itself.
const OFF_PATIENCE: Duration = Duration::from_secs(10);

/// What executes instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The processor.
    Kvm,
    /// Emulation.
    Tcg,
    /// Emulation that counts instructions as time.
    Counting {
        /// Seed of whatever QEMU draws.
        seed: u64,
    },
}

impl Engine {
    /// As it stands in fingerprints.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Engine::Kvm => "kvm",
            Engine::Tcg => "tcg",
            Engine::Counting { .. } => "tcg, instructions counted",
        }
    }
}

/// How a machine is started.
pub(crate) struct MachineOrder<'a> {
    pub program: &'a Path,
    pub engine: Engine,
    pub kernel: &'a File,
    pub initramfs: &'a File,
    pub command_line: &'a str,
    pub memory_bytes: u64,
    pub topology: Topology,
    pub host_cpus: Option<&'a CpuList>,
    /// Disks in memory, in order.
    pub disks: &'a [File],
    /// Read-only disks: of tools, and of the user's files.
    pub tools: Option<&'a Path>,
    pub files: Option<&'a File>,
    /// The disk that workloads write to.
    pub scratch: Option<&'a File>,
    /// Its end of a cable to another machine.
    pub cable: Option<&'a CableEnd>,
    /// The way to it of load from this host.
    pub from_host: Option<&'a HostLoadChannel>,
    /// Where the guest's console goes.
    pub console: &'a File,
    /// Where the guest's answers go instead of the channel, when nothing may come in.
    pub answers: Option<&'a File>,
    /// State to start from instead of booting.
    pub incoming: Option<&'a File>,
    /// `NAME=value` for the environment.
    pub mark: &'a str,
    /// Where QEMU's own complaints go.
    pub log: &'a File,
}

/// A running machine.
pub(crate) struct Qemu {
    child: Child,
    /// The channel to the agent.
    pub channel: UnixStream,
    /// QEMU's own control channel.
    pub control: Control,
    /// The disk it writes to, where it has one.
    pub scratch: Option<File>,
    /// The load generator on this host.
    pub host_load: Option<HostLoadProcess>,
}

impl Qemu {
    /// Starts a machine.
    ///
    /// # Errors
    /// When QEMU cannot be started.
    pub(crate) fn start(order: &MachineOrder<'_>) -> Result<Self> {
        let attempted = format!("cannot start {}", order.program.display());
        let fail = |error: std::io::Error| Error::environment(attempted.clone(), error);
        let (channel, guests_channel) = pair().map_err(fail)?;
        let (control, qemus_control) = pair().map_err(fail)?;
        let mut passed = Passed::default();
        let words = words(order, &guests_channel, &qemus_control, &mut passed);
        let (name, value) = order.mark.split_once('=').unwrap_or((order.mark, ""));
        let error_output = order.log.try_clone().map_err(fail)?;
        let mut command = Command::new(order.program);
        command
            .args(&words)
            .env(name, value)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(error_output);
        let parent = std::process::id().cast_signed();
        let cpus = order.host_cpus.map(cpu_set);
        // SAFETY: fcntl(2), prctl(2), getppid(2) and sched_setaffinity(2) are
        // async-signal-safe; the descriptors are open for the whole call to spawn.
        unsafe {
            command.pre_exec(move || {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                let is_orphan = rustix::process::getppid()
                    .is_none_or(|pid| pid.as_raw_nonzero().get() != parent);
                if is_orphan {
                    return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
                }
                if let Some(cpus) = &cpus {
                    rustix::thread::sched_setaffinity(None, cpus)?;
                }
                for descriptor in &passed.0 {
                    let descriptor = BorrowedFd::borrow_raw(*descriptor);
                    let flags = fcntl_getfd(descriptor)?;
                    fcntl_setfd(descriptor, flags.difference(FdFlags::CLOEXEC))?;
                }
                Ok(())
            });
        }
        let child = command.spawn().map_err(fail)?;
        tracing::debug!(pid = child.id(), ?command, "QEMU was started");
        Ok(Self { child, channel, control: Control::new(control), scratch: None, host_load: None })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Why nobody sends load to it any more, where somebody did.
    pub(crate) fn why_sender_lost(&mut self) -> Option<String> {
        let how = self.host_load.as_mut()?.ended()?;
        Some(format!("the generator on the host was lost: it ended with {how}"))
    }

    /// Whether somebody sends load to it.
    pub(crate) fn has_sender(&self) -> bool {
        self.host_load.is_some()
    }

    /// Waits for a machine that was told to switch off; ends it where it does not.
    pub(crate) fn wait_off(mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + OFF_PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // One that ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Descriptors that QEMU inherits under their own numbers.
#[derive(Default)]
struct Passed(Vec<RawFd>);

impl Passed {
    fn number(&mut self, descriptor: &impl AsRawFd) -> RawFd {
        let number = descriptor.as_raw_fd();
        self.0.push(number);
        number
    }

    /// A path by which QEMU opens the file anew.
    fn path(&mut self, file: &File) -> String {
        format!("/proc/self/fd/{}", self.number(file))
    }
}

/// Two connected sockets: ours, and one to be inherited.
///
/// # Errors
/// When this process has no more descriptors.
pub(crate) fn pair() -> std::io::Result<(UnixStream, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    Ok((UnixStream::from(ours), theirs))
}

fn cpu_set(cpus: &CpuList) -> rustix::thread::CpuSet {
    let mut set = rustix::thread::CpuSet::new();
    for cpu in cpus.iter() {
        set.set(cpu);
    }
    set
}

/// The command line. Flags and their reasons are in ADR 0011.
fn words(
    order: &MachineOrder<'_>,
    channel: &OwnedFd,
    control: &OwnedFd,
    passed: &mut Passed,
) -> Vec<String> {
    let mut words = Words(Vec::new());
    words.flag("-nodefaults").flag("-no-user-config").flag("-no-reboot");
    words.pair("-display", "none").pair("-machine", "pc");
    engine(order.engine, &mut words);
    words.pair("-m", format!("{}M", order.memory_bytes >> 20));
    processors(order, &mut words);
    let console = passed.path(order.console);
    words.pair("-chardev", format!("file,id=console,path={console},append=on"));
    words.pair("-serial", "chardev:console");
    if let Some(answers) = order.answers {
        let answers = passed.path(answers);
        words.pair("-chardev", format!("file,id=answers,path={answers}"));
        words.pair("-serial", "chardev:answers");
    } else {
        let channel = passed.number(channel);
        words.pair("-device", "virtio-serial-pci");
        words.pair("-chardev", format!("socket,id=channel,fd={channel}"));
        words.pair("-device", format!("virtserialport,chardev=channel,name={PORT}"));
    }
    let control = passed.number(control);
    words.pair("-chardev", format!("socket,id=control,fd={control}"));
    words.pair("-mon", "chardev=control,mode=control");
    for (number, file) in order.disks.iter().enumerate() {
        let path = passed.path(file);
        disk(&mut words, &format!("disk{number}"), &path, false);
    }
    // Behind the user's own, which are vda and so on; guests find these by their serial.
    if let Some(tools) = order.tools {
        disk(&mut words, TOOLS_SERIAL, &tools.display().to_string(), true);
    }
    if let Some(files) = order.files {
        let path = passed.path(files);
        disk(&mut words, FILES_SERIAL, &path, true);
    }
    if let Some(scratch) = order.scratch {
        let path = passed.path(scratch);
        slow_disk(&mut words, SCRATCH_SERIAL, &path);
    }
    if let Some(CableEnd { link, socket, .. }) = order.cable {
        let (socket, address) = (passed.number(socket), link.hardware_address);
        words.pair("-netdev", format!("socket,id=cable,fd={socket}"));
        // Without the image of a program that boots from the network.
        words.pair("-device", format!("virtio-net-pci,netdev=cable,mac={address},romfile="));
    }
    if let Some(way) = order.from_host {
        from_host(&mut words, way, passed.number(&way.port));
    }
    words.pair("-kernel", passed.path(order.kernel));
    words.pair("-initrd", passed.path(order.initramfs));
    words.pair("-append", order.command_line);
    if let Some(state) = order.incoming {
        words.pair("-incoming", format!("fd:{}", passed.number(state)));
    }
    words.0
}

/// A network of the guest and us alone, in which nothing leads out of the guest (`restrict`) but
/// answers to connections from the host, and the serial port by which load is asked for.
fn from_host(words: &mut Words, way: &HostLoadChannel, port: RawFd) {
    let (network, length) = HOST_LOAD_NETWORK;
    let PrivateLink { hardware_address, address } = HOST_LOAD_LINK;
    let mut network = format!(
        "user,id=outside,ipv6=off,restrict=on,net={network}/{length},host={HOST_LOAD_HOST}"
    );
    for (port, at) in &way.addresses {
        network.push_str(&format!(",hostfwd=tcp:{at}-{address}:{port}"));
    }
    words.pair("-netdev", network);
    let device = format!("virtio-net-pci,netdev=outside,mac={hardware_address},romfile=");
    words.pair("-device", device);
    words.pair("-chardev", format!("socket,id=outside-port,fd={port}"));
    words.pair("-device", format!("virtserialport,chardev=outside-port,name={HOST_LOAD_PORT}"));
}

struct Words(Vec<String>);

impl Words {
    fn flag(&mut self, flag: &str) -> &mut Self {
        self.0.push(flag.to_owned());
        self
    }

    fn pair(&mut self, flag: &str, value: impl Into<String>) -> &mut Self {
        self.0.extend([flag.to_owned(), value.into()]);
        self
    }
}

fn engine(engine: Engine, words: &mut Words) {
    match engine {
        Engine::Kvm => words.pair("-accel", "kvm").pair("-cpu", "host"),
        Engine::Tcg => words.pair("-accel", "tcg,thread=multi").pair("-cpu", "max"),
        // Together these give identical bytes (measured, ADR 0011).
        Engine::Counting { seed } => words
            .pair("-accel", "tcg,thread=single")
            .pair("-cpu", "max,-rdrand,-rdseed")
            .pair("-icount", "shift=0,sleep=off")
            .pair("-rtc", "base=2026-01-01T00:00:00,clock=vm")
            .pair("-seed", (seed & u64::from(u32::MAX)).to_string()),
    };
}

fn processors(order: &MachineOrder<'_>, words: &mut Words) {
    let Topology { sockets, cores, threads, nodes } = order.topology;
    let vcpus = order.topology.vcpus();
    words.pair("-smp", format!("{vcpus},sockets={sockets},cores={cores},threads={threads}"));
    if nodes < 2 {
        return;
    }
    // Packages are spread over nodes in equal shares; the factor checked that they divide.
    let (memory_mib, share) = (order.memory_bytes >> 20, vcpus / nodes);
    for node in 0..nodes {
        let size_mib = memory_mib / u64::from(nodes);
        words.pair("-object", format!("memory-backend-ram,id=node{node},size={size_mib}M"));
        let (first, last) = (node * share, (node + 1) * share - 1);
        words.pair("-numa", format!("node,nodeid={node},cpus={first}-{last},memdev=node{node}"));
    }
}

/// A disk that serves so many operations a second and no more.
fn slow_disk(words: &mut Words, id: &str, path: &str) {
    words.pair(
        "-object",
        format!("throttle-group,id={id}-rate,x-iops-total={OPERATIONS_PER_SECOND}"),
    );
    words.pair(
        "-blockdev",
        format!("driver=throttle,node-name={id},throttle-group={id}-rate,file.driver=raw,file.file.driver=file,file.file.locking=off,file.file.filename={path}"),
    );
    words.pair("-device", format!("virtio-blk-pci,drive={id},serial={id}"));
}

fn disk(words: &mut Words, id: &str, path: &str, is_read_only: bool) {
    let access = if is_read_only { "on" } else { "off" };
    // A comma would begin another option (QEMU doubles it).
    let path = path.replace(',', ",,");
    words.pair(
        "-blockdev",
        format!("driver=raw,node-name={id},read-only={access},file.driver=file,file.locking=off,file.read-only={access},file.filename={path}"),
    );
    words.pair("-device", format!("virtio-blk-pci,drive={id},serial={id}"));
}

/// QEMU, where it is installed.
pub(crate) fn find(machine: &sys::Machine) -> Option<PathBuf> {
    machine.program(PROGRAM)
}

/// That it is not.
pub(crate) fn no_qemu() -> Error {
    Error::unsupported(
        "cannot start a virtual machine",
        format!("{PROGRAM} is not on PATH"),
        "install it: apt-get install qemu-system-x86",
    )
}

/// The first line that QEMU says of its version.
///
/// # Errors
/// When it is not installed or does not run.
pub(crate) fn version(machine: &sys::Machine) -> Result<String> {
    let program = find(machine).ok_or_else(no_qemu)?;
    let output = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    let output = output
        .map_err(|error| Error::environment(format!("cannot run {}", program.display()), error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
