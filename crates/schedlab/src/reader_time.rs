//! A command that reads what others may have written ends where that takes too much processor time.
//!
//! Limits of counts and bytes bound the work of each reader, and are what an input is refused by. This
//! one bounds the work that none of them foresaw, in whatever part of a command it is. It counts what
//! this process used of processors, so that neither a busy machine nor one that waits ends anything. A
//! command that has to put something back, or is about to store a campaign, is never ended by it.

use crate::exit::ExitCode;
use crate::output::tell_lines;
use crate::temporary::remove_held;
use model::{OverLimit, READER_SECONDS, ReaderLimit};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

/// Between two looks at the time that was used.
const PAUSE: Duration = Duration::from_millis(500);

/// While it is held, this process is ended where it used too much processor time.
pub(crate) struct ReaderTime {
    /// The watching thread ends with it.
    _held: Sender<()>,
}

impl ReaderTime {
    /// Begins to watch.
    pub(crate) fn bounded() -> Self {
        Self::watched(&READER_SECONDS, PAUSE, end_process)
    }

    /// The same with another limit, another pause and another end.
    fn watched(
        limit: &'static ReaderLimit,
        pause: Duration,
        end: impl FnOnce(OverLimit) + Send + 'static,
    ) -> Self {
        let (held, is_held) = channel::<()>();
        let watch = move || {
            while is_held.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                if let Err(over) = limit.check(sys::cpu_time().as_secs()) {
                    end(over);
                    return;
                }
            }
        };
        // Where no thread can be had, the command reads all the same, within its other limits.
        let _ = Builder::new().name("reader-time".to_owned()).spawn(watch);
        Self { _held: held }
    }
}

/// Ends this process, and says why. Its temporary directories go with it, as when a signal ends it.
#[expect(clippy::exit, reason = "no thread can end another one that computes")]
fn end_process(over: OverLimit) {
    tell_lines(&refusal(over));
    let _held = remove_held();
    std::process::exit(i32::from(ExitCode::Failure.number()));
}

/// What is told of an input that takes too long.
fn refusal(over: OverLimit) -> String {
    format!("schedlab: cannot read this to its end: {over}\n  {}", over.limit.remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::TryRecvError;

    static NO_SECONDS: ReaderLimit =
        ReaderLimit { name: "NO_SECONDS", most: 0, unit: "seconds", remedy: "give less" };

    #[test]
    fn a_process_that_used_too_much_processor_time_is_ended_by_the_name_of_the_limit() {
        let (sender, ended) = channel();
        let _held = ReaderTime::watched(&NO_SECONDS, Duration::from_millis(1), move |over| {
            sender.send(refusal(over)).unwrap();
        });
        // Until this process has used its first second.
        let told = loop {
            match ended.try_recv() {
                Ok(told) => break told,
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
                Err(TryRecvError::Disconnected) => panic!("nobody watches"),
            }
        };
        assert!(told.contains("more than 0 seconds (limit NO_SECONDS)"), "{told}");
        let told = refusal(READER_SECONDS.check(READER_SECONDS.most + 1).unwrap_err());
        assert!(told.contains("seconds of processor time (limit READER_SECONDS)"), "{told}");
    }

    #[test]
    fn what_is_no_longer_held_ends_nothing() {
        let (sender, ended) = channel();
        let end = move |over: OverLimit| sender.send(over).unwrap();
        drop(ReaderTime::watched(&READER_SECONDS, Duration::from_secs(60), end));
        // The thread ended, and what it would have told with it.
        assert!(ended.recv().is_err());
    }
}
