//! Real guests: QEMU boots Debian's kernels, with or without KVM. `.config/nextest.toml` says how
//! many at a time.

mod campaigns;
mod conformance;
mod corruption;
mod exec;
mod external;
mod fairness;
mod faults;
mod guest_kills;
mod host_load;
mod interruption;
mod kills;
mod knobs;
mod proofs;
mod prove;
mod replay;
mod schedulers;
mod storage;
mod suspended;
mod two_guests;

use crate::bench::{Bench, errors, wait_within};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use sys::PrivateDirectory;

/// Two kernels with CFS and two with EEVDF.
const KERNELS: [&str; 4] = ["debian:5.10", "debian:6.1", "debian:6.12", "debian:6.18"];
const QEMU: &str = "qemu-system-x86_64";
/// Longest that anything waits for what a guest does: a little less than a test of guests may take
/// (.config/nextest.toml). Beside a second run of all tests a guest is five to ten times as slow.
const GUEST_PATIENCE: Duration = Duration::from_secs(1740);
/// Until a boot is given up and tried again: three times the default, because a guest may be ten times
/// as slow.
const BOOT_TIMEOUT: &str = "180s";
/// What a runtime directory keeps of KVM until the host reboots.
const KVM_MEMO: &str = "kvm.json";

/// Whether guests can be booted here; fetches the kernels where they are not cached yet.
fn has_guests() -> bool {
    testing::begin();
    static LACK: OnceLock<Option<String>> = OnceLock::new();
    let lack = LACK.get_or_init(|| {
        if find_program(QEMU).is_none() {
            return Some(format!("guests need {QEMU}: apt-get install qemu-system-x86"));
        }
        let bench = Bench::new();
        let is_cached = |kernel: &str| bench.run(&["kernels", "show", kernel]).status.success();
        if KERNELS.iter().all(|kernel| is_cached(kernel)) {
            return None;
        }
        let output = bench.run(&[&["kernels", "fetch"], &KERNELS[..]].concat());
        let why = || format!("guests need kernels of Debian's archive: {}", errors(&output));
        (!output.status.success()).then(why)
    });
    match lack {
        Some(why) => testing::skip(why),
        None => return true,
    }
    false
}

/// Waits until it is so.
fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    wait_within(GUEST_PATIENCE, what, is_so);
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// A directory for a campaign in guests, whose machines can be told from all others.
struct Guests {
    bench: Bench,
    /// A word of the kernels' command lines: they pass it over, and it is ours alone.
    word: String,
    path: String,
}

impl Guests {
    fn new() -> Self {
        let bench = Bench::new();
        let name = bench.path().file_name().unwrap().to_string_lossy().into_owned();
        std::fs::create_dir(bench.path().join("tmp")).unwrap();
        if let Some(known) = known_of_kvm(&bench) {
            let runtime = PrivateDirectory::make(&bench.path().join("run")).unwrap();
            runtime.write(KVM_MEMO, &known).unwrap();
        }
        let path = std::env::var("PATH").unwrap_or_default();
        Self { bench, word: format!("bench={name}"), path }
    }

    /// Whatever is in this directory is found before all other programs.
    fn with_programs(mut self, directory: &Path) -> Self {
        self.path = format!("{}:{}", directory.display(), self.path);
        self
    }

    /// Writes an experiment whose guests carry the word: its first keys, then the rest.
    fn experiment(&self, keys: &str, rest: &str) -> String {
        let text = format!(
            "title = \"guests\"\nvenue = \"vm\"\nsettle = \"0s\"\nprobes = []\ninvocations = 1\n\
             control = false\ncmdline = \"{}\"\n{keys}\n[vm]\naccelerator = \"tcg\"\n\
             boot_timeout = \"{BOOT_TIMEOUT}\"\n{rest}",
            self.word
        );
        self.bench.experiment("guests", &text)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(arguments);
        command.env("PATH", &self.path).env("TMPDIR", self.temporary());
        command
    }

