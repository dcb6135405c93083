//! The way of load from this host to the services of a guest: ports of this host's loopback that
//! QEMU forwards, a process that sends, and a serial port through which the guest asks for it.

use super::host_load_channel::HostLoadChannel;
use super::qemu::{Qemu, pair};
use super::vm_host::VmHost;
use contract::{Error, HostLoadSettings, Result, TrialCatalogue};
use executor::HostLoadProcess;
use model::{Missing, Parameters, Plan};
use rustix::net::sockopt::socket_acceptconn;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};
use sys::Machine;

/// Where why requests failed is kept, beside the campaign's logs.
const LOG: &str = "host-load.log";
/// How long QEMU may take to listen.
const LISTENS_WITHIN: Duration = Duration::from_secs(20);
/// Connections that may wait to be taken.
const BACKLOG: i32 = 4096;
/// What it takes to give QEMU's socket more room.
const NEEDS_SOCKET: &str = "it takes QEMU's own socket (pidfd_getfd, Linux 5.6 or later): become \
                            root, or allow it (kernel.yama.ptrace_scope = 1); or leave \
                            generator_at out";

/// What of a plan's load comes from this host.
#[derive(Debug, Default)]
pub(crate) struct HostLoadPlan {
    loads: Vec<(String, Parameters)>,
    ports: BTreeSet<u16>,
}

impl HostLoadPlan {
    pub(crate) fn of(catalogue: &TrialCatalogue, plan: &Plan) -> Self {
        let mut found = Self::default();
        for (workload, parameters, configured) in catalogue.configured(plan) {
            let service = configured.service();
            let port = service.and_then(|service| service.facts().host_load_port);
            let Some(port) = port else { continue };
            found.ports.insert(port);
            found.loads.push((workload.uses.clone(), parameters.clone()));
        }
        found
    }

    /// What this host lacks for it.
    pub(crate) fn missing(&self, catalogue: &TrialCatalogue, machine: &Machine) -> Vec<Missing> {
        let needs = self.loads.iter().filter_map(|(id, parameters)| {
            let configured = catalogue.configure(id, parameters).ok()?;
            Some(configured.service()?.facts().host_load_requires)
        });
        let mut missing: Vec<Missing> = Vec::new();
        for lacks in needs.flatten().filter_map(|need| need.met(machine).err()) {
            if !missing.iter().any(|known| known.what == lacks.what) {
                missing.push(lacks);
            }
        }
        missing
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }

    /// What a machine needs for it; none where all of the load is in the guest. Ports that nobody
    /// has at this moment may be taken by the time that QEMU has started; then that says so.
    ///
    /// # Errors
    /// When this process has no more descriptors, or the host no more ports.
    pub(crate) fn way(&self) -> Result<Option<HostLoadChannel>> {
        if self.is_empty() {
            return Ok(None);
        }
        let failed = |error| Error::environment("cannot make a way to the guest's ports", error);
        // Held until all are known, so that each is another one.
        let mut held = Vec::new();
        let mut addresses = BTreeMap::new();
        for port in &self.ports {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
            addresses.insert(*port, listener.local_addr().map_err(failed)?);
            held.push(listener);
        }
        let (ours, port) = pair().map_err(failed)?;
        Ok(Some(HostLoadChannel { port, ours: ours.into(), addresses }))
    }

    /// Starts the process that sends, at our end of the way to this machine.
    ///
    /// # Errors
    /// When it cannot be started, or the way has room for one connection at a time.
    pub(crate) fn start(
        &self,
        host: &VmHost,
        (mark, logs): (&str, &Path),
        way: HostLoadChannel,
        qemu: &mut Qemu,
    ) -> Result<HostLoadProcess> {
        make_room(qemu.pid(), || qemu.ended().is_some(), way.addresses.values().copied()).map_err(
            |error| {
                let attempted = "cannot let more than one connection at a time come to the guest";
                Error::unsupported(attempted, error, NEEDS_SOCKET)
            },
        )?;
        let settings = HostLoadSettings {
            parent: std::process::id().cast_signed(),
            loads: self.loads.clone(),
            addresses: way.addresses,
            log: logs.join(LOG),
        };
        HostLoadProcess::start(&host.host.executable, mark, &settings, way.ours)
    }
}

