//! Campaigns over kernels: what records, reports and gates say of emulated processors.

use super::{Guests, caveats, find_program, has_guests, of};

const SUBJECTS: &str = r#"
[subjects.cfs]
kernel = "debian:6.1"
[subjects.cfs-short]
kernel = "debian:6.1"
sched_latency = "6ms"
[subjects.eevdf]
kernel = "debian:6.12"
base_slice = "3ms"

[[workloads]]
use = "messaging"
groups = 1
loops = 20
primary = "makespan"
"#;

#[test]
fn cfs_against_eevdf_is_emulated_names_what_else_differs_and_passes_no_gate() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let file = guests.experiment("blocks = 5\nseed = 4", SUBJECTS);
    let (shown, told) = guests.expect(0, &["run", &file]);
    let records = guests.records();
    assert_eq!(records.len(), 15, "{told}");
    for record in &records {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        assert!(caveats(record).contains(&"TCG"), "{record}");
        // None came or went while the workload ran, which would be interference.
        assert!(!record["caveats"].to_string().contains("frames"), "{record}");
    }
    // A series is pinned to the version that was booted.
    for (subject, factor, beginning) in [
        ("cfs", "kernel", "debian:6.1."),
        ("cfs-short", "kernel", "debian:6.1."),
        ("cfs-short", "sched_latency", "6ms"),
        ("eevdf", "kernel", "debian:6.12."),
        ("eevdf", "base_slice", "3ms"),
    ] {
        for record in of(&records, subject, "") {
            let reading = &record["levels"][factor];
            for moment in ["before", "after"] {
                let level = reading[moment].as_str().unwrap();
                assert!(level.starts_with(beginning), "{subject} {factor}: {level}");
            }
        }
    }
    // Subjects with one kernel share a boot; each block boots anew.
    let boots = |subject: &str| -> Vec<String> {
        of(&records, subject, "").iter().map(|record| record["boot_id"].to_string()).collect()
    };
    assert_eq!(boots("cfs"), boots("cfs-short"));
    let mut all = [boots("cfs"), boots("eevdf")].concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 10, "{all:?}");
    let report = std::fs::read_to_string(guests.bench.campaign().join("report.md")).unwrap();
    for text in [&shown, &report] {
        assert!(text.contains("emulated:"), "{text}");
    }
    assert!(report.contains("DEFAULTS_DIFFER") && report.contains("TCG"), "{report}");
    assert!(report.contains("hidden"), "absolute values are not shown: {report}");
    // Not shown to be kept, nor to be breached, whatever the figures.
    let (judged, _) = guests.expect(5, &["gate", "last", "--limit", "makespan=99%"]);
    let origin = "Emulated processor: ratios may be read, values may not.";
    assert!(judged.contains(origin) && judged.contains("emulated: inconclusive"), "{judged}");
    let (compared, _) = guests.expect(0, &["compare", "last", "last"]);
    let compared = compared.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(compared.matches(origin).count(), 2, "{compared}");
    let (top, _) = guests.expect(0, &["top", "--once"]);
    assert!(top.contains("\nemulated: "), "{top}");
    guests.assert_nothing_is_left("after a campaign");
}

/// What an experiment names by a relative path is found by it in a guest as well.
#[test]
fn relative_paths_lead_to_the_same_files_in_a_guest() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let here = guests.bench.path();
    std::fs::copy(find_program("cat").unwrap(), here.join("cat")).unwrap();
    std::fs::write(here.join("words"), "found\n").unwrap();
    let rest = format!(
        "files = [\"{}/words\"]\n[subjects.a]\nnice = \"0\"\n\
         [subjects.b]\nnice = \"5\"\n[[workloads]]\nuse = \"command\"\nrun = \"./cat words\"\n",
        here.display()
    );
    let keys = "blocks = 1\nvcpus = 1\nkernel = \"debian:6.1\"";
    let (_, told) = guests.expect(0, &["run", &guests.experiment(keys, &rest)]);
    let records = guests.records();
    assert_eq!(records.len(), 2, "{told}");
    for record in &records {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        // Both subjects boot the same: the guest that was asked what it lacks served them.
        assert!(record["fingerprint_difference"].get("boot.id").is_none(), "{record}");
    }
    guests.assert_nothing_is_left("after a program of a relative path");
}
