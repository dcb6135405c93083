//! A server on this machine's loopback that a reference tool measures: it serves before the run
//! begins, and is gone with the run.

use super::{QUOTED, Surroundings, arguments, become_program, create, resolve};
use crate::process::Family;
use contract::{Error, LaunchSpec, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::Machine;

/// A server that does not serve after this long never will.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether it does.
const LOOK: Duration = Duration::from_millis(2);

/// What a server waits on for its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    /// A listening TCP socket.
    Tcp,
    /// A UDP socket.
    Udp,
}

impl Port {
    /// A number that nobody has at this moment.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn unused(self) -> Result<SocketAddr> {
        let any = (Ipv4Addr::LOCALHOST, 0);
        let found = match self {
            Self::Tcp => TcpListener::bind(any).and_then(|socket| socket.local_addr()),
            Self::Udp => UdpSocket::bind(any).and_then(|socket| socket.local_addr()),
        };
        found.map_err(|error| Error::environment("cannot find a free port", error))
    }

    /// Whether a socket of this kind waits at that address, in the tables of proc_net_tcp.txt
    /// (Linux 6.12, Documentation/networking): the state is `TCP_LISTEN`, or for UDP the
    /// `TCP_CLOSE` of one that is not connected. A connection would be taken for a client.
    fn is_served(self, machine: &Machine, address: SocketAddr) -> bool {
        let (table, waiting) = match self {
            Self::Tcp => ("/proc/net/tcp", "0A"),
            Self::Udp => ("/proc/net/udp", "07"),
        };
        let IpAddr::V4(ip) = address.ip() else { return false };
        // The address as it is in memory, the port as it is read.
        let local = format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), address.port());
        let text = machine.read(table).unwrap_or_default();
        text.lines().any(|line| {
            let mut columns = line.split_whitespace().skip(1);
            columns.next() == Some(local.as_str()) && columns.nth(1) == Some(waiting)
        })
    }
}

/// A running server; killed when dropped.
pub(crate) struct Service {
    family: Family,
    output: [PathBuf; 2],
}

impl Service {
    /// Starts the server and waits until it serves at this address.
    ///
    /// # Errors
    /// When there is no such program, it ends, or it does not serve in time.
    pub(crate) fn start(
        machine: &Machine,
        words: &[String],
        (port, address): (Port, SocketAddr),
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let path = resolve(machine, words)?;
        let arguments = arguments(&path, words)?;
        let output = ["server-stdout", "server-stderr"].map(|name| launch.scratch.join(name));
        let streams = [create(&output[0])?, create(&output[1])?];
        let mut family = Family::new()?;
        family.fork("the server", launch, || {
            become_program(&arguments, &Surroundings::default(), &streams)
        })?;
        let mut service = Self { family, output };
        let began = Instant::now();
        while !port.is_served(machine, address) {
            if let Some(error) = service.early_death() {
                return Err(error);
            }
            if began.elapsed() > PATIENCE {
                let cause = format!("`{}` does not listen at {address}", words.join(" "));
                return Err(Error::environment("cannot start the server", cause));
            }
            std::thread::sleep(LOOK);
        }
        // Who could not listen there has been told so by now.
        match service.early_death() {
            Some(error) => Err(error),
            None => Ok(service),
        }
    }

    /// If it has ended already, how, and what it said last.
    fn early_death(&mut self) -> Option<Error> {
        self.family.early_death().map(|error| self.with_last_words(error))
    }

    /// If a signal has ended it, which one, and what it said last.
    pub(crate) fn killed(&mut self) -> Option<Error> {
        self.family.killed().map(|error| self.with_last_words(error))
    }

    fn with_last_words(&self, error: Error) -> Error {
        let texts = self.output.each_ref().map(|path| std::fs::read(path).unwrap_or_default());
        let text = texts.iter().rev().find(|text| !text.trim_ascii().is_empty());
        let text = text.map(|text| String::from_utf8_lossy(text)).unwrap_or_default();
        match text.trim().lines().last() {
            Some(line) => {
                let said: String = line.chars().take(QUOTED).collect();
                Error { cause: format!("{}; it said: {said}", error.cause), ..error }
            }
            None => error,
        }
    }
}
