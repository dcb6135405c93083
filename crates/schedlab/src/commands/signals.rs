//! Signals that ask for an end.

use crate::temporary::{end_by, leave_signals_to_caller};
use contract::{Error, Interrupt, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::time::{Duration, Instant};

/// A signal that comes so soon after the first is the same wish, sent to the
/// process and to its group.
const SAME_WISH: Duration = Duration::from_secs(1);

/// Signals become a wish; a later one of any kind removes temporary directories and ends the program
/// at once, and the guardian puts things back.
pub(super) fn hear_signals() -> Result<Interrupt> {
    let interrupt = Interrupt::default();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Error::environment("cannot listen for signals", error))?;
    let heard = interrupt.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut first: Option<Instant> = None;
            for signal in signals.forever() {
                if first.get_or_insert_with(Instant::now).elapsed() > SAME_WISH {
                    // This is a thread, and no handler: it may remove what this process holds. The
                    // default action ends the process then, and the guardian does the rest.
                    end_by(signal);
                }
                heard.request(signal);
            }
        })
        .map_err(|error| Error::environment("cannot start the signal thread", error))?;
    // Not before they are heard here: one that came in between would be nobody's.
    leave_signals_to_caller();
    Ok(interrupt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporary::TemporaryDirectory;
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::thread::sleep;

    /// Where the child process of the test below has a temporary directory.
    const PARENT: &str = "SCHEDLAB_TEST_SECOND_SIGNAL";
    /// Less than a wish takes, so that one signal at least comes after it.
    const PAUSE: Duration = Duration::from_millis(200);
    /// Longer than anybody waits for the child.
    const LONG: Duration = Duration::from_secs(120);

    /// A signal ends the process, hence the child.
    #[test]
    fn a_second_signal_ends_a_process_and_leaves_no_temporary_directory_either() {
        if let Some(parent) = std::env::var_os(PARENT) {
            return hold(Path::new(&parent));
        }
        let parent = tempfile::tempdir().unwrap();
        let count = || parent.path().read_dir().unwrap().count();
        let name = "a_second_signal_ends_a_process_and_leaves_no_temporary_directory_either";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--test-threads=1"])
            .arg(format!("commands::signals::tests::{name}"))
            .env(PARENT, parent.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while count() == 0 {
            assert_eq!(child.try_wait().unwrap(), None, "it ended before it made a directory");
            sleep(PAUSE);
        }
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
            sleep(PAUSE);
        };
        assert_eq!((status.signal(), count()), (Some(SIGTERM), 0), "{status}");
    }

    /// Hears signals, and does nothing about the wish.
    fn hold(parent: &Path) {
        let _interrupt = hear_signals().unwrap();
        let _directory = TemporaryDirectory::within(parent, "test").unwrap();
        sleep(LONG);
    }
}
