//! What watching costs: the dashboard with four clients, and an A/A comparison of trials that
//! are watched with trials that are not.

use crate::Bar;
use crate::binary::Binary;
use crate::idle::{cpu_time_ns, end};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Trials in which the machine sleeps, so that whatever runs is the dashboard's.
const IDLE: &str = "title = \"watched sleep\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\n\
    [subjects.a]\n[subjects.b]\nnice = \"0\"\n\
    [[workloads]]\nuse = \"command\"\nrun = [\"/bin/sleep\", \"20\"]\ninvocations = 1\n";
/// The exit code of a run in which a subject has no valid block (docs/exit-codes.md).
const NO_VALID_BLOCK: i32 = 6;
/// Two subjects that differ in a name. The second is watched, the first is not.
const SAME: &str = "title = \"Does watching cost anything?\"\nvenue = \"host\"\nblocks = BLOCKS\n\
    control = false\nSETTLE\nmargin = \"10%\"\n[subjects.alone]\n[subjects.watched]\nnice = \"0\"\n\
    [[workloads]]\nuse = \"messaging\"\nLOOPS\nprimary = [\"makespan\"]\n\
    [[workloads]]\nuse = \"wakeup\"\nduration = \"LENGTH\"\nprimary = [\"requests_per_second\"]\n";
const CLIENTS: usize = 4;
/// Until everything is up and the first trial's workload sleeps.
const BEFORE: Duration = Duration::from_secs(4);
const WINDOW: Duration = Duration::from_secs(9);
const SMOKE_WINDOW: Duration = Duration::from_millis(300);
/// Share of one CPU.
const LARGEST_SHARE: f64 = 0.01;
const LARGEST_PSS_KB: u64 = 15 << 10;
/// What the line that tells where the dashboard is begins with.
const ADDRESS: &str = "live: http://";
/// So many lines may come before it.
const MOST_LINES_BEFORE: usize = 16;
/// How often the campaign's log is looked at.
const LOOKED_EVERY: Duration = Duration::from_millis(20);

/// A run with a dashboard, and how to reach that.
struct Watched {
    run: Child,
    host: String,
    token: String,
}

impl Watched {
    fn start(binary: &Binary, name: &str, experiment: &str) -> Result<Self, String> {
        let file = binary.experiment(name, experiment)?.display().to_string();
        let mut run = binary
            .command(&["run", "--fresh", "--live", &file])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut told = BufReader::new(run.stderr.take().ok_or("no standard error")?);
        let said = told.by_ref().lines().map_while(Result::ok);
        let mut said = said.take(MOST_LINES_BEFORE);
        let line = said.find(|line| line.starts_with(ADDRESS)).unwrap_or_default();
        // The rest must go somewhere, or the run would wait for a reader.
        thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
        let address = line.trim().strip_prefix(ADDRESS);
        let parts = address.and_then(|address| address.split_once("/login?t="));
        let (host, token) = parts.ok_or("the run does not say where its dashboard is")?;
        Ok(Self { run, host: host.to_owned(), token: token.to_owned() })
    }

    /// A client that reads what comes until its connection is shut down.
    fn client(&self) -> Result<(TcpStream, JoinHandle<()>), String> {
        let text = |error: std::io::Error| error.to_string();
        let mut stream = TcpStream::connect(&self.host).map_err(text)?;
        let request = format!(
            "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.host, self.token
        );
        stream.write_all(request.as_bytes()).map_err(text)?;
        let mut reading = stream.try_clone().map_err(text)?;
        let reader = thread::spawn(move || {
            let mut bytes = [0; 1 << 16];
            while reading.read(&mut bytes).is_ok_and(|length| length > 0) {}
        });
        Ok((stream, reader))
    }

    /// The dashboard's process: the run's child that was told to be one.
    fn dashboard(&self) -> Result<u32, String> {
        let pid = self.run.id();
        let path = format!("/proc/{pid}/task/{pid}/children");
        let children = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let is_it = |child: &&str| {
            fs::read_to_string(format!("/proc/{child}/cmdline"))
                .is_ok_and(|words| words.contains("\0serve\0--beside\0"))
        };
        let found = children.split_whitespace().find(is_it).and_then(|child| child.parse().ok());
        found.ok_or_else(|| "the run has no dashboard".to_owned())
    }
}

/// CPU time and memory of the dashboard while four clients watch a machine that sleeps.
pub fn cost(binary: &Binary) -> Result<Bar, String> {
    let mut watched = Watched::start(binary, "watched-sleep", IDLE)?;
    let measured = measure(&watched, binary.amount(WINDOW, SMOKE_WINDOW));
    end(&mut watched.run)?;
    let (share, Memory { resident_kb, pss_kb }) = measured?;
    Ok(Bar {
        name: "dashboard with 4 clients: CPU, memory (Pss)",
        measured: format!(
            "{:.2} %, {} MB ({} MB resident)",
            100.0 * share,
            pss_kb >> 10,
            resident_kb >> 10
        ),
        limit: format!("{} %, 15 MB", 100.0 * LARGEST_SHARE),
        holds: share < LARGEST_SHARE && pss_kb < LARGEST_PSS_KB,
    })
}

/// What a process keeps in memory, as `smaps_rollup` of proc(5) counts it.
struct Memory {
    resident_kb: u64,
    /// The proportional set size: a page of the program that the campaign's own process maps as
    /// well is counted in halves. It is what watching adds to the machine, however large the
    /// program is that both run.
    pss_kb: u64,
}