/// Lets many connections come at once. QEMU's network listens with room for one (`tcpx_listen` in
/// src/socket.c of libslirp 4.7: `listen(s, 1)`); a handshake that finds none is repeated after a
/// second, which every latency of its connection would contain. Listening again changes the room
/// (`__inet_listen_sk` in net/ipv4/af_inet.c, Linux 6.12), up to net.core.somaxconn.
fn make_room(
    qemu: i32,
    mut has_ended: impl FnMut() -> bool,
    ways: impl Iterator<Item = SocketAddr>,
) -> io::Result<()> {
    let deadline = Instant::now() + LISTENS_WITHIN;
    let pid = Pid::from_raw(qemu).ok_or_else(|| io::Error::other("it has no process"))?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    for at in ways {
        // A machine that ended already tells why when it is greeted.
        while !has_ended() {
            if let Some(listener) = listener(qemu, &process, at)? {
                rustix::net::listen(listener, BACKLOG)?;
                break;
            }
            if Instant::now() > deadline {
                return Err(io::Error::other(format!("QEMU does not listen at {at}")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

/// A process's socket that listens at an address, if it has one by now.
fn listener(pid: i32, process: &OwnedFd, at: SocketAddr) -> io::Result<Option<OwnedFd>> {
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd"))? {
        let entry = entry?;
        let is_socket = std::fs::read_link(entry.path())
            .is_ok_and(|to| to.as_os_str().to_string_lossy().starts_with("socket:"));
        let number = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let Some(number) = number.filter(|_| is_socket) else { continue };
        // One that is closed by now is not the one.
        let socket = match pidfd_getfd(process, number, PidfdGetfdFlags::empty()) {
            Ok(socket) => socket,
            Err(rustix::io::Errno::BADF | rustix::io::Errno::SRCH) => continue,
            Err(error) => return Err(error.into()),
        };
        let is_there = rustix::net::getsockname(&socket)
            .ok()
            .and_then(|address| SocketAddr::try_from(address).ok())
            .is_some_and(|address| address == at);
        if is_there && socket_acceptconn(&socket).unwrap_or(false) {
            return Ok(Some(socket));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
    use std::process::{Child, Command, Stdio};

    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Connections at once; a repeated handshake takes a second.
    const CONNECTIONS: usize = 64;
    const AT_ONCE: Duration = Duration::from_millis(500);

    #[test]
    fn many_connections_come_in_at_once() {
        let machine = Machine::host("/run").with_search_path(std::env::var("PATH").unwrap());
        let Some(program) = crate::vm::qemu::find(&machine) else {
            return testing::skip("a way into a guest needs qemu-system-x86");
        };
        let at = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let network = format!("user,id=outside,restrict=on,hostfwd=tcp:{at}-10.0.2.15:80");
        let child = Command::new(program)
            .args(["-machine", "none", "-nodefaults", "-display", "none", "-S"])
            .args(["-netdev", &network])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut qemu = Killed(child);
        let pid = qemu.0.id().cast_signed();
        make_room(pid, || qemu.0.try_wait().unwrap().is_some(), [at].into_iter()).unwrap();
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let open = |_| socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
        let sockets: Vec<OwnedFd> = (0..CONNECTIONS).map(open).collect();
        for socket in &sockets {
            let begun = connect(socket, &at);
            assert!(matches!(begun, Ok(()) | Err(rustix::io::Errno::INPROGRESS)), "{begun:?}");
        }
        let deadline = Instant::now() + AT_ONCE;
        let mut waiting: Vec<&OwnedFd> = sockets.iter().collect();
        // One look at least comes after that time, however late this test is.
        loop {
            let is_last = Instant::now() >= deadline;
            let mut polled: Vec<PollFd<'_>> =
                waiting.iter().map(|socket| PollFd::new(*socket, PollFlags::OUT)).collect();
            let within = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            poll(&mut polled, Some(&within)).unwrap();
            let is_made: Vec<bool> =
                polled.iter().map(|one| one.revents() == PollFlags::OUT).collect();
            let mut is_made = is_made.into_iter();
            waiting.retain(|_| !is_made.next().unwrap());
            if waiting.is_empty() || is_last {
                break;
            }
        }
        assert_eq!(waiting.len(), 0, "of {CONNECTIONS} handshakes were repeated");
    }
}
