//! Guest kernels: what is said without any, and a real one from Debian's archive.

use crate::bench::{Bench, errors, permissions, set_umask};
use artefacts::digest;
use kernels::{Kernels, load_order};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A kernel of the oldest series that every mirror of these years has.
const SERIES: &str = "debian:6.1";

#[test]
fn an_empty_cache_is_listed_and_what_is_not_there_is_told_with_a_way_on() {
    let bench = Bench::new();
    let cache = bench.path().join("cache").display().to_string();
    let text = bench.expect(0, &["--cache", &cache, "kernels", "list"]);
    assert!(text.contains("schedlab kernels fetch"), "{text}");
    assert_eq!(json(&bench.expect(0, &["--cache", &cache, "kernels", "list", "--json"])).0, 0);
    let output = bench.run(&["--cache", &cache, "kernels", "show", SERIES]);
    assert_eq!(output.status.code(), Some(4));
    assert!(errors(&output).contains("schedlab kernels fetch debian:6.1"), "{}", errors(&output));
    for wrong in ["6.1", "debian:", "path:"] {
        bench.expect(2, &["--cache", &cache, "kernels", "fetch", wrong]);
    }
    bench.expect(2, &["--cache", &cache, "kernels", "fetch", "host"]);
    assert!(!Path::new(&cache).exists(), "nothing of this needs the cache to be made");
}

#[test]
fn the_environment_names_the_cache_in_order() {
    let bench = Bench::new();
    let fetch = |variables: &[(&str, &Path)]| {
        let mut command = bench.command(&["kernels", "show", "path:none"]);
        for name in ["SCHEDLAB_CACHE", "XDG_CACHE_HOME", "HOME"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied()).output().unwrap().status.code()
    };
    // The path is what is refused: the cache was found.
    assert_eq!(fetch(&[("HOME", bench.path())]), Some(1));
    assert_eq!(fetch(&[("SCHEDLAB_CACHE", bench.path())]), Some(1));
    assert_eq!(fetch(&[("XDG_CACHE_HOME", bench.path())]), Some(1));
}

/// A kernel that is only planned with.
const PLANNED: &str = "title = \"digests\"\nvenue = \"vm\"\nblocks = 1\ncontrol = false\nsettle = \"0s\"\n\
                       probes = []\nkernel = \"debian:6.1\"\n[subjects.one]\n[subjects.other]\nnice = \"5\"\n\
                       [[workloads]]\nuse = \"command\"\nrun = [\"/bin/sleep\", \"0.1\"]\n";

#[test]
fn a_plan_and_a_run_refuse_a_cached_kernel_of_which_anything_changed() {
    let bench = Bench::new();
    let place = bench.path().join("cache");
    let cache = place.display().to_string();
    let entry = place.join("kernels/debian-6.1.1-1");
    let (image, modules) = (entry.join("vmlinuz"), entry.join("modules"));
    let module = modules.join("module.ko");
    fs::create_dir_all(&modules).unwrap();
    fs::write(&image, "image").unwrap();
    fs::write(entry.join("config"), "").unwrap();
    fs::write(&module, "module").unwrap();
    let stored = serde_json::json!({
        "format": "schedlab.kernel/1",
        "name": "debian:6.1.1-1",
        "release": "6.1.1-cloud-amd64",
        "version": { "major": 6, "minor": 1, "patch": 1 },
        "digest": digest::of_bytes(b"image"),
        "modules_digest": digest::of_tree(&modules).unwrap(),
    });
    fs::write(entry.join("kernel.json"), stored.to_string()).unwrap();
    let file = bench.experiment("digests", PLANNED);
    let planned = || bench.expect(0, &["--cache", &cache, "plan", &file]);
    // Another thing may be missing here.
    let shown = planned();
    assert!(!shown.contains("the kernel debian:"), "{shown}");
    for changed in [&module, &image] {
        let before = fs::read(changed).unwrap();
        fs::write(changed, "another").unwrap();
        let shown = planned();
        assert!(shown.contains("SHA-256"), "{}: {shown}", changed.display());
        let output = bench.run(&["--cache", &cache, "run", &file]);
        assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
        assert!(errors(&output).contains("SHA-256"), "{}", errors(&output));
        assert!(!bench.results().exists(), "nothing ran");
        fs::write(changed, before).unwrap();
    }
    assert!(!planned().contains("the kernel debian:"));
}

