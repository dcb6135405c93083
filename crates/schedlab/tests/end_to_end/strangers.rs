//! What other users of the machine made, and what files say that are not to be believed: nothing of
//! it stops a restore, answers for one, leads a write elsewhere, or is obeyed by a terminal.

mod foreign_text;

use crate::bench::{Bench, KNOWN_EFFECT, PATIENCE, UnprivilegedUser, assert_inert, errors};
use artefacts::digest;
use executor::{JournalEntry, Lock, LockHolder, journal_text};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use sys::{Machine, PrivateDirectory};

const NOBODY: u32 = 65_534;
const JOURNAL: &str = "journal.jsonl";
/// Clears a screen, sets a title, changes colours (C1) and turns letters round.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}";

const SHORT: &str = "title = \"short\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\n\
                     probes = []\n[subjects.a]\n[subjects.b]\nnice = \"1\"\n[[workloads]]\nuse = \"command\"\n\
                     run = [\"/bin/sleep\", \"0.1\"]\ninvocations = 1\n";

/// A runtime directory such as any user can make one in `/tmp`: its lock is held, and its holder
/// is a process that lives.
struct StrangersDirectory {
    path: PathBuf,
    _lock: File,
}

impl StrangersDirectory {
    /// Named after this process, so that no two tests have one.
    fn make(machine: &Machine) -> Self {
        let pid = std::process::id();
        let path = PathBuf::from(format!("/tmp/schedlab-{pid}"));
        fs::create_dir(&path).unwrap();
        let (lock, holder) = (path.join("lock"), path.join("holder.json"));
        let pid = pid.cast_signed();
        let start_ticks = machine.process_stat(pid).unwrap().start_ticks;
        let purpose = "campaign of a stranger".to_owned();
        let text = serde_json::to_vec(&LockHolder { pid, start_ticks, purpose }).unwrap();
        fs::write(&holder, text).unwrap();
        let locked = File::create(&lock).unwrap();
        locked.lock().unwrap();
        for owned in [&lock, &holder, &path] {
            chown(owned, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        Self { path, _lock: locked }
    }
}

impl Drop for StrangersDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Leaves a journal of this boot.
fn leave(machine: &Machine, bench: &Bench, mark: &str, left: JournalEntry, damaged: &str) {
    let boot_id = machine.boot_id().unwrap();
    let session = JournalEntry::Session { boot_id, mark: format!("SCHEDLAB_MARK={mark}") };
    let text = journal_text(&[session, left]).unwrap() + damaged;
    let runtime = PrivateDirectory::make(&bench.path().join("run")).unwrap();
    runtime.write(JOURNAL, text.as_bytes()).unwrap();
}

#[test]
fn a_directory_of_another_user_neither_stops_a_restore_nor_answers_for_one() {
    if !rustix::process::geteuid().is_root() {
        testing::skip("only root can give a directory to another user");
        return;
    }
    let bench = Bench::new();
    let machine = Machine::host(bench.path().join("run"));
    let left = bench.path().join("scratch");
    fs::create_dir(&left).unwrap();
    let mark = format!("{}-left", bench.mark());
    leave(&machine, &bench, &mark, JournalEntry::Directory { path: left.clone() }, "");
    let stranger = StrangersDirectory::make(&machine);
    let told = bench.expect(7, &["restore", "--check"]);
    assert!(told.contains(&left.display().to_string()), "{told}");
    bench.expect(0, &["restore"]);
    assert!(!left.exists());
    let told = bench.expect(0, &["restore", "--check"]);
    assert!(!told.contains("stranger"), "{told}");
    bench.expect(0, &["run", &bench.experiment("short", SHORT)]);
    assert!(stranger.path.join("holder.json").exists(), "it is not ours to remove");
}

#[test]
fn names_of_control_groups_do_not_tell_the_mark_of_a_trial() {
    let bench = Bench::new();
    let [mark, groups] = ["mark", "groups"].map(|name| bench.path().join(name));
    let (mark_path, groups_path) = (mark.display(), groups.display());
    let script = format!(
        "echo $SCHEDLAB_MARK > {mark_path}; cat /proc/self/cgroup > {groups_path}; sleep 0.1"
    );
    let asks = format!("\"/bin/sh\", \"-c\", \"{script}\"");
    let experiment = SHORT.replace("\"/bin/sleep\", \"0.1\"", &asks);
    bench.expect(0, &["run", &bench.experiment("marks", &experiment)]);
    let [mark, groups] = [mark, groups].map(|path| fs::read_to_string(path).unwrap());
    assert!(mark.starts_with(&bench.mark()), "{mark}");
    assert!(!groups.contains(mark.trim()), "{groups}");
}

/// Directories that go with the test.
struct Removed([PathBuf; 2]);

impl Drop for Removed {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// What a run of this user leaves that was killed with its guardian: a directory, and the journal that
/// names it.
fn leave_directory(runtime: &Path, left: &Path, id: u32) {
    fs::create_dir(left).unwrap();
    let boot_id = Machine::host(runtime).boot_id().unwrap();
    let mark = format!("SCHEDLAB_MARK={}-left", executor::mark_prefix(runtime));
    let session = JournalEntry::Session { boot_id, mark };
    let entry = JournalEntry::Directory { path: left.to_owned() };
    let journal = runtime.join(JOURNAL);
    fs::write(&journal, journal_text(&[session, entry]).unwrap()).unwrap();
    set_mode(&journal, 0o600);
    for path in [journal.as_path(), left] {
        chown(path, Some(id), Some(id)).unwrap();
    }
}

#[test]
fn a_run_puts_back_what_is_left_under_other_runtime_directories_of_its_user() {
    if !rustix::process::geteuid().is_root() {
        testing::skip("only root can run as a user whose directories no other test has");
        return;
    }
    let id = 62_200 + std::process::id() % 2_000;
    let user = UnprivilegedUser::with_id(id);
    let removed = Removed(["", "-2"].map(|end| PathBuf::from(format!("/tmp/schedlab-{id}{end}"))));
    let lefts = ["one/scratch", "two/scratch"].map(|name| user.path().join(name));
    for (runtime, left) in removed.0.iter().zip(&lefts) {
        fs::create_dir(runtime).unwrap();
        set_mode(runtime, 0o700);
        let above = left.parent().unwrap();
        fs::create_dir(above).unwrap();
        for path in [runtime.as_path(), above] {
            chown(path, Some(id), Some(id)).unwrap();
        }
        leave_directory(runtime, left, id);
    }
    let file = user.experiment(SHORT);
    // A session that gave a runtime directory, which is neither of these; one that is named is alone.
    let named = user.path().join("named").display().to_string();
    user.expect(&["--runtime-dir", &named, "run", &file]);
    assert!(lefts.iter().all(|left| left.exists()));
    let told = one_line(&user.expect(&["run", "--fresh", &file]));
    for left in &lefts {
        assert!(!left.exists(), "{}: {told}", left.display());
    }
    user.expect(&["restore", "--check"]);
}

#[test]
fn a_directory_that_a_stranger_made_first_stops_no_user_and_hides_no_journal() {
    if !rustix::process::geteuid().is_root() {
        testing::skip("only root can give a directory to another user");
        return;
    }
    // Named after this process, so that no two tests have the same names in `/tmp`.
    let id = 20_000 + std::process::id() % 40_000;
    let user = UnprivilegedUser::with_id(id);
    let names = ["", "-2"].map(|end| PathBuf::from(format!("/tmp/schedlab-{id}{end}")));
    let removed = Removed(names);
    let [strangers, own] = &removed.0;
    let put_stranger = || {
        fs::create_dir(strangers).unwrap();
        chown(strangers, Some(NOBODY), Some(NOBODY)).unwrap();
    };
    // Of a session that gave no runtime directory.
    let ended = |code: i32, arguments: &[&str]| {
        let mut command = user.command(arguments);
        let output = command.env_remove("XDG_RUNTIME_DIR").output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        told
    };
    put_stranger();
    let passed_over = format!("warning: {} is no directory of yours", strangers.display());
    let told = ended(0, &["run", &user.experiment(SHORT)]);
    assert_eq!(told.matches(&passed_over).count(), 1, "{told}");
    assert!(own.join("lock").exists());
    assert!(ended(0, &["restore", "--check"]).contains("nothing to put back"));
    assert!(ended(0, &["restore"]).contains("nothing to put back"));

    let left = user.path().join("scratch");
    leave_directory(own, &left, id);
    let to_put_back = format!("to put back: {}", left.display());
    assert!(ended(7, &["restore", "--check"]).contains(&to_put_back));
    // Its user's directory is the one still, although the first name is free.
    fs::remove_dir(strangers).unwrap();
    assert!(ended(7, &["restore", "--check"]).contains(&to_put_back));
    assert!(!strangers.exists());
    put_stranger();
    // A session with a runtime directory finds it, too.
    let checked = user.command(&["restore", "--check"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(7), "{}", errors(&checked));
    user.expect(&["restore"]);
    assert!(!left.exists());
    user.expect(&["restore", "--check"]);
    ended(0, &["restore", "--check"]);
}

#[test]
fn a_runtime_directory_by_another_name_is_the_same_one_and_its_own_lock_stops_no_run() {
    if !rustix::process::geteuid().is_root() {
        testing::skip("only root can run as a user whose directories no other test has");
        return;
    }
    let id = 60_100 + std::process::id() % 2_000;
    let user = UnprivilegedUser::with_id(id);
    let link = user.path().join("link");
    symlink("/tmp", &link).unwrap();
    let removed = Removed(["", "-2"].map(|end| PathBuf::from(format!("/tmp/schedlab-{id}{end}"))));
    let file = user.experiment(SHORT);
    let names = [format!("/tmp/../tmp/schedlab-{id}"), format!("{}/schedlab-{id}", link.display())];
    for name in names {
        user.expect(&["--runtime-dir", &name, "run", "--fresh", &file]);
        user.expect(&["--runtime-dir", &name, "restore", "--check"]);
    }
    assert!(removed.0[0].join("lock").exists());
}

#[test]
fn a_runtime_directory_that_was_open_is_answered_for_alike_until_its_user_closes_it() {
    let bench = Bench::new();
    let machine = Machine::host(bench.path().join("run"));
    let (left, runtime) = (bench.path().join("scratch"), bench.path().join("run"));
    fs::create_dir(&left).unwrap();
    let mark = format!("{}-left", bench.mark());
    leave(&machine, &bench, &mark, JournalEntry::Directory { path: left.clone() }, "");
    set_mode(&runtime, 0o777);
    let (journal, aside) = (runtime.join(JOURNAL), bench.path().join("aside"));
    let assert_told = || {
        let [checked, restored] =
            [&["restore", "--check"][..], &["restore"]].map(|arguments| bench.run(arguments));
        for output in [&checked, &restored] {
            assert_eq!(output.status.code(), Some(7), "{}", errors(output));
            assert!(one_line(output).contains("others may write there"), "{}", errors(output));
        }
        assert_eq!(errors(&checked), errors(&restored));
        assert!(left.exists());
    };
    assert_told();
    // As anybody could have removed it.
    fs::rename(&journal, &aside).unwrap();
    assert_told();
    assert!(!journal.exists());
    fs::rename(&aside, &journal).unwrap();
    set_mode(&runtime, 0o700);
    fs::create_dir(runtime.join("lock")).unwrap();
    let output = bench.run(&["restore"]);
    let told = one_line(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("lock: it is not a plain file: it is lock.aside-"), "{told}");
    assert!(!left.exists());
}

#[test]
fn a_terminal_obeys_nothing_that_a_lock_holder_or_a_journal_says() {
    let bench = Bench::new();
    let machine = Machine::host(bench.path().join("run"));
    let file = bench.experiment("short", SHORT);
    let left = JournalEntry::LeftAlone { line: format!("thp {HOSTILE} is never"), id: None };
    let damaged = format!("3 00000000 {{\"entry\":\"{HOSTILE}\"}}\n");
    leave(&machine, &bench, HOSTILE, left, &damaged);
    let check = |what: &str, code: i32, arguments: &[&str]| {
        let output = bench.run(arguments);
        assert_inert(what, &output);
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output);
        assert_eq!(output.status.code(), Some(code), "{what}: {told}");
        assert!(told.contains("[2J"), "{what} does not say what it found: {told}");
        let is_forged = |line: &str| line.trim_start().starts_with("FORGED");
        assert!(!told.lines().any(is_forged), "{what}: {told}");
    };
    let lock = Lock::acquire(&machine, &format!("campaign {HOSTILE}\nFORGED")).unwrap();
    check("run beside a campaign", 1, &["run", &file]);
    check("plan beside a campaign", 0, &["plan", &file]);
    check("restore beside a campaign", 1, &["restore"]);
    check("restore --check beside a campaign", 0, &["restore", "--check"]);
    check("doctor beside a campaign", 0, &["doctor"]);
    check("doctor --json beside a campaign", 0, &["doctor", "--json"]);
    drop(lock);
    check("plan", 0, &["plan", &file]);
    check("doctor", 0, &["doctor"]);
    check("restore --check", 7, &["restore", "--check"]);
    check("restore", 7, &["restore"]);
}

#[test]
fn a_terminal_obeys_nothing_of_an_argument_that_is_refused() {
    let bench = Bench::new();
    // As a pattern of the shell names files of others.
    let name = format!("b{HOSTILE}\nFORGED: verified");
    let option = format!("--{name}");
    let check = |words: &[&OsStr], is_quoted: bool| {
        let output = bench.command(&[]).args(words).output().unwrap();
        assert_inert("a refusal", &output);
        let told = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("error: "), "{told}");
        assert!(!told.lines().any(|line| line.starts_with("FORGED")), "{told}");
        assert!(told.contains("b\\u001b[2J\\u001b]0;x\\u0007") || !is_quoted, "{told}");
    };
    let [verify, file] = ["verify", "a.tar.gz"].map(OsStr::new);
    let [name, option] = [&name, &option].map(OsStr::new);
    check(&[verify, file, name], true);
    check(&[verify, option], true);
    check(&[name], true);
    // Neither is UTF-8; of the second nothing is quoted.
    let broken = [option.as_bytes(), &[0xff]].concat();
    let broken = OsStr::from_bytes(&broken);
    check(&[verify, file, broken], true);
    check(&[OsStr::new("plan"), file, OsStr::new("--venue"), broken], false);
    // With colours, which are clap's alone.
    let mut coloured = bench.command(&["verify"]);
    coloured.args([file, name]).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
    let output = coloured.output().unwrap();
    let told = errors(&output);
    assert!(told.contains("\u{1b}[") && !told.contains("\u{1b}]0;"), "{told:?}");
    assert!(!told.contains("\u{1b}[2J") && !told.contains('\u{202e}'), "{told:?}");
}

#[test]
fn a_terminal_obeys_nothing_that_a_role_says_in_its_log() {
    let bench = Bench::new();
    // No directory, so that no machine can be made of it.
    let root = bench.path().join(HOSTILE);
    fs::write(&root, "").unwrap();
    let mut guardian = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let output = guardian.arg("__guardian").arg(bench.path()).arg(&root).output().unwrap();
    assert_inert("a guardian", &output);
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.starts_with("guardian: ") && told.contains("\\u001b[2J"), "{told}");
}

#[test]
fn nothing_is_written_through_a_link_in_the_directory_of_a_campaign() {
    let bench = Bench::new();
    bench.expect(0, &["run", &bench.experiment("effect", KNOWN_EFFECT)]);
    let elsewhere = bench.path().join("elsewhere");
    fs::write(&elsewhere, "as it was").unwrap();
    let is_kept = || fs::read_to_string(&elsewhere).unwrap() == "as it was";
    let put_link = |name: &str| {
        let path = bench.campaign().join(name);
        let _ = fs::remove_file(&path);
        symlink(&elsewhere, &path).unwrap();
        path
    };
    // In the place of a report there is a report again.
    let report = put_link("report.md");
    bench.expect(0, &["judge", "last"]);
    assert!(is_kept() && is_plain(&report), "{}", report.display());
    // What has the name that an unfinished one had is in nobody's way, and stays.
    let beside = put_link(".report.md.partial");
    bench.expect(0, &["judge", "last"]);
    assert!(is_kept() && is_plain(&report) && beside.is_symlink());
    if !report::HAS_PAGE {
        testing::unsupported("the figures are not built: cargo xtask ui");
        return;
    }
    bench.expect(0, &["figures", "last"]);
    let folder = bench.campaign().join("figures");
    let figure = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().file_name();
    let figure = put_link(&format!("figures/{}", figure.to_string_lossy()));
    bench.expect(0, &["figures", "last"]);
    assert!(is_kept() && is_plain(&figure), "{}", figure.display());
    fs::rename(&folder, bench.path().join("moved")).unwrap();
    symlink(bench.path().join("moved"), &folder).unwrap();
    bench.expect(1, &["figures", "last"]);
}

#[test]
fn what_has_the_former_name_of_an_unfinished_document_stops_no_command_and_stays() {
    let bench = Bench::new();
    bench.expect(0, &["run", &bench.experiment("effect", KNOWN_EFFECT)]);
    let campaign = bench.campaign();
    let own = rustix::process::geteuid();
    let documents = ["findings.json", "report.md"];
    let beside = documents.map(|name| campaign.join(format!(".{name}.partial")));
    for path in &beside {
        fs::create_dir(path).unwrap();
    }
    bench.expect(0, &["judge", "last"]);
    for path in &beside {
        assert!(path.is_dir(), "{}", path.display());
        fs::remove_dir(path).unwrap();
        fs::write(path, "theirs").unwrap();
        set_mode(path, 0o666);
        if own.is_root() {
            chown(path, Some(NOBODY), None).unwrap();
        }
    }
    bench.expect(0, &["judge", "last"]);
    for (path, name) in beside.iter().zip(documents) {
        assert_eq!(fs::read_to_string(path).unwrap(), "theirs", "{}", path.display());
        let found = fs::metadata(campaign.join(name)).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o022), (own.as_raw(), 0), "{name}");
    }
}

