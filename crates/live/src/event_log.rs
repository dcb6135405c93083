//! `logs/events.jsonl`: what happened in a campaign and when, for dashboard and `top`. No
//! verdict rests on it: a line that cannot be written is no reason to stop.

use contract::Event;
use model::Phase;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use sys::{Machine, Process};

/// The format of a line.
const FORMAT: &str = "schedlab.event/1";
/// Read at once; a longer rest is read the next time.
const MOST_BYTES: u64 = 16 << 20;

/// A line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    format: String,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    #[serde(flatten)]
    pub happened: Happened,
}

/// An event without what the plan and the records hold already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Happened {
    Opened { process: Process, boot_id: String },
    Started { trials_done: usize, trials_left: usize },
    TrialStarted { block: u32, subject: String, workload: String, trials_left: usize },
    Phase { phase: Phase },
    TrialFinished { sequence: u64 },
    BlockRepeated { block: u32, again: u32 },
    Notice { text: String },
    Ended,
}

/// Where the log of a campaign lies.
fn path(campaign: &Path) -> PathBuf {
    campaign.join("logs/events.jsonl")
}

/// Writes a campaign's events down as they come.
#[derive(Debug)]
pub struct EventLog {
    process: Option<Process>,
    boot_id: String,
    file: Option<File>,
    /// What came before the campaign had a directory.
    waiting: Vec<u8>,
}

impl EventLog {
    /// A log of what this process runs.
    pub fn new(machine: &Machine) -> Self {
        let pid = i32::try_from(std::process::id()).ok();
        let stat = pid.and_then(|pid| machine.process_stat(pid).ok());
        Self {
            process: stat.map(|stat| Process { pid: stat.pid, start_ticks: stat.start_ticks }),
            boot_id: machine.boot_id().unwrap_or_default(),
            file: None,
            waiting: Vec::new(),
        }
    }

    /// Takes in an event.
    pub fn note(&mut self, event: &Event, at_ms: u64) {
        if let Event::CampaignOpened { directory } = event {
            self.file = opened(&path(directory), &mut self.waiting).ok();
        }
        let Some(happened) = self.happened(event) else { return };
        let line = Line { format: FORMAT.to_owned(), at_ms, happened };
        let Ok(mut text) = serde_json::to_vec(&line) else { return };
        text.push(b'\n');
        match &mut self.file {
            // One call, so that a reader seldom finds half a line. What cannot be written
            // nobody can watch, and everything that counts is elsewhere.
            Some(file) => {
                let mut all = std::mem::take(&mut self.waiting);
                all.append(&mut text);
                let _ = file.write_all(&all);
            }
            None => self.waiting.append(&mut text),
        }
    }

    fn happened(&self, event: &Event) -> Option<Happened> {
        Some(match event {
            Event::CampaignOpened { .. } => {
                Happened::Opened { process: self.process?, boot_id: self.boot_id.clone() }
            }
            Event::CampaignStarted { trials_done, trials_left, .. } => {
                Happened::Started { trials_done: *trials_done, trials_left: *trials_left }
            }
            Event::TrialStarted { block, subject, workload, trials_left } => {
                Happened::TrialStarted {
                    block: *block,
                    subject: subject.clone(),
                    workload: workload.clone(),
                    trials_left: *trials_left,
                }
            }
            Event::TrialPhase(phase) => Happened::Phase { phase: *phase },
            Event::TrialFinished { record } => {
                Happened::TrialFinished { sequence: record.sequence }
            }
            Event::BlockRepeated { block, again } => {
                Happened::BlockRepeated { block: *block, again: *again }
            }
            Event::Notice(text) => Happened::Notice { text: text.clone() },
            Event::CampaignFinished { .. } => Happened::Ended,
        })
    }
}

/// A log to be added to. Where its last line was torn, the next must not go on with it.
fn opened(path: &Path, waiting: &mut Vec<u8>) -> std::io::Result<File> {
    let mut file = sys::append_to(path)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        waiting.insert(0, b'\n');
    }
    Ok(file)
}

/// Reads a growing log.
#[derive(Debug, Default)]
pub(crate) struct EventTail {
    bytes: u64,
}

impl EventTail {
    /// The rest of the log, however long it is, line by line.
    pub(crate) fn all(mut self, campaign: &Path, mut note: impl FnMut(Line)) {
        loop {
            let begin = self.bytes;
            self.read(campaign).into_iter().for_each(&mut note);
            if self.bytes == begin {
                return;
            }
        }
    }

