//! Machines and runs for the tests of this crate.

use contract::{Probe, ProbeTarget};
use model::{RunReport, Sample};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use sys::Machine;

pub(crate) fn host() -> Machine {
    Machine::host("/nonexistent")
}

/// A machine of files; they vanish with it.
pub(crate) struct FakeMachine {
    machine: Machine,
    directory: tempfile::TempDir,
}

impl FakeMachine {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        let fake = Self { machine, directory };
        for (path, text) in files {
            fake.write(path, text);
        }
        fake
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.directory.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        sys::remove_tree(&self.directory.path().join(path.trim_start_matches('/'))).unwrap();
    }
}

impl std::ops::Deref for FakeMachine {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

/// A run of a second with 100 operations.
pub(crate) fn report() -> RunReport {
    RunReport { wall_ns: 1_000_000_000, operations: Some(100), ..RunReport::default() }
}

pub(crate) fn target(pid: i32) -> ProbeTarget {
    ProbeTarget {
        pid,
        group: pid,
        cgroups: Vec::new(),
        background: Vec::new(),
        cpus: "0-1".parse().unwrap(),
    }
}

/// A child that answers one line with some work done, in a group of its own.
pub(crate) struct Worker(Child);

impl Worker {
    /// A shell that waits for a line and then starts some processes of its own.
    pub(crate) fn start() -> Self {
        use std::os::unix::process::CommandExt;
        let script = "read line; for i in 1 2 3 4 5; do /bin/true; done; echo done; read line";
        let child = Command::new("/bin/sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        Self(child)
    }

    pub(crate) fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    /// Waits until it sleeps, which it does on its input alone.
    pub(crate) fn wait_until_asleep(&self, machine: &Machine) {
        while machine.process_stat(self.pid()).unwrap().state != 'S' {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Lets it do its work and waits for the end of it.
    pub(crate) fn work(&mut self) {
        use std::io::BufRead;
        self.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        let mut line = String::new();
        std::io::BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What a probe reports of a worker's work on this machine.
pub(crate) fn observe(probe: &dyn Probe, machine: &Machine) -> Vec<Sample> {
    let mut worker = Worker::start();
    let mut attached = probe.attach(machine, &target(worker.pid())).unwrap();
    attached.start().unwrap();
    let begin_ns = sys::monotonic_ns();
    worker.work();
    let report = RunReport { wall_ns: sys::monotonic_ns() - begin_ns, ..report() };
    attached.stop(&report).unwrap()
}

/// The quotient of one source; none where it was not emitted.
pub(crate) fn quotient(samples: &[Sample], source: &str) -> Option<f64> {
    samples.iter().find(|sample| sample.source == source).map(|sample| match sample.data {
        model::SampleData::Quotient { numerator, denominator } => numerator / denominator,
        _ => panic!("{sample:?}"),
    })
}
