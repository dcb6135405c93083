//! QEMU's own control channel: the few commands of QMP that saving a machine, restoring it
//! and pinning its processors need, and the events that tell of a pause
//! (docs/interop/qmp-spec.txt, QEMU 7.2).

use contract::{Error, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::time::Timespec;
use serde_json::{Value, json};
use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often progress is asked for.
const INTERVAL: Duration = Duration::from_millis(10);
/// An answer is never longer.
const LONGEST_ANSWER: usize = 1 << 20;
/// The name of a descriptor that was handed over.
const STATE: &str = "state";

/// A control channel; QEMU's greeting is answered before the first command.
pub(crate) struct Control {
    stream: UnixStream,
    received: Vec<u8>,
    is_greeted: bool,
    /// QEMU told of a pause, or of its end, that nobody has asked for yet.
    was_paused: bool,
}

impl Control {
    /// The channel that a machine was started with.
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self { stream, received: Vec::new(), is_greeted: false, was_paused: false }
    }

    fn greet(&mut self) -> Result<()> {
        if self.is_greeted {
            return Ok(());
        }
        let greeting = self.next_line()?;
        if greeting.get("QMP").is_none() {
            return Err(failed("greet QEMU", format!("it said {greeting}")));
        }
        self.is_greeted = true;
        self.execute("qmp_capabilities", &json!({})).map(drop)
    }

    /// Saves the whole machine into a file of ours. It is stopped then.
    ///
    /// # Errors
    /// When it cannot be saved.
    pub(crate) fn save(&mut self, file: &impl AsFd) -> Result<()> {
        self.execute("stop", &json!({}))?;
        self.hand_over(file)?;
        self.execute("migrate", &json!({ "uri": format!("fd:{STATE}") }))?;
        self.wait_for("query-migrate", |answer| match answer["status"].as_str() {
            Some("completed") => Some(Ok(())),
            Some("failed" | "cancelled") => Some(Err(answer["error-desc"].to_string())),
            _ => None,
        })
    }

    /// Waits until a machine that was started from a saved one is whole, and lets it run.
    ///
    /// # Errors
    /// When the saved machine does not fit.
    pub(crate) fn resume(&mut self) -> Result<()> {
        self.wait_for("query-status", |answer| match answer["status"].as_str() {
            Some("inmigrate") => None,
            Some(_) => Some(Ok(())),
            None => Some(Err(answer.to_string())),
        })?;
        self.execute("cont", &json!({})).map(drop)
    }

    /// The host threads of the virtual processors, in their order.
    ///
    /// # Errors
    /// When QEMU does not tell.
    pub(crate) fn processor_threads(&mut self) -> Result<Vec<i32>> {
        let answer = self.execute("query-cpus-fast", &json!({}))?;
        let threads = answer.as_array().into_iter().flatten();
        threads
            .map(|processor| {
                processor["thread-id"]
                    .as_i64()
                    .and_then(|id| i32::try_from(id).ok())
                    .ok_or_else(|| failed("ask for processors", format!("it said {processor}")))
            })
            .collect()
    }

    /// Whether the machine was paused since this was asked last, whether it goes on again or not:
    /// QEMU tells every monitor of both, however short the pause was and at whichever monitor it was
    /// ordered (events STOP and RESUME). It tells nothing of what was before the first time that this
    /// was asked, nor where it cannot be asked.
    pub(crate) fn was_paused(&mut self) -> bool {
        let heard = self.greet().and_then(|()| self.take_events());
        if let Err(error) = heard {
            tracing::debug!(why = error.one_line(), "QEMU does not tell of pauses");
        }
        std::mem::take(&mut self.was_paused)
    }

    /// Reads what has arrived, and waits for nothing.
    fn take_events(&mut self) -> Result<()> {
        let mut is_more = Ok(true);
        while matches!(is_more, Ok(true)) && self.received.len() <= LONGEST_ANSWER {
            is_more = self.receive(Duration::ZERO);
        }
        // One that has ended may have told of a pause before.
        while self.line_received()?.is_some() {}
        is_more?;
        Ok(())
    }

    fn wait_for(
        &mut self,
        question: &str,
        is_over: impl Fn(&Value) -> Option<std::result::Result<(), String>>,
    ) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.execute(question, &json!({}))?;
            match is_over(&answer) {
                Some(Ok(())) => return Ok(()),
                Some(Err(why)) => return Err(failed(question, why)),
                None if Instant::now() >= deadline => {
                    return Err(failed(question, format!("still {answer} after 60 s")));
                }
                None => std::thread::sleep(INTERVAL),
            }
        }
    }

    /// Passes a descriptor with the command that names it.
    fn hand_over(&mut self, file: &impl AsFd) -> Result<()> {
        let command = line("getfd", &json!({ "fdname": STATE }));
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        let descriptors = [file.as_fd()];
        if !rights.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(failed("hand a file over", "no room for its descriptor".to_owned()));
        }
        sendmsg(&self.stream, &[IoSlice::new(&command)], &mut rights, SendFlags::NOSIGNAL)
            .map_err(|error| failed("hand a file over", error.to_string()))?;
        self.answer("getfd").map(drop)
    }

    fn execute(&mut self, command: &str, arguments: &Value) -> Result<Value> {
        self.greet()?;
        self.stream
            .write_all(&line(command, arguments))
            .map_err(|error| failed(command, error.to_string()))?;
        self.answer(command)
    }

    /// The answer to a command; events in between are passed over.
    fn answer(&mut self, command: &str) -> Result<Value> {
        loop {
            let mut answer = self.next_line()?;
            if let Some(error) = answer.get("error") {
                return Err(failed(command, error["desc"].to_string()));
            }
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
        }
    }

    fn next_line(&mut self) -> Result<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(line) = self.line_received()? {
                return Ok(line);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.received.len() > LONGEST_ANSWER {
                return Err(failed("hear from QEMU", "it says nothing".to_owned()));
            }
            self.receive(left)?;
        }
    }

    /// A line that has arrived; what it tells of a pause is kept.
    fn line_received(&mut self) -> Result<Option<Value>> {
        let Some(end) = self.received.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        let line: Vec<u8> = self.received.drain(..=end).collect();
        let line: Value = serde_json::from_slice(&line)
            .map_err(|error| failed("understand QEMU", error.to_string()))?;
        self.was_paused |= matches!(line["event"].as_str(), Some("STOP" | "RESUME"));
        Ok(Some(line))
    }

    /// Whether anything came in time.
    fn receive(&mut self, patience: Duration) -> Result<bool> {
        let mut descriptors = [PollFd::new(&self.stream, PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        if !matches!(poll(&mut descriptors, Some(&timeout)), Ok(count) if count > 0) {
            return Ok(false);
        }
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(failed("hear from QEMU", "it ended".to_owned())),
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                Ok(true)
            }
            Err(error) => Err(failed("hear from QEMU", error.to_string())),
        }
    }
}

