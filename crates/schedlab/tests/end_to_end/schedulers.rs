//! Published schedulers: what is said without any, and what is told of those that are cached.
//! Nothing here asks the registry.

use crate::bench::{Bench, errors, permissions, set_umask};
use crate::fake_root;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// `schedlab schedulers` on a cache of the test's own.
fn words_of<'a>(cache: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&["--cache", cache, "schedulers"], words].concat()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_empty_cache_lists_what_is_known_and_a_way_to_get_it() {
    let bench = Bench::new();
    let cache = bench.path().join("cache").display().to_string();
    let text = bench.expect(0, &words_of(&cache, &["list"]));
    assert!(text.contains("scx_lavd") && text.contains("schedlab schedulers fetch"), "{text}");
    let all = json(&bench.expect(0, &words_of(&cache, &["list", "--json"])));
    assert!(all["schedulers"].as_array().unwrap().len() >= 13, "{all}");
    assert!(
        all["schedulers"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["cached"] == Value::from(Vec::<Value>::new()))
    );
    let text = bench.expect(0, &words_of(&cache, &["show", "scx_layered"]));
    assert!(text.contains("NiceAbove") && text.contains("fetch scx_layered"), "{text}");
    assert!(bench.expect(0, &["--cache", &cache, "list", "schedulers"]).contains("scx_rusty"));
    let one = ["--cache", &cache, "list", "--explain", "scx_rusty"];
    assert!(bench.expect(0, &one).contains("last-level cache"));
    for missing in ["scx_rusty@1.1.4", "scx_unknown"] {
        let output = bench.run(&words_of(&cache, &["show", missing]));
        assert_eq!(output.status.code(), Some(4));
        let remedy = format!("schedlab schedulers fetch {missing}");
        assert!(errors(&output).contains(&remedy), "{}", errors(&output));
    }
    let output = bench.run(&words_of(&cache, &["show", "lab:bsf"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("did you mean `bfs`?"), "{}", errors(&output));
    let text = bench.expect(0, &words_of(&cache, &["show", "lab:bfs?rr_interval=3ms"]));
    assert!(text.starts_with("lab:bfs: "), "{text}");
    bench.expect(4, &words_of(&cache, &["remove", "scx_rusty@1.1.4"]));
    for wrong in [
        &["show", "rusty"][..],
        &["fetch", "scx_rusty@newest"],
        &["fetch", "scx_../../x"],
        &["fetch"],
        &["fetch", "--all", "scx_rusty"],
        &["remove", "scx_rusty"],
    ] {
        bench.expect(2, &words_of(&cache, wrong));
    }
    assert!(!Path::new(&cache).exists(), "nothing of this needs the cache to be made");
}

#[test]
fn a_misspelt_scheduler_of_ours_is_told_with_one_suggestion() {
    let bench = Bench::new();
    let text = "[subjects.kernel]\nscheduler = \"fair\"\n\
        [subjects.ours]\nscheduler = \"lab:bsf\"\n\n[[workloads]]\nuse = \"wakeup\"\n";
    let output = bench.run(&["plan", &bench.experiment("misspelt", text)]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(errors(&output).matches("did you mean").count(), 1, "{}", errors(&output));
}

#[test]
fn without_a_toolchain_everything_that_is_missing_is_told_at_once() {
    let bench = Bench::new();
    let cache = bench.path().join("cache").display().to_string();
    let no_programs = |words: &[&str]| {
        let mut command = bench.command(&[&["--cache", cache.as_str()], words].concat());
        command.env("PATH", bench.path()).output().unwrap()
    };
    let output = no_programs(&["schedulers", "fetch", "scx_rusty"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(errors(&output).contains("cargo"), "{}", errors(&output));
    for (words, counted) in [
        (&["schedulers", "fetch", "--all"][..], "0 of 14 built; not scx_beerland, scx_bpfland"),
        (&["schedulers", "fetch", "--dry-run", "--all"], "0 of 14 are offered; not scx_beerland"),
    ] {
        let output = no_programs(words);
        assert_eq!(output.status.code(), Some(4));
        let told = errors(&output);
        assert!(told.contains(counted) && told.contains("registry for scx_tickless"), "{told}");
    }
    let output = no_programs(&["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("make pkg-config gcc clang-19 libelf-dev zlib1g-dev"), "{text}");
}

/// A directory of programs that stand for a toolchain, and of what the script needs that they are.
fn fake_toolchain(bench: &Bench) -> PathBuf {
    let tools = bench.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let builds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../builds/tests");
    for name in ["cargo", "rustc", "clang-19", "cc", "make", "pkg-config"] {
        symlink(builds.join("fake-toolchain/program"), tools.join(name)).unwrap();
    }
    // Nothing else: without unshare(1) no other user builds where root does.
    for name in ["basename", "cat", "chmod", "cp", "dirname", "env", "id", "mkdir"] {
        symlink(Path::new("/usr/bin").join(name), tools.join(name)).unwrap();
    }
    let put = |name: &str, bytes: &[u8]| fs::write(tools.join(name), bytes).unwrap();
    put("cargo.version", b"cargo 1.95.0 (f2d3ce0bd 2026-03-21)");
    put("rustc.version", b"rustc 1.95.0 (59807616e 2026-04-14)");
    put("clang-19.version", b"Debian clang version 19.1.7 (3~deb12u1)\nTarget: x");
    put("info", &fs::read(builds.join("golden/cargo-info/1.95-newest.txt")).unwrap());
    put("complaint", b"error: linking with `cc` failed: exit status: 1\n");
    put("dynamic", &fs::read("/bin/true").unwrap());
    for name in ["libelf.a", "libz.a", "libc.a", "libseccomp.a"] {
        put(name, b"");
    }
    tools
}

/// Every file and directory below this one.
fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let with_own = |path: PathBuf| {
        let own = if path.is_dir() { below(&path) } else { Vec::new() };
        std::iter::once(path).chain(own)
    };
    entries.flat_map(with_own).collect()
}

#[test]
fn a_built_scheduler_has_the_same_modes_in_the_cache_whatever_the_umask() {
    for umask in [0o000, 0o077] {
        let bench = Bench::new();
        let cache = bench.path().join("cache");
        let words = words_of(cache.to_str().unwrap(), &["fetch", "scx_rusty"]);
        let mut command = bench.command(&words);
        command.env("PATH", fake_toolchain(&bench)).env_remove("BPF_CLANG");
        set_umask(&mut command, umask);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{umask:o}: {}", errors(&output));
        let schedulers = cache.join("schedulers");
        let page = schedulers.join("scx_rusty@1.1.4/scheduler.json");
        let program = schedulers.join("bin/scx_rusty@1.1.4");
        assert_eq!(permissions(&page), 0o644, "{umask:o}");
        assert_eq!(permissions(&program), 0o755, "{umask:o}");
        assert_eq!(permissions(&cache), 0o755, "{umask:o}");
        for path in below(&cache) {
            // Who could open a lock could hold it.
            let due = if path.ends_with("writer.lock") {
                0o600
            } else if path.is_dir() || path == program {
                0o755
            } else {
                0o644
            };
            assert_eq!(permissions(&path), due, "{umask:o}: {}", path.display());
        }
    }
}

const ABSENT: &str = r#"
venue = "vm"
kernel = "debian:6.18"
[subjects.fair]
scheduler = "fair"
[subjects.unknown]
scheduler = "scx_unknown"
[subjects.misspelt]
scheduler = "/no/such/scheduler --fast"
[[workloads]]
use = "messaging"
"#;

#[test]
fn a_plan_tells_which_schedulers_are_not_here_before_anything_boots() {
    let bench = Bench::new();
    let file = bench.path().join("absent.toml");
    fs::write(&file, ABSENT).unwrap();
    let text = bench.expect(0, &["plan", &file.display().to_string()]);
    assert!(text.contains("schedlab schedulers fetch scx_unknown"), "{text}");
    assert!(text.contains("/no/such/scheduler"), "{text}");
}

#[test]
fn a_cached_scheduler_is_shown_with_its_digest_and_not_trusted_when_it_changed() {
    let bench = Bench::new();
    let listed = json(&bench.expect(0, &["schedulers", "list", "--json"]));
    let all = listed["schedulers"].as_array().unwrap();
    let Some((name, cached)) =
        all.iter().find_map(|one| Some((&one["name"], one["cached"].get(0)?)))
    else {
        // Building one takes minutes and the registry: `cargo xtask external` does.
        testing::unsupported(
            "showing a built scheduler needs one in the cache: schedlab schedulers fetch scx_rusty",
        );
        return;
    };
    let id = format!("{}@{}", name.as_str().unwrap(), cached["version"].as_str().unwrap());
    let text = bench.expect(0, &["schedulers", "show", &id]);
    assert!(text.contains(cached["sha256"].as_str().unwrap()), "{text}");
    // A cache of our own with the same scheduler, whose program is then changed.
    let program = Path::new(cached["program"].as_str().unwrap());
    let (from, own) = (program.parent().unwrap().parent().unwrap(), bench.path().join("cache"));
    let into = own.join("schedulers");
    for part in ["bin".to_owned(), id.clone()] {
        fs::create_dir_all(into.join(part)).unwrap();
    }
    let page = Path::new(&id).join("scheduler.json");
    fs::copy(from.join(&page), into.join(&page)).unwrap();
    let copy = into.join("bin").join(&id);
    fs::copy(program, &copy).unwrap();
    let cache = own.display().to_string();
    bench.expect(0, &words_of(&cache, &["show", &id]));
    fs::write(&copy, "other").unwrap();
    let output = bench.run(&words_of(&cache, &["show", &id]));
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("SHA-256"), "{}", errors(&output));
    assert!(
        bench.expect(0, &words_of(&cache, &["remove", "--dry-run", &id])).contains("would remove")
    );
    bench.expect(0, &words_of(&cache, &["remove", &id]));
    assert!(!copy.exists() && !into.join(&id).exists());
}

/// A scheduler of a machine of files: in charge at once, and still there when it was killed.
const STAYS: &str = r#"#!/bin/sh
echo stays > ROOT/root/ops
echo 1 > ROOT/switch_all
echo 1 > ROOT/enable_seq
echo enabled > ROOT/state
trap '' TERM
while :; do sleep 1; done
"#;

const HELD: &str = r#"
title   = "A scheduler that stays"
venue   = "host"
blocks  = 2
control = false
settle  = "0s"
probes  = []
[subjects.fair]
scheduler = "fair"
[subjects.stays]
scheduler = "PROGRAM"
[[workloads]]
use = "pipe"
loops = 50
invocations = 1
"#;

#[test]
fn a_scheduler_that_will_not_leave_keeps_its_record_and_is_the_last_to_run() {
    if !rustix::process::geteuid().is_root() {
        testing::unsupported("putting a scheduler in charge needs root, of a machine of files too");
        return;
    }
    let root = tempfile::tempdir().unwrap();
    fake_root::make(root.path());
    let sched_ext = root.path().join("sys/kernel/sched_ext");
    fs::create_dir_all(sched_ext.join("root")).unwrap();
    for (file, text) in [("state", "disabled"), ("switch_all", "0"), ("enable_seq", "0")] {
        fs::write(sched_ext.join(file), text).unwrap();
    }
    let bench = Bench::new().on_fake_root(root.path());
    let program = bench.program("stays", &STAYS.replace("ROOT", &sched_ext.display().to_string()));
    let file = bench.experiment("held", &HELD.replace("PROGRAM", &program));
    let output = bench.run(&["run", &file]);
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(7), "{told}");
    assert!(told.contains("stays although its program was killed"), "{told}");
    let records = bench.record_lines();
    let last = json(records.last().unwrap());
    assert_eq!(last["subject"], "stays");
    assert_eq!(last["outcome"]["kind"], "completed");
    let left = last["fingerprint_difference"]["not_put_back"].as_str().unwrap();
    assert!(left.contains("cannot take back scheduler"), "{left}");
    let of_it = records.iter().filter(|line| json(line)["subject"] == "stays").count();
    assert_eq!(of_it, 1, "nothing runs under a scheduler that stayed: {records:?}");
}

const LAYERED: &str = r#"
venue = "host"
[subjects.fair]
scheduler = "fair"
[subjects.layered]
scheduler = "scx_layered"
[[workloads]]
use = "messaging"
"#;

#[test]
fn a_program_on_path_stands_for_its_name_unless_the_cached_one_changed() {
    let bench = Bench::new();
    let program = bench.program("scx_layered", "#!/bin/sh\n");
    let file = bench.experiment("layered", LAYERED);
    let cache = bench.path().join("cache");
    let plan = || {
        let cache = cache.display().to_string();
        let mut command = bench.command(&["--cache", &cache, "plan", &file, "--json"]);
        command.env("PATH", bench.path()).output().unwrap()
    };
    let output = plan();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(text.contains(&program), "{text}");
    let cached = cache.join("schedulers");
    let id = "scx_layered@1.1.4";
    for directory in ["bin", id] {
        fs::create_dir_all(cached.join(directory)).unwrap();
    }
    let page = serde_json::json!({
        "format": "schedlab.scheduler/1",
        "name": "scx_layered",
        "version": "1.1.4",
        "digest": "of another program",
        "license": "GPL-2.0-only",
        "is_static": true,
        "built_with": [],
        "build_seconds": 1,
    });
    fs::write(cached.join(id).join("scheduler.json"), page.to_string()).unwrap();
    fs::write(cached.join("bin").join(id), "changed").unwrap();
    let output = plan();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains("SHA-256"), "{}", errors(&output));
}
