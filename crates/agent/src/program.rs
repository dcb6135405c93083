//! A program that the host asked for: its streams, its terminal, its end.

use crate::channel::Incoming;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use wire::{OutputStream, Pty};

const CHUNK_BYTES: usize = 32 << 10;

/// A running program.
pub(crate) struct Program {
    child: Child,
    /// What goes to its standard input; the host never has more on its way than a window.
    input: Option<Sender<Vec<u8>>>,
    terminal: Option<File>,
    /// Streams that have not ended.
    pub(crate) open_streams: usize,
}

impl Program {
    /// Starts it in a session of its own; what it writes arrives at `incoming`.
    pub(crate) fn start(
        words: &[String],
        environment: &[(String, String)],
        pty: Option<Pty>,
        incoming: &SyncSender<Incoming>,
    ) -> io::Result<Self> {
        let Some((name, arguments)) = words.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program was named"));
        };
        let mut command = Command::new(name);
        command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
        match pty {
            Some(pty) => Self::with_terminal(command, pty, incoming),
            None => Self::with_pipes(command, incoming),
        }
    }

    fn with_pipes(mut command: Command, incoming: &SyncSender<Incoming>) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: open(2), write(2) and setsid(2) are async-signal-safe and allocate nothing.
        unsafe {
            command.pre_exec(|| {
                give_up_exemption();
                Ok(rustix::process::setsid().map(drop)?)
            });
        }
        let mut child = command.spawn()?;
        let mut open_streams = 0;
        if let Some(output) = child.stdout.take() {
            pump(output, OutputStream::Output, incoming)?;
            open_streams += 1;
        }
        if let Some(error) = child.stderr.take() {
            pump(error, OutputStream::Error, incoming)?;
            open_streams += 1;
        }
        let input = child.stdin.take().map(|input| feeder(input, incoming)).transpose()?;
        Ok(Self { child, input, terminal: None, open_streams })
    }

    fn with_terminal(
        mut command: Command,
        size: Pty,
        incoming: &SyncSender<Incoming>,
    ) -> io::Result<Self> {
        let master = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?);
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let path = OsStr::from_bytes(name.as_bytes());
        let slave = OpenOptions::new().read(true).write(true).open(path)?;
        tcsetwinsize(&master, winsize(size))?;
        command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
        // SAFETY: open(2), write(2), setsid(2) and ioctl(2) are async-signal-safe and allocate
        // nothing.
        unsafe {
            command.pre_exec(|| {
                give_up_exemption();
                rustix::process::setsid()?;
                if libc::ioctl(0, libc::TIOCSCTTY, 0) != 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn()?;
        // Its copies of the terminal close with it, and reading the master then ends.
        drop(command);
        pump(master.try_clone()?, OutputStream::Output, incoming)?;
        let input = feeder(master.try_clone()?, incoming)?;
        Ok(Self { child, input: Some(input), terminal: Some(master), open_streams: 1 })
    }

    /// Standard input; empty closes it. A program that does not read it is its own affair.
    pub(crate) fn feed(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            self.input = None;
        } else if let Some(input) = &self.input {
            // Its thread takes what comes until the end.
            let _ = input.send(bytes);
        }
    }

    /// The terminal changed its size.
    pub(crate) fn resize(&self, size: Pty) {
        if let Some(terminal) = &self.terminal {
            // A program without a terminal has no size.
            let _ = tcsetwinsize(terminal, winsize(size));
        }
    }

    /// Sends a signal to everything it started.
    pub(crate) fn signal(&self, signal: i32) {
        let group = -self.child.id().cast_signed();
        // SAFETY: kill(2) touches no memory. A group that ended is what is wanted.
        unsafe {
            libc::kill(group, signal);
        }
    }

    /// How it ended, once it did.
    pub(crate) fn ended(&mut self) -> io::Result<Option<i32>> {
        Ok(self.child.try_wait()?.map(status_number))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.signal(libc::SIGKILL);
        // Reaping one that was reaped already fails, and that is fine.
        let _ = self.child.wait();
    }
}

/// The agent is exempt from being killed for want of memory; a program of the user's is not.
/// Called between fork and exec: nothing is allocated.
fn give_up_exemption() {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::open(c"/proc/self/oom_score_adj", flags, Mode::empty()) {
        // One that stays exempt is what it was.
        let _ = rustix::io::write(&file, b"0");
    }
}

/// As a shell tells it: 128 and the signal's number.
fn status_number(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

fn winsize(size: Pty) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Writes input in a thread of its own: a program that does not read must not keep the agent
/// from hearing signals. Every byte is accounted for, taken or not.
fn feeder(
    mut to: impl Write + Send + 'static,
    incoming: &SyncSender<Incoming>,
) -> io::Result<Sender<Vec<u8>>> {
    let incoming = incoming.clone();
    let (sender, receiver): (_, Receiver<Vec<u8>>) = channel();
    let write = move || {
        let mut is_open = true;
        for bytes in receiver {
            is_open = is_open && to.write_all(&bytes).and_then(|()| to.flush()).is_ok();
            if incoming.send(Incoming::Fed(bytes.len() as u64)).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(write)?;
    Ok(sender)
}

/// Reads a stream to its end in a thread of its own.
fn pump(
    mut from: impl Read + Send + 'static,
    stream: OutputStream,
    incoming: &SyncSender<Incoming>,
) -> io::Result<()> {
    let incoming = incoming.clone();
    let read = move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match from.read(&mut chunk) {
                // A terminal whose last user is gone answers EIO.
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    if incoming.send(Incoming::Output(stream, chunk[..count].to_vec())).is_err() {
                        return;
                    }
                }
            }
        }
        // Nobody listens any more: then nobody waits either.
        let _ = incoming.send(Incoming::Ended);
    };
    std::thread::Builder::new().name("stream".to_owned()).spawn(read).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    fn run(words: &[&str], input: &[u8], pty: Option<Pty>) -> (String, String, i32) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let (sender, receiver) = sync_channel(64);
        let environment = [("GREETING".to_owned(), "hello".to_owned())];
        let mut program = Program::start(&words, &environment, pty, &sender).unwrap();
        program.feed(input.to_vec());
        if pty.is_none() {
            program.feed(Vec::new());
        }
        let (mut output, mut error) = (Vec::new(), Vec::new());
        while program.open_streams > 0 {
            match receiver.recv_timeout(Duration::from_secs(20)).unwrap() {
                Incoming::Output(OutputStream::Output, bytes) => output.extend(bytes),
                Incoming::Output(OutputStream::Error, bytes) => error.extend(bytes),
                Incoming::Ended => program.open_streams -= 1,
                Incoming::Fed(_) => {}
                _ => unreachable!(),
            }
        }
        let status = loop {
            if let Some(status) = program.ended().unwrap() {
                break status;
            }
        };
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output), text(error), status)
    }

    #[test]
    fn streams_environment_input_and_status_come_through() {
        let (output, error, status) =
            run(&["sh", "-c", "cat; echo $GREETING; echo oops >&2; exit 7"], b"typed\n", None);
        assert_eq!((output.as_str(), error.as_str(), status), ("typed\nhello\n", "oops\n", 7));
        assert_eq!(run(&["sh", "-c", "kill -TERM $$"], b"", None).2, 143);
    }

    #[test]
    fn a_terminal_is_one_of_the_wanted_size() {
        let size = Pty { rows: 33, columns: 77 };
        let (output, _, status) = run(&["sh", "-c", "stty size; tty -s"], b"", Some(size));
        assert_eq!((output.trim(), status), ("33 77", 0));
    }
}
