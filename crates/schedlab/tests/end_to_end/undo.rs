//! A change that could not be undone is refused before the first one, on a machine of files.

use crate::bench::{Bench, errors};
use crate::fake_root::{self, Fate};
use rustix::fs::{major, minor};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use sys::{FakeRule, FakeRules, Machine};

const NR_MIGRATE: &str = "/sys/kernel/debug/sched/nr_migrate";
const BASE_SLICE: &str = "/sys/kernel/debug/sched/base_slice_ns";
const SCHEDULER: &str = "/sys/block/sdb/queue/scheduler";

/// A reference without levels, and a subject with this one.
fn experiment(level: &str) -> String {
    format!(
        "title = \"undo\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\nprobes = []\n\
         [subjects.plain]\n[subjects.changed]\n{level}\n\
         [[workloads]]\nuse = \"pipe\"\nloops = 50\ninvocations = 1\n"
    )
}

/// Lets a file of the machine behave so.
fn set_rule(root: &Path, path: &str, rule: FakeRule) {
    let file = root.join(FakeRules::FILE);
    let mut rules: FakeRules = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    rules.files.insert(path.to_owned(), rule);
    fs::write(file, serde_json::to_string(&rules).unwrap()).unwrap();
}

fn choices(words: &[&str]) -> FakeRule {
    FakeRule::Choice { choices: words.iter().map(|word| (*word).to_owned()).collect() }
}

/// Runs the experiment and insists on its refusal; returns what was told, on one line.
fn refused(bench: &Bench, root: &Path, level: &str) -> String {
    let output = bench.run(&["run", &bench.experiment("undo", &experiment(level))]);
    let told = errors(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(4), "{told}");
    let machine = Machine::fake(root, bench.path().join("run")).unwrap();
    assert!(executor::Journal::read(&machine).unwrap().is_empty());
    bench.expect(0, &["restore", "--check"]);
    let campaigns = fs::read_dir(bench.results()).into_iter().flatten();
    assert_eq!(campaigns.count(), 0, "nothing ran");
    told
}

#[test]
fn a_file_that_refuses_its_present_value_refuses_the_run_and_nothing_is_changed() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    // It holds 32.
    set_rule(root.path(), NR_MIGRATE, choices(&["64"]));
    let bench = Bench::new().on_fake_root(root.path());
    let told = refused(&bench, root.path(), "thp = \"never\"\nnr_migrate = \"64\"");
    assert!(told.contains("nr_migrate = 64: it could not be undone"), "{told}");
    assert!(told.contains(NR_MIGRATE) && told.contains("Invalid argument"), "{told}");
    assert!(told.contains("leave this factor out"), "{told}");
    assert_eq!(fake_root::contents(root.path()), before);
}

#[test]
fn a_level_that_is_in_force_is_not_refused_for_a_value_that_nobody_writes() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    set_rule(root.path(), NR_MIGRATE, choices(&["64"]));
    let bench = Bench::new().on_fake_root(root.path());
    let file = bench.experiment("undo", &experiment("nr_migrate = \"32\"\nthp = \"never\""));
    bench.expect(0, &["run", &file]);
    assert_eq!(fake_root::contents(root.path()), before);
}

#[test]
fn a_present_value_that_is_written_back_as_another_one_is_told_until_it_is_put_back() {
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let before = fake_root::contents(root.path());
    // It holds 2 ms.
    set_rule(root.path(), BASE_SLICE, FakeRule::Clamp { low: 100_000, high: 1_500_000 });
    let bench = Bench::new().on_fake_root(root.path());
    let file = bench.experiment("undo", &experiment("base_slice = \"1ms\""));
    let output = bench.run(&["run", &file]);
    assert_eq!(output.status.code(), Some(7), "{}", errors(&output));
    assert!(errors(&output).contains("base_slice"), "{}", errors(&output));
    bench.expect(7, &["restore", "--check"]);
    fake_root::set_rules(root.path(), Fate::None);
    bench.expect(0, &["restore"]);
    assert_eq!(fake_root::contents(root.path()), before);
}

/// The disk below the bench is `sdb`, with this elevator in force and `none`.
fn with_elevator(root: &Path, bench: &Bench, name: &str, taken: &[&str]) {
    let file = root.join(SCHEDULER.trim_start_matches('/'));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, format!("[{name}] none\n")).unwrap();
    set_rule(root, SCHEDULER, choices(taken));
    let number = fs::metadata(bench.path()).unwrap().dev();
    let link = root.join(format!("sys/dev/block/{}:{}", major(number), minor(number)));
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(root.join("sys/block/sdb"), link).unwrap();
}

#[test]
fn an_elevator_is_left_in_force_whose_name_is_longer_than_the_kernel_takes_back() {
    let scheduler =
        |root: &Path| fs::read_to_string(root.join(SCHEDULER.trim_start_matches('/'))).unwrap();
    let (short, long) = ("fifteen-letters", "sixteen-letters2");
    assert_eq!([short.len(), long.len()], [15, 16]);

    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    with_elevator(root.path(), &bench, long, &["none"]);
    let told = refused(&bench, root.path(), "elevator = \"none\"");
    assert!(told.contains(&format!("{SCHEDULER} holds {long}")), "{told}");
    assert!(told.contains("at most 15 bytes"), "{told}");
    assert_eq!(scheduler(root.path()), format!("[{long}] none\n"));

    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let bench = Bench::new().on_fake_root(root.path());
    with_elevator(root.path(), &bench, short, &[short, "none"]);
    let file = bench.experiment("undo", &experiment("elevator = \"none\""));
    bench.expect(0, &["run", &file]);
    assert!(bench.record_lines().iter().any(|line| line.contains("\"before\":\"none\"")));
    assert_eq!(scheduler(root.path()), format!("[{short}] none\n"));
}
