//! What the real venues take in tables of their own, and what is said of mistakes in them:
//! `tests/golden/problems/*.toml`, each with the rendered problems in a `.txt` beside it.

use model::{Accelerator, Disk, Plan, VmSettings};
use plan::{ExperimentProblem, PlanRequest};
use std::fs;
use std::path::{Path, PathBuf};

const MACHINES: &str = r#"
venue = "vm"
blocks = 6
[vm]
memory = "1GiB"
host_cpus = "0-1"
disks = ["virtio:64MiB", "null:1GiB", "null:2GiB:50us"]
boot_timeout = "90s"
equalise = true
snapshot = true
modules = ["null_blk gb=1"]
files = ["/usr/bin/stress-ng"]
tools = ["rt-tests"]

[subjects.old]
kernel = "debian:6.1"
[subjects.new]
kernel = "debian:6.18"

[[workloads]]
use = "wakeup"
"#;

fn plan(text: &str) -> Result<Plan, Vec<ExperimentProblem>> {
    let request = PlanRequest { text, name: "venues", drawn_seed: 7, ..PlanRequest::default() };
    plan::plan(&assembly::catalogue(), &[], &request)
}

fn planned(text: &str) -> Plan {
    plan(text)
        .unwrap_or_else(|problems| panic!("{}", plan::render_problems(&problems, "vm.toml", text)))
}

#[test]
fn machines_are_what_the_experiment_says() {
    let vm = planned(MACHINES).vm.unwrap();
    assert_eq!(
        vm,
        VmSettings {
            accelerator: Accelerator::Auto,
            memory_bytes: 1 << 30,
            host_cpus: Some("0-1".parse().unwrap()),
            disks: vec![
                Disk::VirtioBlk { size_bytes: 64 << 20 },
                Disk::NullBlk { size_bytes: 1 << 30, completion_ns: 0 },
                Disk::NullBlk { size_bytes: 2 << 30, completion_ns: 50_000 },
            ],
            boot_timeout_ns: 90_000_000_000,
            is_equalised: true,
            is_from_snapshot: true,
            is_deterministic: false,
            modules: vec!["null_blk gb=1".to_owned()],
            files: vec!["/usr/bin/stress-ng".to_owned()],
            tools: vec!["rt-tests".to_owned()],
            has_peer: false,
        }
    );
    let deterministic =
        MACHINES.replace("equalise = true", "deterministic = true").replace("snapshot = true", "");
    assert_eq!(planned(&deterministic).vm.unwrap().accelerator, Accelerator::Tcg);
    let plain = MACHINES.split("[vm]").next().unwrap().to_owned()
        + "[subjects.a]\nkernel = \"debian:6.1\"\n[[workloads]]\nuse = \"wakeup\"\n";
    let plain = planned(&plain);
    assert!(plain.boots_guests() && plain.venue_settings.is_empty(), "`vm` says it alone");
    assert_eq!(plain.vm.unwrap(), VmSettings::default());
}

#[test]
fn the_simulator_gets_its_settings_and_the_host_none() {
    let text = "venue = \"sim\"\n[sim]\nscenario = \"S4\"\nfailure_rate = { b = 0.5 }\n\
                [subjects.a]\n[subjects.b]\nsim_effect = \"3%\"\n[[workloads]]\nuse = \"wakeup\"\n";
    let simulated = planned(text);
    assert!(simulated.is_simulated() && !simulated.boots_guests());
    let sim = simulated.sim.unwrap();
    assert_eq!(sim.scenario, "S4");
    assert_eq!(sim.failure_rate["b"], 0.5);
    let own = planned("[subjects.a]\n[subjects.b]\nnice = 5\n[[workloads]]\nuse = \"wakeup\"\n");
    assert_eq!((own.venue.as_str(), own.sim, own.vm), ("host", None, None));
    assert!(own.venue_settings.is_empty());
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/problems");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    cases.sort();
    cases
}

/// `UPDATE_EXPECT=1` rewrites what is told.
#[test]
fn every_mistake_in_a_table_of_a_venue_is_told_with_its_line_and_all_at_once() {
    let cases = cases();
    assert!(cases.len() >= 5, "only {} kinds of mistake", cases.len());
    let mut differing = Vec::new();
    for path in cases {
        let text = fs::read_to_string(&path).unwrap();
        let file = path.file_name().unwrap().to_str().unwrap();
        let problems = plan(&text).unwrap_err();
        let rendered = plan::render_problems(&problems, file, &text);
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &rendered).unwrap();
        } else if fs::read_to_string(&expected).ok().as_deref() != Some(rendered.as_str()) {
            differing.push(format!("{file}:\n{rendered}"));
        }
    }
    assert!(differing.is_empty(), "UPDATE_EXPECT=1 accepts:\n{}", differing.join("\n"));
}