    /// Runs and insists on the exit code; returns both streams.
    fn expect(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let output = self.command(arguments).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let told = errors(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{shown}\n{told}");
        (shown, told)
    }

    fn temporary(&self) -> PathBuf {
        self.bench.path().join("tmp")
    }

    fn records(&self) -> Vec<Value> {
        let lines = self.bench.record_lines();
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// How many records there are while the campaign runs.
    fn record_count(&self) -> usize {
        let entries = std::fs::read_dir(self.bench.results()).into_iter().flatten().flatten();
        let mut texts = entries
            .filter_map(|entry| std::fs::read_to_string(entry.path().join("records.jsonl")).ok());
        texts.next().map_or(0, |text| text.lines().count())
    }

    /// The process ids of this bench's running machines.
    fn machines(&self) -> Vec<i32> {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let is_ours = |words: &[u8]| {
            let words = String::from_utf8_lossy(words);
            let program = words.split('\0').next().unwrap_or_default();
            program.ends_with(QEMU) && words.contains(&self.word)
        };
        processes
            .filter_map(|entry| {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                is_ours(&std::fs::read(entry.path().join("cmdline")).ok()?).then_some(pid)
            })
            .collect()
    }

    /// The consoles of all guests so far, of a campaign that may have begun.
    fn consoles(&self) -> String {
        let entries = |directory: PathBuf| std::fs::read_dir(directory).into_iter().flatten();
        entries(self.bench.results())
            .flatten()
            .flat_map(|campaign| entries(campaign.path().join("logs")).flatten())
            .filter(|file| file.file_name().to_string_lossy().starts_with("console-"))
            .map(|file| String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned())
            .collect()
    }

    /// What the campaign has told so far.
    fn events(&self) -> String {
        let entries = std::fs::read_dir(self.bench.results()).into_iter().flatten().flatten();
        let mut texts = entries.filter_map(|entry| {
            std::fs::read_to_string(entry.path().join("logs/events.jsonl")).ok()
        });
        texts.next().unwrap_or_default()
    }

    /// What runs or lies about when the guardian is done: machines, temporary files, scratch
    /// directories, what is to be put back.
    fn left_over(&self) -> Vec<String> {
        self.bench.wait_for_guardian();
        let deadline = Instant::now() + GUEST_PATIENCE;
        while !self.machines().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let paths = |directory: PathBuf| {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
            entries.map(|entry| entry.path())
        };
        let machines = self.machines().into_iter().map(|pid| format!("QEMU {pid}"));
        let scratch = paths(self.bench.results())
            .map(|campaign| campaign.join("scratch"))
            .filter(|scratch| scratch.exists());
        let files = paths(self.temporary()).chain(scratch);
        let mut left: Vec<String> =
            machines.chain(files.map(|path| path.display().to_string())).collect();
        let output = self.command(&["restore", "--check"]).output().unwrap();
        if output.status.code() != Some(0) {
            left.push(String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output));
        }
        left
    }

    /// Nothing runs, nothing lies about, and nothing is to be put back.
    fn assert_nothing_is_left(&self, when: &str) {
        assert_eq!(self.left_over(), Vec::<String>::new(), "{when}");
    }
}

/// Where tests keep for each other whether KVM boots guests here: where it does not, each would wait
/// 20 s to see it.
fn shared_memo() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(KVM_MEMO)
}

/// What was found out of KVM here, by this test where none did before: two that tried it at once would
/// keep both processors busy.
fn known_of_kvm(bench: &Bench) -> Option<Vec<u8>> {
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let known = || {
        let found = std::fs::read(shared_memo()).ok()?;
        String::from_utf8_lossy(&found).contains(boot_id.trim()).then_some(found)
    };
    known().or_else(|| {
        let _alone = testing::lock("kvm");
        known().or_else(|| {
            let words = ["--vcpus", "1", "--accelerator", "kvm", "--", "true"];
            bench.run(&[&["vm", "exec", "debian:6.12"], &words[..]].concat());
            // Nothing is kept where its device cannot be opened, which is seen at once.
            let found = std::fs::read(bench.path().join("run").join(KVM_MEMO)).ok()?;
            // In one step, for others read it meanwhile.
            let draft = shared_memo().with_extension(std::process::id().to_string());
            std::fs::write(&draft, &found).unwrap();
            std::fs::rename(&draft, shared_memo()).unwrap();
            Some(found)
        })
    })
}

fn kill(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// A number that a soak raises.
fn times(variable: &str, otherwise: u32) -> u32 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Records of a subject and workload; either may be left open.
fn of<'r>(records: &'r [Value], subject: &str, workload: &str) -> Vec<&'r Value> {
    let fits = |value: &Value, name: &str| name.is_empty() || value == name;
    records
        .iter()
        .filter(|record| fits(&record["subject"], subject) && fits(&record["workload"], workload))
        .collect()
}

fn caveats(record: &Value) -> Vec<&str> {
    let caveats = record["caveats"].as_array().unwrap();
    caveats.iter().map(|caveat| caveat["code"].as_str().unwrap()).collect()
}
