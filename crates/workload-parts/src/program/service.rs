//! A server that serves before a run begins and is gone with the run: of a reference tool, or
//! the user's own.

use super::{ProgramEnvironment, QUOTED, arguments, become_program, create, resolve};
use crate::process::ChildProcesses;
use contract::{Error, LaunchSpec, Result};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::Machine;

/// A server that does not serve after this long never will.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether it does.
const LOOK: Duration = Duration::from_millis(2);

/// As much of each of its streams as a log keeps.
const KEPT_BYTES: u64 = 1 << 20;

/// What a server waits on for its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
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
    pub fn unused(self) -> Result<SocketAddr> {
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
pub struct Server {
    family: ChildProcesses,
    pid: i32,
    output: [PathBuf; 2],
}

/// How a server is started, and how long it may take until it serves.
pub struct Beginning<'b> {
    /// What it is called in errors.
    pub name: &'static str,
    /// How the names of its files begin, and of its control groups in the launch.
    pub stem: &'static str,
    /// The program and its arguments.
    pub words: &'b [String],
    /// Its directory and its variables.
    pub surroundings: ProgramEnvironment,
    /// Levels that it takes on and its parent has not.
    pub levels: Option<&'b LaunchSpec>,
    /// How long it may take until it serves.
    pub within: Duration,
}

impl Server {
    /// Starts the server and waits until it serves at this address.
    ///
    /// # Errors
    /// When there is no such program, it ends, or it does not serve in time.
    pub fn start(
        machine: &Machine,
        words: &[String],
        (port, address): (Port, SocketAddr),
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let surroundings = ProgramEnvironment::default();
        let beginning = Beginning {
            name: "the server",
            stem: "server",
            words,
            surroundings,
            levels: None,
            within: PATIENCE,
        };
        Self::start_until(machine, &beginning, launch, || match port.is_served(machine, address) {
            true => Ok(()),
            false => Err(format!("it does not listen at {address}")),
        })
    }

    /// Starts the server and waits until `is_ready`, which otherwise says why not.
    ///
    /// # Errors
    /// When there is no such program, it ends, or it is not ready in time.
    pub fn start_until(
        machine: &Machine,
        beginning: &Beginning<'_>,
        launch: &LaunchSpec,
        mut is_ready: impl FnMut() -> Result<(), String>,
    ) -> Result<Self> {
        let path = resolve(machine, beginning.words)?;
        let arguments = arguments(&path, beginning.words)?;
        let output = output_in(&launch.scratch, beginning.stem);
        let streams = [create(&output[0])?, create(&output[1])?];
        let mut family = ChildProcesses::new()?;
        let pid = family.fork(beginning.name, launch, || {
            if let Some(groups) = launch.server_groups.get(beginning.stem) {
                let own = std::process::id().cast_signed();
                groups.add(machine, own).map_err(io::Error::other)?;
            }
            if let Some(levels) = beginning.levels {
                let refused = |(name, error): (&str, io::Error)| {
                    io::Error::new(error.kind(), format!("cannot set {name}: {error}"))
                };
                levels.apply().map_err(refused)?;
                levels.enter_task()?;
            }
            become_program(&arguments, &beginning.surroundings, &streams)
        })?;
        let mut service = Self { family, pid, output };
        let began = Instant::now();
        while let Err(why) = is_ready() {
            if let Some(error) = service.early_death() {
                return Err(error);
            }
            if began.elapsed() > beginning.within {
                let cause = format!("`{}` is not ready: {why}", beginning.words.join(" "));
                return Err(Error::environment(format!("cannot start {}", beginning.name), cause));
            }
            std::thread::sleep(LOOK);
        }
        // A server that could not listen there has failed by now.
        match service.early_death() {
            Some(error) => Err(error),
            None => Ok(service),
        }
    }

    /// Its process.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Asks it to end, and waits so long for it.
    ///
    /// # Errors
    /// How it ended otherwise than by itself or by being asked, or that it did not.
    pub fn stop(mut self, within: Duration) -> Result<(), String> {
        // SAFETY: it is our own child and not yet reaped, so the id is still its.
        unsafe { libc::kill(self.pid, libc::SIGTERM) };
        let began = Instant::now();
        while began.elapsed() < within {
            if self.family.has_ended() {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        Err(format!("it was asked to end (SIGTERM) and had not after {within:?}"))
    }

    /// If it has ended already, how, and what it said last.
    pub fn early_death(&mut self) -> Option<Error> {
        self.family.early_death().map(|error| self.with_last_words(error))
    }

    /// If a signal has ended it, which one, and what it said last.
    pub fn killed(&mut self) -> Option<Error> {
        self.family.killed().map(|error| self.with_last_words(error))
    }

    /// Adds what it said to a log: the end of it, where that is long.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn keep_output(&self, log: &Path) -> io::Result<()> {
        let mut log = File::options().create(true).append(true).open(log)?;
        for path in &self.output {
            let mut file = File::open(path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(KEPT_BYTES)))?;
            io::copy(&mut file.take(KEPT_BYTES), &mut log)?;
        }
        Ok(())
    }

    fn with_last_words(&self, error: Error) -> Error {
        match last_lines(&self.output) {
            Some(said) => Error { cause: format!("{}; it said: {said}", error.cause), ..error },
            None => error,
        }
    }
}

/// The files of a server's streams, of which the later one is for errors.
pub fn output_in(scratch: &Path, stem: &str) -> [PathBuf; 2] {
    ["stdout", "stderr"].map(|stream| scratch.join(format!("{stem}-{stream}")))
}

/// What follows this beginning in the first line of a server's output that has it, once the line
/// is whole.
pub fn rest_of_line(scratch: &Path, stem: &str, beginning: &str) -> Option<String> {
    let [stdout, _] = output_in(scratch, stem);
    let text = std::fs::read_to_string(stdout).ok()?;
    let (whole, _) = text.rsplit_once('\n')?;
    whole.lines().find_map(|line| line.strip_prefix(beginning)).map(str::to_owned)
}

/// The last line of the last of these files that is not empty.
pub fn last_lines(output: &[PathBuf; 2]) -> Option<String> {
    let texts = output.each_ref().map(|path| std::fs::read(path).unwrap_or_default());
    let text = texts.iter().rev().find(|text| !text.trim_ascii().is_empty());
    let text = text.map(|text| String::from_utf8_lossy(text))?;
    text.trim().lines().last().map(|line| line.chars().take(QUOTED).collect())
}
