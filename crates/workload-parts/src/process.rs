//! Forked tasks of one workload: started, reaped exactly once, never left behind.
//!
//! Invariant: a workload forks only while its process has one thread. Every
//! lock is then free in the child, so it may allocate and use `std`. The
//! executor starts us as a single-threaded process, and [`ChildProcesses::fork`] counts
//! `/proc/self/task` before each fork.

use contract::{Error, LaunchSpec, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use sys::Termination;

/// Longest complaint of a child that is read.
const LONGEST_COMPLAINT: usize = 512;
/// How long after what a killed process had open is closed its end may be told.
const TOLD_LATE: Duration = Duration::from_millis(50);
/// Between looks whether a process died before it was ready.
const GLANCE_NS: u64 = 100_000_000;
/// Exit code of a child that has complained.
const COMPLAINED: i32 = 1;

/// The processes of one workload and the pipe through which a child says what
/// went wrong before it ends.
pub struct ChildProcesses {
    /// Process id and what it is called.
    children: Vec<(i32, &'static str)>,
    complaints: OwnedFd,
    complaint_writer: OwnedFd,
}

impl ChildProcesses {
    /// A family without children.
    ///
    /// # Errors
    /// When no pipe can be made, or the process has more than one thread.
    pub fn new() -> Result<Self> {
        check_single_threaded()?;
        let (complaints, complaint_writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)
            .map_err(|error| Error::environment("cannot make a pipe", error))?;
        Ok(Self { children: Vec::new(), complaints, complaint_writer })
    }

    /// Starts a process of that name that runs `life` and ends. The child dies with us.
    ///
    /// # Errors
    /// When the kernel refuses, or the process has more than one thread.
    pub fn fork(
        &mut self,
        name: &'static str,
        launch: &LaunchSpec,
        life: impl FnOnce() -> io::Result<()>,
    ) -> Result<i32> {
        check_single_threaded()?;
        let parent = rustix::process::getpid();
        // SAFETY: the process has one thread, so no lock is held by another one
        // and the child may run any code.
        let child = unsafe { libc::fork() };
        match child {
            0 => self.live(name, parent, launch, life),
            -1 => Err(Error::new(
                contract::ErrorKind::Environment,
                format!("cannot fork process {}", self.children.len() + 1),
                io::Error::last_os_error(),
                "raise the limit on processes (ulimit -u, pids.max of the cgroup)",
            )),
            child => {
                self.children.push((child, name));
                Ok(child)
            }
        }
    }

    fn live(
        &self,
        name: &str,
        parent: rustix::process::Pid,
        launch: &LaunchSpec,
        life: impl FnOnce() -> io::Result<()>,
    ) -> ! {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            die_with(parent)?;
            launch.enter_task()?;
            life()
        }));
        let code = match outcome {
            Ok(Ok(())) => 0,
            Ok(Err(error)) => self.complain(name, &error.to_string()),
            Err(_) => self.complain(name, "it panicked"),
        };
        // SAFETY: _exit ends the process without running the parent's destructors.
        unsafe { libc::_exit(code) }
    }

    /// Says what went wrong, in one write that no other's can part; the child's exit code.
    fn complain(&self, name: &str, what: &str) -> i32 {
        let _ = rustix::io::write(&self.complaint_writer, format!("{name}\0{what}\0").as_bytes());
        COMPLAINED
    }

    /// Waits for every child in whatever order they end.
    ///
    /// # Errors
    /// As soon as one child fails: the others, which may wait for it for ever,
    /// are killed.
    pub fn reap(&mut self) -> Result<()> {
        while !self.children.is_empty() {
            let (child, termination) = wait_any()?;
            let Some(position) = self.children.iter().position(|known| known.0 == child) else {
                continue;
            };
            let (_, name) = self.children.swap_remove(position);
            if termination != Termination::Exited(0) {
                let error = self.failure((name, termination));
                self.kill();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Waits for this child; how it ended and what it and its descendants used.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn reap_one(&mut self, child: i32) -> io::Result<(Termination, libc::rusage)> {
        let mut status = 0;
        // SAFETY: all bytes zero are a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are valid places for what the kernel writes.
        while unsafe { libc::wait4(child, &raw mut status, 0, &raw mut usage) } != child {
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(libc::EINTR) {
                return Err(error);
            }
        }
        self.children.retain(|known| known.0 != child);
        Ok((termination_of(status), usage))
    }

    /// What the first child that complained said, if one did. A child that has become another
    /// program cannot speak here.
    pub fn complaint(&self) -> Option<String> {
        self.first_complaint().map(|(_, what)| what)
    }

    /// The process that complained first, and of what.
    fn first_complaint(&self) -> Option<(String, String)> {
        let mut text = [0_u8; LONGEST_COMPLAINT];
        let length = rustix::io::read(&self.complaints, &mut text).unwrap_or(0);
        let text = String::from_utf8_lossy(&text[..length]);
        let (name, rest) = text.split_once('\0')?;
        Some((name.to_owned(), rest.split('\0').next().unwrap_or_default().to_owned()))
    }

    /// Why the run cannot go on, where this child has ended. The others feel its end, and their
    /// ends may be told sooner: one that a signal has ended is to blame, then the one to complain
    /// first.
    fn failure(&mut self, first: (&'static str, Termination)) -> Error {
        let is_signalled =
            |(_, how): &(&str, Termination)| matches!(how, Termination::Signalled(_));
        let (began, mut blamed) = (Instant::now(), first);
        while !is_signalled(&blamed) && began.elapsed() < TOLD_LATE {
            let ended = self.children.iter().enumerate().find_map(|(position, (child, name))| {
                ended(*child).map(|termination| (position, (*name, termination)))
            });
            let Some((position, other)) = ended else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            self.children.swap_remove(position);
            if is_signalled(&other) || blamed.1 == Termination::Exited(0) {
                blamed = other;
            }
        }
        let as_told = || (blamed.0.to_owned(), blamed.1.to_string());
        let (name, cause) = match is_signalled(&blamed) {
            true => as_told(),
            false => self.first_complaint().unwrap_or_else(as_told),
        };
        Error::environment(format!("{name} failed"), cause)
    }

    /// If a child has already ended, why; used where an end before the run is a failure.
    pub fn early_death(&mut self) -> Option<Error> {
        self.first_end(|_| true)
    }

    /// If a signal has ended a child, the failure that this is. Children that ended otherwise
    /// are reaped. Others feel such an end before it is told, so it is waited for a little.
    pub fn killed(&mut self) -> Option<Error> {
        let began = Instant::now();
        while !self.children.is_empty() {
            let failure = self.first_end(|how| matches!(how, Termination::Signalled(_)));
            if failure.is_some() || began.elapsed() > TOLD_LATE {
                return failure;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// The failure of the first child that has ended in such a way.
    fn first_end(&mut self, is_failure: fn(Termination) -> bool) -> Option<Error> {
        let mut position = 0;
        while let Some((child, name)) = self.children.get(position).copied() {
            match ended(child) {
                None => position += 1,
                Some(how) => {
                    self.children.swap_remove(position);
                    if is_failure(how) {
                        return Some(self.failure((name, how)));
                    }
                }
            }
        }
        None
    }

    /// Whether every child has ended, however; those that have are reaped.
    pub fn has_ended(&mut self) -> bool {
        self.children.retain(|(child, _)| ended(*child).is_none());
        self.children.is_empty()
    }

    /// Kills and reaps every child.
    pub fn kill(&mut self) {
        for (child, _) in &self.children {
            // SAFETY: `child` is our own and not yet reaped, so the id is still its.
            unsafe { libc::kill(*child, libc::SIGKILL) };
        }
        for (child, _) in self.children.drain(..) {
            let mut status = 0;
            // SAFETY: `status` is a valid place for the child's status.
            while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1
                && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
            {}
        }
    }
}

impl Drop for ChildProcesses {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The start of forked tasks: each reports ready and polls for a byte that stays unread, so
/// that one write releases all of them.
pub struct StartBarrier {
    ready: (OwnedFd, OwnedFd),
    wake: (OwnedFd, OwnedFd),
}

impl StartBarrier {
    /// A start over two pipes or pairs of sockets: of each the reading end, then the writing end.
    pub fn of(ready: (OwnedFd, OwnedFd), wake: (OwnedFd, OwnedFd)) -> Self {
        Self { ready, wake }
    }

    /// A start over pipes.
    ///
    /// # Errors
    /// When no pipe can be made.
    pub fn new() -> Result<Self> {
        let pipe = || {
            pipe_with(PipeFlags::CLOEXEC)
                .map_err(|error| Error::environment("cannot make a pipe", error))
        };
        Ok(Self::of(pipe()?, pipe()?))
    }

    /// A task is ready, whatever it does now.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn ready(&self) -> io::Result<()> {
        write_full(&self.ready.1, b".")
    }

    /// A task is ready, and waits for the others.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn wait(&self) -> io::Result<()> {
        self.ready()?;
        poll(&mut [PollFd::new(&self.wake.0, PollFlags::IN)], None)?;
        Ok(())
    }

    /// Reads one byte from each task; a task that died first is an error, not a wait for ever.
    ///
    /// # Errors
    /// What a task that died said.
    pub fn await_ready(&self, family: &mut ChildProcesses) -> Result<()> {
        for _ in 0..family.children.len() {
            self.await_one(family)?;
        }
        Ok(())
    }

    /// Waits until one more task of the family is ready; one that died first is an error.
    ///
    /// # Errors
    /// What a task that died said.
    pub fn await_one(&self, family: &mut ChildProcesses) -> Result<()> {
        let timeout = crate::instant::timespec(GLANCE_NS);
        loop {
            match poll(&mut [PollFd::new(&self.ready.0, PollFlags::IN)], Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return self.hear(),
            }
            if let Some(error) = family.early_death() {
                return Err(error);
            }
        }
    }

    /// Waits until one more task is ready.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn hear(&self) -> Result<()> {
        read_full(&self.ready.0, &mut [0])
            .map_err(|error| Error::environment("cannot hear the tasks", error))
    }

    /// Lets all of them go.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn release(&self) -> Result<()> {
        write_full(&self.wake.1, b".")
            .map_err(|error| Error::environment("cannot release the tasks", error))
    }
}

/// Asks to be killed when the parent dies, and ends at once if it has already.
///
/// # Errors
/// What the kernel answers.
pub fn die_with(parent: rustix::process::Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    if rustix::process::getppid() == Some(parent) {
        Ok(())
    } else {
        Err(io::Error::other("the parent ended before its child began"))
    }
}

fn wait_any() -> Result<(i32, Termination)> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid place for the child's status.
        let child = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        if child > 0 {
            return Ok((child, termination_of(status)));
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(Error::environment("cannot wait for a process of the workload", error));
        }
    }
}

/// How this child of ours ended, if it did; then it is reaped.
fn ended(child: i32) -> Option<Termination> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the child's status.
    let is_it = unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child;
    is_it.then(|| termination_of(status))
}

