//! `io`, really run.

use super::*;

const OPERATIONS: [&str; 7] =
    ["write", "rewrite", "read", "reread", "reverse_read", "random_read", "random_write"];

/// `no` where this user may not drop caches.
fn drops(wanted: &'static str) -> &'static str {
    if std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_ok() {
        return wanted;
    }
    testing::skip("only root drops caches");
    "no"
}

pub(crate) fn moves_every_record_once() {
    for (engine, depth, direct) in [
        ("psync", "1", "true"),
        ("psync", "1", "false"),
        ("io_uring", "1", "true"),
        ("io_uring", "16", "true"),
        ("io_uring", "16", "false"),
        ("mmap", "1", "false"),
        ("null", "1", "true"),
    ] {
        for threads in ["1", "3"] {
            let settings = [
                ("engine", engine),
                ("queue_depth", depth),
                ("batch", if depth == "16" && direct == "true" { "5" } else { "1" }),
                ("direct", direct),
                ("threads", threads),
                ("record", "16k"),
                ("size", "2M"),
                ("verify", if engine == "null" { "false" } else { "true" }),
                ("stonewall", "false"),
                ("drop_caches", drops("phase")),
            ];
            let measurement = TestMachine::new().run("io", &parameters("io", &settings));
            let threads: u64 = threads.parse().unwrap();
            assert_eq!(measurement.operations, Some(7 * 128 * threads));
            for operation in OPERATIONS {
                let (bytes, seconds) = quotient(&measurement, &format!("{operation}_throughput"));
                assert_eq!(bytes, (threads << 21) as f64, "{operation}");
                assert!(seconds > 0.0);
                let latencies = histogram_count(&measurement, &format!("{operation}_latency"));
                assert_eq!(latencies, 128 * threads, "{operation}");
            }
        }
    }
}

pub(crate) fn counts_what_a_stopped_thread_moved() {
    let settings = [
        ("operations", "write random_read rewrite reread"),
        ("threads", "6"),
        ("record", "4k"),
        ("size", "1M"),
        ("drop_caches", "no"),
    ];
    let measurement = TestMachine::new().run("io", &parameters("io", &settings));
    let moved = measurement.operations.unwrap();
    assert!((4 * 256..=4 * 6 * 256).contains(&moved), "{moved}");
    for operation in ["write", "random_read", "rewrite", "reread"] {
        let (bytes, seconds) = quotient(&measurement, &format!("{operation}_throughput"));
        let (same, wall) = quotient(&measurement, &format!("{operation}_aggregate"));
        assert_eq!(bytes, same);
        assert!((f64::from(1 << 20)..=f64::from(6 << 20)).contains(&bytes), "{bytes}");
        // The sum of the threads' rates is no less than the rate of all together.
        assert!(seconds <= wall * 1.000_001, "{seconds} {wall}");
    }
}

pub(crate) fn leaves_nothing_in_its_directory() {
    let place = TestMachine::new();
    let settings = [("size", "1M"), ("drop_caches", "no"), ("operations", "read write")];
    let load = place.prepare("io", &parameters("io", &settings)).unwrap();
    // Not even while it lives, so that a killed process leaves nothing either.
    assert_eq!(std::fs::read_dir(&place.launch.scratch).unwrap().count(), 0);
    drop(load);
    place.run("io", &parameters("io", &settings));
    assert_eq!(std::fs::read_dir(&place.launch.scratch).unwrap().count(), 0);
}

pub(crate) fn refuses_what_cannot_be_meant() {
    for (settings, why) in [
        (&[("record", "3000")][..], "multiple of 512"),
        (&[("record", "48k"), ("size", "64k")], "multiple of record"),
        (&[("operations", "write erase")], "`erase` is not one of"),
        (&[("operations", "read read")], "twice"),
        (&[("queue_depth", "2")], "io_uring"),
        (&[("batch", "2")], "more than the queue_depth"),
        (&[("engine", "mmap")], "direct = false"),
        (&[("engine", "null")], "verify = false"),
        (&[("record", "512"), ("size", "1024G")], "records"),
        (&[("record", "512"), ("size", "64G"), ("threads", "6")], "MiB of lists"),
        (
            &[("engine", "io_uring"), ("queue_depth", "1024"), ("record", "64M"), ("size", "64M")],
            "buffers",
        ),
    ] {
        let parameters = parameters("io", settings);
        let conflicts = conflicts("io", &parameters);
        assert!(conflicts.iter().any(|text| text.contains(why)), "{why}: {conflicts:?}");
    }
    let mut place = TestMachine::new();
    place.launch.target = Some(model::StorageTarget {
        kind: model::StorageKind::Directory,
        path: place.launch.scratch.display().to_string(),
        device: None,
        size_bytes: 3 << 20,
        is_made: false,
        cached_by: None,
        identity: None,
    });
    let settings = [("size", "1M"), ("threads", "4"), ("drop_caches", "no")];
    let prepared = configured("io", &parameters("io", &settings))
        .and_then(|one| one.prepare(&place.machine, &place.launch));
    let Err(error) = prepared else { panic!("3 MiB were enough for 4") };
    assert!(error.to_string().contains("4M are needed and it has 3M"), "{error}");
    place.launch.target = None;
    place.launch.scratch = "/proc/self".into();
    let Err(error) = configured("io", &parameters("io", &settings))
        .and_then(|one| one.prepare(&place.machine, &place.launch))
    else {
        panic!("a file in /proc")
    };
    assert!(error.to_string().contains("cannot make a file in /proc/self"), "{error}");
    assert!(error.remedy.contains("directory"), "{error}");
}

pub(crate) fn says_that_a_disk_is_full() {
    let Some(disk) = Disk::small() else { return };
    for (engine, direct) in
        [("psync", "true"), ("psync", "false"), ("io_uring", "true"), ("mmap", "false")]
    {
        let settings = [
            ("engine", engine),
            ("direct", direct),
            ("size", "64M"),
            ("threads", "2"),
            ("drop_caches", "no"),
        ];
        let Err(error) = disk.run(&settings) else { panic!("128 MiB fit into 24") };
        let error = error.one_line();
        assert!(error.contains("No space left"), "{engine}: {error}");
        assert!(error.contains("128M are needed"), "{engine}: {error}");
        assert_eq!(std::fs::read_dir(&disk.directory).unwrap().count(), 1, "lost+found alone");
    }
}

/// A file system that is mounted while this lives.
struct Disk {
    directory: std::path::PathBuf,
    home: tempfile::TempDir,
}

impl Disk {
    fn mount(words: &[&str]) -> Option<Self> {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let directory = home.path().join("disk");
        std::fs::create_dir(&directory).unwrap();
        let status = std::process::Command::new("mount").args(words).arg(&directory).status();
        if !status.is_ok_and(|status| status.success()) {
            testing::skip("no file system can be mounted here (needs root)");
            return None;
        }
        Some(Self { directory, home })
    }

    /// 24 MiB of ext4 on a loop device.
    fn small() -> Option<Self> {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let image = home.path().join("image");
        std::fs::File::create(&image).unwrap().set_len(24 << 20).unwrap();
        let made = std::process::Command::new("mkfs.ext4").arg("-q").arg(&image).status();
        if !made.is_ok_and(|status| status.success()) {
            testing::skip("there is no mkfs.ext4");
            return None;
        }
        // The loop device keeps the image, which may lose its name.
        Self::mount(&["-o", "loop", image.to_str().unwrap()])
    }

    fn run(&self, settings: &[(&str, &str)]) -> contract::Result<(Box<dyn Load>, Measurement)> {
        let mut place = TestMachine::new();
        place.launch.scratch = self.directory.clone();
        let mut load = place.prepare("io", &parameters("io", settings))?;
        let measurement = load.run()?;
        Ok((load, measurement))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The kernel gives back files of a ring a moment after it has closed the ring.
        let is_unmounted = (0..600).any(|_| {
            let status = std::process::Command::new("umount").arg(&self.directory).status();
            let is_over = status.is_ok_and(|status| status.success());
            if !is_over {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            is_over
        });
        assert!(is_unmounted, "{} is left", self.home.path().display());
    }
}

pub(crate) fn tells_a_file_system_without_o_direct() {
    let Some(disk) = Disk::mount(&["-t", "ramfs", "none"]) else { return };
    let settings = [("size", "1M"), ("drop_caches", "no")];
    let Err(error) = disk.run(&settings) else { panic!("ramfs has O_DIRECT") };
    assert_eq!(error.kind, contract::ErrorKind::Unsupported, "{error}");
    assert!(error.cause.contains("cannot do O_DIRECT"), "{error}");
    assert!(error.remedy.contains("direct = false, or a loop"), "{error}");
    disk.run(&[("size", "1M"), ("drop_caches", "no"), ("direct", "false")]).unwrap();
}

pub(crate) fn is_unfit_where_caches_cannot_be_dropped() {
    if drops("phase") == "no" {
        return;
    }
    let Some(disk) = Disk::mount(&["-t", "tmpfs", "none"]) else { return };
    let settings = [
        ("size", "1M"),
        ("direct", "false"),
        ("drop_caches", "phase"),
        ("operations", "read reread"),
    ];
    let (mut load, _) = disk.run(&settings).unwrap();
    let why = load.verify(&RunReport::default()).unwrap_err();
    assert!(why.starts_with("512 pages of the data were still in memory"), "{why}");
}

pub(crate) fn mix_measures_each_victim_beside_streams() {
    for (victim, source) in [
        ("random_reader", None),
        ("app_start", Some("start_time")),
        ("working_set", Some("working_set_time")),
    ] {
        for (stream_direct, stream) in [("false", "write"), ("true", "write"), ("true", "read")] {
            let settings = [
                ("victim", victim),
                ("readers", "2"),
                ("size", "2M"),
                ("stream_record", "64k"),
                ("working_set", "256k"),
                ("stream_direct", stream_direct),
                ("stream", stream),
                ("stream_depth", "2"),
                ("reader_priority", "be:0"),
                ("stream_priority", "idle"),
                ("think", "100us"),
                ("warmup", "20ms"),
                ("duration", "400ms"),
                ("drop_caches", drops("run")),
            ];
            let measurement = TestMachine::new().run("io_mix", &parameters("io_mix", &settings));
            let reads = measurement.operations.unwrap();
            assert_eq!(histogram_count(&measurement, "victim_latency"), reads);
            let (read, seconds) = quotient(&measurement, "victim_throughput");
            assert_eq!(read, (reads * 4096) as f64);
            assert!((0.4..200.0).contains(&seconds), "{seconds}");
            let (written, _) = quotient(&measurement, "stream_throughput");
            let (all, _) = quotient(&measurement, "aggregate_throughput");
            assert_eq!(all, read + written);
            assert!((0.5..=1.0).contains(&values(&measurement, "fairness")[0]));
            if let Some(source) = source {
                let rounds = values(&measurement, source);
                let each = if victim == "app_start" { 8 * (16 + 8) } else { 64 };
                assert!(rounds.len() as u64 * each <= reads, "{} {reads}", rounds.len());
                assert!(rounds.iter().all(|ns| *ns > 0.0));
            }
        }
    }
}

pub(crate) fn mix_refuses_what_cannot_be_meant() {
    for (settings, why) in [
        (&[("reader_priority", "be:9")][..], "reader_priority: `be:9` is not be:0"),
        (&[("record", "1000")], "record must be a multiple of 512"),
        (&[("stream_record", "48M")], "multiple of stream_record"),
        (&[("victim", "working_set"), ("working_set", "65M")], "at most size"),
        (&[("victim", "app_start"), ("size", "256k"), ("stream_record", "4k")], "8 files"),
        (&[("size", "1024G"), ("stream_record", "64M")], "size has 268435456 records"),
        (&[("size", "256G"), ("readers", "64")], "64 threads with 67108864 records each"),
        (
            &[("victim", "working_set"), ("size", "1024G"), ("working_set", "1024G")],
            "working_set has 268435456 records",
        ),
        (
            &[("size", "1G"), ("stream_record", "64M"), ("streams", "64"), ("stream_depth", "2")],
            "8192 MiB of buffers",
        ),
    ] {
        let conflicts = conflicts("io_mix", &parameters("io_mix", settings));
        assert!(conflicts.iter().any(|text| text.contains(why)), "{why}: {conflicts:?}");
    }
}

pub(crate) fn share_counts_what_each_process_moved() {
    for operation in ["read", "random_read", "write", "random_write"] {
        let settings = [
            ("operation", operation),
            ("processes", "3"),
            ("priorities", "be:0,none,be:7"),
            ("size", "1M"),
            ("depth", "2"),
            ("warmup", "20ms"),
            ("duration", "200ms"),
        ];
        let measurement = TestMachine::new().run("io_share", &parameters("io_share", &settings));
        let (bytes, seconds) = quotient(&measurement, "aggregate_throughput");
        assert_eq!(bytes, (measurement.operations.unwrap() * 65536) as f64, "{operation}");
        assert!((0.2..200.0).contains(&seconds), "{seconds}");
        let fairness = values(&measurement, "fairness")[0];
        assert!((1.0 / 3.0..=1.0).contains(&fairness), "{operation}: {fairness}");
        // By that much at most, where one has got everything.
        assert!((0.0..=2.0).contains(&values(&measurement, "share_error")[0]));
        assert!(values(&measurement, "longest_transfer")[0] > 0.0);
    }
}

pub(crate) fn share_refuses_what_cannot_be_meant() {
    for (settings, why) in [
        (&[("weights", "100")][..], "weights must be none or one for each of the 2 processes"),
        (&[("weights", "100,1001")], "weights: 1001 is outside 1 to 1000"),
        (&[("weights", "100,x")], "weights: `x` is no whole number"),
        (&[("priorities", "be:0,be:9")], "priorities: `be:9` is not be:0"),
        (&[("record", "1000")], "record must be a multiple of 512"),
        (&[("size", "100k")], "multiple of record"),
    ] {
        let conflicts = conflicts("io_share", &parameters("io_share", settings));
        assert!(conflicts.iter().any(|text| text.contains(why)), "{why}: {conflicts:?}");
    }
    let weighed = parameters("io_share", &[("weights", "100,800")]);
    assert_eq!(facts("io_share", &weighed).io_weights, [100, 800]);
    // The executor makes the groups; without them nothing is said to have weights.
    let Err(error) = TestMachine::new().prepare("io_share", &weighed) else { panic!("no groups") };
    assert!(error.to_string().contains("0 groups were made of 2"), "{error}");
}

pub(crate) fn each_workload_asks_for_room_before_anything_runs() {
    let target = model::StorageTarget {
        kind: model::StorageKind::Device,
        path: String::new(),
        device: None,
        size_bytes: 8 << 20,
        is_made: false,
        cached_by: None,
        identity: None,
    };
    let machine = Machine::host("/nonexistent").with_target(target);
    let many = |id: &str| match id {
        "io" => "threads",
        "io_mix" => "streams",
        "fio" => "jobs",
        _ => "processes",
    };
    for id in ["io", "io_mix", "io_share", "fio", "iozone"] {
        // Of the mixture, the reader has a file as well.
        for (count, is_enough) in [(if id == "io_mix" { "1" } else { "2" }, true), ("3", false)] {
            let settings = [(many(id), count), ("size", "4M")];
            let needs = facts(id, &parameters(id, &settings)).requirements;
            let room = needs.iter().find(|need| need.what().starts_with("room for")).unwrap();
            let met = room.met(&machine);
            assert_eq!(met.is_ok(), is_enough, "{id} {count}: {met:?}");
        }
    }
    let null = [("engine", "null"), ("verify", "false"), ("size", "1G")];
    let needs = facts("io", &parameters("io", &null)).requirements;
    assert!(!needs.iter().any(|need| need.what().starts_with("room for")), "it moves nothing");
}

pub(crate) fn share_refuses_more_buffers_than_memory() {
    let settings = [("processes", "64"), ("depth", "64"), ("record", "64M")];
    let conflicts = conflicts("io_share", &parameters("io_share", &settings));
    assert_eq!(
        conflicts,
        ["processes, depth and record need 262144 MiB of buffers and may have 4096 MiB"]
    );
}

/// A loop device over a file of 4 MiB, detached when dropped.
struct Loop {
    node: String,
    image: tempfile::NamedTempFile,
}

impl Loop {
    fn attach() -> Option<Self> {
        let image = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        image.as_file().set_len(4 << 20).unwrap();
        let output = std::process::Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on"])
            .arg(image.path())
            .output();
        let output = output.ok().filter(|output| output.status.success());
        if output.is_none() {
            testing::skip("a loop device cannot be attached here (needs root and losetup)");
        }
        let node = String::from_utf8(output?.stdout).unwrap().trim().to_owned();
        Some(Self { node, image })
    }

    fn target(&self) -> model::StorageTarget {
        model::StorageTarget {
            kind: model::StorageKind::Device,
            path: self.node.clone(),
            device: self.node.strip_prefix("/dev/").map(str::to_owned),
            size_bytes: 4 << 20,
            is_made: false,
            cached_by: Some("a file of the host".to_owned()),
            identity: sys::device_identity(std::fs::File::open(&self.node).unwrap()).ok(),
        }
    }
}

/// What a name can come to mean when a disk is unplugged and another one appears.
pub(crate) fn refuses_a_device_that_is_not_the_one_that_was_allowed() {
    let Some(device) = Loop::attach() else { return };
    let whole = || std::fs::read(device.image.path()).unwrap();
    let right = device.target();
    let identity = right.identity.unwrap();
    let other = |identity| model::StorageTarget { identity: Some(identity), ..right.clone() };
    let mut place = TestMachine::new();
    let settings = [
        ("io", &[("size", "1M"), ("drop_caches", "no")][..]),
        ("io_mix", &[("size", "1M")]),
        ("io_share", &[("size", "1M")]),
        ("fio", &[("rw", "write"), ("size", "1M"), ("duration", "0")]),
    ];
    for (id, settings) in settings {
        let parameters = parameters(id, settings);
        let is_here =
            facts(id, &parameters).requirements.iter().all(|need| need.met(&place.machine).is_ok());
        if !is_here {
            testing::skip(&format!("{id} cannot run here"));
            continue;
        }
        let before = whole();
        for wrong in [
            model::DeviceIdentity { number: identity.number + 1, ..identity },
            model::DeviceIdentity {
                sequence: Some(identity.sequence.unwrap_or(0) + 1),
                ..identity
            },
        ] {
            place.launch.target = Some(other(wrong));
            let Err(error) = place.prepare(id, &parameters) else { panic!("{id}: {wrong:?}") };
            assert!(error.to_string().contains("another device"), "{id}: {error}");
            assert!(error.remedy.contains("nothing was written"), "{id}: {error}");
        }
        assert!(whole() == before, "{id} wrote to it");
        place.launch.target = Some(right.clone());
        assert!(place.prepare(id, &parameters).is_ok(), "{id}");
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let status = std::process::Command::new("losetup").arg("-d").arg(&self.node).status();
        assert!(status.is_ok_and(|status| status.success()), "{} is left", self.node);
    }
}

pub(crate) fn uses_its_part_of_a_device() {
    let Some(device) = Loop::attach() else { return };
    std::os::unix::fs::FileExt::write_all_at(device.image.as_file(), &[7; 4096], 3 << 20).unwrap();
    let mut place = TestMachine::new();
    place.launch.target = Some(device.target());
    for (engine, direct) in [("psync", "true"), ("io_uring", "true"), ("mmap", "false")] {
        let settings = [
            ("engine", engine),
            ("direct", direct),
            ("threads", "3"),
            ("record", "16k"),
            ("size", "1M"),
            ("drop_caches", drops("phase")),
        ];
        let parameters = parameters("io", &settings);
        place.run("io", &parameters);
        let mut load = place.prepare("io", &parameters).unwrap();
        // The device is claimed while the load lives.
        let Err(error) = place.prepare("io", &parameters) else { panic!("claimed twice") };
        assert!(error.to_string().contains("in use"), "{error}");
        load.run().unwrap();
        let caveats = load.caveats();
        assert_eq!(caveats[0].code, model::CaveatCode::HostCacheSuspected);
        assert_eq!(caveats[0].detail, "a file of the host");
    }
    let mut beyond = [0; 4096];
    std::os::unix::fs::FileExt::read_exact_at(device.image.as_file(), &mut beyond, 3 << 20)
        .unwrap();
    assert_eq!(beyond, [7; 4096], "what lies beyond the threads' parts is left alone");
    let settings = [("size", "3M"), ("threads", "2"), ("drop_caches", "no")];
    let Err(error) = place.prepare("io", &parameters("io", &settings)) else { panic!("too large") };
    assert!(error.to_string().contains("6M are needed and it has 4M"), "{error}");
}