fn line(command: &str, arguments: &Value) -> Vec<u8> {
    let mut line = json!({ "execute": command, "arguments": arguments }).to_string().into_bytes();
    line.push(b'\n');
    line
}

fn failed(what: &str, why: String) -> Error {
    Error::environment(format!("cannot control the machine ({what})"), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As QEMU 7.2.22 wrote it when another monitor said `stop` and `cont`.
    const GREETING: &str = r#"{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, "package": "Debian 1:7.2+dfsg-7+deb12u18+b3"}, "capabilities": ["oob"]}}
{"return": {}}
"#;
    const STOP: &str = r#"{"timestamp": {"seconds": 1795770637, "microseconds": 235158}, "event": "STOP"}
"#;
    const RESUME: &str = r#"{"timestamp": {"seconds": 1795770637, "microseconds": 635293}, "event": "RESUME"}
"#;
    const SHUTDOWN: &str = r#"{"timestamp": {"seconds": 1795770638, "microseconds": 35952}, "event": "SHUTDOWN", "data": {"guest": false, "reason": "host-qmp-quit"}}
"#;

    #[test]
    fn a_pause_and_its_end_are_told_once_and_other_events_are_none() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut control = Control::new(ours);
        theirs.write_all(GREETING.as_bytes()).unwrap();
        assert!(!control.was_paused(), "greeted, and nothing happened");
        for (told, was_paused) in [
            (format!("{STOP}{RESUME}"), true),
            (String::new(), false),
            (STOP.to_owned(), true),
            (RESUME.to_owned(), true),
            (SHUTDOWN.to_owned(), false),
            (STOP[..40].to_owned(), false),
            (STOP[40..].to_owned(), true),
        ] {
            theirs.write_all(told.as_bytes()).unwrap();
            assert_eq!(control.was_paused(), was_paused, "{told}");
        }
        // What came between commands counts as well.
        let answer = r#"{"return": {"status": "paused"}}"#;
        theirs.write_all(format!("{STOP}{answer}\n").as_bytes()).unwrap();
        assert_eq!(control.execute("query-status", &json!({})).unwrap()["status"], "paused");
        theirs.write_all(RESUME.as_bytes()).unwrap();
        drop(theirs);
        assert!(control.was_paused(), "told before it ended");
        assert!(!control.was_paused());
    }
}