/// How a status of waitpid(2) says the child ended.
pub fn termination_of(status: i32) -> Termination {
    if libc::WIFEXITED(status) {
        Termination::Exited(libc::WEXITSTATUS(status))
    } else {
        Termination::Signalled(libc::WTERMSIG(status))
    }
}

/// # Errors
/// When this process has more than one thread, so that forking would copy held locks.
pub fn check_single_threaded() -> Result<()> {
    let tasks = std::fs::read_dir("/proc/self/task")
        .map_err(|error| Error::environment("cannot list /proc/self/task", error))?
        .count();
    if tasks == 1 {
        return Ok(());
    }
    Err(Error::environment(
        "cannot fork",
        format!("the process has {tasks} threads and a fork would copy their locks"),
    ))
}

/// Raises the soft limit on open files to at least `needed`.
///
/// # Errors
/// When the hard limit is lower.
pub fn allow_open_files(needed: u64) -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let attempted = format!("cannot open {needed} files at once");
    if limit.maximum.is_some_and(|maximum| maximum < needed) {
        return Err(Error::unsupported(
            attempted,
            format!("the hard limit is {}", limit.maximum.unwrap_or(0)),
            "use fewer groups, or raise the limit (ulimit -Hn)",
        ));
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
        .map_err(|error| Error::environment(attempted, error))
}

