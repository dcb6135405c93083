//! The dashboard beside a run: `schedlab serve` as a process of its own, without privileges and
//! at the lowest priority. The run hands it nothing but its end; it reports its clients to the run.

use crate::cli::Common;
use crate::output::tell;
use assembly::executable;
use contract::{Error, ErrorKind, Result};
use model::{Caveat, CaveatCode};
use report::Language;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Clients are shown the end for so long before the dashboard ends too.
#[cfg(feature = "server")]
pub(crate) const LINGERS: Duration = Duration::from_secs(3);
/// It ends by itself sooner than this.
const LONGEST_END: Duration = Duration::from_secs(20);
const END_CHECKED_EVERY: Duration = Duration::from_millis(20);

/// What it tells, a line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServeMessage {
    /// It listens; the address holds the token.
    Ready { address: String },
    /// So many watch.
    Watchers { count: usize },
}

/// A dashboard that runs.
pub(crate) struct DashboardProcess {
    child: Child,
    input: Option<ChildStdin>,
    watching: Arc<Mutex<ClientCount>>,
}

/// Clients since the last call of [`Self::take`].
#[derive(Debug)]
struct ClientCount {
    now: usize,
    most: usize,
    since: Instant,
    watched: Duration,
}

impl ClientCount {
    fn note(&mut self, count: usize, at: Instant) {
        if self.now > 0 {
            self.watched += at.saturating_duration_since(self.since);
        }
        self.since = at;
        self.now = count;
        self.most = self.most.max(count);
    }

    /// What was seen since the last call.
    fn take(&mut self, at: Instant) -> Option<Caveat> {
        self.note(self.now, at);
        let (most, watched) = (self.most, self.watched);
        (self.most, self.watched) = (self.now, Duration::ZERO);
        let clients = if most == 1 { "client was" } else { "clients were" };
        (most > 0).then(|| {
            let detail = format!("{most} {clients} connected, for {:.1} s", watched.as_secs_f64());
            Caveat::new(CaveatCode::Watched, detail)
        })
    }
}

fn lock(watching: &Mutex<ClientCount>) -> MutexGuard<'_, ClientCount> {
    watching.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DashboardProcess {
    /// Starts it, and tells its address.
    ///
    /// # Errors
    /// When it does not come up.
    pub(crate) fn start(common: &Common, port: u16, language: Language) -> Result<Self> {
        let results = &common.results;
        let attempted = "cannot start the dashboard";
        std::fs::create_dir_all(results).map_err(|error| {
            Error::environment(format!("cannot create {}", results.display()), error)
        })?;
        let mut command = Command::new(executable());
        // What the machine knows of its campaigns, and what their kernels are.
        for (option, directory) in
            [("--runtime-dir", &common.runtime_dir), ("--cache", &common.cache)]
        {
            if let Some(directory) = directory {
                command.arg(option).arg(directory);
            }
        }
        let mut child = command
            .arg("serve")
            .arg("--beside")
            .args(["--port", &port.to_string()])
            .args(["--lang", language.code()])
            .arg("--results")
            .arg(results)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is for the run: this one shows its end.
            .process_group(0)
            .spawn()
            .map_err(|error| Error::environment(attempted, error))?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let Some((input, output)) = streams else {
            return Err(Error::environment(attempted, "it has no standard streams"));
        };
        let at = Instant::now();
        let watching = ClientCount { now: 0, most: 0, since: at, watched: Duration::ZERO };
        let dashboard =
            Self { child, input: Some(input), watching: Arc::new(Mutex::new(watching)) };
        let mut output = BufReader::new(output);
        let Some(ServeMessage::Ready { address }) = next(&mut output) else {
            return Err(Error::new(
                ErrorKind::Environment,
                attempted,
                "it ended before it listened",
                "run without --live, or see what `schedlab serve` says",
            ));
        };
        tell(&format!("live: {address}"));
        dashboard.listen(output)?;
        Ok(dashboard)
    }

    fn listen(&self, mut output: BufReader<ChildStdout>) -> Result<()> {
        let watching = Arc::clone(&self.watching);
        std::thread::Builder::new()
            .name("dashboard".to_owned())
            .spawn(move || {
                while let Some(told) = next(&mut output) {
                    if let ServeMessage::Watchers { count } = told {
                        lock(&watching).note(count, Instant::now());
                    }
                }
                lock(&watching).note(0, Instant::now());
            })
            .map_err(|error| Error::environment("cannot listen to the dashboard", error))?;
        Ok(())
    }

    /// Clients since the last call.
    pub(crate) fn watched(&self) -> Option<Caveat> {
        lock(&self.watching).take(Instant::now())
    }
}

/// What it tells next; `None` when it has ended, or tells what nobody understands.
fn next(output: &mut impl BufRead) -> Option<ServeMessage> {
    let mut line = String::new();
    output.read_line(&mut line).ok().filter(|length| *length > 0)?;
    serde_json::from_slice(line.as_bytes()).ok()
}

impl Drop for DashboardProcess {
    /// The end of its input is its sign to end.
    fn drop(&mut self) {
        self.input = None;
        let asked = Instant::now();
        while asked.elapsed() < LONGEST_END {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(END_CHECKED_EVERY);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_who_watched_during_its_trial_and_no_other() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut watching = ClientCount { now: 0, most: 0, since: began, watched: Duration::ZERO };
        assert_eq!(watching.take(after(1)), None);
        watching.note(2, after(2));
        watching.note(1, after(4));
        let told = |caveat: Option<Caveat>| caveat.map(|caveat| caveat.detail);
        assert_eq!(told(watching.take(after(7))).unwrap(), "2 clients were connected, for 5.0 s");
        assert_eq!(told(watching.take(after(8))).unwrap(), "1 client was connected, for 1.0 s");
        watching.note(0, after(9));
        assert_eq!(told(watching.take(after(10))).unwrap(), "1 client was connected, for 1.0 s");
        assert_eq!(watching.take(after(20)), None);
    }
}