    /// The complete lines since the last call; none where there is no log. A line that is not
    /// understood is left out: a later version may have written it.
    pub(crate) fn read(&mut self, campaign: &Path) -> Vec<Line> {
        let mut text = Vec::new();
        let opened = sys::open_regular(&path(campaign)).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.bytes))?;
            file.take(MOST_BYTES).read_to_end(&mut text)
        });
        let Some(end) = opened.ok().and(text.iter().rposition(|byte| *byte == b'\n')) else {
            return Vec::new();
        };
        self.bytes += end as u64 + 1;
        let lines = text[..end].split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).filter(is_known).collect()
    }
}

fn is_known(line: &Line) -> bool {
    line.format == FORMAT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine::host("/nonexistent")
    }

    #[test]
    fn what_came_before_the_directory_is_in_the_log_and_half_a_line_waits() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("logs")).unwrap();
        let mut log = EventLog::new(&machine());
        log.note(&Event::Notice("first".to_owned()), 1);
        log.note(&Event::CampaignOpened { directory: home.path().to_owned() }, 2);
        log.note(&Event::TrialPhase(Phase::Running { invocation: 1 }), 3);
        let mut tail = EventTail::default();
        let lines = tail.read(home.path());
        let at: Vec<u64> = lines.iter().map(|line| line.at_ms).collect();
        assert_eq!(at, [1, 2, 3]);
        assert!(matches!(&lines[1].happened, Happened::Opened { process, .. }
            if process.pid == i32::try_from(std::process::id()).unwrap()));
        assert_eq!(lines[2].happened, Happened::Phase { phase: Phase::Running { invocation: 1 } });

        let path = path(home.path());
        let half = r#"{"format":"schedlab.event/1","at_ms":4,"event":"en"#;
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str(
            "nonsense\n{\"format\":\"schedlab.event/9\",\"at_ms\":9,\"event\":\"ended\"}\n",
        );
        std::fs::write(&path, format!("{text}{half}")).unwrap();
        assert!(tail.read(home.path()).is_empty(), "neither half a line nor another version");
        std::fs::write(&path, format!("{text}{half}ded\"}}\n")).unwrap();
        let rest = tail.read(home.path());
        assert!(matches!(rest[..], [Line { at_ms: 4, happened: Happened::Ended, .. }]), "{rest:?}");
    }

    #[test]
    fn a_torn_line_does_not_swallow_what_the_next_run_says() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("logs")).unwrap();
        for text in ["", "{\"format\":\"schedlab.ev"] {
            std::fs::write(path(home.path()), text).unwrap();
            let mut log = EventLog::new(&machine());
            log.note(&Event::CampaignOpened { directory: home.path().to_owned() }, 2);
            let lines = EventTail::default().read(home.path());
            assert!(matches!(lines[..], [Line { at_ms: 2, .. }]), "{text:?}: {lines:?}");
        }
    }

    #[test]
    fn a_log_longer_than_one_reading_is_read_to_its_end() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("logs")).unwrap();
        let line = "{\"format\":\"schedlab.event/9\",\"at_ms\":1,\"event\":\"ended\"}\n";
        let last = line.replace("event/9", "event/1");
        let times = usize::try_from(2 * MOST_BYTES).unwrap() / line.len() + 2;
        std::fs::write(path(home.path()), line.repeat(times) + &last).unwrap();
        let mut lines = Vec::new();
        EventTail::default().all(home.path(), |line| lines.push(line));
        assert_eq!(lines.len(), 1, "what came before is of a later version");
    }

    #[test]
    fn a_log_that_cannot_be_written_costs_nothing() {
        let mut log = EventLog::new(&machine());
        log.note(&Event::CampaignOpened { directory: PathBuf::from("/nonexistent") }, 1);
        log.note(&Event::Notice("lost".to_owned()), 2);
        assert!(EventTail::default().read(Path::new("/nonexistent")).is_empty());
    }

    #[test]
    fn a_fifo_in_place_of_the_log_is_neither_read_nor_written_and_nobody_waits_for_it() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("logs")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path(home.path())).status().unwrap();
        assert!(made.success());
        let campaign = home.path().to_owned();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let lines = EventTail::default().read(&campaign).len();
            let mut log = EventLog::new(&machine());
            log.note(&Event::CampaignOpened { directory: campaign }, 1);
            // More than a FIFO holds that nobody reads (pipe(7)).
            log.note(&Event::Notice("x".repeat(1 << 20)), 2);
            sender.send((lines, log.file.is_none()))
        });
        let done = receiver.recv_timeout(std::time::Duration::from_secs(30));
        assert_eq!(done, Ok((0, true)));
    }
}
