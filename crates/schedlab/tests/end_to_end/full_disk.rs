//! A runtime directory on a file system that is full, or whose files may grow no more: what a run
//! left is put back all the same.

use crate::bench::{Bench, errors};
use crate::fake_root;
use executor::{Journal, JournalEntry, Lock, journal_text};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sys::{ControlFile, Machine, PrivateDirectory};

const KNOB: &str = "/sys/kernel/debug/sched/base_slice_ns";
const OLD: &str = "2000000";
const NEW: &str = "4000000";
/// Space for what a journal sets aside, and little more; names for its directory and few others.
const OPTIONS: &str = "size=1m,nr_inodes=16,mode=0700";

/// A file system in memory, as long as this lives.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn at(path: PathBuf) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", OPTIONS, "none"]).arg(&path).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success()).then_some(Self(path))
    }

    /// Takes all space, and all names where that is asked for too.
    fn fill(&self, with_names: bool) {
        let mut filler = File::create(self.0.join("filler")).unwrap();
        let page = [0_u8; 4096];
        while filler.write_all(&page).is_ok() {}
        assert!(filler.write_all(b"x").is_err(), "it is full");
        if with_names {
            let mut names = (0..64).map(|number| self.0.join(format!("name-{number}")));
            assert!(names.any(|name| File::create(name).is_err()), "no name is left");
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// What a run leaves that is killed with its guardian while a knob is changed, after this many of
/// its process groups had ended, and before or after it read this value back.
fn leave(root: &Path, bench: &Bench, ended_groups: usize, read_back: Option<&str>) {
    let runtime = bench.path().join("run");
    let machine = Machine::fake(root, &runtime).unwrap();
    drop(Lock::acquire(&machine, "campaign").unwrap());
    let boot_id = machine.boot_id().unwrap();
    let mark = format!("SCHEDLAB_MARK={}-left", bench.mark());
    let setting = JournalEntry::Setting {
        id: 0,
        factor: "base_slice".to_owned(),
        order: 50,
        file: ControlFile::plain(KNOB),
        old: OLD.to_owned(),
        new: NEW.to_owned(),
        is_of_made: false,
    };
    let session = JournalEntry::Session { boot_id, mark };
    let mut entries = vec![session];
    entries.extend(vec![JournalEntry::GroupEnded { group: 77 }; ended_groups]);
    entries.extend([setting, JournalEntry::Writing { id: 0 }]);
    entries
        .extend(read_back.map(|actual| JournalEntry::Applied { id: 0, actual: actual.to_owned() }));
    let text = journal_text(&entries).unwrap();
    let name = Journal::path(&machine).file_name().unwrap().to_string_lossy().into_owned();
    PrivateDirectory::open(&runtime).unwrap().write(&name, text.as_bytes()).unwrap();
    machine.write(KNOB, NEW).unwrap();
}

#[test]
fn a_full_runtime_file_system_stops_no_restore_and_is_told() {
    for with_names in [false, true] {
        let bench = Bench::new();
        let root = bench.path().join("root");
        fake_root::make(&root);
        let bench = bench.on_fake_root(&root);
        let before = fake_root::contents(&root);
        let Some(disk) = SmallDisk::at(bench.path().join("run")) else {
            testing::skip("a small file system of one's own needs the right to mount");
            return;
        };
        leave(&root, &bench, 0, None);
        assert_ne!(fake_root::contents(&root), before);
        disk.fill(with_names);
        let output = bench.run(&["restore"]);
        let told = errors(&output);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains("warning: "), "{told}");
        assert!(told.contains("No space left on device"), "{told}");
        assert_eq!(fake_root::contents(&root), before);
        bench.expect(0, &["restore", "--check"]);
        for entry in fs::read_dir(bench.path().join("run")).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "filler" || name.starts_with("name-") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        let output = bench.run(&["restore"]);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        assert!(!errors(&output).contains("warning: "), "{}", errors(&output));
        assert_eq!(fake_root::contents(&root), before);
    }
}

#[test]
fn a_limit_on_the_size_of_files_ends_no_restore() {
    let bench = Bench::new();
    let root = bench.path().join("root");
    fake_root::make(&root);
    let bench = bench.on_fake_root(&root);
    let before = fake_root::contents(&root);
    // The journal is longer than the limit, which is one block: 512 bytes, or 1024 of some shells.
    leave(&root, &bench, 64, None);
    assert_ne!(fake_root::contents(&root), before);
    let restore = bench.command(&["restore"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 1 && exec \"$0\" \"$@\""]);
    limited.arg(restore.get_program()).args(restore.get_args()).current_dir(bench.path());
    let output = limited.output().unwrap();
    let told = errors(&output);
    assert_eq!(output.status.signal(), None, "{told}");
    assert_eq!(fake_root::contents(&root), before, "{told}");
    bench.expect(0, &["restore"]);
    bench.expect(0, &["restore", "--check"]);
    assert_eq!(fake_root::contents(&root), before);
}

#[test]
fn what_is_left_to_put_back_decides_the_exit_code_where_nobody_can_be_told() {
    let bench = Bench::new();
    let root = bench.path().join("root");
    fake_root::make(&root);
    let bench = bench.on_fake_root(&root);
    leave(&root, &bench, 0, Some(NEW));
    // Somebody else changed it meanwhile, so that `restore` leaves it alone.
    let machine = Machine::fake(&root, bench.path().join("run")).unwrap();
    machine.write(KNOB, "3000000").unwrap();
    let untold = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
        let output = command.output().unwrap();
        (output.status.code(), errors(&output))
    };
    for arguments in [["restore", "--check"].as_slice(), &["restore"]] {
        let (code, told) = untold(arguments);
        assert_eq!(code, Some(7), "{arguments:?}: {told}");
        assert!(told.contains("cannot write to standard output"), "{arguments:?}: {told}");
    }
    assert_eq!(machine.read(KNOB).unwrap().trim(), "3000000");
    let (code, told) = untold(&["restore"]);
    assert_eq!(code, Some(1), "nothing is left, and nobody can be told: {told}");
}