/// Reads until the buffer is full.
///
/// # Errors
/// The kernel's answer, or that the other end was closed.
#[inline]
pub fn read_full(descriptor: &OwnedFd, buffer: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match rustix::io::read(descriptor, &mut buffer[done..]) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "end of file")),
            Ok(length) => done += length,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes the whole buffer.
///
/// # Errors
/// The kernel's answer.
#[inline]
pub fn write_full(descriptor: &OwnedFd, buffer: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match rustix::io::write(descriptor, &buffer[done..]) {
            Ok(length) => done += length,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forking_with_other_threads_is_refused() {
        let Err(error) =
            std::thread::scope(|scope| scope.spawn(check_single_threaded).join()).unwrap()
        else {
            panic!("two threads were not seen")
        };
        assert!(error.to_string().contains("threads"), "{error}");
    }

    #[test]
    fn statuses_of_waitpid_are_told_apart() {
        assert_eq!(termination_of(0x0300), Termination::Exited(3));
        assert_eq!(termination_of(9), Termination::Signalled(9));
    }

    #[test]
    fn more_open_files_than_the_hard_limit_are_refused_with_a_remedy() {
        let Err(error) = allow_open_files(u64::MAX - 1) else { return };
        assert!(error.remedy.contains("fewer groups"), "{error}");
    }
}
