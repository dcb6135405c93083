//! A bench to run the binary on: a directory of its own for everything.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::time::{Duration, Instant};

/// A simulated subject that is a tenth faster: decided in the blink of an eye.
pub const KNOWN_EFFECT: &str = r#"
title  = "A known effect"
venue  = "sim"
blocks = 8
seed   = 7
margin = "3%"

[subjects.baseline]
[subjects.faster]
sim_effect = "10%"

[[workloads]]
use = "messaging"
primary = ["makespan"]
"#;

/// The suite of the EEVDF study, changed as its comment says to run on a host.
pub fn eevdf_suite_on_the_host() -> String {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/eevdf-configs.toml");
    let text = std::fs::read_to_string(suite).unwrap();
    let is_kept = |line: &&str| !line.starts_with("kernel = ");
    let lines: Vec<&str> = text.lines().filter(is_kept).collect();
    let on_host = lines.join("\n").replacen("venue = \"vm\"", "venue = \"host\"", 1);
    assert!(lines.len() + 1 == text.lines().count() && on_host.contains("venue = \"host\""));
    on_host
}

/// A temporary directory with an experiment, and the binary's command line. Tests do not see each
/// other: journal, lock and marks are a bench's own.
pub struct Bench {
    directory: tempfile::TempDir,
    arguments: Vec<String>,
    _machine: testing::TestLock,
}

impl Bench {
    /// A bench beside others.
    pub fn new() -> Self {
        Self::with(testing::share(testing::MACHINE))
    }

    /// A bench for turning knobs of the whole machine: no other test runs on it meanwhile.
    pub fn alone() -> Self {
        Self::with(testing::lock(testing::MACHINE))
    }

    fn with(machine: testing::TestLock) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let text = |path: PathBuf| path.display().to_string();
        let arguments = vec![
            "--runtime-dir".to_owned(),
            text(directory.path().join("run")),
            "--results".to_owned(),
            text(directory.path().join("results")),
        ];
        Self { directory, arguments, _machine: machine }
    }

    /// The same, on a machine made of the files below `root`.
    pub fn on_fake_root(mut self, root: &Path) -> Self {
        self.arguments.extend(["--root".to_owned(), root.display().to_string()]);
        self
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn results(&self) -> PathBuf {
        self.path().join("results")
    }

    /// Writes an experiment and returns its path.
    pub fn experiment(&self, name: &str, text: &str) -> String {
        let path = self.path().join(format!("{name}.toml"));
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Writes a program and returns its path.
    pub fn program(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
        command.args(&self.arguments).args(arguments).current_dir(self.path());
        // Sentences that tests look for stay on one line.
        command.env("COLUMNS", "100");
        command
    }

    /// Runs, and accepts any end but a fault of schedlab itself. Kills at a step of a machine of
    /// files are ends, too.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert!(!is_own_fault(output.status), "{arguments:?}: {}", errors(&output));
        output
    }

    /// Runs and insists on the exit code; returns standard output.
    pub fn expect(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{text}\n{errors}");
        text
    }

    /// What the marks of everything begin with that was started from this bench.
    pub fn mark(&self) -> String {
        executor::mark_prefix(&self.path().join("run"))
    }

    /// Processes that runs of this bench have started and marked.
    pub fn processes(&self) -> Vec<i32> {
        let variable = format!("SCHEDLAB_MARK={}", self.mark());
        let is_ours = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|text| text.starts_with(variable.as_bytes()))
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(is_ours).collect()
    }

    /// Processes and control groups that runs of this bench have left.
    pub fn left(&self) -> Vec<String> {
        let processes = self.processes().into_iter().map(|pid| format!("/proc/{pid}"));
        processes.chain(self.control_groups()).collect()
    }

    /// Control groups of this bench's runs, in whatever hierarchy.
    pub fn control_groups(&self) -> Vec<String> {
        let ours = format!("/schedlab.{}", self.mark());
        let roots = ["", "/unified", "/cpu", "/cpu,cpuacct", "/blkio"];
        let entries = |root: &str| std::fs::read_dir(format!("/sys/fs/cgroup{root}")).into_iter();
        let groups = roots.into_iter().flat_map(entries).flatten().flatten();
        let paths = groups.map(|entry| entry.path().display().to_string());
        paths.filter(|path| path.contains(&ours)).collect()
    }

    /// Waits until the guardian of a killed run has ended: it holds the lock so long.
    pub fn wait_for_guardian(&self) {
        if let Ok(lock) = File::open(self.path().join("run/lock")) {
            lock.lock().unwrap();
        }
    }

    /// The guardian of the run on this bench, while it lives.
    pub fn guardian(&self) -> Option<rustix::process::Pid> {
        let runtime = self.path().join("run").display().to_string();
        let is_ours = |words: &[u8]| {
            let words = String::from_utf8_lossy(words);
            words.contains("__guardian") && words.contains(&runtime)
        };
        let guardian = std::fs::read_dir("/proc").unwrap().flatten().find(|entry| {
            std::fs::read(entry.path().join("cmdline")).is_ok_and(|words| is_ours(&words))
        });
        let pid: i32 = guardian?.file_name().to_str()?.parse().ok()?;
        rustix::process::Pid::from_raw(pid)
    }

    /// Kills the guardian of the run on this bench.
    pub fn kill_guardian(&self) {
        let pid = self.guardian().unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    /// The only campaign's directory.
    pub fn campaign(&self) -> PathBuf {
        let mut campaigns: Vec<PathBuf> =
            std::fs::read_dir(self.results()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(campaigns.len(), 1, "{campaigns:?}");
        campaigns.remove(0)
    }

    /// Lines of the only campaign's records.
    pub fn record_lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.campaign().join("records.jsonl")).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// A directory of a user without root's rights, in which that user runs a copy of the binary: UID
/// nobody where root runs the tests, otherwise the user who runs them.
pub struct UnprivilegedUser {
    directory: tempfile::TempDir,
    id: u32,
    _machine: testing::TestLock,
}

impl UnprivilegedUser {
    const BINARY: &'static str = "a-copy-of-schedlab";
    const NOBODY: u32 = 65_534;

    pub fn new() -> Self {
        Self::with_id(Self::NOBODY)
    }

    /// The same with another UID where root runs the tests.
    pub fn with_id(id: u32) -> Self {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        // The build may lie where only root may look.
        let binary = directory.path().join(Self::BINARY);
        std::fs::copy(env!("CARGO_BIN_EXE_schedlab"), binary).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(directory.path(), Some(id), Some(id)).unwrap();
        }
        Self { directory, id, _machine: testing::share(testing::MACHINE) }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes an experiment and returns its path.
    pub fn experiment(&self, text: &str) -> String {
        let path = self.path().join("experiment.toml");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path().join(Self::BINARY));
        command.args(arguments).current_dir(self.path()).env("COLUMNS", "100");
        command.env("XDG_STATE_HOME", self.path().join("state"));
        command.env("XDG_RUNTIME_DIR", self.path());
        if rustix::process::geteuid().is_root() {
            command.uid(self.id).gid(self.id);
        }
        command
    }

    /// Runs and insists on success; returns the output.
    pub fn expect(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", errors(&output));
        output
    }
}

