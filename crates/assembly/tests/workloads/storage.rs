//! The adapters of fio and iozone: fio itself where it is installed, and a script that
//! prints what iozone printed.

use super::{TestMachine, configured, conflicts, data, facts, histogram_count, parameters, values};
use contract::LaunchSpec;
use model::{SampleData, StorageKind, StorageTarget};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use sys::Machine;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../outputs/tests/golden/iozone");

/// Whether fio is here; a test without it says so.
fn has_fio() -> bool {
    let is_here = TestMachine::new().machine.program("fio").is_some();
    if !is_here {
        testing::skip("fio is not installed: apt-get install fio");
    }
    is_here
}

/// A place where this workload can be prepared; none where what it runs is not installed,
/// which is said.
pub fn place_for(id: &str) -> Option<TestMachine> {
    if id == "iozone" {
        let (mut place, programs) = with_iozone(&iozone("3.414", "true"));
        place.keep(programs);
        return Some(place);
    }
    let is_here = match id {
        "fio" => has_fio(),
        "iperf3" | "sockperf" => super::reference_network::has(id),
        _ => true,
    };
    is_here.then(TestMachine::new)
}

/// Names of what is in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn in_directory(launch: &LaunchSpec, path: &Path) -> LaunchSpec {
    let target = StorageTarget {
        kind: StorageKind::Directory,
        path: path.display().to_string(),
        device: None,
        size_bytes: 0,
        is_made: false,
        cached_by: None,
        identity: None,
    };
    LaunchSpec { target: Some(target), ..launch.clone() }
}

pub fn fio_does_what_it_was_asked() {
    if !has_fio() {
        return;
    }
    for (rw, engine, depth, jobs, directions) in [
        ("randread", "psync", "1", "2", &["read"][..]),
        ("write", "libaio", "8", "1", &["write"]),
        ("randrw", "libaio", "4", "2", &["read", "write"]),
    ] {
        let mut place = TestMachine::new();
        let target = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        place.launch = in_directory(&place.launch, target.path());
        let settings = [
            ("rw", rw),
            ("engine", engine),
            ("queue_depth", depth),
            ("jobs", jobs),
            ("block_size", "8k"),
            ("size", "2M"),
            ("duration", "0"),
        ];
        let measurement = place.run("fio", &parameters("fio", &settings));
        // Every block of every job's file, once.
        let blocks = 256 * jobs.parse::<u64>().unwrap();
        assert_eq!(measurement.operations, Some(blocks), "{rw}");
        let mut counted = 0;
        for direction in directions {
            let throughput = values(&measurement, &format!("{direction}_throughput"))[0];
            let iops = values(&measurement, &format!("{direction}_iops"))[0];
            let block_bytes = throughput / iops;
            assert!((8190.0..8194.0).contains(&block_bytes), "{rw}: {block_bytes} bytes each");
            counted += histogram_count(&measurement, &format!("{direction}_latency"));
        }
        assert_eq!(counted, blocks, "{rw}: every I/O has its latency");
        assert_eq!(names(target.path()), Vec::<String>::new(), "{rw}");
    }
    let lasting = [
        ("size", "1M"),
        ("block_size", "64k"),
        ("duration", "300ms"),
        ("engine", "psync"),
        ("queue_depth", "1"),
    ];
    let place = TestMachine::new();
    let start_ns = sys::monotonic_ns();
    let measurement = place.run("fio", &parameters("fio", &lasting));
    assert!(sys::monotonic_ns() - start_ns >= 300_000_000);
    assert!(measurement.operations.unwrap() > 16, "it goes round until its time is over");
}

/// A loop device, detached when this is dropped.
struct Loop(String);

