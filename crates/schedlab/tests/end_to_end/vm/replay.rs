//! Trials that repeat themselves, and machines that are saved.

use super::{Guests, has_guests};

const TWO: &str = "deterministic = true\n\
    [subjects.a]\nkernel = \"debian:6.1\"\n\
    [subjects.b]\nkernel = \"debian:6.12\"\nbase_slice = \"1ms\"\n\
    [[workloads]]\nuse = \"messaging\"\ngroups = 1\nloops = 5\n";

#[test]
fn the_same_seed_gives_the_same_records() {
    if !has_guests() {
        return;
    }
    let records = || {
        let guests = Guests::new();
        // Not the bench's own word: it would be another trajectory.
        let text = format!(
            "venue = \"vm\"\nseed = 7\nblocks = 1\ninvocations = 1\ncontrol = false\nprobes = []\n\
             settle = \"0s\"\nvcpus = 1\n[vm]\n{TWO}"
        );
        let experiment = guests.bench.experiment("replay", &text);
        guests.expect(0, &["run", &experiment]);
        let mut all = guests.records();
        assert_eq!(all.len(), 2);
        assert!(all.iter().all(|record| record["outcome"]["kind"] == "completed"), "{all:?}");
        assert!(all[0]["duration_ns"].as_u64().is_some_and(|length_ns| length_ns > 0));
        // What binds a record to its campaign, which began at another time.
        for record in &mut all {
            assert!(record.as_object_mut().unwrap().remove("chain").is_some(), "{record}");
        }
        all
    };
    assert_eq!(records(), records());
}

#[test]
fn an_old_kernel_with_two_processors_is_refused_a_replay_before_anything_boots() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let experiment = guests.experiment("blocks = 1", TWO);
    let (_, told) = guests.expect(4, &["run", &experiment]);
    assert!(told.contains("vcpus = 1"), "{told}");
}

#[test]
fn sittings_begin_with_the_saved_state_of_their_boot() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let experiment = guests.experiment(
        "blocks = 1\nkernel = \"debian:6.12\"",
        "snapshot = true\n[subjects.a]\n[subjects.b]\nbase_slice = \"1ms\"\n\
         [[workloads]]\nuse = \"messaging\"\ngroups = 1\nloops = 5\n",
    );
    guests.expect(0, &["run", &experiment]);
    let records = guests.records();
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record["outcome"]["kind"] == "completed"), "{records:?}");
    assert_eq!(records[0]["boot_id"], records[1]["boot_id"], "both go on from one boot");
    assert_eq!(records[1]["levels"]["kernel"]["after"], records[0]["levels"]["kernel"]["after"]);
}

#[test]
fn a_saved_machine_goes_on_until_it_is_removed() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let name = format!("test-{}", std::process::id());
    let create = ["vm", "snapshot", "create", &name, "debian:6.12", "--file", "/bin/uname"];
    guests.expect(0, &create);
    let (_, told) = guests.expect(2, &create);
    assert!(told.contains("exists already"), "{told}");
    let (listed, _) = guests.expect(0, &["vm", "snapshot", "list"]);
    assert!(listed.contains(&name), "{listed}");
    for _ in 0..2 {
        let restore = ["vm", "snapshot", "restore", &name, "--", "uname", "-r"];
        let (release, _) = guests.expect(0, &restore);
        assert!(release.starts_with("6.12."), "{release}");
    }
    guests.expect(0, &["vm", "snapshot", "remove", &name]);
    let (_, told) = guests.expect(125, &["vm", "snapshot", "restore", &name, "--", "uname"]);
    assert!(told.contains("snapshot list"), "{told}");
}