impl Memory {
    fn of(pid: u32) -> Result<Self, String> {
        let path = format!("/proc/{pid}/smaps_rollup");
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let value = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            value.ok_or_else(|| format!("{path} has no {name}"))
        };
        Ok(Self { resident_kb: field("Rss:")?, pss_kb: field("Pss:")? })
    }
}

fn measure(watched: &Watched, window: Duration) -> Result<(f64, Memory), String> {
    let clients: Result<Vec<_>, String> = (0..CLIENTS).map(|_| watched.client()).collect();
    let clients = clients?;
    thread::sleep(BEFORE);
    let pid = watched.dashboard()?;
    let (start_ns, before_ns) = (sys::monotonic_ns(), cpu_time_ns(pid)?);
    thread::sleep(window);
    let spent_ns = cpu_time_ns(pid)?.saturating_sub(before_ns);
    let share = spent_ns as f64 / (sys::monotonic_ns() - start_ns) as f64;
    let memory = Memory::of(pid);
    leave(clients);
    Ok((share, memory?))
}

/// Says goodbye to all of them.
fn leave(clients: Vec<(TcpStream, JoinHandle<()>)>) {
    for (stream, reader) in clients {
        let _ = stream.shutdown(Shutdown::Both);
        let _ = reader.join();
    }
}

/// Trials with four clients against trials with none, block by block in random order.
pub fn same(binary: &Binary) -> Result<Bar, String> {
    let experiment = SAME
        .replace("BLOCKS", binary.amount("12", "2"))
        .replace("SETTLE", binary.amount("", "settle = \"0s\""))
        .replace("LOOPS", binary.amount("", "loops = 3"))
        .replace("LENGTH", binary.amount("1s", "500ms"));
    let mut watched = Watched::start(binary, "watched", &experiment)?;
    let mut clients = Vec::new();
    let status = loop {
        if let Some(status) = watched.run.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        match (is_to_be_watched(binary), clients.is_empty()) {
            (true, true) => {
                let all: Result<Vec<_>, String> = (0..CLIENTS).map(|_| watched.client()).collect();
                clients = all?;
            }
            (false, false) => leave(std::mem::take(&mut clients)),
            _ => {}
        }
        thread::sleep(LOOKED_EVERY);
    };
    // Beside other tests so few blocks may leave none that is valid, and there is nothing to judge.
    let is_disturbed = binary.amount(false, status.code() == Some(NO_VALID_BLOCK));
    if !status.success() && !is_disturbed {
        return Err(format!("the watched run ended with {status}"));
    }
    let report = binary.json(&["show", "last", "--format", "json"])?;
    judged(&report, binary.amount(10, 1))
}

/// Whether the campaign's last trial so far is one of the watched subject's.
fn is_to_be_watched(binary: &Binary) -> bool {
    let campaigns = fs::read_dir(binary.results()).into_iter().flatten().flatten();
    let newest = campaigns.map(|entry| entry.path()).filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("watched-2"))
    });
    let Some(newest) = newest.max() else { return false };
    let text = fs::read_to_string(newest.join("logs/events.jsonl")).unwrap_or_default();
    let is_begin = |line: &&str| line.contains("\"event\":\"trial_started\"");
    text.lines().rfind(is_begin).is_some_and(|line| line.contains("\"subject\":\"watched\""))
}

/// Whether somebody watched for most of a trial. A client that has left is noticed when the
/// server next has something for it, which may be in the trial after.
fn is_watched(record: &Value) -> bool {
    let caveats = record["caveats"].as_array().into_iter().flatten();
    let detail =
        caveats.filter(|one| one["code"] == "WATCHED").find_map(|one| one["detail"].as_str());
    let seconds = detail
        .and_then(|detail| detail.rsplit_once("for "))
        .and_then(|(_, rest)| rest.strip_suffix(" s"))
        .and_then(|seconds| seconds.parse::<f64>().ok());
    let trial_s = record["duration_ns"].as_f64().unwrap_or(f64::INFINITY) / 1e9;
    seconds.is_some_and(|seconds| seconds > trial_s / 2.0)
}

/// One record in so many may be wrong about whether somebody watched.
fn judged(report: &Value, one_in: usize) -> Result<Bar, String> {
    let records = report["records"].as_array().ok_or("the report holds no records")?;
    let is_wrong = |record: &&Value| is_watched(record) != (record["subject"] == "watched");
    let wrong = records.iter().filter(is_wrong).count();
    if wrong > records.len() / one_in {
        return Err(format!(
            "{wrong} of {} records say the opposite of who watched",
            records.len()
        ));
    }
    let findings = report["findings"]["findings"].as_array().ok_or("there are no findings")?;
    let primary = findings.iter().filter(|finding| finding["question"]["role"] == "primary");
    let mut told = Vec::new();
    let mut holds = true;
    for finding in primary {
        let effect = &finding["effect"];
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let interval = &effect["interval"];
        told.push(format!(
            "{} {:.3} [{:.3}, {:.3}]",
            finding["question"]["metric"].as_str().unwrap_or_default(),
            number(&effect["ratio"]),
            number(&interval["low"]),
            number(&interval["high"])
        ));
        holds &= finding["verdict"] != "worse";
    }
    Ok(Bar {
        name: "watched by 4 clients against alone, above 1 is better",
        measured: told.join(", "),
        limit: "not worse".to_owned(),
        holds,
    })
}