impl Loop {
    fn over(file: &Path) -> Option<Self> {
        let output = std::process::Command::new("losetup")
            .args(["--find", "--show"])
            .arg(file)
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        Some(Self(String::from_utf8(output.stdout).unwrap().trim().to_owned()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        std::process::Command::new("losetup").args(["--detach", &self.0]).status().unwrap();
    }
}

pub fn fio_uses_a_whole_device_and_leaves_its_node() {
    if !has_fio() {
        return;
    }
    let mut place = TestMachine::new();
    let backing = place.launch.scratch.join("backing");
    std::fs::File::create(&backing).unwrap().set_len(4 << 20).unwrap();
    let Some(device) = Loop::over(&backing) else {
        testing::skip("no loop device can be made here (root, losetup, /dev/loop-control)");
        return;
    };
    let target = |size_bytes| StorageTarget {
        kind: StorageKind::Device,
        path: device.0.clone(),
        device: None,
        size_bytes,
        is_made: false,
        cached_by: None,
        identity: None,
    };
    place.launch.target = Some(target(4 << 20));
    let settings = [("rw", "randread"), ("size", "1M"), ("jobs", "2"), ("duration", "0")];
    let measurement = place.run("fio", &parameters("fio", &settings));
    assert_eq!(measurement.operations, Some(512));
    let before = std::fs::read(&backing).unwrap();
    let is_zero = |block: &[u8]| block.iter().all(|byte| *byte == 0);
    assert!(!before[..2 << 20].chunks(4096).any(is_zero), "what is read was written before");
    assert!(is_zero(&before[2 << 20..]), "and nothing else was");
    let settings = [("rw", "randrw"), ("size", "2M"), ("jobs", "2"), ("duration", "0")];
    let parameters = parameters("fio", &settings);
    let measurement = place.run("fio", &parameters);
    assert_eq!(measurement.operations, Some(1024), "each job has a region of its own");
    assert!(Path::new(&device.0).exists());
    let after = std::fs::read(&backing).unwrap();
    assert!(!after.chunks(4096).any(is_zero), "the rest was written, too");
    assert!(after[..2 << 20] != before[..2 << 20], "the jobs wrote");
    place.launch.target = Some(target(3 << 20));
    let error = place.prepare("fio", &parameters).err().unwrap();
    assert!(error.cause.contains("4M are needed and 3M are there"), "{error}");
}

pub fn fio_runs_a_job_file_of_the_user() {
    if !has_fio() {
        return;
    }
    let place = TestMachine::new();
    let file = place.launch.scratch.join("jobs.fio");
    let path = file.display().to_string();
    let run = |text: &str, rw: &str| {
        std::fs::write(&file, text).unwrap();
        let parameters = parameters("fio", &[("job_file", &path), ("rw", rw)]);
        place.prepare("fio", &parameters).unwrap().run()
    };
    let two = "[global]\ndirectory=${SCHEDLAB_TARGET}\nsize=1M\nbs=16k\nend_fsync=1\n\
               [first]\nrw=write\n[second]\nrw=read\n";
    let measurement = run(two, "rw").unwrap();
    assert_eq!(measurement.operations, Some(128));
    let SampleData::Values(rates) = data(&measurement, "write_throughput") else { panic!() };
    assert!(rates[0] > 0.0);
    for (text, rw, cause) in [
        (two, "read", "the job first did writes, which `rw` does not name"),
        (&two.replace("rw=read\n", "rw=read\nstonewall\n"), "rw", "may have run after others"),
        (&two.replace("rw=read", "rw=reed"), "rw", "exit code 1"),
    ] {
        let error = run(text, rw).unwrap_err();
        assert!(error.cause.contains(cause), "{error}");
    }
    let other = place.launch.scratch.join("other").display().to_string();
    std::fs::write(&file, two.replace("[second]", &format!("[second]\nfilename={other}"))).unwrap();
    let parameters = parameters("fio", &[("job_file", &path), ("rw", "rw")]);
    let conflict = format!(
        "{path}, line 9: filename={other} is not in the target: use ${{SCHEDLAB_TARGET}}, or a name in it"
    );
    assert_eq!(conflicts("fio", &parameters), [conflict]);
    // Where the file has changed since it was planned.
    let prepared =
        configured("fio", &parameters).and_then(|one| one.prepare(&place.machine, &place.launch));
    let error = prepared.err().unwrap();
    assert_eq!(error.kind, contract::ErrorKind::Usage, "{error}");
    assert!(error.cause.contains("line 9"), "{error}");
    let left = names(&place.launch.scratch);
    assert!(!left.contains(&"other".to_owned()), "{left:?}");
    assert!(!left.iter().any(|name| name.starts_with("schedlab-files")), "{left:?}");
}

pub fn fio_that_fails_is_an_error() {
    if !has_fio() {
        return;
    }
    let mut place = TestMachine::new();
    let missing = place.launch.scratch.join("missing");
    let small = [("size", "1M"), ("duration", "100ms")];
    let parameters = parameters("fio", &small);
    place.launch = in_directory(&place.launch, &missing);
    let error = place.prepare("fio", &parameters).err().unwrap();
    assert!(error.cause.contains("No such file"), "{error}");
    assert!(!missing.exists(), "fio would have made it");
    let path = programs(&[("fio", "echo fio-2.1.11")]);
    let old = Machine::host(path.path()).with_search_path(path.path().to_str().unwrap());
    let error = configured("fio", &parameters)
        .and_then(|one| one.prepare(&old, &place.launch))
        .err()
        .unwrap();
    assert!(error.cause.contains("fio-2.1.11"), "{error}");
}

/// A directory with programs.
fn programs(scripts: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (name, script) in scripts {
        let path = directory.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    directory
}

/// A script that answers as iozone does, and writes its report where it is told.
fn iozone(version: &str, output: &str) -> String {
    format!(
        "if [ \"$1\" = -v ]; then echo \"  Version \\$Revision: {version} \\$\"; exit 0; fi\n\
         while [ $# -gt 0 ]; do\n\
         if [ \"$1\" = -b ]; then cat '{GOLDEN}/t1_r8k.xls' > \"$2\"; fi; shift\n\
         done\n{output}"
    )
}

/// A place where iozone is this script, in a search path that has cat(1) too.
fn with_iozone(script: &str) -> (TestMachine, tempfile::TempDir) {
    let directory = programs(&[("iozone", script)]);
    let mut place = TestMachine::new();
    let path = format!("{}:/usr/bin:/bin", directory.path().display());
    place.machine = Machine::host(&place.launch.scratch).with_search_path(&path);
    (place, directory)
}

const TWO: [(&str, &str); 4] = [
    ("processes", "2"),
    ("size", "16M"),
    ("direct", "false"),
    ("operations", "write rewrite random_read"),
];

pub fn iozone_is_asked_for_its_version_run_and_read() {
    let (place, _programs) =
        with_iozone(&iozone("3.414", &format!("cat '{GOLDEN}/t2_r64k_I.txt'")));
    let measurement = place.run("iozone", &parameters("iozone", &TWO));
    assert_eq!(values(&measurement, "write_throughput"), [1_036_258.22 * 1024.0]);
    assert_eq!(values(&measurement, "random_read_throughput"), [805_898.66 * 1024.0]);
    let beside = names(place.launch.log.parent().unwrap());
    assert!(beside.contains(&"log.1.xls".to_owned()), "{beside:?}");
    let log = std::fs::read_to_string(&place.launch.log).unwrap();
    assert!(log.starts_with("$ iozone -R -i 0 -i 2 -r 64k -s 16384k -t 2 -b "), "{log}");
    assert!(log.contains("iozone test complete."), "{log}");
}

pub fn iozone_that_fails_is_an_error() {
    let all = format!("cat '{GOLDEN}/t2_r64k_I.txt'");
    for (script, cause) in [
        (iozone("3.414", &format!("{all}; exit 3")), "exit code 3"),
        (iozone("3.414", &format!("{all} | head -n 50")), "it is cut off"),
        (iozone("3.414", "echo Can not open temp file"), "does not begin as iozone's output does"),
        (iozone("3.414", &format!("cat '{GOLDEN}/t2_threads_ops.txt'")), "not in bytes"),
        (iozone("3.414", &format!("cat '{GOLDEN}/normal_8m.txt'")), "did not run with 2 processes"),
    ] {
        let (place, _programs) = with_iozone(&script);
        let error = place.prepare("iozone", &parameters("iozone", &TWO)).unwrap().run();
        let error = error.unwrap_err();
        assert!(error.cause.contains(cause), "{error}");
    }
    let (place, _programs) = with_iozone(&iozone("2.0", &all));
    let error = place.prepare("iozone", &parameters("iozone", &TWO)).err().unwrap();
    assert!(error.cause.contains("Revision: 2.0"), "{error}");
    let none = Machine::host(&place.launch.scratch).with_search_path("/nonexistent");
    let needs = facts("iozone", &parameters("iozone", &TWO)).requirements;
    let missing = needs[0].met(&none).unwrap_err();
    assert!(missing.remedy.contains("iozone3"), "{missing:?}");
}