/// Has the program started with this umask.
pub fn set_umask(command: &mut Command, umask: u32) {
    // SAFETY: umask(2) is async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
            Ok(())
        });
    }
}

/// Permissions of a file or a directory, for its user, its group and others.
pub fn permissions(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Whether a terminal obeys nothing of what a command wrote.
pub fn assert_inert(what: &str, output: &Output) {
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(stream.clone()).unwrap();
        let is_obeyed = |letter: &char| !matches!(letter, '\n' | '\t') && model::is_obeyed(*letter);
        assert_eq!(text.chars().find(is_obeyed), None, "{what}: {text:?}");
    }
}

/// Whether schedlab itself failed: a command and a role turn a panic into 9, and one that nothing caught
/// ends in 101.
pub fn is_own_fault(status: ExitStatus) -> bool {
    matches!(status.code(), Some(9 | 101))
}

/// The words of a process, with a blank after each; none of one that has ended.
pub fn command_line(pid: i32) -> String {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

/// What the error stream said.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Longest that anything waits for what another process does: a little less than a test may take
/// (.config/nextest.toml).
pub const PATIENCE: Duration = Duration::from_secs(870);

/// Waits until it is so.
pub fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    wait_within(PATIENCE, what, is_so);
}

/// Waits until it is so, and no longer than this.
pub fn wait_within(patience: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + patience;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_panic_is_a_fault_of_schedlab_and_neither_a_verdict_nor_a_kill_is_one() {
        let exited = |code: i32| is_own_fault(ExitStatus::from_raw(code << 8));
        assert!(exited(9) && exited(101));
        let others = [0, 1, 2, 3, 4, 5, 6, 7, 8, 125, 130, 143];
        assert_eq!(others.into_iter().find(|code| exited(*code)), None);
        // Signals 9 and 101: of no exit code.
        assert!(!is_own_fault(ExitStatus::from_raw(9)));
        assert!(!is_own_fault(ExitStatus::from_raw(101)));
    }

    #[test]
    fn a_bench_finds_the_processes_with_its_mark_and_none_of_a_neighbours() {
        let (bench, neighbour) = (Bench::new(), Bench::new());
        let start = |mark: String| {
            Command::new("sleep").arg("60").env("SCHEDLAB_MARK", mark).spawn().unwrap()
        };
        let mut sleepers = [&bench, &neighbour].map(|bench| start(bench.mark() + "-test"));
        let found = (bench.processes(), neighbour.processes());
        let pids = sleepers.each_ref().map(|sleeper| sleeper.id().cast_signed());
        let words = pids.map(command_line);
        for sleeper in &mut sleepers {
            sleeper.kill().unwrap();
            sleeper.wait().unwrap();
        }
        assert_eq!(found, (vec![pids[0]], vec![pids[1]]));
        assert_eq!(words, ["sleep 60 "; 2], "the words do not tell them apart");
        assert_eq!((bench.processes(), command_line(pids[0])), (Vec::new(), String::new()));
    }
}
