//! I/O trials on this host: loop devices that come and go, elevators that are really
//! switched, targets that are refused. Tests that need root or loop devices say so.

use crate::bench::{Bench, errors, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How many random kills; a soak asks for more.
const KILLS: u32 = 8;
/// How long the kernel may take to give a loop device up after its last user has ended: it writes
/// first, and beside other work that took more than three seconds.
const PATIENCE: Duration = Duration::from_secs(300);

/// Why loop devices cannot be tested here.
fn lack() -> Option<String> {
    let control = std::fs::OpenOptions::new().write(true).open("/dev/loop-control");
    let cannot = control.err().map(|error| format!("loop devices: {error}"));
    cannot.or_else(|| {
        let offered = std::fs::read_to_string("/sys/block/loop0/queue/scheduler").ok()?;
        let missing: Vec<&str> = ["mq-deadline", "bfq", "kyber"]
            .into_iter()
            .filter(|name| !offered.contains(name))
            .collect();
        (!missing.is_empty()).then(|| format!("the elevators {}", missing.join(", ")))
    })
}

/// What of every loop device a campaign could leave changed: its elevator, and the file it holds.
type LoopDevices = BTreeMap<String, (String, Option<String>)>;

/// A test asks once it has its [`Bench`]: from then on no soak beside it turns elevators.
fn loops() -> LoopDevices {
    let names = std::fs::read_dir("/sys/block").unwrap().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let read = |path: String| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    names
        .filter(|name| name.starts_with("loop"))
        .map(|name| {
            let elevator = read(format!("/sys/block/{name}/queue/scheduler")).unwrap_or_default();
            let file = read(format!("/sys/block/{name}/loop/backing_file"));
            (name, (elevator, file))
        })
        .collect()
}

/// What campaigns with images below this directory have changed: devices that hold one, and free
/// devices with another elevator. What others have attached meanwhile is theirs.
fn changes(before: &LoopDevices, now: &LoopDevices, images: &Path) -> Vec<String> {
    let change = |(name, (elevator, file)): (&String, &(String, Option<String>))| {
        // While the kernel takes a device apart its file has no name.
        let file = file.as_deref().unwrap_or_default();
        if Path::new(file).starts_with(images) {
            return Some(format!("{name} holds {file}"));
        }
        let (earlier, _) = before.get(name)?;
        let is_changed = file.is_empty() && elevator != earlier;
        is_changed.then(|| format!("{name} had the elevators {earlier} and has {elevator}"))
    };
    now.iter().filter_map(change).collect()
}

/// What is changed at this moment. The kernel names files by their paths without links.
fn changed(before: &LoopDevices, images: &Path) -> Vec<String> {
    changes(before, &loops(), &images.canonicalize().unwrap())
}

/// Waits until nothing is changed; what is when patience ends.
fn left(before: &LoopDevices, images: &Path) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let changed = changed(before, images);
        if changed.is_empty() || Instant::now() >= deadline {
            return changed;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn images_of_a_campaign_and_elevators_of_free_devices_count_and_what_others_attach_does_not() {
    const ATTACHED: &str = "none [bfq]";
    const FREE: &str = "[none] bfq";
    let devices = |name: &str, elevator: &str, file: Option<&str>| {
        LoopDevices::from([(name.to_owned(), (elevator.to_owned(), file.map(str::to_owned)))])
    };
    let before = devices("loop0", FREE, None);
    for (name, elevator, file, expected) in [
        ("loop0", FREE, None, None),
        ("loop0", ATTACHED, Some("/bench/scratch/#7 (deleted)"), Some("loop0 holds")),
        ("loop8", FREE, Some("/bench/image"), Some("loop8 holds")),
        ("loop0", ATTACHED, None, Some("had the elevators [none] bfq and has none [bfq]")),
        ("loop0", ATTACHED, Some(""), Some("had the elevators")),
        ("loop0", FREE, Some(""), None),
        ("loop0", ATTACHED, Some("/benches/image"), None),
        ("loop8", ATTACHED, Some("/srv/bench/image"), None),
        ("loop8", FREE, None, None),
    ] {
        let told = changes(&before, &devices(name, elevator, file), Path::new("/bench"));
        assert_eq!(told.len(), usize::from(expected.is_some()), "{name} {file:?}: {told:?}");
        let words = expected.unwrap_or_default();
        assert!(told.iter().all(|change| change.contains(words)), "{told:?}");
    }
    let none = changes(&before, &LoopDevices::new(), Path::new("/bench"));
    assert_eq!(none, Vec::<String>::new());
}

const ELEVATORS: &str = "title = \"elevators\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\n\
     probes = []\ntarget = \"loop:16M\"\n\
     [subjects.deadline]\nelevator = \"mq-deadline\"\nelevator_param = \"read_expire=100,front_merges=0\"\n\
     [subjects.bfq]\nelevator = \"bfq\"\nelevator_param = \"slice_idle=0,low_latency=0\"\nnr_requests = \"64\"\n\
     read_ahead = \"0\"\nrotational = \"no\"\nionice = \"be:7\"\n\
     [subjects.kyber]\nelevator = \"kyber\"\nelevator_param = \"read_lat_nsec=1000000\"\n\
     [subjects.none]\nelevator = \"none\"\nwbt = \"0\"\n\
     [[workloads]]\nuse = \"io\"\nsize = \"8M\"\ninvocations = 1\n";

#[test]
fn every_elevator_is_in_force_before_and_after_each_trial_and_no_device_is_left() {
    if let Some(lack) = lack() {
        return testing::skip(&lack);
    }
    let _devices = testing::lock(testing::LOOP_DEVICES);
    let bench = Bench::new();
    let before = loops();
    let file = bench.experiment("elevators", ELEVATORS);
    bench.expect(0, &["run", &file]);
    assert_eq!(left(&before, bench.path()), [""; 0]);
    let records = bench.record_lines();
    assert_eq!(records.len(), 4);
    for line in &records {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["outcome"]["kind"], "completed", "{line}");
        let subject = record["subject"].as_str().unwrap();
        let elevator = match subject {
            "deadline" => "mq-deadline",
            other => other,
        };
        for when in ["before", "after"] {
            assert_eq!(record["levels"]["elevator"][when], elevator, "{subject}");
            assert_eq!(record["levels"]["target"][when], "loop:16M", "{subject}");
        }
        let device = record["fingerprint_difference"]["target.device"].as_str().unwrap();
        assert!(device.starts_with("loop"), "{device}");
        assert_eq!(record["fingerprint_difference"]["target.is_direct"], "true");
        if subject == "bfq" {
            assert_eq!(record["levels"]["elevator_param"]["after"], "low_latency=0,slice_idle=0");
            assert_eq!(record["levels"]["nr_requests"]["after"], "64");
            assert_eq!(record["levels"]["ionice"]["after"], "be:7");
        }
    }
    let scratch = bench.campaign().join("scratch");
    assert!(!scratch.exists(), "{}", scratch.display());
}

#[test]
fn a_target_that_may_not_be_used_is_refused_before_anything_is_changed() {
    let _devices = testing::lock(testing::LOOP_DEVICES);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let file_target = format!("device:{}", file.display());
    let directory_target = format!("file:{}", file.display());
    let space_target = format!("loop:16384G:{}", directory.path().display());
    let mut cases = vec![
        (file_target.as_str(), "is no block device", "/dev/sdb"),
        ("device:/dev/none-of-that-name", "No such file", "/dev/sdb"),
        (directory_target.as_str(), "is no directory", "name a directory"),
        ("file:/no-such-directory", "No such file", "that exists"),
        ("file:/proc/self", "", "directory that you may write"),
        ("null:64M", "left behind", "use a virtual machine"),
        ("scsi:64M", "left behind", "use a virtual machine"),
        ("device:/dev/loop7", "nobody gave it up", "--destroy-data /dev/loop7"),
        (space_target.as_str(), "left, and it needs 16384G", "ask for less"),
        ("loop:16384G", "left, and it needs 16384G", "ask for less"),
    ];
    if lack().is_some() {
        testing::skip("targets that need loop devices");
        cases.truncate(7);
    }
    for (target, cause, remedy) in cases {
        let bench = Bench::new();
        let before = loops();
        let text = format!(
            "title = \"refused\"\nvenue = \"host\"\nblocks = 1\ntarget = \"{target}\"\n\
             [subjects.a]\n[[workloads]]\nuse = \"io\"\nsize = \"1M\"\n"
        );
        let file = bench.experiment("refused", &text);
        let output = bench.run(&["run", &file]);
        let said = errors(&output).replace('\n', " ");
        assert_eq!(output.status.code(), Some(4), "{target}: {said}");
        assert!(said.contains(cause) && said.contains(remedy), "{target}: {said}");
        assert!(!bench.results().exists(), "{target}: something ran");
        for images in [bench.path(), directory.path()] {
            assert_eq!(changed(&before, images), [""; 0], "{target}");
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn a_mounted_disk_is_refused_although_its_owner_gives_it_up() {
    let machine = sys::Machine::host("/nonexistent");
    let below = sys::device_below(&machine, Path::new("/")).unwrap();
    let Some(device) = below.filter(|name| Path::new("/dev").join(name).exists()) else {
        return testing::skip("the root lies on no block device");
    };
    let bench = Bench::new();
    let text = format!(
        "title = \"root\"\nvenue = \"host\"\nblocks = 1\ntarget = \"device:/dev/{device}\"\n\
         [subjects.a]\n[[workloads]]\nuse = \"io\"\nsize = \"1M\"\n"
    );
    let file = bench.experiment("root", &text);
    let output = bench.run(&["run", &file, "--destroy-data", &format!("/dev/{device}")]);
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    assert!(errors(&output).contains("it is mounted on"), "{}", errors(&output));
}

#[test]
fn a_killed_campaign_leaves_no_loop_device_no_file_and_the_elevator_as_it_was() {
    if let Some(lack) = lack() {
        return testing::skip(&lack);
    }
    let _devices = testing::lock(testing::LOOP_DEVICES);
    let kills =
        std::env::var("SCHEDLAB_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let bench = Bench::new();
    let before = loops();
    let place = tempfile::tempdir().unwrap();
    let text = ELEVATORS
        .replace("loop:16M", &format!("loop:16M:{}", place.path().display()))
        .replace("blocks = 1", "blocks = 20");
    let file = bench.experiment("kills", &text);
    let mut mid_trial = 0;
    // A fixed sequence of delays (golden-ratio spread), so that a failure repeats.
    for kill in 0..kills {
        let delay_us = (f64::from(kill) * 0.618_034).fract() * 1_500_000.0;
        let mut command = bench.command(&["run", "--fresh", &file]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // How long it takes to the first device depends on the computer: every second kill waits for
        // one.
        let waits = kill % 2 == 1;
        if waits {
            wait_until("a device", || !changed(&before, place.path()).is_empty());
        } else {
            std::thread::sleep(Duration::from_micros(delay_us as u64));
        }
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        // A device that was there before a kill may be gone by the time that this test looks again.
        mid_trial += u32::from(waits || !changed(&before, place.path()).is_empty());
        bench.wait_for_guardian();
        let images = place.path();
        assert_eq!(left(&before, images), [""; 0], "kill {kill} after {delay_us} us");
        let files: Vec<_> = std::fs::read_dir(images).unwrap().flatten().collect();
        assert!(files.is_empty(), "kill {kill}: {files:?}");
        bench.expect(0, &["restore", "--check"]);
    }
    for campaign in std::fs::read_dir(bench.results()).into_iter().flatten().flatten() {
        let scratch = campaign.path().join("scratch");
        assert!(!scratch.exists(), "{}", scratch.display());
    }
    println!("{kills} kills, {mid_trial} with a loop device or another elevator");
    assert!(mid_trial > 0, "no kill fell into a trial");
}

const SHARES: &str = "title = \"shares\"\nvenue = \"host\"\nblocks = 20\ncontrol = false\nsettle = \"0s\"\n\
     probes = []\ntarget = \"loop:16M\"\ninvocations = 2\n\
     [subjects.bfq]\nelevator = \"bfq\"\n[subjects.none]\nelevator = \"none\"\n\
     [[workloads]]\nuse = \"io_share\"\nweights = \"100,800\"\nsize = \"4M\"\n\
     warmup = \"50ms\"\nduration = \"200ms\"\n";

#[test]
fn groups_of_a_workloads_processes_are_made_and_removed_also_after_a_kill() {
    if let Some(lack) = lack() {
        return testing::skip(&lack);
    }
    let _devices = testing::share(testing::LOOP_DEVICES);
    let bench = Bench::new();
    let file = bench.experiment("shares", SHARES);
    let (mut command, mut most) = (bench.command(&["run", &file]), 0);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Until some trials are over and one is under way.
    wait_until("a trial with groups behind others", || {
        let groups = bench.control_groups().len();
        most = most.max(groups);
        let began = std::fs::read_dir(bench.results()).into_iter().flatten().flatten();
        let files = began.map(|campaign| campaign.path().join("records.jsonl"));
        let records = files.filter_map(|file| std::fs::read_to_string(file).ok());
        let finished: usize = records.map(|text| text.lines().count()).sum();
        finished > 2 && groups > 0
    });
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    bench.wait_for_guardian();
    assert!(most > 0, "no group was seen");
    assert_eq!(bench.left(), [""; 0]);
    bench.expect(0, &["restore", "--check"]);
    let records = bench.record_lines();
    let is_complete = |record: &String| record.contains(r#""outcome":{"kind":"completed"}"#);
    assert!(records.iter().all(is_complete), "{records:?}");
}