fn is_plain(path: &Path) -> bool {
    fs::symlink_metadata(path).unwrap().is_file()
}

/// Makes a finished campaign one that the same command goes on with.
fn reopen(campaign: &Path) {
    let path = campaign.join("state.json");
    let mut state: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    state["state"] = "unfinished".into();
    fs::write(&path, state.to_string()).unwrap();
}

#[test]
fn a_campaign_whose_directories_lead_elsewhere_is_not_gone_on_with() {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    bench.expect(0, &["run", &file]);
    let campaign = bench.campaign();
    reopen(&campaign);
    let files = ["records.jsonl", "state.json"].map(|name| campaign.join(name));
    let before = files.each_ref().map(|path| fs::read(path).unwrap());
    let elsewhere = bench.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for name in ["logs", "traces", "scratch"] {
        let (path, aside) = (campaign.join(name), bench.path().join("aside"));
        let was_there = fs::rename(&path, &aside).is_ok();
        symlink(&elsewhere, &path).unwrap();
        let output = bench.run(&["run", &file]);
        let told = one_line(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {told}");
        assert!(told.contains(&format!("{name}: a link has that name")), "{told}");
        assert!(told.contains("--fresh"), "{told}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{name} was written into");
        assert_eq!(before, files.each_ref().map(|path| fs::read(path).unwrap()), "{name}");
        fs::remove_file(&path).unwrap();
        if was_there {
            fs::rename(&aside, &path).unwrap();
        }
    }
}

/// What was told of errors, however it was broken into lines.
fn one_line(output: &Output) -> String {
    errors(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The end of a command, which must come by itself.
fn ended(bench: &Bench, arguments: &[&str]) -> Output {
    let mut command = bench.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = Pid::from_child(&child);
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        kill_process(pid, Signal::KILL).unwrap();
        panic!("{arguments:?} waits for something");
    };
    output.unwrap()
}

#[test]
fn a_cache_of_fifos_devices_and_endless_files_is_listed_and_nobody_waits_for_it() {
    let bench = Bench::new();
    let cache = bench.path().join("cache");
    let entry = |kind: &str, name: &str| {
        let entry = cache.join(kind).join(name);
        fs::create_dir_all(&entry).unwrap();
        entry
    };
    for (kind, page) in [("kernels", "kernel.json"), ("schedulers", "scheduler.json")] {
        let fifo = entry(kind, "debian-a").join(page);
        mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        symlink("/dev/zero", entry(kind, "debian-b").join(page)).unwrap();
        // Sparse: it reads as zeros and takes no room.
        let long = File::create(entry(kind, "debian-c").join(page)).unwrap();
        long.set_len(3 << 30).unwrap();
    }
    let cache = cache.display().to_string();
    for words in [&["kernels", "list"][..], &["schedulers", "list"], &["list"], &["doctor"]] {
        let output = ended(&bench, &[&["--cache", &cache][..], words].concat());
        assert!(!errors(&output).contains("panicked"), "{words:?}: {}", errors(&output));
    }
}

#[test]
fn a_fifo_in_place_of_a_file_of_a_campaign_is_refused_and_nobody_waits_for_it() {
    let bench = Bench::new();
    bench.expect(0, &["run", &bench.experiment("effect", KNOWN_EFFECT)]);
    let campaign = bench.campaign();
    let place = campaign.display().to_string();
    let refused = [
        "state.json",
        "records.jsonl",
        "environment.json",
        "experiment.toml",
        "plan.json",
        "logs/events.jsonl",
    ];
    for name in refused {
        let (path, aside) = (campaign.join(name), bench.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        for command in ["show", "report", "judge", "verify"] {
            // Verify takes a file: the FIFO itself.
            let given =
                if command == "verify" { path.display().to_string() } else { place.clone() };
            let output = ended(&bench, &[command, &given]);
            let told = one_line(&output);
            // Verdicts rest on no event, and without a plan there is no campaign.
            match name {
                "logs/events.jsonl" if command != "verify" => continue,
                "plan.json" if command != "verify" => {
                    assert_eq!(output.status.code(), Some(2), "{command} {name}: {told}");
                }
                _ => {
                    assert_eq!(output.status.code(), Some(1), "{command} {name}: {told}");
                    assert!(told.contains("it is a FIFO, not a file"), "{command} {name}: {told}");
                }
            }
        }
        ended(&bench, &["top", "--once"]);
        ended(&bench, &["history"]);
        fs::remove_file(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
    }
    bench.expect(0, &["show", &place]);
}

#[test]
fn a_report_is_not_written_through_the_link_of_another_user_and_a_file_keeps_its_mode() {
    if !rustix::process::geteuid().is_root() {
        testing::skip("only root makes links of other users");
        return;
    }
    let bench = Bench::new();
    bench.expect(0, &["run", &bench.experiment("effect", KNOWN_EFFECT)]);
    let (file, link) = (bench.path().join("file"), bench.path().join("link"));
    fs::write(&file, "as it was").unwrap();
    set_mode(&file, 0o600);
    symlink(&file, &link).unwrap();
    let output = link.display().to_string();
    lchown(&link, Some(NOBODY), None).unwrap();
    bench.expect(1, &["report", "last", "-o", &output]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "as it was");
    lchown(&link, Some(0), None).unwrap();
    bench.expect(0, &["report", "last", "-o", &output]);
    assert_ne!(fs::read_to_string(&file).unwrap(), "as it was");
    assert_eq!(mode(&file), 0o600);
}

/// Locks all that its mode lets anybody open, as any user of the machine can.
fn lock_what_others_can_open(directory: &Path, held: &mut Vec<File>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let metadata = entry.metadata().unwrap();
        if metadata.permissions().mode() & 0o044 != 0 {
            let file = File::open(entry.path()).unwrap();
            file.lock().unwrap();
            held.push(file);
        }
        if metadata.is_dir() {
            lock_what_others_can_open(&entry.path(), held);
        }
    }
}

#[test]
fn locks_on_what_anybody_can_open_neither_stop_a_campaign_nor_pass_for_a_run() {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    bench.expect(0, &["run", &file]);
    let mut held = Vec::new();
    for directory in [bench.path().join("run"), bench.results()] {
        lock_what_others_can_open(&directory, &mut held);
    }
    assert!(held.len() > 3, "{held:?}");
    for arguments in [["judge", "last"], ["run", file.as_str()], ["judge", "last"]] {
        let output = ended(&bench, &arguments);
        let told = one_line(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
        assert!(!told.contains("not counted"), "{told}");
    }
    let counted = fs::read_to_string(bench.path().join("run/attempts.jsonl")).unwrap();
    assert_eq!(counted.lines().count(), 2);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Commands that count a campaign and take no lock of the machine.
fn counting_commands(bench: &Bench) -> [Vec<String>; 2] {
    let file = bench.experiment("effect", KNOWN_EFFECT);
    let table = bench.path().join("table.csv").display().to_string();
    let rows = "a,1.1\nb,1.2\nb,1.4\na,1.2\na,1.3\nb,1.5\nb,1.3\na,1.4\na,1.0\nb,1.6\n";
    fs::write(&table, format!("who,ns\n{rows}")).unwrap();
    let import = ["import", "csv", &table, "--subject", "who", "--value", "ns:lower:ns"];
    [vec!["run".to_owned(), file], import.map(str::to_owned).to_vec()]
}

/// Each of them is refused with these words, and nothing was written or changed.
#[track_caller]
fn assert_runtime_refused(bench: &Bench, words: &str) {
    let runtime = bench.path().join("run");
    let before = mode(&runtime);
    for arguments in counting_commands(bench) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = ended(bench, &arguments);
        let told = one_line(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains("cannot use the runtime directory"), "{arguments:?}: {told}");
        assert!(told.contains(words), "{arguments:?}: {told}");
        assert_eq!(fs::read_dir(&runtime).unwrap().count(), 0, "{arguments:?}");
        assert_eq!(mode(&runtime), before, "{arguments:?}");
        assert!(!bench.results().exists(), "{arguments:?}");
    }
}

#[test]
fn nothing_is_written_where_the_runtime_directory_is_another_users() {
    if !rustix::process::geteuid().is_root() {
        testing::skip("only root can give a directory to another user");
        return;
    }
    let bench = Bench::new();
    let runtime = bench.path().join("run");
    fs::create_dir(&runtime).unwrap();
    chown(&runtime, Some(NOBODY), Some(NOBODY)).unwrap();
    assert_runtime_refused(&bench, "it belongs to another user");
}

#[test]
fn a_runtime_directory_that_others_may_write_is_refused_and_none_is_changed() {
    let bench = Bench::new();
    let runtime = bench.path().join("run");
    fs::create_dir(&runtime).unwrap();
    set_mode(&runtime, 0o777);
    assert_runtime_refused(&bench, "others may write there");
    // Others may read it, as a dashboard without root's rights does.
    set_mode(&runtime, 0o755);
    for arguments in counting_commands(&bench) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        bench.expect(0, &arguments);
        assert_eq!(mode(&runtime), 0o755, "{arguments:?}");
    }
    let counted = fs::read_to_string(runtime.join("attempts.jsonl")).unwrap();
    assert_eq!(counted.lines().count(), 2);
}

#[test]
fn an_attempt_is_unknown_where_others_may_write_in_the_state_directory_and_nothing_is_stopped() {
    let user = UnprivilegedUser::new();
    let file = user.experiment(KNOWN_EFFECT);
    let state = user.path().join("state/schedlab");
    let counted = || fs::read_to_string(state.join("attempts.jsonl")).unwrap().lines().count();
    let run = || one_line(&user.expect(&["run", &file]));
    let told = run();
    assert!(!told.contains("not counted"), "{told}");
    assert_eq!(counted(), 1);
    set_mode(&state, 0o777);
    let told = run();
    assert!(told.contains("attempts are not counted"), "{told}");
    assert!(told.contains("others may write there"), "{told}");
    assert_eq!((counted(), mode(&state)), (1, 0o777));
    assert_eq!(fs::read_dir(state.join("campaigns")).unwrap().count(), 1);
    let shown = user.expect(&["show", "last", "--format", "markdown"]).stdout;
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("unknown: nobody counted, or the count was lost"), "{shown}");
    set_mode(&state, 0o755);
    let told = run();
    assert!(!told.contains("not counted"), "{told}");
    assert_eq!(counted(), 2);
}

/// A cache with a scheduler that was built: a program, and the page that names its digest.
fn cache_with_scheduler(cache: &Path) -> PathBuf {
    const ID: &str = "scx_layered@1.1.4";
    const PROGRAM: &str = "#!/bin/sh\n";
    let schedulers = cache.join("schedulers");
    let program = schedulers.join("bin").join(ID);
    for directory in ["bin", ID] {
        fs::create_dir_all(schedulers.join(directory)).unwrap();
    }
    fs::write(&program, PROGRAM).unwrap();
    let page = serde_json::json!({
        "format": "schedlab.scheduler/1",
        "name": "scx_layered",
        "version": "1.1.4",
        "digest": digest::of_bytes(PROGRAM.as_bytes()),
        "license": "GPL-2.0-only",
        "is_static": true,
        "built_with": [],
        "build_seconds": 1,
    });
    fs::write(schedulers.join(ID).join("scheduler.json"), page.to_string()).unwrap();
    for path in [cache, &schedulers, &schedulers.join("bin"), &program] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    program
}

#[test]
fn root_obeys_no_cache_that_another_user_can_change() {
    if !rustix::process::geteuid().is_root() {
        testing::skip("only root makes files of other users, and is asked whom it obeys");
        return;
    }
    const CACHED: &str = "venue = \"host\"\n[subjects.fair]\nscheduler = \"fair\"\n\
        [subjects.layered]\nscheduler = \"scx_layered\"\n[[workloads]]\nuse = \"messaging\"\n";
    let bench = Bench::new();
    let (cache, real) = (bench.path().join("cache"), bench.path().join("real"));
    let program = cache_with_scheduler(&cache);
    let name = cache.display().to_string();
    let file = bench.experiment("cached", CACHED);
    let with_cache = |words: &[&str]| bench.run(&[&["--cache", name.as_str()], words].concat());
    let is_obeyed = |what: &str, is_due: bool| {
        let output = with_cache(&["plan", &file]);
        let told = errors(&output);
        assert_eq!(output.status.code(), Some(i32::from(!is_due)), "{what}: {told}");
        assert_eq!(told.contains("cannot use the cache"), !is_due, "{what}: {told}");
        assert!(is_due || (told.contains("go-w") && told.contains("--cache")), "{what}: {told}");
    };
    is_obeyed("a cache of root's", true);
    let bin = program.parent().unwrap();
    for path in [cache.as_path(), bin, &program] {
        for (mode, is_due) in [(0o777, false), (0o757, false), (0o755, true)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            is_obeyed(&format!("{} with mode {mode:o}", path.display()), is_due);
        }
        for (owner, is_due) in [(NOBODY, false), (0, true)] {
            chown(path, Some(owner), None).unwrap();
            is_obeyed(&format!("{} of user {owner}", path.display()), is_due);
        }
    }
    fs::rename(&cache, &real).unwrap();
    symlink(&real, &cache).unwrap();
    is_obeyed("a link of root's", true);
    lchown(&cache, Some(NOBODY), None).unwrap();
    is_obeyed("a link of another user", false);
    fs::remove_file(&cache).unwrap();
    fs::rename(&real, &cache).unwrap();
    // What would write there is refused as well, and what only reads or puts back is not.
    fs::set_permissions(&cache, Permissions::from_mode(0o777)).unwrap();
    for words in [
        &["kernels", "fetch", "debian:6.1"][..],
        &["kernels", "list", "--offered"],
        &["schedulers", "fetch", "scx_layered@1.1.4"],
        &["schedulers", "remove", "scx_layered@1.1.4"],
    ] {
        let output = with_cache(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", errors(&output));
        assert!(errors(&output).contains("cannot use the cache"), "{words:?}");
    }
    let report = with_cache(&["doctor", "--json"]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let told =
        checks.iter().find(|check| check["kind"] == "state" && check["id"] == "cache").unwrap();
    assert_eq!(told["supported"], false, "{told}");
    let (why, remedy) = (told["why"].as_str().unwrap(), told["remedy"].as_str().unwrap());
    assert!(why.contains(&format!("{name}: others may write there")), "{why}");
    assert!(remedy.contains(&format!("chmod -R go-w {name}")), "{remedy}");
    for words in [
        &["kernels", "list"][..],
        &["schedulers", "show", "scx_layered@1.1.4"],
        &["restore", "--check"],
    ] {
        let output = with_cache(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", errors(&output));
    }
}
