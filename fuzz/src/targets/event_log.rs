//! `logs/events.jsonl`, as a follower of a campaign reads it: in two looks or in one it tells
//! the same, and no number in it leads anywhere it should not.

use super::{OwnTarget, Reaction};
use live::{CampaignLoader, Follower};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use sys::Machine;
use tempfile::TempDir;

pub const TARGET: OwnTarget = OwnTarget {
    name: "event-log",
    words: &[
        "{\"format\":\"schedlab.event/1\",\"at_ms\":1,\"event\":",
        "\"opened\"",
        "\"started\"",
        "\"trial_started\"",
        "\"phase\"",
        "\"trial_finished\"",
        "\"block_repeated\"",
        "\"notice\"",
        "\"ended\"}\n",
        "\"trials_left\":",
        "\"sequence\":",
        "\"block\":",
        "null",
        "\n",
    ],
    run,
};

/// Lines of a log that anybody is shown.
const MOST_LINES: usize = 200;

/// A campaign that is watched while its log grows, one that is not, and their machine.
struct Scene {
    in_two_looks: PathBuf,
    at_once: PathBuf,
    machine: Machine,
    _home: TempDir,
}

thread_local! {
    // Directories cost a hundred times as much as reading a log.
    static SCENE: io::Result<Scene> = scene();
}

fn scene() -> io::Result<Scene> {
    let home = tempfile::tempdir()?;
    Ok(Scene {
        in_two_looks: campaign(&home.path().join("one"))?,
        at_once: campaign(&home.path().join("other"))?,
        machine: machine(&home.path().join("machine"))?,
        _home: home,
    })
}

fn run(bytes: &[u8]) -> Reaction {
    SCENE.with(|scene| match scene {
        Ok(scene) => watched(scene, bytes),
        Err(error) => panic!("there is no campaign to watch: {error}"),
    })
}

fn watched(scene: &Scene, bytes: &[u8]) -> Reaction {
    let Scene { in_two_looks, at_once, machine, .. } = scene;
    let loader = CampaignLoader::new(store::load);
    let open = |campaign: &Path| match Follower::open(campaign, machine, &loader) {
        Ok(follower) => follower,
        Err(error) => panic!("its log alone made it unreadable: {error}"),
    };
    log(in_two_looks, &[]);
    let mut follower = open(in_two_looks);
    let mut is_news = false;
    for part in [&bytes[..bytes.len() / 2], bytes] {
        log(in_two_looks, part);
        is_news |= follower.update().is_ok_and(|is_news| is_news);
        let lines = follower.snapshot().log.len();
        assert!(lines <= MOST_LINES, "{lines} lines");
    }
    log(at_once, bytes);
    let whole = open(at_once);
    let (mut one, other) = (follower.snapshot(), whole.snapshot());
    one.name.clone_from(&other.name);
    assert_eq!(one, other, "in two looks and in one");
    assert_eq!(whole.runner().is_some(), live::is_running(at_once, machine));
    if is_news { Reaction::Accepted } else { Reaction::Refused }
}

fn log(campaign: &Path, bytes: &[u8]) {
    if let Err(error) = fs::write(campaign.join("logs/events.jsonl"), bytes) {
        panic!("cannot write the log: {error}");
    }
}

/// A simulated campaign that three trials were recorded of, and no log.
pub(super) fn campaign(directory: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(directory.join("logs"))?;
    for (name, text) in [
        ("plan.json", include_str!("campaign/plan.json")),
        ("state.json", include_str!("campaign/state.json")),
        ("records.jsonl", include_str!("campaign/records.jsonl")),
    ] {
        fs::write(directory.join(name), text)?;
    }
    Ok(directory.to_owned())
}

/// A machine with one boot and one process, those that logs of the corpus name.
fn machine(root: &Path) -> io::Result<Machine> {
    let boot = root.join("proc/sys/kernel/random");
    let process = root.join("proc/42");
    fs::create_dir_all(&boot)?;
    fs::create_dir_all(&process)?;
    fs::write(boot.join("boot_id"), "b\n")?;
    fs::write(
        process.join("stat"),
        "42 (schedlab) S 1 42 42 0 -1 4194304 9 0 0 0 1 2 0 0 20 0 1 0 700 9 9 9\n",
    )?;
    Machine::fake(root, root.join("run")).map_err(io::Error::other)
}
