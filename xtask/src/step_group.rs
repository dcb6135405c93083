//! A command in a process group of its own. All of the group ends with the value that stands for
//! it, and with the process that started it, however that ends.
//!
//! The SIGINT of a terminal does not reach a group in the background, and a process that is killed
//! passes no signal on. So the command watches its standard input: a pipe whose other end the
//! starter holds, and which the kernel closes when the starter ends.

use rustix::process::{Pid, Signal, kill_current_process_group, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

/// A command that runs, and all it started that stayed in its group.
pub struct StepGroup {
    leader: Child,
    /// The starter's end of the pipe. Not left to the child, whose `wait` would close it.
    input: Option<ChildStdin>,
    has_ended: bool,
}

impl StepGroup {
    /// Starts a command that calls [`end_with_input`].
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut leader = command.process_group(0).stdin(Stdio::piped()).spawn()?;
        let input = leader.stdin.take();
        Ok(Self { leader, input, has_ended: false })
    }

    /// Waits for the end of the command.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.leader.wait()?;
        self.has_ended = true;
        Ok(status)
    }
}

impl Drop for StepGroup {
    fn drop(&mut self) {
        drop(self.input.take());
        if !self.has_ended {
            // The leader was not waited for yet, so no other group has its id.
            let _ = kill_process_group(Pid::from_child(&self.leader), Signal::KILL);
            let _ = self.leader.wait();
        }
    }
}

/// Kills the process group of this process, which leads it, once its standard input ends.
pub fn end_with_input() -> io::Result<()> {
    let watch = || {
        // Nobody writes to it. One that cannot be read has no starter either.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = kill_current_process_group(Signal::KILL);
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(watch).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::process::ExitStatusExt;
    use std::process::ChildStdout;
    use std::sync::mpsc;
    use std::time::Duration;

    /// Set for the child process of the test that kills no group itself.
    const STARTED: &str = "XTASK_TEST_STARTED";
    /// A shell with a child, which both hold the output open.
    const FAMILY: &str = "sleep 600 & echo started; wait";
    /// Longer than any machine needs to end two processes, and shorter than the child sleeps.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// What the family still writes once it has started; others may write before it.
    fn started(group: &mut StepGroup) -> BufReader<ChildStdout> {
        let mut output = BufReader::new(group.leader.stdout.take().unwrap());
        let mut line = String::new();
        while !line.ends_with("started\n") {
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "{line}");
        }
        output
    }

    /// Whether all that hold this output open end.
    fn ends(mut output: impl Read + Send + 'static) -> bool {
        let (sender, ended) = mpsc::channel();
        std::thread::spawn(move || sender.send(io::copy(&mut output, &mut io::sink())));
        ended.recv_timeout(PATIENCE).is_ok()
    }

    #[test]
    fn what_a_command_started_ends_with_its_value() {
        let mut command = Command::new("sh");
        command.args(["-c", FAMILY]).stdout(Stdio::piped());
        let mut group = StepGroup::start(&mut command).unwrap();
        let output = started(&mut group);
        drop(group);
        assert!(ends(output));
    }

    #[test]
    fn what_a_command_started_ends_with_its_starter() {
        if std::env::var_os(STARTED).is_some() {
            end_with_input().unwrap();
            let status = Command::new("sh").args(["-c", FAMILY]).status();
            panic!("it went on: {status:?}");
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "--nocapture"])
            .arg("step_group::tests::what_a_command_started_ends_with_its_starter")
            .env(STARTED, "1")
            .stdout(Stdio::piped());
        let mut group = StepGroup::start(&mut command).unwrap();
        let output = started(&mut group);
        // All that happens when the starter is killed.
        drop(group.input.take());
        assert!(ends(output));
        assert_eq!(group.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
    }

    #[test]
    fn a_command_that_ends_by_itself_is_waited_for() {
        let mut group = StepGroup::start(Command::new("sh").args(["-c", "exit 3"])).unwrap();
        assert_eq!(group.wait().unwrap().code(), Some(3));
        drop(group);
    }
}