#[test]
fn a_kernel_of_debian_is_fetched_verified_used_and_removed() {
    let bench = Bench::new();
    let place = bench.path().join("cache");
    let cache = place.display().to_string();
    let offered = bench.run(&["--cache", &cache, "kernels", "list", "--offered"]);
    if !offered.status.success() {
        testing::skip(&format!(
            "fetching a kernel needs apt and a mirror of Debian: {}",
            errors(&offered)
        ));
        return;
    }
    let fetch = ["--cache", &cache, "kernels", "fetch", SERIES];
    let told = bench.expect(0, &["--cache", &cache, "kernels", "fetch", "--dry-run", SERIES]);
    assert!(told.contains("MB would be downloaded"), "{told}");
    // Killed at some moments of a fetch, nothing counts as a kernel.
    for delay_ms in [50, 400, 1500] {
        let mut child = bench.command(&fetch).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(delay_ms)
            && child.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        let is_done = child.wait().unwrap().success();
        let (count, _) = json(&bench.expect(0, &["--cache", &cache, "kernels", "list", "--json"]));
        assert_eq!(count, usize::from(is_done));
    }
    let mut with_umask = bench.command(&fetch);
    set_umask(&mut with_umask, 0);
    let fetched = with_umask.output().unwrap();
    assert_eq!(fetched.status.code(), Some(0), "{}", errors(&fetched));
    assert_eq!(fs::read_dir(place.join("kernels")).unwrap().count(), 1, "a leftover was swept");
    let again = bench.run(&fetch);
    assert!(errors(&again).contains("is cached"), "{}", errors(&again));
    let (count, name) = json(&bench.expect(0, &["--cache", &cache, "kernels", "list", "--json"]));
    assert_eq!(count, 1);
    let shown = bench.expect(0, &["--cache", &cache, "kernels", "show", &name]);
    assert!(shown.contains("CFS") && shown.contains("CONFIG_HZ=250"), "{shown}");
    assert!(bench.expect(0, &["--cache", &cache, "list", "kernels"]).contains(&name));
    modules_load_in_order(&place, &name);
    nobody_else_may_write(&place);
    bench.expect(0, &["--cache", &cache, "kernels", "remove", &name]);
    bench.expect(4, &["--cache", &cache, "kernels", "show", &name]);
}

/// No file or directory may be written by others, whatever the umask was.
fn nobody_else_may_write(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        assert_eq!(permissions(&path) & 0o022, 0, "{}", path.display());
        if path.ends_with("kernel.json") {
            assert_eq!(permissions(&path), 0o644);
        }
        if path.is_dir() {
            nobody_else_may_write(&path);
        }
    }
}

/// Every module stands after those whose names its own file gives.
fn modules_load_in_order(cache: &Path, name: &str) {
    let kernels = Kernels::open(cache.to_owned(), "");
    let kernel = kernels.find(&name.parse().unwrap()).unwrap();
    let wanted = ["virtio_console", "virtio_blk", "null_blk gb=1", "bfq", "?no_such_module"];
    let modules = load_order(&kernel, &wanted.map(str::to_owned)).unwrap();
    for (index, module) in modules.iter().enumerate() {
        for needed in kernels::depends_of(&module.path).unwrap() {
            let place = modules.iter().position(|other| other.name == needed);
            assert!(place.is_none_or(|place| place < index), "{needed} after {}", module.name);
        }
    }
    let null_blk = modules.iter().find(|module| module.name == "null_blk").unwrap();
    assert_eq!(null_blk.arguments, "gb=1");
}

/// How many kernels are listed, and the name of the last one.
fn json(text: &str) -> (usize, String) {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let kernels = value["kernels"].as_array().unwrap();
    let last = kernels.last().and_then(|kernel| kernel["name"].as_str()).unwrap_or_default();
    (kernels.len(), last.to_owned())
}
